"""A feature becomes a graph, a graph becomes a distribution."""

from infused.graphs.distributions import feature_distributions, target_distributions
from infused.graphs.feature_graph import FeatureGraph, relation_curve

__all__ = [
    "FeatureGraph",
    "feature_distributions",
    "relation_curve",
    "target_distributions",
]
