"""Coordinate descent on least squares, products with features as they are stored, and total variation."""

from __future__ import annotations

import math

import numpy as np

from infused._kernels.compiled import (
    FLOATS,
    FLOATS_2D,
    FLOATS_2D_OUT,
    FLOATS_OUT,
    INT32S,
    INTS,
    compiled,
    helper,
)
from infused._typing import Array, Floats, Ints

REASSOCIATED = {"reassoc", "contract", "nsz"}  # sums of products may be added in any order


@compiled
def epochs(
    H: FLOATS_2D,
    starts: INTS,
    curvature: FLOATS,
    thresholds: FLOATS,
    positive: bool,
    tol: float,
    B: FLOATS_2D_OUT,
    G: FLOATS_2D_OUT,
    past_B: FLOATS_2D_OUT,
    past_G: FLOATS_2D_OUT,
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


@helper
def _shrunk(z: float, threshold: float) -> float:
    """Shrink a number towards zero."""
    return z - math.copysign(threshold, z) if abs(z) > threshold else 0.0


@helper
def _settle(h: FLOATS, whole: float, total: float, d: FLOATS_OUT, slope: FLOATS_OUT) -> None:
    """Put the first coefficient without a penalty at its minimum."""
    if whole > 0.0:
        d[0] -= total / whole
        for i in range(len(h)):
            slope[i] -= total / whole * h[i]


@helper
def _step_without_penalty(
    Z: FLOATS_2D,
    h: FLOATS,
    whole: float,
    total: float,
    largest: float,
    d: FLOATS_OUT,
    slope: FLOATS_OUT,
) -> tuple[float, float]:
    """Move the other coefficients without a penalty; returns the sum of slopes and the largest step."""
    _settle(h, whole, total, d, slope)
    for k in range(1, len(d)):
        pull, bend, total = 0.0, 0.0, 0.0
        for i in range(len(h)):
            pull += Z[k, i] * slope[i]
            bend += Z[k, i] * Z[k, i] * h[i]
        if bend > 0.0 and pull != 0.0:
            d[k] -= pull / bend
            largest = max(largest, abs(pull) / math.sqrt(len(h)))
            for i in range(len(h)):
                slope[i] -= Z[k, i] * pull / bend * h[i]
    total = 0.0
    for i in range(len(h)):
        total += slope[i]
    return total, largest


@compiled
def touching_epochs(
    starts_of_columns: INT32S,
    samples: INT32S,
    values: FLOATS,
    Z: FLOATS_2D,
    h: FLOATS,
    thresholds: FLOATS,
    ridge: float,
    tol: float,
    max_epochs: int,
    b: FLOATS_OUT,
    d: FLOATS_OUT,
    slope: FLOATS_OUT,
) -> int:
    """Minimise u'e + 1/2 e'He + ridge |b|^2 + sum_j threshold_j |b_j| with e = A(b - b_0) + Zd, in place.

    b_0 is b as it is given. H is diagonal, and ``slope`` holds u + He, kept up to date; A is given by its
    columns (CSC), Z by its transpose, whose first row, if it has any, is ones: that coefficient always is at
    its minimum given the others, and its share of the slope is added at the end. Passes over all features
    alternate with as many as are needed over those that are not zero, until no step times its curvature is
    longer than ``tol`` in a pass over all. Returns the passes taken.
    """
    whole, total = 0.0, 0.0
    if len(d) > 0:
        for i in range(len(h)):
            whole += h[i]
            total += slope[i]
    bends, means = np.empty(len(b)), np.zeros(len(b))
    for j in range(len(b)):
        first = 0.0
        bends[j] = 2.0 * ridge
        for e in range(starts_of_columns[j], starts_of_columns[j + 1]):
            first += values[e] * h[samples[e]]
            bends[j] += values[e] * values[e] * h[samples[e]]
        if whole > 0.0:
            means[j] = first / whole
            bends[j] -= means[j] * first
    everything, epochs = True, 0
    while epochs < max_epochs:
        epochs += 1
        largest = 0.0
        for j in range(len(b)):
            bend = bends[j]
            if bend <= 0.0 or (b[j] == 0.0 and not everything):
                continue
            z = (bend - 2.0 * ridge) * b[j] + total * means[j]
            for e in range(starts_of_columns[j], starts_of_columns[j + 1]):
                z -= values[e] * slope[samples[e]]
            step = _shrunk(z, thresholds[j]) / bend - b[j]
            if step != 0.0:
                b[j] += step
                total += step * means[j] * whole
                largest = max(largest, bend * abs(step))
                for e in range(starts_of_columns[j], starts_of_columns[j + 1]):
                    slope[samples[e]] += values[e] * step * h[samples[e]]
        if len(d) > 1:
            total, largest = _step_without_penalty(Z, h, whole, total, largest, d, slope)
        if largest <= tol and everything:
            break
        everything = largest <= tol
    _settle(h, whole, total, d, slope)
    return epochs


@compiled(fastmath=REASSOCIATED)
def touching_dense_epochs(
    X: FLOATS_2D,
    Z: FLOATS_2D,
    h: FLOATS,
    thresholds: FLOATS,
    ridge: float,
    tol: float,
    max_epochs: int,
    b: FLOATS_OUT,
    d: FLOATS_OUT,
    slope: FLOATS_OUT,
) -> int:
    """Do what ``touching_epochs`` does for features that are rows of X, in place; returns the passes."""
    n, whole, total = X.shape[1], 0.0, 0.0
    if len(d) > 0:
        for i in range(n):
            whole += h[i]
            total += slope[i]
    bends, means = np.empty(len(b)), np.zeros(len(b))
    for j in range(len(b)):
        first, second = 0.0, 0.0
        for i in range(n):
            weighed = X[j, i] * h[i]
            first += weighed
            second += X[j, i] * weighed
        bends[j] = second + 2.0 * ridge
        if whole > 0.0:
            means[j] = first / whole
            bends[j] -= means[j] * first
    everything, epochs = True, 0
    while epochs < max_epochs:
        epochs += 1
        largest = 0.0
        for j in range(len(b)):
            bend = bends[j]
            if bend <= 0.0 or (b[j] == 0.0 and not everything):
                continue
            pull = 0.0
            for i in range(n):
                pull += X[j, i] * slope[i]
            z = (bend - 2.0 * ridge) * b[j] + total * means[j] - pull
            step = _shrunk(z, thresholds[j]) / bend - b[j]
            if step != 0.0:
                b[j] += step
                total += step * means[j] * whole
                largest = max(largest, bend * abs(step))
                for i in range(n):
                    slope[i] += X[j, i] * step * h[i]
        if len(d) > 1:
            total, largest = _step_without_penalty(Z, h, whole, total, largest, d, slope)
        if largest <= tol and everything:
            break
        everything = largest <= tol
    _settle(h, whole, total, d, slope)
    return epochs


@compiled(fastmath=REASSOCIATED)
def chosen_products(X: FLOATS_2D, rows: INTS, w: FLOATS, out: FLOATS_OUT) -> None:
    """Multiply some rows of X with w; the products of the others stay as they are in ``out``."""
    for j in rows:
        total = 0.0
        for i in range(X.shape[1]):
            total += X[j, i] * w[i]
        out[j] = total


#: What the rows of the scratch space hold, each with room for twice as many numbers as there are features.
KNOT, SLOPE, OFFSET, LOW, HIGH = range(5)


def total_variation_prox(y: Floats, weight: float) -> Floats:
    """Minimise 1/2 |x - y|^2 + weight sum_i |x_{i+1} - x_i| by dynamic programming (Johnson 2013).

    Going right, the derivative of the best value of the first i terms, as a function of x_i, is piecewise
    linear and increasing. Clipping it to [-weight, weight] and adding x_{i+1} - y_{i+1} gives the next one:
    two new knots, and those beyond them vanish. Going left, each x_i is its right neighbour clipped to the
    two knots. Each knot enters and leaves once.
    """
    x = y.copy()
    if len(y) > 0 and weight > 0.0:
        _clip_and_go_back(y, weight, np.empty((5, 2 * len(y))), x)
    return x


@compiled
def _clip_and_go_back(y: FLOATS, weight: float, scratch: FLOATS_2D_OUT, x: FLOATS_OUT) -> None:
    """Go right through the knots, where the slope of the derivative changes, and back."""
    n = len(y)
    first, last = n, n - 1  # no knots yet
    # Left of all knots the derivative is left x + left_offset, right of them right x + right_offset.
    left_offset, right_offset = -y[0], -y[0]
    for i in range(n):
        level = -weight if i < n - 1 else 0.0  # the last one is where the derivative is zero
        a, b = 1.0, left_offset
        while first <= last and a * scratch[KNOT, first] + b < level:
            a += scratch[SLOPE, first]
            b += scratch[OFFSET, first]
            first += 1
        scratch[LOW, i] = (level - b) / a
        if i < n - 1:
            c, d = 1.0, right_offset
            while first <= last and c * scratch[KNOT, last] + d > weight:
                c -= scratch[SLOPE, last]
                d -= scratch[OFFSET, last]
                last -= 1
            scratch[HIGH, i] = (weight - d) / c
            first -= 1
            scratch[KNOT, first] = scratch[LOW, i]
            scratch[SLOPE, first] = a
            scratch[OFFSET, first] = b + weight
            last += 1
            scratch[KNOT, last] = scratch[HIGH, i]
            scratch[SLOPE, last] = -c
            scratch[OFFSET, last] = weight - d
            left_offset, right_offset = -weight - y[i + 1], weight - y[i + 1]
    x[n - 1] = scratch[LOW, n - 1]
    for step in range(1, n):
        i = n - 1 - step
        value = x[i + 1]
        if value < scratch[LOW, i]:
            value = scratch[LOW, i]
        if value > scratch[HIGH, i]:
            value = scratch[HIGH, i]
        x[i] = value


@compiled(fastmath=REASSOCIATED)
def feature_products(
    A: Array, start: int, stop: int, W: Floats, missing: float, fill: Floats, out: Floats
) -> None:
    """Multiply rows of A, a feature each as it is stored, with the rows of W: out[j, t] = sum_i A_ji W_ti.

    A value that is ``missing`` counts as the ``fill`` of its feature. Sums are in double precision.
    """
    for t in range(W.shape[0]):
        for j in range(start, stop):
            own = fill[j - start]
            total = 0.0
            for i in range(A.shape[1]):
                value = A[j, i]
                total += (own if value == missing else float(value)) * W[t, i]
            out[j - start, t] = total


@compiled
def sample_products(A: Array, start: int, stop: int, W: Floats, out: Floats) -> None:
    """Add to out[t, j] = sum_i A_ij W_ti for columns of A, of which each row is a sample as it is stored."""
    for i in range(A.shape[0]):
        for t in range(W.shape[0]):
            weight = W[t, i]
            for j in range(start, stop):
                out[t, j - start] += weight * float(A[i, j])


@compiled
def feature_sums(A: Array, start: int, stop: int, missing: int, out: Ints) -> None:
    """Count the values of each feature that are not missing, and sum them and their squares, exactly."""
    for j in range(start, stop):
        present, total, squares = 0, 0, 0
        for i in range(A.shape[1]):
            value = int(A[j, i])
            there = int(value != missing)
            present += there
            total += there * value
            squares += there * value * value
        out[j - start, 0], out[j - start, 1], out[j - start, 2] = present, total, squares
