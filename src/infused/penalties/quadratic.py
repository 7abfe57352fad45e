"""Quadratic terms tr(B' S B)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

from infused._typing import Floats, Ints

__all__ = ["Ridge", "Structural", "extreme_eigenvalues"]


@dataclass(frozen=True)
class Ridge:
    r""":math:`\lambda |B|^2`, that is S = lambda I."""

    weight: float

    @property
    def curvature(self) -> float:
        """The largest eigenvalue of 2 S."""
        return 2 * self.weight

    def value(self, B: Floats) -> float:
        """The penalty."""
        return self.weight * float((B * B).sum())

    def matrix(self, n_features: int) -> Floats:
        """S."""
        return self.weight * np.eye(n_features)

    def gradient(self, B: Floats) -> Floats:
        """2 S B."""
        return 2 * self.weight * B

    def prox(self, B: Floats, step: float = 1.0) -> Floats:
        """argmin_P 1/2 |P - B|^2 + step lambda |P|^2."""
        return B / (1 + 2 * step * self.weight)


@dataclass(frozen=True)
class Structural:
    r"""The structural information as a penalty, with S of one of two forms.

    As printed, :math:`S = -\lambda U`. U is close to 2 everywhere, so this rewards large sums of coefficients
    without bound. Centred and convexified, with m the mean of U and c the largest eigenvalue of U - m,

    .. math::

        S = \lambda \Big(I - \frac{U - m}{c}\Big)

    is positive semidefinite for every data set, and differs from the published term by a ridge and by what
    the mean of U adds.
    """

    U: Floats
    weight: float
    mean: float
    top: float
    """c, the largest eigenvalue of U - m; zero for the form that the paper prints."""
    bottom: float = 0.0
    """The smallest eigenvalue of U - m."""

    @classmethod
    def published(cls, U: Floats, weight: float) -> Structural:
        """S = -weight U."""
        return cls(U, weight, 0.0, 0.0)

    @classmethod
    def convexified(cls, U: Floats, weight: float) -> Structural:
        """S = weight (I - (U - m) / c)."""
        mean = float(U.mean())
        bottom, top = extreme_eigenvalues(U, mean)
        return cls(U, weight, mean, top, bottom)

    @property
    def ridge(self) -> float:
        """The multiple of the identity in S."""
        return self.weight if self.top else 0.0

    @property
    def scale(self) -> float:
        """What U - m is multiplied with in S."""
        return -self.weight / self.top if self.top else -self.weight

    @property
    def curvature(self) -> float:
        """The largest eigenvalue of 2 S, when convexified."""
        return 2 * self.weight * (1 - self.bottom / self.top)

    def of(self, features: Ints) -> Structural:
        """The same penalty on some of the features."""
        return Structural(self.U[np.ix_(features, features)], self.weight, self.mean, self.top, self.bottom)

    def matrix(self, n_features: int | None = None) -> Floats:
        """S."""
        S = self.scale * (self.U - self.mean)
        S[np.diag_indices_from(S)] += self.ridge
        return S

    def value(self, B: Floats) -> float:
        """tr(B' S B)."""
        return float((B * self.gradient(B)).sum() / 2)

    def gradient(self, B: Floats) -> Floats:
        """2 S B, at the cost of the columns of U where B is not zero."""
        rows = np.flatnonzero(B.any(axis=1))
        product = self.U[rows].T @ B[rows] - self.mean * B[rows].sum(axis=0)  # U is symmetric
        return np.asarray(2 * (self.ridge * B + self.scale * product))

    def prox(self, B: Floats, step: float = 1.0) -> Floats:
        """argmin_P 1/2 |P - B|^2 + step tr(P' S P)."""
        return np.asarray(np.linalg.solve(np.eye(len(B)) + 2 * step * self.matrix(), B), dtype=np.float64)


def extreme_eigenvalues(U: Floats, mean: float) -> tuple[float, float]:
    """Smallest and largest eigenvalue of U - mean, by Lanczos iteration; the largest a little above zero."""
    n = len(U)
    floor = 1e-8 * max(float(np.abs(U).max()), 1.0)
    if n <= 64:
        ends = np.linalg.eigvalsh(U - mean)[[0, -1]]
    else:
        start = np.random.default_rng(0).normal(size=n)
        centred = LinearOperator((n, n), lambda b: U @ b - mean * b.sum(), dtype=np.float64)
        ends = eigsh(centred, k=2, which="BE", v0=start, tol=1e-6, return_eigenvectors=False)
    # What the iteration has not resolved goes to the safe side.
    return float(ends.min()) * (1 + 1e-5), max(float(ends.max()) * (1 + 1e-5), floor)
