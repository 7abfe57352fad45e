"""The proximal operator of total variation along a chain, exactly, in O(N)."""

from __future__ import annotations

import numpy as np

from infused._kernels.compiled import compiled
from infused._typing import Floats


@compiled
def total_variation_prox(y: Floats, weight: float) -> Floats:
    """argmin_x 1/2 |x - y|^2 + weight sum_i |x_{i+1} - x_i|, by dynamic programming (Johnson 2013).

    Going right, the derivative of the best value of the first i terms, as a function of x_i, is piecewise
    linear and increasing. Clipping it to [-weight, weight] and adding x_{i+1} - y_{i+1} gives the next one:
    two new knots, and those beyond them vanish. Going left, each x_i is its right neighbour clipped to the
    two knots. Each knot enters and leaves once.
    """
    n = len(y)
    if n == 0 or weight <= 0.0:
        return y.copy()
    knot = np.empty(2 * n)  # places where the slope of the derivative changes, increasing
    slope = np.empty(2 * n)  # and the linear function that is added there
    offset = np.empty(2 * n)
    low = np.empty(n)
    high = np.empty(n)
    first, last = n, n - 1  # no knots yet
    # The derivative is left_slope x + left_offset to the left of all knots, and likewise to their right.
    left_slope, left_offset = 1.0, -y[0]
    right_slope, right_offset = 1.0, -y[0]
    for i in range(n - 1):
        a, b = left_slope, left_offset
        while first <= last and a * knot[first] + b < -weight:
            a += slope[first]
            b += offset[first]
            first += 1
        low[i] = (-weight - b) / a
        c, d = right_slope, right_offset
        while first <= last and c * knot[last] + d > weight:
            c -= slope[last]
            d -= offset[last]
            last -= 1
        high[i] = (weight - d) / c
        first -= 1
        knot[first], slope[first], offset[first] = low[i], a, b + weight
        last += 1
        knot[last], slope[last], offset[last] = high[i], -c, weight - d
        left_slope, left_offset = 1.0, -weight - y[i + 1]
        right_slope, right_offset = 1.0, weight - y[i + 1]
    a, b = left_slope, left_offset
    while first <= last and a * knot[first] + b < 0.0:
        a += slope[first]
        b += offset[first]
        first += 1
    x = np.empty(n)
    x[n - 1] = -b / a
    for i in range(n - 2, -1, -1):
        x[i] = min(max(x[i + 1], low[i]), high[i])
    return x
