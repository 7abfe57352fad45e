"""Equal-frequency bins of one feature after the other, in plain Python: what is compiled for many entries.

Only the order of the values and how often each occurs decide, so that any increasing transform of a feature
has the same bins. Whether a feature is discrete is decided by samples that differ: copies and weights make no
categories of measured values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from infused._kernels.compiled import FLOATS, FLOATS_2D_OUT, FLOATS_OUT, INTS, INTS_OUT

DISCRETE = 32  # a feature with at most so many values is discrete,
SAMPLES_EACH = 5  # if each has at least so many samples on average that differ in something
PART = 4  # the outermost part of an outer bin that is cut off, again and again: a quarter


def find_cuts(
    begins: INTS,
    ends: INTS,
    ordered: FLOATS,
    amount: FLOATS,
    zeros: FLOATS,
    distinct: INTS,
    n_bins: int,
    tail: float,
    values: FLOATS_OUT,
    counts: FLOATS_OUT,
    heavy: INTS_OUT,
    cuts: FLOATS_2D_OUT,
    n_cuts: INTS_OUT,
) -> None:
    """Find the largest value of every bin but the last, of each column of a CSC matrix, and their number.

    ``ordered`` has the sorted entries of each column from ``begins`` to ``ends``, ``amount`` how often each
    counts, ``zeros`` how many zeros it does not store, ``distinct`` how many of its samples differ.
    ``values``, ``counts`` and ``heavy`` are scratch space for the distinct values of one column.

    Every value of a discrete feature has a bin of its own. Otherwise a value is heavy, and has a bin of its
    own, if it holds an equal share of what the other heavy values leave; all are, if there are at most
    ``n_bins``. The others fill the bins that are left from below, each to an equal share of what remains; a
    bin ends at a heavy value, and where one more value would take it further from its share. When no bins are
    left, a value joins the one below it. Counts are whole numbers mostly, on which all of this is exact.

    With ``tail`` above zero, the quarter of the lowest bin that lies farthest out becomes a bin, then the
    outermost quarter of that, while each part counts as much as ``tail`` different samples do on average; the
    highest bin likewise. These cuts come last, out of order.
    """
    for j in range(len(n_cuts)):
        n, left = 0, zeros[j]  # distinct values, and zeros that are not stored
        for e in range(begins[j], ends[j] + 1):
            inside = e < ends[j]
            x = ordered[e] if inside else 0.0
            if left > 0.0 and (x > 0.0 or not inside):
                values[n], counts[n], heavy[n] = 0.0, left, 0
                n += 1
                left = 0.0
            if inside:
                if n == 0 or x != values[n - 1]:
                    values[n], counts[n], heavy[n] = x, 0.0, 0
                    n += 1
                counts[n - 1] += amount[e]
        bins, light = n_bins, 0.0
        for v in range(n):
            light += counts[v]
        least = tail * light / max(distinct[j], 1)
        discrete = n <= DISCRETE and SAMPLES_EACH * n <= distinct[j]
        searching = not discrete
        while searching:
            searching = False
            for v in range(n):
                if heavy[v] == 0 and counts[v] * bins >= light:
                    heavy[v] = 1
                    searching = True
                    light -= counts[v]
                    bins -= 1
        found, filled, share_light, share_bins = 0, 0.0, 0.0, 0
        filling, lowest, highest = False, 0, n
        for v in range(n):
            starts = discrete or heavy[v] == 1
            if starts:
                filling = False
            else:
                # |filled + count - share| > |filled - share|
                full = (2 * filled + counts[v]) * share_bins > 2 * share_light
                if bins > 0 and (full or not filling):
                    starts = filling = True
                    filled, share_light, share_bins = 0.0, light, bins
                    bins -= 1
                filled += counts[v]
                light -= counts[v]
            if starts and v > 0:
                cuts[j, found] = values[v - 1]
                found += 1
                lowest, highest = (v if lowest == 0 else lowest), v
        for side in range(2):
            edge, step, size = (0, 1, lowest) if side == 0 else (n - 1, -1, n - highest)
            held = 0.0
            for i in range(size):
                held += counts[edge + step * i]
            cutting = tail > 0.0 and not discrete and size > 1
            while cutting:
                i, outside = 1, counts[edge]
                # |outside + count - held / PART| <= |outside - held / PART|
                while i < size - 1 and (2 * outside + counts[edge + step * i]) * PART <= 2 * held:
                    outside += counts[edge + step * i]
                    i += 1
                cutting = outside >= least and held - outside >= least
                if cutting:
                    cuts[j, found] = values[edge + step * (i - 1 + side)]
                    found += 1
                    size, held = i, outside
                    cutting = size > 1
        n_cuts[j] = found
