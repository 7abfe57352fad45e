"""The features to select from: each thing once, and constants only where nothing else is left."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from infused._runtime.messages import count, listed, quoted
from infused._typing import Ints
from infused.data import Dataset
from infused.data.repeats import constant_features, repeated_features
from infused.selectors.method import Method, defaults_of

__all__ = ["Candidates", "candidates", "told_repeats"]

SHOWN = 5


@dataclass(frozen=True)
class Candidates:
    """The features that a selector sees."""

    data: Dataset
    """With these features alone."""
    positions: Ints
    """Where they are among all."""
    rest: Ints
    """The others: the constant ones, then duplicates."""
    most: int
    """How many can be selected: with the constant ones, but no duplicates."""
    notes: tuple[str, ...]


def candidates(dataset: Dataset, method: Method, keep_duplicates: bool = False) -> Candidates:
    """Leave out what repeats an earlier feature exactly, and what is constant.

    Where the method goes by the places of features, in a picture or in a graph that was given, they all stay:
    a linear model has no use for a constant one anyway.
    """
    every, none = np.arange(dataset.n_features), np.zeros(0, dtype=np.int64)
    if _by_place(dataset, method):
        return Candidates(dataset, every, none, dataset.n_features, ())
    constant = constant_features(dataset.coded())
    repeated = {} if keep_duplicates else repeated_features(dataset)
    repeated = {j: first for j, first in repeated.items() if j not in set(constant.tolist())}
    left = np.setdiff1d(every, [*constant, *repeated])
    if len(left) == 0 or len(left) == len(every):
        return Candidates(dataset, every, none, dataset.n_features, ())
    notes = [told_repeats(dataset, repeated)] if repeated else []
    if len(constant):
        names = listed(dataset.feature_names[j] for j in constant)
        notes.append(
            f"{count(len(constant), 'constant column')}, selected only where nothing else is left: {names}"
        )
    most = dataset.n_features - len(repeated)
    rest = np.array([*constant, *repeated], dtype=np.int64)
    return Candidates(dataset.take(left.tolist()), left, rest, most, tuple(notes))


def _by_place(dataset: Dataset, method: Method) -> bool:
    if method.parameters.get("groups") is not None or method.parameters.get("keep") is not None:
        return True
    takes = defaults_of(method.id)
    if "fusion" not in takes:
        return False
    fusion = method.parameters.get("fusion", takes["fusion"])
    if not isinstance(fusion, str):
        return fusion is not None
    return fusion == "grid" or (fusion == "auto" and dataset.grid_shape is not None)


def told_repeats(dataset: Dataset, repeated: dict[int, int]) -> str:
    """What was left out, each with the feature that stands for it."""
    names = dataset.feature_names
    pairs = [f"{quoted(names[j])} (as {quoted(names[first])})" for j, first in repeated.items()]
    more = f" and {len(pairs) - SHOWN:,} more" if len(pairs) > SHOWN else ""
    return f"left out, because they repeat another exactly: {', '.join(pairs[:SHOWN])}{more}"
