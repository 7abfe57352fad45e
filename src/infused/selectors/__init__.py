"""Selectors: one file for each estimator."""

from infused.selectors.infused_lasso import InFusedLasso

__all__ = ["InFusedLasso"]
