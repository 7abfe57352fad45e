"""Which features belong together: the rows of C are differences along the edges of a graph of features."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp

from infused import _kernels
from infused._runtime.checks import sound
from infused._typing import Floats, Ints
from infused.exceptions import InputError
from infused.penalties.rows import L1

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
