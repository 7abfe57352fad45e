"""A number that tells whether two runs saw the same data.

SHA-256 over the feature names, the values of X column by column, and the values of y. It does not depend on
the file format, on how the numbers were stored (dense or sparse, 32 or 64 bits of the same value), on the
machine, or on the names of the file and of the target. It does depend on the order of samples and of
features: a chain of fused features has another solution in another order.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from infused._typing import Array, Data
from infused.coding import Levels

__all__ = ["fingerprint"]

VERSION = b"infused data 1"
BLOCK = 256  # columns taken at once
SPARSE = 4  # a column with fewer than a quarter of its entries non-zero is hashed by those


def fingerprint(
    X: Data, y: Array, names: Iterable[str], levels: Levels | None = None, impute: str | None = None
) -> str:
    """The SHA-256, in hexadecimal; levels and the way to fill gaps count where there are any."""
    digest = hashlib.sha256(VERSION)
    _feed_texts(digest, names)
    _feed_numbers(digest, np.array(X.shape), "<i8")
    for rows, values in _columns(X):
        if len(rows) * SPARSE < X.shape[0]:
            _feed_numbers(digest, rows, "<i8")
            _feed_numbers(digest, np.where(np.isnan(values), np.nan, values), "<f8")
        else:
            column = np.zeros(X.shape[0])
            column[rows] = np.where(np.isnan(values), np.nan, values)  # every gap has the same bits
            _feed_numbers(digest, column, "<f8")
    _feed_numbers(digest, np.array(y.shape), "<i8")
    if y.dtype.kind == "U":
        _feed_texts(digest, y.tolist())
    else:
        _feed_numbers(digest, y, "<f8" if y.dtype.kind == "f" else "<i8")
    for own in levels or ():
        _feed_texts(digest, ("category", *own) if own is not None else ("number",))
    if impute is not None:
        _feed_texts(digest, (f"gaps by {impute}",))
    return digest.hexdigest()


def _columns(X: Data) -> Iterator[tuple[Array, Array]]:
    """Rows and values of the non-zero entries of each column."""
    if isinstance(X, np.ndarray):
        for start in range(0, X.shape[1], BLOCK):
            for column in np.asfortranarray(X[:, start : start + BLOCK]).T:
                rows = np.flatnonzero(column)
                yield rows, column[rows]
        return
    by_column = X.tocsc()
    by_column.sum_duplicates()
    by_column.eliminate_zeros()
    for start, end in zip(by_column.indptr, by_column.indptr[1:], strict=False):
        yield by_column.indices[start:end], by_column.data[start:end]


def _feed_texts(digest: Any, texts: Iterable[str]) -> None:
    """Each text after its length, so that no two lists run together."""
    for text in texts:
        encoded = text.encode("utf-8", "surrogatepass")
        digest.update(b"%d:%b" % (len(encoded), encoded))


def _feed_numbers(digest: Any, values: Array, dtype: str) -> None:
    digest.update(b"%s %d " % (dtype.encode(), values.size))
    digest.update(np.ascontiguousarray(values, dtype=dtype).data)
