"""Find redundant features."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from infused._runtime.threads import memory_budget, spans
from infused._typing import Floats, Ints
from infused.coding import Coded
from infused.exceptions import InputError
from infused.record.explained import dense_columns, standardised
from infused.record.schema import StandIn
from infused.selectors.inputs.training import basis, design_matrix

#: Two features whose correlation is this strong share 64% of their variance.
THRESHOLD = 0.8


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
        Where features have several columns: where those of each end. Then the correlation of a pair is that
        of its blocks, see :func:`block_correlation`.

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
    matrix = absolute_correlation(X) if ends is None else block_correlation(X, ends)
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
    X = X if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
    if X.ndim != 2 or 0 in X.shape:
        raise InputError(f"X must have samples and features, got shape {X.shape}.")
    if not np.isfinite(X.data if sparse.issparse(X) else X).all():
        raise InputError("X has values that are missing or infinite: impute them or drop their columns.")
    F = design_matrix(X, True, memory_budget()) if sparse.issparse(X) else standardised(X)
    matrix: Floats = np.minimum(np.abs(np.asarray(F.T @ F)), 1.0)
    np.fill_diagonal(matrix, 1.0)
    return matrix


def block_correlation(X: Floats, ends: Ints) -> Floats:
    r"""Compute the correlation of all pairs of blocks of columns: |r| of two single columns.

    .. math:: \sqrt{\sum_i \rho_i^2 / \min(p, q)}

    with the canonical correlations :math:`\rho_i` of blocks of ranks p and q. Of two categories this is
    Cramér's V, of a number and a category the correlation ratio. Two categories that share one level have a
    canonical correlation of one, and yet need not be redundant.
    """
    bases = [basis(standardised(X[:, start:end])) for start, end in zip([0, *ends[:-1]], ends, strict=True)]
    matrix = np.eye(len(bases))
    for i, j in zip(*np.triu_indices(len(bases), 1), strict=True):
        matrix[i, j] = matrix[j, i] = _association(bases[i], bases[j])
    return matrix


def correlations_with(coded: Coded, feature: int, n_features: int) -> Floats:
    """Compute the correlation of one feature with every feature, as :func:`block_correlation` defines it."""
    found = np.empty(n_features)
    own = basis(standardised(dense_columns(coded.F, coded.columns(np.array([feature]))[0])))
    for strip in spans(n_features, BLOCK):
        columns, ends = coded.columns(np.arange(n_features)[strip])
        F = dense_columns(coded.F, columns)
        if len(columns) == len(ends):
            found[strip] = np.minimum(1.0, np.linalg.norm(own.T @ standardised(F), axis=0))
        else:
            blocks = zip([0, *ends[:-1]], ends, strict=True)
            found[strip] = [_association(own, basis(standardised(F[:, start:end]))) for start, end in blocks]
    return found


def _association(one: Floats, other: Floats) -> float:
    rank = min(one.shape[1], other.shape[1])
    return min(1.0, float(np.linalg.norm(one.T @ other)) / np.sqrt(rank)) if rank else 0.0


LIKE = 0.8  # |r| from which on a feature can stand in for another one
MOST_STAND_INS, MOST_WITH = 3, 50
BLOCK = 512  # columns compared at once


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
        Z = standardised(dense_columns(coded.F, column[own]))
        parts = [others[start : start + BLOCK] for start in range(0, len(others), BLOCK)]
        likeness = np.hstack(
            [np.abs(Z.T @ standardised(dense_columns(coded.F, column[part]))) for part in parts]
        )
        for feature, row in zip(own.tolist(), likeness, strict=True):
            close = np.argsort(-row, kind="stable")[:MOST_STAND_INS]
            found[feature] = tuple(
                StandIn(names[others[n]], min(1.0, float(row[n]))) for n in close if row[n] >= LIKE
            )
    return [found.get(int(feature), ()) for feature in best]
