"""Equal-frequency bins of one feature after the other.

Only the order of the values and how often each occurs decide, so that any increasing transform of a feature
has the same bins.
"""

from __future__ import annotations

import numpy as np

from infused._kernels.compiled import compiled
from infused._typing import Array, Floats, Ints

DISCRETE = 32  # a feature with at most so many values is discrete,
SAMPLES_EACH = 5  # if each has at least so many samples on average


@compiled
def runs(ordered: Floats, zeros: int, values: Floats, counts: Ints) -> int:
    """Distinct values of a sorted column that has ``zeros`` zeros which are not stored; returns how many."""
    n = 0
    for x in ordered:
        if zeros > 0 and x > 0.0:
            values[n], counts[n] = 0.0, zeros
            n += 1
            zeros = 0
        if n == 0 or x != values[n - 1]:
            values[n], counts[n] = x, 0
            n += 1
        counts[n - 1] += 1
    if zeros > 0:
        values[n], counts[n] = 0.0, zeros
        n += 1
    return n


@compiled
def cut_points(values: Floats, counts: Ints, n_bins: int, cuts: Floats) -> int:
    """The largest value of every bin but the last; returns their number.

    Every value of a discrete feature has a bin of its own. Otherwise a value is heavy, and has a bin of its
    own, if it holds an equal share of what the other heavy values leave; all are, if there are at most
    ``n_bins``. The others fill the bins that are left from below, each to an equal share of what remains; a
    bin ends at a heavy value, and where one more value would take it further from its share. When no bins are
    left, a value joins the one below it.
    """
    bins, light = n_bins, 0
    for count in counts:
        light += count
    if len(values) <= DISCRETE and SAMPLES_EACH * len(values) <= light:
        cuts[: len(values) - 1] = values[:-1]
        return len(values) - 1
    heavy = np.zeros(len(values), np.bool_)
    searching = True
    while searching:
        searching = False
        for v in range(len(values)):
            if not heavy[v] and counts[v] * bins >= light:
                heavy[v] = searching = True
                light -= counts[v]
                bins -= 1
    n_cuts, filled, share_light, share_bins = 0, 0, 0, 0
    filling = False
    for v in range(len(values)):
        starts = heavy[v]
        if heavy[v]:
            filling = False
        else:
            # |filled + count - share| > |filled - share|, in integers
            full = (2 * filled + counts[v]) * share_bins > 2 * share_light
            if bins > 0 and (full or not filling):
                starts = filling = True
                filled, share_light, share_bins = 0, light, bins
                bins -= 1
            filled += counts[v]
            light -= counts[v]
        if starts and v > 0:
            cuts[n_cuts] = values[v - 1]
            n_cuts += 1
    return n_cuts


@compiled
def dense_codes(columns: Floats, ordered: Floats, n_bins: int, codes: Array, n_codes: Ints) -> None:
    """The bin of every entry; ``columns`` and ``ordered`` (each row sorted) are features x samples."""
    n_features, n_samples = columns.shape
    values, counts = np.empty(n_samples), np.empty(n_samples, np.int64)
    cuts = np.empty(max(n_bins, DISCRETE))
    for j in range(n_features):
        n = runs(ordered[j], 0, values, counts)
        n_cuts = cut_points(values[:n], counts[:n], n_bins, cuts)
        row, out = columns[j], codes[j]
        out[:] = 0
        for cut in cuts[:n_cuts]:
            for a in range(n_samples):
                out[a] += row[a] > cut
        n_codes[j] = n_cuts + 1


@compiled
def bin_of(x: float, cuts: Floats, n_cuts: int) -> int:
    """The number of cuts below x."""
    b = 0
    for cut in cuts[:n_cuts]:
        b += cut < x
    return b


@compiled
def sparse_codes(
    indptr: Ints,
    data: Floats,
    ordered: Floats,
    n_samples: int,
    n_bins: int,
    codes: Array,
    base: Array,
    n_codes: Ints,
) -> None:
    """The bin of every stored entry, none of which is zero, and in ``base`` the bin of zero.

    ``ordered`` has the entries of each feature sorted.
    """
    values, counts = np.empty(n_samples + 1), np.empty(n_samples + 1, np.int64)
    cuts = np.empty(max(n_bins, DISCRETE))
    for j in range(len(base)):
        stored = ordered[indptr[j] : indptr[j + 1]]
        n = runs(stored, n_samples - len(stored), values, counts)
        n_cuts = cut_points(values[:n], counts[:n], n_bins, cuts)
        base[j] = bin_of(0.0, cuts, n_cuts)
        for e in range(indptr[j], indptr[j + 1]):
            codes[e] = bin_of(data[e], cuts, n_cuts)
        n_codes[j] = n_cuts + 1
