"""Selectors that a model of scikit-learn makes, for comparison: features by what they are worth to it."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from infused._runtime.memory import memory_budget
from infused._runtime.sklearn_compat import L1_PENALTY, Interval
from infused._typing import Floats
from infused.exceptions import InputError
from infused.graphs.validation import class_codes
from infused.selectors.docs import SCORES, documented
from infused.selectors.extremes import LARGEST, tame
from infused.selectors.f_test import f_values
from infused.selectors.forest import forest_importances
from infused.selectors.inputs import dense_design
from infused.selectors.scores import ScoreSelector
from infused.selectors.seen import Seen

__all__ = ["L1LogisticSelector", "RandomForestSelector"]


@documented(SCORES)
class L1LogisticSelector(ScoreSelector):
    r"""Features by their coefficients in a logistic regression with an l1 penalty.

    .. math::

        \min_b |b|_1 + C \sum_a \log(1 + e^{-y_a x_a'b})

    for each class against the rest, by liblinear on standardised features. A feature's score is the sum of
    the sizes of its coefficients over all classes, as in scikit-learn's ``SelectFromModel``; that of a group
    is the sum over its features. Features at zero are ranked by their F value. A real target is refused.

    Parameters
    ----------
    %(n_features_to_select)s
    C : float, default=0.1
        Inverse of the penalty's weight.
    %(target)s
    %(groups)s
    %(keep)s
    %(cv)s
    %(scoring)s
    %(random_state)s
    %(n_jobs)s

    Attributes
    ----------
    %(scores_)s
    ranking_ : ndarray of int of shape (n_features,) or (n_groups,)
        1 for the best; ties go to the larger F value.
    %(support_)s
    %(group_names_)s
    %(number_curve_)s
    %(n_features_in_)s
    %(feature_names_in_)s

    See Also
    --------
    Lasso : The squared loss, with one row of coefficients for all classes; real targets too.
    sklearn.linear_model.LogisticRegression : The model.

    References
    ----------
    R.-E. Fan, K.-W. Chang, C.-J. Hsieh, X.-R. Wang, C.-J. Lin, "LIBLINEAR: a library for large linear
    classification", Journal of Machine Learning Research 9 (2008).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from infused.selectors.importances import L1LogisticSelector
    >>> X, y = load_wine(return_X_y=True)
    >>> L1LogisticSelector(n_features_to_select=4).fit(X, y).transform(X).shape
    (178, 4)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **ScoreSelector._parameter_constraints,
        "C": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        *,
        n_features_to_select: int | float | str | None = None,
        C: float = 0.1,
        target: str = "auto",
        groups: Any = None,
        keep: Any = None,
        cv: Any = 5,
        scoring: Any = None,
        random_state: int | None = 0,
        n_jobs: int | None = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.C = C
        self.target = target
        self.groups = groups
        self.keep = keep
        self.cv = cv
        self.scoring = scoring
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _score(self, seen: Seen, real: bool) -> Floats:
        if real:
            raise InputError("L1LogisticSelector needs classes, but y is continuous: take Lasso instead.")
        logistic = LogisticRegression(
            **L1_PENALTY,
            C=self.C,
            solver="liblinear",
            tol=1e-3,
            max_iter=1000,
            random_state=self.random_state,
        )
        F, weights = _of_variance_one(seen), None if seen.weights is None else seen.weights.values
        codes, counts = class_codes(seen.y)
        classes = range(1 if len(counts) == 2 else 0, len(counts))
        jobs = Parallel(n_jobs=self.n_jobs)
        fits = jobs(delayed(clone(logistic).fit)(F, codes == c, weights) for c in classes)
        return seen.coded.variables.summed(np.abs([fit.coef_[0] for fit in fits]).sum(axis=0))

    def _tie_breaks(self, seen: Seen) -> Floats:
        kept = seen.variables.places(self.keep)
        return f_values(seen.coded.X, seen.y, False, seen.coded.variables, kept, seen.weights)


def _of_variance_one(seen: Seen) -> Floats:
    weights = seen.weights
    F = dense_design(seen.coded.X, True, memory_budget(), weights)
    if weights is None:
        return np.asarray(F * np.sqrt(len(F)))
    return np.asarray(F * (np.sqrt(weights.total) / weights.root[:, None]))


@documented(SCORES)
class RandomForestSelector(ScoreSelector):
    r"""Features by their importance in a random forest.

    .. math::

        s_i = \frac1T \sum_t \sum_{v \in t : f_i} p_v\, \Delta_v

    is the score of feature i: over the T = 300 trees, what the nodes v that split on it take off the
    impurity, weighted by their share :math:`p_v` of the samples. A group of features has the sum of theirs.
    Trees are scikit-learn's, each on as many samples as there are, drawn with replacement by their weights.
    Neither the order of the samples nor their repetition instead of a weight changes what is drawn.

    Parameters
    ----------
    %(parameters)s

    Attributes
    ----------
    %(attributes)s

    See Also
    --------
    MutualInformationSelector : Relations of any form, one feature at a time.
    sklearn.ensemble.RandomForestClassifier : The forest.

    References
    ----------
    L. Breiman, "Random forests", Machine Learning 45 (2001).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from infused.selectors.importances import RandomForestSelector
    >>> X, y = load_wine(return_X_y=True)
    >>> RandomForestSelector(n_features_to_select=4).fit(X, y).transform(X).shape
    (178, 4)
    """

    def _takes_gaps(self) -> bool:
        return True

    def _score(self, seen: Seen, real: bool) -> Floats:
        X = tame(seen.coded.X, LARGEST[4])  # scikit-learn's trees compute in float32
        return seen.coded.variables.summed(
            forest_importances(X, seen.y, real, seen.weights, self.random_state, self.n_jobs)
        )
