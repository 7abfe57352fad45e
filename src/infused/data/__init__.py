"""Data from files, by name and from Python: one call whatever the source, one clear line when they are wrong.

Importing this loads no library that reads files; each reader loads its own when it is used.
"""

from infused.data.dataset import Dataset, Features
from infused.data.load import load_data
from infused.data.named import DatasetInfo, available_datasets, dataset_info
from infused.data.readers import reader_formats
from infused.data.reading import DataError, ReadOptions
from infused.data.recorded import load_features

__all__ = [
    "DataError",
    "Dataset",
    "DatasetInfo",
    "Features",
    "ReadOptions",
    "available_datasets",
    "dataset_info",
    "load_data",
    "load_features",
    "reader_formats",
]
