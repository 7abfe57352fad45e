"""Lassos without information of pairs: plain, fused, uncorrelated, and on groups, given or clusters."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from infused._columns import ColumnDesign
from infused._design import Design, SparseDesign, column_squares, dense, without_columns
from infused._runtime.compat import Interval
from infused._runtime.threads import memory_budget, require
from infused._typing import Floats, Ints
from infused.exceptions import InputError, Setting
from infused.penalties.quadratic import Decorrelation
from infused.selectors.base import WEIGHT, documented
from infused.selectors.inputs.training import TrainingData, unit_columns
from infused.selectors.linear.estimator import LinearSelector
from infused.selectors.linear.feature_order import CONSTRAINTS, choose_fusion
from infused.selectors.linear.model import SparseModel


@documented()
@dataclass(kw_only=True, eq=False, repr=False)
class Lasso(LinearSelector):
    r"""The lasso; with one-hot or several targets, the multi-task lasso.

    .. math::

        \min_B \tfrac12 |Y - XB|^2 + \lambda_1 \sum_i |b_i|

    with one row :math:`b_i` for each feature and one column for each class (or real target): a feature is
    needed for all classes or for none.

    Parameters
    ----------
    %(parameters)s

    Attributes
    ----------
    %(attributes)s

    See Also
    --------
    FusedLasso : Neighbouring features get similar coefficients.
    GroupLasso : Groups of features are needed together.
    InFusedLasso : Fusion, and the structural information of pairs.

    References
    ----------
    R. Tibshirani, "Regression shrinkage and selection via the lasso", Journal of the Royal Statistical
    Society B 58 (1996). G. Obozinski, B. Taskar, M. Jordan, "Multi-task feature selection" (2006).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from infused import Lasso
    >>> X, y = load_wine(return_X_y=True)
    >>> Lasso(n_features_to_select=4).fit(X, y).transform(X).shape
    (178, 4)
    """

    def _model(self, data: TrainingData) -> SparseModel:
        return self._sparse_model(data)


@documented()
@dataclass(kw_only=True, eq=False, repr=False)
class FusedLasso(LinearSelector):
    r"""The fused lasso.

    .. math::

        \min_B \tfrac12 |Y - XB|^2 + \lambda_1 \sum_i |b_i| + \lambda_2 \sum_i |b_{i+1} - b_i|

    with one row :math:`b_i` for each feature and one column for each class (or real target). Neighbouring
    features get similar coefficients: for spectra, images, positions on a genome.

    Parameters
    ----------
    %(parameters)s
    lambda2 : float, default=0.005
        Weight of fusion; a relative one is a fraction of the lambda1 at which no feature is left.
    fusion : {"auto", "chain", "grid", "none"}, pairs of features or sparse adjacency, default="auto"
        Which features are fused: each with the next, neighbouring pixels, none, or any edges. "auto" is the
        chain or the grid where neighbours are far more alike than other features, else none (the paper's
        formulation: the chain), and none where groups have several columns.
    grid_shape : tuple of int or None, default=None
        Rows and columns of the picture whose pixels are the features, for ``fusion="grid"``; given, "auto" is
        the grid.
    solver : {"auto", "split-bregman", "proximal", "coordinate-descent"}, default="auto"
        Algorithm 1, accelerated proximal gradients (one target on a chain only), or coordinate descent
        (without fusion only).

    Attributes
    ----------
    %(attributes)s
    fusion_ : {"chain", "grid", "none", "edges"}
        What was fused.
    fusion_reason_ : str
        Why, in a few words.
    grid_shape_ : tuple of int or None
        Rows and columns of the picture, where there is one.

    See Also
    --------
    InFusedLasso : With structural information; this selector where ``lambda3=0``.
    Lasso : Without fusion; this selector where ``lambda2=0``.

    References
    ----------
    R. Tibshirani, M. Saunders, S. Rosset, J. Zhu, K. Knight, "Sparsity and smoothness via the fused lasso",
    Journal of the Royal Statistical Society B 67 (2005).

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from infused import FusedLasso
    >>> X, y = load_digits(return_X_y=True)
    >>> selector = FusedLasso(n_features_to_select=10, fusion="grid", grid_shape=(8, 8)).fit(X, y)
    >>> selector.transform(X).shape
    (1797, 10)
    """

    lambda2: float = 0.005
    fusion: Any = "auto"
    grid_shape: tuple[int, int] | None = None
    solver: str = "auto"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LinearSelector._parameter_constraints,
        **CONSTRAINTS,
    }

    def _model(self, data: TrainingData) -> SparseModel:
        grouped = data.groups is not None
        order = choose_fusion(self.fusion, self.grid_shape, data.F, grouped=grouped, weights=data.weights)
        self.fusion_, self.fusion_reason_, self.grid_shape_ = order.name, order.reason, order.grid_shape
        return self._sparse_model(data, lambda2=self.lambda2, edges=order.edges, solver=self.solver)


@documented()
@dataclass(kw_only=True, eq=False, repr=False)
class ULasso(LinearSelector):
    r"""The uncorrelated lasso: correlated features are not selected together.

    .. math::

        \min_B \tfrac12 |Y - XB|^2 + \lambda_1 \sum_i |b_i| + \lambda_2\, \mathrm{tr}\, B'RB,
        \qquad R_{ij} = \mathrm{corr}(f_i, f_j)^2

    R is positive semidefinite, so the problem is convex; it is never stored. Where features are uncorrelated,
    R is the identity and this is the elastic net.

    Parameters
    ----------
    %(parameters)s
    lambda2 : float, default=0.01
        Weight of decorrelation; a relative one is a fraction of the mean squared length of a feature.

    Attributes
    ----------
    %(attributes)s

    See Also
    --------
    Lasso : This selector where ``lambda2=0``.
    MRMR : Penalises redundancy that need not be linear.

    References
    ----------
    S. Chen, C. Ding, B. Luo, Y. Xie, "Uncorrelated lasso", AAAI Conference on Artificial Intelligence (2013).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from infused import ULasso
    >>> X, y = load_wine(return_X_y=True)
    >>> ULasso(n_features_to_select=4).fit(X, y).transform(X).shape
    (178, 4)
    """

    lambda2: float = 0.01

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LinearSelector._parameter_constraints,
        "lambda2": WEIGHT,
    }

    def _model(self, data: TrainingData) -> SparseModel:
        unit = data.F if self.standardize else unit_columns(data.F, data.weights)
        weight = self._quadratic_weight(self.lambda2, data)
        return self._sparse_model(data, quadratic=Decorrelation(unit, weight))


WITHIN = 0.05  # the share of lambda1 inside clusters that are made here


@documented()
@dataclass(kw_only=True, eq=False, repr=False)
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
    %(lambda_scale)s
    %(target)s
    groups : array-like of shape (n_features,), mapping or None, default=None
        One label for each column, or a mapping from names to columns (by position, or by name for a data
        frame); None for clusters.
    %(keep)s
    %(standardize)s
    %(ranking)s
    %(max_iter)s
    %(tol)s
    %(n_jobs)s
    %(loss)s
    %(penalty_factors)s
    %(positive)s
    n_groups : int or None, default=None
        How many clusters to make when no groups are given; None for the root of the number of features.
    lambda_within : float or None, default=None
        Weight of the lasso inside each group, as a fraction of the value at which none of its features is
        left; 0 skips it. None is 0.05 for clusters, and 0 for given groups.
    random_state : int or None, default=0
        Seed of k-means. The clusters depend on it, and on the order of the features where these form none.

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

    n_groups: int | None = None
    lambda_within: float | None = None
    random_state: int | None = 0

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LinearSelector._parameter_constraints,
        "n_groups": [Interval(Integral, 1, None, closed="left"), None],
        "lambda_within": [*WEIGHT, None],
        "random_state": [Interval(Integral, 0, None, closed="left"), None],
    }

    def _model(self, data: TrainingData) -> SparseModel:
        model, within = self._sparse_model(data), self.lambda_within
        if data.variables.given or data.groups is not None:  # a category is kept whole too
            self.groups_ = data.variables.array_of_names()[data.variables.codes]
        elif model.factors is not None:
            raise InputError(Setting("penalty_factors"), " are for given groups: give ", Setting("groups"))
        else:
            self.groups_ = cluster_features(data.F, self.n_groups, self.random_state)
            within = WITHIN if within is None else within
            model = replace(model, groups=self.groups_, whole=False)
        return _with_needed(model, within) if within else model


def _with_needed(model: SparseModel, within: float) -> SparseModel:
    """Keep what a lasso inside each group keeps; the other features become zero.

    In a cluster they are groups of their own from then on, to be ranked last but for constants.
    """
    groups = np.arange(model.n_features) if model.groups is None else model.groups
    needed = np.zeros(model.n_features, dtype=bool)
    for label in np.unique(groups):
        features = np.flatnonzero(groups == label)
        part = replace(model.restricted(features), groups=None, factors=None)
        fit = part.fit(within * part.largest_lambda1())
        needed[features[fit.scores > 0]] = True
    left = model.groups
    if not model.whole:
        _, left = np.unique(groups, return_inverse=True)
        left[~needed] = left.max() + 1 + np.arange((~needed).sum())
    varying = np.asarray(model.X.any(axis=0))
    return replace(model, X=without_columns(model.X, ~needed), groups=left, varying=varying)


MOST_STEPS, SHIFT = 300, 1e-4  # as in scikit-learn: the last relative to the variance
SAME = 1e-10  # squared distances of columns of length one that differ by less are ties


def cluster_features(F: Design, n_groups: int | None, seed: int | None) -> Ints:
    """Cluster the columns of F by k-means on columns of length one.

    Constants, which are zero in F, are as far from one cluster as from the next: they are one of their own.
    """
    n_features = F.shape[1]
    if isinstance(F, ColumnDesign):
        what = f"A standardised copy of {n_features} features for k-means"
        require(16 * len(F) * n_features, memory_budget(), what, "give groups, or fewer features")
        F = F.toarray()
    n_clusters = min(n_groups or max(1, round(np.sqrt(n_features))), n_features)
    length = np.sqrt(column_squares(F))
    varying = np.flatnonzero(length)
    labels = np.full(n_features, n_clusters)
    if len(varying):
        X, scale = F[:, varying], 1 / length[varying]
        unit = X * scale if isinstance(X, np.ndarray) else X.scaled(scale)
        labels[varying] = _KMeans(unit, min(n_clusters, _distinct(unit)), seed).run()
    return np.unique(labels, return_inverse=True)[1]


class _KMeans:
    """Greedy k-means++ (Arthur, Vassilvitskii 2007), then Lloyd's steps, on the columns of a design.

    The steps and the random numbers are scikit-learn's, which would need the columns of a sparse design
    dense, as their means are implied. Ties, of which counts have many, go to the first, and not to whatever
    rounding makes the closest: sparse data have the clusters that dense ones have.
    """

    def __init__(self, X: Design, n_clusters: int, seed: int | None):
        self.X, self.n_clusters = X, n_clusters
        self.squares = column_squares(X)
        self.random = check_random_state(seed)

    def run(self) -> Ints:
        """Return the cluster of each column."""
        centres = dense(self.X[:, self._seeds()])
        n_samples, n_features = self.X.shape
        mean = self.X @ np.full(n_features, 1 / n_features)
        enough = SHIFT * (self.squares.mean() - float(mean @ mean)) / n_samples
        before = np.full(n_features, -1)
        for _ in range(MOST_STEPS):
            labels, nearest = self._assigned(centres)
            moved = self._means(labels, nearest)
            shift, centres = float(((moved - centres) ** 2).sum()), moved
            if (labels == before).all():
                return labels
            if shift <= enough:
                break
            before = labels
        return self._assigned(centres)[0]

    def _seeds(self) -> Ints:
        n = self.X.shape[1]
        trials = 2 + int(np.log(self.n_clusters))
        seeds = [int(self.random.choice(n, p=np.full(n, 1 / n)))]
        closest = self._distances(np.array(seeds))[0]
        while len(seeds) < self.n_clusters:
            drawn = self.random.uniform(size=trials) * closest.sum()
            tried = np.minimum(np.searchsorted(np.cumsum(closest), drawn), n - 1)
            left = np.minimum(closest, self._distances(tried))
            best = int(_first_least(left.sum(axis=1)[None, :])[0])
            seeds.append(int(tried[best]))
            closest = left[best]
        return np.array(seeds)

    def _distances(self, points: Ints) -> Floats:
        """Compute squared distances from some points to all; zero between equal ones."""
        products = self.X[:, points].T @ self.X
        found = self.squares[points][:, None] + self.squares - 2 * products
        return np.where(found > SAME, found, 0.0)

    def _assigned(self, centres: Floats) -> tuple[Ints, Floats]:
        """Find the closest centre of each point, and its squared distance."""
        away = (centres * centres).sum(axis=0) - 2 * (self.X.T @ centres)
        labels = _first_least(away)
        return labels, self.squares + away[np.arange(len(labels)), labels]

    def _means(self, labels: Ints, nearest: Floats) -> Floats:
        """Average each cluster; one without points takes the point that is farthest from its centre."""
        empty = np.setdiff1d(np.arange(self.n_clusters), labels)
        if len(empty):
            labels = labels.copy()
            labels[np.argsort(-nearest, kind="stable")[: len(empty)]] = empty
        members = np.zeros((len(labels), self.n_clusters))
        members[np.arange(len(labels)), labels] = 1.0
        return np.asarray((self.X @ members) / np.maximum(members.sum(axis=0), 1.0))


def _first_least(values: Floats) -> Ints:
    """Find the first of the smallest values of each row."""
    return np.asarray(np.argmax(values <= values.min(axis=1, keepdims=True) + SAME, axis=1))


def _distinct(X: Design) -> int:
    """Count the different columns."""
    if not isinstance(X, SparseDesign):
        return len(np.unique(X.T, axis=0))
    A = X.A
    return len({(A.indices[i:j].tobytes(), A.data[i:j].tobytes()) for i, j in pairwise(A.indptr)})
