"""Block coordinate descent on a small quadratic problem."""

from __future__ import annotations

import numpy as np

from infused._kernels.compiled import compiled
from infused._typing import Floats, Ints

MEMORY = 5  # epochs between extrapolations, and iterates that one combines
RIDGE = 1e-12  # of the trace, when the differences of iterates are nearly dependent


@compiled
def epoch(H: Floats, B: Floats, G: Floats, starts: Ints, curvature: Floats, thresholds: Floats) -> float:
    """One pass over all blocks of min 1/2 tr BHB' - tr BC' + sum_g threshold_g |B_g|, in place.

    B is targets x coordinates, G = BH - C its gradient, kept up to date; block g holds the coordinates
    ``starts[g]`` to ``starts[g + 1]``. Each block takes a proximal gradient step of its own: for a block of
    one coordinate that is its minimum. Returns the largest step times the block's curvature, which is zero
    at an optimum and only there.
    """
    n_targets = len(B)
    largest = 0.0
    for g in range(len(starts) - 1):
        bend = curvature[g]
        if bend <= 0.0:
            continue
        first, last = starts[g], starts[g + 1]
        square = 0.0
        for i in range(first, last):
            for t in range(n_targets):
                z = B[t, i] - G[t, i] / bend
                square += z * z
        norm = np.sqrt(square)
        keep = max(1.0 - thresholds[g] / (bend * norm), 0.0) if norm > 0.0 else 0.0
        moved = 0.0
        for i in range(first, last):
            for t in range(n_targets):
                new = keep * (B[t, i] - G[t, i] / bend)
                moved += (new - B[t, i]) ** 2
        if moved == 0.0:
            continue
        largest = max(largest, bend * np.sqrt(moved))
        _move(H, B, G, first, last, bend, keep)
    return largest


@compiled
def _move(H: Floats, B: Floats, G: Floats, first: int, last: int, bend: float, keep: float) -> None:
    n_targets, n = B.shape
    change = np.empty((n_targets, last - first))
    for i in range(first, last):
        for t in range(n_targets):
            new = keep * (B[t, i] - G[t, i] / bend)
            change[t, i - first] = new - B[t, i]
            B[t, i] = new
    for i in range(first, last):
        row = H[i]  # H is symmetric
        for t in range(n_targets):
            step = change[t, i - first]
            if step != 0.0:
                gradient = G[t]
                for j in range(n):
                    gradient[j] += step * row[j]


@compiled
def objective(B: Floats, G: Floats, C: Floats, starts: Ints, thresholds: Floats) -> float:
    """1/2 tr B(G - C)' + sum_g threshold_g |B_g|."""
    total = 0.5 * np.sum(B * (G - C))
    for g in range(len(thresholds)):
        square = 0.0
        for i in range(starts[g], starts[g + 1]):
            for t in range(B.shape[0]):
                square += B[t, i] ** 2
        total += thresholds[g] * np.sqrt(square)
    return total


@compiled
def descend(
    H: Floats,
    C: Floats,
    B: Floats,
    starts: Ints,
    curvature: Floats,
    thresholds: Floats,
    tol: float,
    max_epochs: int,
) -> int:
    """Minimise over B in place, until no block wants to move by more than tol; returns the epochs taken.

    Every few epochs the last iterates are combined as Anderson (1965) does, and the combination is kept if it
    lowers the objective. G is affine in B, so the gradient of a combination is the combination of gradients:
    extrapolating costs no product with H (Bertrand and Massias 2021 use the same idea on residuals).
    """
    n_targets, n = B.shape
    G = B @ H - C
    past_B = np.empty((MEMORY + 1, n_targets, n))
    past_G = np.empty((MEMORY + 1, n_targets, n))
    kept = 0
    for k in range(1, max_epochs + 1):
        if epoch(H, B, G, starts, curvature, thresholds) <= tol:
            return k
        past_B[kept], past_G[kept] = B, G
        kept += 1
        if kept == MEMORY + 1:
            kept = 0
            _extrapolate(past_B, past_G, C, B, G, starts, thresholds)
    return max_epochs


@compiled
def _extrapolate(
    past_B: Floats, past_G: Floats, C: Floats, B: Floats, G: Floats, starts: Ints, thresholds: Floats
) -> None:
    """Put the best combination of the past iterates in the place of B and G, if it is better."""
    steps = np.empty((MEMORY, B.size))
    for m in range(MEMORY):
        steps[m] = (past_B[m + 1] - past_B[m]).ravel()
    A = steps @ steps.T
    trace = np.trace(A)
    if not trace > 0.0:
        return
    A += RIDGE * trace * np.eye(MEMORY)
    weights = np.linalg.solve(A, np.ones(MEMORY))
    total = weights.sum()
    if not abs(total) > 0.0:
        return
    weights /= total
    ahead_B, ahead_G = np.zeros_like(B), np.zeros_like(G)
    for m in range(MEMORY):
        ahead_B += weights[m] * past_B[m + 1]
        ahead_G += weights[m] * past_G[m + 1]
    if objective(ahead_B, ahead_G, C, starts, thresholds) < objective(B, G, C, starts, thresholds):
        B[:] = ahead_B
        G[:] = ahead_G
