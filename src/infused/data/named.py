"""Data known by name: scikit-learn's bundled sets, the eight sets of the paper, and more of their kinds."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module

import numpy as np

from infused._runtime.messages import quoted, suggestion
from infused.data.errors import DataError
from infused.data.public import SETS
from infused.data.raw import RawMatrix
from infused.data.stored import is_present, read_stored

__all__ = ["DatasetInfo", "available_datasets", "dataset_info", "find_named", "read_named"]

#: name: (title, samples, features, classes)
BUNDLED: dict[str, tuple[str, int, int, int | None]] = {
    "digits": ("handwritten digits, 8 x 8 pixels", 1797, 64, 10),
    "breast-cancer": ("cell nuclei of breast tumours, Wisconsin", 569, 30, 2),
    "wine": ("chemical analysis of wines from three growers", 178, 13, 3),
    "diabetes": ("progression of diabetes after one year", 442, 10, None),
}

TARGETS = {"digits": "digit", "breast-cancer": "diagnosis", "wine": "grower", "diabetes": "progression"}


@dataclass(frozen=True)
class DatasetInfo:
    """What is known of named data before they are read.

    Parameters
    ----------
    name : str
        As `load_data` takes it.
    title : str
        What the data are.
    n_samples : int
        Rows.
    n_features : int
        Columns, without the target.
    n_classes : int or None
        None for a real target.
    origin : str
        Who provides them.
    present : bool
        Whether they are on this machine.

    See Also
    --------
    dataset_info : Makes one.

    Examples
    --------
    >>> from infused.data import dataset_info
    >>> dataset_info("digits").title
    'handwritten digits, 8 x 8 pixels'
    """

    name: str
    title: str
    n_samples: int
    n_features: int
    n_classes: int | None
    origin: str
    present: bool


def available_datasets() -> tuple[str, ...]:
    """The names that `load_data` knows; `dataset_info` tells about each, and whether it is here.

    Returns
    -------
    tuple of str
        The sets that come with scikit-learn, then those of the paper, then more of their kinds.

    See Also
    --------
    dataset_info : What is known of one.
    load_data : Reads it.
    infused.fetch_dataset : Downloads it where it is absent, and reads it.

    Examples
    --------
    >>> from infused.data import available_datasets
    >>> available_datasets()[:4]
    ('digits', 'breast-cancer', 'wine', 'diabetes')
    """
    return (*BUNDLED, *SETS)


def dataset_info(name: str) -> DatasetInfo:
    """Size, origin and presence of named data, without reading them.

    Parameters
    ----------
    name : str
        One of `available_datasets`, whatever its capitals.

    Returns
    -------
    DatasetInfo
        What is known of them.

    Raises
    ------
    DataError
        Where no data have this name.

    See Also
    --------
    available_datasets : The names.
    load_data : Reads the data.

    Examples
    --------
    >>> from infused.data import dataset_info
    >>> dataset_info("wine").n_features
    13
    """
    known = find_named(name)
    if known is None:
        raise DataError(f"no data are named {quoted(name)}{suggestion(name, available_datasets())}")
    if known in BUNDLED:
        return DatasetInfo(known, *BUNDLED[known], "scikit-learn", True)
    entry = SETS[known]
    size = (entry.title, entry.n_samples, entry.n_features, entry.n_classes)
    return DatasetInfo(known, *size, entry.collection, is_present(known))


def find_named(source: str) -> str | None:
    """The name as it is spelled here, whatever its capitals; None when there is none such."""
    return next((name for name in available_datasets() if name.casefold() == source.casefold()), None)


def read_named(name: str) -> RawMatrix:
    """The data of a name that `find_named` returned."""
    return _read_bundled(name) if name in BUNDLED else read_stored(name)


def _read_bundled(name: str) -> RawMatrix:
    """X, y and the names; classes go by their names where they have any."""
    bunch = getattr(import_module("sklearn.datasets"), f"load_{name.replace('-', '_')}")()
    y = bunch.target
    if name in ("breast-cancer", "wine"):
        y = np.asarray(bunch.target_names)[y]
    names = tuple(str(feature) for feature in bunch.feature_names)
    return RawMatrix(bunch.data, y, TARGETS[name], names, (8, 8) if name == "digits" else None)
