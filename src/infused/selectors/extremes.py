"""Numbers whose squares leave the range: scaled where the scale is of no matter, else refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from infused._typing import Floats, Ints
from infused.exceptions import InputError, Setting

__all__ = ["LARGEST", "refuse_extreme", "tame", "tame_together"]

#: By bytes of a number: the square of its square is in range, and that of its inverse.
LARGEST = {2: 2.0**4, 4: 2.0**40, 8: 2.0**200}


def tame(A: Any, extreme: float | None = None) -> Any:
    """A with extreme columns divided by powers of two, so that no square and no sum leaves the range.

    What does not depend on the scale of a column is the same, to the last bit where nothing is extreme.
    """
    if A.dtype.kind != "f":
        return A
    exponents = _exponents(A, extreme or LARGEST.get(A.dtype.itemsize, LARGEST[8]))
    if not exponents.any():
        return A
    if sp.issparse(A):
        A = A.copy()
        owners = A.indices if A.format == "csr" else np.repeat(np.arange(A.shape[1]), np.diff(A.indptr))
        A.data = np.ldexp(A.data, exponents[owners])
        return A
    return np.ldexp(A, exponents if A.ndim == 2 else exponents[0])


def tame_together(train: Floats, test: Floats) -> tuple[Floats, Floats]:
    """Both divided by the powers of two that the training part asks for.

    What is unseen must not squeeze what is learned from into nothing: a value of the test part that leaves
    the range then is set to its end.
    """
    exponents, end = _exponents(train, LARGEST[8]), LARGEST[8]
    if exponents.any():
        with np.errstate(over="ignore"):
            train, test = np.ldexp(train, exponents), np.ldexp(test, exponents)
    return train, test if tame(test) is test else np.clip(test, -end, end)


def _exponents(A: Any, extreme: float) -> Ints:
    """By column, the power of two that brings its largest number to about one; zero where none is extreme."""
    largest = _largest(A)
    wild = (largest > extreme) | ((largest < 1 / extreme) & (largest > 0))
    return np.where(wild, -np.frexp(largest)[1], 0)


def _largest(A: Any) -> Floats:
    """Of each column the largest size of a number, whatever gaps there are; NaN of gaps alone."""
    if sp.issparse(A):
        return np.asarray(abs(A).nanmax(axis=0).toarray()).ravel()
    return np.asarray(np.fmax.reduce(np.abs(A), axis=0)).ravel()


def refuse_extreme(A: Floats, name: str) -> None:
    """Without a scale of its own, a model cannot take numbers whose squares leave the range."""
    largest = float(np.abs(A).max(initial=0.0))
    if largest > LARGEST[8] or 0 < largest < 1 / LARGEST[8]:
        raise InputError(
            f"The largest value of {name} is {largest:.2g}, of which squares cannot be told from "
            f"{'infinity' if largest > 1 else 'zero'}: scale {name}, or let ",
            Setting("standardize", True),
            " do it.",
        )
