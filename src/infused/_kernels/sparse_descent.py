"""Block coordinate descent through the stored entries of a sparse design."""

from __future__ import annotations

import numpy as np

from infused._kernels.compiled import compiled
from infused._typing import Array, Floats, Ints


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
    """One pass over all blocks of min 1/2 |Y - XB|^2 + ridge |B|^2 + sum_g threshold_g |B_g|, in place.

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
