"""Mutual information of several columns together with a target, by nearest neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import digamma
from sklearn.neighbors import KDTree, NearestNeighbors

from infused._typing import Array, Floats
from infused.graphs.validation import class_codes

__all__ = ["joint_information_by_neighbours"]

NEIGHBOURS = 3  # this and the noise that parts ties: as in scikit-learn's estimate for one column
NOISE = 1e-10


def joint_information_by_neighbours(columns: Any, y: Array, real: bool, seed: int | None) -> float:
    """I(columns; y) in nats, by nearest neighbours in the largest of the differences.

    Kraskov's estimate for a real target, Ross's for classes, as scikit-learn has them for one column.
    """
    random = np.random.default_rng(seed)
    F = _scaled(columns.toarray() if sp.issparse(columns) else np.array(columns, dtype=np.float64), random)
    if real:
        return _with_real(F, _scaled(np.asarray(y, dtype=np.float64).reshape(-1, 1), random))
    return _with_classes(F, class_codes(y)[0])


def _with_real(F: Floats, y: Floats) -> float:
    neighbours = min(NEIGHBOURS, len(F) - 1)
    search = NearestNeighbors(metric="chebyshev", n_neighbors=neighbours).fit(np.hstack([F, y]))
    radius = np.nextafter(search.kneighbors()[0][:, -1], 0)
    near = digamma(_within(F, radius)).mean() + digamma(_within(y, radius)).mean()
    return max(0.0, float(digamma(len(F)) + digamma(neighbours) - near))


def _with_classes(F: Floats, codes: Array) -> float:
    sizes = np.bincount(codes)[codes]
    neighbours, radius = np.minimum(NEIGHBOURS, sizes - 1), np.zeros(len(F))
    for own in (np.flatnonzero(codes == c) for c in np.unique(codes[sizes > 1])):
        search = NearestNeighbors(metric="chebyshev", n_neighbors=neighbours[own[0]]).fit(F[own])
        radius[own] = np.nextafter(search.kneighbors()[0][:, -1], 0)
    several = sizes > 1  # a class of one sample has no neighbours
    F, radius, sizes, neighbours = F[several], radius[several], sizes[several], neighbours[several]
    near = digamma(_within(F, radius)).mean()
    estimate = digamma(len(F)) + digamma(neighbours).mean() - digamma(sizes).mean() - near
    return max(0.0, float(estimate))


def _within(points: Floats, radius: Floats) -> Array:
    """How many points are this close to each, itself among them."""
    counts = KDTree(points, metric="chebyshev").query_radius(points, radius, count_only=True)
    return np.asarray(counts)


def _scaled(F: Floats, random: np.random.Generator) -> Floats:
    """Columns of variance one, with a noise too small to matter but where values are equal."""
    spread = F.std(axis=0)
    F = F / np.where(spread > 0, spread, 1.0)
    return np.asarray(F + NOISE * np.maximum(1, np.abs(F).mean(axis=0)) * random.standard_normal(F.shape))
