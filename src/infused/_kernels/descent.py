"""Coordinate descent on least squares, dense and through stored entries."""

from __future__ import annotations

import math

import numpy as np
from numba import boolean, float64, int64

from infused._kernels.compiled import FLOATS, FLOATS_2D, FLOATS_2D_OUT, INTS, compiled
from infused._typing import Array, Floats, Ints


@compiled(
    FLOATS_2D,
    INTS,
    FLOATS,
    FLOATS,
    boolean,
    float64,
    FLOATS_2D_OUT,
    FLOATS_2D_OUT,
    FLOATS_2D_OUT,
    FLOATS_2D_OUT,
    returns=int64,
)
def epochs(
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
    """Pass over all blocks of min 1/2 tr BHB' - tr BC' + sum_g threshold_g |B_g|, in place.

    B is targets x coordinates, G = BH - C its gradient, kept up to date; block g holds the coordinates
    ``starts[g]`` to ``starts[g + 1]``. Each block takes a proximal gradient step of its own: for a block of
    one coordinate that is its minimum. With ``positive`` no coordinate goes below zero. Passes until no step
    times the block's curvature is longer than ``tol``: that is zero at an optimum and only there. Returns how
    many were not the last; the iterate after each is in ``past_B`` and ``past_G``, as many as these have
    rows.
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
                    if positive and z < 0.0:
                        continue
                    square += z * z
            norm = math.sqrt(square)
            keep = 0.0
            if bend * norm > thresholds[g]:
                keep = 1.0 - thresholds[g] / (bend * norm)
            moved = 0.0
            for i in range(starts[g], starts[g + 1]):
                for t in range(n_targets):
                    z = B[t, i] - G[t, i] / bend
                    if positive and z < 0.0:
                        z = 0.0
                    # What a coordinate moves is kept in the next row of the past until all have moved.
                    step = keep * z - B[t, i]
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


@compiled
def entries_epoch(
    starts_of_columns: Array,
    samples: Array,
    values: Floats,
    P: Floats,
    R: Floats,
    V: Floats,
    E: Floats,
    S: Floats,
    Q: Floats,
    B: Floats,
    starts: Ints,
    curvature: Floats,
    thresholds: Floats,
    ridge: float,
    step: Floats,
) -> float:
    """Pass once over all blocks of min 1/2 |Y - XB|^2 + ridge |B|^2 + sum_g threshold_g |B_g|, in place.

    X = A - LR, features in columns; A by its columns (CSC). Kept up to date: E = Y - AB, S = RB and
    Q = L'(E + LS); with P = L'A the gradient of feature j is R_j'Q - A_j'E - P_j'S + 2 ridge B_j. V = -L'X is
    what a step of a feature adds to Q. ``step`` has room for the largest block. Otherwise as the pass with a
    Gram matrix: the same blocks in the same order, with the same steps, and what it returns.
    """
    n_targets, rank = B.shape[1], S.shape[0]
    largest = 0.0
    for g in range(len(starts) - 1):
        bend = curvature[g]
        if bend <= 0.0:
            continue
        first, last = starts[g], starts[g + 1]
        square = 0.0
        for j in range(first, last):
            for t in range(n_targets):
                slope = 2.0 * ridge * B[j, t]
                for k in range(rank):
                    slope += R[k, j] * Q[k, t] - P[k, j] * S[k, t]
                for e in range(starts_of_columns[j], starts_of_columns[j + 1]):
                    slope -= values[e] * E[samples[e], t]
                z = B[j, t] - slope / bend
                step[j - first, t] = z
                square += z * z
        norm = np.sqrt(square)
        keep = max(1.0 - thresholds[g] / (bend * norm), 0.0) if norm > 0.0 else 0.0
        moved = 0.0
        for j in range(first, last):
            for t in range(n_targets):
                change = keep * step[j - first, t] - B[j, t]
                step[j - first, t] = change
                moved += change * change
        if moved == 0.0:
            continue
        largest = max(largest, bend * np.sqrt(moved))
        for j in range(first, last):
            for t in range(n_targets):
                change = step[j - first, t]
                if change != 0.0:
                    B[j, t] += change
                    for k in range(rank):
                        S[k, t] += R[k, j] * change
                        Q[k, t] += V[k, j] * change
                    for e in range(starts_of_columns[j], starts_of_columns[j + 1]):
                        E[samples[e], t] -= values[e] * change
    return largest
