"""Piecewise polynomials for many functions at once, found by the bits of the argument.

A piece is one value of the exponent and the leading mantissa bits, so pieces are spaced geometrically and
finding one costs a shift; the other mantissa bits say where in the piece the argument lies, as u in [-1, 1).
Inside a piece every function is a polynomial in u.
"""

from __future__ import annotations

import numpy as np

from infused._kernels.compiled import compiled
from infused._typing import Floats, Ints

PIECE_BITS = 7
DEGREE = 5
SHIFT = 52 - PIECE_BITS
INSIDE = (1 << SHIFT) - 1
UNIT = 2.0 ** (1 - SHIFT)


@compiled
def locate(bits: Ints, first: int, piece: Ints, u: Floats) -> None:
    """The piece of each argument, counted from ``first``, and its place there."""
    for a in range(len(bits)):
        piece[a] = (bits[a] >> SHIFT) - first
        u[a] = (bits[a] & INSIDE) * UNIT - 1.0


# Contraction fuses multiplications with additions and nothing else: no bits that are read depend on it.
@compiled(fastmath={"contract"}, inline="always")
def polynomials(coefficients: Floats, u: float, out: Floats) -> None:
    """All functions of one piece at u, by Horner's rule; the loop runs in vector registers."""
    c0, c1, c2 = coefficients[0], coefficients[1], coefficients[2]
    c3, c4, c5 = coefficients[3], coefficients[4], coefficients[5]
    for k in range(len(out)):
        out[k] = c0[k] + u * (c1[k] + u * (c2[k] + u * (c3[k] + u * (c4[k] + u * c5[k]))))


@compiled(fastmath={"contract"})
def pair_factors(
    P: Floats,
    T: Floats,
    code: Ints,
    joint_weight: float,
    pair_weight: float,
    first: int,
    table: Floats,
    rank: int,
    left: Floats,
    right: Floats,
) -> None:
    """left = joint_weight L(p + t) + pair_weight L(p) and right = R(p), for all features and samples.

    P is features x samples, T features (or 1) x groups; the table holds pieces x (degree + 1) x functions,
    with L in the first half of the functions and R in the second. Results are features x (samples * rank).
    """
    n_features, n_samples = P.shape
    half = table.shape[2] // 2
    at_p, at_sum = np.empty(2 * half), np.zeros(half)
    piece, sum_piece = np.empty(n_samples, np.int64), np.empty(n_samples, np.int64)
    u, sum_u, total = np.empty(n_samples), np.empty(n_samples), np.empty(n_samples)
    for i in range(n_features):
        locate(P[i].view(np.int64), first, piece, u)
        if joint_weight != 0.0:
            t = T[i] if T.shape[0] > 1 else T[0]
            for a in range(n_samples):
                total[a] = P[i, a] + t[code[a]]
            locate(total.view(np.int64), first, sum_piece, sum_u)
        for a in range(n_samples):
            polynomials(table[piece[a]], u[a], at_p)
            if joint_weight != 0.0:
                polynomials(table[sum_piece[a]], sum_u[a], at_sum)
            start = a * rank
            for k in range(rank):
                left[i, start + k] = joint_weight * at_sum[k] + pair_weight * at_p[k]
            for k in range(rank):
                right[i, start + k] = at_p[half + k]
