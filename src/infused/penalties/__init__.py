"""Penalties and their proximal operators: row norms, fusion, quadratic terms."""

from infused.penalties.fusion import FusedChain, chain_edges, fusion_edges, grid_edges, incidence
from infused.penalties.quadratic import Ridge, Structural
from infused.penalties.rows import L1, RowGroups

__all__ = [
    "L1",
    "FusedChain",
    "Ridge",
    "RowGroups",
    "Structural",
    "chain_edges",
    "fusion_edges",
    "grid_edges",
    "incidence",
]
