"""What several columns say of a target together: the joint F test, and mutual information by neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import digamma
from sklearn.neighbors import KDTree, NearestNeighbors

from infused._runtime.memory import memory_budget
from infused._typing import Array, Floats
from infused.graphs.validation import class_codes
from infused.selectors.inputs import design_matrix, target_matrix

__all__ = ["joint_f_value", "joint_information_by_neighbours"]

RANK = 1e-10  # directions shorter than this share of the longest are none
NEIGHBOURS = 3  # this and the noise that parts ties: as in scikit-learn's estimate for one column
NOISE = 1e-10


def joint_f_value(columns: Any, y: Array, real: bool) -> float:
    r"""The F value of Pillai's trace: of an analysis of variance of all columns together.

    .. math::

        F = \frac{V / a}{(s - V) / (M - 1 - a)}, \qquad V = \sum_i r_i^2

    with r the canonical correlations of p independent columns with the q that code the target,
    s = min(p, q) and a = max(p, q). One column has its usual F value, and so has a real target of one column.
    Where no degrees of freedom are left there is none: it is zero then.
    """
    F = _basis(design_matrix(columns, True, memory_budget()))
    Y = _basis(target_matrix(y, "real" if real else "onehot", True))
    p, q = F.shape[1], Y.shape[1]
    free = len(F) - 1 - max(p, q)
    if min(p, q) == 0 or free <= 0:
        return 0.0
    explained = float(((F.T @ Y) ** 2).sum())
    with np.errstate(divide="ignore"):
        return float(np.divide(explained / max(p, q), max(min(p, q) - explained, 0.0) / free))


def _basis(A: Floats) -> Floats:
    """Orthonormal columns that span those of A."""
    left, sizes, _ = np.linalg.svd(A, full_matrices=False)
    return np.asarray(left[:, sizes > RANK * sizes.max(initial=0.0)])


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
