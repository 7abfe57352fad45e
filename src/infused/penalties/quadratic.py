"""Quadratic terms tr(B' S B)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

from infused._design import Design, selected_columns
from infused._typing import Array, Floats, Ints
from infused.information.operator import InformationOperator, NearbyInformation

#: U that is not formed, or not all of it.
Unformed: TypeAlias = InformationOperator | NearbyInformation

FEW_ROWS = 0.3  # of U, up to which a copy of them takes less time than a product with all
SMALLEST_SHARE = 0.01  # of c in the size of the most negative eigenvalue


class Quadratic(Protocol):
    """tr(B' S B), with S symmetric: what a model asks of such a penalty."""

    @property
    def curvature(self) -> float:
        """The largest eigenvalue of 2 S, or a bound on it."""
        ...

    @property
    def convex(self) -> bool:
        """Whether S is known to be positive semidefinite."""
        ...

    def matrix(self, n_features: int) -> Floats:
        """S, features x features."""
        ...

    def block(self, rows: Ints, columns: Ints) -> Floats:
        """Some rows and columns of S."""
        ...

    def gradient(self, B: Floats) -> Floats:
        """2 S B."""
        ...

    def restricted(self, features: Ints) -> Quadratic:
        """The same penalty on some of the features."""
        ...


@dataclass(frozen=True)
class Ridge:
    r""":math:`\lambda |B|^2`, that is S = lambda I."""

    weight: float
    convex = True

    @property
    def curvature(self) -> float:
        """The largest eigenvalue of 2 S."""
        return 2 * self.weight

    def matrix(self, n_features: int) -> Floats:
        """S."""
        return self.weight * np.eye(n_features)

    def block(self, rows: Ints, columns: Ints) -> Floats:
        """Some rows and columns of S."""
        return np.asarray(self.weight * (rows[:, None] == columns))

    def gradient(self, B: Floats) -> Floats:
        """2 S B."""
        return 2 * self.weight * B

    def restricted(self, features: Ints) -> Ridge:
        """The same penalty on some of the features."""
        return self


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

    U: Floats | Unformed
    """As a matrix, or as what multiplies with it."""
    weight: float
    mean: float
    top: float
    """c, the largest eigenvalue of U - m (at least a hundredth of the most negative one in size); zero for
    the form that the paper prints."""
    bottom: float = 0.0
    """The smallest eigenvalue of U - m."""

    @classmethod
    def published(cls, U: Floats, weight: float) -> Structural:
        """S = -weight U."""
        return cls(U, weight, 0.0, 0.0)

    @classmethod
    def convexified(cls, U: Floats | Unformed, weight: float) -> Structural:
        """S = weight (I - (U - m) / c)."""
        mean = float(U.mean())
        bottom, top = extreme_eigenvalues(U, mean)
        # Where U - m has no positive eigenvalue to speak of, dividing by it would make S huge.
        return cls(U, weight, mean, max(top, SMALLEST_SHARE * abs(bottom)), bottom)

    @property
    def convex(self) -> bool:
        """Whether this is the convexified form."""
        return self.top > 0

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

    def restricted(self, features: Ints) -> Structural:
        """The same penalty on some of the features."""
        return replace(self, U=_restricted(self.U, features))

    def matrix(self, n_features: int | None = None) -> Floats:
        """S."""
        every = np.arange(self.U.shape[0])
        U = self.U.block(every, every) if isinstance(self.U, Unformed) else self.U
        S = np.asarray(self.scale * (U - self.mean))
        S[np.diag_indices_from(S)] += self.ridge
        return S

    def block(self, rows: Ints, columns: Ints) -> Floats:
        """Some rows and columns of S."""
        U = self.U.block(rows, columns) if isinstance(self.U, Unformed) else self.U[np.ix_(rows, columns)]
        part = self.scale * (U - self.mean)
        return np.asarray(part + self.ridge * (rows[:, None] == columns))

    def gradient(self, B: Floats) -> Floats:
        """2 S B, at the cost of the columns of U where B is not zero."""
        product = _product(self.U, B) - self.mean * B.sum(axis=0)
        return np.asarray(2 * (self.ridge * B + self.scale * product))

    @property
    def partial(self) -> bool:
        """Whether U of some features is not known yet."""
        return isinstance(self.U, NearbyInformation) and bool(self.U.beyond.any())

    def beyond(self, B: Floats) -> tuple[Array, float]:
        """The features of which 2 S B is not known, and at most how long a row of it is."""
        if not isinstance(self.U, NearbyInformation):
            return np.zeros(self.U.shape[0], dtype=bool), 0.0
        lengths = float(np.linalg.norm(B, axis=1).sum())
        return self.U.beyond, 2 * abs(self.scale) * self.U.deviation * lengths

    def learn(self, features: Ints) -> None:
        """Let U of these features be known."""
        if isinstance(self.U, NearbyInformation):
            self.U.learn(features)


def _restricted(U: Floats | Unformed, features: Ints) -> Floats | Unformed:
    return U.restricted(features) if isinstance(U, Unformed) else U[np.ix_(features, features)]


def _product(U: Floats | Unformed, B: Floats) -> Floats:
    """U B, through the columns of U where B is not zero unless these are many."""
    rows = np.flatnonzero(B.any(axis=1))
    if isinstance(U, Unformed):
        return U.times(rows, B[rows])
    if len(rows) > FEW_ROWS * len(U):
        return np.asarray(U @ B)
    return np.asarray(U[rows].T @ B[rows])  # U is symmetric


@dataclass(frozen=True)
class Decorrelation:
    r"""Uncorrelated features (Chen et al. 2013): S = lambda R, with :math:`R_{ij} = (f_i'f_j)^2`.

    For features of mean zero and length one R holds their squared correlations. It is positive semidefinite,
    an entrywise product of X'X with itself, and never stored.
    """

    X: Design
    weight: float
    convex = True

    @property
    def curvature(self) -> float:
        """A bound: the largest eigenvalue of R is at most its largest row sum."""
        n = self.X.shape[1]
        sums = [self.block(np.arange(i, min(i + 256, n)), np.arange(n)).sum(axis=1) for i in range(0, n, 256)]
        return 2 * float(np.concatenate(sums).max()) if n else 0.0

    def matrix(self, n_features: int | None = None) -> Floats:
        """S."""
        every = np.arange(self.X.shape[1])
        return self.block(every, every)

    def block(self, rows: Ints, columns: Ints) -> Floats:
        """Some rows and columns of S."""
        return np.asarray(self.weight * (self.X[:, rows].T @ self.X[:, columns]) ** 2)

    def gradient(self, B: Floats) -> Floats:
        """2 S B, at the cost of the columns of R where B is not zero."""
        active = np.flatnonzero(B.any(axis=1))
        return np.asarray(2 * self.block(np.arange(len(B)), active) @ B[active])

    def restricted(self, features: Ints) -> Decorrelation:
        """The same penalty on some of the features."""
        return Decorrelation(selected_columns(self.X, features), self.weight)


@dataclass(frozen=True)
class Sum:
    """The sum of two quadratic terms."""

    first: Quadratic
    second: Quadratic

    @property
    def convex(self) -> bool:
        """Whether both are."""
        return self.first.convex and self.second.convex

    @property
    def curvature(self) -> float:
        """A bound."""
        return self.first.curvature + self.second.curvature

    def matrix(self, n_features: int) -> Floats:
        """S."""
        return self.first.matrix(n_features) + self.second.matrix(n_features)

    def block(self, rows: Ints, columns: Ints) -> Floats:
        """Some rows and columns of S."""
        return self.first.block(rows, columns) + self.second.block(rows, columns)

    def gradient(self, B: Floats) -> Floats:
        """2 S B."""
        return self.first.gradient(B) + self.second.gradient(B)

    def restricted(self, features: Ints) -> Sum:
        """The same penalty on some of the features."""
        return Sum(self.first.restricted(features), self.second.restricted(features))


def structural(quadratic: Quadratic) -> Structural | None:
    """The structural part, where there is one."""
    if isinstance(quadratic, Sum):
        return structural(quadratic.first) or structural(quadratic.second)
    return quadratic if isinstance(quadratic, Structural) else None


def ridge_instead(quadratic: Quadratic) -> Quadratic:
    """The same with the ridge of the structural part alone."""
    if isinstance(quadratic, Sum):
        return Sum(ridge_instead(quadratic.first), ridge_instead(quadratic.second))
    return Ridge(quadratic.ridge) if isinstance(quadratic, Structural) else quadratic


def extreme_eigenvalues(U: Floats | Unformed, mean: float) -> tuple[float, float]:
    """Smallest and largest eigenvalue of U - mean, by Lanczos iteration; the largest a little above zero."""
    if isinstance(U, Unformed):
        lowest, highest = U.ends
        return lowest * (1 + 1e-5), max(highest * (1 + 1e-5), 1e-8)
    n = len(U)
    floor = 1e-8 * max(float(U.max()), -float(U.min()), 1.0)  # without a copy of U
    if n <= 64:
        ends = np.linalg.eigvalsh(U - mean)[[0, -1]]
    else:
        start = np.random.default_rng(0).normal(size=n)
        centred = LinearOperator((n, n), lambda b: U @ b - mean * b.sum(), dtype=np.float64)
        ends = eigsh(centred, k=2, which="BE", v0=start, tol=1e-6, return_eigenvectors=False)
    # What the iteration has not resolved goes to the safe side.
    return float(ends.min()) * (1 + 1e-5), max(float(ends.max()) * (1 + 1e-5), floor)
