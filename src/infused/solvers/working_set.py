r"""Algorithm 1 on the features that matter.

.. math::

    \min_B f(B) + \lambda_1 \sum_i |b_i| + \lambda_2 \sum_e |(CB)_e|

With many more features than samples most rows of the solution are zero. This solves the problem by Algorithm
1 on a working set of features, all others held at zero: an edge to one of those fuses its feature with zero.
The multipliers v of the edges that touch the working set, and zero for all others, then either prove that the
solution is one of the whole problem, or show which features to add: those where
:math:`|\nabla_i f + (C'v)_i| > \lambda_1`. The certificate is that of the whole problem.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from infused._typing import Array, Floats, Ints
from infused.solvers.least_squares import LeastSquares
from infused.solvers.result import SolverResult, SplitState
from infused.solvers.split_bregman import FIRST_MU, RowPenalty, split_bregman
from infused.solvers.stopping import Settled, Stopping

__all__ = ["split_bregman_on_working_set"]

FIRST_SIZE = 100  # features of the first working set
INNER = 0.5  # how much more precisely than the whole problem the last working set is solved
ROUGH = 0.1  # and the others, relative to how far the whole problem was from its conditions
MOST_ROUNDS = 50


def split_bregman_on_working_set(
    f: LeastSquares,
    penalty: RowPenalty,
    C: sp.csr_array,
    lambda2: float,
    *,
    max_iter: int = 2000,
    tol: float = 1e-4,
    start: SolverResult | None = None,
    settled: Settled | None = None,
) -> SolverResult:
    """Solve the problem above, until its optimality conditions hold to ``tol`` relative to lambda1.

    With ``settled``, until it is content as well: see :class:`Stopping`.
    """
    state, gradient = _at_zero(f, C), -f.correlation
    if start is not None and start.state is not None:
        state, gradient = start.state, start.gradient
    inside = np.asarray((state.p != 0).any(axis=1) | (state.u != 0).any(axis=1))
    scale = penalty.weight or f.largest_correlation
    within = np.inf if inside.any() else 0.0  # violation of the conditions in the working set
    results: list[SolverResult] = []
    left, stopping = max_iter, Stopping(tol, settled)
    for _ in range(MOST_ROUNDS):
        outside = np.where(inside, 0.0, penalty.distance(state.p, gradient + C.T @ state.v) / scale)
        certificate = max(within, float(outside.max(initial=0.0)))
        if stopping.enough(certificate, state.p, gradient) or left <= 0:
            break
        features = _grow(inside, outside)
        edges = np.flatnonzero(np.diff(C[:, features].indptr))
        inner = split_bregman(
            f.restricted(features),
            penalty,
            C[:, features][edges],
            lambda2,
            max_iter=left,
            tol=INNER * max(stopping.level, ROUGH * min(certificate, 1.0)),
            start=SplitState(state.p[features], state.q[edges], state.u[features], state.v[edges], state.mu),
        )
        results.append(inner)
        left -= inner.n_iter
        within = inner.certificate
        state = _expanded(state, inner, features, edges)
        gradient = f.gradient(state.p)
    converged, reason = stopping.end(certificate, max_iter)
    return SolverResult(
        coef=state.p,
        objective=_joined([result.objective for result in results] or [[f.value(state.p, gradient)]]),
        primal_residuals=_joined([result.primal_residuals for result in results] or [[]]),
        dual_residuals=_joined([result.dual_residuals for result in results] or [[]]),
        n_iter=max_iter - left,
        converged=converged,
        reason=reason,
        certificate=certificate,
        gradient=gradient,
        state=state,
    )


def _joined(parts: Sequence[Any]) -> Floats:
    return np.asarray(np.concatenate(parts), dtype=np.float64)


def _at_zero(f: LeastSquares, C: sp.csr_array) -> SplitState:
    n_features, n_targets = f.shape
    zero, edges = np.zeros((n_features, n_targets)), np.zeros((C.shape[0], n_targets))
    return SplitState(zero, edges, zero, edges, FIRST_MU)


def _expanded(whole: SplitState, inner: SolverResult, features: Ints, edges: Ints) -> SplitState:
    """The state of the whole problem with everything outside the working set at zero."""
    part = inner.state
    if part is None:
        raise TypeError("the inner solver keeps no state")
    p, q, u, v = (np.zeros_like(old) for old in (whole.p, whole.q, whole.u, whole.v))
    p[features], u[features], q[edges], v[edges] = part.p, part.u, part.q, part.v
    return SplitState(p, q, u, v, part.mu)


def _grow(inside: Array, violation: Floats) -> Ints:
    """Add the features that violate their conditions most, as many as there are, and return all.

    None ever leaves: a feature may be at zero only because the edges of the working set hold it there.
    """
    room = max(FIRST_SIZE, int(inside.sum()))
    violation = np.where(inside, 0.0, violation)
    chosen = np.argsort(-violation, kind="stable")[:room]
    inside[chosen[violation[chosen] > 0]] = True
    return np.flatnonzero(inside)
