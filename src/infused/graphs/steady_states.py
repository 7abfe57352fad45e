r"""Distributions of many graphs at once, exact to a few units in the last place.

With distinct values :math:`f_1 < \dots < f_K`, their counts c and the gaps between them,

.. math::

    A_{ab} = |f_a - f_b|, \quad K_{ab} = \frac{\langle A_a, A_b \rangle}{|A_a| |A_b|}, \quad
    d = w * A (A w), \quad w_a = 1 / |A_a|

are products with the matrix of distances, each two running sums. Every term that is added is positive, so
nothing cancels: offsets, outliers and ties cost no digits.

This is plain NumPy, a row for each feature: for graphs of classes, and of features where there are so few
entries that the kernels are not worth loading. Both give the same bits.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from infused import _kernels
from infused._typing import Array, Floats, Ints

__all__ = ["class_shares", "feature_shares", "worth_a_kernel"]

FEW_ENTRIES = 2**17  # that plain NumPy takes no longer for than it takes to load a kernel
FEW_SAMPLES = 2**12  # the same, where each sample is a step
EPS = 2.0**-52
SPLITTER = 2.0**27 + 1.0


def worth_a_kernel(n_features: int, n_samples: int) -> bool:
    """Whether there is so much to do that a kernel should be loaded, or compiled."""
    return n_samples > FEW_SAMPLES or n_features * n_samples > FEW_ENTRIES


def _power_of_two_scales(smallest: Floats, greatest: Floats) -> Floats:
    """Powers of two that bring each column near one, so that no difference or sum overflows."""
    largest = np.maximum(np.abs(smallest), np.abs(greatest))
    exponent = np.clip(np.frexp(largest)[1], -1000, 1000)
    return np.where(largest == 0.0, 1.0, np.ldexp(1.0, -exponent))


def feature_shares(
    indptr: Ints, data: Floats, n_samples: int, kernel: bool, mass: float, *, compiled: bool
) -> tuple[Floats, Floats]:
    """Distributions of the columns of a CSC matrix, of total ``mass``: of each entry, and of a zero in each.

    Where nothing is zero, that is the share of the smallest entry. ``compiled`` says whether the loops are.
    """
    smallest, greatest = _ends(indptr, data, n_samples)
    scales = _power_of_two_scales(smallest, greatest)
    data = data * np.repeat(scales, np.diff(indptr))
    if compiled:
        out, base, scratch = np.empty(len(data)), np.empty(len(scales)), np.empty((5, n_samples + 1))
        order = _order_of_columns(indptr, data, n_samples)
        _kernels.feature_distributions(indptr, data, order, n_samples, kernel, mass, scratch, out, base)
        return out, base
    stored = np.arange(n_samples) < np.diff(indptr)[:, None]
    F = np.zeros(stored.shape)
    F[stored] = data
    shares, base = _row_shares(F, kernel, mass)
    return shares[stored], base


def _order_of_columns(indptr: Ints, data: Floats, n_samples: int) -> Ints:
    """What sorts the entries of each column, counted from its first."""
    if len(data) == n_samples * (len(indptr) - 1):
        return np.argsort(data.reshape(-1, n_samples), axis=1).ravel()
    order = np.empty(len(data), np.int64)
    for start, stop in pairwise(indptr.tolist()):
        order[start:stop] = np.argsort(data[start:stop])
    return order


def _row_shares(F: Floats, kernel: bool, mass: float) -> tuple[Floats, Floats]:
    """The same for the rows of F."""
    order = np.argsort(F, axis=1)
    ordered = np.take_along_axis(F, order, axis=1)
    place = np.zeros(F.shape, np.int64)
    np.cumsum(ordered[:, 1:] != ordered[:, :-1], axis=1, out=place[:, 1:])
    n_levels = int(place.max(initial=0)) + 1
    cell = np.arange(len(F))[:, None] * n_levels + place
    count = np.bincount(cell.ravel(), minlength=len(F) * n_levels).reshape(len(F), n_levels)
    level = np.zeros(count.shape)
    np.put_along_axis(level, place, ordered, axis=1)
    gap = np.where(count[:, 1:] > 0, level[:, 1:] - level[:, :-1], 0.0)
    share = steady_states(gap, count.astype(np.float64), kernel, mass)
    out = np.empty(F.shape)
    np.put_along_axis(out, order, np.take_along_axis(share, place, axis=1), axis=1)
    zeros = ordered == 0.0
    first = np.where(zeros.any(axis=1), zeros.argmax(axis=1), 0)
    every = np.arange(len(F))
    return out, share[every, place[every, first]]


def class_shares(
    indptr: Ints, data: Floats, code: Ints, class_count: Floats, kernel: bool, mass: float, *, compiled: bool
) -> Floats:
    """Target distributions of the columns of a CSC matrix, columns x classes: the share of one sample each.

    The graph does not change when a feature is scaled, so a difference of class means that is only rounding
    would become structure. Sums are therefore kept in double-double precision, relative to one of the values,
    and gaps between means below 4 M eps (max f - min f) count as zero. ``code`` holds the class of each
    entry; ``compiled`` says whether its loop over entries is.
    """
    n_samples, sizes = class_count.sum(), np.diff(indptr)
    smallest, greatest = _ends(indptr, data, n_samples)
    scales = _power_of_two_scales(smallest, greatest)
    whole = sizes == n_samples
    shift = np.zeros(len(sizes))
    shift[whole] = data[indptr[:-1][whole]] * scales[whole]
    high, low = np.zeros((len(sizes), len(class_count))), np.zeros((len(sizes), len(class_count)))
    sums = _kernels.class_sums if compiled else _class_sums
    sums(indptr, data * np.repeat(scales, sizes), code, shift, high, low)
    mean = high / class_count
    back, rounding = _two_product(mean, np.broadcast_to(class_count, mean.shape))
    low = ((high - back) - rounding + low) / class_count
    noise = 4.0 * n_samples * EPS * (greatest * scales - smallest * scales)
    rank = np.argsort(mean, axis=1)
    mean, low = np.take_along_axis(mean, rank, axis=1), np.take_along_axis(low, rank, axis=1)
    gap = (mean[:, 1:] - mean[:, :-1]) + (low[:, 1:] - low[:, :-1])
    gap[~(gap > noise[:, None])] = 0.0
    out = np.empty(mean.shape)
    np.put_along_axis(out, rank, steady_states(gap, class_count[rank], kernel, mass), axis=1)
    return out


def steady_states(gap: Floats, count: Floats, kernel: bool, mass: float) -> Floats:
    """Shares of the distinct values of each row, of total ``mass``; the Euclidean graph when not ``kernel``.

    A row with fewer values than others ends with counts and gaps of zero. Only ratios of gaps matter.
    Dividing by the largest, rather than by a power of two, makes the graphs of all two-valued features with
    the same counts equal to the last bit.
    """
    widest = gap.max(axis=1, initial=0.0)[:, None]
    gap = np.divide(gap, widest, out=np.zeros_like(gap), where=widest > 0)
    share = np.ones_like(count)
    if kernel:
        norm = np.sqrt(_squared_distances(count, gap))
        norm[widest[:, 0] == 0] = 1.0
        share = _distances(count * _distances(count / norm, gap), gap) / norm
    else:
        share = _distances(count, gap)
    share[widest[:, 0] == 0] = 1.0
    return np.asarray(share * (mass / _running(count * share)[:, -1:]))


def _running(a: Floats) -> Floats:
    """Sums from the left, one term after the other, as a loop would take them."""
    return np.asarray(np.cumsum(a, axis=1))


def _distances(weight: Floats, gap: Floats) -> Floats:
    """out_a = sum_b weight_b |f_a - f_b|."""
    out = np.zeros_like(weight)
    out[:, 1:] = _running(gap * _running(weight[:, :-1]))
    out[:, :-1] += _running(gap[:, ::-1] * _running(weight[:, :0:-1]))[:, ::-1]
    return out


def _squared_distances(weight: Floats, gap: Floats) -> Floats:
    """out_a = sum_b weight_b (f_a - f_b)^2, by S2' = S2 + 2 g S1 + g^2 W."""
    out = np.zeros_like(weight)
    out[:, 1:] = _second(weight[:, :-1], gap)
    out[:, :-1] += _second(weight[:, :0:-1], gap[:, ::-1])[:, ::-1]
    return out


def _second(weight: Floats, gap: Floats) -> Floats:
    inside = _running(weight)
    first = np.zeros_like(inside)
    first[:, 1:] = _running(gap * inside)[:, :-1]
    return _running(2.0 * gap * first + gap * gap * inside)


def _ends(indptr: Ints, data: Floats, n_samples: float) -> tuple[Floats, Floats]:
    """The smallest and the greatest value of each column, those that are not stored being zero."""
    sizes = np.diff(indptr)
    smallest, greatest = np.zeros(len(sizes)), np.zeros(len(sizes))
    filled = sizes > 0
    if filled.any():
        starts = indptr[:-1][filled]
        smallest[filled], greatest[filled] = (
            np.minimum.reduceat(data, starts),
            np.maximum.reduceat(data, starts),
        )
    holes = sizes < n_samples
    smallest[holes], greatest[holes] = np.minimum(smallest[holes], 0.0), np.maximum(greatest[holes], 0.0)
    return smallest, greatest


def _class_sums(indptr: Ints, data: Floats, code: Ints, shift: Floats, high: Floats, low: Floats) -> None:
    """Add what lies above the shift to the sum of its class, and the rounding errors to ``low``."""
    sizes = np.diff(indptr)
    for step in range(int(sizes.max(initial=0))):
        rows: Array = np.flatnonzero(sizes > step)
        entry = indptr[rows] + step
        deviation, lost = _two_sum(data[entry], -shift[rows])
        cell = rows, code[entry]
        high[cell], rounding = _two_sum(high[cell], deviation)
        low[cell] += rounding + lost


def _two_sum(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """The rounded sum and its rounding error (Knuth)."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def _two_product(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """The rounded product and its rounding error (Dekker)."""
    p = a * b
    t = SPLITTER * a
    a_high = t - (t - a)
    a_low = a - a_high
    t = SPLITTER * b
    b_high = t - (t - b)
    b_low = b - b_high
    return p, ((a_high * b_high - p) + a_high * b_low + a_low * b_high) + a_low * b_low
