"""Sparse matrices before anything compiled touches them: SciPy trusts their pointers and indices."""

from __future__ import annotations

from typing import Any

import numpy as np

from infused.exceptions import InputError

__all__ = ["damage", "sound"]


def sound(X: Any, what: str = "X") -> Any:
    """X itself where it is dense, or CSR or CSC in order; else a CSR or CSC copy with duplicates summed.

    A pointer or an index outside its range ends the process, or reads what is not there, in whatever uses the
    matrix: it is refused here. All entries are looked at, whatever the flags of the matrix say.
    """
    if not hasattr(X, "tocsr") or not hasattr(X, "format"):
        return X
    _refuse(X, what)
    if X.format not in ("csr", "csc"):
        X = X.tocsr()
        _refuse(X, what)  # lists of rows and dictionaries are read only now
    if X.dtype.kind not in "biufc":
        return X  # no numbers, which is told by whoever needs them
    fresh = type(X)((X.data, X.indices, X.indptr), shape=X.shape)  # without the flags, which may be wrong
    if fresh.has_canonical_format:
        return X if getattr(X, "has_canonical_format", False) else fresh
    fresh = fresh.copy()
    with np.errstate(over="ignore", invalid="ignore"):  # an infinite sum is told by whoever needs numbers
        fresh.sum_duplicates()
    return fresh


def _refuse(X: Any, what: str) -> None:
    if len(X.shape) != 2:
        raise InputError(f"{what} is a sparse array of {len(X.shape)} dimensions; it must have two.")
    found = damage(X)
    if found is not None:
        raise InputError(f"{what} is a damaged sparse matrix: {found}. Make it anew from its entries.")


def damage(X: Any) -> str | None:
    """What is wrong with the structure of a sparse matrix of SciPy; None where nothing is."""
    if X.format in ("csr", "csc"):
        major, minor = X.shape if X.format == "csr" else X.shape[::-1]
        return _compressed(X, major, minor)
    if X.format == "bsr":
        rows, columns = X.blocksize if X.data.ndim == 3 else (0, 0)
        if rows < 1 or columns < 1:
            return "its blocks have no size"
        return _compressed(X, X.shape[0] // rows, X.shape[1] // columns)
    if X.format == "coo":
        return _coordinates(X)
    if X.format == "dia":
        sizes = X.data.ndim == 2 and X.offsets.shape == X.data.shape[:1]
        return None if sizes else "it has another number of diagonals than of offsets"
    if X.format == "lil":
        return _lists(X)
    return None  # a dictionary, whose entries are looked at once they are arrays


def _compressed(X: Any, major: int, minor: int) -> str | None:
    indptr, indices = np.asarray(X.indptr), np.asarray(X.indices)
    if not _whole(indptr) or not _whole(indices) or X.data.ndim != (3 if X.format == "bsr" else 1):
        return "its pointers and indices are no lists of whole numbers"
    if len(indptr) != major + 1:
        return f"it has {len(indptr):,} pointers where {major + 1:,} belong"
    if len(indices) != len(X.data):
        return f"it has {len(indices):,} indices for {len(X.data):,} values"
    if indptr[0] != 0 or indptr[-1] > len(indices) or (indptr[1:] < indptr[:-1]).any():
        return f"its pointers do not rise from 0 to {len(indices):,}"
    return _range(indices[: indptr[-1]], minor)


def _coordinates(X: Any) -> str | None:
    if not _whole(X.row) or not _whole(X.col) or not len(X.row) == len(X.col) == len(X.data):
        return "its rows, columns and values are no lists of one length"
    return _range(X.row, X.shape[0]) or _range(X.col, X.shape[1])


def _lists(X: Any) -> str | None:
    if len(X.rows) != X.shape[0] or len(X.data) != X.shape[0]:
        return f"it has {len(X.rows):,} lists where {X.shape[0]:,} belong"
    lengths = all(len(row) == len(values) for row, values in zip(X.rows, X.data, strict=True))
    return None if lengths else "a row has other numbers of indices and values"


def _whole(indices: Any) -> bool:
    array = np.asarray(indices)
    return array.ndim == 1 and array.dtype.kind in "iu"


def _range(indices: Any, size: int) -> str | None:
    if not len(indices):
        return None
    lowest, highest = int(indices.min()), int(indices.max())
    outside = lowest if lowest < 0 else highest
    return None if lowest >= 0 and highest < size else f"an index is {outside:,}, outside 0 to {size - 1:,}"
