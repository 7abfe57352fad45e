"""Methods side by side on one data set: how good, how many features, how steady, how fast; is it real?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from infused._runtime.messages import extra
from infused.bench.plan import ALL_FEATURES, CHANCE, REFERENCES, ProtocolName
from infused.bench.ranks import ALPHA, against_best, paired_test
from infused.bench.rows import (
    failed_cells,
    metric_of,
    of_protocol,
    only_dataset,
    scored,
    without_references,
)
from infused.bench.statistics import best_scores, score_summary, stability_at
from infused.bench.table_formats import p_text
from infused.exceptions import InputError
from infused.record.sentences import measure, score_number, score_text, unit

if TYPE_CHECKING:
    from pandas import DataFrame, Series


@dataclass(frozen=True)
class Standings:
    """What the rows of one data set say about the methods.

    Parameters
    ----------
    dataset : str
        The name of the data.
    protocol : {"nested", "leaky"}
        What the selections saw.
    metric : str
        What counts.
    methods : DataFrame
        The best first; columns label, mean, error, k, smallest_k, n_folds, difference, low, high, p_holm,
        stability, stability_low, stability_high, select_seconds, failed. Methods without any result come
        last, with numbers that are not there.
    curves : DataFrame
        From :func:`infused.bench.statistics.score_summary`.
    rows : DataFrame
        Labelled, as they came.
    references : DataFrame
        What all features, and the majority class or the mean of the target, reach; columns label, method,
        mean, error, k, n_folds, difference (to the best method), low, high, p_value, failed.
    reason : str, default=""
        Why this metric counts, where nobody asked for it.

    See Also
    --------
    compare_methods : Makes one.
    verdict : Says it in words.

    Examples
    --------
    >>> import infused
    >>> found = infused.compare("wine", methods=["anova"], k=2, folds=2)
    >>> found.standings.methods["label"].tolist()
    ['anova', 'random']
    """

    dataset: str
    protocol: ProtocolName
    metric: str
    methods: DataFrame
    curves: DataFrame
    rows: DataFrame
    references: DataFrame
    reason: str = ""

    @property
    def everyone(self) -> DataFrame:
        """The methods, and below them the references."""
        import pandas as pd

        parts = (self.methods, self.references)
        columns = list(dict.fromkeys(name for part in parts for name in part))
        # Columns of one part alone make pd.concat warn in pandas 2.
        return pd.DataFrame([one for part in parts for one in part.to_dict("records")], columns=columns)

    @property
    def tied(self) -> list[str]:
        """The methods with the best mean: one, unless means are the same."""
        means = self.methods["mean"]
        # Equal shares of right answers may differ in their last digit.
        return [str(one) for one in self.methods.loc[means > means.max() - 1e-12, "label"]]

    @property
    def beaten(self) -> list[str]:
        """Methods that are worse than the best by more than chance, after Holm's correction."""
        return [str(one) for one in self.methods.loc[self.methods["p_holm"] < ALPHA, "label"]]

    @property
    def undecided(self) -> list[str]:
        """Methods that these folds cannot tell from the best; not those with the same mean."""
        others = self.methods[~self.methods["label"].isin(self.tied)]
        return [str(one) for one in others.loc[others["mean"].notna() & ~(others["p_holm"] < ALPHA), "label"]]


def compare_methods(
    rows: DataFrame, *, protocol: ProtocolName | None = None, metric: str | None = None, reason: str = ""
) -> Standings:
    """Every method at its best k on one data set, set against the best of them.

    Parameters
    ----------
    rows : DataFrame
        One row per k of a cell, of one data set.
    protocol : {"nested", "leaky"}, default=None
        Needed where the rows hold both.
    metric : str, default=None
        By default the one that counted when the rows were made.
    reason : str, default=""
        Why that one, where nobody asked for it.

    Returns
    -------
    Standings
        The methods, the best first, and whether the others are worse by more than chance.

    Raises
    ------
    InputError
        Where no method finished a fold, or the rows are of several data sets.

    See Also
    --------
    Store.frame : The rows of a benchmark.
    verdict : The answer in words.

    Examples
    --------
    >>> import infused
    >>> rows = infused.compare("wine", methods=["anova"], k=2, folds=2).rows
    >>> infused.bench.compare_methods(rows, metric="f1").methods["label"].tolist()
    ['anova', 'random']
    """
    every = of_protocol(rows, protocol)
    dataset = only_dataset(every)
    mine = without_references(every)
    if not (mine["status"] == "ok").any():
        raise InputError(f"there is nothing to compare: no method finished a fold of {dataset}")
    metric = metric_of(every, metric)
    found = cast(ProtocolName, str(mine["protocol"].iloc[0]))
    methods = _with_failed(against_best(mine, metric), mine)
    methods = methods.join(_stabilities(mine, methods, found)).join(_seconds(mine), on="label")
    references = _references(every, methods.iloc[0], metric)
    return Standings(dataset, found, metric, methods, score_summary(mine, metric), every, references, reason)


def _references(rows: DataFrame, best: Series, metric: str) -> DataFrame:
    """All features first, then the majority class or the mean, each against the best method."""
    import pandas as pd

    mine = rows[rows["method"].isin(REFERENCES)]
    found = _with_failed(best_scores(score_summary(mine, metric)), mine)
    found = found.iloc[np.argsort(found["method"] != ALL_FEATURES, kind="stable")]
    results = scored(rows, metric)
    tests = [
        None
        if np.isnan(k)
        else paired_test(results, (label, int(k)), (best["label"], int(best["k"])), metric)
        for label, k in zip(found["label"], found["k"], strict=True)
    ]
    figures = [
        [np.nan if test is None else getattr(test, name) for name in ("difference", "low", "high", "p_value")]
        for test in tests
    ]
    columns = ["difference", "low", "high", "p_value"]
    return found.join(pd.DataFrame(figures, columns=columns, index=found.index)).reset_index(drop=True)


def _with_failed(best: DataFrame, rows: DataFrame) -> DataFrame:
    """The methods that never finished, too, and how many folds each lost."""
    failed = failed_cells(rows)["label"].value_counts()
    nothing = sorted(set(rows["label"]) - set(best["label"]))
    every = best.set_index("label").reindex([*best["label"], *nothing]).reset_index()
    return every.assign(failed=every["label"].map(failed).fillna(0).astype(int))


def _stabilities(rows: DataFrame, methods: DataFrame, protocol: ProtocolName) -> DataFrame:
    import pandas as pd

    found = []
    for label, k in zip(methods["label"], methods["k"], strict=True):
        # The leaky protocol selects once, on all samples: its folds say nothing about stability.
        one = None if protocol == "leaky" or np.isnan(k) else stability_at(rows, label, int(k))
        found.append((np.nan,) * 3 if one is None else (one.index, one.low, one.high))
    return pd.DataFrame(found, columns=["stability", "stability_low", "stability_high"], index=methods.index)


def _seconds(rows: DataFrame) -> Series:
    """Mean seconds to select, by method; every row of a cell holds those of the cell."""
    cells = rows[rows["status"] == "ok"].groupby(["label", "repeat", "fold"])["select_seconds"]
    return cells.max().groupby("label").mean()


BASELINE = "random"


def agreement(standings: Standings, names: Sequence[str]) -> DataFrame:
    """The share of folds in which each method selected each feature, with as many features as the best has.

    One row for each feature that any method selected, but for random features; those on which methods agree
    most come first. One column for each method, the best first.
    """
    pandas = extra("pandas")
    k = int(standings.methods["k"].iloc[0])
    shares = {}
    for method in standings.methods["label"]:
        mine = standings.rows[standings.rows["label"] == method]["selected"]
        folds = [one[:k] for one in mine if isinstance(one, list | tuple | np.ndarray) and len(one) >= k]
        if folds:
            shares[str(method)] = np.bincount(np.concatenate(folds), minlength=len(names)) / len(folds)
    table = pandas.DataFrame(shares, index=pandas.Index(list(names), name="feature"))
    real = table.drop(columns=BASELINE, errors="ignore")
    order = np.argsort(-real.mean(axis=1).to_numpy(), kind="stable") if real.shape[1] else np.arange(0)
    chosen = [n for n in order if real.iloc[n].max() > 0]
    return table.iloc[chosen]


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
    reach = f"the {none['method']} alone reaches {score_number(none['mean'], standings.metric)}"
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
