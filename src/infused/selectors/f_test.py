"""F values: of a column, of several together, and of either given other columns."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.feature_selection import f_classif, f_regression

from infused._design import Design, column_squares, dense
from infused._runtime.memory import memory_budget
from infused._typing import Array, Floats, Ints
from infused.selectors.groups import Groups, by_variable
from infused.selectors.inputs import basis, design_matrix, left_over, target_matrix
from infused.selectors.weights import Weights

__all__ = ["FTest", "anova", "f_values"]


def anova(X: Any, y: Array, real: bool) -> Floats:
    """F values; zero for constant features, of which scikit-learn warns."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.filterwarnings("ignore", "Features .* are constant", UserWarning)
        return _finite((f_regression if real else f_classif)(X, y)[0])


def f_values(
    X: Any, y: Array, real: bool, variables: Groups, kept: Ints, weights: Weights | None = None
) -> Floats:
    """Of each variable: its own F value or the joint one of its columns, given those that are kept."""
    plain = weights is None and not len(kept)
    if variables.single and plain:
        return anova(X, y, real)
    given = X[:, np.flatnonzero(np.isin(variables.codes, kept))]
    test = FTest(y, real, given, weights)
    of_columns = (lambda columns: anova(columns, y, real)) if plain else test.of_columns
    return by_variable(X, variables, of_columns, test.of_group)


class FTest:
    r"""The F value of Pillai's trace, of an analysis of (co)variance of several columns together.

    .. math::

        F = \frac{V / a}{(s - V) / (M - 1 - g - a)}, \qquad V = \sum_i r_i^2

    with r the canonical correlations of p independent columns with the q that code the target,
    s = min(p, q), a = max(p, q), and all of them less what g given columns explain of them. One column has
    its usual F value. Where no degrees of freedom are left there is none: it is zero then. M is the sum of
    the weights, where there are any.
    """

    def __init__(self, y: Array, real: bool, given: Any, weights: Weights | None = None):
        self.weights, self.n_samples = weights, len(y) if weights is None else weights.total
        self.given = basis(dense(self._standardised(given))) if given.shape[1] else np.empty((len(y), 0))
        coded = target_matrix(y, "real" if real else "onehot", True, weights)
        self.Y = basis(left_over(coded, self.given))

    def of_group(self, columns: Any) -> float:
        """Of all columns together."""
        F = basis(left_over(dense(self._standardised(columns)), self.given))
        return float(self._values(((F.T @ self.Y) ** 2).sum(), F.shape[1]))

    def of_columns(self, columns: Any) -> Floats:
        """Of each column."""
        F = left_over(self._standardised(columns), self.given)
        square = column_squares(F)
        explained = ((F.T @ self.Y) ** 2).sum(axis=1) / np.where(square > 0, square, 1.0)
        return np.where(square > 0, self._values(explained, 1), 0.0)

    def _values(self, explained: Any, p: int) -> Floats:
        q = self.Y.shape[1]
        free = self.n_samples - 1 - self.given.shape[1] - max(p, q)
        if min(p, q) == 0 or free <= 0:
            return np.zeros_like(explained)
        with np.errstate(divide="ignore"):
            return _finite(explained / max(p, q) / (np.maximum(min(p, q) - explained, 0.0) / free))

    def _standardised(self, columns: Any) -> Design:
        return design_matrix(columns, True, memory_budget(), self.weights)


def _finite(scores: Any) -> Floats:
    """Scores as numbers: what has none is zero, and a perfect one is the largest there is.

    A feature that is the target itself may correlate with it by more than one, in the last digit: then the
    formula turns negative.
    """
    scores = np.asarray(scores, dtype=np.float64)
    largest = np.finfo(float).max
    return np.nan_to_num(np.where(scores < 0, largest, scores), nan=0.0, posinf=largest)
