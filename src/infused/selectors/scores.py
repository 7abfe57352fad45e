"""Selectors that scikit-learn's scores make, for comparison: each is one function of the data.

They share the interface of the others: ``n_features_to_select``, ``scores_``, ``ranking_``, ``support_``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from sklearn.feature_selection import mutual_info_classif, mutual_info_regression

from infused._runtime.sklearn_compat import Interval, StrOptions, fit_context
from infused._runtime.threads import workers
from infused._typing import Array, Floats
from infused.exceptions import InputError, Setting
from infused.graphs.validation import Target
from infused.information.cuts import distinct_samples
from infused.information.discrete import MAX_BINS, target_codes
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
from infused.selectors.extremes import tame
from infused.selectors.f_test import f_values
from infused.selectors.groups import GROUPS, KEEP, by_variable
from infused.selectors.inputs import is_real
from infused.selectors.neighbours import joint_information_by_neighbours
from infused.selectors.seen import Seen, look
from infused.selectors.tuning import CV, SCORING, chosen_number
from infused.selectors.weights import refuse_weights

__all__ = [
    "AnovaSelector",
    "MutualInformationSelector",
    "RandomSelector",
    "ScoreSelector",
]

FEWEST_OF_A_CODE = 5  # samples, on average
SEED = [Interval(Integral, 0, 2**32 - 1, closed="both"), None]  # as scikit-learn takes it


@documented(SCORES)
class ScoreSelector(BaseSelector):
    """Features by a score of each, which a subclass gives.

    Parameters
    ----------
    %(parameters)s

    Attributes
    ----------
    %(attributes)s
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_features_to_select": NUMBER_OF_FEATURES,
        "target": [StrOptions({"auto", "classes", "real"})],
        "groups": GROUPS,
        "keep": KEEP,
        "cv": CV,
        "scoring": SCORING,
        "random_state": SEED,
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        *,
        n_features_to_select: int | float | str | None = None,
        target: str = "auto",
        groups: Any = None,
        keep: Any = None,
        cv: Any = 5,
        scoring: Any = None,
        random_state: int | None = 0,
        n_jobs: int | None = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.target = target
        self.groups = groups
        self.keep = keep
        self.cv = cv
        self.scoring = scoring
        self.random_state = random_state
        self.n_jobs = n_jobs

    @fit_context
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Score, rank and select the features of X for the target y.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Training samples; texts and categories of a frame are variables as they are.
        y : array of shape (n_samples,)
            Class labels or real values.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            What each sample counts; a whole number is as good as so many copies of it.
        groups : array-like of shape (n_samples,), default=None
            Samples that belong together, where ``n_features_to_select="auto"`` and ``cv`` asks for them.

        Returns
        -------
        self : object
            The fitted selector.
        """
        check_one_target(self, y)
        seen = look(self, X, y, gaps=self._takes_gaps(), dtype=[np.float64, np.float32])
        variables = seen.variables
        kept = variables.places(self.keep)
        real = is_real(seen.y, self.target)
        number = chosen_number(
            self,
            *seen.judged(self.n_features_to_select),
            kept,
            real=real,
            samples=groups,
            sample_weight=sample_weight,
        )
        k = number_or_half(number, variables, len(kept))
        seen = seen.weighed(sample_weight)
        seen = replace(seen, X=tame(seen.X), y=tame(seen.y) if real else seen.y)
        scores, tie_breaks = self._score(seen, real), self._tie_breaks(seen)
        constant = seen.constant
        scores[constant], tie_breaks[constant] = 0.0, -np.inf
        scores, ranking = ahead(kept, scores, ranks(scores, tie_breaks))
        self._store_ranking(variables, scores, ranking, ranking <= k)
        return self

    def _takes_gaps(self) -> bool:
        """Whether numbers may be missing."""
        return False

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._takes_gaps()
        return tags

    def _score(self, seen: Seen, real: bool) -> Floats:
        """One number for each variable; ``real`` says whether y holds real values."""
        raise NotImplementedError

    def _tie_breaks(self, seen: Seen) -> Floats:
        return np.zeros(len(seen.variables))


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

    def _score(self, seen: Seen, real: bool) -> Floats:
        return np.asarray(np.random.default_rng(self.random_state).random(len(seen.variables)))


@documented(SCORES)
class AnovaSelector(ScoreSelector):
    r"""Features by the F value of an analysis of variance.

    .. math::

        F_i = \frac{\sum_c n_c (\bar f_{ic} - \bar f_i)^2 / (C - 1)}
        {\sum_c \sum_{a \in c} (f_{ia} - \bar f_{ic})^2 / (M - C)}

    with C classes of :math:`n_c` samples each, M in all; for a real target, the F value of a linear
    regression on the feature alone. A group of features has that of Pillai's trace, the joint test. With
    ``keep``, F values are those of an analysis of covariance, given the features that are kept. Constant
    features have zero.

    Parameters
    ----------
    %(parameters)s

    Attributes
    ----------
    %(attributes)s

    See Also
    --------
    MutualInformationSelector : Finds relations of any form.
    sklearn.feature_selection.f_classif : The F values.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from infused.selectors.scores import AnovaSelector
    >>> X, y = load_wine(return_X_y=True)
    >>> AnovaSelector(n_features_to_select=4).fit(X, y).transform(X).shape
    (178, 4)
    """

    def _score(self, seen: Seen, real: bool) -> Floats:
        kept = seen.variables.places(self.keep)
        return f_values(seen.coded.X, seen.y, real, seen.coded.variables, kept, seen.weights)


@documented(SCORES)
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
    >>> from infused.selectors.scores import MutualInformationSelector
    >>> X, y = load_wine(return_X_y=True)
    >>> MutualInformationSelector(n_features_to_select=4).fit(X, y).transform(X).shape
    (178, 4)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **ScoreSelector._parameter_constraints,
        "estimator": [StrOptions({"binned", "neighbours"})],
        "n_bins": [Interval(Integral, 2, MAX_BINS, closed="both")],
    }

    def __init__(
        self,
        *,
        n_features_to_select: int | float | str | None = None,
        target: str = "auto",
        groups: Any = None,
        keep: Any = None,
        cv: Any = 5,
        scoring: Any = None,
        random_state: int | None = 0,
        n_jobs: int | None = None,
        estimator: str = "binned",
        n_bins: int = 5,
    ):
        super().__init__(
            n_features_to_select=n_features_to_select,
            target=target,
            groups=groups,
            keep=keep,
            cv=cv,
            scoring=scoring,
            random_state=random_state,
            n_jobs=n_jobs,
        )
        self.estimator = estimator
        self.n_bins = n_bins

    def _takes_gaps(self) -> bool:
        return self.estimator == "binned"

    def _score(self, seen: Seen, real: bool) -> Floats:
        X, y, weights = seen.X, seen.y, seen.weights
        if self.estimator == "neighbours":
            if seen.levels is not None:
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
                seen.variables,
                lambda columns: self._by_neighbours(columns, y, estimate, n_samples),
                lambda columns: joint_information_by_neighbours(columns, y, real, self.random_state),
            )
        counts, units = (None, None) if weights is None else (weights.counts, weights.units)
        kind: Target = "real" if real else "classes"
        codes = target_codes(X, y, target=kind, n_bins=self.n_bins, weights=counts)
        features = seen.codes(self.n_bins, self.n_jobs)
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
    """Whether a column holds codes: whole numbers, of which each has five samples or more on average.

    Copies of a sample are one of ``n_samples``.
    """
    if not (values == np.round(values)).all():
        return False
    n_distinct = len(np.unique(values))
    return n_distinct <= 2 or FEWEST_OF_A_CODE * n_distinct <= n_samples
