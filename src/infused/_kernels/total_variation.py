"""The proximal operator of total variation along a chain, exactly, in O(N)."""

from __future__ import annotations

import numpy as np
from numba import float64

from infused._kernels.compiled import FLOATS, FLOATS_2D_OUT, FLOATS_OUT, compiled
from infused._typing import Floats

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


@compiled(FLOATS, float64, FLOATS_2D_OUT, FLOATS_OUT)
def _clip_and_go_back(y: Floats, weight: float, scratch: Floats, x: Floats) -> None:
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
