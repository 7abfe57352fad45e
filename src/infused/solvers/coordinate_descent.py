r"""Coordinate descent on a working set.

.. math::

    \min_B f(B) + \lambda \sum_g w_g |B_g|

over groups of features (of one feature each, for the lasso). At most optima few groups are not zero, so the
problem is solved on a working set: those that are not zero and those that violate the optimality conditions
most. Inside, everything is a small quadratic problem with the Hessian of the working set, so an update costs
as many operations as there are features in it, whatever the number of samples. Outside, one gradient tells
which groups to add, and certifies the end.

Working sets as in Celer (Massias, Gramfort, Salmon 2018) and skglm (Bertrand et al. 2022); those update the
residual, of the length of a sample, where this updates the gradient of the working set.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from math import sqrt
from typing import Protocol

import numpy as np
from scipy.linalg.lapack import dposv

from infused import _kernels
from infused._design import SparseDesign, column_squares
from infused._typing import Floats, Ints
from infused.penalties.norms import RowGroups
from infused.solvers.least_squares import LeastSquares, RowPenalty
from infused.solvers.result import Settled, SolverResult, Stopping

FIRST_SIZE = 10  # groups in the first working set
INNER = 0.3  # how much more precise a working set is solved than the whole problem has come
TIGHTER = 0.3  # what that is multiplied with where it was not enough
MOST_ROUNDS = 200
CLOSEST = 8  # the share of the features at hand, as a divisor, that must be the closest to entering


class BlockPenalty(RowPenalty, Protocol):
    """A weighted sum of the lengths of groups of rows."""

    @property
    def positive(self) -> bool:
        """Return whether no coefficient may be negative."""
        ...

    def lengths(self, B: Floats) -> Floats:
        """Compute the length of each group."""
        ...

    def members(self, groups: Ints) -> tuple[Ints, Ints]:
        """Return the features of some groups, one after the other, and where each begins; then the end."""
        ...

    def thresholds(self, groups: Ints) -> Floats:
        """Return the weight of each of some groups."""
        ...


def coordinate_descent(
    f: LeastSquares,
    penalty: BlockPenalty,
    *,
    max_iter: int = 20_000,
    tol: float = 1e-4,
    start: SolverResult | None = None,
    settled: Settled | None = None,
) -> SolverResult:
    """Minimise f + penalty, until the optimality conditions hold to ``tol`` relative to lambda.

    With ``settled``, until it is content as well: see :class:`Stopping`.
    """
    B, gradient = np.zeros(f.shape), -f.correlation
    if start is not None:
        B, gradient = start.coef.copy(), start.gradient
    scale = penalty.weight or f.largest_correlation
    objective: list[float] = []
    n_iter, size, stopping = 0, FIRST_SIZE, Stopping(tol, settled)
    groups, inner, epochs = np.empty(0, np.int64), INNER, 0
    for _ in range(MOST_ROUNDS):
        objective.append(f.value(B, gradient) + penalty.value(B))
        violation = penalty.distance(B, gradient)
        certificate = float(violation.max(initial=0.0)) / scale
        if stopping.enough(certificate, B, gradient) or n_iter >= max_iter:
            break
        if len(groups) and np.delete(violation, groups).max(initial=0.0) > stopping.level * scale:
            size = max(size, 2 * len(groups))  # some that should have been in it were not
        inner = inner * TIGHTER if epochs == 1 else INNER  # one that ends at once has not solved the set
        groups = working_set(penalty, B, gradient, size)
        epochs = _solve(f, penalty, B, groups, inner * stopping.level * scale, max_iter - n_iter)
        n_iter += epochs
        gradient = f.gradient(B)
    empty = np.empty(0)
    end = stopping.end(certificate, max_iter)
    return SolverResult(B, np.array(objective), empty, empty, n_iter, *end, certificate, gradient)


class Screening:
    """The features that a solver has at hand, while a gradient of all is a pass over the data."""

    def __init__(self, most: int):
        self.most = most
        self.features: Ints = np.empty(0, np.int64)
        self.part: LeastSquares | None = None

    def at(self, f: LeastSquares, penalty: RowGroups, B: Floats, gradient: Floats) -> LeastSquares:
        """Return f of the features that are not zero, and of those that should enter or are closest to it.

        Those at hand are taken again while they have all that are close.
        """
        inside = penalty.lengths(B) > 0
        urgency = penalty.lengths(gradient) - penalty.thresholds(np.arange(len(B)))
        # What should enter is needed beside what is inside: were it left out, nothing would ever change.
        needed = inside | (urgency > 0)
        urgency[inside] = np.inf
        most = min(max(self.most, 2 * int(inside.sum())), len(B))
        n_close = int(inside.sum()) + most // CLOSEST
        if n_close < len(B):
            needed[np.argpartition(-urgency, n_close)[:n_close]] = True
        if self.part is None or not np.isin(np.flatnonzero(needed), self.features).all():
            chosen = np.arange(len(B)) if most == len(B) else np.argpartition(-urgency, most - 1)[:most]
            self.features = np.sort(chosen)
            self.part = f.at_hand(self.features)
        return self.part


def descent_on_screened(
    f: LeastSquares,
    penalty: RowGroups,
    screening: Screening,
    *,
    max_iter: int = 20_000,
    tol: float = 1e-4,
    start: SolverResult | None = None,
    settled: Settled | None = None,
) -> SolverResult:
    """Do what :func:`coordinate_descent` does with few gradients of all features.

    Each solution on the features at hand is checked by one gradient of all, which certifies it or shows
    what was missing.
    """
    B, gradient = np.zeros(f.shape), -f.correlation
    if start is not None:
        B, gradient = start.coef.copy(), start.gradient
    scale, empty = penalty.weight or f.largest_correlation, np.empty(0)
    objective: list[float] = []
    n_iter, stopping = 0, Stopping(tol, settled)
    for _ in range(MOST_ROUNDS):
        objective.append(f.value(B, gradient) + penalty.value(B))
        certificate = float(penalty.distance(B, gradient).max(initial=0.0)) / scale
        if stopping.enough(certificate, B, gradient) or n_iter >= max_iter:
            break
        part = screening.at(f, penalty, B, gradient)
        features = screening.features
        inner = coordinate_descent(
            part,
            penalty.restricted(features),
            max_iter=max_iter - n_iter,
            tol=INNER * stopping.level,
            start=SolverResult(
                B[features], empty, empty, empty, 0, False, "", certificate, gradient[features]
            ),
        )
        n_iter += max(inner.n_iter, 1)
        B = np.zeros(f.shape)
        B[features] = inner.coef
        gradient = f.gradient(B)
    end = stopping.end(certificate, max_iter)
    return SolverResult(B, np.array(objective), empty, empty, n_iter, *end, certificate, gradient)


MOST_AHEAD = 4  # solutions that one pass over all features certifies


def descent_along(
    f: LeastSquares,
    penalties: list[RowGroups],
    screening: Screening,
    *,
    max_iter: int = 20_000,
    tol: float = 1e-4,
) -> list[SolverResult]:
    """Do what :func:`descent_on_screened` does for one penalty after the other, a few for each gradient.

    Solutions on the features at hand, for some penalties ahead, are checked together: a pass over all
    features takes hardly longer for several of them. Where one was missing, the pass tells from where to go
    on.
    """
    results: list[SolverResult] = []
    empty = np.empty(0)
    B, gradient = np.zeros(f.shape), -f.correlation
    ahead, n_iter, failed = 1, 0, 0

    def result(B: Floats, gradient: Floats, penalty: RowGroups) -> SolverResult:
        certificate = float(penalty.distance(B, gradient).max(initial=0.0)) / (
            penalty.weight or f.largest_correlation
        )
        objective = np.array([f.value(B, gradient) + penalty.value(B)])
        end = Stopping(tol).end(certificate, max_iter)
        return SolverResult(B, objective, empty, empty, n_iter, *end, certificate, gradient)

    while len(results) < len(penalties):
        here = result(B, gradient, penalties[len(results)])
        if here.converged or failed == MOST_ROUNDS:
            results.append(here)
            n_iter, failed = 0, 0
            continue
        some = penalties[len(results) :][:ahead]
        part = screening.at(f, some[-1], B, gradient)
        features, found = screening.features, []
        start = replace(here, coef=B[features], gradient=gradient[features])
        for penalty in some:
            start = coordinate_descent(
                part, penalty.restricted(features), max_iter=max_iter, tol=INNER * tol, start=start
            )
            found.append(start)
        together = [np.zeros(f.shape) for _ in found]
        for whole, one in zip(together, found, strict=True):
            whole[features] = one.coef
        ahead, before = min(2 * ahead, MOST_AHEAD), len(results)
        for one, whole, slope in zip(found, together, f.gradients(together), strict=True):
            n_iter += max(one.n_iter, 1)
            B, gradient = whole, slope
            here = result(B, gradient, penalties[len(results)])
            if not here.converged:
                ahead, failed = max(1, (len(results) - before) // 2), failed + 1
                break
            results.append(here)
            n_iter, failed = 0, 0
    return results


def working_set(penalty: BlockPenalty, B: Floats, gradient: Floats, size: int) -> Ints:
    """Find the groups that are not zero, and as many again of those that should enter or are close to it.

    Along a path those that are close now enter next: most solutions then take one gradient.
    """
    inside = penalty.lengths(B) > 0
    room = min(max(size, 2 * int(inside.sum())), len(inside)) - int(inside.sum())
    thresholds = penalty.thresholds(np.arange(len(inside)))
    urgency = penalty.lengths(gradient) - thresholds
    urgency[inside] = -np.inf
    if room > 0:
        inside[np.argpartition(-urgency, room - 1)[:room]] = True
    return np.flatnonzero(inside & np.isfinite(thresholds))


def _solve(
    f: LeastSquares, penalty: BlockPenalty, B: Floats, groups: Ints, tol: float, max_epochs: int
) -> int:
    """Minimise over the features of some groups, in place; returns the epochs taken."""
    features, starts = penalty.members(groups)
    if f.entries_are_fewer(features) and not penalty.positive:
        return _solve_through_entries(f, penalty, B, groups, tol, max_epochs)
    H = np.ascontiguousarray(f.block(features))
    inside = np.ascontiguousarray(B[features].T)
    # All other features are at zero, so their part of the gradient is empty.
    C = np.ascontiguousarray(f.correlation[features].T)
    bend, thresholds = curvatures(H, starts), penalty.thresholds(groups)
    epochs = descend(H, C, inside, starts, bend, thresholds, tol, max_epochs, penalty.positive)
    B[features] = inside.T
    return int(epochs)


def _solve_through_entries(
    f: LeastSquares, penalty: BlockPenalty, B: Floats, groups: Ints, tol: float, max_epochs: int
) -> int:
    """Minimise over the features of some groups without the Hessian of the working set."""
    features, starts = penalty.members(groups)
    X, ridge, inside = f.X[:, features], f.quadratic.curvature / 2, B[features]
    if len(starts) == len(features) + 1:
        curvatures = column_squares(X) + 2 * ridge
    else:
        own = (f.part(features[first:last], features[first:last]) for first, last in pairwise(starts))
        curvatures = np.array([np.linalg.eigvalsh(part)[-1] for part in own])
    epochs = descend_through_entries(
        X, f.Y, ridge, inside, starts, curvatures, penalty.thresholds(groups), tol, max_epochs
    )
    B[features] = inside
    return epochs


def curvatures(H: Floats, starts: Ints) -> Floats:
    """Compute the largest eigenvalue of each diagonal block."""
    if len(starts) == len(H) + 1:
        return np.ascontiguousarray(np.diagonal(H))
    parts = [H[first:last, first:last] for first, last in pairwise(starts)]
    return np.array([part[0, 0] if len(part) == 1 else np.linalg.eigvalsh(part)[-1] for part in parts])


MEMORY = 5  # epochs between extrapolations, and iterates that one combines
RIDGE = 1e-12  # of the trace, when the differences of iterates are nearly dependent
ONES = np.ones(MEMORY)
FEW_UPDATES = 10_000  # of blocks, that plain NumPy makes in a fraction of the time of loading a kernel


class _Updates:
    """How many of this process were plain so far."""

    plain = 0

    def epochs(self, n_updates: int) -> Callable[..., int]:
        """Return what makes so many more of them."""
        if self.plain > FEW_UPDATES:
            compiled: Callable[..., int] = _kernels.epochs
            return compiled
        self.plain += n_updates
        return plain_epochs


UPDATES = _Updates()


def descend(
    H: Floats,
    C: Floats,
    B: Floats,
    starts: Ints,
    curvature: Floats,
    thresholds: Floats,
    tol: float,
    max_epochs: int,
    positive: bool = False,
) -> int:
    """Minimise over B in place, until no block wants to move by more than tol; returns the epochs taken.

    With ``positive`` no coefficient goes below zero. Every few epochs the last iterates are combined as
    Anderson (1965) does, and the combination is kept if it lowers the objective. G is affine in B, so the
    gradient of a combination is the combination of gradients: extrapolating costs no product with H (Bertrand
    and Massias 2021 use the same idea on residuals).
    """
    G = B @ H - C
    past_B, past_G = np.empty((2, MEMORY + 1, B.size))
    taken = 0
    while taken < max_epochs:
        room = min(MEMORY + 1, max_epochs - taken)
        epochs = UPDATES.epochs(room * len(curvature))
        k = epochs(H, starts, curvature, thresholds, positive, tol, B, G, past_B[:room], past_G[:room])
        if k < room:
            return int(taken + k + 1)
        taken += room
        if room > MEMORY:
            _extrapolate(past_B, past_G, C, B, G, starts, thresholds, positive)
    return max_epochs


def plain_epochs(
    H: Floats,
    starts: Ints,
    curvature: Floats,
    thresholds: Floats,
    positive: bool,
    tol: float,
    B: Floats,
    G: Floats,
    past_B: Floats,
    past_G: Floats,
) -> int:
    """Do what the kernel ``epochs`` does, to the last bit."""
    for k in range(len(past_B)):
        largest = 0.0
        for g in np.flatnonzero(~(curvature <= 0.0)).tolist():
            bend, block = float(curvature[g]), slice(starts[g], starts[g + 1])
            z = B[:, block] - G[:, block] / bend
            if positive:
                z = np.maximum(z, 0.0)
            length = bend * _norm(z)
            keep = 1.0 - thresholds[g] / length if length > thresholds[g] else 0.0
            steps = keep * z - B[:, block]
            moved = _norm(steps)
            if moved == 0.0:
                continue
            largest = max(largest, bend * moved)
            B[:, block] += steps
            for step, row in zip(steps.T, H[block], strict=True):
                G += step[:, None] * row
        if largest <= tol:
            return k
        past_B[k], past_G[k] = B.ravel(), G.ravel()
    return len(past_B)


def _norm(A: Floats) -> float:
    """Compute the length of A, adding squares one after the other, coordinate by coordinate."""
    total = 0.0
    for value in A.ravel(order="F").tolist():  # sum() adds in another way from Python 3.12 on
        total += value * value
    return sqrt(total)


def anderson(past: Floats) -> Floats | None:
    """Weigh the last iterates, one in a row, so that their combination is ahead (Anderson 1965)."""
    steps = past[1:] - past[:-1]
    A = steps @ steps.T
    trace = A.trace()
    if not trace > 0.0:
        return None
    A.flat[:: MEMORY + 1] += RIDGE * trace
    weights, failed = dposv(A, ONES)[1:]
    total = weights.sum()
    return None if failed or not abs(total) > 0.0 else weights / total


def _extrapolate(
    past_B: Floats,
    past_G: Floats,
    C: Floats,
    B: Floats,
    G: Floats,
    starts: Ints,
    thresholds: Floats,
    positive: bool = False,
) -> None:
    """Put the best combination of the past iterates in the place of B and G, if it is better."""
    weights = anderson(past_B)
    if weights is None:
        return
    ahead_B, ahead_G = (weights @ past_B[1:]).reshape(B.shape), (weights @ past_G[1:]).reshape(B.shape)
    if positive and ahead_B.min() < 0:
        return
    if _objective(ahead_B, ahead_G, C, starts, thresholds) < _objective(B, G, C, starts, thresholds):
        B[:], G[:] = ahead_B, ahead_G


def _objective(B: Floats, G: Floats, C: Floats, starts: Ints, thresholds: Floats) -> float:
    """Compute 1/2 tr B(G - C)' + sum_g threshold_g |B_g|."""
    squares = np.einsum("ti,ti->i", B, B)
    if len(starts) <= len(squares):
        squares = np.add.reduceat(squares, starts[:-1])
    return float(0.5 * np.vdot(B, G - C) + thresholds @ np.sqrt(squares))


State = tuple[Floats, Floats, Floats, Floats]


def descend_through_entries(
    X: SparseDesign,
    Y: Floats,
    ridge: float,
    B: Floats,
    starts: Ints,
    curvatures: Floats,
    thresholds: Floats,
    tol: float,
    max_epochs: int,
) -> int:
    """Minimise over B in place, until no block wants to move by more than tol; returns the epochs taken."""
    problem = _Problem(X, Y, ridge, starts, curvatures, thresholds)
    state = problem.at(B)
    past: list[State] = []
    epochs = 0
    while epochs < max_epochs:
        epochs += 1
        if problem.epoch(state) <= tol:
            break
        past.append(tuple(part.copy() for part in state))  # type: ignore[arg-type]  # of four
        if len(past) == MEMORY + 1:
            weights = anderson(np.array([B.ravel() for B, *_ in past]))
            if weights is not None:  # every part is affine in B
                parts = zip(*past[1:], strict=True)
                ahead = tuple(sum(w * one for w, one in zip(weights, part, strict=True)) for part in parts)
                state = min(state, ahead, key=problem.objective)
            past.clear()
    B[:] = state[0]
    return epochs


class _Problem:
    """What does not change from step to step."""

    def __init__(
        self, X: SparseDesign, Y: Floats, ridge: float, starts: Ints, curvatures: Floats, thresholds: Floats
    ):
        self.X, self.Y, self.ridge = X, Y, ridge
        self.starts, self.curvatures, self.thresholds = starts, curvatures, thresholds
        self.P = np.ascontiguousarray((X.A.T @ X.L).T)
        self.R = np.ascontiguousarray(X.R)
        self.V = np.ascontiguousarray((X.L.T @ X.L) @ X.R - self.P)
        self.room = np.empty((int(np.diff(starts).max(initial=0)), Y.shape[1]))

    def at(self, B: Floats) -> State:
        """Compute B, E = Y - AB, S = RB and Q = L'(E + LS)."""
        E, S = np.ascontiguousarray(self.Y - self.X.A @ B), np.ascontiguousarray(self.R @ B)
        return np.ascontiguousarray(B), E, S, np.ascontiguousarray(self.X.L.T @ (E + self.X.L @ S))

    def epoch(self, state: State) -> float:
        """Make one pass, in place; return the largest step times its curvature."""
        A, (B, E, S, Q) = self.X.A, state
        return float(
            _kernels.entries_epoch(
                A.indptr,
                A.indices,
                A.data,
                self.P,
                self.R,
                self.V,
                E,
                S,
                Q,
                B,
                self.starts,
                self.curvatures,
                self.thresholds,
                self.ridge,
                self.room,
            )
        )

    def objective(self, state: State) -> float:
        """Compute what is minimised."""
        B, E, S, _ = state
        left, squares = E + self.X.L @ S, (B * B).sum(axis=1)
        lengths = np.sqrt(np.add.reduceat(squares, self.starts[:-1]))
        return float((left * left).sum() / 2 + self.ridge * squares.sum() + self.thresholds @ lengths)
