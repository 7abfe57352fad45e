"""Sums over the samples that pairs of features of sparse distributions both store."""

from __future__ import annotations

from numba import float64, int64

from infused._kernels.compiled import compiled, filled, given
from infused._typing import Floats, Ints


@compiled(
    given(int64, 1),
    given(int64, 1),
    given(int64, 1),
    given(float64, 2),
    given(int64, 1),
    given(int64, 1),
    given(float64, 2),
    given(int64, 1),
    filled(float64, 2),
    fastmath={"reassoc", "contract"},
)
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
