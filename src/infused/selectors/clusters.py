"""Clusters of features: k-means on the columns of a design matrix, dense or sparse."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from sklearn.utils import check_random_state

from infused._design import Design, SparseDesign, column_squares, dense
from infused._typing import Floats, Ints

__all__ = ["cluster_features"]

MOST_STEPS, SHIFT = 300, 1e-4  # as in scikit-learn: the last relative to the variance
SAME = 1e-10  # squared distances of columns of length one that differ by less are ties


def cluster_features(F: Design, n_groups: int | None, seed: int | None) -> Ints:
    """Clusters of the columns of F, by k-means on columns of length one.

    Constants, which are zero in F, are as far from one cluster as from the next: they are one of their own.
    """
    n_features = F.shape[1]
    n_clusters = min(n_groups or max(1, round(np.sqrt(n_features))), n_features)
    length = np.sqrt(column_squares(F))
    varying = np.flatnonzero(length)
    labels = np.full(n_features, n_clusters)
    if len(varying):
        X, scale = F[:, varying], 1 / length[varying]
        unit = X * scale if isinstance(X, np.ndarray) else X.scaled(scale)
        labels[varying] = _KMeans(unit, min(n_clusters, _distinct(unit)), seed).run()
    return np.unique(labels, return_inverse=True)[1]


class _KMeans:
    """Greedy k-means++ (Arthur, Vassilvitskii 2007), then Lloyd's steps, on the columns of a design.

    The steps and the random numbers are scikit-learn's, which would need the columns of a sparse design
    dense, as their means are implied. Ties, of which counts have many, go to the first, and not to whatever
    rounding makes the closest: sparse data have the clusters that dense ones have.
    """

    def __init__(self, X: Design, n_clusters: int, seed: int | None):
        self.X, self.n_clusters = X, n_clusters
        self.squares = column_squares(X)
        self.random = check_random_state(seed)

    def run(self) -> Ints:
        """The cluster of each column."""
        centres = dense(self.X[:, self._seeds()])
        n_samples, n_features = self.X.shape
        mean = self.X @ np.full(n_features, 1 / n_features)
        enough = SHIFT * (self.squares.mean() - float(mean @ mean)) / n_samples
        before = np.full(n_features, -1)
        for _ in range(MOST_STEPS):
            labels, nearest = self._assigned(centres)
            moved = self._means(labels, nearest)
            shift, centres = float(((moved - centres) ** 2).sum()), moved
            if (labels == before).all():
                return labels
            if shift <= enough:
                break
            before = labels
        return self._assigned(centres)[0]

    def _seeds(self) -> Ints:
        n = self.X.shape[1]
        trials = 2 + int(np.log(self.n_clusters))
        seeds = [int(self.random.choice(n, p=np.full(n, 1 / n)))]
        closest = self._distances(np.array(seeds))[0]
        while len(seeds) < self.n_clusters:
            drawn = self.random.uniform(size=trials) * closest.sum()
            tried = np.minimum(np.searchsorted(np.cumsum(closest), drawn), n - 1)
            left = np.minimum(closest, self._distances(tried))
            best = int(_first_least(left.sum(axis=1)[None, :])[0])
            seeds.append(int(tried[best]))
            closest = left[best]
        return np.array(seeds)

    def _distances(self, points: Ints) -> Floats:
        """Squared, from some points to all; zero between equal ones."""
        products = self.X[:, points].T @ self.X
        found = self.squares[points][:, None] + self.squares - 2 * products
        return np.where(found > SAME, found, 0.0)

    def _assigned(self, centres: Floats) -> tuple[Ints, Floats]:
        """The closest centre of each point, and its squared distance."""
        away = (centres * centres).sum(axis=0) - 2 * (self.X.T @ centres)
        labels = _first_least(away)
        return labels, self.squares + away[np.arange(len(labels)), labels]

    def _means(self, labels: Ints, nearest: Floats) -> Floats:
        """The mean of each cluster; one without points takes the point that is farthest from its centre."""
        empty = np.setdiff1d(np.arange(self.n_clusters), labels)
        if len(empty):
            labels = labels.copy()
            labels[np.argsort(-nearest, kind="stable")[: len(empty)]] = empty
        members = np.zeros((len(labels), self.n_clusters))
        members[np.arange(len(labels)), labels] = 1.0
        return np.asarray((self.X @ members) / np.maximum(members.sum(axis=0), 1.0))


def _first_least(values: Floats) -> Ints:
    """Of each row, the first of its smallest values."""
    return np.asarray(np.argmax(values <= values.min(axis=1, keepdims=True) + SAME, axis=1))


def _distinct(X: Design) -> int:
    """How many different columns there are."""
    if not isinstance(X, SparseDesign):
        return len(np.unique(X.T, axis=0))
    A = X.A
    return len({(A.indices[i:j].tobytes(), A.data[i:j].tobytes()) for i, j in pairwise(A.indptr)})
