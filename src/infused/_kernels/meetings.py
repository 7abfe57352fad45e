"""Sums over the samples where two features are both off their shared value."""

from __future__ import annotations

from numba import njit

from infused._typing import Floats, Ints


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def add_meetings(
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
