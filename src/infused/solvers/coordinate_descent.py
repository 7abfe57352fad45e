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

from itertools import pairwise
from typing import Protocol

import numpy as np

from infused._design import column_squares
from infused._typing import Floats, Ints
from infused.solvers.entries import descend_through_entries
from infused.solvers.least_squares import LeastSquares
from infused.solvers.result import SolverResult
from infused.solvers.small_quadratic import descend
from infused.solvers.stopping import Settled, Stopping

__all__ = ["coordinate_descent"]

FIRST_SIZE = 10  # groups in the first working set
INNER = 0.3  # how much more precise a working set is solved than the whole problem has come
TIGHTER = 0.3  # what that is multiplied with where it was not enough
MOST_ROUNDS = 200


class BlockPenalty(Protocol):
    """A weighted sum of the lengths of groups of rows."""

    @property
    def weight(self) -> float: ...

    def value(self, B: Floats) -> float: ...

    def lengths(self, B: Floats) -> Floats:
        """Of each group."""
        ...

    def distance(self, B: Floats, G: Floats) -> Floats:
        """How far each group of -G is from the subdifferential at B."""
        ...

    def members(self, groups: Ints) -> tuple[Ints, Ints]:
        """The features of some groups, one group after the other, and where each begins; then the end."""
        ...

    def thresholds(self, groups: Ints) -> Floats:
        """The weight of each of some groups."""
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
        groups = _working_set(penalty, B, gradient, size)
        epochs = _solve(f, penalty, B, groups, inner * stopping.level * scale, max_iter - n_iter)
        n_iter += epochs
        gradient = f.gradient(B)
    empty = np.empty(0)
    end = stopping.end(certificate, max_iter)
    return SolverResult(B, np.array(objective), empty, empty, n_iter, *end, certificate, gradient)


def _working_set(penalty: BlockPenalty, B: Floats, gradient: Floats, size: int) -> Ints:
    """The groups that are not zero, and as many again of those that are closest to entering or should have.

    Along a path those that are close now enter next: most solutions then take one gradient.
    """
    inside = penalty.lengths(B) > 0
    room = min(max(size, 2 * int(inside.sum())), len(inside)) - int(inside.sum())
    urgency = penalty.lengths(gradient) - penalty.thresholds(np.arange(len(inside)))
    urgency[inside] = -np.inf
    if room > 0:
        inside[np.argpartition(-urgency, room - 1)[:room]] = True
    return np.flatnonzero(inside)


def _solve(
    f: LeastSquares, penalty: BlockPenalty, B: Floats, groups: Ints, tol: float, max_epochs: int
) -> int:
    """Minimise over the features of some groups, in place; returns the epochs taken."""
    features, starts = penalty.members(groups)
    if f.entries_are_fewer(features):
        return _solve_through_entries(f, penalty, B, groups, tol, max_epochs)
    H = np.ascontiguousarray(f.block(features))
    inside = np.ascontiguousarray(B[features].T)
    # All other features are at zero, so their part of the gradient is empty.
    C = np.ascontiguousarray(f.correlation[features].T)
    curvatures, thresholds = _curvatures(H, starts), penalty.thresholds(groups)
    epochs = descend(H, C, inside, starts, curvatures, thresholds, tol, max_epochs)
    B[features] = inside.T
    return int(epochs)


def _solve_through_entries(
    f: LeastSquares, penalty: BlockPenalty, B: Floats, groups: Ints, tol: float, max_epochs: int
) -> int:
    """The same, without the Hessian of the working set."""
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


def _curvatures(H: Floats, starts: Ints) -> Floats:
    """The largest eigenvalue of each diagonal block."""
    if len(starts) == len(H) + 1:
        return np.ascontiguousarray(np.diagonal(H))
    parts = [H[first:last, first:last] for first, last in pairwise(starts)]
    return np.array([part[0, 0] if len(part) == 1 else np.linalg.eigvalsh(part)[-1] for part in parts])
