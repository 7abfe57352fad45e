"""Block coordinate descent on a small quadratic problem."""

from __future__ import annotations

import math

from numba import float64, int64

from infused._kernels.compiled import compiled, filled, given
from infused._typing import Floats, Ints


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
    return past_B.shape[0]  # type: ignore[no-any-return]  # of an array of any shape
