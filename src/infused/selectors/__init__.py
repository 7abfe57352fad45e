"""Selectors behind scikit-learn's interface, and their registry."""

from infused.selectors.fused_lasso import FusedLasso
from infused.selectors.greedy_forward import GreedyForward
from infused.selectors.group_lasso import GroupLasso
from infused.selectors.in_elastic_net import InElasticNet
from infused.selectors.in_lasso import InLasso
from infused.selectors.infused_lasso import InFusedLasso
from infused.selectors.jmim import JMIM
from infused.selectors.lasso import Lasso
from infused.selectors.mifs import MIFS
from infused.selectors.mrmr import MRMR
from infused.selectors.registry import available_selectors, make_selector
from infused.selectors.scores import RandomSelector
from infused.selectors.ulasso import ULasso

__all__ = [
    "JMIM",
    "MIFS",
    "MRMR",
    "FusedLasso",
    "GreedyForward",
    "GroupLasso",
    "InElasticNet",
    "InFusedLasso",
    "InLasso",
    "Lasso",
    "RandomSelector",
    "ULasso",
    "available_selectors",
    "make_selector",
]
