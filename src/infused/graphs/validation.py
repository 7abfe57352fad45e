"""What may come in: one place that turns X and y into arrays, or says what is wrong with them."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import type_of_target

from infused._typing import Array, Data, Floats, Ints

__all__ = ["Graph", "Target", "check_choice", "check_data", "class_codes", "resolve_target"]

Graph: TypeAlias = Literal["kernel", "euclidean"]
Target: TypeAlias = Literal["auto", "classes", "real"]


def check_data(X: Any) -> Data:
    """X as a finite dense array of numbers, or as CSC without duplicates when it came sparse."""
    if getattr(getattr(X, "dtype", None), "kind", None) == "O":
        raise ValueError("X has dtype object; numbers are needed: convert it with X.astype(float).")
    with np.errstate(over="ignore", invalid="ignore"):  # it looks for NaN in a sum, which may overflow
        X = check_array(X, accept_sparse="csc", dtype="numeric", ensure_min_samples=2, input_name="X")
    if not sp.issparse(X):
        return np.asarray(X)
    X = sp.csc_array(X, dtype=np.float64, copy=True)
    X.sum_duplicates()
    return X


def check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    """Raise unless ``value`` is one of the choices."""
    if value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be one of {listed}, got {value!r}.")


def resolve_target(X: Any, y: Any, target: Target) -> tuple[Array, bool]:
    """y as a vector beside X, and whether its values are classes."""
    check_choice("target", target, ("auto", "classes", "real"))
    y = column_or_1d(y, warn=False)
    if y.dtype.kind in "fc":
        y = check_array(y, ensure_2d=False, dtype="numeric", input_name="y")
    check_consistent_length(X, y)
    if target == "auto":
        kind = type_of_target(y, input_name="y")
        if kind not in ("binary", "multiclass", "continuous"):
            raise ValueError(f"y must hold one class label or one number per sample, but it is {kind!r}.")
        target = "real" if kind == "continuous" else "classes"
    if target == "real":
        return check_array(y, ensure_2d=False, dtype=np.float64, input_name="y"), False
    return y, True


def class_codes(y: Array) -> tuple[Ints, Floats]:
    """The class of each sample as 0 .. C-1, and the number of samples of each class."""
    classes, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    if len(classes) < 2:
        raise ValueError(f"The number of classes in y has to be greater than one; got {len(classes)} class.")
    return codes.ravel().astype(np.int64), counts.astype(np.float64)
