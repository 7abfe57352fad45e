"""The smooth part of every model here: least squares and a quadratic penalty."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from infused._typing import Floats

__all__ = ["LeastSquares", "Quadratic"]


class Quadratic(Protocol):
    """tr(B' S B): what least squares asks of its penalty."""

    @property
    def curvature(self) -> float:
        """The largest eigenvalue of 2 S."""
        ...

    def matrix(self, n_features: int) -> Floats:
        """S, features x features."""
        ...

    def gradient(self, B: Floats) -> Floats:
        """2 S B."""
        ...


class LeastSquares:
    r""":math:`f(B) = \frac12 |Y - XB|^2 + \mathrm{tr}(B'SB)` for one or many targets.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
    Y : array of shape (n_samples, n_targets)
    quadratic : Quadratic
        What gives S.
    dense : bool
        Whether to form the Hessian X'X + 2 S, features x features. Without it, products go through X, and
        through the columns of S where B is not zero.
    """

    def __init__(self, X: Floats, Y: Floats, quadratic: Quadratic, dense: bool):
        self.X = X
        self.quadratic = quadratic
        self.correlation: Floats = np.asarray(X.T @ Y)
        self.hessian: Floats | None = None
        self._half_norm = float((Y * Y).sum() / 2)
        self._by_feature = X.T if dense else np.ascontiguousarray(X.T)  # a feature's values lie together
        if dense:
            self.hessian = np.asarray(X.T @ X + 2 * quadratic.matrix(X.shape[1]))

    @property
    def shape(self) -> tuple[int, int]:
        """(features, targets)."""
        n_features, n_targets = self.correlation.shape
        return n_features, n_targets

    @property
    def largest_correlation(self) -> float:
        """The largest row of X'Y: without a penalty, the natural size of a gradient."""
        return float(np.linalg.norm(self.correlation, axis=1).max(initial=0.0)) or 1.0

    def gradient(self, B: Floats) -> Floats:
        """X'(XB - Y) + 2 S B."""
        rows = np.flatnonzero(B.any(axis=1))
        if self.hessian is not None:
            if 2 * len(rows) > len(B):
                return np.asarray(self.hessian @ B - self.correlation)
            return np.asarray(self.hessian[rows].T @ B[rows] - self.correlation)  # it is symmetric
        fitted = self._by_feature[rows].T @ B[rows]
        return np.asarray(self._by_feature @ fitted - self.correlation + self.quadratic.gradient(B))

    def value(self, B: Floats, gradient: Floats | None = None) -> float:
        """f(B), which is quadratic: its gradient at B, where known, gives it for nothing."""
        gradient = self.gradient(B) if gradient is None else gradient
        return self._half_norm + float((B * (gradient - self.correlation)).sum() / 2)
