"""Norms of the rows of a coefficient matrix, one by one or in groups, and of their differences (fusion)."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp

from infused import _kernels
from infused._runtime.checks import sound
from infused._typing import Array, Floats, Ints
from infused.exceptions import InputError


@dataclass(frozen=True, eq=False)
class RowGroups:
    r"""One group per feature: :math:`\lambda \sum_i w_i |b_i|_2` over the rows of B.

    With one target it is the l1 norm, and its proximal operator the soft threshold of Algorithm 1.
    """

    weight: float
    factors: Floats | None = None
    """w, what the weight is multiplied with for each feature; None for one. Infinity keeps a row at zero."""
    positive: bool = False
    """Whether no coefficient may be negative."""

    def value(self, B: Floats) -> float:
        """Compute the penalty."""
        return _weighted_sum(self._weights, self.lengths(B))

    def prox(self, B: Floats, step: float = 1.0) -> Floats:
        """Minimise 1/2 |P - B|^2 + step weight sum_i w_i |p_i| over P: rows shrink, and short ones vanish."""
        B = np.maximum(B, 0.0) if self.positive else B
        return B * shrinkage(np.linalg.norm(B, axis=1), step * self._weights)[:, None]

    def distance(self, B: Floats, G: Floats) -> Floats:
        """Measure how far each row of -G is from the subdifferential at B; all zero at an optimum."""
        norm, weights = self.lengths(B), self._weights
        direction = np.divide(B, norm[:, None], out=np.zeros_like(B), where=norm[:, None] > 0)
        pull = np.where(norm > 0, weights, 0.0)[:, None] * direction
        off = self.lengths(unmet(B, G + pull) if self.positive else G + pull)
        return np.asarray(np.where(norm > 0, off, np.maximum(off - weights, 0.0)))

    def lengths(self, B: Floats) -> Floats:
        """Measure each row."""
        return np.abs(B[:, 0]) if B.shape[1] == 1 else np.asarray(np.linalg.norm(B, axis=1))

    def members(self, groups: Ints) -> tuple[Ints, Ints]:
        """Return the features themselves: every group is one."""
        return groups, np.arange(len(groups) + 1)

    def restricted(self, features: Ints) -> RowGroups:
        """Return the penalty of some of the rows."""
        factors = None if self.factors is None else self.factors[features]
        return RowGroups(self.weight, factors, self.positive)

    def thresholds(self, groups: Ints) -> Floats:
        """Return the weight of each of some rows."""
        if self.factors is None:
            return np.full(len(groups), self.weight)
        return _times(self.weight, self.factors[groups])

    @property
    def _weights(self) -> float | Floats:
        return self.weight if self.factors is None else _times(self.weight, self.factors)


class GroupNorms:
    r"""Given groups of features: :math:`\lambda \sum_g w_g \sqrt{p_g} |B_g|_F`, with p_g features in group g.

    ``labels`` holds one label of any kind for each feature, and ``factors`` w, one for each label in its
    order. Groups of one feature make it :class:`RowGroups`.
    """

    def __init__(self, weight: float, labels: Array, factors: Floats | None = None, positive: bool = False):
        _, self.codes, self.sizes = np.unique(labels, return_inverse=True, return_counts=True)
        self.weight, self.positive = weight, positive
        self._order = np.argsort(self.codes, kind="stable")
        self._starts = np.concatenate([[0], np.cumsum(self.sizes)])
        self._factors = np.sqrt(self.sizes)
        if factors is not None:
            self._factors = self._factors * factors

    def value(self, B: Floats) -> float:
        """Compute the penalty."""
        if np.isfinite(self._factors).all():
            return self.weight * float((self._factors * self.lengths(B)).sum())
        return _weighted_sum(_times(self.weight, self._factors), self.lengths(B))

    def prox(self, B: Floats, step: float = 1.0) -> Floats:
        """Shrink groups, so that short ones vanish."""
        B = np.maximum(B, 0.0) if self.positive else B
        keep = shrinkage(self.lengths(B), _times(step * self.weight, self._factors))
        return B * keep[self.codes][:, None]

    def distance(self, B: Floats, G: Floats) -> Floats:
        """Measure how far each group of -G is from the subdifferential at B."""
        length, weight = self.lengths(B), _times(self.weight, self._factors)
        pull = np.divide(weight, length, out=np.zeros_like(length), where=length > 0)
        off = G + pull[self.codes][:, None] * B
        off = self.lengths(unmet(B, off) if self.positive else off)
        return np.asarray(np.where(length > 0, off, np.maximum(off - weight, 0.0)))

    def lengths(self, B: Floats) -> Floats:
        """Measure each group of rows."""
        squares = np.einsum("ij,ij->i", B, B)
        return np.asarray(np.sqrt(np.bincount(self.codes, weights=squares, minlength=len(self._factors))))

    def members(self, groups: Ints) -> tuple[Ints, Ints]:
        """Return the features of some groups, one group after the other, and where each begins."""
        parts = [self._order[self._starts[g] : self._starts[g + 1]] for g in groups]
        if not parts:
            return np.empty(0, np.int64), np.zeros(1, np.int64)
        return np.concatenate(parts), np.concatenate([[0], np.cumsum([len(part) for part in parts])])

    def thresholds(self, groups: Ints) -> Floats:
        """Return lambda times the root of the size, and the factor, of some groups."""
        return _times(self.weight, self._factors[groups])


@dataclass(frozen=True)
class L1:
    r"""Every coefficient by itself: :math:`\lambda \sum_{ij} |b_{ij}|`."""

    weight: float

    def value(self, B: Floats) -> float:
        """Compute the penalty."""
        return self.weight * float(np.abs(B).sum())

    def prox(self, B: Floats, step: float = 1.0) -> Floats:
        """Apply the soft threshold to every entry."""
        return B * shrinkage(np.abs(B), step * self.weight)


def shrinkage(size: Floats, threshold: float | Floats) -> Floats:
    """Return the factor that takes ``threshold`` off a length, or all of it where it is shorter."""
    left = np.maximum(size - threshold, 0.0)
    return np.divide(left, size, out=np.zeros_like(size), where=left > 0)


def unmet(B: Floats, G: Floats) -> Floats:
    """Return what is left of a gradient where no coefficient may be negative: zero may be pushed down."""
    return np.where((B == 0) & (G > 0), 0.0, G)


def _times(weight: float, factors: Floats) -> Floats:
    """Return the weights of rows; those of an infinite factor are infinite even where the weight is zero."""
    finite = np.isfinite(factors)
    if finite.all():
        return np.asarray(weight * factors)
    return np.where(finite, weight * np.where(finite, factors, 0.0), np.inf)


def _weighted_sum(weights: float | Floats, lengths: Floats) -> float:
    """Return the sum of lengths, of which those that are zero may have an infinite weight."""
    if not isinstance(weights, np.ndarray):
        return weights * float(lengths.sum())
    used = lengths > 0
    return float(weights[used] @ lengths[used])


NO_EDGES: Ints = np.empty((0, 2), np.int64)


def chain_edges(n_features: int) -> Ints:
    """Join each feature to the next: the paper's C."""
    first = np.arange(n_features - 1, dtype=np.int64)
    return np.column_stack([first, first + 1])


def grid_edges(shape: tuple[int, int]) -> Ints:
    """Join each pixel of an image, stored row by row, to its right and its lower neighbour."""
    pixel = np.arange(shape[0] * shape[1], dtype=np.int64).reshape(shape)
    right = np.column_stack([pixel[:, :-1].ravel(), pixel[:, 1:].ravel()])
    below = np.column_stack([pixel[:-1].ravel(), pixel[1:].ravel()])
    return np.concatenate([right, below])


def fusion_edges(fusion: Any, n_features: int, grid_shape: tuple[int, int] | None = None) -> Ints:
    """Return the edges that ``fusion`` names: "chain", "grid", "none", pairs, or a sparse adjacency."""
    if isinstance(fusion, str):
        if fusion == "none":
            return NO_EDGES
        if fusion == "chain":
            return chain_edges(n_features)
        if fusion == "grid":
            if grid_shape is None or not _covers(grid_shape, n_features):
                raise InputError(f"fusion='grid' needs a grid_shape of {n_features}, got {grid_shape!r}.")
            return grid_edges(grid_shape)
        raise InputError(f"fusion must be 'chain', 'grid', 'none' or edges, got {fusion!r}.")
    edges = _given_edges(fusion)
    if len(edges) and not (edges.min() >= 0 and edges.max() < n_features):
        raise InputError(f"fusion names features outside 0 .. {n_features - 1}.")
    return edges


def _covers(shape: Any, n_features: int) -> bool:
    """Tell whether it is a pair of whole numbers with so many pixels."""
    if np.shape(shape) != (2,) or not all(isinstance(side, Integral) for side in shape):
        return False
    rows, columns = map(int, shape)
    return rows > 0 and rows * columns == n_features


def incidence(edges: Ints, n_features: int) -> sp.csr_array:
    """Build C: (C b)_e = b_j - b_i for edge e = (i, j)."""
    n_edges = len(edges)
    rows = np.repeat(np.arange(n_edges), 2)
    signs = np.tile([-1.0, 1.0], n_edges)
    return sp.csr_array((signs, (rows, edges.ravel())), shape=(n_edges, n_features))


@dataclass(frozen=True)
class FusedChain:
    r"""The fused lasso on a chain: :math:`\lambda_1 |b|_1 + \lambda_2 \sum_i |b_{i+1} - b_i|`."""

    weight: float
    fusion_weight: float

    def value(self, B: Floats) -> float:
        """Compute the penalty."""
        return L1(self.weight).value(B) + self.fusion_weight * float(np.abs(np.diff(B, axis=0)).sum())

    def prox(self, B: Floats, step: float = 1.0) -> Floats:
        """Apply total variation, then the soft threshold; exact (Friedman, Hastie et al. 2007)."""
        smoothed, weight = _kernels.total_variation_prox, step * self.fusion_weight
        smooth = np.column_stack([smoothed(np.ascontiguousarray(b), weight) for b in B.T])
        return L1(self.weight).prox(smooth, step)


def _given_edges(fusion: Any) -> Ints:
    if sp.issparse(fusion):
        fusion = sound(fusion, "fusion")
        if fusion.shape[0] != fusion.shape[1]:
            raise InputError(f"fusion must be square where it is an adjacency, got {fusion.shape}.")
        upper = sp.coo_array(sp.triu(fusion, 1) + sp.triu(fusion.T, 1))
        return np.column_stack([upper.row, upper.col]).astype(np.int64)
    edges = np.asarray(fusion)
    if edges.ndim != 2 or edges.shape[1] != 2 or edges.dtype.kind not in "iu":
        raise InputError("fusion must be 'chain', 'grid', 'none', a sparse adjacency, or pairs of features.")
    return edges.astype(np.int64)
