"""The answer to a comparison in words: no claim beyond what the folds show."""

from __future__ import annotations

from math import isnan
from typing import Any

from infused.bench.captions import measure, number, p_text, score_text, unit
from infused.bench.frames import scored
from infused.bench.paired import ALPHA, paired_test
from infused.bench.plan import ALL_FEATURES, CHANCE
from infused.bench.standings import Standings

__all__ = ["n_features", "verdict", "with_unit"]


def verdict(standings: Standings) -> str:
    """Say which selector is best, whether that is more than chance, and what dropping features costs.

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
    parts = (_best(standings), _real(standings), _dropping(standings), _chance(standings))
    return " ".join(part for part in parts if part)


def _best(standings: Standings) -> str:
    best, tied, metric = standings.methods.iloc[0], standings.tied, standings.metric
    words = f"mean {measure(metric).words}, {with_unit(best, metric)}"
    if len(tied) > 1:
        every = len(tied) == standings.methods["mean"].notna().sum()
        who = f"All {len(tied)} methods" if every else listed(tied)
        return (
            f"{who} have the same{'' if every else ' best'} {words}, each with its best number of features."
        )
    k, enough, tried = int(best["k"]), int(best["smallest_k"]), standings.curves["k"].nunique()
    first = f"{best['label']} has the best {words}, with {k:,} of {n_features(standings):,} features"
    if tried == 1:
        return f"{first}, the only number that was tried."
    if isnan(best["error"]):
        return f"{first}."
    if enough < k:
        comes = "is enough" if enough == 1 else "are enough"
        return f"{first}; {enough:,} {comes} to come within one standard error of that."
    return f"{first}; no smaller number that was tried comes within one standard error of that."


def _real(standings: Standings) -> str:
    beaten, undecided, tied = standings.beaten, standings.undecided, standings.tied
    if standings.protocol == "leaky":
        return (
            "But its features were selected with the test folds in view (leaky protocol), so neither this "
            "figure nor any difference can be trusted."
        )
    if not beaten and not undecided:
        if len(tied) > 1:
            return "These folds show no difference between them."
        return "There is no other method to compare it with."
    p = standings.methods["p_holm"].min()
    if isnan(p):
        return "Whether the others are worse cannot be told from fewer than two folds."
    if not beaten:
        random = ", not even from random features" if "random" in [*undecided, *tied] else ""
        return (
            f"No difference that these folds can show{random}: chance alone could put the others as "
            f"far behind (smallest p {p_text(p)} after Holm's correction)."
        )
    better = f"better than {listed(beaten)} (p < {ALPHA:g} after Holm's correction)"
    they = "They are" if len(tied) > 1 else "It is"
    if not undecided:
        return f"{they} {better}, that is, than every other method here."
    return f"{they} {better}, but these folds show no difference from {listed(undecided)}."


def _dropping(standings: Standings) -> str:
    """Does dropping features cost anything?"""
    whole = _reference(standings, (ALL_FEATURES,))
    if whole is None or standings.protocol == "leaky":
        return ""
    best, n = standings.methods.iloc[0], n_features(standings)
    k = int(best["k"]) if best["k"] < n else int(best["smallest_k"])
    if k == n:
        return "Dropping features costs something: no smaller number that was tried comes as near."
    test = paired_test(
        scored(standings.rows, standings.metric), (best["label"], k), (whole["label"], n), standings.metric
    )
    if test is None or isnan(test.p_value):
        return ""
    reach = f"all {n:,} reach {with_unit(whole, standings.metric)} (p {p_text(test.p_value)})"
    if test.p_value >= ALPHA:
        return f"Dropping features costs nothing that these folds can show: {reach}."
    if test.difference < 0:
        return f"Dropping features costs something: {reach}."
    return f"Dropping features helps: {reach}."


def _chance(standings: Standings) -> str:
    """What comes without any feature, and whether the best does better."""
    none = _reference(standings, tuple(CHANCE.values()))
    if none is None:
        return ""
    reach = f"the {none['method']} alone reaches {number(none['mean'], standings.metric)}"
    reach += unit(standings.metric)[1]
    better = none["difference"] < 0 and none["p_value"] < ALPHA
    if better or standings.protocol == "leaky" or isnan(none["p_value"]):
        return f"T{reach[1:]}."
    return f"Nothing here is surely better than no features at all: {reach} (p {p_text(none['p_value'])})."


def _reference(standings: Standings, ids: tuple[str, ...]) -> Any:
    """The line of a reference, where it has a result."""
    found = standings.references
    found = found[found["method"].isin(ids) & found["mean"].notna()]
    return found.iloc[0] if len(found) else None


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
