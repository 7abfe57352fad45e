r"""The matrix of features of a linear model, where it is sparse and must stay so.

.. math::

    X = A - LR

with A sparse (samples x features) and LR of low rank: rank one for the means of the columns, one more for
each direction that was projected out. Products, lengths and Gram matrices come from A, L and R; X itself is
never formed. It takes the place of a dense array: ``X @ B``, ``X.T @ Y``, ``X[:, features]``, ``X.T @ X``.

A Gram matrix loses digits where a column is much shorter than its part of A. Means are no such case: a column
with a zero among M samples has a variance of at least 1/M of its squared mean, and one without any zero is
centred in A itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp

from infused._runtime.compat import cached_property
from infused._runtime.threads import spans
from infused._typing import Array, Floats, Ints

ROUNDING = 1e-12  # of a product, relative to the largest
NEGLIGIBLE = 1e-12  # a column whose deviations are below this share of its largest entry is constant
COLUMNS_AT_ONCE = 4096  # of a copy that lasts a moment
COLUMNS_OF_CACHE = 64  # that are copied from rows at a time

#: A dense array, a :class:`SparseDesign` or a :class:`infused._columns.ColumnDesign`, samples x features.
Design: TypeAlias = Any


@dataclass(frozen=True, eq=False)
class SparseDesign:
    """X = A - LR: what dense arrays can do that the models ask for."""

    A: sp.csc_array
    """samples x features."""
    L: Floats
    """samples x rank."""
    R: Floats
    """rank x features."""

    __array_ufunc__ = None  # so that an array to the left of @ leaves the product to this class

    @classmethod
    def of(cls, A: sp.csc_array) -> SparseDesign:
        """Make a design of A as it is."""
        n_samples, n_features = A.shape
        return cls(A, np.empty((n_samples, 0)), np.empty((0, n_features)))

    @property
    def shape(self) -> tuple[int, int]:
        """Return the numbers of samples and of features."""
        n_samples, n_features = self.A.shape
        return n_samples, n_features

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def T(self) -> Transposed:
        """Return X', for the left of a product."""
        return Transposed(self)

    def __getitem__(self, key: tuple[Any, Any]) -> SparseDesign:
        rows, features = key
        if isinstance(features, slice) and features == slice(None):
            return SparseDesign(self.A[rows].tocsc(), self.L[rows], self.R)
        if not (isinstance(rows, slice) and rows == slice(None)):
            raise IndexError("a sparse design has rows or columns taken, not both at once")
        return SparseDesign(self.A[:, features], self.L, self.R[:, features])

    def __matmul__(self, B: Floats) -> Floats:
        return np.asarray(self.A @ B - self.L @ (self.R @ B))

    def any(self, axis: int = 0) -> Array:
        """Find the columns that are not zero."""
        if axis != 0:
            raise ValueError("only columns can be asked for")
        stored = np.bincount(self._owners, weights=self.A.data != 0, minlength=self.shape[1]) > 0
        return np.asarray(stored | self.R.any(axis=0))

    def toarray(self) -> Floats:
        """Form X itself."""
        return np.asarray(self.A.toarray() - self.L @ self.R)

    def squares(self) -> Floats:
        """Compute the squared length of each column."""
        stored = np.bincount(self._owners, weights=self.A.data**2, minlength=self.shape[1])
        return np.asarray(np.maximum(stored - 2 * (self.R * self._half).sum(axis=0), 0.0))

    def inner(self, first: Ints, second: Ints) -> Floats:
        """Compute x_i'x_j of some pairs of columns."""
        stored = np.asarray(self.A[:, first].multiply(self.A[:, second]).sum(axis=0)).ravel()
        R, half = self.R, self._half
        return np.asarray(
            stored - (R[:, first] * half[:, second] + half[:, first] * R[:, second]).sum(axis=0)
        )

    def scaled(self, factors: Floats) -> SparseDesign:
        """Multiply every column with a number of its own; times zero it is zero, and stores nothing."""
        A = self.A.copy()
        A.data *= factors[self._owners]
        if not factors.all():
            A.eliminate_zeros()
        return SparseDesign(A, self.L, self.R * factors)

    def rows_scaled(self, factors: Floats) -> SparseDesign:
        """Return X with every row times a number of its own."""
        A = self.A.copy()
        A.data *= factors[A.indices]
        return SparseDesign(A, factors[:, None] * self.L, self.R)

    def less(self, L: Floats, R: Floats) -> SparseDesign:
        """Subtract LR."""
        return SparseDesign(self.A, np.hstack([self.L, L]), np.vstack([self.R, R]))

    def replaced(self, features: Ints, columns: Floats) -> SparseDesign:
        """Replace some columns by other values, which are stored."""
        n = len(features)
        kept = self.scaled(np.where(np.isin(np.arange(self.shape[1]), features), 0.0, 1.0))
        place = sp.csr_array((np.ones(n), (np.arange(n), features)), shape=(n, self.shape[1]))
        return SparseDesign(sp.csc_array(kept.A + sp.csc_array(columns) @ place), kept.L, kept.R)

    def gram(self, other: SparseDesign) -> Floats:
        """Compute X'Z for columns of the same design, so that L is the same."""
        stored = (self.A.T @ other.A).toarray()
        if self.L.shape[1]:
            stored -= self.R.T @ other._half + self._half.T @ other.R
        return np.asarray(stored)

    @cached_property
    def transposed(self) -> sp.csr_array:
        """Return A by its columns as rows; made once, as that takes as long as a product with a vector."""
        return self.A.T

    @cached_property
    def _owners(self) -> Ints:
        """Return the column of every entry of A."""
        return np.repeat(np.arange(self.shape[1]), np.diff(self.A.indptr))

    @cached_property
    def _half(self) -> Floats:
        """Compute L'A - L'LR/2: (LR)'(LR) is shared by both of the products that hold R once."""
        return np.asarray((self.A.T @ self.L).T - (self.L.T @ self.L) @ self.R / 2)


@dataclass(frozen=True, eq=False)
class Transposed:
    """X' of a sparse design: its rows are features."""

    T: SparseDesign
    __array_ufunc__ = None

    def __getitem__(self, features: Any) -> Any:
        """Take one feature's values, or some features."""
        if isinstance(features, int | np.integer):
            return self.T[:, [features]].toarray()[:, 0]
        return Transposed(self.T[:, features])

    def __matmul__(self, other: Floats | SparseDesign) -> Floats:
        X = self.T
        if isinstance(other, SparseDesign):
            return X.gram(other)
        return np.asarray(X.transposed @ other - X.R.T @ (X.L.T @ other))


class Scale(NamedTuple):
    """What columns are standardised by, in the order in which it is done."""

    largest: Floats
    """Their largest numbers, so that no square overflows."""
    mean: Floats
    """Of what was divided by these."""
    length: Floats
    """Of what is left after that; zero for a constant."""

    def of(self, features: Any) -> Scale:
        """Return what some columns are standardised by."""
        return Scale(*(part[features] for part in self))

    def apply(self, F: Floats, root: Floats | None = None) -> Floats:
        """Standardise columns in place."""
        F /= self.largest
        F -= self.mean
        if root is not None:
            F *= root[:, None]
        F /= np.where(self.length > 0, self.length, 1.0)
        F[:, self.length == 0] = 0.0
        return F


def measured(F: Floats, weights: Floats | None = None) -> Scale:
    """Measure what columns are standardised by, and standardise them in place; rows are weighed as well."""
    largest = np.maximum(F.max(axis=0), -F.min(axis=0))  # without a copy of F
    largest = np.where(largest > 0, largest, 1.0)
    F /= largest
    total = float(len(F)) if weights is None else weights.sum()
    mean = F.mean(axis=0) if weights is None else weights @ F / total
    F -= mean
    if weights is not None:
        F *= np.sqrt(weights)[:, None]
    squares = [(F[:, some] * F[:, some]).sum(axis=0) for some in spans(F.shape[1], COLUMNS_AT_ONCE)]
    length = np.sqrt(np.concatenate(squares))
    varies = length > NEGLIGIBLE * np.sqrt(total)
    F /= np.where(varies, length, 1.0)
    F[:, ~varies] = 0.0
    return Scale(largest, mean, np.where(varies, length, 0.0))


def turned(A: Floats) -> Floats:
    """Return A' with the values of each of its rows together, copied in blocks that the cache holds."""
    if A.T.flags.c_contiguous:
        return A.T
    copy = np.empty(A.shape[::-1], dtype=A.dtype)
    for some in spans(A.shape[1], COLUMNS_OF_CACHE):
        copy[some] = A[:, some].T
    return copy


def selected_columns(X: Design, features: Ints) -> Design:
    """Take some columns, of a dense array with each row's values together."""
    return X.take(features, axis=1) if isinstance(X, np.ndarray) else X[:, features]


def rows_scaled(X: Design, factors: Floats) -> Design:
    """Return X with every row times a number of its own."""
    if isinstance(X, np.ndarray):
        return factors[:, None] * X
    return X.rows_scaled(factors)


def beside(Z: Floats, X: Design) -> Design:
    """Return X behind the columns of Z."""
    n = Z.shape[1]
    if not isinstance(X, SparseDesign):
        X = dense(X)
        wider = np.empty((len(X), X.shape[1] + n), order="F")
        wider[:, :n], wider[:, n:] = Z, X
        return wider
    A = sp.csc_array(sp.hstack([Z, X.A], format="csc"))
    return SparseDesign(A, X.L, np.column_stack([np.zeros((len(X.R), n)), X.R]))


def less(X: Design, L: Floats, R: Floats) -> Design:
    """Return X - LR."""
    return X - L @ R if isinstance(X, np.ndarray) else X.less(L, R)


def without_columns(X: Design, gone: Array) -> Design:
    """Set some columns of X to zero."""
    return np.where(gone, 0.0, X) if isinstance(X, np.ndarray) else X.scaled(np.where(gone, 0.0, 1.0))


def column_squares(X: Design) -> Floats:
    """Compute the squared length of each column."""
    return np.asarray(np.einsum("ij,ij->j", X, X) if isinstance(X, np.ndarray) else X.squares())


def inner_products(X: Design, first: Ints, second: Ints) -> Floats:
    """Compute x_i'x_j of some pairs of columns."""
    if isinstance(X, np.ndarray):
        return np.asarray((X[:, first] * X[:, second]).sum(axis=0))
    return np.asarray(X.inner(first, second))


def copies_of(X: Design) -> tuple[Ints, Floats] | None:
    """Find the first column equal to each, or to its negative, and 1 or -1; None where all differ.

    Copies have the same product with any vector; so few columns are compared by their entries.
    """
    n_samples, n_features = X.shape
    products = np.asarray(X.T @ np.random.default_rng(0).normal(size=n_samples))
    order = np.argsort(np.abs(products), kind="stable")
    apart = np.diff(np.abs(products)[order]) > ROUNDING * np.abs(products).max(initial=0.0)
    first, sign = np.arange(n_features), np.ones(n_features)
    edges = np.concatenate([[0], np.flatnonzero(apart) + 1, [n_features]])
    for group in np.flatnonzero(np.diff(edges) > 1):
        alike = np.sort(order[edges[group] : edges[group + 1]])
        if products[alike[0]] == 0:  # of columns that are zero
            continue
        seen: dict[tuple[bytes, ...], int] = {}
        for j in alike:
            sign[j] = -1.0 if products[j] < 0 else 1.0
            first[j] = seen.setdefault(_content(X, j, sign[j]), j)
        sign[alike] *= sign[first[alike]]
    return None if (first == np.arange(n_features)).all() else (first, sign)


def _content(X: Design, j: int, sign: float) -> tuple[bytes, ...]:
    """Return what tells a column, or its negative, from others."""
    if not isinstance(X, SparseDesign):
        return ((sign * X.T[j] + 0.0).tobytes(),)  # so that there is one zero
    stored = slice(X.A.indptr[j], X.A.indptr[j + 1])
    values = (sign * X.A.data[stored] + 0.0, sign * X.R[:, j] + 0.0)
    return X.A.indices[stored].tobytes(), *(part.tobytes() for part in values)


def dense(X: Design) -> Floats:
    """Return X as a dense array."""
    return np.asarray(X if isinstance(X, np.ndarray) else X.toarray(), dtype=np.float64)
