"""What may come in: one place that turns X and y into arrays, or says what is wrong with them."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import type_of_target

from infused._runtime.checks import check_characters, in_double, sound, told_kind
from infused._runtime.messages import check_choice
from infused._typing import Array, Data, Floats, Ints, TargetKind
from infused.exceptions import InputError

SUM_TOLERANCE = 1e-6  # a distribution whose sum is further from one is a mistake
MOSTLY_ZERO = 0.75

Graph: TypeAlias = Literal["kernel", "euclidean"]
Target: TypeAlias = Literal["auto", "classes", "real"]
GRAPHS, TARGETS = get_args(Graph), get_args(Target)


def check_data(X: Any) -> Data:
    """Return X as a finite dense array of numbers, or as CSC without duplicates when it came sparse."""
    if getattr(getattr(X, "dtype", None), "kind", None) == "O":
        raise InputError("X has dtype object; numbers are needed: convert it with X.astype(float).")
    with np.errstate(over="ignore", invalid="ignore"):  # it looks for NaN in a sum, which may overflow
        X = check_array(sound(X), accept_sparse="csc", dtype="numeric", ensure_min_samples=2, input_name="X")
    X = in_double(X, "X")
    if not sp.issparse(X):
        return np.asarray(X)
    return sp.csc_array(X, dtype=np.float64, copy=True)


def resolve_target(X: Any, y: Any, target: Target) -> tuple[Array, TargetKind]:
    """Return y as a vector beside X, and what it holds."""
    check_choice("target", target, TARGETS)
    y = comparable(column_or_1d(y, warn=False))
    if y.dtype.kind in "fc":
        y = in_double(check_array(y, ensure_2d=False, dtype="numeric", input_name="y"), "y")
    check_consistent_length(X, y)
    if target == "auto":
        found = kind_of_target(y)
        if found not in ("binary", "multiclass", "continuous"):
            raise InputError(f"y must hold one class label or one number per sample, but it is {found!r}.")
        target = "real" if found == "continuous" or not told_kind(y) else "classes"
    if target == "real":
        return check_array(y, ensure_2d=False, dtype=np.float64, input_name="y"), "real"
    return y, "classes"


def kind_of_target(y: Any, **options: Any) -> str:
    """Return scikit-learn's word for y, without warnings where the largest numbers overflow."""
    with np.errstate(invalid="ignore", over="ignore"):
        return str(type_of_target(y, input_name="y", **options))


def comparable(y: Any) -> Any:
    """Return y; refuse labels that are missing, or that cannot be ordered."""
    kind = getattr(getattr(y, "dtype", None), "kind", "O")
    if kind == "U":
        check_characters(np.asarray(y), "y")
    if kind != "O" or y is None or sp.issparse(y):
        return y
    try:
        labels = np.asarray(y, dtype=object).ravel()
        missing = any(label is None or label != label for label in labels)
        np.unique(labels)
    except (TypeError, ValueError):  # of comparisons, also of values that are arrays
        raise InputError("y mixes values that cannot be compared, such as text and None.") from None
    if missing:
        raise InputError("y has missing labels (None or NaN): leave out the samples that have none.")
    return y


def class_codes(y: Array) -> tuple[Ints, Floats]:
    """Return the class of each sample as 0 .. C-1, and the number of samples of each class."""
    classes, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    if len(classes) < 2:
        raise InputError(f"The number of classes in y has to be greater than one; got {len(classes)} class.")
    return codes.ravel().astype(np.int64), counts.astype(np.float64)


def check_distributions(P: Any, name: str) -> Floats:
    """Turn samples x features into features x samples, each row scaled to mean one."""
    if sp.issparse(P):
        raise InputError(f"{name} must be dense: a distribution has no zeros to leave out. See from_data.")
    P = check_data(P)
    values: Floats = np.array(np.asarray(P).T, dtype=np.float64, order="C")
    if (values < 0).any():
        raise InputError(f"{name} has negative entries; its columns must be distributions.")
    sums = values.sum(axis=1)
    if (np.abs(sums - 1) > SUM_TOLERANCE).any():
        worst = int(np.argmax(np.abs(sums - 1)))
        raise InputError(f"Column {worst} of {name} sums to {sums[worst]:.6g}, not to one.")
    values *= values.shape[1] / sums[:, None]
    return values


def sparse_if_mostly_zero(X: Data) -> Data:
    """Convert dense data that are mostly zero to CSC, where they cost less."""
    if sp.issparse(X) or not is_mostly_zero(int(np.count_nonzero(X)), X.size):
        return X
    return sp.csc_array(X, dtype=np.float64)


def is_mostly_zero(n_nonzero: int, n_entries: int) -> bool:
    """Tell whether so few entries differ from zero that data cost less as CSC."""
    return n_nonzero <= (1 - MOSTLY_ZERO) * n_entries
