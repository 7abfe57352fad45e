r"""Thin factors of feature graphs.

.. math::

    K = F F', \qquad \langle K_i, K_j \rangle = |F_i' F_j|_F^2

The graph of a feature, centred and scaled to Frobenius norm one, is never formed: Gaussian graphs have
factors of ten to thirty columns, exact to about 1e-11, and a graph on few values has no more columns than
values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import scipy.sparse as sp

from infused._typing import Array, Data, Floats, Ints

FeatureGraphKind: TypeAlias = Literal["gaussian", "distance", "kernel", "laplacian"]

RESIDUAL = 1e-11  # share of the trace that a factor may leave out
DIRECTION = 1e-11  # directions shorter than this share of the longest are left out
NEGLIGIBLE = 1e-12  # deviations below this share of the largest value are rounding
FIRST_ROWS = 16


@dataclass(frozen=True)
class GraphColumns:
    """Columns with a graph each, and the variable that each belongs to.

    The graph of a variable is the sum of those of its columns. Where values are missing, the column has its
    mean there, and a second column says where they are; each graph is weighted by the share of its samples.
    """

    X: Data
    owners: Ints
    """The variable of each column; in ascending order."""
    source: Ints
    """The column of X that each is made of."""
    indicates: Array
    """Whether the column says where values are missing."""
    shares: Floats
    """The weight of each graph in its variable."""
    n_variables: int
    weights: Floats
    """What each sample counts."""

    @classmethod
    def of(cls, X: Data, variables: Ints, n_variables: int, weights: Floats) -> GraphColumns:
        """Make columns of an array, whose columns belong to these variables."""
        X = sp.csc_array(X) if sp.issparse(X) else X
        missing = _missing_shares(X, weights)
        some = np.flatnonzero(missing > 0)
        source = np.concatenate([np.arange(X.shape[1]), some])
        indicates = np.arange(len(source)) >= X.shape[1]
        shares = np.where(indicates, missing[source], 1.0 - missing[source])
        order = np.lexsort((source, variables[source]))
        return cls(
            X,
            variables[source][order],
            source[order],
            indicates[order],
            shares[order],
            n_variables,
            weights,
        )

    @classmethod
    def of_target(cls, Y: Floats, weights: Floats, classes: bool) -> GraphColumns:
        """Make the columns of one target; those of classes weigh so that a class has the entries 1 / size."""
        shares = 1.0 - weights @ Y / weights.sum() if classes else np.ones(Y.shape[1])
        one, each = np.zeros(Y.shape[1], np.int64), np.arange(Y.shape[1])
        return cls(Y, one, each, np.zeros(Y.shape[1], bool), shares, 1, weights)

    def __len__(self) -> int:
        return len(self.owners)

    @property
    def n_samples(self) -> int:
        """Return the number of samples."""
        return int(self.X.shape[0])

    def of_variables(self, variables: Ints) -> Ints:
        """Return the positions of the columns of some variables."""
        return np.flatnonzero(np.isin(self.owners, variables))

    def restricted(self, variables: Ints) -> GraphColumns:
        """Return the columns of some variables, numbered anew."""
        own = self.of_variables(variables)
        owners = np.searchsorted(variables, self.owners[own])
        parts = (self.source[own], self.indicates[own], self.shares[own])
        return GraphColumns(self.X, owners, *parts, len(variables), self.weights)

    def summed(self, positions: Ints, values: Floats) -> Floats:
        """Return the sums over the columns of each variable, weighted by their shares."""
        weights = self.shares[positions] * values
        return np.bincount(self.owners[positions], weights, self.n_variables).astype(np.float64)

    def standardised(self, columns: Ints) -> Floats:
        """Return columns as rows of mean zero and variance one; zero where nothing varies."""
        values = self.X[:, self.source[columns]]
        rows = np.array((values.toarray() if sp.issparse(values) else values).T, np.float64, order="C")
        missing = np.isnan(rows)
        indicates = self.indicates[columns]
        rows[indicates], missing[indicates] = missing[indicates], False
        largest = np.abs(np.where(missing, 0.0, rows)).max(axis=1, keepdims=True)
        rows /= np.where(largest > 0, largest, 1.0)  # so that no square overflows
        present = np.where(missing, 0.0, self.weights)
        rows[missing] = 0.0
        total = present.sum(axis=1)
        rows -= ((rows * present).sum(axis=1) / np.where(total > 0, total, 1.0))[:, None]
        rows[missing] = 0.0
        deviation = np.sqrt((rows * rows) @ self.weights / self.weights.sum())
        varies = deviation > NEGLIGIBLE
        return np.asarray(
            rows * np.divide(1.0, deviation, out=np.zeros_like(deviation), where=varies)[:, None]
        )


def _missing_shares(X: Data, weights: Floats) -> Floats:
    """Return the share of samples without a value, for each column."""
    if sp.issparse(X):
        holes = sp.csc_array((np.isnan(X.data).astype(np.float64), X.indices, X.indptr), shape=X.shape)
        shares: Floats = np.asarray(holes.T @ weights) / weights.sum()
        return shares
    with np.errstate(over="ignore", invalid="ignore"):
        doubtful = np.isnan(X.sum(axis=0))  # without a mask of the whole of X
    shares = np.zeros(X.shape[1])
    for j in np.flatnonzero(doubtful):
        shares[j] = weights @ np.isnan(X[:, j]) / weights.sum()
    return shares


def gaussian_factors(rows: Floats, weights: Floats) -> list[Floats]:
    """Return a thin factor of the graph exp(-(a - b)^2 / 2) of each row, by pivoted Cholesky steps.

    Each step takes the value that is represented worst, in all rows at once, until nothing is left.
    """
    n, n_samples = rows.shape
    each, total, rank = np.arange(n), weights.sum(), 0
    factors, left = np.empty((n, FIRST_ROWS, n_samples)), np.ones((n, n_samples))
    while rank < n_samples and (unfinished := left @ weights > RESIDUAL * total).any():
        if rank == factors.shape[1]:
            factors = np.concatenate([factors, np.empty_like(factors)], axis=1)
        pivot = left.argmax(axis=1)
        column = np.exp(-0.5 * (rows - rows[each, pivot][:, None]) ** 2)
        if rank:
            column -= (factors[each, :rank, pivot][:, None, :] @ factors[:, :rank])[:, 0]
        root = np.sqrt(left[each, pivot])
        column *= np.divide(1.0, root, out=np.zeros(n), where=unfinished)[:, None]
        factors[:, rank] = column
        left = np.maximum(left - column * column, 0.0)
        left[each, pivot] = 0.0
        rank += 1
    factors = factors[:, :rank]
    return _of_norm_one(factors - (factors @ (weights / total))[:, :, None], weights)


def _of_norm_one(factors: Floats, weights: Floats) -> list[Floats]:
    """Scale centred factors (graphs x columns x samples) to norm one, and leave out what adds nothing."""
    factors = factors * np.sqrt(weights)
    values, vectors = np.linalg.eigh(factors @ factors.transpose(0, 2, 1))
    scaled = []
    for own, turn, factor in zip(values, vectors, factors, strict=True):
        norm = np.linalg.norm(own)
        used = own > DIRECTION * norm if norm > NEGLIGIBLE * weights.sum() else np.zeros(len(own), bool)
        scaled.append(turn[:, used].T @ factor / np.sqrt(norm or 1.0))
    return scaled


def node_factor(nodes: Floats, weights: Floats, graph: FeatureGraphKind) -> Floats:
    """Return a factor (columns x nodes) of the centred graph of a few values, of norm one.

    The weights of the nodes are not multiplied in: a sample has the entries of its node.
    """
    if not len(nodes) or np.ptp(nodes) == 0:
        return np.zeros((0, len(nodes)))
    share, root = weights / weights.sum(), np.sqrt(weights)
    K = adjacency(nodes, weights, graph)
    K = K - (K @ share)[:, None]
    K = K - share @ K
    values, vectors = np.linalg.eigh(root[:, None] * K * root)
    norm = float(np.linalg.norm(values))
    used = values > DIRECTION * norm
    return np.asarray((vectors[:, used] * np.sqrt(values[used] / norm)).T / root)


def adjacency(nodes: Floats, weights: Floats, graph: FeatureGraphKind) -> Floats:
    """Return the graph of a few values, each of which stands for samples of some weight."""
    A = np.abs(nodes[:, None] - nodes)
    if graph == "gaussian":
        return np.exp(-0.5 * A * A)
    if graph == "laplacian":
        return np.exp(-A)
    if graph == "distance":
        return -A
    lengths = np.sqrt((A * A) @ weights)
    return np.asarray((A * weights) @ A / np.outer(lengths, lengths))
