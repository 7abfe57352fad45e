"""From a stored array to float64, samples x features: dense, or CSR where it came sparse."""

from __future__ import annotations

from typing import Any

import numpy as np

from infused._typing import Data
from infused.data.errors import DataError, count

__all__ = ["EXACT", "as_numbers"]

EXACT = 2**53  # whole numbers from here on have neighbours that float64 cannot tell apart
REFUSED = {
    "O": "is an array of objects",
    "V": "is an array of records",
    "c": "holds complex numbers",
    "U": "holds text",
    "S": "holds text",
    "M": "holds dates",
    "m": "holds durations",
}


def as_numbers(X: Any, where: str) -> Data:
    """X as float64, or an error that says where something else was found."""
    from scipy import sparse

    if not sparse.issparse(X):
        X = np.asarray(X)
    if X.ndim != 2:
        shape = "x".join(map(str, X.shape)) or "one value"
        raise DataError(
            f"X of {where} has {count(X.ndim, 'dimension')} ({shape}); it must be samples x features"
        )
    if X.dtype.kind in REFUSED:
        raise DataError(f"X of {where} {REFUSED[X.dtype.kind]}; it must hold real numbers")
    values = X.data if sparse.issparse(X) else X
    if X.dtype.kind in "iu" and X.dtype.itemsize == 8 and values.size and _largest(values) >= EXACT:
        raise DataError(
            f"X of {where} has whole numbers beyond 2^53, which would be rounded: store it as float64"
        )
    if not sparse.issparse(X):
        return np.require(X, np.float64, "W")  # missing values are filled in place
    result = sparse.csr_array(X, dtype=np.float64)
    result.sum_duplicates()
    result.eliminate_zeros()
    return result


def _largest(values: Any) -> int:
    return max(int(values.max()), -int(values.min()))
