"""What a target is where nobody says: one rule for files, for Python and for every selector."""

from __future__ import annotations

import warnings

import numpy as np

from infused._typing import Array
from infused.exceptions import InputError, TargetWarning

__all__ = ["EXACT", "FEW_VALUES", "SAMPLES_PER_CLASS", "are_classes", "check_varied", "told_kind"]

FEW_VALUES = 20
SAMPLES_PER_CLASS = 10
EXACT = 2**53  # whole numbers from here on have neighbours that float64 cannot tell apart


def are_classes(y: Array) -> bool:
    """Whether y, of one column, holds classes: texts do, fractions do not.

    Whole numbers do when there are at most 20 different ones, or at least 10 samples for each.
    """
    if y.dtype.kind not in "iuf":
        return True
    if y.dtype.kind == "f" and not (y == np.floor(y)).all():
        return False
    n_values = len(np.unique(y))
    return n_values <= FEW_VALUES or len(y) >= SAMPLES_PER_CLASS * n_values


def told_kind(y: Array) -> bool:
    """The same, with a warning where whole numbers are many, unless classes are numbered from 0 or 1 on."""
    classes = are_classes(y)
    values = np.unique(y) if _counts(y) else np.empty(0)
    n_values = len(values)
    numbered = classes and n_values > 0 and values[0] in (0, 1) and values[-1] - values[0] == n_values - 1
    if n_values > FEW_VALUES and not numbered:
        taken, other = ("classes", "measured values") if classes else ("measured values", "classes")
        warnings.warn(
            f"y holds {n_values} different whole numbers in {len(y):,} samples, which are taken as {taken}; "
            f"if they are {other}, say so with the parameter target.",
            TargetWarning,
            stacklevel=2,
        )
    return classes


def _counts(y: Array) -> bool:
    """Whether y holds whole numbers that could have been others: larger ones have no fractions to show."""
    if y.dtype.kind == "f":
        return bool((y == np.floor(y)).all() and (np.abs(y) < EXACT).all())
    return y.dtype.kind in "iu"


def check_varied(y: Array) -> None:
    """Refuse a target of which all samples have the same value: nothing tells them apart."""
    rows = y.reshape(len(y), -1)
    if len(rows) and (rows[1:] != rows[:1]).any():
        return
    raise InputError(
        "The number of classes in y has to be greater than one; got 1 class: all samples have the same value."
    )
