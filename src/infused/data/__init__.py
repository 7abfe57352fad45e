"""Data from files, by name and from Python: one call whatever the source, one clear line when they are wrong.

Importing this loads no library that reads files; each reader loads its own when it is used.
"""

from infused.data.columnwise import Columns, open_columns
from infused.data.dataset import Dataset, Features
from infused.data.load import load, load_data, load_features
from infused.data.named import DatasetInfo, available_datasets, dataset_info
from infused.data.raw import DataError
from infused.data.readers import reader_formats
from infused.data.treatment import Treatment

__all__ = [
    "Columns",
    "DataError",
    "Dataset",
    "DatasetInfo",
    "Features",
    "Treatment",
    "available_datasets",
    "dataset_info",
    "load",
    "load_data",
    "load_features",
    "open_columns",
    "reader_formats",
]
