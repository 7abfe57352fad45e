"""Penalties and their proximal operators: row norms, fusion, quadratic terms."""

from infused.penalties.norms import (
    L1,
    FusedChain,
    GroupNorms,
    RowGroups,
    chain_edges,
    fusion_edges,
    grid_edges,
    incidence,
)
from infused.penalties.quadratic import Decorrelation, PairInformation, Quadratic, Ridge, Structural

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
