"""The tables of docs/comparison.md and README.md, from the store that `infused benchmark` fills."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path

from pandas import DataFrame

from benchmarks.tables import markdown_table
from infused.bench import Store
from infused.bench.paper import (
    DATASETS,
    datasets_table,
    published_accuracy_table,
    published_score,
    structural_table,
)
from infused.bench.rows import (
    IN_PAPER,
    in_order,
    labelled,
    of_protocol,
    plain_methods,
    without_references,
)
from infused.bench.standings import compare_methods
from infused.bench.statistics import score_summary
from infused.bench.tables import ablation_table, accuracy_table, rank_table, standings_table
from infused.record.sentences import score_text

STORE = Path("results")
SHORT = ("infused-lasso", "lasso", "greedy-forward", "anova", "random")
RANKINGS = tuple(
    f"{id}{words}"
    for id in ("infused-lasso", "lasso")
    for words in ("", " (ranking=forward)", " (ranking=coefficient)", " (ranking=path)")
)


def accuracy() -> str:
    """A few methods with the number of features that the paper's InFusedLasso has, beside its figure."""
    summary = score_summary(plain_methods(of_protocol(stored())), "accuracy")
    found = summary.set_index(["dataset", "label", "k"])
    lines = []
    for name in DATASETS:
        published = published_score("infused-lasso", name)
        assert published is not None  # its table has every data set
        ours = [found.loc[name, method, published.k] for method in SHORT]
        scores = [score_text(one["mean"], one["error"], "accuracy") for one in ours]
        folds = str(ours[0]["n_folds"])
        lines.append([name, str(published.k), folds, *scores, f"{published.accuracy:.2f}"])
    return markdown_table(["data", "k", "folds", *SHORT, "published"], lines)


def ablation() -> str:
    """What each part of InFusedLasso is worth."""
    table = ablation_table(stored())
    assert table is not None  # the store has the variants
    return table.to_markdown()


def paper(number: str) -> str:
    """Table 1, 2 or 3 of the paper, ours beside the published."""
    if number == "1":
        return datasets_table().to_markdown()
    make = {"2": published_accuracy_table, "3": structural_table}[number]
    return make(stored()).to_markdown()


def ranks(which: str) -> str:
    """Mean ranks of the methods that ran everywhere, or on all data sets but one."""
    counts = of_protocol(stored()).groupby("method")["dataset"].nunique()
    least = counts.max() - (which != "everywhere")
    return rank_table(stored(), methods=list(counts.index[counts >= least])).to_markdown()


def methods_on(name: str) -> str:
    """Every method on one data set: accuracy, k, stability, seconds, p."""
    rows = of_protocol(stored())
    return standings_table(compare_methods(plain_methods(rows[rows["dataset"] == name]))).to_markdown()


def as_printed() -> str:
    """Two methods with their defaults, and as they are printed: one real target, no rounds of ranking."""
    rows = of_protocol(stored())
    printed = rows[rows["parameters"] != "{}"]
    beside = rows["dataset"].isin(printed["dataset"]) & rows["method"].isin(printed["method"])
    return accuracy_table(rows[beside]).to_markdown()


def protocols() -> str:
    """How much too good the leaky protocol is, on the same folds."""
    rows = plain_methods(labelled(stored()))
    names = in_order(rows.loc[rows["protocol"] == "leaky", "dataset"].unique())
    means = rows[rows["status"] == "ok"].groupby(["dataset", "method", "protocol", "k"])["accuracy"].mean()
    best = (100 * means).groupby(["method", "dataset", "protocol"]).max().unstack(["dataset", "protocol"])
    lines = []
    for method in in_order(best.index):
        pairs = [(best.at[method, (name, "nested")], best.at[method, (name, "leaky")]) for name in names]
        if any(math.isnan(figure) for pair in pairs for figure in pair):
            continue
        cells = [text for a, b in pairs for text in (f"{a:.1f}", f"{b:.1f}", f"{b - a:+.1f}")]
        lines.append([method, *cells])
    header = [f"{name} {what}" for name in names for what in ("nested", "LEAKY", "difference")]
    return markdown_table(["method", *header], lines)


def orders() -> str:
    """How good the first features of each ranking are."""
    summary = score_summary(without_references(of_protocol(stored("orders"))), "accuracy")
    counts = summary.groupby("dataset")["n_folds"]
    whole = (counts.min() == summary["n_folds"].max()) & (counts.size() == counts.size().max())
    summary = summary[summary["dataset"].map(whole)]  # a data set that is not finished waits
    found = summary.set_index(["dataset", "label", "k"])
    ks = sorted(summary["k"].unique())
    lines = [
        [name, label, *[_score_at(found, name, label, k) for k in ks]]
        for name in in_order(summary["dataset"].unique())
        for label in in_order(summary.loc[summary["dataset"] == name, "label"].unique(), RANKINGS)
    ]
    means = summary.groupby(["label", "k"])["mean"].mean()
    for label in in_order(summary["label"].unique(), RANKINGS):
        lines.append(["mean", label, *[f"{100 * means[label, k]:.1f}" for k in ks]])
    return markdown_table(["data", "ranking", *map(str, ks)], lines)


def _score_at(found: DataFrame, name: str, label: str, k: int) -> str:
    one = found.loc[name, label, k]
    return score_text(one["mean"], one["error"], "accuracy")


def shared(k: str) -> str:
    """How many of the first k features two methods share, in percent: the mean over folds and data sets."""
    rows = plain_methods(of_protocol(stored()))
    rows = rows[(rows["repeat"] == 0) & rows["selected"].notna()]
    folds = rows.groupby(["dataset", "label"])["fold"].nunique().unstack()
    whole = folds[list(IN_PAPER)].eq(folds.max(axis=1), axis=0).all(axis=1)
    rows = rows[rows["dataset"].map(whole)]  # a data set that is not finished waits
    first = {
        (one.dataset, one.fold, one.label): frozenset(one.selected[: int(k)])
        for one in rows.itertuples()
        if len(one.selected) >= int(k)
    }
    labels = in_order({label for _, _, label in first}, (*IN_PAPER, *SHORT))
    lines = []
    for label in labels:
        own = {key[:2]: features for key, features in first.items() if key[2] == label}
        lines.append([label, *[_shared_by(own, first, other) for other in labels[: len(IN_PAPER) + 1]]])
    return markdown_table(["", *labels[: len(IN_PAPER) + 1]], lines)


def _shared_by(
    own: dict[tuple[str, int], frozenset[int]],
    first: dict[tuple[str, int, str], frozenset[int]],
    other: str,
) -> str:
    """The mean share with another method, each data set counting once."""
    shares: dict[str, list[float]] = {}
    for (name, fold), features in own.items():
        if (name, fold, other) in first:
            share = len(features & first[name, fold, other]) / len(features)
            shares.setdefault(name, []).append(share)
    means = [sum(found) / len(found) for found in shares.values()]
    return f"{100 * sum(means) / len(means):.0f}" if means else "-"


@cache
def stored(part: str = "") -> DataFrame:
    return Store(STORE / part).frame()
