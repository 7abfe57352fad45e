"""Sums over the samples of every pair of features.

``direct_pair_sums`` takes them straight from their definition, with library logarithms: slow, and never
wrong. ``add_common_samples`` adds the samples that two features of sparse distributions both store.
"""

from __future__ import annotations

import math

from infused._kernels.compiled import compiled
from infused._typing import Floats, Ints

BLOCK = 256  # partial sums of this many terms keep rounding from growing with the samples


@compiled
def phi(s: float) -> float:
    """s log s, with 0 log 0 = 0."""
    return s * math.log(s) if s > 0.0 else 0.0


@compiled
def direct_pair_sums(
    P: Floats,
    T: Floats,
    code: Ints,
    Q: Floats,
    joint_weight: float,
    pair_weight: float,
    out: Floats,
) -> None:
    """out_ij = mean_a joint_weight phi(p_ia + t_ia + q_ja) + pair_weight phi(p_ia + q_ja).

    P and Q are features x samples, T features (or 1) x groups.
    """
    n_samples = P.shape[1]
    for i in range(P.shape[0]):
        t = T[i] if T.shape[0] > 1 else T[0]
        for j in range(Q.shape[0]):
            total = 0.0
            for start in range(0, n_samples, BLOCK):
                partial = 0.0
                for a in range(start, min(start + BLOCK, n_samples)):
                    s = P[i, a] + Q[j, a]
                    partial += pair_weight * phi(s)
                    if joint_weight != 0.0:
                        partial += joint_weight * phi(s + t[code[a]])
                total += partial
            out[i, j] = total / n_samples


@compiled(fastmath={"reassoc", "contract"})
def add_common_samples(
    rows: Ints,
    indptr: Ints,
    samples: Ints,
    left: Floats,
    sample_indptr: Ints,
    features: Ints,
    right: Floats,
    position: Ints,
    out: Floats,
) -> None:
    """out[i, j] += sum over samples a, stored for both features, of <left_ia, right_ja>.

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
