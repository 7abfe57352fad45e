r"""Products with U, without U.

The logarithm of either part of U is a sum over pairs, :math:`z_{ij} = \alpha_i + \beta_j + L_i R_j'`, with
the factors L and R of the separable route. Taking off what rows and columns have by themselves,

.. math::

    e^{z_{ij}} = e^{a_i} e^{b_j} e^{w_{ij}}, \qquad w_{ij} = (L_i - \bar L)(R_j - \bar R)',

leaves an interaction w that is small, a hundredth or so on all data that we know. So
:math:`e^w \approx 1 + w`, and

.. math::

    U \approx A B' + B A' + \mathrm{diag}(d), \qquad A_i = e^{a_i} [1, L_i - \bar L], \quad
    B_j = e^{b_j} [1, R_j - \bar R], \quad d_i = 2 e^{a_i + b_i} (e^{w_{ii}} - 1 - w_{ii}).

The diagonal is exact, as a feature interacts with itself more than with others. A and B have one row for
each feature, as long as there are samples times the rank of the factorisation. Nothing is sampled or fitted.
The error, :math:`w^2/2` and what the factors leave out, is measured on columns of U that are computed exactly
and used for nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

from infused._runtime.compat import cached_property
from infused._runtime.threads import Workers, spans
from infused._typing import Array, Floats, Ints
from infused.information.pair_sums import FeatureIndex, PairSumProblem
from infused.information.separable import PhiFactors, SingleTerms, box_of

ENTRIES_PER_TASK = 2**17
FEW_FEATURES = 64


class InformationOperator(LinearOperator):  # type: ignore[misc]  # scipy has no types
    r"""Products with the structural information without forming it, :math:`U \approx AB' + BA' + diag(d)`.

    Made by :meth:`StructuralInformation.operator`; a ``scipy.sparse.linalg.LinearOperator``.

    Parameters
    ----------
    near : ndarray of shape (n_features,)
        First column of A.
    far : ndarray of shape (n_features,)
        First column of B.
    left : ndarray of shape (n_features, width)
        The other columns of A; single precision is enough, as they carry the small part of U.
    right : ndarray of shape (n_features, width)
        The other columns of B.
    diagonal : ndarray of shape (n_features,)
        What the diagonal of U has beside that.
    rank : int
        Terms of the factorisation.
    error : float, default=nan
        See below.

    Attributes
    ----------
    shape : tuple of int
        (n_features, n_features).
    error : float
        An upper estimate of the spectral norm of the error, relative to the largest eigenvalue of U less its
        mean: from the Frobenius norm of the error on columns that were held back.
    rank : int
        Terms of the factorisation.

    See Also
    --------
    StructuralInformation : What makes it, and computes entries of U exactly.

    Examples
    --------
    >>> import numpy as np
    >>> from infused import StructuralInformation
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(30, 400)), np.arange(30) % 3
    >>> operator = StructuralInformation.from_data(X, y).operator()
    >>> (operator @ np.ones(400)).shape, operator.error < 1e-3
    ((400,), True)
    """

    def __init__(
        self,
        near: Floats,
        far: Floats,
        left: Any,
        right: Any,
        diagonal: Floats,
        rank: int,
        error: float = float("nan"),
    ):
        super().__init__(np.float64, (len(near), len(near)))
        self.near, self.far, self.left, self.right = near, far, left, right
        self.diagonal, self.rank, self.error = diagonal, rank, float(error)

    @property
    def nbytes(self) -> int:
        """Return the bytes of A and B."""
        return int(self.near.nbytes + self.far.nbytes + self.left.nbytes + self.right.nbytes)

    @cached_property
    def ends(self) -> tuple[float, float]:
        """Compute the smallest and the largest eigenvalue of U less its mean."""
        n, mean = len(self.near), self.mean()
        if n <= FEW_FEATURES:
            every = np.arange(n)
            values = np.linalg.eigvalsh(self.block(every, every) - mean)
        else:
            start = np.random.default_rng(0).normal(size=n)
            centred = LinearOperator((n, n), lambda b: self @ b - mean * b.sum(), dtype=np.float64)
            options = {"tol": 1e-6, "ncv": 12, "v0": start, "return_eigenvectors": False}
            values = eigsh(centred, k=2, which="BE", **options)
        return float(values.min()), float(values.max())

    def mean(self) -> float:
        """Return the mean of all entries.

        Returns
        -------
        float
            Of U as this operator has it.
        """
        left, right = (part.mean(axis=0, dtype=np.float64) for part in (self.left, self.right))
        centre = 2 * (self.near.mean() * self.far.mean() + left @ right)
        return float(centre + self.diagonal.mean() / len(self.diagonal))

    def times(self, features: Ints, B: Floats) -> Floats:
        """Multiply with a B that is zero for all other features.

        Parameters
        ----------
        features : ndarray of int
            Where B is not zero.
        B : ndarray of shape (n_chosen, n_columns)
            Its rows there.

        Returns
        -------
        ndarray of shape (n_features, n_columns)
            The columns of U at these features, times B.
        """
        every = np.array_equal(features, np.arange(len(self.near)))  # in this order
        part = self if every else self.restricted(features)
        product = self._expand(part, B)
        product[features] += self.diagonal[features, None] * B
        return product

    def block(self, rows: Ints, columns: Ints) -> Floats:
        """Return some rows and columns of U.

        Parameters
        ----------
        rows : ndarray of int
            The features of the rows.
        columns : ndarray of int
            The features of the columns.

        Returns
        -------
        ndarray of shape (n_rows, n_columns)
            Entries as this operator has them.
        """
        first, second = self.restricted(rows), self.restricted(columns)
        small = first.left @ second.right.T + first.right @ second.left.T
        exact = np.outer(first.near, second.far) + np.outer(first.far, second.near)
        return np.asarray(exact + small + first.diagonal[:, None] * (rows[:, None] == columns))

    def restricted(self, features: Ints) -> InformationOperator:
        """Restrict the operator to some of the features.

        Parameters
        ----------
        features : ndarray of int
            Which.

        Returns
        -------
        InformationOperator
            Of U of these features.
        """
        near, far, diagonal = self.near[features], self.far[features], self.diagonal[features]
        left, right = self.left[features], self.right[features]
        return InformationOperator(near, far, left, right, diagonal, self.rank, self.error)

    def _matmat(self, X: Floats) -> Floats:
        return self._expand(self, X) + self.diagonal[:, None] * X

    def _adjoint(self) -> InformationOperator:
        return self

    def _transpose(self) -> InformationOperator:
        return self

    def _expand(self, part: InformationOperator, B: Floats) -> Floats:
        """Compute A (B_part' B) + B (A_part' B): all but the diagonal."""
        small = np.asarray(B, dtype=part.left.dtype)
        product = self.left @ (part.right.T @ small) + self.right @ (part.left.T @ small)
        exact = np.outer(self.near, part.far @ B) + np.outer(self.far, part.near @ B)
        return np.asarray(exact + product)


def linearised(
    problem: PairSumProblem, part: tuple[Floats, Floats, Floats], tolerance: float, work: Workers
) -> InformationOperator:
    """Make the operator of dense distributions, from factors with an error of at most ``tolerance``.

    ``part`` is what the criterion adds to the logarithm, by rows and by columns, and a factor of the rows.
    """
    near_part, far_part, scale = part
    factors = PhiFactors(box_of(problem), tolerance / problem.total_weight)
    single = SingleTerms.computed(problem, work)
    P, target = problem.features.dense(), problem.target
    n_features, width = len(P), P.shape[1] * factors.rank
    tasks = spans(n_features, max(1, ENTRIES_PER_TASK // width))

    def factors_of(features: FeatureIndex) -> tuple[Floats, Floats]:
        p = np.ascontiguousarray(P[features])
        left, right = np.empty((len(p), width)), np.empty((len(p), width))
        factors.fill(p, target.rows(features), target.codes, problem.weights_of_means, left, right)
        return left, right

    def sums(features: slice) -> tuple[Floats, Floats]:
        left, right = factors_of(features)
        return left.sum(axis=0), right.sum(axis=0)

    mean_left, mean_right = np.sum(list(work.map(sums, tasks)), axis=0) / n_features
    near, far, diagonal = np.empty((3, n_features))
    A, B = np.empty((2, n_features, width), np.float32)

    def fill(features: slice) -> None:
        left, right = factors_of(features)
        a = single.row[features] + near_part[features] + left @ mean_right
        right -= mean_right
        b = single.column[features] + far_part[features] + right @ mean_left
        left -= mean_left
        own = np.einsum("ik,ik->i", left, right)
        diagonal[features] = 2 * scale[features] * np.exp(a + b) * (np.expm1(own) - own)
        near[features], far[features] = scale[features] * np.exp(a), np.exp(b)
        np.multiply(left, near[features, None], out=A[features], casting="same_kind")
        np.multiply(right, far[features, None], out=B[features], casting="same_kind")

    work.run(fill, tasks)
    return InformationOperator(near, far, A, B, diagonal, factors.rank)


MARGIN = 4.0
MOST_KNOWN = 4000  # features of which U is formed; from there on its factors are faster
N_COLUMNS = 32  # of the sample, on which the largest deviation is measured


@dataclass(frozen=True)
class Sampled:
    """What a sample of features tells of U of all of them."""

    mean: float
    ends: tuple[float, float]
    """The smallest and the largest eigenvalue of U less its mean."""
    deviation: float
    """The largest of an entry from the mean, in some columns."""
    error_of_mean: float
    """By how much halves of the sample are off."""
    error_of_top: float
    """The same of the largest eigenvalue, as a share of it."""

    @classmethod
    def of(cls, operator: InformationOperator, n_features: int) -> Sampled:
        """Estimate the figures for so many features from U of a sample."""
        size = operator.shape[0]
        # The largest eigenvalues grow with the number of features.
        ends = operator.ends[0] / size * n_features, operator.ends[1] / size * n_features
        mean = _mean(operator, n_features)
        halves = [operator.restricted(np.arange(start, size, 2)) for start in (0, 1)]
        means = [_mean(half, n_features) for half in halves]
        tops = [half.ends[1] / half.shape[0] * n_features for half in halves]
        some = np.arange(0, size, max(1, size // N_COLUMNS))
        deviation = float(np.abs(operator.times(some, np.eye(len(some))) - mean).max())
        # A mean of two halves is off by half of what they differ by.
        return cls(mean, ends, deviation, abs(means[0] - means[1]) / 2, abs(tops[0] - tops[1]) / 2 / ends[1])


class _Known:
    """U of the features that were asked for so far."""

    def __init__(
        self,
        n_features: int,
        form: Callable[[Ints], Floats],
        operator: Callable[[], InformationOperator],
        most: int,
    ):
        self._form, self._operator, self._most = form, operator, most
        self.place = np.full(n_features, -1)
        """Where each feature is in U; -1 for those that are not."""
        self.U: Floats = np.empty((0, 0))
        self.whole: InformationOperator | None = None
        """In place of U, where too many were asked for."""

    def learn(self, features: Ints) -> None:
        """Form U of these features too."""
        if self.whole is not None or not (self.place[features] < 0).any():
            return
        wanted = np.union1d(np.flatnonzero(self.place >= 0), features)
        if len(wanted) > self._most:
            self.whole = self._operator()
            return
        self.U = self._form(wanted)
        self.place[wanted] = np.arange(len(wanted))

    def block(self, rows: Ints, columns: Ints) -> Floats:
        """Return U of features that are known."""
        if self.whole is not None:
            return self.whole.block(rows, columns)
        return np.asarray(self.U[np.ix_(self.place[rows], self.place[columns])])


@dataclass(frozen=True)
class NearbyInformation:
    """U of some features, of which those are formed that are asked for: what a penalty needs of an operator.

    ``form`` gives U of some features, ``operator`` what multiplies with U of all of them, for when it is more
    than ``most`` that are asked for.
    """

    known: _Known
    sampled: Sampled
    features: Ints
    """Where its rows are among all features."""

    @classmethod
    def make(
        cls,
        n_features: int,
        form: Callable[[Ints], Floats],
        operator: Callable[[], InformationOperator],
        sampled: Sampled,
        most: int = MOST_KNOWN,
    ) -> NearbyInformation:
        """Start with all features, none of them known; at most so many are formed."""
        return cls(_Known(n_features, form, operator, most), sampled, np.arange(n_features))

    @property
    def shape(self) -> tuple[int, int]:
        """Return (n_features, n_features)."""
        return len(self.features), len(self.features)

    @property
    def ends(self) -> tuple[float, float]:
        """Compute the smallest and the largest eigenvalue of U less its mean."""
        return self.sampled.ends

    def mean(self) -> float:
        """Return the mean of all entries."""
        return self.sampled.mean

    def error_on(self, features: Ints) -> float:
        """Bound the error of (U - m)/c on some features that the sample leaves, in the Frobenius norm."""
        size = self.sampled.error_of_top * float(np.linalg.norm(self.block(features, features) - self.mean()))
        own = 0.0 if self.known.whole is None else self.known.whole.error
        return own + (size + len(features) * self.sampled.error_of_mean) / self.ends[1]

    @property
    def beyond(self) -> Array:
        """Return a mask of the features that are not known."""
        if self.known.whole is not None:
            return np.zeros(len(self.features), dtype=bool)
        return np.asarray(self.known.place[self.features] < 0)

    @property
    def deviation(self) -> float:
        """Bound how far an entry is from the mean."""
        return MARGIN * self.sampled.deviation

    def learn(self, features: Ints) -> None:
        """Form U of these features too."""
        self.known.learn(self.features[features])

    def block(self, rows: Ints, columns: Ints) -> Floats:
        """Return some rows and columns of U."""
        rows, columns = self.features[rows], self.features[columns]
        self.known.learn(np.concatenate([rows, columns]))
        return self.known.block(rows, columns)

    def times(self, features: Ints, B: Floats) -> Floats:
        """Multiply with a B that is zero for all other features; unknown rows have the mean of U."""
        self.learn(features)
        if self.known.whole is not None:
            return self._own.times(features, B)
        inside = np.flatnonzero(~self.beyond)
        product = np.tile(self.sampled.mean * B.sum(axis=0), (len(self.features), 1))
        product[inside] = self.known.block(self.features[inside], self.features[features]) @ B
        return product

    def restricted(self, features: Ints) -> NearbyInformation:
        """Restrict to some of the features; what one learns, the other knows."""
        return NearbyInformation(self.known, self.sampled, self.features[features])

    @cached_property
    def _own(self) -> InformationOperator:
        """Return the operator of these features, once it stands for what was formed."""
        if self.known.whole is None:
            raise TypeError("U of all features is not asked for")
        return self.known.whole.restricted(self.features)


def _mean(operator: InformationOperator, n_features: int) -> float:
    """Estimate the mean of U of so many features; a sample has a larger share on its diagonal."""
    size = operator.shape[0]
    own = 2 * operator.near * operator.far + operator.diagonal
    own += 2 * np.einsum("ij,ij->i", operator.left, operator.right)
    apart = (size * operator.mean() - own.mean()) / (size - 1)
    return float(apart + (own.mean() - apart) / n_features)
