r"""Newton steps through the solvers of least squares, for penalties that only those can take.

.. math::

    \min_{B, D} f(XB + ZD) + \mathrm{tr}(B'SB) + \Omega(B)

with f any convex, smooth loss of the predictions. At predictions :math:`\eta` with slope g and a diagonal
curvature h, the parabola that touches f is least squares with weights h and the target
:math:`z = \eta - g / h`, which is what Fisher's scoring solves again and again. A step goes to its minimum,
or part of the way where f is no lower there. The certificate is that of the last step, and by how much the
gradient of f differs from that of the parabola there: the optimality conditions of f itself hold to the sum.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from infused._typing import Floats
from infused.solvers.least_squares import LeastSquares, hessian_is_worth_forming
from infused.solvers.proximal_newton import DESCENT, MOST_HALVINGS, ROUNDING, Loss, largest_row
from infused.solvers.result import Settled, SolverResult, Stopping

INNER, LOOSEST = 0.1, 0.1  # of the violation so far, and at most, that a step leaves
MOST_STEPS = 200


def reweighted(
    f: Loss,
    norms: Callable[[Floats], float],
    solve: Callable[[LeastSquares, float, SolverResult | None], SolverResult],
    scale: float,
    *,
    tol: float = 1e-4,
    start: SolverResult | None = None,
    settled: Settled | None = None,
) -> SolverResult:
    """Minimise f + norms, until the optimality conditions hold to ``tol`` relative to ``scale``.

    ``solve`` minimises least squares + norms to a tolerance relative to the same scale, from a start.
    With ``settled``, until it is content as well: see :class:`Stopping`.
    """
    B, D = f.at(start)
    eta = f.predictions(B, D)
    here = f.value(eta, B) + norms(B)
    before = None if start is None else replace(start, gradient=f.gradient(eta, B)[0])
    objective, stopping, n_iter, certificate = [here], Stopping(tol, settled), 0, np.inf
    for _ in range(MOST_STEPS):
        touching = f.least_squares(eta, f.X)
        dense = hessian_is_worth_forming(touching.X)
        precision = min(max(INNER * certificate, INNER * stopping.level), LOOSEST)
        last = solve(LeastSquares(touching.X, touching.Y, f.quadratic, dense), precision, before)
        n_iter += last.n_iter
        step = last.coef - B, touching.free(last.coef) - D
        share, there = _search(f, norms, B, eta, step, here)
        B, D = B + share * step[0], D + share * step[1]
        eta = f.predictions(B, D)
        gradient, slope = f.gradient(eta, B)
        if share == 1.0:
            off = largest_row(gradient - last.gradient) + f.unmet(slope)
            certificate = last.certificate + off / scale
        gained, here = here - there, there
        objective.append(here)
        state = None if last.state is None else replace(last.state, p=B)
        before = last = replace(last, coef=B, gradient=gradient, state=state)
        if share == 1.0 and stopping.enough(certificate, B, gradient):
            break
        if gained <= ROUNDING * abs(here) and share < 1:
            break
    converged, reason = stopping.end(certificate, MOST_STEPS)
    return replace(
        last,
        objective=np.array(objective),
        n_iter=n_iter,
        converged=converged,
        reason=reason,
        certificate=certificate,
        free=D,
    )


def _search(
    f: Loss,
    norms: Callable[[Floats], float],
    B: Floats,
    eta: Floats,
    step: tuple[Floats, Floats],
    here: float,
) -> tuple[float, float]:
    """Return the share of a step at which the objective is lower, and the objective there."""
    ahead = f.predictions(*step)
    gradient, slope = f.gradient(eta, B)
    promise = float((gradient * step[0]).sum() + (slope * step[1]).sum()) + norms(B + step[0]) - norms(B)
    share = 1.0
    for _ in range(MOST_HALVINGS):
        there = f.value(eta + share * ahead, B + share * step[0]) + norms(B + share * step[0])
        if there <= here + DESCENT * share * promise + ROUNDING * abs(here):
            return share, there
        share /= 2
    return 0.0, here
