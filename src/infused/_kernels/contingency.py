"""Counts of two discrete features and a class, and sums of a function of the counts.

What mutual information needs of a contingency table is the sum of table[n] over the counts n of its cells,
with n log n as an integer in table[n]. Sums of integers do not depend on the order of the cells.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic

from infused._kernels.compiled import compiled
from infused._typing import Array, Ints

LANES = 1024  # planes that are counted side by side; their counts stay in the first cache
BITS = 64


def _popcount(typing_context: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


#: The number of bits of a word that are set: one instruction, and the compiler can do several words at once.
popcount: Any = intrinsic(_popcount)


@compiled
def pack(row: Array, order: Ints, words: Ints, sizes: Ints, planes: Array, margins: Array) -> None:
    """One feature as bits: planes[w, b] has the samples of word w whose code is b.

    ``order`` lists the samples class by class, ``sizes`` says how many each class has, and class c fills the
    words from words[c] to words[c + 1]; margins[c, b] counts it.
    """
    planes[:] = 0
    margins[:] = 0
    place = 0
    for c in range(len(sizes)):
        for i in range(sizes[c]):
            b = row[order[place]]
            planes[words[c] + i // BITS, b] |= np.uint64(1) << np.uint64(i % BITS)
            margins[c, b] += 1
            place += 1


@compiled
def pack_dense(
    codes: Array, order: Ints, words: Ints, sizes: Ints, starts: Ints, planes: Array, margins: Array
) -> None:
    """Rows of codes as bits; feature j has the planes from starts[j] to starts[j + 1]."""
    for j in range(len(codes)):
        own = slice(starts[j], starts[j + 1])
        pack(codes[j], order, words, sizes, planes[:, own], margins[:, own])


@compiled
def pack_sparse(
    base: Array,
    indptr: Ints,
    samples: Array,
    codes: Array,
    order: Ints,
    words: Ints,
    sizes: Ints,
    starts: Ints,
    planes: Array,
    margins: Array,
) -> None:
    """As ``pack_dense``, from the entries that differ from each feature's base."""
    row = np.empty(len(order), codes.dtype)
    for j in range(len(base)):
        row[:] = base[j]
        for e in range(indptr[j], indptr[j + 1]):
            row[samples[e]] = codes[e]
        own = slice(starts[j], starts[j + 1])
        pack(row, order, words, sizes, planes[:, own], margins[:, own])


@compiled
def count_common(planes: Array, left: int, right: int, words: Array, first: int, met: Array) -> None:
    """met[i] = bits that plane left + i has in common with ``words``, which start at word ``first``."""
    met[:] = 0
    for w in range(len(words)):
        line = planes[first + w, left:right]
        word = words[w]
        for i in range(len(line)):
            met[i] += np.uint32(popcount(line[i] & word))


@compiled
def add_values(table: Ints, counts: Array, out: Ints) -> None:
    """out[i] += table[counts[i]]."""
    for i in range(len(counts)):
        out[i] += table[counts[i]]


@compiled
def add(counts: Array, out: Array) -> None:
    """out += counts; an array expression takes seconds to compile."""
    for i in range(len(counts)):
        out[i] += counts[i]


@compiled
def subtract(counts: Array, out: Array) -> None:
    """out -= counts."""
    for i in range(len(counts)):
        out[i] -= counts[i]


@compiled
def sum_lanes(lanes: Ints, starts: Ints, out: Ints) -> None:
    """out[j] = sum of the lanes of feature j."""
    for j in range(len(out)):
        total = 0
        for i in range(starts[j] - starts[0], starts[j + 1] - starts[0]):
            total += lanes[i]
        out[j] = total


@compiled
def plane_sums(
    planes: Array,
    starts: Ints,
    words: Ints,
    margins: Array,
    selected: Array,
    table: Ints,
    joint: Ints,
    pair: Ints,
) -> None:
    """Sums over the cells of (selected feature, feature j, class), and of (selected feature, feature j).

    joint[j] = sum_abc table[n_abc] and pair[j] = sum_ab table[n_ab], for the features whose planes lie
    between consecutive ``starts``. ``selected`` holds the planes of the selected feature, one to a row. Its
    first code is not counted: it has what the others leave. With one class both sums are the same, and
    ``pair`` is left alone.
    """
    n_codes, n_classes = len(selected), len(words) - 1
    met, rest = np.empty(LANES, np.uint32), np.empty(LANES, np.uint32)
    totals = np.empty((n_codes, LANES), np.uint32)
    sums = np.empty(LANES, np.int64)
    stop = 0
    while stop < len(joint):
        start = stop
        while stop < len(joint) and starts[stop + 1] - starts[start] <= LANES:
            stop += 1
        left, right = starts[start], starts[stop]
        n = right - left
        sums[:n] = 0
        totals[:, :n] = 0
        for c in range(n_classes):
            rest[:n] = 0
            add(margins[c, left:right], rest)
            for a in range(1, n_codes):
                count_common(planes, left, right, selected[a, words[c] : words[c + 1]], words[c], met[:n])
                add_values(table, met[:n], sums)
                add(met[:n], totals[a])
                subtract(met[:n], rest)
            add_values(table, rest[:n], sums)
            add(rest[:n], totals[0])
        sum_lanes(sums, starts[start : stop + 1], joint[start:stop])
        if n_classes > 1:
            sums[:n] = 0
            for a in range(n_codes):
                add_values(table, totals[a, :n], sums)
            sum_lanes(sums, starts[start : stop + 1], pair[start:stop])


@compiled
def entry_sums(
    indptr: Ints,
    samples: Array,
    codes: Array,
    features: Ints,
    n_codes: Ints,
    cell: Ints,
    weights: Ints,
    sizes: Ints,
    table: Ints,
    out: Ints,
) -> None:
    """out[i] = sum_zb table[n_zb], over cells z of samples and codes b of feature features[i].

    ``cell`` says in which cell each sample is, ``weights`` how often it counts, and ``sizes`` how many a cell
    has. All samples start at the feature's base; each stored entry then moves one of them to its own code.
    """
    at_base = 0
    for z in range(len(sizes)):
        at_base += table[sizes[z]]
    widest = 0
    for j in features:
        widest = max(widest, n_codes[j])
    left = sizes.copy()
    counts = np.zeros(len(sizes) * widest, np.int64)
    for i in range(len(features)):
        j = features[i]
        own = slice(indptr[j], indptr[j + 1])
        own_samples, own_codes = samples[own], codes[own]
        total = at_base
        for e in range(len(own_codes)):
            z, w = cell[own_samples[e]], weights[own_samples[e]]
            b = z * widest + own_codes[e]
            n, m = left[z], counts[b]
            total += table[n - w] - table[n] + table[m + w] - table[m]
            left[z] = n - w
            counts[b] = m + w
        out[i] = total
        for e in range(len(own_codes)):
            z = cell[own_samples[e]]
            left[z] = sizes[z]
            counts[z * widest + own_codes[e]] = 0
