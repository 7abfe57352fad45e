"""Sums of a function of the counts of a feature against cells of samples, entry by entry."""

from __future__ import annotations

from infused._kernels.compiled import INT32S, INTS, INTS_2D_OUT, INTS_OUT, compiled
from infused._typing import Array, Ints


@compiled(INTS, INT32S, INT32S, INTS, INTS, INTS, INTS, INTS, INTS_OUT, INTS_2D_OUT, INTS_OUT)
def entry_sums(
    indptr: Ints,
    samples: Array,
    codes: Array,
    features: Ints,
    cell: Ints,
    weights: Ints,
    sizes: Ints,
    table: Ints,
    left: Ints,
    counts: Ints,
    out: Ints,
) -> None:
    """Set out[i] = sum_zb table[n_zb], over cells z of samples and codes b of feature features[i].

    ``cell`` says in which cell each sample is, ``weights`` how often it counts, and ``sizes`` how many a cell
    has. All samples start at the feature's base; each stored entry then moves one of them to its own code.
    ``left``, a copy of ``sizes``, and ``counts``, cells x codes and all zero, are scratch space and are left
    as they came.
    """
    at_base = 0
    for z in range(len(sizes)):
        at_base += table[sizes[z]]
    for i in range(len(features)):
        start, stop = indptr[features[i]], indptr[features[i] + 1]
        total = at_base
        for e in range(start, stop):
            z, w = cell[samples[e]], weights[samples[e]]
            n, m = left[z], counts[z, codes[e]]
            total += table[n - w] - table[n] + table[m + w] - table[m]
            left[z] = n - w
            counts[z, codes[e]] = m + w
        out[i] = total
        for e in range(start, stop):
            z = cell[samples[e]]
            left[z] = sizes[z]
            counts[z, codes[e]] = 0
