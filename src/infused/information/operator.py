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

from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

from infused._runtime.cached import cached_property
from infused._runtime.threads import Workers, spans
from infused._typing import Floats, Ints
from infused.information.pair_sums import FeatureIndex, PairSumProblem
from infused.information.products import SingleTerms, box_of
from infused.information.separable import PhiFactors

__all__ = ["InformationOperator", "linearised"]

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
        """What A and B take."""
        return int(self.near.nbytes + self.far.nbytes + self.left.nbytes + self.right.nbytes)

    @cached_property
    def ends(self) -> tuple[float, float]:
        """The smallest and the largest eigenvalue of U less its mean."""
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
        """Mean of all entries.

        Returns
        -------
        float
            Of U as this operator has it.
        """
        left, right = (part.mean(axis=0, dtype=np.float64) for part in (self.left, self.right))
        centre = 2 * (self.near.mean() * self.far.mean() + left @ right)
        return float(centre + self.diagonal.mean() / len(self.diagonal))

    def times(self, features: Ints, B: Floats) -> Floats:
        """The product with a B that is zero for all other features.

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
        product = self._expand(self.restricted(features), B)
        product[features] += self.diagonal[features, None] * B
        return product

    def block(self, rows: Ints, columns: Ints) -> Floats:
        """Some rows and columns of U.

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
        """The same on some of the features.

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
        """A (B_part' B) + B (A_part' B): all but the diagonal."""
        small = np.asarray(B, dtype=part.left.dtype)
        product = self.left @ (part.right.T @ small) + self.right @ (part.left.T @ small)
        exact = np.outer(self.near, part.far @ B) + np.outer(self.far, part.near @ B)
        return np.asarray(exact + product)


def linearised(
    problem: PairSumProblem, part: tuple[Floats, Floats, Floats], tolerance: float, work: Workers
) -> InformationOperator:
    """The operator of dense distributions, from factors with an error of at most ``tolerance``.

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
