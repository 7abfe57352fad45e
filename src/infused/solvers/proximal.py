r"""Accelerated proximal gradients with the exact proximal operator of the fused lasso.

.. math::

    \min_b f(b) + \lambda_1 |b|_1 + \lambda_2 \sum_i |b_{i+1} - b_i|

for one target on a chain: no copies, no linear systems, and exact zeros and plateaus at every step. Restarted
when the momentum points uphill (O'Donoghue and Candes 2015), so that strongly convex problems converge
linearly without their constant being known.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

from infused._typing import Floats
from infused.results import SolverResult
from infused.solvers.least_squares import LeastSquares

__all__ = ["proximal_gradient"]

CHECK_EVERY = 10


class Proximable(Protocol):
    """A penalty with a proximal operator."""

    @property
    def weight(self) -> float: ...

    def value(self, B: Floats) -> float: ...

    def prox(self, B: Floats, step: float = 1.0) -> Floats: ...


def proximal_gradient(
    f: LeastSquares, penalty: Proximable, *, max_iter: int = 20_000, tol: float = 1e-4
) -> SolverResult:
    """Minimise f + penalty; the certificate is the largest proximal gradient step, relative to lambda1."""
    step = 1 / _largest_curvature(f)
    b = np.zeros(f.shape)
    point, momentum = b, 1.0
    objective: list[float] = []
    certificate, reason, converged = np.inf, f"the {max_iter} iterations ran out", False
    for k in range(1, max_iter + 1):
        b_next = penalty.prox(point - step * f.gradient(point), step)
        if ((point - b_next) * (b_next - b)).sum() > 0:
            momentum = 1.0
        momentum_next = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        point = b_next + (momentum - 1) / momentum_next * (b_next - b)
        b, momentum = b_next, momentum_next
        if k % CHECK_EVERY == 0 or k == max_iter:
            gradient = f.gradient(b)
            objective.append(f.value(b, gradient) + penalty.value(b))
            move = np.abs(b - penalty.prox(b - step * gradient, step)).max() / step
            certificate = float(move) / (penalty.weight or f.largest_correlation)
            if certificate <= tol:
                reason, converged = f"the optimality conditions hold to {certificate:.1e}", True
                break
    empty = np.empty(0)
    return SolverResult(b, np.array(objective), empty, empty, k, converged, reason, certificate)


def _largest_curvature(f: LeastSquares) -> float:
    """The largest eigenvalue of the Hessian, by Lanczos iteration, with a margin."""
    n = f.shape[0]
    if n < 3:
        basis = np.eye(n)
        return float(np.linalg.norm(np.column_stack([_hessian_product(f, b) for b in basis]), 2)) + 1e-300
    operator = LinearOperator((n, n), lambda b: _hessian_product(f, b), dtype=np.float64)
    start = np.random.default_rng(0).normal(size=n)
    top = eigsh(operator, k=1, which="LA", v0=start, tol=1e-3, return_eigenvectors=False)[0]
    return max(1.01 * float(top), np.finfo(float).tiny)


def _hessian_product(f: LeastSquares, b: Floats) -> Floats:
    B = np.repeat(b.reshape(-1, 1), f.shape[1], axis=1)
    return np.asarray((f.gradient(B) + f.correlation)[:, 0])
