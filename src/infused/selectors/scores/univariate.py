"""Selectors that score each feature by itself; F tests, and score tests in Cox's model."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from scipy import special
from scipy.special import digamma
from scipy.stats import chi2
from sklearn.feature_selection import f_classif, f_regression, mutual_info_classif, mutual_info_regression
from sklearn.neighbors import KDTree, NearestNeighbors

from infused._columns import COPIED, StoredColumns
from infused._design import Design, column_squares, dense, rows_scaled
from infused._runtime.compat import Interval, StrOptions, fit_context
from infused._runtime.threads import memory_budget, workers
from infused._typing import Array, Floats, Ints
from infused.datafits import Cox, Curvature
from infused.exceptions import InputError, Setting
from infused.graphs.validation import class_codes
from infused.information.discrete import distinct_samples
from infused.information.mutual import MutualInformation
from infused.penalties import RowGroups
from infused.selectors.base import (
    NUMBER_OF_FEATURES,
    BaseSelector,
    ahead,
    check_one_target,
    documented,
    number_or_half,
    ranks,
)
from infused.selectors.inputs.checks import N_BINS, Inputs, check_inputs
from infused.selectors.inputs.groups import GROUPS, KEEP, Groups, by_variable
from infused.selectors.inputs.training import (
    Weights,
    basis,
    design_matrix,
    is_real,
    left_over,
    refuse_weights,
    tame,
    target_matrix,
)
from infused.solvers import Loss, null_solution

SMALLEST = 1e-280  # p-values below are computed by their logarithm
ROUNDING = 1e-13  # of what is left of a target: nothing is, and its size would depend on the order of sums


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
    # scikit-learn copies X.
    plain = weights is None and not len(kept) and X.size <= COPIED and not isinstance(X, StoredColumns)
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
        left = min(p, self.Y.shape[1]) - explained
        left = np.where(left > ROUNDING, left, 0.0)
        with np.errstate(divide="ignore"):
            return _finite(explained / above / (left / below))

    def _standardised(self, columns: Any) -> Design:
        return design_matrix(columns, True, memory_budget(), self.weights)


def _finite(scores: Any) -> Floats:
    """Make numbers of scores: what has none is zero, and a perfect one is the largest there is.

    Rounding turns the formula negative in two cases: far below zero for a feature that is the target itself,
    and by the last digit for one whose class means are equal.
    """
    scores = np.asarray(scores, dtype=np.float64)
    largest = np.finfo(float).max
    return np.nan_to_num(np.where(scores < -1, largest, np.maximum(scores, 0.0)), nan=0.0, posinf=largest)


COLUMNS_AT_ONCE = 64
NEGLIGIBLE = 1e-10  # of the information of a column: less has nothing of its own beside what is kept


def score_tests(X: Any, y: Array, variables: Groups, kept: Ints, weights: Weights | None = None) -> FTests:
    r"""Test each variable, all its columns together, given the variables that are kept.

    .. math::

        \chi^2 = U' V^{-1} U, \qquad U = Z'(\delta - \Lambda)

    with U the slope of the partial likelihood along the columns Z of the variable where they have no
    coefficients, and V its curvature, both given the maximum of the likelihood over what is kept. With one
    column of two values it is the log-rank test.
    """
    design = design_matrix(X, True, memory_budget(), weights)
    values, given = None, np.flatnonzero(np.isin(variables.codes, kept))
    if weights is not None:
        values, design = weights.values, rows_scaled(design, 1 / weights.root)
    f = Loss(Cox(y["time"], y["event"], values), design, kept=dense(design[:, given]))
    null = null_solution(f, RowGroups(1.0))
    eta = f.predictions(null.coef, f.at(null)[1])
    slope, curvature = null.gradient[:, 0], f.datafit.curvature(eta)
    found, degrees = np.zeros(len(variables)), np.ones(len(variables))
    single = np.flatnonzero(variables.sizes[variables.codes] == 1)
    for first in range(0, len(single), COLUMNS_AT_ONCE):
        own = single[first : first + COLUMNS_AT_ONCE]
        V = np.diagonal(_information(curvature, dense(design[:, own]), f.Z))
        there = np.flatnonzero(V > NEGLIGIBLE)
        found[variables.codes[own[there]]] = slope[own[there]] ** 2 / V[there]
    for group in variables.several():
        own = variables.columns(group)
        V = _information(curvature, dense(design[:, own]), f.Z)
        sizes, directions = np.linalg.eigh(V)
        known = sizes > NEGLIGIBLE
        along = directions[:, known].T @ slope[own]
        degrees[group] = max(int(known.sum()), 1)
        found[group] = float((along**2 / sizes[known]).sum())
    log_p = chi2.logsf(found, degrees)
    return FTests(found / degrees, log_p, bool((degrees == degrees[0]).all()))


def _information(curvature: Curvature, F: Floats, Z: Floats) -> Floats:
    """Return the information of some columns, less what the columns Z share of it."""
    V, n = curvature.gram(np.column_stack([Z, F])), Z.shape[1]
    inner, cross = V[n:, n:], V[n:, :n]
    return np.asarray(inner - cross @ np.linalg.pinv(V[:n, :n], hermitian=True) @ cross.T)


FEWEST_OF_A_CODE = 5  # samples, on average
SEED = [Interval(Integral, 0, 2**32 - 1, closed="both"), None]  # as scikit-learn takes it


@documented()
@dataclass(kw_only=True, eq=False, repr=False)
class ScoreSelector(BaseSelector):
    """Features by a score of each, which a subclass gives.

    Parameters
    ----------
    %(n_features_to_select)s
    target : {"auto", "classes", "real"}, default="auto"
        What y is; "auto" decides by its type.
    %(groups)s
    %(keep)s
    random_state : int or None, default=0
        Seed of whatever is drawn at random.
    n_jobs : int or None, default=None
        Jobs, where scikit-learn's computation takes them; -1 for every core.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,) or (n_groups,)
        Larger is better.
    ranking_ : ndarray of int of shape (n_features,) or (n_groups,)
        1 for the best, the same for every number of features that is asked for; ties go to the first.
    %(attributes)s
    """

    _takes_gaps = False  # whether numbers may be missing
    _in_passes = False  # whether X may stay on disk

    n_features_to_select: int | float | str | None = None
    target: str = "auto"
    groups: Any = None
    keep: Any = None
    random_state: int | None = 0
    n_jobs: int | None = None

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_features_to_select": NUMBER_OF_FEATURES,
        "target": [StrOptions({"auto", "classes", "real"})],
        "groups": GROUPS,
        "keep": KEEP,
        "random_state": SEED,
        "n_jobs": [Integral, None],
    }

    @fit_context
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Score, rank and select the features of X for the target y.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Training samples; texts and categories of a frame are variables as they are.
        y : array of shape (n_samples,)
            Class labels or real values.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            What each sample counts; a whole number is as good as so many copies of it.

        Returns
        -------
        self : object
            The fitted selector.
        """
        check_one_target(self, y)
        gaps, dtype = self._takes_gaps, self._dtype(X)
        inputs = check_inputs(self, X, y, gaps=gaps, dtype=dtype, stored=self._in_passes)
        variables = inputs.variables
        kept = variables.places(self.keep)
        real = inputs.survival or is_real(inputs.y, self.target)
        number = self._number(inputs, kept, real, sample_weight)
        k = number_or_half(number, variables, len(kept))
        inputs = inputs.weighed(sample_weight)
        y = tame(inputs.y) if real and not inputs.survival else inputs.y
        inputs = replace(inputs, X=tame(inputs.X), y=y)
        scores, tie_breaks = self._score(inputs, real), self._tie_breaks(inputs, real)
        constant = inputs.constant
        scores[constant], tie_breaks[constant] = 0.0, -np.inf
        scores, ranking = ahead(kept, scores, ranks(scores, tie_breaks))
        self._store_ranking(variables, scores, ranking, ranking <= k)
        return self

    def _dtype(self, X: Any) -> Any:
        """Return the types of numbers that a score is made of, as scikit-learn's checks take them."""
        return [np.float64, np.float32]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._takes_gaps
        return tags

    def _score(self, inputs: Inputs, real: bool) -> Floats:
        """Score each variable; ``real`` says whether y is continuous."""
        raise NotImplementedError

    def _tie_breaks(self, inputs: Inputs, real: bool) -> Floats:
        return np.zeros(len(inputs.variables))


@documented()
class RandomSelector(ScoreSelector):
    r"""Features at random: the baseline that every table should carry.

    A score is drawn from the uniform distribution, :math:`s_i \sim U(0, 1)`, whatever the data; but a
    constant feature has zero, and comes last, as everywhere.

    Parameters
    ----------
    %(parameters)s

    Attributes
    ----------
    %(attributes)s

    See Also
    --------
    AnovaSelector : The simplest selector that looks at the data.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from infused import RandomSelector
    >>> X, y = load_wine(return_X_y=True)
    >>> RandomSelector(n_features_to_select=4).fit(X, y).transform(X).shape
    (178, 4)
    """

    _takes_survival = _takes_gaps = True

    def _score(self, inputs: Inputs, real: bool) -> Floats:
        return np.asarray(np.random.default_rng(self.random_state).random(len(inputs.variables)))


@documented()
class AnovaSelector(ScoreSelector):
    r"""Features by the F value of an analysis of variance.

    .. math::

        F_i = \frac{\sum_c n_c (\bar f_{ic} - \bar f_i)^2 / (C - 1)}
        {\sum_c \sum_{a \in c} (f_{ia} - \bar f_{ic})^2 / (M - C)}

    with C classes of :math:`n_c` samples each, M in all; for a real target, the F value of a linear
    regression on the feature alone. A category, or a group of features, has that of Pillai's trace, the joint
    test. Where features differ in their degrees of freedom, as categories and numbers do, F values cannot be
    compared: then features are ranked by their p-values. With ``keep``, F values are those of an analysis of
    covariance, given the features that are kept. Constant features have zero.

    For times and events (y is a structured array of both) it is the score test of Cox's model of the feature
    alone, given those that are kept, whose chi-squared value takes the place of F.

    Parameters
    ----------
    %(parameters)s

    Attributes
    ----------
    %(attributes)s
    f_values_ : ndarray of shape (n_features,) or (n_groups,)
        The F values. They are the scores where all have the same degrees of freedom; else the scores are the
        negative logarithms of the p-values to base 10.
    pvalues_ : ndarray of shape (n_features,) or (n_groups,)
        Their p-values.

    See Also
    --------
    MutualInformationSelector : Finds relations of any form.
    sklearn.feature_selection.f_classif : The F values.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from infused.selectors.scores.univariate import AnovaSelector
    >>> X, y = load_wine(return_X_y=True)
    >>> AnovaSelector(n_features_to_select=4).fit(X, y).transform(X).shape
    (178, 4)
    """

    _takes_survival = True
    _in_passes = True

    def _dtype(self, X: Any) -> Any:
        return "numeric" if getattr(X, "size", 0) > COPIED else super()._dtype(X)

    def _score(self, inputs: Inputs, real: bool) -> Floats:
        kept, coded = inputs.variables.places(self.keep), inputs.coded
        if inputs.survival:
            tests = score_tests(coded.X, inputs.y, coded.variables, kept, inputs.weights)
        else:
            tests = f_tests(coded.X, inputs.y, real, coded.variables, kept, inputs.weights)
        self.f_values_, self.pvalues_ = tests.values, np.exp(tests.log_p)
        return tests.evidence


@documented()
@dataclass(kw_only=True, eq=False, repr=False)
class MutualInformationSelector(ScoreSelector):
    r"""Features by their mutual information with the target.

    .. math::

        I(f_i; y)

    of discretised features, exactly, or as scikit-learn estimates it by nearest neighbours; for a group of
    features that of the joint variable. Columns that are the same have the same score. Columns of few values,
    such as 0/1 and codes, are taken as they are.

    Parameters
    ----------
    %(parameters)s
    estimator : {"binned", "neighbours"}, default="binned"
        "binned" counts features in bins of equal frequency, as MIFS, MRMR and JMIM do; "neighbours" is
        scikit-learn's, much slower, for relations that bins are too coarse for.
    n_bins : int or "auto", default="auto"
        Bins of a feature that is not discrete, and of a continuous target, as MIFS and the other filters have
        them: of equal frequency, or "auto", five of which the lowest and the highest are cut again.

    Attributes
    ----------
    %(attributes)s

    See Also
    --------
    MIFS : Less what the features that were picked before say already.
    sklearn.feature_selection.mutual_info_classif : The estimate by neighbours.

    References
    ----------
    T. M. Cover, J. A. Thomas, "Elements of Information Theory", Wiley (1991).
    A. Kraskov, H. Stögbauer, P. Grassberger, "Estimating mutual information", Physical Review E 69 (2004).
    B. C. Ross, "Mutual information between discrete and continuous data sets", PLoS ONE 9(2) (2014).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from infused.selectors.scores.univariate import MutualInformationSelector
    >>> X, y = load_wine(return_X_y=True)
    >>> MutualInformationSelector(n_features_to_select=4).fit(X, y).transform(X).shape
    (178, 4)
    """

    estimator: str = "binned"
    n_bins: int | str = "auto"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **ScoreSelector._parameter_constraints,
        "estimator": [StrOptions({"binned", "neighbours"})],
        "n_bins": N_BINS,
    }

    @property
    def _takes_gaps(self) -> bool:  # type: ignore[override]  # as the estimate does
        return self.estimator == "binned"

    @property
    def _in_passes(self) -> bool:  # type: ignore[override]  # as the estimate is
        return self.estimator == "binned"

    def _score(self, inputs: Inputs, real: bool) -> Floats:
        X, y, weights = inputs.X, inputs.y, inputs.weights
        if self.estimator == "neighbours":
            if inputs.levels is not None:
                raise InputError(
                    Setting("estimator", "neighbours"),
                    " measures distances, which categories do not have: take ",
                    Setting("estimator", "binned"),
                )
            refuse_weights(
                "estimator='neighbours'",
                "a sample that counts twice would be its own neighbour",
                "Take estimator='binned'",
                weights,
            )
            estimate = mutual_info_regression if real else mutual_info_classif
            _, n_samples = distinct_samples(X, y)
            return by_variable(
                X,
                inputs.variables,
                lambda columns: self._by_neighbours(columns, y, estimate, n_samples),
                lambda columns: joint_information_by_neighbours(columns, y, real, self.random_state),
            )
        codes, y_codes, units = inputs.counted(self.n_bins, real, self.n_jobs)
        with workers(self.n_jobs) as pool:
            return MutualInformation.build(codes, y_codes, pool, units).with_target()

    def _by_neighbours(self, X: Any, y: Array, estimate: Callable[..., Floats], n_samples: int) -> Floats:
        # One call for each column: the noise that scikit-learn adds is then the same for all.
        columns = X.tocsc() if sp.issparse(X) else X

        def score(n: int) -> float:
            column = columns[:, [n]].toarray() if sp.issparse(columns) else columns[:, [n]]
            discrete = is_discrete(column[:, 0], n_samples)
            return float(estimate(column, y, discrete_features=discrete, random_state=self.random_state)[0])

        jobs = Parallel(n_jobs=self.n_jobs, prefer="threads")
        return np.array(jobs(delayed(score)(n) for n in range(X.shape[1])))


def is_discrete(values: Floats, n_samples: int) -> bool:
    """Return whether a column holds codes: whole numbers, each with five samples or more on average.

    Copies of a sample are one of ``n_samples``.
    """
    if not (values == np.round(values)).all():
        return False
    n_distinct = len(np.unique(values))
    return n_distinct <= 2 or FEWEST_OF_A_CODE * n_distinct <= n_samples


NEIGHBOURS = 3  # this and the noise that parts ties: as in scikit-learn's estimate for one column
NOISE = 1e-10


def joint_information_by_neighbours(columns: Any, y: Array, real: bool, seed: int | None) -> float:
    """Estimate I(columns; y) in nats, by nearest neighbours in the largest of the differences.

    Kraskov's estimate for a real target, Ross's for classes, as scikit-learn has them for one column.
    """
    random = np.random.default_rng(seed)
    F = _scaled(columns.toarray() if sp.issparse(columns) else np.array(columns, dtype=np.float64), random)
    if real:
        return _with_real(F, _scaled(np.asarray(y, dtype=np.float64).reshape(-1, 1), random))
    return _with_classes(F, class_codes(y)[0])


def _with_real(F: Floats, y: Floats) -> float:
    neighbours = min(NEIGHBOURS, len(F) - 1)
    search = NearestNeighbors(metric="chebyshev", n_neighbors=neighbours).fit(np.hstack([F, y]))
    radius = np.nextafter(search.kneighbors()[0][:, -1], 0)
    near = digamma(_within(F, radius)).mean() + digamma(_within(y, radius)).mean()
    return max(0.0, float(digamma(len(F)) + digamma(neighbours) - near))


def _with_classes(F: Floats, codes: Array) -> float:
    sizes = np.bincount(codes)[codes]
    neighbours, radius = np.minimum(NEIGHBOURS, sizes - 1), np.zeros(len(F))
    for own in (np.flatnonzero(codes == c) for c in np.unique(codes[sizes > 1])):
        search = NearestNeighbors(metric="chebyshev", n_neighbors=neighbours[own[0]]).fit(F[own])
        radius[own] = np.nextafter(search.kneighbors()[0][:, -1], 0)
    several = sizes > 1  # a class of one sample has no neighbours
    F, radius, sizes, neighbours = F[several], radius[several], sizes[several], neighbours[several]
    near = digamma(_within(F, radius)).mean()
    estimate = digamma(len(F)) + digamma(neighbours).mean() - digamma(sizes).mean() - near
    return max(0.0, float(estimate))


def _within(points: Floats, radius: Floats) -> Array:
    """Count the points that are this close to each, itself among them."""
    counts = KDTree(points, metric="chebyshev").query_radius(points, radius, count_only=True)
    return np.asarray(counts)


def _scaled(F: Floats, random: np.random.Generator) -> Floats:
    """Scale columns to variance one, with a noise too small to matter but where values are equal."""
    spread = F.std(axis=0)
    F = F / np.where(spread > 0, spread, 1.0)
    return np.asarray(F + NOISE * np.maximum(1, np.abs(F).mean(axis=0)) * random.standard_normal(F.shape))
