"""Counts of discrete features and classes, from bits or entry by entry, sums over them, and bins.

What mutual information needs of a contingency table is the sum of table[n] over the counts n of its cells,
with n log n as an integer in table[n]. Sums of integers do not depend on the order of the cells.
"""

from __future__ import annotations

from typing import Any

from numba import int64, types
from numba.extending import intrinsic

from infused._kernels.compiled import INT32S, INTS, INTS_2D, INTS_2D_OUT, INTS_OUT, WORDS_2D, compiled
from infused._kernels.cut_points import find_cuts as plain
from infused._typing import Array, Ints

#: Rows of the scratch space; from the last on, one for each code of the selected feature.
MET, REST, SUM, TOTAL = range(4)


def _popcount(typing_context: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


#: The number of bits of a word that are set: one instruction, and the compiler can do several words at once.
popcount: Any = intrinsic(_popcount)


@compiled
def plane_sums(
    planes: WORDS_2D,
    starts: INTS,
    words: INTS,
    margins: INTS_2D,
    selected: WORDS_2D,
    table: INTS,
    scratch: INTS_2D_OUT,
    joint: INTS_OUT,
    pair: INTS_OUT,
) -> None:
    """Sum over the cells of (selected feature, feature j, class), and of (selected feature, feature j).

    joint[j] = sum_abc table[n_abc] and pair[j] = sum_ab table[n_ab], for the features whose planes lie
    between consecutive ``starts``. ``selected`` holds the planes of the selected feature, one to a row. Its
    first code is not counted: it has what the others leave. Planes are counted side by side, as many as a row
    of the scratch space holds.
    """
    stop = 0
    while stop < len(joint):
        start = stop
        left = starts[start]
        while stop < len(joint) and starts[stop + 1] - left <= scratch.shape[1]:
            stop += 1
        n = starts[stop] - left
        for row in range(SUM, TOTAL + selected.shape[0]):
            for i in range(n):
                scratch[row, i] = 0
        for c in range(len(words) - 1):
            for i in range(n):
                scratch[REST, i] = margins[c, left + i]
            for a in range(1, selected.shape[0]):
                for i in range(n):
                    scratch[MET, i] = 0
                for w in range(words[c], words[c + 1]):
                    line, word = planes[w, left : left + n], selected[a, w]  # a slice has no negative indices
                    for i in range(n):
                        scratch[MET, i] += int64(popcount(line[i] & word))
                for i in range(n):
                    scratch[SUM, i] += table[scratch[MET, i]]
                    scratch[TOTAL + a, i] += scratch[MET, i]
                    scratch[REST, i] -= scratch[MET, i]
            for i in range(n):
                scratch[SUM, i] += table[scratch[REST, i]]
                scratch[TOTAL, i] += scratch[REST, i]
        for j in range(start, stop):
            joint[j], pair[j] = 0, 0
            for i in range(starts[j] - left, starts[j + 1] - left):
                joint[j] += scratch[SUM, i]
                for a in range(selected.shape[0]):
                    pair[j] += table[scratch[TOTAL + a, i]]


@compiled
def entry_sums(
    indptr: INTS,
    samples: INT32S,
    codes: INT32S,
    features: INTS,
    cell: INTS,
    weights: INTS,
    sizes: INTS,
    table: INTS,
    left: INTS_OUT,
    counts: INTS_2D_OUT,
    out: INTS_OUT,
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


@compiled
def byte_counts(rows: Array, counts: Ints) -> None:
    """Count in counts[j] how often each of the 256 values of a byte is in row j."""
    for j in range(rows.shape[0]):
        for i in range(rows.shape[1]):
            counts[j, rows[j, i]] += 1


@compiled
def byte_codes(rows: Array, table: Array, codes: Array) -> None:
    """Set codes[j, i] to the code that table[j] has for the byte rows[j, i]."""
    for j in range(rows.shape[0]):
        for i in range(rows.shape[1]):
            codes[j, i] = table[j, rows[j, i]]


find_cuts = compiled(plain)
