"""From data to the numbers of the model: a standardised X and one or many columns of Y."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array
from sklearn.utils.multiclass import type_of_target

from infused._runtime.memory import require
from infused._typing import Array, Data, Floats, Ints, TargetKind
from infused.exceptions import InputError
from infused.graphs.validation import class_codes
from infused.selectors.groups import Groups

__all__ = [
    "Coding",
    "TrainingData",
    "basis",
    "constant_columns",
    "design_matrix",
    "is_real",
    "left_over",
    "mean_square",
    "one_target",
    "quadratic_weight",
    "resolve_coding",
    "target_matrix",
]

Coding: TypeAlias = Literal["onehot", "label", "real"]  # what y is to a linear model

RANK = 1e-10  # directions shorter than this share of the longest are none
NOTHING_NEW = 1e-10  # a column of which less than this share is left has nothing of its own
NEGLIGIBLE = 1e-12  # a column whose deviations are below this share of its largest entry is constant


@dataclass(frozen=True)
class TrainingData:
    """What was given, checked, and what a linear model sees of it."""

    X: Any
    y: Any
    coding: Coding
    F: Floats
    """Features, samples x features."""
    Y: Floats
    """Targets, samples x targets."""
    variables: Groups

    @classmethod
    def make(
        cls, X: Data, y: Array, target: str, standardize: bool, budget: int, variables: Groups
    ) -> TrainingData:
        """From checked X and y; ``target`` says what y is to the model, or leaves it to y."""
        coding = resolve_coding(y, target)
        F = design_matrix(X, standardize, budget)
        return cls(X, y, coding, F, target_matrix(y, coding, standardize), variables)

    @property
    def n_features(self) -> int:
        """Columns of F."""
        return int(self.F.shape[1])

    @property
    def groups(self) -> Ints | None:
        """The group of each feature; None where every feature is one of its own."""
        return None if self.variables.single else self.variables.codes

    def columns(self, features: Ints) -> Any:
        """Some features as they were given; X itself where they are all."""
        return self.X if len(features) == self.n_features else self.X[:, features]

    @property
    def kind(self) -> TargetKind:
        """Whether y holds classes or real values."""
        return "real" if self.coding == "real" else "classes"


def constant_columns(X: Data) -> Array:
    """The columns that have one value only."""
    largest, smallest = X.max(axis=0), X.min(axis=0)
    if sp.issparse(X):
        largest, smallest = largest.toarray().ravel(), smallest.toarray().ravel()
    return np.asarray(largest == smallest)


def design_matrix(X: Data, standardize: bool, budget: int) -> Floats:
    """X as a dense array; standardised, its columns have mean zero and length one. Constant ones are zero."""
    n_samples, n_features = X.shape
    what = f"The dense design matrix of {n_samples} samples and {n_features} features"
    require(16 * n_samples * n_features, budget, what, "take fewer features or fewer samples")
    F: Floats = np.array(X.toarray() if sp.issparse(X) else X, dtype=np.float64)
    if not standardize:
        F[:, constant_columns(F)] = 0.0
        return F
    largest = np.abs(F).max(axis=0)
    F /= np.where(largest > 0, largest, 1.0)  # so that no square overflows
    F -= F.mean(axis=0)
    length = np.sqrt((F * F).sum(axis=0))
    varies = length > NEGLIGIBLE * np.sqrt(n_samples)
    F /= np.where(varies, length, 1.0)
    F[:, ~varies] = 0.0
    return F


def basis(A: Floats) -> Floats:
    """Orthonormal columns that span those of A."""
    left, sizes, _ = np.linalg.svd(A, full_matrices=False)
    return np.asarray(left[:, sizes > RANK * sizes.max(initial=0.0)])


def left_over(A: Floats, Z: Floats) -> Floats:
    """A less its projection on the columns of Z; columns that are in their span become zero."""
    Q, left = basis(Z), A
    for _ in range(2):  # the second time takes off what rounding left
        left = left - Q @ (Q.T @ left)
    gone = np.linalg.norm(left, axis=0) <= NOTHING_NEW * np.linalg.norm(A, axis=0)
    return np.asarray(np.where(gone, 0.0, left))


def mean_square(F: Floats) -> float:
    """Mean squared length of the columns."""
    return float((F * F).sum() / F.shape[1])


def quadratic_weight(share: float, F: Floats, relative: bool) -> float:
    """The weight of a quadratic term: a relative one is a share of the mean squared length of a feature."""
    return share * mean_square(F) if relative else share


def resolve_coding(y: Any, target: str) -> Coding:
    """What y is to the model: "auto" makes one-hot columns of classes and takes real numbers as they are."""
    kind = type_of_target(y, input_name="y", raise_unknown=True)
    numbers = kind.startswith("continuous") or kind.endswith("multioutput") or kind == "multilabel-indicator"
    if target == "auto":
        return "real" if numbers else "onehot"
    if target in ("onehot", "label") and numbers:
        raise InputError(f"target={target!r} needs one class label per sample, but y is {kind!r}.")
    return target  # type: ignore[return-value]  # the parameter was checked


def is_real(y: Any, target: str) -> bool:
    """Whether y holds real values, to a selector that takes it as "classes", as "real" or by its type."""
    return resolve_coding(y, "onehot" if target == "classes" else target) == "real"


def target_matrix(y: Array, coding: Coding, standardize: bool) -> Floats:
    """Y, samples x targets; standardised, its columns have mean zero and length one."""
    if coding == "real":
        Y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y").reshape(len(y), -1)
    else:
        codes, counts = class_codes(y)
        if coding == "label":
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


def one_target(y: Array) -> Array:
    """Target graphs are of one target: of several real ones, their first principal component."""
    y = np.asarray(y)
    if y.ndim == 1 or y.shape[1] == 1:
        return y.ravel()
    centred = y - y.mean(axis=0)
    left, size, _ = np.linalg.svd(centred / np.maximum(centred.std(axis=0), 1e-300), full_matrices=False)
    return np.asarray(left[:, 0] * size[0])
