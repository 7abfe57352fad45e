"""Sums over the samples that pairs of features of sparse distributions both store."""

from __future__ import annotations

from infused._kernels.compiled import FLOATS_2D, FLOATS_2D_OUT, INTS, compiled
from infused._typing import Floats, Ints


@compiled(
    INTS, INTS, INTS, FLOATS_2D, INTS, INTS, FLOATS_2D, INTS, FLOATS_2D_OUT, fastmath={"reassoc", "contract"}
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
