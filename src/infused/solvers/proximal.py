r"""Accelerated proximal gradients with the exact proximal operator of the fused lasso.

.. math::

    \min_b f(b) + \lambda_1 |b|_1 + \lambda_2 \sum_i |b_{i+1} - b_i|

for one target on a chain: no copies, no linear systems, and exact zeros and plateaus at every step.

f is quadratic, so its gradient at the extrapolated point is a combination of two gradients that are known:
one product an iteration, at the sparse iterate, serves the step, the test of its length and the certificate.
The step follows the curvature where the iterates are, which on few features is far below the largest
eigenvalue; the momentum allows for its changes (Scheinberg, Goldfarb and Bai 2014), and starts anew when it
points uphill (O'Donoghue and Candes 2015).
"""

from __future__ import annotations

import numpy as np

from infused._typing import Floats
from infused.solvers.least_squares import LeastSquares, Penalty
from infused.solvers.result import Settled, SolverResult, Stopping

CHECK_EVERY = 10
GROW, SHRINK = 1.03, 0.7  # of the step: after an iteration, and where the curvature is larger
ROUNDING = 1e-13


def proximal_gradient(
    f: LeastSquares,
    penalty: Penalty,
    *,
    max_iter: int = 20_000,
    tol: float = 1e-4,
    start: SolverResult | None = None,
    settled: Settled | None = None,
) -> SolverResult:
    """Minimise f + penalty; the certificate is the largest proximal gradient step, relative to lambda1.

    It stops at ``tol``; with ``settled``, when that is content as well: see :class:`Stopping`.
    """
    iterate = _Iterate(f, penalty, start)
    objective: list[float] = []
    certificate, stopping = np.inf, Stopping(tol, settled)
    for k in range(1, max_iter + 1):
        iterate.step()
        if k % CHECK_EVERY == 0 or k == max_iter:
            objective.append(f.value(iterate.b, iterate.gradient) + penalty.value(iterate.b))
            certificate = iterate.violation() / (penalty.weight or f.largest_correlation)
            if stopping.enough(certificate, iterate.b, iterate.gradient):
                break
    empty = np.empty(0)
    end = stopping.end(certificate, max_iter)
    return SolverResult(iterate.b, np.array(objective), empty, empty, k, *end, certificate, iterate.gradient)


class _Iterate:
    """Coefficients, their gradient, and those before."""

    def __init__(self, f: LeastSquares, penalty: Penalty, start: SolverResult | None):
        self.f, self.penalty = f, penalty
        self.b = self.b_before = np.zeros(f.shape) if start is None else start.coef
        self.gradient = self.gradient_before = -f.correlation if start is None else start.gradient
        self.momentum = 1.0
        self.length = self._first_length()
        self._noise = ROUNDING * float(np.linalg.norm(f.correlation))

    def step(self) -> None:
        """Take a proximal gradient step from an extrapolated point, as long as the curvature allows."""
        length_before, self.length = self.length, GROW * self.length
        while True:
            momentum = (1 + np.sqrt(1 + 4 * self.momentum**2 * length_before / self.length)) / 2
            ahead = (self.momentum - 1) / momentum
            point = self.b + ahead * (self.b - self.b_before)
            slope = self.gradient + ahead * (self.gradient - self.gradient_before)
            b = self.penalty.prox(point - self.length * slope, self.length)
            gradient = self.f.gradient(b)
            if not self._too_long(b - point, gradient - slope):
                break
        uphill = ((point - b) * (b - self.b)).sum() > 0
        self.momentum = 1.0 if uphill else momentum
        self.b_before, self.gradient_before = self.b, self.gradient
        self.b, self.gradient = b, gradient

    def violation(self) -> float:
        """Measure how far a step moves, by its length: zero at an optimum and only there."""
        moved = self.penalty.prox(self.b - self.length * self.gradient, self.length)
        return float(np.abs(self.b - moved).max(initial=0.0)) / self.length

    def _too_long(self, move: Floats, change: Floats) -> bool:
        """Shorten the step where it was longer than one over the curvature along its own move."""
        square, bend = float((move * move).sum()), float((move * change).sum())
        # What rounding alone can make of the bend must not shorten the step.
        if self.length * (bend - self._noise * np.sqrt(square)) <= square * (1 + 1e-10):
            return False
        self.length = min(SHRINK * self.length, 0.95 * square / bend)
        return True

    def _first_length(self) -> float:
        """Compute one over the curvature along the first gradient."""
        bend = float((self.gradient * (self.f.gradient(self.gradient) + self.f.correlation)).sum())
        square = float((self.gradient * self.gradient).sum())
        return square / bend if bend > 0 else 1.0
