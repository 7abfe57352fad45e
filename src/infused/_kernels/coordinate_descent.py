"""Block coordinate descent on a small quadratic problem."""

from __future__ import annotations

import math

import numpy as np
from numba import float64, int64
from scipy.linalg.lapack import dposv

from infused._kernels.compiled import compiled, filled, given
from infused._typing import Floats, Ints

MEMORY = 5  # epochs between extrapolations, and iterates that one combines
RIDGE = 1e-12  # of the trace, when the differences of iterates are nearly dependent
ONES = np.ones(MEMORY)


@compiled(
    given(float64, 2),
    given(int64, 1),
    given(float64, 1),
    given(float64, 1),
    float64,
    filled(float64, 2),
    filled(float64, 2),
    filled(float64, 2),
    filled(float64, 2),
    returns=int64,
)
def epochs(
    H: Floats,
    starts: Ints,
    curvature: Floats,
    thresholds: Floats,
    tol: float,
    B: Floats,
    G: Floats,
    past_B: Floats,
    past_G: Floats,
) -> int:
    """Passes over all blocks of min 1/2 tr BHB' - tr BC' + sum_g threshold_g |B_g|, in place.

    B is targets x coordinates, G = BH - C its gradient, kept up to date; block g holds the coordinates
    ``starts[g]`` to ``starts[g + 1]``. Each block takes a proximal gradient step of its own: for a block of
    one coordinate that is its minimum. Passes until no step times the block's curvature is longer than
    ``tol``: that is zero at an optimum and only there. Returns how many were not the last; the iterate after
    each is in ``past_B`` and ``past_G``, as many as these have rows.
    """
    n_targets, n = B.shape
    for k in range(past_B.shape[0]):
        largest = 0.0
        for g in range(len(curvature)):
            bend = curvature[g]
            if bend <= 0.0:
                continue
            square = 0.0
            for i in range(starts[g], starts[g + 1]):
                for t in range(n_targets):
                    z = B[t, i] - G[t, i] / bend
                    square += z * z
            norm = math.sqrt(square)
            keep = 0.0
            if bend * norm > thresholds[g]:
                keep = 1.0 - thresholds[g] / (bend * norm)
            moved = 0.0
            for i in range(starts[g], starts[g + 1]):
                for t in range(n_targets):
                    # What a coordinate moves is kept in the next row of the past until all have moved.
                    step = keep * (B[t, i] - G[t, i] / bend) - B[t, i]
                    past_B[k, t * n + i] = step
                    moved += step * step
            if moved == 0.0:
                continue
            if bend * math.sqrt(moved) > largest:
                largest = bend * math.sqrt(moved)
            for i in range(starts[g], starts[g + 1]):
                for t in range(n_targets):
                    step = past_B[k, t * n + i]
                    if step != 0.0:
                        B[t, i] += step
                        for j in range(n):
                            G[t, j] += step * H[i, j]  # H is symmetric
        if largest <= tol:
            return k
        for t in range(n_targets):
            for i in range(n):
                past_B[k, t * n + i] = B[t, i]
                past_G[k, t * n + i] = G[t, i]
    return past_B.shape[0]  # type: ignore[no-any-return]


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
    G = B @ H - C
    past_B, past_G = np.empty((2, MEMORY + 1, B.size))
    taken = 0
    while taken < max_epochs:
        room = min(MEMORY + 1, max_epochs - taken)
        k = epochs(H, starts, curvature, thresholds, tol, B, G, past_B[:room], past_G[:room])
        if k < room:
            return int(taken + k + 1)
        taken += room
        if room > MEMORY:
            _extrapolate(past_B, past_G, C, B, G, starts, thresholds)
    return max_epochs


def _extrapolate(
    past_B: Floats, past_G: Floats, C: Floats, B: Floats, G: Floats, starts: Ints, thresholds: Floats
) -> None:
    """Put the best combination of the past iterates in the place of B and G, if it is better."""
    steps = past_B[1:] - past_B[:-1]
    A = steps @ steps.T
    trace = A.trace()
    if not trace > 0.0:
        return
    A.flat[:: MEMORY + 1] += RIDGE * trace
    weights, failed = dposv(A, ONES)[1:]
    total = weights.sum()
    if failed or not abs(total) > 0.0:
        return
    weights /= total
    ahead_B, ahead_G = (weights @ past_B[1:]).reshape(B.shape), (weights @ past_G[1:]).reshape(B.shape)
    if _objective(ahead_B, ahead_G, C, starts, thresholds) < _objective(B, G, C, starts, thresholds):
        B[:], G[:] = ahead_B, ahead_G


def _objective(B: Floats, G: Floats, C: Floats, starts: Ints, thresholds: Floats) -> float:
    """1/2 tr B(G - C)' + sum_g threshold_g |B_g|."""
    squares = np.einsum("ti,ti->i", B, B)
    if len(starts) <= len(squares):
        squares = np.add.reduceat(squares, starts[:-1])
    return float(0.5 * np.vdot(B, G - C) + thresholds @ np.sqrt(squares))
