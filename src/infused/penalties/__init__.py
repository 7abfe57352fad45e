"""Penalties and their proximal operators: row norms, fusion, quadratic terms."""

from infused.penalties.fusion import FusedChain, chain_edges, fusion_edges, grid_edges, incidence
from infused.penalties.quadratic import Decorrelation, PairInformation, Quadratic, Ridge, Structural
from infused.penalties.rows import L1, GroupNorms, RowGroups

__all__ = [
    "L1",
    "Decorrelation",
    "FusedChain",
    "GroupNorms",
    "PairInformation",
    "Quadratic",
    "Ridge",
    "RowGroups",
    "Structural",
    "chain_edges",
    "fusion_edges",
    "grid_edges",
    "incidence",
]
