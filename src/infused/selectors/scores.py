"""Selectors that scikit-learn's scores make, for comparison: each is one function of the data.

They share the interface of the others: ``n_features_to_select``, ``scores_``, ``ranking_``, ``support_``.
"""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import _fit_context
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.feature_selection import f_classif, f_regression, mutual_info_classif, mutual_info_regression
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import validate_data

from infused._runtime.memory import memory_budget
from infused._runtime.threads import spans
from infused._typing import Array, Floats
from infused.selectors.base import NUMBER_OF_FEATURES, BaseSelector, how_many, ranks
from infused.selectors.inputs import design_matrix, resolve_kind

__all__ = [
    "AnovaSelector",
    "L1LogisticSelector",
    "MutualInformationSelector",
    "RandomForestSelector",
    "RandomSelector",
    "ScoreSelector",
]

STRIP = 512  # features that are made dense at a time
KINDS = {"auto": "auto", "classes": "onehot", "real": "real"}
SEED = [Interval(Integral, 0, None, closed="left"), None]


class ScoreSelector(BaseSelector):
    """Features by a score of each; ties by position. A subclass gives the scores.

    ``n_features_to_select`` is a number, a fraction, or None for half of the features; ``target`` says what y
    is: "classes", "real", or "auto" for whatever its type tells.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_features_to_select": NUMBER_OF_FEATURES,
        "target": [StrOptions({"auto", "classes", "real"})],
        "random_state": SEED,
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        *,
        n_features_to_select: int | float | None = None,
        target: str = "auto",
        random_state: int | None = 0,
        n_jobs: int | None = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.target = target
        self.random_state = random_state
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]  # scikit-learn's
    def fit(self, X: Any, y: Any) -> Self:
        """Score, rank and select the features of X for the target y.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        y : array of shape (n_samples,)
            Class labels or real values.
        """
        X, y = validate_data(
            self, X, y, accept_sparse=["csr", "csc"], dtype=[np.float64, np.float32], ensure_min_samples=2
        )
        n_features = X.shape[1]
        k = how_many(self.n_features_to_select, n_features) or max(1, n_features // 2)
        real = resolve_kind(y, KINDS[self.target]) == "real"
        self.scores_ = self._score(X, y, real)
        self.ranking_ = ranks(self.scores_, self._tie_breaks(X, y))
        self.support_ = self.ranking_ <= k
        return self

    def _score(self, X: Any, y: Array, real: bool) -> Floats:
        raise NotImplementedError

    def _tie_breaks(self, X: Any, y: Array) -> Floats:
        return np.zeros(X.shape[1])


class RandomSelector(ScoreSelector):
    """Features at random: the baseline that every table should carry.

    Parameters
    ----------
    n_features_to_select : int, float or None
        A number, a fraction, or None for half of the features.
    target : {"auto", "classes", "real"}
        What y is; it changes nothing here.
    random_state : int, optional
        The seed.
    n_jobs
        Not used; there for the common interface.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from infused import RandomSelector
    >>> X, y = load_wine(return_X_y=True)
    >>> RandomSelector(n_features_to_select=4).fit(X, y).transform(X).shape
    (178, 4)
    """

    def _score(self, X: Any, y: Array, real: bool) -> Floats:
        return np.asarray(np.random.default_rng(self.random_state).random(X.shape[1]))


class AnovaSelector(ScoreSelector):
    """Features by the F value of an analysis of variance (of a linear regression, for a real target)."""

    def _score(self, X: Any, y: Array, real: bool) -> Floats:
        return anova(X, y, real)


class MutualInformationSelector(ScoreSelector):
    """Features by scikit-learn's nearest-neighbour estimate of their mutual information with the target."""

    def _score(self, X: Any, y: Array, real: bool) -> Floats:
        estimate = mutual_info_regression if real else mutual_info_classif
        options = {"discrete_features": False, "random_state": self.random_state, "n_jobs": self.n_jobs}
        # scikit-learn takes every value of a sparse feature for a class of its own; a strip is dense.
        columns = X.tocsc() if sp.issparse(X) else X
        strips = (columns[:, span] for span in spans(X.shape[1], STRIP))
        dense = (strip.toarray() if sp.issparse(strip) else strip for strip in strips)
        return np.concatenate([estimate(strip, y, **options) for strip in dense])


class L1LogisticSelector(ScoreSelector):
    """Features by the sum of their coefficients' sizes in a logistic regression with an l1 penalty.

    One against the rest by liblinear, on standardised features; the sum over classes is what scikit-learn's
    ``SelectFromModel`` takes. ``C`` is the inverse of the penalty's weight. Features at zero are ranked by
    their F value.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **ScoreSelector._parameter_constraints,
        "C": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        *,
        n_features_to_select: int | float | None = None,
        C: float = 0.1,
        target: str = "auto",
        random_state: int | None = 0,
        n_jobs: int | None = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.C = C
        self.target = target
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _score(self, X: Any, y: Array, real: bool) -> Floats:
        if real:
            raise ValueError("L1LogisticSelector needs classes, but y is continuous: take Lasso instead.")
        logistic = LogisticRegression(
            l1_ratio=1.0,
            C=self.C,
            solver="liblinear",
            tol=1e-3,
            max_iter=1000,
            random_state=self.random_state,
        )
        F = np.sqrt(X.shape[0]) * design_matrix(X, True, memory_budget())  # of variance one
        model = OneVsRestClassifier(logistic, n_jobs=self.n_jobs).fit(F, y)
        return np.asarray(np.abs([part.coef_[0] for part in model.estimators_]).sum(axis=0))

    def _tie_breaks(self, X: Any, y: Array) -> Floats:
        return anova(X, y, real=False)


class RandomForestSelector(ScoreSelector):
    """Features by their impurity importance in a random forest of 300 trees."""

    def _score(self, X: Any, y: Array, real: bool) -> Floats:
        forest = RandomForestRegressor if real else RandomForestClassifier
        model = forest(300, random_state=self.random_state, n_jobs=self.n_jobs)
        return np.asarray(model.fit(X, y).feature_importances_)


def anova(X: Any, y: Array, real: bool) -> Floats:
    """F values; zero for constant features, of which scikit-learn warns."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.filterwarnings("ignore", "Features .* are constant", UserWarning)
        return finite((f_regression if real else f_classif)(X, y)[0])


def finite(scores: Any) -> Floats:
    """Scores as numbers: what has none is zero, and a perfect one is the largest there is."""
    return np.nan_to_num(np.asarray(scores, dtype=np.float64), nan=0.0, posinf=np.finfo(float).max)
