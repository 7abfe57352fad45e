"""Poisson regression, for counts."""

from __future__ import annotations

import numpy as np

from infused._typing import Floats
from infused.datafits.curvature import Diagonal, weights_or_ones

FLATTEST = 1e-10  # curvature of a sample of which nothing is expected: a Newton step needs some


class Poisson:
    r"""Negative log-likelihood of counts, :math:`\sum_i w_i (e^{\eta_i} - y_i \eta_i)`, less a constant.

    Parameters
    ----------
    y : array of shape (n_samples,)
        Counts, or rates, of at least zero.
    weights : array of shape (n_samples,) or None, default=None
        What each sample counts.
    """

    has_intercept = True
    n_targets = 1

    def __init__(self, y: Floats, weights: Floats | None = None):
        self.y = np.asarray(y, dtype=np.float64).reshape(-1, 1)
        self.weights = weights_or_ones(weights, len(self.y))

    def value(self, eta: Floats) -> float:
        """Return the negative log-likelihood; infinity where the rates leave the range of numbers."""
        with np.errstate(over="ignore"):
            return float((self.weights * (np.exp(eta) - self.y * eta)).sum())

    def gradient(self, eta: Floats) -> Floats:
        """Return the weighted rates, less the counts."""
        with np.errstate(over="ignore"):
            return np.asarray(self.weights * (np.exp(eta) - self.y))

    def curvature(self, eta: Floats) -> Diagonal:
        """Return the weighted rates."""
        with np.errstate(over="ignore"):
            return Diagonal((self.weights * np.maximum(np.exp(eta), FLATTEST))[:, 0])
