"""Feature selection with structural information.

Names are loaded when they are first used, so that ``import infused`` costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from infused._lazy import lazy_names

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
    "FeatureGraph": "graphs",
    "FusedLasso": "selectors",
    "GreedyForward": "selectors",
    "GroupLasso": "selectors",
    "InElasticNet": "selectors",
    "InFusedLasso": "selectors",
    "InLasso": "selectors",
    "JMIM": "selectors",
    "Lasso": "selectors",
    "MIFS": "selectors",
    "MRMR": "selectors",
    "RandomSelector": "selectors",
    "StructuralInformation": "information",
    "ULasso": "selectors",
    "available_selectors": "selectors",
    "feature_distributions": "graphs",
    "jensen_shannon": "information",
    "make_selector": "selectors",
    "similarity": "information",
    "structural_information": "information",
    "target_distributions": "graphs",
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

__getattr__ = lazy_names(__name__, _HOME)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
