"""Piecewise polynomials for many functions at once, found by the bits of the argument.

A piece is one value of the exponent and the leading mantissa bits, so pieces are spaced geometrically and
finding one costs a shift; the other mantissa bits say where in the piece the argument lies, as u in [-1, 1).
Inside a piece every function is a polynomial in u.
"""

from __future__ import annotations

from numba import float64, int64

from infused._kernels.compiled import FLOATS_2D_OUT, FLOATS_3D, INTS_2D, INTS_2D_OUT, compiled
from infused._typing import Floats, Ints

PIECE_BITS = 7
DEGREE = 5
SHIFT = 52 - PIECE_BITS
INSIDE = (1 << SHIFT) - 1
UNIT = 2.0 ** (1 - SHIFT)


# Contraction fuses multiplications with additions and nothing else: no bits that are read depend on it.
@compiled(
    INTS_2D,
    INTS_2D,
    float64,
    float64,
    int64,
    FLOATS_3D,
    int64,
    INTS_2D_OUT,
    FLOATS_2D_OUT,
    FLOATS_2D_OUT,
    FLOATS_2D_OUT,
    FLOATS_2D_OUT,
    fastmath={"contract"},
)
def pair_factors(
    p: Ints,
    sums: Ints,
    joint_weight: float,
    pair_weight: float,
    first: int,
    table: Floats,
    rank: int,
    piece: Ints,
    place: Floats,
    at: Floats,
    left: Floats,
    right: Floats,
) -> None:
    """Set left = joint_weight L(p + t) + pair_weight L(p) and right = R(p), for all features and samples.

    ``p`` and ``sums`` are the bits of p and of p + t, features x samples; the table holds pieces, counted
    from ``first``, x (degree + 1) x functions, with L in the first half of the functions and R in the second.
    Results are features x (samples * rank). ``piece`` and ``place`` are scratch space, 2 x samples, and
    ``at`` is, 2 x functions: the polynomials are evaluated in whole vector registers.
    """
    n_functions = table.shape[2]
    half = n_functions // 2
    for i in range(p.shape[0]):
        for a in range(p.shape[1]):
            piece[0, a] = (p[i, a] >> SHIFT) - first
            piece[1, a] = (sums[i, a] >> SHIFT) - first
            place[0, a] = (p[i, a] & INSIDE) * UNIT - 1.0
            place[1, a] = (sums[i, a] & INSIDE) * UNIT - 1.0
        for a in range(p.shape[1]):
            c, u = table[piece[0, a]], place[0, a]
            for k in range(n_functions):
                at[0, k] = c[0, k] + u * (
                    c[1, k] + u * (c[2, k] + u * (c[3, k] + u * (c[4, k] + u * c[5, k])))
                )
            c, u = table[piece[1, a]], place[1, a]
            for k in range(half):
                at[1, k] = c[0, k] + u * (
                    c[1, k] + u * (c[2, k] + u * (c[3, k] + u * (c[4, k] + u * c[5, k])))
                )
            start = a * rank
            for k in range(rank):
                left[i, start + k] = joint_weight * at[1, k] + pair_weight * at[0, k]
            for k in range(rank):
                right[i, start + k] = at[0, half + k]
