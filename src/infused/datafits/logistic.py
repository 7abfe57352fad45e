"""Logistic regression, for two classes and for more."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, log_softmax, softmax

from infused._design import Design, rows_scaled
from infused._typing import Array, Floats
from infused.datafits.curvature import Diagonal, weights_or_ones

FLATTEST = 1e-10  # curvature of a sample that is certain: a Newton step needs some


class Logistic:
    r"""Negative log-likelihood of two classes, :math:`\sum_i w_i (\log(1 + e^{\eta_i}) - y_i \eta_i)`.

    Parameters
    ----------
    y : array of shape (n_samples,)
        One for samples of the second class, zero for the others.
    weights : array of shape (n_samples,) or None, default=None
        What each sample counts.
    """

    has_intercept = True
    n_targets = 1

    def __init__(self, y: Array, weights: Floats | None = None):
        self.y = np.asarray(y, dtype=np.float64).reshape(-1, 1)
        self.weights = weights_or_ones(weights, len(self.y))

    def value(self, eta: Floats) -> float:
        """Return the negative log-likelihood."""
        return float((self.weights * (np.logaddexp(0.0, eta) - self.y * eta)).sum())

    def gradient(self, eta: Floats) -> Floats:
        """Return the weighted probabilities of the second class, less one where it is the true one."""
        return np.asarray(self.weights * (expit(eta) - self.y))

    def curvature(self, eta: Floats) -> Diagonal:
        """Return w p (1 - p)."""
        return Diagonal((self.weights * np.maximum(expit(eta) * expit(-eta), FLATTEST))[:, 0])


class Multinomial:
    r"""Negative log-likelihood of many classes, :math:`\sum_i w_i (\log \sum_c e^{\eta_{ic}} - \eta_{iy_i})`.

    Parameters
    ----------
    y : array of int of shape (n_samples,)
        The class of each sample, from zero.
    weights : array of shape (n_samples,) or None, default=None
        What each sample counts.
    """

    has_intercept = True

    def __init__(self, y: Array, weights: Floats | None = None):
        codes = np.asarray(y, dtype=np.int64)
        self.n_targets = int(codes.max(initial=0)) + 1
        self.Y = np.eye(self.n_targets)[codes]
        self.weights = weights_or_ones(weights, len(codes))

    def value(self, eta: Floats) -> float:
        """Return the negative log-likelihood."""
        return -float((self.weights * self.Y * log_softmax(eta, axis=1)).sum())

    def gradient(self, eta: Floats) -> Floats:
        """Return the weighted probabilities, less one for the true class."""
        return np.asarray(self.weights * (softmax(eta, axis=1) - self.Y))

    def curvature(self, eta: Floats) -> Softmax:
        """Return w (diag(p) - pp') for each sample."""
        return Softmax(softmax(eta, axis=1), self.weights)


@dataclass(frozen=True)
class Softmax:
    """H = w (diag(p) - pp') for each sample, one row and column for each class."""

    p: Floats
    weights: Floats

    def gram(self, X: Design) -> Floats:
        """Return X'HX by feature, then by class."""
        n_features, n_classes = X.shape[1], self.p.shape[1]
        result = np.empty((n_features, n_classes, n_features, n_classes))
        for first in range(n_classes):
            own = self.p[:, first]
            for second in range(first):
                roots = np.sqrt(self.weights[:, 0] * own * self.p[:, second])
                result[:, first, :, second] = result[:, second, :, first] = -_gram(X, roots)
            flattest = np.maximum(own * (1 - own), FLATTEST)
            result[:, first, :, first] = _gram(X, np.sqrt(self.weights[:, 0] * flattest))
        return result.reshape(n_features * n_classes, n_features * n_classes)

    @property
    def bound(self) -> Diagonal:
        r"""Return at least the largest eigenvalue of diag(p) - pp'.

        It is at most the largest p, as the matrix is below diag(p), and at most :math:`2p(1 - p)` of it by
        Gershgorin's circles, where p is at least one half.
        """
        largest = self.p.max(axis=1)
        size = np.where(largest < 0.5, largest, 2 * largest * (1 - largest))
        return Diagonal(self.weights[:, 0] * np.maximum(size, FLATTEST))


def _gram(X: Design, roots: Floats) -> Floats:
    """Return X' diag(roots^2) X."""
    rooted = rows_scaled(X, roots)
    return np.asarray(rooted.T @ rooted)
