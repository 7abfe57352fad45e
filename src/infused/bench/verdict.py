"""The answer to a comparison in words: no claim beyond what the folds show."""

from __future__ import annotations

from math import isnan
from typing import Any

from infused.bench.captions import METRICS, p_text, score_text, unit
from infused.bench.paired import ALPHA
from infused.bench.standings import Standings

__all__ = ["n_features", "verdict", "with_unit"]


def verdict(standings: Standings) -> str:
    """Say which selector is best and with how many features, and whether that is more than chance.

    Parameters
    ----------
    standings : Standings
        What the folds say about the methods.

    Returns
    -------
    str
        A few sentences.

    See Also
    --------
    compare_methods : Makes the standings.

    Examples
    --------
    >>> import infused
    >>> found = infused.compare("wine", methods=["anova"], k=2, folds=2)
    >>> print(infused.bench.verdict(found.standings).partition(",")[0])
    anova has the best mean accuracy
    """
    return f"{_best(standings)} {_real(standings)}"


def _best(standings: Standings) -> str:
    best = standings.methods.iloc[0]
    k, enough, tried = int(best["k"]), int(best["smallest_k"]), standings.curves["k"].nunique()
    first = (
        f"{best['label']} has the best mean {METRICS[standings.metric]}, "
        f"{with_unit(best, standings.metric)}, with {k:,} of {n_features(standings):,} features"
    )
    if tried == 1:
        return f"{first}, the only number that was tried."
    if isnan(best["error"]):
        return f"{first}."
    if enough < k:
        comes = "is enough" if enough == 1 else "are enough"
        return f"{first}; {enough:,} {comes} to come within one standard error of that."
    return f"{first}; no smaller number that was tried comes within one standard error of that."


def _real(standings: Standings) -> str:
    beaten, undecided = standings.beaten, standings.undecided
    if standings.protocol == "leaky":
        return (
            "But its features were selected with the test folds in view (leaky protocol), so neither this "
            "figure nor any difference can be trusted."
        )
    if not beaten and not undecided:
        return "There is no other method to compare it with."
    p = standings.methods["p_holm"].min()
    if isnan(p):
        return "Whether the others are worse cannot be told from fewer than two folds."
    if not beaten:
        random = ", not even from random features" if "random" in undecided else ""
        return (
            f"No difference that these folds can show{random}: chance alone could put the others as "
            f"far behind (smallest p {p_text(p)} after Holm's correction)."
        )
    better = f"better than {listed(beaten)} (p < {ALPHA:g} after Holm's correction)"
    if not undecided:
        return f"It is {better}, that is, than every other method here."
    return f"It is {better}, but these folds show no difference from {listed(undecided)}."


def listed(names: list[str], most: int = 8) -> str:
    """Names as a sentence has them."""
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def with_unit(one: Any, metric: str) -> str:
    """A mean with its error and the metric's unit."""
    return f"{score_text(one['mean'], one['error'], metric)}{unit(metric)[1]}"


def n_features(standings: Standings) -> int:
    """How many features there were to select from."""
    return int(standings.rows["n_features"].max())
