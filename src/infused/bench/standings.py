"""Methods side by side on one data set: how good, how many features, how steady, how fast; is it real?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from infused._runtime.messages import enumerated, extra
from infused.bench.plan import ALL_FEATURES, CHANCE, REFERENCES, ProtocolName
from infused.bench.rows import failed_cells, metric_of, of_protocol, only_dataset, scored, without_references
from infused.bench.statistics import (
    ALPHA,
    against_best,
    best_scores,
    p_text,
    paired_test,
    paired_with,
    score_summary,
    stability_at,
)
from infused.exceptions import InputError
from infused.record.sentences import measure, score_number, score_text, unit

if TYPE_CHECKING:
    from pandas import DataFrame, Series


BASELINE = "random"
#: Columns of the methods, and which field of a stability each is.
STABILITY = {
    "stability": "index",
    "stability_low": "low",
    "stability_high": "high",
    "kuncheva": "kuncheva",
    "jaccard": "jaccard",
}


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
        stability, stability_low, stability_high, kuncheva, jaccard, select_seconds, failed. Methods without
        any result come last, with numbers that are not there.
    curves : DataFrame
        From :func:`infused.bench.statistics.score_summary`.
    rows : DataFrame
        Labelled, as they came.
    references : DataFrame
        What all features, and the majority class or the mean of the target, reach; columns label, method,
        mean, error, k, n_folds, difference (to the best method), low, high, p_value, failed.
    reason : str, default=""
        Why this metric counts, where nobody asked for it.
    seconds : float, default=None
        How long all of it took, by the clock; None where it was measured earlier.

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
    seconds: float | None = None

    @property
    def everyone(self) -> DataFrame:
        """Return the methods, and below them the references."""
        import pandas as pd

        parts = (self.methods, self.references)
        columns = list(dict.fromkeys(name for part in parts for name in part))
        # Columns of one part alone make pd.concat warn in pandas 2.
        return pd.DataFrame([one for part in parts for one in part.to_dict("records")], columns=columns)

    @property
    def tied(self) -> list[str]:
        """Return the methods with the best mean: one, unless means are the same."""
        means = self.methods["mean"]
        # Equal shares of right answers may differ in their last digit.
        return [str(one) for one in self.methods.loc[means > means.max() - 1e-12, "label"]]

    @property
    def recommended(self) -> Series | None:
        """Return the method to use.

        None where none has a better mean than random features, or none is significantly better than the
        majority class or the mean of the target.
        """
        none = _reference(self, tuple(CHANCE.values()))
        chance = none is not None and (none["difference"] >= 0 or none["p_value"] >= ALPHA)
        return None if BASELINE in self.tied or chance else self.methods.iloc[0]

    @property
    def beaten(self) -> list[str]:
        """List methods that are significantly worse than the best, after Holm's correction."""
        return [str(one) for one in self.methods.loc[self.methods["p_holm"] < ALPHA, "label"]]

    @property
    def undecided(self) -> list[str]:
        """List methods that are not significantly worse than the best; not those with the same mean."""
        others = self.methods[~self.methods["label"].isin(self.tied)]
        return [str(one) for one in others.loc[others["mean"].notna() & ~(others["p_holm"] < ALPHA), "label"]]


def compare_methods(
    rows: DataFrame, *, protocol: ProtocolName | None = None, metric: str | None = None, reason: str = ""
) -> Standings:
    """Compare every method at its best k on one data set with the best of them.

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
    """Compare all features, and the majority class or the mean, with the best method."""
    mine = rows[rows["method"].isin(REFERENCES)]
    found = _with_failed(best_scores(score_summary(mine, metric)), mine)
    found = found.iloc[np.argsort(found["method"] != ALL_FEATURES, kind="stable")].reset_index(drop=True)
    return paired_with(best, found, scored(rows, metric), metric)


def _with_failed(best: DataFrame, rows: DataFrame) -> DataFrame:
    """Add the methods that never finished, and how many folds each lost."""
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
        found.append([np.nan if one is None else getattr(one, name) for name in STABILITY.values()])
    return pd.DataFrame(found, columns=list(STABILITY), index=methods.index)


def _seconds(rows: DataFrame) -> Series:
    """Return the mean seconds to select, by method; every row of a cell holds those of the cell."""
    cells = rows[rows["status"] == "ok"].groupby(["label", "repeat", "fold"])["select_seconds"]
    return cells.max().groupby("label").mean()


def agreement(standings: Standings, names: Sequence[str]) -> DataFrame:
    """Return in what share of folds each method selected each feature, with as many as the best has.

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


def joint_ranking(standings: Standings, names: Sequence[str]) -> DataFrame:
    r"""Rank the features by all methods together, but for random ones.

    .. math:: \bar r_j = \frac1{|\mathcal M|} \sum_m r_{mj}, \qquad
              \bar r^w_j = \sum_m w_m r_{mj} \Big/ \sum_m w_m, \qquad w_m = \max(\hat\Phi_m, 0)

    with :math:`r_{mj}` the mean rank of feature j over the folds of method m, and :math:`\hat\Phi_m` the
    stability of m. Features beyond the largest k share the mean of the ranks that are left. The order is that
    of the weighted rank, or of the plain one where no stability is known.
    """
    pandas = extra("pandas")
    n, ranks, weights = len(names), [], []
    for label, stability in zip(standings.methods["label"], standings.methods["stability"], strict=True):
        folds = standings.rows[standings.rows["label"] == label]["selected"]
        known = [one for one in folds if isinstance(one, list | tuple | np.ndarray) and len(one)]
        if label != BASELINE and known:
            own = np.array([[(len(one) + 1 + n) / 2] * n for one in known])
            for row, one in zip(own, known, strict=True):
                row[np.asarray(one, dtype=np.int64)] = 1 + np.arange(len(one))
            ranks.append(own.mean(axis=0))
            weights.append(max(np.nan_to_num(stability), 0.0))
    plain = np.mean(ranks, axis=0) if ranks else np.full(n, np.nan)
    weighted = np.average(ranks, axis=0, weights=weights) if sum(weights) > 0 else np.full(n, np.nan)
    order = np.lexsort((plain, weighted))
    columns = {"rank": 1 + np.arange(n), "mean_rank": plain[order], "weighted_rank": weighted[order]}
    index = pandas.Index([names[j] for j in order], name="feature")
    return pandas.DataFrame(columns, index=index)


def pareto_front(standings: Standings) -> DataFrame:
    """Return the methods and numbers of features that no other beats with as few features, and their knee.

    Columns label, k, mean, error and knee: the point farthest above the line from the first to the last,
    with features and means from 0 to 1 (Satopää et al. 2011). Fewer than three points have none.
    """
    curves = standings.curves[standings.curves["label"] != BASELINE]
    whole = curves["n_folds"] == curves.groupby("label")["n_folds"].transform("max")
    ordered = curves[whole].sort_values(["k", "mean", "label"], ascending=[True, False, True])
    before = ordered["mean"].cummax().shift(fill_value=-np.inf)
    front = ordered[ordered["mean"] > before + 1e-12][["label", "k", "mean", "error"]].reset_index(drop=True)
    knee = np.zeros(len(front), dtype=bool)
    if len(front) > 2:
        across, up = (front[name] - front[name].iloc[0] for name in ("k", "mean"))
        above = up / up.iloc[-1] - across / across.iloc[-1]
        knee[int(above.argmax())] = above.max() > 0
    return front.assign(knee=knee)


def front_sentence(standings: Standings) -> str:
    """Say which method and number of features are on the Pareto front; empty where k was one number."""
    front = pareto_front(standings)
    if standings.curves["k"].nunique() < 2 or len(front) == 0:
        return ""
    points = [
        f"{k:,} ({label}, {score_number(mean, standings.metric)}{', the knee' if knee else ''})"
        for label, k, mean, _, knee in front.itertuples(index=False)
    ]
    what = f"no method has a better {measure(standings.metric).words} with as few features"
    return f"Pareto front of score and number of features ({what}): {', '.join(points)}."


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
        who = f"All {len(tied)} methods" if every else enumerated(tied)
        return f"{who} have the same{'' if every else ' best'} {words}, each with its best k."
    k, smallest, tried = int(best["k"]), int(best["smallest_k"]), standings.curves["k"].nunique()
    who = "random features have" if best["label"] == BASELINE else f"{best['label']} has"
    if BASELINE in tied:
        who = f"No method beats chance: {who}"
    first = f"{who} the best {words}, with {k:,} of {n_features(standings):,} features"
    if tried == 1:
        return f"{first}, the only k that was tried."
    if isnan(best["error"]):
        return f"{first}."
    if smallest < k:
        return f"{first}; the smallest k within one standard error is {smallest:,}."
    return f"{first}; no smaller k comes within one standard error."


def _real(standings: Standings) -> str:
    beaten, undecided, tied = standings.beaten, standings.undecided, standings.tied
    if standings.protocol == "leaky":
        return (
            "But features were selected with the test folds in view (leaky protocol): neither this score nor "
            "any difference can be trusted."
        )
    if not beaten and not undecided:
        if len(tied) > 1:
            return "These folds show no difference between them."
        return "There is no other method to compare it with."
    p = standings.methods["p_holm"].min()
    if isnan(p):
        return "Significance needs at least two folds."
    best = "the best" if len(tied) > 1 else _called(tied[0])
    if not beaten:
        chance = standings.methods.loc[standings.methods["label"] == BASELINE, "k"]
        whole, n = (chance == n_features(standings)).any(), n_features(standings)
        others = (
            "No method, not even random features," if BASELINE in undecided and not whole else "No method"
        )
        first = f"{others} is significantly worse than {best} (smallest Holm-adjusted p = {p_text(p)})"
        return f"{first}; random features are at their best with all {n:,}." if whole else f"{first}."
    level = f"(Holm-adjusted p < {ALPHA:g})"
    they = "They are" if len(tied) > 1 else "It is"
    better = f"{they} significantly better than {enumerated(beaten)}"
    if not undecided:
        which = "the only other" if len(beaten) == 1 else "every other"
        return f"{better}, {which} method here {level}."
    return f"{better} {level}, but not than {enumerated(undecided)}."


def _called(label: str) -> str:
    return "random features" if label == BASELINE else label


def _dropping(standings: Standings) -> str:
    """Say whether dropping features costs anything."""
    whole = _reference(standings, (ALL_FEATURES,))
    if whole is None or standings.protocol == "leaky":
        return ""
    best, n = standings.methods.iloc[0], n_features(standings)
    k = int(best["k"]) if best["k"] < n else int(best["smallest_k"])
    if k == n:
        return "Dropping features costs something: no smaller k comes within one standard error."
    test = paired_test(
        scored(standings.rows, standings.metric), (best["label"], k), (whole["label"], n), standings.metric
    )
    if test is None or isnan(test.p_value):
        return ""
    reach = f"({with_unit(whole, standings.metric)}, p = {p_text(test.p_value)})"
    if test.p_value >= ALPHA:
        return f"Using all {n:,} features makes no significant difference {reach}."
    direction = "better" if test.difference < 0 else "worse"
    return f"Using all {n:,} features is significantly {direction} {reach}."


def _chance(standings: Standings) -> str:
    """Say what comes without any feature, and whether the best does better."""
    none = _reference(standings, tuple(CHANCE.values()))
    if none is None:
        return ""
    score = f"{score_number(none['mean'], standings.metric)}{unit(standings.metric)[1]}"
    better = none["difference"] < 0 and none["p_value"] < ALPHA
    if better or standings.protocol == "leaky" or isnan(none["p_value"]):
        return f"The {none['method']} alone reaches {score}."
    p = p_text(none["p_value"])
    return f"No method is significantly better than the {none['method']} alone ({score}, p = {p})."


def _reference(standings: Standings, ids: tuple[str, ...]) -> Any:
    """Return the line of a reference, where it has a result."""
    found = standings.references
    found = found[found["method"].isin(ids) & found["mean"].notna()]
    return found.iloc[0] if len(found) else None


def with_unit(one: Any, metric: str) -> str:
    """Write a mean with its error and the metric's unit."""
    return f"{score_text(one['mean'], one['error'], metric)}{unit(metric)[1]}"


def n_features(standings: Standings) -> int:
    """Return how many features there were to select from."""
    return int(standings.rows["n_features"].max())
