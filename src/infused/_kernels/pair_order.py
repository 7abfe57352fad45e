"""Sums over all pairs of samples of the product of two graphs, in O(M log M) for M samples.

A graph is given by vectors u, v of each sample: k(a, b) = u_a'v_b where the feature is larger at a than at
b. Samples are taken in the order of one feature. Those that came before are kept in two Fenwick trees by
their rank in the other: those below the sample, and those above, where u and v of the other graph change
places.
"""

from __future__ import annotations

from infused._kernels.compiled import (
    FLOATS,
    FLOATS_2D,
    FLOATS_2D_OUT,
    FLOATS_3D,
    FLOATS_OUT,
    INTS,
    INTS_2D,
    compiled,
)
from infused._typing import Floats, Ints


@compiled(
    *(INTS, INTS_2D, FLOATS_3D, FLOATS_3D),
    *(INTS, FLOATS_2D, FLOATS_2D),
    *(FLOATS, FLOATS_2D_OUT, FLOATS_OUT, FLOATS_OUT),
)
def pair_order_sums(
    graphs: Ints,
    order: Ints,
    U: Floats,
    V: Floats,
    rank: Ints,
    U2: Floats,
    V2: Floats,
    weights: Floats,
    trees: Floats,
    found: Floats,
    out: Floats,
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
