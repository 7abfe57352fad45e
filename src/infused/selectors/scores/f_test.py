"""F tests of features: of single columns, of several together, and given others."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy import special
from sklearn.feature_selection import f_classif, f_regression

from infused._design import Design, column_squares, dense
from infused._runtime.threads import memory_budget
from infused._typing import Array, Floats, Ints
from infused.selectors.inputs.groups import Groups
from infused.selectors.inputs.training import Weights, basis, design_matrix, left_over, target_matrix

SMALLEST = 1e-280  # p-values below are computed by their logarithm


@dataclass(frozen=True)
class FTests:
    """The F test, or the score test, of each variable."""

    values: Floats
    log_p: Floats
    """Natural logarithms of the p-values."""
    comparable: bool
    """Whether all have the same degrees of freedom, so that F values have the order of p-values."""

    @property
    def evidence(self) -> Floats:
        """Return numbers by which variables can be ranked: F values, or else -log10 p."""
        return self.values.copy() if self.comparable else -self.log_p / np.log(10)


def f_tests(
    X: Any, y: Array, real: bool, variables: Groups, kept: Ints, weights: Weights | None = None
) -> FTests:
    """Test each variable, all its columns together, given the variables that are kept."""
    test = FTest(y, real, X[:, np.flatnonzero(np.isin(variables.codes, kept))], weights)
    X = X.tocsc() if sp.issparse(X) else X
    values, degrees = np.zeros(len(variables)), np.tile(test.degrees(1), (len(variables), 1))
    alone = np.flatnonzero(variables.sizes[variables.codes] == 1)
    plain = weights is None and not len(kept)
    if len(alone):
        columns = X if variables.single else X[:, alone]
        values[variables.codes[alone]] = anova(columns, y, real) if plain else test.of_columns(columns)
    for group in variables.several():
        values[group], degrees[group] = test.of_group(X[:, variables.columns(group)])
    varies = degrees[values > 0]
    return FTests(values, _log_p(values, *degrees.T), bool((varies == varies[:1]).all()))


def anova(X: Any, y: Array, real: bool) -> Floats:
    """Compute F values; zero for constant features, of which scikit-learn warns."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.filterwarnings("ignore", "Features .* are constant", UserWarning)
        return _finite((f_regression if real else f_classif)(X, y)[0])


def _log_p(values: Floats, above: Floats, below: Floats) -> Floats:
    r"""Compute the logarithm of the probability of a larger F value.

    It is :math:`I_x(a, b) = x^a (1 - x)^b / (a B(a, b)) \cdot {}_2F_1(a + b, 1; a + 1; x)`, with a and b half
    the degrees of freedom. Below the range of numbers a geometric series is enough for the last factor.
    """
    above, below = np.maximum(above, 1.0), np.maximum(below, 1.0)
    p = special.fdtrc(above, below, values)
    a, b = below / 2, above / 2
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # where p is read, the tail is not
        ratio = np.minimum(values, np.finfo(float).max / above) * above / below
        log_x, log_rest = -np.log1p(ratio), np.log(ratio) - np.log1p(ratio)
        series = -np.log1p(-np.exp(log_x) * np.minimum((a + b) / (a + 1), 1.0))
        tail = a * log_x + b * log_rest - np.log(a) - special.betaln(a, b) + series
        return np.asarray(np.where(p > SMALLEST, np.log(np.maximum(p, SMALLEST)), tail))


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

    def of_group(self, columns: Any) -> tuple[float, tuple[float, float]]:
        """Test all columns together; return the F value and its degrees of freedom."""
        F = basis(left_over(dense(self._standardised(columns)), self.given))
        value = self._values(((F.T @ self.Y) ** 2).sum(), F.shape[1])
        return float(value), self.degrees(F.shape[1])

    def of_columns(self, columns: Any) -> Floats:
        """Test each column."""
        F = left_over(self._standardised(columns), self.given)
        square = column_squares(F)
        explained = ((F.T @ self.Y) ** 2).sum(axis=1) / np.where(square > 0, square, 1.0)
        return np.where(square > 0, self._values(explained, 1), 0.0)

    def degrees(self, p: int) -> tuple[float, float]:
        """Return the degrees of freedom of p independent columns."""
        q = self.Y.shape[1]
        return p * q, min(p, q) * max(0.0, self.n_samples - 1 - self.given.shape[1] - max(p, q))

    def _values(self, explained: Any, p: int) -> Floats:
        above, below = self.degrees(p)
        if above == 0 or below <= 0:
            return np.zeros_like(explained)
        left = np.maximum(min(p, self.Y.shape[1]) - explained, 0.0)
        with np.errstate(divide="ignore"):
            return _finite(explained / above / (left / below))

    def _standardised(self, columns: Any) -> Design:
        return design_matrix(columns, True, memory_budget(), self.weights)


def _finite(scores: Any) -> Floats:
    """Make numbers of scores: what has none is zero, and a perfect one is the largest there is.

    A feature that is the target itself may correlate with it by more than one, in the last digit: then the
    formula turns negative.
    """
    scores = np.asarray(scores, dtype=np.float64)
    largest = np.finfo(float).max
    return np.nan_to_num(np.where(scores < 0, largest, scores), nan=0.0, posinf=largest)
