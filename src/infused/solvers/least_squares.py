"""The smooth part of every model here: least squares and a quadratic penalty."""

from __future__ import annotations

import numpy as np

from infused._design import Design, selected_columns
from infused._typing import Floats, Ints
from infused.penalties.quadratic import Quadratic, Ridge

__all__ = ["LeastSquares", "hessian_is_worth_forming", "most_worth_forming"]

FEW_FEATURES = 256  # below this the Hessian is always worth forming
MANY_FEATURES = 4096  # above this it never is
ENTRY_COST = 4  # of a step through a stored entry, relative to one along a row of the Hessian
MOST_REMEMBERED = 4096  # features whose part of the Hessian is kept


class LeastSquares:
    r""":math:`f(B) = \frac12 |Y - XB|^2 + \mathrm{tr}(B'SB)` for one or many targets.

    Parameters
    ----------
    X : array or SparseDesign of shape (n_samples, n_features)
    Y : array of shape (n_samples, n_targets)
    quadratic : Quadratic
        What gives S.
    dense : bool
        Whether to form the Hessian X'X + 2 S, features x features. Without it, products go through X, and
        through the columns of S where B is not zero.
    hessian : array of shape (n_features, n_features), default=None
        The Hessian, where it is known.
    """

    def __init__(
        self, X: Design, Y: Floats, quadratic: Quadratic, dense: bool, hessian: Floats | None = None
    ):
        self.X, self.Y = X, Y
        self.quadratic = quadratic
        self.correlation: Floats = np.asarray(X.T @ Y)
        self.hessian = hessian
        self._half_norm = float((Y * Y).sum() / 2)
        self._by_feature = X.T
        if not dense and isinstance(X, np.ndarray):
            self._by_feature = np.ascontiguousarray(X.T)  # a feature's values lie together
        if dense and hessian is None:
            self.hessian = np.asarray(X.T @ X + 2 * quadratic.matrix(X.shape[1]))
        self._seen: Ints = np.empty(0, np.int64)
        self._seen_block: Floats = np.empty((0, 0))

    @property
    def shape(self) -> tuple[int, int]:
        """(features, targets)."""
        n_features, n_targets = self.correlation.shape
        return n_features, n_targets

    def restricted(self, features: Ints, X: Design | None = None) -> LeastSquares:
        """Return the function of some of the features, all others at zero; X has their columns, if known."""
        X = selected_columns(self.X, features) if X is None else X
        hessian = None if self.hessian is None else self.hessian[np.ix_(features, features)]
        dense = hessian_is_worth_forming(X)
        return LeastSquares(X, self.Y, self.quadratic.restricted(features), dense, hessian)

    @property
    def largest_correlation(self) -> float:
        """The largest row of X'Y: without a penalty, the natural size of a gradient."""
        return float(np.linalg.norm(self.correlation, axis=1).max(initial=0.0)) or 1.0

    def gradient(self, B: Floats, own: Floats | None = None) -> Floats:
        """X'(XB - Y) + 2 S B; where the Hessian is not formed, ``own`` is the last part, if known."""
        rows = np.flatnonzero(B.any(axis=1))
        if self.hessian is not None:
            if 2 * len(rows) > len(B):
                return np.asarray(self.hessian @ B - self.correlation)
            return np.asarray(self.hessian[rows].T @ B[rows] - self.correlation)  # it is symmetric
        fitted = self._by_feature[rows].T @ B[rows]
        own = self.quadratic.gradient(B) if own is None else own
        return np.asarray(self._by_feature @ fitted - self.correlation + own)

    def block(self, features: Ints) -> Floats:
        """The Hessian of some features; what was asked for before is remembered."""
        if self.hessian is not None:
            return self.hessian[np.ix_(features, features)]
        new = np.setdiff1d(features, self._seen)
        if len(self._seen) + len(new) > MOST_REMEMBERED:
            return self.part(features, features)
        if len(new):
            cross, corner = self.part(self._seen, new), self.part(new, new)
            self._seen_block = np.block([[self._seen_block, cross], [cross.T, corner]])
            self._seen = np.concatenate([self._seen, new])
        order = np.argsort(self._seen)
        place = order[np.searchsorted(self._seen, features, sorter=order)]
        return self._seen_block[np.ix_(place, place)]

    def entries_are_fewer(self, features: Ints) -> bool:
        """Whether steps through the entries of a sparse X cost less than through the Hessian of a set."""
        if isinstance(self.X, np.ndarray) or not isinstance(self.quadratic, Ridge):
            return False
        return bool(ENTRY_COST * np.diff(self.X.A.indptr)[features].sum() < len(features) ** 2)

    def part(self, rows: Ints, columns: Ints) -> Floats:
        """Some rows and columns of the Hessian."""
        product = self._by_feature[rows] @ self._by_feature[columns].T
        return np.asarray(product + 2 * self.quadratic.block(rows, columns))

    def value(self, B: Floats, gradient: Floats | None = None) -> float:
        """f(B), which is quadratic: its gradient at B, where known, gives it for nothing."""
        gradient = self.gradient(B) if gradient is None else gradient
        return self._half_norm + float((B * (gradient - self.correlation)).sum() / 2)


def hessian_is_worth_forming(X: Design) -> bool:
    """Not when features are many more than samples, or very many: then products through X cost less.

    It does not depend on how X is stored, so that a solver takes the same steps on dense and on sparse data.
    """
    n_samples, n_features = X.shape
    return bool(n_features <= most_worth_forming(n_samples))


def most_worth_forming(n_samples: int) -> int:
    """Features, at most, whose Hessian is worth forming."""
    return max(min(n_samples, MANY_FEATURES), FEW_FEATURES)
