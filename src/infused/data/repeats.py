"""Columns that say nothing, and columns that say what another one says."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b

import numpy as np
from scipy import sparse

from infused._typing import Array, Data, Floats, Ints
from infused.data.coding import Coded
from infused.data.dataset import Dataset

__all__ = ["constant_features", "repeated_features"]

BLOCK = 256  # columns taken at once


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
    """
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
