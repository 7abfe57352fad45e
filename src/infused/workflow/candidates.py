"""The features to select from: each thing once, and constants only where nothing else is left."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from scipy import sparse

from infused._runtime.messages import count, listed, quoted
from infused._typing import Array, Data, Floats, Ints
from infused.coding import Coded
from infused.data import Dataset
from infused.selectors.method import Method

SHOWN = 5
BLOCK = 256  # columns taken at once


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


def candidates(dataset: Dataset, method: Method, kept: Sequence[int] = ()) -> Candidates:
    """Leave out what repeats an earlier feature exactly, and what is constant; but not what is to be kept.

    Where the method goes by the places of features, in a picture or in a graph that was given, they all stay:
    a linear model has no use for a constant one anyway.
    """
    every, none = np.arange(dataset.n_features), np.zeros(0, dtype=np.int64)
    if _by_place(dataset, method):
        return Candidates(dataset, every, none, dataset.n_features, ())
    constant = np.setdiff1d(constant_features(dataset.coded()), kept)
    repeated = _for_the_kept(repeated_features(dataset), kept)
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


def _for_the_kept(repeated: dict[int, int], kept: Sequence[int]) -> dict[int, int]:
    """The same, where what is kept stands for what it repeats."""
    for j in kept:
        first = repeated.pop(j, j)
        if first != j and first not in kept:
            repeated = {other: j if one == first else one for other, one in repeated.items()}
            repeated[first] = j
    return repeated


def _by_place(dataset: Dataset, method: Method) -> bool:
    if method.parameters.get("groups") is not None:
        return True
    takes = method.takes
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


def constant_features(coded: Coded) -> Ints:
    """Features that have one value only, in all their columns."""
    F = coded.F
    if sparse.issparse(F):
        same = F.min(axis=0).toarray().ravel() == F.max(axis=0).toarray().ravel()
    else:
        same = (F[0] == F).all(axis=0)
    if coded.groups is None:
        return np.flatnonzero(same)
    return np.flatnonzero(np.bincount(coded.groups, weights=~same) == 0)


def repeated_features(dataset: Dataset) -> dict[int, int]:
    """Features that repeat an earlier one exactly, each with that one.

    Categories do where they divide the samples in the same way, whatever their levels are called.
    None where the data were read with ``keep_duplicates``.
    """
    if dataset.options.keep_duplicates:
        return {}
    first: dict[tuple[bool, bytes], int] = {}  # by digests: the values themselves would be a copy of X
    found = {}
    for j, values in enumerate(_columns(dataset.X)):
        category = dataset.levels is not None and dataset.levels[j] is not None
        content = _told_apart(values) if category else values.tobytes()
        key = (category, blake2b(content, digest_size=16).digest())
        if key in first:
            found[j] = first[key]
        else:
            first[key] = j
    return found


def _columns(X: Data) -> Iterator[Array]:
    """Each column, or what tells sparse ones apart; all gaps and both zeros have the same bits."""
    if not sparse.issparse(X):
        for start in range(0, X.shape[1], BLOCK):
            for column in np.asfortranarray(X[:, start : start + BLOCK]).T:
                yield np.where(np.isnan(column), np.nan, column + 0.0)
        return
    by_column = X.tocsc()
    by_column.sort_indices()
    for start, end in zip(by_column.indptr, by_column.indptr[1:], strict=False):
        yield np.concatenate([by_column.indices[start:end].astype(np.float64), by_column.data[start:end]])


def _told_apart(codes: Floats) -> bytes:
    """The same division of the samples, by levels numbered in the order of their first samples."""
    _, first, member = np.unique(codes, return_index=True, return_inverse=True)
    number = np.empty(len(first), dtype=np.int64)
    number[np.argsort(first)] = np.arange(len(first))
    return number[member].tobytes()
