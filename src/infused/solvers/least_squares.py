"""What solvers minimise: least squares with a quadratic term, and what a penalty must offer."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import scipy.linalg as sl
from scipy.sparse.linalg import LinearOperator, eigsh

from infused._design import Design, SparseDesign, dense, selected_columns
from infused._runtime.threads import spans
from infused._typing import Floats, Ints
from infused.penalties.quadratic import Quadratic, Ridge

FEW_FEATURES = 256  # below this the Hessian is always worth forming
MANY_FEATURES = 4096  # above this it never is
ENTRY_COST = 4  # of a step through a stored entry, relative to one along a row of the Hessian
FEW_COLUMNS = 16  # a product of matrices is faster with more
CACHED = 2**16  # entries that stay in the cache
MOST_REMEMBERED = 4096  # features whose part of the Hessian is kept


class Penalty(Protocol):
    """A penalty with a proximal operator."""

    @property
    def weight(self) -> float:
        """Return what the penalty is multiplied with."""
        ...

    def value(self, B: Floats) -> float:
        """Return the penalty at B."""
        ...

    def prox(self, B: Floats, step: float = 1.0) -> Floats:
        """Minimise 1/2 |Z - B|^2 + step * penalty(Z) over Z."""
        ...


class RowPenalty(Penalty, Protocol):
    """A penalty on rows of coefficients, or on groups of rows."""

    def distance(self, B: Floats, G: Floats) -> Floats:
        """Return how far each row or group of -G is from the subdifferential at B."""
        ...


class LeastSquares:
    r""":math:`f(B) = \frac12 |Y - XB|^2 + \mathrm{tr}(B'SB)` for one or many targets.

    Parameters
    ----------
    X : array or SparseDesign of shape (n_samples, n_features)
    Y : array of shape (n_samples, n_targets)
    quadratic : Quadratic
        What gives S.
    dense : bool
        Whether to form the Hessian X'X + 2 S, features x features. Without it, products go through X, and
        through the columns of S where B is not zero.
    hessian : array of shape (n_features, n_features), default=None
        The Hessian, where it is known.
    correlation : array of shape (n_features, n_targets), default=None
        X'Y, where it is known.
    """

    def __init__(
        self,
        X: Design,
        Y: Floats,
        quadratic: Quadratic,
        dense: bool,
        hessian: Floats | None = None,
        correlation: Floats | None = None,
    ):
        self.X, self.Y = X, Y
        self.quadratic = quadratic
        self.correlation: Floats = np.asarray(X.T @ Y) if correlation is None else correlation
        self.hessian = hessian
        self._half_norm = float((Y * Y).sum() / 2)
        self._by_feature = X.T
        if not dense and isinstance(X, np.ndarray):
            self._by_feature = np.ascontiguousarray(X.T)  # a feature's values lie together
        if dense and hessian is None:
            self.hessian = np.asarray(X.T @ X + 2 * quadratic.matrix(X.shape[1]))
        self._seen: Ints = np.empty(0, np.int64)
        self._seen_block: Floats = np.empty((0, 0))

    @property
    def shape(self) -> tuple[int, int]:
        """Return the numbers of features and of targets."""
        n_features, n_targets = self.correlation.shape
        return n_features, n_targets

    def restricted(self, features: Ints, X: Design | None = None) -> LeastSquares:
        """Return the function of some of the features, all others at zero; X has their columns, if known."""
        X = selected_columns(self.X, features) if X is None else X
        hessian = None if self.hessian is None else self.hessian[np.ix_(features, features)]
        dense = hessian_is_worth_forming(X)
        return LeastSquares(X, self.Y, self.quadratic.restricted(features), dense, hessian)

    def at_hand(self, features: Ints) -> LeastSquares:
        """Do what :meth:`restricted` does, with each feature's values together."""
        own = self._by_feature
        return self.restricted(features, own[features].T if isinstance(own, np.ndarray) else None)

    @property
    def largest_correlation(self) -> float:
        """Return the largest row of X'Y: without a penalty, the natural size of a gradient."""
        return float(np.linalg.norm(self.correlation, axis=1).max(initial=0.0)) or 1.0

    def gradient(self, B: Floats, own: Floats | None = None) -> Floats:
        """Compute X'(XB - Y) + 2 S B; ``own`` is the last part, if known and the Hessian is not formed."""
        rows = np.flatnonzero(B.any(axis=1))
        if self.hessian is not None:
            if 2 * len(rows) > len(B):
                return np.asarray(self.hessian @ B - self.correlation)
            return np.asarray(self.hessian[rows].T @ B[rows] - self.correlation)  # it is symmetric
        fitted = self._by_feature[rows].T @ B[rows]
        own = self.quadratic.gradient(B) if own is None else own
        return np.asarray(self._by_feature @ fitted - self.correlation + own)

    def gradients(self, several: list[Floats]) -> list[Floats]:
        """Compute the gradient at several B in one pass over X."""
        if self.hessian is not None:
            return [self.gradient(B) for B in several]
        n_targets = self.correlation.shape[1]
        together = np.hstack(several)
        rows = np.flatnonzero(together.any(axis=1))
        pulled = _products(self._by_feature, self._by_feature[rows].T @ together[rows])
        parts = (pulled[:, n : n + n_targets] for n in range(0, pulled.shape[1], n_targets))
        return [
            np.asarray(part - self.correlation + self.quadratic.gradient(B))
            for part, B in zip(parts, several, strict=True)
        ]

    def block(self, features: Ints) -> Floats:
        """Compute the Hessian of some features; what was asked for before is remembered."""
        if self.hessian is not None:
            return self.hessian[np.ix_(features, features)]
        new = np.setdiff1d(features, self._seen)
        if len(self._seen) + len(new) > MOST_REMEMBERED:
            return self.part(features, features)
        if len(new):
            cross, corner = self.part(self._seen, new), self.part(new, new)
            self._seen_block = np.block([[self._seen_block, cross], [cross.T, corner]])
            self._seen = np.concatenate([self._seen, new])
        order = np.argsort(self._seen)
        place = order[np.searchsorted(self._seen, features, sorter=order)]
        return self._seen_block[np.ix_(place, place)]

    def entries_are_fewer(self, features: Ints) -> bool:
        """Tell whether steps through the entries of a sparse X cost less than through a Hessian."""
        if not isinstance(self.X, SparseDesign) or not isinstance(self.quadratic, Ridge):
            return False
        return bool(ENTRY_COST * np.diff(self.X.A.indptr)[features].sum() < len(features) ** 2)

    def part(self, rows: Ints, columns: Ints) -> Floats:
        """Compute some rows and columns of the Hessian."""
        product = self._by_feature[rows] @ self._by_feature[columns].T
        return np.asarray(product + 2 * self.quadratic.block(rows, columns))

    def value(self, B: Floats, gradient: Floats | None = None) -> float:
        """Compute f(B), which is quadratic: its gradient at B, where known, gives it for nothing."""
        gradient = self.gradient(B) if gradient is None else gradient
        return self._half_norm + float((B * (gradient - self.correlation)).sum() / 2)


def _products(A: Any, W: Floats) -> Floats:
    """Compute AW; of few columns one after the other, for rows that stay in the cache."""
    if not isinstance(A, np.ndarray) or W.shape[1] > FEW_COLUMNS:
        return np.asarray(A @ W)
    out, columns = np.empty((len(A), W.shape[1])), np.ascontiguousarray(W.T)
    for rows in spans(len(A), max(1, CACHED // A.shape[1])):
        for n, column in enumerate(columns):
            out[rows, n] = A[rows] @ column
    return out


def hessian_is_worth_forming(X: Design) -> bool:
    """Decide whether to form X'X: not for features many more than samples, or very many.

    It does not depend on how X is stored, so that a solver takes the same steps on dense and on sparse data.
    """
    n_samples, n_features = X.shape
    return bool(n_features <= most_worth_forming(n_samples))


def most_worth_forming(n_samples: int) -> int:
    """Return how many features, at most, have a Hessian that is worth forming."""
    return max(min(n_samples, MANY_FEATURES), FEW_FEATURES)


SINGULAR = 1e-10  # eigenvalues of X'X below this share of the largest count as zero


def largest_lambda3(X: Design, U: Floats, ridge: float = 0.0) -> float:
    """Compute the largest admissible lambda3: zero when X has a null space on which U is positive.

    It is 1 / (2 theta), theta the largest eigenvalue of U z = theta X'X z. A term ``ridge |b|^2`` in the
    objective adds 2 ridge to every eigenvalue of X'X, and then there is no null space.
    """
    X = dense(X)  # U is
    n_samples, n_features = X.shape
    if ridge > 0:
        return _with_ridge(X, U, ridge)
    if n_features > n_samples:
        # More features than samples: the null space of X has dimension at least N - M, and U, whose diagonal
        # is positive and which is close to a positive constant, is not negative on all of it. One direction
        # proves it without any decomposition.
        return 0.0 if _positive_on_null_space(X, U) else _by_eigenvalues(X, U)
    return _by_eigenvalues(X, U)


def _positive_on_null_space(X: Floats, U: Floats) -> bool:
    """Look for a z with Xz = 0 and z'Uz > 0: try the projection of a constant and of noise."""
    rng = np.random.default_rng(0)
    trial = np.column_stack([np.ones(X.shape[1]), rng.normal(size=(X.shape[1], 8))])
    Q, _ = np.linalg.qr(X.T)
    Z = trial - Q @ (Q.T @ trial)
    return bool((np.einsum("ik,ik->k", Z, U @ Z) > 1e-10 * (Z * Z).sum(axis=0)).any())


def _by_eigenvalues(X: Floats, U: Floats) -> float:
    values, vectors = np.linalg.eigh(X.T @ X)
    null = values <= SINGULAR * max(float(values[-1]), np.finfo(float).tiny)
    if null.any():
        Z = vectors[:, null]
        if float(np.linalg.eigvalsh(Z.T @ U @ Z)[-1]) > SINGULAR * float(np.abs(U).max()):
            return 0.0
    root = vectors[:, ~null] / np.sqrt(values[~null])
    theta = _largest(root.T @ U @ root)
    return 1 / (2 * theta) if theta > 0 else np.inf


def _with_ridge(X: Floats, U: Floats, ridge: float) -> float:
    """Find theta, the largest eigenvalue of K^-1/2 U K^-1/2, with K = X'X + 2 ridge and its root from X."""
    _, size, directions = np.linalg.svd(X, full_matrices=False)
    elsewhere = 1 / np.sqrt(2 * ridge)
    extra = 1 / np.sqrt(size**2 + 2 * ridge) - elsewhere

    def root(b: Floats) -> Floats:
        return np.asarray(elsewhere * b + directions.T @ (extra * (directions @ b)))

    n = len(U)
    operator = LinearOperator((n, n), lambda b: root(U @ root(b.ravel())), dtype=np.float64)
    if n <= 64:
        theta = float(np.linalg.eigvalsh(np.column_stack([operator @ e for e in np.eye(n)]))[-1])
    else:
        start = np.random.default_rng(0).normal(size=n)
        theta = float(eigsh(operator, k=1, which="LA", v0=start, return_eigenvectors=False)[0])
    return 1 / (2 * theta) if theta > 0 else np.inf


def _largest(A: Floats) -> float:
    n = len(A)
    if n == 0:  # X is zero, and U is not positive anywhere
        return 0.0
    if n <= 64:
        return float(sl.eigvalsh(A)[-1])
    operator = LinearOperator((n, n), lambda b: A @ b, dtype=np.float64)
    start = np.random.default_rng(0).normal(size=n)
    return float(eigsh(operator, k=1, which="LA", v0=start, return_eigenvectors=False)[0])
