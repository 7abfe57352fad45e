"""One feature for each group of strongly correlated features."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
import scipy.sparse as sp
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from infused._design import dense
from infused._runtime.checks import sound
from infused._runtime.compat import CallbackSupport, Interval, StrOptions, fit_context
from infused._runtime.messages import listed
from infused._runtime.progress import Stage
from infused._runtime.threads import memory_budget, require, workers
from infused._typing import Array, Floats, Ints
from infused.exceptions import InputError
from infused.graphs.distributions import feature_distributions
from infused.information.discrete import MAX_BINS, discretize
from infused.information.mutual import MutualInformation
from infused.information.structural import StructuralInformation
from infused.selectors.base import SoundSelector, checked
from infused.selectors.greedy.filters import levels
from infused.selectors.inputs.frames import coded_frame, names_of_frame
from infused.selectors.inputs.training import design_matrix, resolve_coding, tame
from infused.selectors.scores.univariate import anova

#: How alike each of some features (rows) is to each of some others (columns).
Likeness: TypeAlias = Callable[[Ints, Ints], Floats]


def correlation(X: Any, n_bins: int, n_jobs: int | None) -> Likeness:
    """Compute |r|, the absolute Pearson correlation; 0 beside a constant feature."""
    F = design_matrix(X, True, memory_budget())
    return lambda rows, columns: np.abs(F[:, columns].T @ dense(F[:, rows])).T


def shared_information(X: Any, n_bins: int, n_jobs: int | None) -> Likeness:
    """Compute 2 I(f; g) / (H(f) + H(g)), the symmetric uncertainty of bins; 0 beside a constant."""
    codes, nothing = discretize(X, n_bins, n_jobs), np.zeros(X.shape[0], np.int64)
    with workers(n_jobs) as pool:
        information = MutualInformation.build(codes, nothing, pool)
    entropies = information.entropies()

    def similar(rows: Ints, columns: Ints) -> Floats:
        with workers(n_jobs) as pool:
            part = replace(information.restricted(np.union1d(rows, columns)), pool=pool)
            shared = np.stack([part.with_feature(s)[columns] for s in rows.tolist()])
        joint = entropies[rows, None] + entropies[columns]
        return np.divide(2 * shared, joint, out=np.zeros_like(shared), where=joint > 0)

    return similar


def graph_similarity(X: Any, n_bins: int, n_jobs: int | None) -> Likeness:
    """Compute exp(-D), D the Jensen-Shannon divergence of two features' graphs: the denominator in U."""
    P = feature_distributions(X, n_jobs=n_jobs)
    # With features for targets the upper part of that fraction is 2.
    U = StructuralInformation(P, P, criterion="two-way", n_jobs=n_jobs)
    return lambda rows, columns: 2.0 / U.columns(rows)[columns].T


#: A measure by its name.
LIKENESS: dict[str, Callable[[Any, int, int | None], Likeness]] = {
    "correlation": correlation,
    "mutual-information": shared_information,
    "structural": graph_similarity,
}


def cluster_representatives(F: Floats, n_clusters: int, budget: int) -> Ints:
    """Cluster the features without a look at the target; return the representative of each feature.

    Features are joined by average linkage of 1 - |correlation|. Each cluster is represented by the feature
    that correlates most with all of it; the first, where several do.

    Parameters
    ----------
    F : array of shape (n_samples, n_features)
        Columns of mean zero and length one.
    n_clusters : int
    budget : int
        Bytes that the distances of all pairs may take.
    """
    n_features = F.shape[1]
    what = f"The correlation of all pairs of {n_features:,} features"
    instead = "leave out features that vary least, without a look at the target"
    require(16 * n_features**2, budget, what, instead)
    likeness = np.abs(F.T @ F)
    distance = np.clip(1 - likeness, 0.0, 1.0)
    np.fill_diagonal(distance, 0.0)
    labels = fcluster(linkage(squareform(distance, checks=False), "average"), n_clusters, "maxclust")
    chosen = np.empty(n_features, dtype=np.int64)
    for label in np.unique(labels):
        members = np.flatnonzero(labels == label)
        central = members[np.argmax(likeness[np.ix_(members, members)].sum(axis=0))]
        chosen[members] = central
    return chosen


AT_ONCE = 64  # features that are compared with all that are left
ROUNDING = 1e-10  # so that a threshold of 1 finds copies


@dataclass(kw_only=True, eq=False, repr=False)
class RedundancyFilter(CallbackSupport, SoundSelector, BaseEstimator):  # type: ignore[misc]  # scikit-learn carries no types
    r"""Drop features that another one stands for.

    .. math::

        \text{keep } R \text{ so that } \max_{r \in R} s(f, r) \ge t \text{ for every feature } f, \qquad
        s(r, r') < t \text{ for all } r \ne r' \text{ in } R

    Features are gone through from the best: each one that nothing stands for yet is kept, and stands for
    all that are left and alike. With a target, the best has the largest F value; without one, it is the first
    column. Nothing of size features x features is stored.

    Parameters
    ----------
    threshold : float or None, default=None
        Features this much alike are one. None for 0.95 (correlation), 0.9 (mutual information) or 0.9999
        (structural).
    measure : {"correlation", "mutual-information", "structural"}, default="correlation"
        What s is. "correlation": :math:`|r|`. "mutual-information": :math:`2 I(f; g) / (H(f) + H(g))` of
        binned features, which finds relations of any form. "structural": :math:`\exp(-D_{JS})` of the graphs
        of both features, the similarity of two in the structural information U; it is near 1 for most pairs.
    n_bins : int, default=5
        Bins of a feature with many values, for the mutual information.
    n_jobs : int or None, default=None
        Threads, as in joblib; -1 for every core. The result does not depend on it.

    Attributes
    ----------
    support_ : ndarray of bool of shape (n_features,)
        The features that are kept.
    representatives_ : ndarray of int of shape (n_features,)
        The position of the feature that stands for each: its own where it is kept.
    likeness_ : ndarray of float of shape (n_features,)
        How alike each feature is to the one that stands for it; 1 where that is itself.
    stands_for_ : dict
        For each feature that is kept and stands for others, those others; by name, or by position where X had
        no names.
    n_features_in_ : int
        Number of features seen during ``fit``.
    feature_names_in_ : ndarray of str of shape (n_features,)
        Their names; only where X was a data frame whose column names are all texts.

    See Also
    --------
    MRMR : Weighs what features repeat against what they tell of the target.
    StructuralInformation : The structural information of all pairs.

    Notes
    -----
    A constant feature is like no other one, and is kept: drop it with scikit-learn's ``VarianceThreshold``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from infused import RedundancyFilter
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> few = RedundancyFilter(threshold=0.95).fit(X, y)
    >>> few.transform(X).shape
    (569, 23)
    >>> few.stands_for_["worst perimeter"]
    ['mean radius', 'mean perimeter', 'mean area', 'worst radius', 'worst area']
    """

    threshold: float | None = None
    measure: str = "correlation"
    n_bins: int = 5
    n_jobs: int | None = None

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "threshold": [Interval(Real, 0, 1, closed="right"), None],
        "measure": [StrOptions(set(LIKENESS))],
        "n_bins": [Interval(Integral, 2, MAX_BINS, closed="both")],
        "n_jobs": [Integral, None],
    }

    @fit_context
    def fit(self, X: Any, y: Any = None) -> Self:
        """Find which features stand for which.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Training samples.
        y : array of shape (n_samples,) or None, default=None
            Class labels or real values: of features that are alike, the one that tells most of them is kept.

        Returns
        -------
        self : object
            The fitted filter.
        """
        _refuse_texts(X)
        accepted: dict[str, Any] = {"accept_sparse": ["csr", "csc"], "dtype": [np.float64, np.float32]}
        if y is None:
            X = validate_data(self, sound(X), ensure_min_samples=2, **accepted)
        else:
            X, y = checked(self, X, y, dtype=accepted["dtype"])
        threshold = THRESHOLDS[self.measure] if self.threshold is None else self.threshold
        similar = LIKENESS[self.measure](X, self.n_bins, self.n_jobs)
        self.representatives_, self.likeness_ = representatives(_from_the_best(X, y), similar, threshold)
        self.support_ = self.representatives_ == np.arange(len(self.representatives_))
        self.stands_for_ = self._stands_for()
        return self

    def _stands_for(self) -> dict[Any, list[Any]]:
        names = getattr(self, "feature_names_in_", np.arange(self.n_features_in_)).tolist()
        result: dict[Any, list[Any]] = {}
        for feature in np.flatnonzero(~self.support_).tolist():
            result.setdefault(names[self.representatives_[feature]], []).append(names[feature])
        return result

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


#: From where on features are one, by measure.
THRESHOLDS = {"correlation": 0.95, "mutual-information": 0.9, "structural": 0.9999}


def representatives(order: Ints, similar: Likeness, threshold: float) -> tuple[Ints, Floats]:
    """Find the representative of each feature, and their similarity; ``order`` has the best first."""
    result, likeness = np.arange(len(order)), np.ones(len(order))
    stage = Stage(None, "comparing features", len(order))
    left = order
    while len(left):
        likes = similar(left[:AT_ONCE], left)
        free = np.ones(len(left), dtype=bool)
        for place, alike in enumerate(likes):
            if not free[place]:
                continue
            free[place] = False  # a constant is not even like itself
            members = free & (alike >= threshold - ROUNDING)
            result[left[members]] = left[place]
            likeness[left[members]] = np.minimum(alike[members], 1.0)
            free &= ~members
        stage.advance(int(np.count_nonzero(~free)))
        left = left[free]
    return result, likeness


def _refuse_texts(X: Any) -> None:
    coded = coded_frame(X)
    if coded is not None:
        texts = [name for name, own in zip(names_of_frame(X), coded[1], strict=True) if own is not None]
        raise InputError(
            f"RedundancyFilter compares columns of numbers, but there is text in {listed(texts)}: make 0/1 "
            "columns of it, with scikit-learn's OneHotEncoder, or leave it out"
        )


def _from_the_best(X: Any, y: Array | None) -> Ints:
    """Order features by their F value, the first of equal ones first; without a target by position."""
    if y is None:
        return np.arange(X.shape[1])
    real = resolve_coding(y, "auto") == "real"
    X, y = tame(X), tame(y) if real else y
    values = anova(X.tocsc() if sp.issparse(X) else X, y, real)
    return np.argsort(levels(values), kind="stable")
