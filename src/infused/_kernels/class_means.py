"""The distribution of a feature's target graph, from its class means: O(M + C log C).

The graph does not change when a feature is scaled, so a difference of class means that is only rounding would
become structure. Sums are therefore kept in double-double precision, relative to one of the values, and gaps
between means below 4 M eps (max f - min f) count as zero.
"""

from __future__ import annotations

import numpy as np

from infused._kernels.compiled import compiled
from infused._kernels.steady_state import EPS, power_of_two_scale, steady_state
from infused._typing import Floats, Ints

SPLITTER = 2.0**27 + 1.0


@compiled
def two_sum(a: float, b: float) -> tuple[float, float]:
    """The rounded sum and its rounding error (Knuth)."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


@compiled
def two_product(a: float, b: float) -> tuple[float, float]:
    """The rounded product and its rounding error (Dekker)."""
    p = a * b
    t = SPLITTER * a
    a_high = t - (t - a)
    a_low = a - a_high
    t = SPLITTER * b
    b_high = t - (t - b)
    b_low = b - b_high
    return p, ((a_high * b_high - p) + a_high * b_low + a_low * b_high) + a_low * b_low


@compiled
def class_distribution(
    value: Floats, code: Ints, class_count: Floats, kernel: bool, mass: float, out: Floats
) -> None:
    """Share of each sample of class c, written to out_c; entries that are not stored are zero."""
    n_classes = len(class_count)
    seen = np.zeros(n_classes)
    smallest, greatest = np.inf, -np.inf
    for e in range(len(value)):
        seen[code[e]] += 1.0
        smallest, greatest = min(smallest, value[e]), max(greatest, value[e])
    shift = 0.0
    if len(value) == class_count.sum():
        shift = value[0]
    else:
        smallest, greatest = min(smallest, 0.0), max(greatest, 0.0)
    scale = power_of_two_scale(max(abs(smallest), abs(greatest)))
    high = np.zeros(n_classes)
    low = np.zeros(n_classes)
    for e in range(len(value)):
        c = code[e]
        deviation, lost = two_sum(value[e] * scale, -shift * scale)
        high[c], rounding = two_sum(high[c], deviation)
        low[c] += rounding + lost
    for c in range(n_classes):
        mean = high[c] / class_count[c]
        back, rounding = two_product(mean, class_count[c])
        high[c], low[c] = mean, ((high[c] - back) - rounding + low[c]) / class_count[c]
    noise = 4.0 * class_count.sum() * EPS * (greatest * scale - smallest * scale)
    rank = np.argsort(high)
    gap = np.zeros(n_classes - 1)
    for c in range(n_classes - 1):
        width = (high[rank[c + 1]] - high[rank[c]]) + (low[rank[c + 1]] - low[rank[c]])
        if width > noise:
            gap[c] = width
    share = np.empty(n_classes)
    steady_state(gap, class_count[rank], kernel, mass, share)
    out[rank] = share


@compiled
def dense_classes(F: Floats, code: Ints, class_count: Floats, kernel: bool, mass: float, out: Floats) -> None:
    """Target distributions of the rows of F (features x samples), as features x classes."""
    for i in range(F.shape[0]):
        class_distribution(F[i], code, class_count, kernel, mass, out[i])


@compiled
def sparse_classes(
    indptr: Ints, data: Floats, code: Ints, class_count: Floats, kernel: bool, mass: float, out: Floats
) -> None:
    """The same for the columns of a CSC matrix; ``code`` holds the class of each stored entry."""
    for i in range(len(indptr) - 1):
        stored = slice(indptr[i], indptr[i + 1])
        class_distribution(data[stored], code[stored], class_count, kernel, mass, out[i])
