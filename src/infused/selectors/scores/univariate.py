"""Selectors that score each feature by itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from scipy.special import digamma
from sklearn.feature_selection import mutual_info_classif, mutual_info_regression
from sklearn.neighbors import KDTree, NearestNeighbors

from infused._runtime.compat import Interval, StrOptions, fit_context
from infused._runtime.threads import workers
from infused._typing import Array, Floats
from infused.exceptions import InputError, Setting
from infused.graphs.validation import Target, class_codes
from infused.information.discrete import MAX_BINS, distinct_samples, target_codes
from infused.information.mutual import MutualInformation
from infused.selectors.base import (
    NUMBER_OF_FEATURES,
    BaseSelector,
    ahead,
    check_one_target,
    number_or_half,
    ranks,
)
from infused.selectors.docs import SCORES, documented
from infused.selectors.inputs.checks import Inputs, check_inputs
from infused.selectors.inputs.groups import GROUPS, KEEP, by_variable
from infused.selectors.inputs.training import (
    is_real,
    refuse_weights,
    tame,
)
from infused.selectors.scores.f_test import f_tests
from infused.selectors.scores.score_test import score_tests

FEWEST_OF_A_CODE = 5  # samples, on average
SEED = [Interval(Integral, 0, 2**32 - 1, closed="both"), None]  # as scikit-learn takes it


@documented(SCORES)
@dataclass(kw_only=True, eq=False, repr=False)
class ScoreSelector(BaseSelector):
    """Features by a score of each, which a subclass gives.

    Parameters
    ----------
    %(parameters)s

    Attributes
    ----------
    %(attributes)s
    """

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
        inputs = check_inputs(self, X, y, gaps=self._takes_gaps(), dtype=[np.float64, np.float32])
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

    def _takes_gaps(self) -> bool:
        """Return whether numbers may be missing."""
        return False

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._takes_gaps()
        return tags

    def _score(self, inputs: Inputs, real: bool) -> Floats:
        """Score each variable; ``real`` says whether y is continuous."""
        raise NotImplementedError

    def _tie_breaks(self, inputs: Inputs, real: bool) -> Floats:
        return np.zeros(len(inputs.variables))


@documented(SCORES)
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

    def _takes_gaps(self) -> bool:
        return True

    def _score(self, inputs: Inputs, real: bool) -> Floats:
        return np.asarray(np.random.default_rng(self.random_state).random(len(inputs.variables)))


@documented(SCORES)
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

    def _score(self, inputs: Inputs, real: bool) -> Floats:
        kept, coded = inputs.variables.places(self.keep), inputs.coded
        if inputs.survival:
            tests = score_tests(coded.X, inputs.y, coded.variables, kept, inputs.weights)
        else:
            tests = f_tests(coded.X, inputs.y, real, coded.variables, kept, inputs.weights)
        self.f_values_, self.pvalues_ = tests.values, np.exp(tests.log_p)
        return tests.evidence


@documented(SCORES)
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
    n_bins : int, default=5
        Bins of a feature that is not discrete, and of a real target.

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
    n_bins: int = 5

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **ScoreSelector._parameter_constraints,
        "estimator": [StrOptions({"binned", "neighbours"})],
        "n_bins": [Interval(Integral, 2, MAX_BINS, closed="both")],
    }

    def _takes_gaps(self) -> bool:
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
            _, n_samples = distinct_samples(X, y, enough=len(y))
            return by_variable(
                X,
                inputs.variables,
                lambda columns: self._by_neighbours(columns, y, estimate, n_samples),
                lambda columns: joint_information_by_neighbours(columns, y, real, self.random_state),
            )
        counts, units = inputs.whole_weights
        kind: Target = "real" if real else "classes"
        codes = target_codes(X, y, target=kind, n_bins=self.n_bins, weights=counts)
        features = inputs.codes(self.n_bins, self.n_jobs)
        with workers(self.n_jobs) as pool:
            return MutualInformation.build(features, codes, pool, units).with_target()

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
