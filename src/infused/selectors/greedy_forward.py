"""Greedy forward selection by least squares."""

from __future__ import annotations

from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import validate_data

from infused._runtime.memory import memory_budget
from infused._runtime.progress import Stage
from infused._runtime.threads import blas_threads
from infused._typing import Floats, Ints
from infused.selectors.base import NUMBER_OF_FEATURES, BaseSelector, how_many, ranks
from infused.selectors.docs import FORWARD, documented
from infused.selectors.inputs import design_matrix, mean_square, resolve_coding, target_matrix

__all__ = ["GreedyForward"]

COLLINEAR = 1e-10  # a feature of which less than this share is new adds nothing
SAME = 1e-12  # gains that differ by less than this share of the largest are ties


@documented(FORWARD)
class GreedyForward(BaseSelector):
    r"""Forward selection by least squares.

    .. math::

        \min_{j \notin S} \min_B |Y - X_{S \cup j} B|^2 + \rho |B|^2

    picks one feature after the other, S being those picked so far and Y one column per class (or real
    target).

    Adding feature j lowers it by :math:`|f_j'PY|^2 / (\rho + f_j'Pf_j)`, with
    :math:`P = (I + X_S X_S'/\rho)^{-1}`, the projection on what S leaves over when :math:`\rho = 0`. P
    changes by a matrix of rank one, so all gains are brought up to date by one product with X': k features of
    N cost O(k N M), and nothing of size N x N or M x M is stored.

    Parameters
    ----------
    %(n_features_to_select)s
    ridge : float, default=0.1
        The weight :math:`\rho`, as a fraction of the mean squared length of a feature.
    %(target)s
    %(standardize)s
    %(n_jobs)s
    %(memory_budget)s

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        For a selected feature, the gains of its step and of those after it, above whatever is left, so that
        scores fall along the ranking; for others, their gain at the end.
    ranking_ : ndarray of int of shape (n_features,)
        The order of selection; then the others by their gain at the end, by their correlation with the
        target, and by position. The same rule breaks ties.
    gains_ : ndarray of shape (n_selected,)
        By how much each step lowered the objective, as a share of :math:`|Y|^2`.
    %(attributes)s

    See Also
    --------
    Lasso : Weighs all features at once.
    MRMR : Picks one feature after the other by mutual information.

    References
    ----------
    A. Miller, "Subset Selection in Regression" (2002), on forward selection and its updates.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from infused import GreedyForward
    >>> X, y = load_wine(return_X_y=True)
    >>> GreedyForward(n_features_to_select=4).fit(X, y).transform(X).shape
    (178, 4)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_features_to_select": NUMBER_OF_FEATURES,
        "ridge": [Interval(Real, 0, None, closed="left")],
        "target": [StrOptions({"auto", "onehot", "label", "real"})],
        "standardize": ["boolean"],
        "n_jobs": [Integral, None],
        "memory_budget": [Real, str, None],
    }

    def __init__(
        self,
        *,
        n_features_to_select: int | float | None = None,
        ridge: float = 0.1,
        target: str = "auto",
        standardize: bool = True,
        n_jobs: int | None = None,
        memory_budget: int | float | str | None = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.ridge = ridge
        self.target = target
        self.standardize = standardize
        self.n_jobs = n_jobs
        self.memory_budget = memory_budget

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]  # scikit-learn's
    def fit(self, X: Any, y: Any) -> Self:
        """Rank and select the features of X for the target y.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Training samples.
        y : array of shape (n_samples,) or (n_samples, n_targets)
            Class labels, real values, or several columns of real values.

        Returns
        -------
        self : object
            The fitted selector.
        """
        X, y = validate_data(
            self, X, y, accept_sparse=["csr", "csc"], multi_output=True, ensure_min_samples=2
        )
        n_features = X.shape[1]
        k = how_many(self.n_features_to_select, n_features) or max(1, n_features // 2)
        F = design_matrix(X, self.standardize, memory_budget(self.memory_budget))
        Y = target_matrix(y, resolve_coding(y, self.target), self.standardize)
        with blas_threads(self.n_jobs):
            search = _Search(F, Y, self.ridge * mean_square(F), k)
            order, gains = search.run()
        self._store(order, gains, search, float((Y * Y).sum()) or 1.0)
        return self

    def _store(self, order: Ints, gains: Floats, search: _Search, total: float) -> None:
        left_over = search.gains() / total
        self.gains_ = gains / total
        self.scores_ = left_over
        # What is still to come, from each step on; a little above every feature that was left.
        self.scores_[order] = np.cumsum(self.gains_[::-1])[::-1] + left_over.max(initial=0.0)
        tie_breaks = search.relevance.copy()
        tie_breaks[order] = np.inf
        self.ranking_ = ranks(self.scores_, tie_breaks)
        behind = np.setdiff1d(np.argsort(self.ranking_), order, assume_unique=True)
        self.ranking_[order] = np.arange(1, len(order) + 1)
        self.ranking_[behind] = np.arange(len(order) + 1, len(self.ranking_) + 1)
        self.support_ = self.ranking_ <= len(order)


@dataclass
class _Search:
    """The state of a forward selection: c_j = f_j'PY and d_j = ridge + f_j'Pf_j for all features."""

    F: Floats
    Y: Floats
    ridge: float
    k: int
    c: Floats = field(init=False)
    d: Floats = field(init=False)
    relevance: Floats = field(init=False)
    free: Any = field(init=False)

    def __post_init__(self) -> None:
        self._rows = np.ascontiguousarray(self.F.T)  # one feature's values lie together
        self.c = self._rows @ self.Y
        self.square = np.einsum("ij,ij->i", self._rows, self._rows)
        self.d = self.ridge + self.square
        self.relevance = np.linalg.norm(self.c, axis=1)
        self.free = np.ones(len(self.d), dtype=bool)
        self._W = np.empty((self.k, len(self.Y)))  # P f_s of the features that were added
        self._sizes = np.empty(self.k)
        self._added = 0

    def gains(self) -> Floats:
        """By how much each feature would lower the objective; zero for those that are nothing new."""
        new = self.free & (self.d - self.ridge > COLLINEAR * self.square)
        squares = np.einsum("ij,ij->i", self.c, self.c)
        return np.asarray(np.divide(squares, self.d, out=np.zeros_like(squares), where=new))

    def run(self) -> tuple[Ints, Floats]:
        """Select k features; their order and the gain of each."""
        order, gains = np.empty(self.k, dtype=np.int64), np.empty(self.k)
        stage = Stage(None, "selecting features", self.k)
        for step in range(self.k):
            gain = self.gains()
            best = self._best(gain)
            order[step], gains[step] = best, gain[best]
            self._add(best, useful=gain[best] > 0)
            stage.advance()
        return order, gains

    def _best(self, gain: Floats) -> int:
        """The largest gain; among ties the more relevant feature, then the first."""
        largest = gain.max()
        tied = np.flatnonzero(self.free & (gain >= largest * (1 - SAME)))
        return int(tied[np.argmax(self.relevance[tied])])

    def _add(self, s: int, useful: bool) -> None:
        self.free[s] = False
        if not useful:
            return
        w = self._project(self._rows[s])
        size = self.ridge + float(self._rows[s] @ w)
        pull = self._rows @ w  # f_j'Pf_s for all j
        self.c -= np.outer(pull, self.c[s] / size)
        self.d -= pull * pull / size
        np.maximum(self.d, self.ridge, out=self.d)
        self._W[self._added], self._sizes[self._added] = w, size
        self._added += 1

    def _project(self, f: Floats) -> Floats:
        """P f. Without a ridge P is a projection, so applying it twice takes off what rounding left."""
        W, sizes = self._W[: self._added], self._sizes[: self._added]
        for _ in range(1 if self.ridge > 0 else 2):
            f = f - (W @ f / sizes) @ W
        return f
