"""Penalties and their proximal operators: row norms, fusion, quadratic terms."""

from infused.penalties.fusion import FusedChain, chain_edges, fusion_edges, grid_edges, incidence
from infused.penalties.quadratic import Decorrelation, Quadratic, Ridge, Structural, Sum
from infused.penalties.rows import L1, GroupNorms, RowGroups

__all__ = [
    "L1",
    "Decorrelation",
    "FusedChain",
    "GroupNorms",
    "Quadratic",
    "Ridge",
    "RowGroups",
    "Structural",
    "Sum",
    "chain_edges",
    "fusion_edges",
    "grid_edges",
    "incidence",
]
