"""Features that say the same, and one of each kind that stands for the others."""

from __future__ import annotations

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from infused._runtime.memory import require
from infused._typing import Floats, Ints

__all__ = ["representatives"]


def representatives(F: Floats, n_clusters: int, budget: int) -> Ints:
    """The feature that stands for each feature, in at most ``n_clusters`` clusters; the target plays no part.

    Features are joined by average linkage of 1 - |correlation|. Each cluster is represented by the feature
    that correlates most with all of it; the first, where several do.

    Parameters
    ----------
    F : array of shape (n_samples, n_features)
        Columns of mean zero and length one.
    n_clusters : int
    budget : int
        Bytes that the distances of all pairs may take.
    """
    n_features = F.shape[1]
    what = f"The correlation of all pairs of {n_features:,} features"
    instead = "leave out features that vary least, without a look at the target"
    require(16 * n_features**2, budget, what, instead)
    likeness = np.abs(F.T @ F)
    distance = np.clip(1 - likeness, 0.0, 1.0)
    np.fill_diagonal(distance, 0.0)
    labels = fcluster(linkage(squareform(distance, checks=False), "average"), n_clusters, "maxclust")
    chosen = np.empty(n_features, dtype=np.int64)
    for label in np.unique(labels):
        members = np.flatnonzero(labels == label)
        central = members[np.argmax(likeness[np.ix_(members, members)].sum(axis=0))]
        chosen[members] = central
    return chosen
