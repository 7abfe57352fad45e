"""From data to the numbers of the model: a standardised X and one or many columns of Y."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array
from sklearn.utils.multiclass import type_of_target

from infused._runtime.memory import require
from infused._typing import Array, Data, Floats
from infused.graphs.validation import class_codes

__all__ = ["TargetKind", "design_matrix", "mean_square", "resolve_kind", "target_matrix"]

TargetKind: TypeAlias = Literal["onehot", "label", "real"]

NEGLIGIBLE = 1e-12  # a column whose deviations are below this share of its largest entry is constant


def design_matrix(X: Data, standardize: bool, budget: int) -> Floats:
    """X as a dense array; standardised, its columns have mean zero and length one, constant ones are zero."""
    n_samples, n_features = X.shape
    what = f"The dense design matrix of {n_samples} samples and {n_features} features"
    require(16 * n_samples * n_features, budget, what, "take fewer features or fewer samples")
    F: Floats = np.array(X.toarray() if sp.issparse(X) else X, dtype=np.float64)
    if not standardize:
        return F
    largest = np.abs(F).max(axis=0)
    F /= np.where(largest > 0, largest, 1.0)  # so that no square overflows
    F -= F.mean(axis=0)
    length = np.sqrt((F * F).sum(axis=0))
    varies = length > NEGLIGIBLE * np.sqrt(n_samples)
    F /= np.where(varies, length, 1.0)
    F[:, ~varies] = 0.0
    return F


def mean_square(F: Floats) -> float:
    """Mean squared length of the columns."""
    return float((F * F).sum() / F.shape[1])


def resolve_kind(y: Any, target: str) -> TargetKind:
    """What y is to the model: "auto" makes one-hot columns of classes and takes real numbers as they are."""
    kind = type_of_target(y, input_name="y", raise_unknown=True)
    continuous = kind.startswith("continuous")
    if target == "auto":
        return "real" if continuous or kind.endswith("multioutput") else "onehot"
    if target in ("onehot", "label") and (continuous or kind.endswith("multioutput")):
        raise ValueError(f"target={target!r} needs one class label per sample, but y is {kind!r}.")
    return target  # type: ignore[return-value]  # the parameter was checked


def target_matrix(y: Array, kind: TargetKind, standardize: bool) -> Floats:
    """Y, samples x targets; standardised, its columns have mean zero and length one."""
    if kind == "real":
        Y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y").reshape(len(y), -1)
    else:
        codes, counts = class_codes(y)
        if kind == "label":
            numbers = y if np.asarray(y).dtype.kind in "biuf" else codes
            Y = np.asarray(numbers, dtype=np.float64).reshape(-1, 1)
        else:
            Y = np.eye(len(counts))[codes]
            Y = Y[:, 1:] if len(counts) == 2 else Y  # the two columns of two classes say the same
    if not standardize:
        return np.asarray(Y)
    Y = Y - Y.mean(axis=0)
    length = np.linalg.norm(Y, axis=0)
    return np.asarray(Y / np.where(length > 0, length, 1.0))
