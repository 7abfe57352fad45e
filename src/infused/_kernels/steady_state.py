"""The distribution of one feature's graph in O(M log M), exact to a few units in the last place.

With distinct values f_1 < ... < f_K, their counts c and the gaps between them,

    A_ab = |f_a - f_b|,   K_ab = <A_a, A_b> / (|A_a| |A_b|),   p_a = d_a / sum(d),   d_a = sum_b K_ab,

d = w * A (A w) with w_a = 1 / |A_a|: products with the matrix of distances, each two running sums. Every term
that is added is positive, so nothing cancels: offsets, outliers and ties cost no digits.
"""

from __future__ import annotations

import math

from numba import boolean, float64, int64

from infused._kernels.compiled import FLOATS, FLOATS_2D_OUT, FLOATS_OUT, INTS, compiled, helper
from infused._typing import Floats, Ints

EPS = 2.0**-52
#: What the rows of the scratch space hold, each with room for one more number than there are samples.
GAP, COUNT, NORM, WEIGHT, SHARE = range(5)


@helper
def steady_state(k: int, kernel: bool, mass: float, scratch: Floats) -> None:
    """Compute the shares of k distinct values, of total ``mass``, from GAP and COUNT.

    Only ratios of gaps matter. Dividing by the largest, rather than by a power of two, makes the graphs of
    all two-valued features with the same counts equal to the last bit.
    """
    widest = 0.0
    for a in range(k - 1):
        if scratch[GAP, a] > widest:
            widest = scratch[GAP, a]
    n_products = 0 if widest == 0.0 else 2 if kernel else 1
    # norm_a^2 = sum_b count_b (f_a - f_b)^2, by S2' = S2 + 2 g S1 + g^2 W from the left and from the right
    inside, first, second = 0.0, 0.0, 0.0
    for a in range(k):
        scratch[NORM, a] = second
        scratch[SHARE, a] = 1.0
        if n_products > 0 and a < k - 1:
            g = scratch[GAP, a] / widest
            scratch[GAP, a] = g
            inside += scratch[COUNT, a]
            second += 2.0 * g * first + g * g * inside
            first += g * inside
    inside, first, second = 0.0, 0.0, 0.0
    for step in range(k):
        a = k - 1 - step
        norm = math.sqrt(scratch[NORM, a] + second) if n_products == 2 else 1.0
        scratch[NORM, a] = norm
        scratch[WEIGHT, a] = scratch[COUNT, a] / norm
        if a > 0:
            g = scratch[GAP, a - 1]
            inside += scratch[COUNT, a]
            second += 2.0 * g * first + g * g * inside
            first += g * inside
    # share_a = sum_b weight_b |f_a - f_b|, and the same again with that as weight
    for _ in range(n_products):
        inside, total = 0.0, 0.0
        for a in range(k):
            scratch[SHARE, a] = total
            inside += scratch[WEIGHT, a]
            total += scratch[GAP, a] * inside
        inside, total = 0.0, 0.0
        for step in range(k):
            a = k - 1 - step
            scratch[SHARE, a] += total
            if a > 0:
                inside += scratch[WEIGHT, a]
                total += scratch[GAP, a - 1] * inside
            scratch[WEIGHT, a] = scratch[COUNT, a] * scratch[SHARE, a]
    total = 0.0
    for a in range(k):
        scratch[SHARE, a] /= scratch[NORM, a]
        total += scratch[COUNT, a] * scratch[SHARE, a]
    for a in range(k):
        scratch[SHARE, a] *= mass / total


@compiled(INTS, FLOATS, INTS, int64, boolean, float64, FLOATS_2D_OUT, FLOATS_OUT, FLOATS_OUT)
def column_shares(
    indptr: Ints,
    data: Floats,
    order: Ints,
    n_samples: int,
    kernel: bool,
    mass: float,
    scratch: Floats,
    out: Floats,
    base: Floats,
) -> None:
    """Compute the distributions of the columns of a CSC matrix; those of a dense one store every entry.

    No entry is so large that a difference would overflow. ``order`` sorts the entries of each column, counted
    from its first. The share of each stored entry goes to ``out``, that of a zero (of the smallest entry
    where nothing is zero) to ``base``.
    """
    for i in range(len(base)):
        first, n = indptr[i], indptr[i + 1] - indptr[i]
        n_zeros = n_samples - n
        for writing in range(2):
            k, zero, level = 0, -1, 0.0  # distinct values so far, the place of zero among them, the last one
            for e in range(n + 1):  # past the last entry there may be zeros, greater than all
                v = 0.0
                if e < n:
                    v = data[first + order[first + e]]
                if zero < 0 and n_zeros > 0 and v >= 0.0:
                    scratch[GAP, k - 1 if k > 0 else 0] = -level
                    scratch[COUNT, k] = n_zeros
                    zero, level = k, 0.0
                    k += 1
                if e < n:
                    if k == 0 or v != level:
                        scratch[GAP, k - 1 if k > 0 else 0] = v - level
                        scratch[COUNT, k] = 0.0
                        level = v
                        k += 1
                    scratch[COUNT, k - 1] += 1.0
                    if writing:
                        out[first + order[first + e]] = scratch[SHARE, k - 1]
            if writing:
                base[i] = scratch[SHARE, zero if zero > 0 else 0]
            else:
                steady_state(k, kernel, mass, scratch)
