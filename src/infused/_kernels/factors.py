"""Piecewise polynomials for many functions at once, found by the bits of the argument.

A piece is one value of the exponent and the leading mantissa bits, so pieces are spaced geometrically and
finding one costs a shift. Inside a piece every function is a polynomial in u in [-1, 1].
"""

from __future__ import annotations

import numpy as np
from numba import njit

from infused._typing import Floats, Ints

PIECE_BITS = 7
DEGREE = 5
SHIFT = 52 - PIECE_BITS


@njit(cache=True, nogil=True)
def pair_factors(
    P: Floats,
    T: Floats,
    code: Ints,
    joint_weight: float,
    pair_weight: float,
    first: int,
    centre: Floats,
    scale: Floats,
    table: Floats,
    rank: int,
    left: Floats,
    right: Floats,
) -> None:
    """left = joint_weight L(p + t) + pair_weight L(p) and right = R(p), for all features and samples.

    P is features x samples, T features (or 1) x groups; the table holds pieces x (degree + 1) x functions,
    with L in the first half of the functions and R in the second. Results are features x (samples * rank).
    """
    half = table.shape[2] // 2
    at_p = np.empty(2 * half)
    at_sum = np.zeros(half)
    argument = np.empty(1)
    bits = argument.view(np.int64)
    for i in range(P.shape[0]):
        t = T[i] if T.shape[0] > 1 else T[0]
        for a in range(P.shape[1]):
            argument[0] = P[i, a]
            piece = (bits[0] >> SHIFT) - first
            u = (argument[0] - centre[piece]) * scale[piece]
            c = table[piece]
            for k in range(2 * half):
                at_p[k] = c[0, k] + u * (
                    c[1, k] + u * (c[2, k] + u * (c[3, k] + u * (c[4, k] + u * c[5, k])))
                )
            if joint_weight != 0.0:
                argument[0] += t[code[a]]
                piece = (bits[0] >> SHIFT) - first
                u = (argument[0] - centre[piece]) * scale[piece]
                c = table[piece]
                for k in range(half):
                    at_sum[k] = c[0, k] + u * (
                        c[1, k] + u * (c[2, k] + u * (c[3, k] + u * (c[4, k] + u * c[5, k])))
                    )
            start = a * rank
            for k in range(rank):
                left[i, start + k] = joint_weight * at_sum[k] + pair_weight * at_p[k]
                right[i, start + k] = at_p[half + k]
