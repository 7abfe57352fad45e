r"""How large lambda3 may be in the published model.

.. math::

    \min_b \tfrac12 |y - Xb|^2 + \lambda_1 |b|_1 + \lambda_2 |Cb|_1 - \lambda_3 b'Ub

is bounded below only if :math:`X'X - 2\lambda_3 U` is positive semidefinite: along any other direction the
quadratic part falls faster than the norms can rise.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg as sl
from scipy.sparse.linalg import LinearOperator, eigsh

from infused._design import Design, dense
from infused._typing import Floats

__all__ = ["largest_lambda3"]

SINGULAR = 1e-10  # eigenvalues of X'X below this share of the largest count as zero


def largest_lambda3(X: Design, U: Floats, ridge: float = 0.0) -> float:
    """The largest admissible lambda3: zero when X has a null space on which U is positive.

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
    """Whether some direction z with Xz = 0 has z'Uz > 0: try the projection of a constant and of noise."""
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
    """theta is the largest eigenvalue of K^-1/2 U K^-1/2, with K = X'X + 2 ridge, whose root comes from X."""
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
