r"""Algorithm 1 of the paper.

.. math::

    \min_B \tfrac12 |Y - XB|^2 + \mathrm{tr}(B'SB) + \lambda_1 \sum_i |b_i| + \lambda_2 \sum_e |(CB)_e|

Copies p of B and q of CB carry the two norms; u and v are the multipliers of B = p and CB = q. The letters
are the paper's, except that one weight mu serves both constraints and is also the step of u and v.

Two forms of one algorithm. With the Hessian at hand, D = X'X + 2S + mu (I + C'C), as printed. Without it, S
is not part of D but acts on the sparse copy p by its gradient: a product with S then costs only its columns
where p is not zero, and D is left to the Woodbury identity.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from infused._design import Design, dense
from infused._typing import Array, Floats, Ints
from infused.penalties.norms import RowGroups
from infused.solvers.least_squares import LeastSquares, RowPenalty
from infused.solvers.result import Settled, SolverResult, SplitState, Stopping

CHECK_EVERY = 10
BALANCE_AT = (10, 20, 40, 80, 160, 320)  # iterations at which mu may change: each change factors D anew
MOST_CHANGE, WORTH_IT = 10.0, 1.5
FIRST_MU = 0.5
RELAXATION = 1.7


def split_bregman(
    f: LeastSquares,
    penalty: RowPenalty,
    C: sp.csr_array,
    lambda2: float,
    *,
    max_iter: int = 2000,
    tol: float = 1e-4,
    start: SplitState | None = None,
    stop_early: bool = True,
    settled: Settled | None = None,
) -> SolverResult:
    """Solve the problem above, until its optimality conditions hold to ``tol`` relative to lambda1.

    With ``settled``, until it is content as well: see :class:`Stopping`. ``stop_early=False`` runs all
    iterations with one mu, as published, whatever the conditions say.
    """
    iteration = _Iteration(f, penalty, C, lambda2, start)
    objective, primal, dual = [], [], []
    certificate, stopping, failure = np.inf, Stopping(tol, settled), None
    for k in range(1, max_iter + 1):
        with np.errstate(over="ignore", invalid="ignore"):  # what leaves the range is told below
            r, s = iteration.step()
            objective.append(iteration.objective())
        primal.append(r)
        dual.append(s)
        if not np.isfinite(objective[-1]):
            failure = "the iterates left the range of floating point: the objective has no minimum"
            break
        if k % CHECK_EVERY == 0 or k == max_iter:
            certificate = iteration.violation() / (penalty.weight or f.largest_correlation)
            if stop_early and stopping.enough(certificate, iteration.p, iteration.gradient):
                break
        if k in BALANCE_AT and stop_early:
            iteration.balance(r, s)
    converged, reason = stopping.end(certificate if stop_early else np.inf, max_iter)
    return SolverResult(
        coef=iteration.p,
        objective=np.array(objective),
        primal_residuals=np.array(primal),
        dual_residuals=np.array(dual),
        n_iter=len(objective),
        converged=converged and failure is None,
        reason=failure or reason,
        certificate=float(certificate),
        gradient=iteration.gradient,
        state=SplitState(iteration.p, iteration.q, iteration.u, iteration.v, iteration.mu),
    )


class _Iteration:
    """The variables of Algorithm 1 and one step of it."""

    def __init__(
        self, f: LeastSquares, first: RowPenalty, C: sp.csr_array, lambda2: float, start: SplitState | None
    ):
        self.f = f
        self._given = C
        # Without edges a plain array of no rows: a product with it costs next to nothing.
        self.C = C if C.shape[0] else np.zeros(C.shape)
        self.Ct = C.T.tocsr() if C.shape[0] else self.C.T
        self.first, self.second = first, RowGroups(lambda2)
        start = _at_zero(f, C) if start is None else start
        self.b = start.p
        self.p, self.q, self.u, self.v, self.mu = start.p, start.q, start.u, start.v, start.mu
        self._evaluate()
        self.D = self._system()

    def step(self) -> tuple[float, float]:
        """Go through the lines of Algorithm 1 once; return the primal and the dual residual."""
        f, C, mu = self.f, self.C, self.mu
        p, q, u, v = self.p, self.q, self.u, self.v
        b = self.D.solve(f.correlation + mu * p - u + self.Ct @ (mu * q - v))  # Eq. (9)
        Cb = C @ b
        mixed, mixed_C = _relaxed(b, p), _relaxed(Cb, q)
        p_next = self._shrink(mixed + u / mu)
        q_next = self.second.prox(mixed_C + v / mu, 1 / mu)
        self.u = u + mu * (mixed - p_next)
        self.v = v + mu * (mixed_C - q_next)
        self.b, self.p, self.q = b, p_next, q_next
        self._evaluate()
        primal = np.sqrt(((b - p_next) ** 2).sum() + ((Cb - q_next) ** 2).sum())
        dual = mu * np.linalg.norm(p_next - p + self.Ct @ (q_next - q))
        return float(primal), float(dual)

    def _evaluate(self) -> None:
        """Compute the gradient at p, and its part from the quadratic term where p carries that term."""
        self.own = None if self.f.hessian is not None else self.f.quadratic.gradient(self.p)
        self.gradient = self.f.gradient(self.p, self.own)

    def _shrink(self, B: Floats) -> Floats:
        """Step in p: soft thresholding, after a gradient step where p carries the quadratic term."""
        if self.own is None:
            return self.first.prox(B, 1 / self.mu)
        curvature = self.f.quadratic.curvature
        total = self.mu + curvature
        pull = curvature * self.p - self.own
        return self.first.prox((self.mu * B + pull) / total, 1 / total)

    def objective(self) -> float:
        """Compute the objective at p, which has the exact zeros."""
        smooth = self.f.value(self.p, self.gradient)
        return smooth + self.first.value(self.p) + self.second.value(self.C @ self.p)

    def violation(self) -> float:
        """Measure how far p and v are from the optimality conditions.

        -grad f(p) - C'v must be a subgradient of the first norm at p, and v one of the second at Cp.
        """
        Cp = self.C @ self.p
        stationary = self.first.distance(self.p, self.gradient + self.Ct @ self.v).max()
        slack = self.second.value(Cp) - float((self.v * Cp).sum())
        size = float(np.linalg.norm(self.p, axis=1).sum())
        return float(max(stationary, slack / size if size else 0.0))

    def balance(self, primal: float, dual: float) -> None:
        """Change mu so that both residuals, relative to what they are residuals of, come closer."""
        scale_p = float(max(np.linalg.norm(self.b), np.linalg.norm(self.p)))
        scale_d = float(np.linalg.norm(self.u + self.Ct @ self.v))
        if min(primal, dual, scale_p, scale_d) <= 0:
            return
        factor = float(np.clip(np.sqrt(primal / scale_p * scale_d / dual), 1 / MOST_CHANGE, MOST_CHANGE))
        if not 1 / WORTH_IT < factor < WORTH_IT:
            self.mu *= factor
            self.D = self._system()

    def _system(self) -> System:
        if self.f.hessian is not None:
            return Inverse(self.f.hessian, self._given, self.mu)
        return Woodbury(self.f.X, self._given, self.mu)


def _relaxed(new: Floats, copy: Floats) -> Floats:
    return np.asarray(RELAXATION * new + (1 - RELAXATION) * copy)


class System(Protocol):
    """D for one mu, ready to be solved with."""

    def solve(self, right_side: Floats) -> Floats:
        """Compute D^-1 right_side, features x targets."""
        ...


class Inverse:
    """D^-1 itself: one factorisation, then a matrix product for every iteration."""

    def __init__(self, hessian: Floats, C: sp.csr_array, mu: float):
        D = hessian + mu * (C.T @ C).toarray()
        D[np.diag_indices_from(D)] += mu
        try:
            factor = sl.cholesky(D, lower=True, overwrite_a=True, check_finite=False)
        except sl.LinAlgError:  # past the limit of the published model D may be indefinite
            with warnings.catch_warnings():  # how exact the result is, its certificate tells
                warnings.simplefilter("ignore", sl.LinAlgWarning)
                self._inverse = _inverse(hessian + mu * (C.T @ C).toarray() + mu * np.eye(len(hessian)))
            return
        inverse, _ = sl.lapack.dpotri(factor, lower=True, overwrite_c=True)
        self._inverse = np.tril(inverse) + np.tril(inverse, -1).T

    def solve(self, right_side: Floats) -> Floats:
        """See :class:`System`."""
        return np.asarray(self._inverse @ right_side)


def _inverse(D: Floats) -> Floats:
    """Invert a symmetric D; beside weights so large that mu is nothing, the part that is not zero."""
    try:
        return np.asarray(sl.inv(D))
    except sl.LinAlgError:
        return np.asarray(sl.pinvh(D))


class _SparsePart:
    """K = mu (I + C'C), factored: cheap for a chain or a grid."""

    def __init__(self, C: sp.csr_array, mu: float):
        self._mu = mu
        self._factor = None
        if C.shape[0]:
            K = sp.csc_matrix(mu * (C.T @ C + sp.eye_array(C.shape[1])))
            self._factor = splu(K, diag_pivot_thresh=0.0, options={"SymmetricMode": True})

    def solve(self, right_side: Floats) -> Floats:
        if self._factor is None:
            return np.asarray(right_side / self._mu)
        return np.asarray(self._factor.solve(np.ascontiguousarray(right_side)))


class Woodbury:
    r""":math:`D^{-1} = K^{-1} - K^{-1}X'(I + XK^{-1}X')^{-1}XK^{-1}`, with :math:`K = \mu(I + C'C)`."""

    def __init__(self, X: Design, C: sp.csr_array, mu: float):
        self._X = X = dense(X)  # as is K^-1 X'
        self._K = _SparsePart(C, mu)
        self._W = self._K.solve(np.ascontiguousarray(X.T))
        self._small = sl.cho_factor(np.eye(len(X)) + X @ self._W, lower=True)

    def solve(self, right_side: Floats) -> Floats:
        """See :class:`System`."""
        first = self._K.solve(right_side)
        return np.asarray(first - self._W @ sl.cho_solve(self._small, self._X @ first))


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
    """Extend the state of a working set to the whole problem, with everything outside at zero."""
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
