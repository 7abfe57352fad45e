"""The distribution of one feature's graph in O(M log M), exact to a few units in the last place.

With distinct values f_1 < ... < f_K, their counts c and the gaps between them,

    A_ab = |f_a - f_b|,   K_ab = <A_a, A_b> / (|A_a| |A_b|),   p_a = d_a / sum(d),   d_a = sum_b K_ab,

d = w * A (A w) with w_a = 1 / |A_a|: products with the matrix of distances, each two running sums. Every term
that is added is positive, so nothing cancels: offsets, outliers and ties cost no digits.
"""

from __future__ import annotations

import math

import numpy as np

from infused._kernels.compiled import compiled
from infused._typing import Floats, Ints

EPS = 2.0**-52


@compiled
def distances(weight: Floats, gap: Floats, out: Floats) -> None:
    """out_a = sum_b weight_b |f_a - f_b|."""
    k = len(weight)
    mass = 0.0
    total = 0.0
    out[0] = 0.0
    for a in range(1, k):
        mass += weight[a - 1]
        total += gap[a - 1] * mass
        out[a] = total
    mass = 0.0
    total = 0.0
    for a in range(k - 2, -1, -1):
        mass += weight[a + 1]
        total += gap[a] * mass
        out[a] += total


@compiled
def squared_distances(weight: Floats, gap: Floats, out: Floats) -> None:
    """out_a = sum_b weight_b (f_a - f_b)^2, by S2' = S2 + 2 g S1 + g^2 W."""
    k = len(weight)
    mass = 0.0
    first = 0.0
    second = 0.0
    out[0] = 0.0
    for a in range(1, k):
        g = gap[a - 1]
        mass += weight[a - 1]
        second += 2.0 * g * first + g * g * mass
        first += g * mass
        out[a] = second
    mass = 0.0
    first = 0.0
    second = 0.0
    for a in range(k - 2, -1, -1):
        g = gap[a]
        mass += weight[a + 1]
        second += 2.0 * g * first + g * g * mass
        first += g * mass
        out[a] += second


@compiled
def steady_state(gap: Floats, count: Floats, kernel: bool, mass: float, out: Floats) -> None:
    """Distribution over the distinct values, of total ``mass``; the Euclidean graph when not ``kernel``.

    Only ratios of gaps matter. Dividing by the largest, rather than by a power of two, makes the graphs of
    all two-valued features with the same counts equal to the last bit.
    """
    widest = 0.0
    for g in gap:
        widest = max(widest, g)
    if widest == 0.0:
        out[:] = mass / count.sum()
        return
    gap = gap / widest
    if kernel:
        norm = np.empty_like(count)
        squared_distances(count, gap, norm)
        norm = np.sqrt(norm)
        embedded = np.empty_like(count)
        distances(count / norm, gap, embedded)
        distances(count * embedded, gap, out)
        out /= norm
    else:
        distances(count, gap, out)
    out *= mass / (count * out).sum()


@compiled
def power_of_two_scale(largest: float) -> float:
    """A power of two that brings ``largest`` near one, so that no difference or sum overflows."""
    if largest == 0.0:
        return 1.0
    exponent = math.frexp(largest)[1]
    return math.ldexp(1.0, -min(max(exponent, -1000), 1000))


@compiled
def feature_distribution(
    value: Floats, order: Ints, n_zeros: int, kernel: bool, mass: float, out: Floats
) -> float:
    """Distribution of a column: the stored entries, sorted by ``order``, and ``n_zeros`` that are zero.

    Writes the share of each stored entry to ``out`` and returns the share of each zero (of the smallest entry
    where nothing is zero).
    """
    n = len(value)
    largest = 0.0
    for v in value:
        largest = max(largest, abs(v))
    scale = power_of_two_scale(largest)
    level = np.empty(n + 1)
    count = np.zeros(n + 1)
    group = np.empty(n, np.int64)
    k = 0  # distinct values so far
    zero = -1  # the group of the zeros
    for e in range(n):
        v = value[order[e]] * scale
        if zero < 0 and n_zeros > 0 and v >= 0.0:
            level[k], count[k] = 0.0, n_zeros
            zero = k
            k += 1
        if k == 0 or v != level[k - 1]:
            level[k] = v
            k += 1
        count[k - 1] += 1.0
        group[e] = k - 1
    if zero < 0 and n_zeros > 0:
        level[k], count[k] = 0.0, n_zeros
        zero = k
        k += 1
    share = np.empty(k)
    steady_state(level[1:k] - level[: k - 1], count[:k], kernel, mass, share)
    for e in range(n):
        out[order[e]] = share[group[e]]
    return float(share[max(zero, 0)])


@compiled
def dense_features(F: Floats, order: Ints, kernel: bool, mass: float, out: Floats) -> None:
    """Distributions of the rows of F (features x samples), with the order that sorts each row."""
    for i in range(F.shape[0]):
        feature_distribution(F[i], order[i], 0, kernel, mass, out[i])


@compiled
def sparse_features(
    indptr: Ints, data: Floats, n_samples: int, kernel: bool, mass: float, out: Floats, base: Floats
) -> None:
    """The same for the columns of a CSC matrix: ``out`` for the stored entries, ``base`` for the zeros."""
    for i in range(len(indptr) - 1):
        start, stop = indptr[i], indptr[i + 1]
        column = data[start:stop]
        n_zeros = n_samples - (stop - start)
        base[i] = feature_distribution(column, np.argsort(column), n_zeros, kernel, mass, out[start:stop])
