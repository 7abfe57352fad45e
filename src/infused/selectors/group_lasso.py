"""Supervised group lasso."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from infused._design import without_columns
from infused._runtime.sklearn_compat import Interval
from infused.selectors.base import WEIGHT
from infused.selectors.clusters import cluster_features
from infused.selectors.docs import LINEAR, documented
from infused.selectors.inputs import TrainingData
from infused.selectors.linear import Composition, LinearSelector
from infused.selectors.model import SparseModel
from infused.selectors.ranking import Lambdas

__all__ = ["GroupLasso"]

WITHIN = 0.05  # the share of lambda1 inside clusters that are made here


@documented(LINEAR)
class GroupLasso(LinearSelector):
    r"""The group lasso, on given groups or on clusters of features (supervised group lasso).

    .. math::

        \min_B \tfrac12 |Y - XB|^2 + \lambda_1 \sum_g \sqrt{p_g}\, |B_g|

    with :math:`p_g` features in group g and :math:`B_g` their rows of coefficients. Given groups are kept or
    dropped whole, and are what is counted. Without them features are clustered by k-means, and a lasso inside
    each cluster first drops the features that it does not need, as Ma, Song and Huang do; then features are
    counted, and the score of one is the length of its own row.

    Parameters
    ----------
    %(n_features_to_select)s
    lambda1 : float, default=0.05
        Weight of the groups; a relative one is a fraction of the value at which no group is left.
    groups : array-like of shape (n_features,), mapping or None, default=None
        One label for each column, or a mapping from names to columns (by position, or by name for a data
        frame); None for clusters.
    %(keep)s
    %(cv)s
    %(scoring)s
    n_groups : int or None, default=None
        How many clusters to make when no groups are given; None for the root of the number of features.
    lambda_within : float or None, default=None
        Weight of the lasso inside each group, as a fraction of the value at which none of its features is
        left; 0 skips it. None is 0.05 for clusters, and 0 for given groups.
    %(lambda_scale)s
    %(target)s
    %(standardize)s
    %(ranking)s
    %(max_iter)s
    %(tol)s
    random_state : int or None, default=0
        Seed of k-means.
    %(n_jobs)s
    %(memory_budget)s

    Attributes
    ----------
    groups_ : ndarray of shape (n_features,)
        The group of each feature.
    %(attributes)s

    See Also
    --------
    FusedLasso : Features that belong together along a chain, a grid or any graph.
    Lasso : This selector where every feature is a group.

    References
    ----------
    S. Ma, X. Song, J. Huang, "Supervised group lasso with applications to microarray data analysis", BMC
    Bioinformatics 8 (2007). M. Yuan, Y. Lin, "Model selection and estimation in regression with grouped
    variables", Journal of the Royal Statistical Society B 68 (2006).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from infused import GroupLasso
    >>> X, y = load_wine(return_X_y=True)
    >>> selector = GroupLasso(n_features_to_select=4, n_groups=5).fit(X, y)
    >>> selector.transform(X).shape, len(set(selector.groups_))
    ((178, 4), 5)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LinearSelector._parameter_constraints,
        "n_groups": [Interval(Integral, 1, None, closed="left"), None],
        "lambda_within": [*WEIGHT, None],
        "random_state": [Interval(Integral, 0, None, closed="left"), None],
    }

    def __init__(
        self,
        *,
        n_features_to_select: int | float | str | None = None,
        lambda1: float = 0.05,
        groups: Any = None,
        keep: Any = None,
        cv: Any = 5,
        scoring: Any = None,
        n_groups: int | None = None,
        lambda_within: float | None = None,
        lambda_scale: str = "relative",
        target: str = "auto",
        standardize: bool = True,
        ranking: str = "recursive",
        max_iter: int = 3000,
        tol: float = 1e-4,
        random_state: int | None = 0,
        n_jobs: int | None = None,
        memory_budget: int | float | str | None = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.lambda1 = lambda1
        self.groups = groups
        self.keep = keep
        self.cv = cv
        self.scoring = scoring
        self.n_groups = n_groups
        self.lambda_within = lambda_within
        self.lambda_scale = lambda_scale
        self.target = target
        self.standardize = standardize
        self.ranking = ranking
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory_budget = memory_budget

    def _compose(self, data: TrainingData) -> Composition:
        within = self.lambda_within
        model = SparseModel(data.F, data.Y, self.max_iter, self.tol, groups=data.groups)
        if data.variables.given or data.groups is not None:  # a category is kept whole too
            groups = data.variables.array_of_names()[data.variables.codes]
        else:
            groups = cluster_features(data.F, self.n_groups, self.random_state)
            within = WITHIN if within is None else within
            model = replace(model, groups=groups, whole=False)
        if within:
            model = _with_needed(model, within)
        lambdas = Lambdas(self.lambda1, 0.0, self.lambda_scale == "relative")
        return Composition(model, lambdas, attributes={"groups_": groups})


def _with_needed(model: SparseModel, within: float) -> SparseModel:
    """The model with what a lasso inside each group keeps; the other features become zero.

    In a cluster they are groups of their own from then on, to be ranked last but for constants.
    """
    groups = np.arange(model.n_features) if model.groups is None else model.groups
    needed = np.zeros(model.n_features, dtype=bool)
    for label in np.unique(groups):
        features = np.flatnonzero(groups == label)
        part = replace(model.restricted(features), groups=None)
        fit = part.fit(within * part.largest_lambda1(), 0.0)
        needed[features[fit.scores > 0]] = True
    left = model.groups
    if not model.whole:
        _, left = np.unique(groups, return_inverse=True)
        left[~needed] = left.max() + 1 + np.arange((~needed).sum())
    varying = np.asarray(model.X.any(axis=0))
    return replace(model, X=without_columns(model.X, ~needed), groups=left, varying=varying)
