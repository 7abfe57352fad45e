"""Data from files and by name: one call, whatever the format, and one clear line when something is wrong.

Importing this loads no library that reads files; each reader loads its own when it is used.
"""

from infused.data.apply import load_features
from infused.data.dataset import Dataset
from infused.data.errors import DataError
from infused.data.load import load_data
from infused.data.named import DatasetInfo, available_datasets, dataset_info
from infused.data.prepare import Features
from infused.data.registry import reader_formats

__all__ = [
    "DataError",
    "Dataset",
    "DatasetInfo",
    "Features",
    "available_datasets",
    "dataset_info",
    "load_data",
    "load_features",
    "reader_formats",
]
