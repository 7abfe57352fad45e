"""Arrays that came from elsewhere."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from infused.exceptions import InputError

__all__ = ["check_characters", "in_double", "settled"]


def check_characters(array: Any, what: str) -> None:
    """Refuse texts with characters beyond Unicode, which a file may claim and no text of Python can hold."""
    if array.dtype.kind != "U" or not array.size or not array.dtype.itemsize:
        return
    codes = np.ascontiguousarray(array).view(np.dtype(np.uint32).newbyteorder(array.dtype.byteorder))
    if int(codes.max()) > sys.maxunicode:
        raise InputError(f"{what} holds characters beyond Unicode: it is damaged")


def in_double(array: Any, what: str) -> Any:
    """Return long doubles, dense or sparse, as float64; refuse those beyond its range.

    A cast would make infinities of them, behind every check for infinite values.
    """
    if array.dtype.kind != "f" or array.dtype.itemsize <= 8:
        return array
    with np.errstate(over="ignore"):
        found = array.astype(np.float64)
    given, cast = (array.data, found.data) if hasattr(array, "tocsr") else (array, found)
    if (np.isinf(cast) & np.isfinite(given)).any():
        raise InputError(f"{what} holds numbers beyond the range of float64 (1.8e308): scale it")
    return found


def settled(array: Any) -> Any:
    """The array as if it had been made here: aligned and writeable, copied where it is not.

    What comes from another process may begin at any byte. numba compiles its functions once more for such
    arrays, and sums may then round otherwise.
    """
    return (
        np.require(array, requirements=["ALIGNED", "WRITEABLE"]) if isinstance(array, np.ndarray) else array
    )
