"""Methods side by side on one data set: how good, how many features, how steady, how fast; is it real?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np

from infused.bench.frames import (
    REFERENCES,
    failed_cells,
    metric_of,
    of_protocol,
    only_dataset,
    scored,
    without_references,
)
from infused.bench.paired import ALPHA, against_best, paired_test
from infused.bench.plan import ALL_FEATURES, ProtocolName
from infused.bench.statistics import best_scores, score_summary, stability_at
from infused.exceptions import InputError

if TYPE_CHECKING:
    from pandas import DataFrame, Series

__all__ = ["Standings", "compare_methods"]


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
