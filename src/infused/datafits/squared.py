"""Least squares."""

from __future__ import annotations

import numpy as np

from infused._typing import Floats
from infused.datafits.curvature import Diagonal, as_columns, weights_or_ones


class Squared:
    r"""Half the squared error, :math:`\tfrac12 \sum_i w_i |y_i - \eta_i|^2`.

    Parameters
    ----------
    y : array of shape (n_samples,) or (n_samples, n_targets)
        Continuous targets.
    weights : array of shape (n_samples,) or None, default=None
        What each sample counts.
    """

    has_intercept = True

    def __init__(self, y: Floats, weights: Floats | None = None):
        self.y = as_columns(y)
        self.weights = weights_or_ones(weights, len(self.y))
        self.n_targets = self.y.shape[1]

    def value(self, eta: Floats) -> float:
        """Return half the weighted sum of squared errors."""
        return float((self.weights * (eta - self.y) ** 2).sum() / 2)

    def gradient(self, eta: Floats) -> Floats:
        """Return the weighted errors."""
        return np.asarray(self.weights * (eta - self.y))

    def curvature(self, eta: Floats) -> Diagonal:
        """Return the weights: the curvature is the same everywhere."""
        return Diagonal(self.weights[:, 0])
