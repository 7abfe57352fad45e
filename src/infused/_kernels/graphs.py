"""Graphs of features: distributions, class means, inner products, pair sums; none of them forms a graph.

`column_shares` computes the distribution of a feature's graph in O(M log M), exact to a few units in the last
place.

With distinct values f_1 < ... < f_K, their counts c and the gaps between them,

    A_ab = |f_a - f_b|,   K_ab = <A_a, A_b> / (|A_a| |A_b|),   p_a = d_a / sum(d),   d_a = sum_b K_ab,

d = w * A (A w) with w_a = 1 / |A_a|: products with the matrix of distances, each two running sums. Every term
that is added is positive, so nothing cancels: offsets, outliers and ties cost no digits.

`pair_order_sums` sums the product of two graphs over all pairs of samples, in O(M log M). A graph is given by
vectors u, v of each sample: k(a, b) = u_a'v_b where the feature is larger at a than at b. Samples are taken
in the order of one feature. Those that came before are kept in two Fenwick trees by their rank in the other:
those below the sample, and those above, where u and v of the other graph change places.

`gaussian_sums` sums a Gaussian graph over all pairs of samples, one less in every entry: centring takes the
ones away, and without them no digits are lost where most samples are close together. `gaussian_steps` and
`centre_factors` make thin factors of such graphs. The exponential is a polynomial of an argument divided by
32, squared five times, which the compiler puts into vector registers.

`pair_factors` and `add_common_samples` make the factors and the sums over pairs of features of which the
structural information is made. Factors are piecewise polynomials for many functions at once, found by the
bits of the argument. A piece is one value of the exponent and the leading mantissa bits, so pieces are
spaced geometrically and finding one costs a shift; the other mantissa bits say where in the piece the
argument lies, as u in [-1, 1). Inside a piece every function is a polynomial in u.
"""

from __future__ import annotations

import math

from infused._kernels.compiled import (
    FLOATS,
    FLOATS_2D,
    FLOATS_2D_OUT,
    FLOATS_3D,
    FLOATS_3D_OUT,
    FLOATS_OUT,
    INTS,
    INTS_2D,
    INTS_2D_OUT,
    INTS_OUT,
    compiled,
    helper,
)
from infused._typing import Floats

EPS = 2.0**-52
#: What the rows of the scratch space hold, each with room for one more number than there are samples.
GAP, COUNT, NORM, WEIGHT, SHARE = range(5)


@helper
def steady_state(k: int, kernel: bool, mass: float, scratch: Floats) -> None:
    """Compute the shares of k distinct values, of total ``mass``, from GAP and COUNT.

    Only ratios of gaps matter. Dividing by the largest, rather than by a power of two, makes the graphs of
    all two-valued features with the same counts equal to the last bit.
    """
    widest = 0.0
    for a in range(k - 1):
        if scratch[GAP, a] > widest:
            widest = scratch[GAP, a]
    n_products = 0 if widest == 0.0 else 2 if kernel else 1
    # norm_a^2 = sum_b count_b (f_a - f_b)^2, by S2' = S2 + 2 g S1 + g^2 W from the left and from the right
    inside, first, second = 0.0, 0.0, 0.0
    for a in range(k):
        scratch[NORM, a] = second
        scratch[SHARE, a] = 1.0
        if n_products > 0 and a < k - 1:
            g = scratch[GAP, a] / widest
            scratch[GAP, a] = g
            inside += scratch[COUNT, a]
            second += 2.0 * g * first + g * g * inside
            first += g * inside
    inside, first, second = 0.0, 0.0, 0.0
    for step in range(k):
        a = k - 1 - step
        norm = math.sqrt(scratch[NORM, a] + second) if n_products == 2 else 1.0
        scratch[NORM, a] = norm
        scratch[WEIGHT, a] = scratch[COUNT, a] / norm
        if a > 0:
            g = scratch[GAP, a - 1]
            inside += scratch[COUNT, a]
            second += 2.0 * g * first + g * g * inside
            first += g * inside
    # share_a = sum_b weight_b |f_a - f_b|, and the same again with that as weight
    for _ in range(n_products):
        inside, total = 0.0, 0.0
        for a in range(k):
            scratch[SHARE, a] = total
            inside += scratch[WEIGHT, a]
            total += scratch[GAP, a] * inside
        inside, total = 0.0, 0.0
        for step in range(k):
            a = k - 1 - step
            scratch[SHARE, a] += total
            if a > 0:
                inside += scratch[WEIGHT, a]
                total += scratch[GAP, a - 1] * inside
            scratch[WEIGHT, a] = scratch[COUNT, a] * scratch[SHARE, a]
    total = 0.0
    for a in range(k):
        scratch[SHARE, a] /= scratch[NORM, a]
        total += scratch[COUNT, a] * scratch[SHARE, a]
    for a in range(k):
        scratch[SHARE, a] *= mass / total


@compiled
def column_shares(
    indptr: INTS,
    data: FLOATS,
    order: INTS,
    n_samples: int,
    kernel: bool,
    mass: float,
    scratch: FLOATS_2D_OUT,
    out: FLOATS_OUT,
    base: FLOATS_OUT,
) -> None:
    """Compute the distributions of the columns of a CSC matrix; those of a dense one store every entry.

    No entry is so large that a difference would overflow. ``order`` sorts the entries of each column, counted
    from its first. The share of each stored entry goes to ``out``, that of a zero (of the smallest entry
    where nothing is zero) to ``base``.
    """
    for i in range(len(base)):
        first, n = indptr[i], indptr[i + 1] - indptr[i]
        n_zeros = n_samples - n
        for writing in range(2):
            k, zero, level = 0, -1, 0.0  # distinct values so far, the place of zero among them, the last one
            for e in range(n + 1):  # past the last entry there may be zeros, greater than all
                v = 0.0
                if e < n:
                    v = data[first + order[first + e]]
                if zero < 0 and n_zeros > 0 and v >= 0.0:
                    scratch[GAP, k - 1 if k > 0 else 0] = -level
                    scratch[COUNT, k] = n_zeros
                    zero, level = k, 0.0
                    k += 1
                if e < n:
                    if k == 0 or v != level:
                        scratch[GAP, k - 1 if k > 0 else 0] = v - level
                        scratch[COUNT, k] = 0.0
                        level = v
                        k += 1
                    scratch[COUNT, k - 1] += 1.0
                    if writing:
                        out[first + order[first + e]] = scratch[SHARE, k - 1]
            if writing:
                base[i] = scratch[SHARE, zero if zero > 0 else 0]
            else:
                steady_state(k, kernel, mass, scratch)


@compiled
def class_sums(
    indptr: INTS, data: FLOATS, code: INTS, shift: FLOATS, high: FLOATS_2D_OUT, low: FLOATS_2D_OUT
) -> None:
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


@compiled
def pair_order_sums(
    graphs: INTS,
    order: INTS_2D,
    U: FLOATS_3D,
    V: FLOATS_3D,
    rank: INTS,
    U2: FLOATS_2D,
    V2: FLOATS_2D,
    weights: FLOATS,
    trees: FLOATS_2D_OUT,
    found: FLOATS_OUT,
    out: FLOATS_OUT,
) -> None:
    """Sum w_a w_b k_i(a, b) k(a, b) over all pairs, for some graphs i and one other graph k.

    ``order`` sorts the samples by each feature, ``rank`` is the place of each sample in the other feature.
    ``trees`` (2 (samples + 1) x q^2) and ``found`` (q^2) are scratch space, where u and v have q numbers.
    """
    n_samples = order.shape[1]
    q = U.shape[2]
    for n in range(len(graphs)):
        i = graphs[n]
        for place in range(len(trees)):
            for kl in range(q * q):
                trees[place, kl] = 0.0
        pairs, own = 0.0, 0.0
        for step in range(n_samples):
            a = order[i, step]
            k_first, k_second = 0.0, 0.0
            for k in range(q):
                k_first += U[i, a, k] * V[i, a, k]
                k_second += U2[a, k] * V2[a, k]
            own += weights[a] * weights[a] * k_first * k_second
            for side in range(2):
                # Below the rank of a in the other feature, and, counted from the end, above it.
                place = rank[a] if side == 0 else n_samples - 1 - rank[a]
                for kl in range(q * q):
                    found[kl] = 0.0
                p = place
                while p > 0:
                    for kl in range(q * q):
                        found[kl] += trees[side * (n_samples + 1) + p, kl]
                    p -= p & -p
                for k in range(q):
                    for m in range(q):
                        at_a = U2[a, m] if side == 0 else V2[a, m]
                        pairs += weights[a] * U[i, a, k] * at_a * found[k * q + m]
                p = place + 1
                while p <= n_samples:
                    for k in range(q):
                        for m in range(q):
                            of_a = V2[a, m] if side == 0 else U2[a, m]
                            trees[side * (n_samples + 1) + p, k * q + m] += weights[a] * V[i, a, k] * of_a
                    p += p & -p
        out[n] = 2.0 * pairs + own


@helper(fastmath={"contract"})
def gaussian_less_one(d: float) -> float:
    """Compute exp(-d^2 / 2) - 1 to a few units in the last place; beyond e^-40 nothing is left of one."""
    x = -min(0.5 * d * d, 40.0) / 32.0
    high = 1.0 / 720 + x * (1.0 / 5040 + x * (1.0 / 40320 + x * (1.0 / 362880 + x / 3628800)))
    g = x * (1.0 + x * (0.5 + x * (1.0 / 6 + x * (1.0 / 24 + x * (1.0 / 120 + x * high)))))
    for _ in range(5):
        g = g * (g + 2.0)  # (1 + g)^2 - 1
    return g


@compiled(fastmath={"reassoc", "contract"})
def gaussian_sums(
    rows: FLOATS_2D,
    weights: FLOATS,
    other: FLOATS_2D,
    sums: FLOATS_OUT,
    squares: FLOATS_OUT,
    shared: FLOATS_OUT,
) -> None:
    """Compute, for the Gaussian graph of each row, its centred square norm and its sum with another graph.

    ``other`` is symmetric, samples x samples, with the weights in it, and its rows sum to zero. ``sums`` is
    scratch space, one number for each sample.
    """
    n = rows.shape[1]
    mass = 0.0
    for a in range(n):
        mass += weights[a]
    for i in range(rows.shape[0]):
        for a in range(n):
            sums[a] = 0.0
        square, with_other = 0.0, 0.0
        for a in range(n):
            x, w = rows[i, a], weights[a]
            total, own = 0.0, 0.0
            for b in range(a):
                g = gaussian_less_one(x - rows[i, b])
                weighted = weights[b] * g
                total += weighted
                own += weighted * g
                with_other += other[a, b] * g
                sums[b] += w * g
            sums[a] += total
            square += w * own
        all_pairs, by_row = 0.0, 0.0
        for a in range(n):
            all_pairs += weights[a] * sums[a]
            by_row += weights[a] * sums[a] * sums[a]
        squares[i] = 2.0 * square - 2.0 * by_row / mass + (all_pairs / mass) ** 2
        shared[i] = 2.0 * with_other


@compiled(fastmath={"reassoc", "contract", "nnan", "nsz"})
def gaussian_steps(
    rows: FLOATS_2D, weights: FLOATS, enough: float, left: FLOATS_2D_OUT, ranks: INTS_OUT, out: FLOATS_3D_OUT
) -> int:
    """Add columns to the pivoted Cholesky factors of Gaussian graphs, and return how many are unfinished.

    ``left`` is what is left of the diagonals, ``ranks`` how many columns there are; a factor is finished
    where the weighted sum of its diagonal is at most ``enough``.
    """
    n = rows.shape[1]
    unfinished = 0
    for i in range(rows.shape[0]):
        for rank in range(ranks[i], out.shape[1] + 1):
            total, largest, pivot = 0.0, 0.0, 0
            for a in range(n):
                total += weights[a] * left[i, a]
                largest = max(largest, left[i, a])
            while left[i, pivot] < largest:
                pivot += 1
            ranks[i] = rank
            if total <= enough or rank == n:
                break
            if rank == out.shape[1]:
                unfinished += 1
                break
            for a in range(n):
                out[i, rank, a] = 1.0 + gaussian_less_one(rows[i, a] - rows[i, pivot])
            for k in range(rank):
                at_pivot = out[i, k, pivot]
                for a in range(n):
                    out[i, rank, a] -= at_pivot * out[i, k, a]
            root = 1.0 / math.sqrt(left[i, pivot])
            for a in range(n):
                out[i, rank, a] *= root
                left[i, a] = max(left[i, a] - out[i, rank, a] * out[i, rank, a], 0.0)
            left[i, pivot] = 0.0
    return unfinished


@compiled(fastmath={"reassoc", "contract"})
def centre_factors(
    ranks: INTS,
    weights: FLOATS,
    roots: FLOATS,
    factors: FLOATS_3D_OUT,
    lengths: FLOATS_2D_OUT,
    norms: FLOATS_OUT,
) -> None:
    """Centre factors, multiply them by the roots of the weights, and compute the norms of their graphs.

    ``lengths`` are the square lengths of the columns of each factor.
    """
    n = factors.shape[2]
    mass = 0.0
    for a in range(n):
        mass += weights[a]
    for i in range(factors.shape[0]):
        square = 0.0
        for k in range(ranks[i]):
            mean = 0.0
            for a in range(n):
                mean += weights[a] * factors[i, k, a]
            mean /= mass
            for a in range(n):
                factors[i, k, a] = (factors[i, k, a] - mean) * roots[a]
            for m in range(k + 1):
                product = 0.0
                for a in range(n):
                    product += factors[i, k, a] * factors[i, m, a]
                square += product * product * (1.0 if m == k else 2.0)
            lengths[i, k] = product
        norms[i] = math.sqrt(square)


PIECE_BITS = 7
DEGREE = 5
SHIFT = 52 - PIECE_BITS
INSIDE = (1 << SHIFT) - 1
UNIT = 2.0 ** (1 - SHIFT)


# Contraction fuses multiplications with additions and nothing else: no bits that are read depend on it.
@compiled(fastmath={"contract"})
def pair_factors(
    p: INTS_2D,
    sums: INTS_2D,
    joint_weight: float,
    pair_weight: float,
    first: int,
    table: FLOATS_3D,
    rank: int,
    piece: INTS_2D_OUT,
    place: FLOATS_2D_OUT,
    at: FLOATS_2D_OUT,
    left: FLOATS_2D_OUT,
    right: FLOATS_2D_OUT,
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


@compiled(fastmath={"reassoc", "contract"})
def add_common_samples(
    rows: INTS,
    indptr: INTS,
    samples: INTS,
    left: FLOATS_2D,
    sample_indptr: INTS,
    features: INTS,
    right: FLOATS_2D,
    position: INTS,
    out: FLOATS_2D_OUT,
) -> None:
    """Add to out[i, j] the sum of <left_ia, right_ja> over samples a that are stored for both features.

    ``rows`` are the features of the rows of ``out``, ``position`` the column of each feature, or -1.
    ``indptr``, ``samples`` and ``left`` list the stored entries by feature; ``sample_indptr``, ``features``
    and ``right`` list them by sample. Reassociation lets the short inner products use vector registers.
    """
    rank = left.shape[1]
    for i in range(len(rows)):
        for e in range(indptr[rows[i]], indptr[rows[i] + 1]):
            for f in range(sample_indptr[samples[e]], sample_indptr[samples[e] + 1]):
                j = position[features[f]]
                if j >= 0:
                    total = 0.0
                    for k in range(rank):
                        total += left[e, k] * right[f, k]
                    out[i, j] += total
