"""Divergences between distributions, and the structural information matrix."""

from infused.information.pair_sums import jensen_shannon, similarity
from infused.information.structural import StructuralInformation, structural_information

__all__ = ["StructuralInformation", "jensen_shannon", "similarity", "structural_information"]
