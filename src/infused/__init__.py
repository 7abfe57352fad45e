"""Feature selection with structural information.

Names are loaded when they are first used, so that ``import infused`` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from infused.graphs import FeatureGraph, feature_distributions, target_distributions
    from infused.information import (
        StructuralInformation,
        jensen_shannon,
        similarity,
        structural_information,
    )
    from infused.selectors import (
        JMIM,
        MIFS,
        MRMR,
        FusedLasso,
        GreedyForward,
        GroupLasso,
        InElasticNet,
        InFusedLasso,
        InLasso,
        Lasso,
        RandomSelector,
        ULasso,
        available_selectors,
        make_selector,
    )

__version__ = "0.1.0"

_HOME = {
    "FeatureGraph": "infused.graphs",
    "FusedLasso": "infused.selectors",
    "GreedyForward": "infused.selectors",
    "GroupLasso": "infused.selectors",
    "InElasticNet": "infused.selectors",
    "InFusedLasso": "infused.selectors",
    "InLasso": "infused.selectors",
    "JMIM": "infused.selectors",
    "Lasso": "infused.selectors",
    "MIFS": "infused.selectors",
    "MRMR": "infused.selectors",
    "RandomSelector": "infused.selectors",
    "StructuralInformation": "infused.information",
    "ULasso": "infused.selectors",
    "available_selectors": "infused.selectors",
    "feature_distributions": "infused.graphs",
    "jensen_shannon": "infused.information",
    "make_selector": "infused.selectors",
    "similarity": "infused.information",
    "structural_information": "infused.information",
    "target_distributions": "infused.graphs",
}

__all__ = [
    "JMIM",
    "MIFS",
    "MRMR",
    "FeatureGraph",
    "FusedLasso",
    "GreedyForward",
    "GroupLasso",
    "InElasticNet",
    "InFusedLasso",
    "InLasso",
    "Lasso",
    "RandomSelector",
    "StructuralInformation",
    "ULasso",
    "available_selectors",
    "feature_distributions",
    "jensen_shannon",
    "make_selector",
    "similarity",
    "structural_information",
    "target_distributions",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'infused' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
