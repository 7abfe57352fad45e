"""Find redundant features."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from infused._typing import Floats, Ints
from infused.coding import Coded
from infused.exceptions import InputError
from infused.record.explained import dense_columns
from infused.record.schema import StandIn

#: Two features whose correlation is this strong share 64% of their variance.
THRESHOLD = 0.8

SMALLEST = 1e-10  # of the singular values of a block, against the largest
ROWS_AT_ONCE = 4096  # sparse columns become dense for this many samples at a time


def redundancy_groups(X: Any, threshold: float = THRESHOLD, ends: Ints | None = None) -> tuple[Floats, Ints]:
    r"""Group features by :math:`|r_{ij}|`, the absolute Pearson correlation of each pair.

    Groups come from complete-linkage clustering, cut at ``threshold``: inside a group every pair has
    :math:`|r_{ij}| \ge` threshold. A chain of look-alikes whose ends differ is therefore split, where single
    linkage would join it. A constant feature has correlation 0 with all others, and a group of its own.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, n_features)
        The columns to compare, best first.
    threshold : float
        Between 0 and 1.
    ends : ndarray of int, optional
        Where features have several columns: where those of each end. Then the correlation of a pair is the
        largest canonical correlation of its columns.

    Returns
    -------
    matrix : ndarray of shape (n_features, n_features)
        :math:`|r_{ij}|`, with ones on the diagonal.
    groups : ndarray of int
        One number for each feature; groups are numbered from 1 in the order in which they first appear.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from infused.record.redundancy import redundancy_groups
    >>> matrix, groups = redundancy_groups(load_iris().data)
    >>> groups.tolist()  # petal length, petal width and sepal length go together
    [1, 2, 1, 1]
    """
    if not 0 <= threshold <= 1:
        raise InputError(f"threshold must lie between 0 and 1, got {threshold}.")
    matrix = absolute_correlation(X) if ends is None else canonical_correlation(X, ends)
    if len(matrix) == 1:
        return matrix, np.ones(1, dtype=np.int64)
    tree = linkage(squareform(1.0 - matrix, checks=False), method="complete")
    clusters = fcluster(tree, 1.0 - threshold, criterion="distance")
    _, first, member = np.unique(clusters, return_index=True, return_inverse=True)
    number = np.empty(len(first), dtype=np.int64)
    number[np.argsort(first)] = np.arange(1, len(first) + 1)
    return matrix, number[member]


def absolute_correlation(X: Any) -> Floats:
    """Compute |Pearson correlation| of all pairs of columns; 0 beside a constant one, 1 on the diagonal."""
    X = X.tocsr() if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
    if X.ndim != 2 or 0 in X.shape:
        raise InputError(f"X must have samples and features, got shape {X.shape}.")
    low, high = _column_limits(X)
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        raise InputError("X has values that are missing or infinite: impute them or drop their columns.")
    # Shifted to their lowest value and scaled to a range of one: neither offsets nor huge values cost digits.
    spread = high / 2 - low / 2
    constant = spread == 0
    spread[constant] = 1.0
    blocks = [slice(start, start + ROWS_AT_ONCE) for start in range(0, X.shape[0], ROWS_AT_ONCE)]
    mean = sum(_scaled(X[rows], low, spread).sum(axis=0) for rows in blocks) / X.shape[0]
    products = np.zeros((X.shape[1], X.shape[1]))
    for rows in blocks:
        centred = _scaled(X[rows], low, spread) - mean
        products += centred.T @ centred
    length = np.sqrt(np.where(constant, 1.0, products.diagonal()))
    matrix: Floats = np.minimum(np.abs(products) / np.outer(length, length), 1.0)
    matrix[constant] = matrix[:, constant] = 0.0
    np.fill_diagonal(matrix, 1.0)
    return matrix


def canonical_correlation(X: Floats, ends: Ints) -> Floats:
    """Compute the largest canonical correlation of all pairs of blocks of columns; |r| of single columns."""
    bases = []
    for start, end in zip([0, *ends[:-1]], ends, strict=True):
        block = X[:, start:end] - X[:, start:end].mean(axis=0)
        length = np.linalg.norm(block, axis=0)
        block = block / np.where(length > 0, length, 1.0)
        left, sizes, _ = np.linalg.svd(block, full_matrices=False)
        bases.append(left[:, sizes > SMALLEST * max(1.0, sizes[0])])
    widths = np.array([basis.shape[1] for basis in bases])
    stops = np.cumsum(widths)
    joined = np.hstack(bases)
    products = np.abs(joined.T @ joined)
    matrix = np.eye(len(bases))
    for i, j in zip(*np.triu_indices(len(bases), 1), strict=True):
        rows = slice(stops[i] - widths[i], stops[i])
        part = products[rows, stops[j] - widths[j] : stops[j]]
        if part.size:
            largest = part[0, 0] if part.size == 1 else np.linalg.norm(bases[i].T @ bases[j], 2)
            matrix[i, j] = matrix[j, i] = min(1.0, float(largest))
    return matrix


def _column_limits(X: Any) -> tuple[Floats, Floats]:
    if not sparse.issparse(X):
        return X.min(axis=0), X.max(axis=0)
    low, high = (limit.toarray().ravel().astype(np.float64) for limit in (X.min(axis=0), X.max(axis=0)))
    return low, high


def _scaled(block: Any, low: Floats, spread: Floats) -> Floats:
    dense = block.toarray() if sparse.issparse(block) else block
    result: Floats = (dense / 2 - low / 2) / spread
    return result


LIKE = 0.8  # |r| from which on a feature can stand in for another one
MOST_STAND_INS, MOST_WITH = 3, 50
BLOCK = 512  # columns compared at once
CONSTANT = 1e-12


def stand_ins(coded: Coded, best: Ints, names: tuple[str, ...]) -> list[tuple[StandIn, ...]]:
    """Find up to three redundant features (|r| >= 0.8) that were not selected for each of the best ones.

    Features with several columns have none, and are none.
    """
    groups = np.arange(coded.F.shape[1]) if coded.groups is None else coded.groups
    widths = np.bincount(groups, minlength=len(names))
    single = np.flatnonzero(widths[groups] == 1)
    column = np.full(len(names), -1)
    column[groups[single]] = single
    shown = best[:MOST_WITH]
    own = shown[column[shown] >= 0]
    others = np.setdiff1d(np.flatnonzero(column >= 0), best)
    found: dict[int, tuple[StandIn, ...]] = {}
    if len(own) and len(others):
        Z = _unit(dense_columns(coded.F, column[own]))
        parts = [others[start : start + BLOCK] for start in range(0, len(others), BLOCK)]
        likeness = np.hstack([np.abs(Z.T @ _unit(dense_columns(coded.F, column[part]))) for part in parts])
        for feature, row in zip(own.tolist(), likeness, strict=True):
            close = np.argsort(-row, kind="stable")[:MOST_STAND_INS]
            found[feature] = tuple(
                StandIn(names[others[n]], min(1.0, float(row[n]))) for n in close if row[n] >= LIKE
            )
    return [found.get(int(feature), ()) for feature in best]


def _unit(columns: Floats) -> Floats:
    """Centre columns and scale them to length one; constant ones are zero."""
    scale = np.abs(columns).max(axis=0, initial=0.0)
    columns = columns / np.where(scale > 0, scale, 1.0)
    columns = columns - columns.mean(axis=0)
    length = np.linalg.norm(columns, axis=0)
    varies = length > CONSTANT * np.sqrt(len(columns))
    return np.asarray(np.where(varies, columns / np.where(varies, length, 1.0), 0.0))
