"""Where an approximation of U would fail first: the features and pairs at the ends of every scale."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr

import infused

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def extreme_features(X: NDArray[Any], y: NDArray[Any], each: int = 3) -> Ints:
    """Smallest and largest entries and entropies of both distributions; the most nearly constant features."""
    scores = [-np.array([_majority(column) for column in X.T])]
    for distributions in (infused.feature_distributions(X), infused.target_distributions(X, y)):
        smallest, largest = distributions.min(axis=0), distributions.max(axis=0)
        entropy = entr(distributions).sum(axis=0)
        scores += [smallest, -largest, entropy, -entropy]
    return np.unique([np.argsort(score, kind="stable")[:each] for score in scores])


def extreme_pairs(U: Floats, each: int = 20) -> Ints:
    """The pairs (i <= j) with the smallest and with the largest U."""
    i, j = np.triu_indices(len(U))
    order = np.argpartition(U[i, j], (each, -each))
    ends = np.concatenate([order[:each], order[-each:]])
    return np.column_stack([i[ends], j[ends]])


def _majority(column: NDArray[Any]) -> int:
    """How many samples share the commonest value: all of them in a constant feature."""
    return int(np.unique(column, return_counts=True)[1].max())
