"""The version of every selector: a number that a change of its results raises.

Results that are kept (:class:`infused.bench.Store`) carry it, and those of another version are neither taken
for today's nor averaged with them. The recorded answers of the tests hold the numbers to the code: an answer
that changes while the number stays fails.
"""

from __future__ import annotations

from infused.selectors.registry import ABLATIONS, available_selectors, selector_info

__all__ = ["FIRST", "selector_version"]

#: What everything had before there were versions.
FIRST = "1"

#: Of those that changed since; raise the number with any change of what a selector answers.
CHANGED = {
    # 2: one order serves every number of features; features are fused only where their order means something.
    # 3: solvers go on until the order is certain, whatever their tolerance.
    # 4: copies of a feature and fused features are ties; of very many features U is formed where needed.
    # 5: copies of a feature share coefficients in one way also where features are fused.
    # 6: the default ranking is recursive elimination by the model itself, down to one feature.
    "infused-lasso": "6",
    "in-elastic-net": "6",
    "in-lasso": "6",
    "lasso": "6",
    "ulasso": "6",
    "fused-lasso": "6",
    "group-lasso": "6",
    # 2: the linear selectors behind them rank by recursive elimination.
    "auto": "2",
    "stability": "2",
    # 2: bins are counted exactly instead of a neighbours' estimate.
    "mutual-info": "2",
    # 2: clusters from five times as many features as samples; a shorter path.
    "knockoffs": "2",
    # 2: the trees' samples are drawn as whole weights would repeat them.
    "random-forest": "2",
}


def selector_version(id: str) -> str:
    """The version of what this id names today.

    That of an ablation is the version of what it changes, and that of a selector from another package is the
    package's. A class of one's own, named by its path, has none that could be known: ``--recompute`` measures
    it anew.

    >>> from infused.selectors.versions import selector_version
    >>> selector_version("infused-lasso"), selector_version("random")
    ('6', '1')
    """
    if id in ABLATIONS:
        return selector_version(id.partition("[")[0])
    if id in available_selectors():
        return CHANGED.get(id) or selector_info(id).package_version or FIRST
    return FIRST
