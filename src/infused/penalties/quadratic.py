"""Quadratic terms tr(B' S B)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

from infused._design import Design, selected_columns
from infused._runtime.compat import cached_property
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
        """Return the largest eigenvalue of 2 S, or a bound on it."""
        ...

    @property
    def convex(self) -> bool:
        """Tell whether S is known to be positive semidefinite."""
        ...

    def matrix(self, n_features: int) -> Floats:
        """Form S, features x features."""
        ...

    def block(self, rows: Ints, columns: Ints) -> Floats:
        """Form some rows and columns of S."""
        ...

    def gradient(self, B: Floats) -> Floats:
        """Compute 2 S B."""
        ...

    def restricted(self, features: Ints) -> Quadratic:
        """Restrict the penalty to some of the features."""
        ...


@dataclass(frozen=True)
class Ridge:
    r""":math:`\lambda |B|^2`, that is S = lambda I."""

    weight: float
    convex = True

    @property
    def curvature(self) -> float:
        """Return the largest eigenvalue of 2 S."""
        return 2 * self.weight

    def matrix(self, n_features: int) -> Floats:
        """Form S."""
        return self.weight * np.eye(n_features)

    def block(self, rows: Ints, columns: Ints) -> Floats:
        """Form some rows and columns of S."""
        return np.asarray(self.weight * (rows[:, None] == columns))

    def gradient(self, B: Floats) -> Floats:
        """Compute 2 S B."""
        return 2 * self.weight * B

    def restricted(self, features: Ints) -> Ridge:
        """Return the ridge itself, which is the same on any features."""
        return self


NO_QUADRATIC = Ridge(0.0)


@dataclass(frozen=True)
class PairInformation:
    """Information of pairs of features, computed for the features that it is asked for."""

    formed: Callable[[Ints], Floats]
    """Returns U of some features as a matrix."""
    unformed: Callable[[Ints], Unformed | None] = lambda features: None
    """Returns what multiplies with U of some features, where that is better than to form it."""

    @classmethod
    def given(cls, U: Floats | Unformed) -> PairInformation:
        """Wrap a U that is known, as a matrix or as what multiplies with it."""
        if isinstance(U, Unformed):
            return cls(lambda features: U.block(features, features), U.restricted)
        return cls(lambda features: U[np.ix_(features, features)])


@dataclass(frozen=True, eq=False)
class Structural:
    r"""The information of pairs of features as a penalty, with S of one of two forms.

    As printed, :math:`S = -\lambda U`. U is close to 2 everywhere, so this rewards large sums of coefficients
    without bound. Centred and convexified, with m the mean of U and c the largest eigenvalue of U - m,

    .. math::

        S = \lambda \Big(I - \frac{U - m}{c}\Big)

    is positive semidefinite for every data set, and differs from the published term by a ridge and by what
    the mean of U adds. U is computed when it is first needed, for the features that are left by then; m and c
    are those of these features from then on.
    """

    information: PairInformation
    features: Ints
    """The features of this term, as ``information`` counts them."""
    weight: float
    published: bool = False
    """Whether S is as printed."""
    times_top: bool = False
    """Whether the weight is multiplied with c, so that U weighs as much as in the printed form."""
    extra_ridge: float = 0.0
    """The weight of a ridge beside it."""
    centre: tuple[float, float, float] | None = None
    """Mean of U, and the smallest and the largest eigenvalue of U less it; None to compute them."""

    @classmethod
    def given(
        cls, U: Floats | Unformed, weight: float, *, published: bool = False, extra_ridge: float = 0.0
    ) -> Structural:
        """Make the term of a U that is known."""
        every = np.arange(U.shape[0])
        term = cls(PairInformation.given(U), every, weight, published, extra_ridge=extra_ridge)
        vars(term)["U"] = U
        return term

    @cached_property
    def U(self) -> Floats | Unformed:
        """Compute U of the features, or make what multiplies with it."""
        unformed = None if self.published else self.information.unformed(self.features)
        return self.information.formed(self.features) if unformed is None else unformed

    @property
    def forms_U(self) -> bool:
        """Tell whether U of all pairs of these features is formed."""
        known = "U" in vars(self) or self.published
        return known or self.information.unformed(self.features) is None

    @cached_property
    def _centre(self) -> tuple[float, float, float]:
        if self.published:
            return 0.0, 0.0, 0.0
        if self.centre is not None:
            return self.centre
        mean = float(self.U.mean())
        return mean, *extreme_eigenvalues(self.U, mean)

    @property
    def mean(self) -> float:
        """Return what is taken off U; zero for the printed form."""
        return self._centre[0]

    @property
    def top(self) -> float:
        """Return c, at least a hundredth of the most negative eigenvalue in size; zero for the printed form.

        Where U - m has no positive eigenvalue to speak of, dividing by it would make S huge.
        """
        _, bottom, top = self._centre
        return max(top, SMALLEST_SHARE * abs(bottom))

    @property
    def convex(self) -> bool:
        """Tell whether this is the convexified form."""
        return not self.published

    @property
    def strength(self) -> float:
        """Return lambda."""
        return self.weight * self.top if self.times_top else self.weight

    @property
    def ridge(self) -> float:
        """Return the multiple of the identity in S."""
        return self.extra_ridge + (0.0 if self.published else self.strength)

    @property
    def scale(self) -> float:
        """Return what U - m is multiplied with in S."""
        return -self.weight if self.published else -self.strength / self.top

    @property
    def curvature(self) -> float:
        """Return the largest eigenvalue of 2 S, when convexified."""
        return 2 * (self.ridge + self.scale * self._centre[1])

    def restricted(self, features: Ints) -> Structural:
        """Restrict the penalty to some of the features; where U is known, the mean and c stay."""
        if "U" not in vars(self):
            return replace(self, features=self.features[features])
        information = PairInformation.given(self.U)
        return replace(self, information=information, features=features, centre=self._centre)

    def without_information(self) -> Ridge:
        """Return the part of the penalty that needs no U."""
        return Ridge(self.ridge)

    def matrix(self, n_features: int | None = None) -> Floats:
        """Form S."""
        every = np.arange(len(self.features))
        U = self.U.block(every, every) if isinstance(self.U, Unformed) else self.U
        S = np.asarray(self.scale * (U - self.mean))
        S[np.diag_indices_from(S)] += self.ridge
        return S

    def block(self, rows: Ints, columns: Ints) -> Floats:
        """Form some rows and columns of S."""
        U = self.U.block(rows, columns) if isinstance(self.U, Unformed) else self.U[np.ix_(rows, columns)]
        part = self.scale * (U - self.mean)
        return np.asarray(part + self.ridge * (rows[:, None] == columns))

    def gradient(self, B: Floats) -> Floats:
        """Compute 2 S B, at the cost of the columns of U where B is not zero."""
        product = _product(self.U, B) - self.mean * B.sum(axis=0)
        return np.asarray(2 * (self.ridge * B + self.scale * product))

    @property
    def partial(self) -> bool:
        """Tell whether U of some features is not known yet."""
        return isinstance(self.U, NearbyInformation) and bool(self.U.beyond.any())

    def beyond(self, B: Floats) -> tuple[Array, float]:
        """Return the features of which 2 S B is not known, and at most how long a row of it is."""
        if not isinstance(self.U, NearbyInformation):
            return np.zeros(len(self.features), dtype=bool), 0.0
        lengths = float(np.linalg.norm(B, axis=1).sum())
        return self.U.beyond, 2 * abs(self.scale) * self.U.deviation * lengths

    def learn(self, features: Ints) -> None:
        """Compute U of these features too."""
        if isinstance(self.U, NearbyInformation):
            self.U.learn(features)

    def error(self, B: Floats) -> float:
        """Estimate the error of U at a solution, relative to c; zero where U was formed."""
        if isinstance(self.U, NearbyInformation):
            return self.U.error_on(np.flatnonzero(B.any(axis=1)))
        return self.U.error if isinstance(self.U, InformationOperator) else 0.0


def _product(U: Floats | Unformed, B: Floats) -> Floats:
    """Compute U B, through the columns of U where B is not zero unless these are many."""
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
        """Bound the largest eigenvalue of 2 S by the largest row sum."""
        n = self.X.shape[1]
        sums = [self.block(np.arange(i, min(i + 256, n)), np.arange(n)).sum(axis=1) for i in range(0, n, 256)]
        return 2 * float(np.concatenate(sums).max()) if n else 0.0

    def matrix(self, n_features: int | None = None) -> Floats:
        """Form S."""
        every = np.arange(self.X.shape[1])
        return self.block(every, every)

    def block(self, rows: Ints, columns: Ints) -> Floats:
        """Form some rows and columns of S."""
        return np.asarray(self.weight * (self.X[:, rows].T @ self.X[:, columns]) ** 2)

    def gradient(self, B: Floats) -> Floats:
        """Compute 2 S B, at the cost of the columns of R where B is not zero."""
        active = np.flatnonzero(B.any(axis=1))
        return np.asarray(2 * self.block(np.arange(len(B)), active) @ B[active])

    def restricted(self, features: Ints) -> Decorrelation:
        """Restrict the penalty to some of the features."""
        return Decorrelation(selected_columns(self.X, features), self.weight)


def extreme_eigenvalues(U: Floats | Unformed, mean: float) -> tuple[float, float]:
    """Compute the ends of the spectrum of U - mean by Lanczos iteration; the upper end is above zero."""
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
