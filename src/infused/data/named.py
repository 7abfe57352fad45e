"""Data known by name: scikit-learn's bundled sets and the eight sets of the paper."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from infused.data.bundled import BUNDLED, read_bundled
from infused.data.content import Matrix
from infused.data.errors import DataError, quoted, suggestion
from infused.data.paper import PAPER, is_present, read_paper

__all__ = ["DatasetInfo", "available_datasets", "dataset_info", "find_named", "read_named"]


@dataclass(frozen=True)
class DatasetInfo:
    """What is known of named data before they are read."""

    name: str
    title: str
    n_samples: int
    n_features: int
    n_classes: int | None
    """None for a real target."""
    origin: str
    """Who provides them."""
    present: bool
    """Whether they are on this machine."""


def available_datasets() -> tuple[str, ...]:
    """The names that `load_data` knows; `dataset_info` tells about each, and whether it is here."""
    return (*BUNDLED, *PAPER)


def find_named(source: str) -> str | None:
    """The name as it is spelled here, whatever its capitals; None when there is none such."""
    return next((name for name in available_datasets() if name.casefold() == source.casefold()), None)


def dataset_info(name: str) -> DatasetInfo:
    """Size, origin and presence of named data, without reading them."""
    known = find_named(name)
    if known is None:
        raise DataError(f"no data are named {quoted(name)}{suggestion(name, available_datasets())}")
    if known in BUNDLED:
        return DatasetInfo(known, *BUNDLED[known], "scikit-learn", True)
    entry = PAPER[known]
    size = (entry.title, entry.n_samples, entry.n_features, entry.n_classes)
    return DatasetInfo(known, *size, entry.collection, is_present(known))


def read_named(name: str) -> Matrix:
    """The data of a name that `find_named` returned."""
    read: Callable[[str], Matrix] = read_bundled if name in BUNDLED else read_paper
    return read(name)
