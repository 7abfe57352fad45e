r"""Coordinate descent on the features of a working set through the entries of a sparse design.

.. math::

    \min_B \tfrac12 |Y - XB|^2 + \rho |B|^2 + \lambda \sum_g w_g |B_g|, \qquad X = A - LR

A step of a feature costs as many operations as it has entries, where the Hessian of the working set would
cost as many as the set has features. The steps are the same.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from infused import _kernels
from infused._design import SparseDesign
from infused._typing import Floats, Ints

__all__ = ["descend_through_entries"]

MEMORY = 5  # epochs between extrapolations, and iterates that one combines
RIDGE = 1e-12  # of the trace, when the differences of iterates are nearly dependent
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
            ahead = _combined(past)
            if ahead is not None and problem.objective(ahead) < problem.objective(state):
                state = ahead
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
        """B, E = Y - AB, S = RB and Q = L'(E + LS)."""
        E, S = np.ascontiguousarray(self.Y - self.X.A @ B), np.ascontiguousarray(self.R @ B)
        return np.ascontiguousarray(B), E, S, np.ascontiguousarray(self.X.L.T @ (E + self.X.L @ S))

    def epoch(self, state: State) -> float:
        """One pass, in place; the largest step times its curvature."""
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
        """What is minimised."""
        B, E, S, _ = state
        left, squares = E + self.X.L @ S, (B * B).sum(axis=1)
        lengths = np.sqrt(np.add.reduceat(squares, self.starts[:-1]))
        return float((left * left).sum() / 2 + self.ridge * squares.sum() + self.thresholds @ lengths)


def _combined(past: list[State]) -> State | None:
    """The best combination of the past iterates, as Anderson (1965) has it; all parts are affine in B."""
    steps = np.array([(after[0] - before[0]).ravel() for before, after in pairwise(past)])
    products = steps @ steps.T
    trace = float(np.trace(products))
    if not trace > 0.0:
        return None
    weights = np.linalg.solve(products + RIDGE * trace * np.eye(MEMORY), np.ones(MEMORY))
    if not abs(weights.sum()) > 0.0:
        return None
    weights /= weights.sum()
    parts = zip(*past[1:], strict=True)
    return tuple(sum(w * part for w, part in zip(weights, own, strict=True)) for own in parts)
