"""Sums of a feature's values over each class, in double-double precision."""

from __future__ import annotations

from infused._kernels.compiled import FLOATS, FLOATS_2D_OUT, INTS, compiled
from infused._typing import Floats, Ints


@compiled(INTS, FLOATS, INTS, FLOATS, FLOATS_2D_OUT, FLOATS_2D_OUT)
def class_sums(indptr: Ints, data: Floats, code: Ints, shift: Floats, high: Floats, low: Floats) -> None:
    """Add the entries of each column of a CSC matrix, less its shift, to high + low of their class.

    ``code`` holds the class of each stored entry; the results are columns x classes. Both sums of two numbers
    are kept with their rounding errors (Knuth).
    """
    for i in range(len(shift)):
        b = -shift[i]
        for e in range(indptr[i], indptr[i + 1]):
            c = code[e]
            a = data[e]
            deviation = a + b
            t = deviation - a
            lost = (a - (deviation - t)) + (b - t)
            before = high[i, c]
            total = before + deviation
            t = total - before
            high[i, c] = total
            low[i, c] += ((before - (total - t)) + (deviation - t)) + lost
