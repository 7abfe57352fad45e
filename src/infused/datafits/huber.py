"""Huber's loss, for continuous targets with outliers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from infused._typing import Floats
from infused.datafits.curvature import Diagonal, as_columns, weights_or_ones

FLATTEST = 1e-2  # of the upper bound for an outlier, that a Newton step takes as its curvature


@dataclass(frozen=True)
class Kinked(Diagonal):
    """H of small errors, and next to nothing of outliers."""

    above: Floats

    @property
    def bound(self) -> Diagonal:
        """Return w min(1, delta / |r|)."""
        return Diagonal(self.above[:, 0])


class Huber:
    r"""Squares of small errors and sizes of large ones, :math:`\sum_i w_i h(y_i - \eta_i)` with

    .. math::

        h(r) = \tfrac12 r^2 \text{ where } |r| \le \delta, \text{ else } \delta |r| - \tfrac12 \delta^2

    Parameters
    ----------
    y : array of shape (n_samples,) or (n_samples, n_targets)
        Continuous targets; several have one row of errors each, whose length is r.
    delta : float
        The size from which an error counts as an outlier.
    weights : array of shape (n_samples,) or None, default=None
        What each sample counts.
    """

    has_intercept = True

    def __init__(self, y: Floats, delta: float, weights: Floats | None = None):
        self.y, self.delta = as_columns(y), delta
        self.weights = weights_or_ones(weights, len(self.y))
        self.n_targets = self.y.shape[1]

    def value(self, eta: Floats) -> float:
        """Return the weighted sum of the losses."""
        size = np.linalg.norm(eta - self.y, axis=1, keepdims=True)
        small = np.minimum(size, self.delta)
        return float((self.weights * small * (size - small / 2)).sum())

    def gradient(self, eta: Floats) -> Floats:
        """Return the weighted errors, those of outliers cut to delta."""
        return np.asarray(self.weights * self._share(eta) * (eta - self.y))

    def curvature(self, eta: Floats) -> Kinked:
        """Return the weights of what is no outlier; outliers have next to no curvature along r."""
        share = self._share(eta)
        return Kinked((self.weights * np.where(share < 1, FLATTEST * share, 1.0))[:, 0], self.weights * share)

    def _share(self, eta: Floats) -> Floats:
        """Return the part of each error that counts."""
        size = np.linalg.norm(eta - self.y, axis=1, keepdims=True)
        return np.asarray(self.delta / np.maximum(size, self.delta))
