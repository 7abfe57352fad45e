"""Tables from the rows of a benchmark, as Markdown, CSV and LaTeX: the best of every method, who beats whom.

Every table is made of the rows of one protocol and says which. What is missing is a dash, and what failed is
counted and named below the table.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from infused._runtime.files import guarded
from infused._runtime.messages import check_choice
from infused._runtime.progress import time_text
from infused.bench.plan import REFERENCES, ProtocolName
from infused.bench.rows import (
    CELL,
    failed_cells,
    in_order,
    metric_of,
    of_protocol,
    older,
    other_variants,
    plain_methods,
    scored,
)
from infused.bench.standings import Standings, front_sentence
from infused.bench.statistics import (
    ALPHA,
    DASH,
    best_scores,
    holm,
    p_text,
    paired_test,
    rank_comparison,
    score_summary,
)
from infused.record.sentences import measure, score_text, shown, signed, unit

if TYPE_CHECKING:
    from pandas import DataFrame


FORMATS = ("markdown", "csv", "latex")


_LATEX = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    **{"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"},
    **{"<": r"\textless{}", ">": r"\textgreater{}", "±": r"$\pm$", "²": r"$^2$", DASH: "--"},
    **{"†": r"$^\dagger$", "‡": r"$^\ddagger$"},
}


@dataclass(frozen=True)
class ResultTable:
    """What people read, and the numbers behind it."""

    caption: str
    cells: DataFrame
    """Texts; the first column names the row."""
    data: DataFrame
    """Numbers, one line for each thing that was measured: what CSV holds."""
    notes: tuple[str, ...] = ()
    strong: frozenset[tuple[int, str]] = field(default_factory=frozenset)
    """Cells to stress, by row and column."""
    left: int = 1
    """The first so many columns hold words, the others numbers."""
    spare: tuple[str, ...] = ()
    """Columns that a narrow terminal leaves out, the first ones first."""

    def to(self, format: str) -> str:
        """Write the table in one of ``FORMATS``; CSV holds the numbers, the others what people read."""
        check_choice("format", format, FORMATS)
        return {"markdown": self.to_markdown, "csv": self.to_csv, "latex": self.to_latex}[format]()

    def to_markdown(self) -> str:
        """Write a pipe table, its caption above and its notes below, columns aligned in the source, too."""
        head = [escape_markdown(name) for name in self.cells.columns]
        body = self._texts(escape_markdown, "**{}**")
        widths = [max(len(row[n]) for row in [head, *body]) for n in range(len(head))]
        widths = [max(width, 3) for width in widths]
        rule = ["-" * width if n < self.left else "-" * (width - 1) + ":" for n, width in enumerate(widths)]
        lines = [self._padded(row, widths) for row in (head, rule, *body)]
        notes = [f"- {escape_markdown(note)}" for note in self.notes]
        return "\n".join([escape_markdown(self.caption), "", *lines, *([""] if notes else []), *notes, ""])

    def _padded(self, row: list[str], widths: list[int]) -> str:
        fitted = [
            text.ljust(width) if n < self.left else text.rjust(width)
            for n, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        return f"| {' | '.join(fitted)} |"

    def to_csv(self) -> str:
        """Write the numbers, comma-separated; what is missing is empty."""
        # Whole numbers stay whole also where some are missing.
        whole = self.data.convert_dtypes().map(lambda one: guarded(one) if isinstance(one, str) else one)
        return str(whole.to_csv(index=False, lineterminator="\n", float_format="%.6g"))

    def to_latex(self) -> str:
        """Write a table environment for the package booktabs."""
        columns = "".join("l" if n < self.left else "r" for n in range(len(self.cells.columns)))
        head = " & ".join(escape_latex(name) for name in self.cells.columns)
        body = [" & ".join(row) + r" \\" for row in self._texts(escape_latex, r"\textbf{{{}}}")]
        notes = [rf"\par\footnotesize {escape_latex(note)}" for note in self.notes]
        return "\n".join(
            [
                r"\begin{table}",
                r"\centering",
                rf"\caption{{{escape_latex(self.caption)}}}",
                rf"\begin{{tabular}}{{{columns}}}",
                r"\toprule",
                rf"{head} \\",
                r"\midrule",
                *body,
                r"\bottomrule",
                r"\end{tabular}",
                *notes,
                r"\end{table}",
                "",
            ]
        )

    def _texts(self, escape: Callable[[str], str], strong: str) -> list[list[str]]:
        rows = []
        for n, row in enumerate(self.cells.itertuples(index=False)):
            texts = [escape(str(text)) for text in row]
            names = zip(texts, self.cells.columns, strict=True)
            rows.append([strong.format(t) if (n, name) in self.strong else t for t, name in names])
        return rows


def escape_markdown(text: str) -> str:
    """Escape text so that Markdown shows it as it is, on one line."""
    one_line = re.sub(r"([\\`*_\[\]|])", r"\\\1", " ".join(text.split()))
    return re.sub(r"<(?=[A-Za-z/!?])", "&lt;", one_line)  # elsewhere it opens no tag


def escape_latex(text: str) -> str:
    """Escape text so that LaTeX shows it as it is."""
    return "".join(_LATEX.get(one, one) for one in " ".join(text.split()))


LEAKY = (
    "LEAKY PROTOCOL: features were selected on all samples, those of the test folds included, so these "
    "figures are too high; they serve only to compare with published tables."
)
OPTIMISM = "The best over k is chosen on the very folds that it is reported for, so it is optimistic"
CHOICES = (
    "Each k, and which method is the best, were chosen on the very folds that they are reported for, so the "
    "figures are optimistic and p is rather too small."
)
ERRORS = "Standard errors are corrected for overlapping training parts (Nadeau and Bengio 2003)."


def protocol_words(protocol: str) -> str:
    """Return what a caption says of the protocol."""
    if protocol == "leaky":
        return LEAKY
    return "Nested: features, scaling, transform and C were chosen inside the training part of each fold."


def fold_note(summary: DataFrame) -> str:
    """Say on how many folds each data set was measured, and who has fewer."""
    counts = summary.groupby(["dataset", "label"])["n_folds"].max()
    words = []
    for dataset in in_order(counts.index.get_level_values("dataset").unique()):
        mine = counts[dataset]
        fewer = [f"{label} {n}" for label, n in mine.items() if n < mine.max()]
        words.append(f"{dataset} {mine.max()}" + (f" ({', '.join(fewer)})" if fewer else ""))
    return f"Folds, over all repeats: {'; '.join(words)}."


def failure_notes(rows: DataFrame) -> list[str]:
    """Count and name what failed in one note, if anything did."""
    failed = failed_cells(rows)
    if len(failed) == 0:
        return []
    totals = rows.drop_duplicates(CELL).groupby(["dataset", "label"]).size()
    words = []
    for (dataset, label, status), cells in failed.groupby(["dataset", "label", "status"], sort=True):
        reason = next((str(one) for one in cells["reason"] if one), "")
        why = f"{status}: {reason}" if reason else status
        words.append(f"{label} on {dataset}, {len(cells)} of {totals[dataset, label]} folds ({why})")
    what = "1 cell failed and is" if len(failed) == 1 else f"{len(failed)} cells failed and are"
    return [f"† {what} left out: {'; '.join(words)}."]


def variant_notes(rows: DataFrame) -> list[str]:
    """Say who is left out of a table of methods with their defaults, if anybody is."""
    variants = other_variants(rows)
    return [f"Left out, because they are variants: {', '.join(variants)}."] if variants else []


def version_notes(rows: DataFrame) -> list[str]:
    """Name the methods that were measured in an earlier version, if there are any."""
    found = rows[older(rows)]
    if found.empty:
        return []
    labels = in_order(found["label"].unique())
    return [f"Measured with an earlier version, whose figures may differ from today's: {', '.join(labels)}."]


class BestScores:
    """The best mean of every method on every data set, as cells of a table.

    Parameters
    ----------
    rows : DataFrame
        Labelled rows of one protocol.
    metric : str
    protocol : {"nested", "leaky"}
        Which one that is; there may be no rows.
    """

    def __init__(self, rows: DataFrame, metric: str, protocol: ProtocolName):
        self.rows, self.metric, self.protocol = rows, metric, protocol
        self.summary = score_summary(rows, metric)
        best = best_scores(self.summary)
        keys = zip(best["label"], best["dataset"], strict=True)
        self._best = dict(zip(keys, best.to_dict("records"), strict=True))
        self._failed = failed_cells(rows).groupby(["label", "dataset"]).size().to_dict()

    def get(self, label: str, dataset: str) -> dict[str, Any] | None:
        """Return the row of the best k, or None where there is no result."""
        return self._best.get((label, dataset))

    def text(self, label: str, dataset: str) -> str:
        """Write mean, standard error and k; a dagger where folds failed, a dash where there is nothing."""
        mark = "†" if (label, dataset) in self._failed else ""
        one = self.get(label, dataset)
        if one is None:
            return f"{DASH}{mark}"
        return f"{score_text(one['mean'], one['error'], self.metric)} ({one['k']}){mark}"

    def record(self, label: str, dataset: str) -> dict[str, Any]:
        """Return the numbers of one cell, in the unit that the table shows."""
        one = self.get(label, dataset)
        return {
            "dataset": dataset,
            "method": label,
            "protocol": self.protocol,
            "metric": self.metric,
            "unit": unit(self.metric)[1],
            "mean": None if one is None else shown(one["mean"], self.metric),
            "standard_error": None if one is None else abs(shown(one["error"], self.metric)),
            "k": None if one is None else one["k"],
            "smallest_k": None if one is None else one["smallest_k"],
            "folds": 0 if one is None else one["n_folds"],
            "failed_folds": self._failed.get((label, dataset), 0),
        }

    def winners(self, labels: Sequence[str], dataset: str) -> list[str]:
        """List the methods with the best mean on a data set; no reference."""
        own = [label for label in labels if label not in REFERENCES]
        means = {label: one["mean"] for label in own if (one := self.get(label, dataset))}
        # Equal shares of right answers may differ in their last digit.
        return [label for label, mean in means.items() if mean > max(means.values()) - 1e-12]

    def notes(self) -> tuple[str, ...]:
        """Say on how many folds, and what failed."""
        folds = [fold_note(self.summary)] if len(self.summary) else []
        return (*folds, *failure_notes(self.rows), *version_notes(self.rows))


def accuracy_table(
    rows: DataFrame, *, protocol: ProtocolName = "nested", metric: str | None = None
) -> ResultTable:
    """Show the best mean over k of every method on every data set, with its k (as Table 2 of the paper).

    Parameters
    ----------
    rows : DataFrame
        One row per k of a cell.
    protocol : {"nested", "leaky"}
    metric : str, optional
        By default accuracy, or R² for real targets.

    Returns
    -------
    ResultTable
        Methods x data sets; the best of each data set is stressed.
    """
    import pandas as pd

    mine = of_protocol(rows, protocol)
    best = BestScores(mine, metric_of(mine, metric), protocol)
    labels = in_order(mine["label"].unique())
    datasets = in_order(mine["dataset"].unique())
    cells = {"Method": labels} | {name: [best.text(label, name) for label in labels] for name in datasets}
    strong = {(labels.index(one), name) for name in datasets for one in best.winners(labels, name)}
    sign = unit(best.metric)[1]
    what = f"{measure(best.metric).words}{f' ({sign})' if sign else ''}"
    return ResultTable(
        caption=f"Best mean {what} ± standard error over k, with its k in brackets. "
        f"{protocol_words(protocol)} {OPTIMISM}. {ERRORS}",
        cells=pd.DataFrame(cells),
        data=pd.DataFrame([best.record(label, name) for name in datasets for label in labels]),
        notes=best.notes(),
        strong=frozenset(strong),
    )


def accuracy_tables(rows: DataFrame, *, protocol: ProtocolName = "nested") -> list[ResultTable]:
    """Make an accuracy table for data with classes and one for continuous targets, where there are any."""
    mine = of_protocol(rows, protocol)
    metrics = mine["dataset"].map({name: metric_of(part) for name, part in mine.groupby("dataset")})
    return [
        accuracy_table(mine[metrics == metric], protocol=protocol, metric=metric)
        for metric in metrics.unique()
    ]


def standings_table(standings: Standings) -> ResultTable:
    """Show for each method how good, stable and fast it is, with how many features, and whether it is best.

    Parameters
    ----------
    standings : Standings
        From :func:`infused.bench.standings.compare_methods`.

    Returns
    -------
    ResultTable
    """
    import pandas as pd

    metric, tied = standings.metric, standings.tied
    found = standings.everyone
    lines = [_standings_line(one, metric, metric_title(metric)) for one in found.to_dict("records")]
    for line in lines[: len(tied)]:
        line["p"] = "best" if len(tied) == 1 else "tied"
    numbers = _as_shown(found, metric).assign(
        protocol=standings.protocol, metric=metric, unit=unit(metric)[1]
    )
    columns = [*_CSV, "protocol", "metric", "unit"]
    return ResultTable(
        caption=f"Methods on {standings.dataset}, each with the k of its best mean ± standard error (SE). "
        "k (1 SE): smallest k within 1 SE of that. Stability (Nogueira et al. 2018): 1 if "
        "every fold selects the same features, 0 if no more alike than at random; for sets of one size it is "
        "Kuncheva's index. Jaccard: mean share of the features of two folds that both have. p: paired "
        "corrected t-test against the best, after Holm (not for references). "
        f"{protocol_words(standings.protocol)} {CHOICES} {ERRORS}",
        cells=pd.DataFrame(lines),
        data=numbers[columns].rename(columns={"label": "method", "error": "standard_error"}),
        notes=(
            *([standings.reason] if standings.reason else []),
            *_spent(standings),
            *filter(None, [front_sentence(standings)]),
            fold_note(standings.curves),
            *failure_notes(standings.rows),
            *version_notes(standings.rows),
        ),
        strong=frozenset((n, "Method") for n in range(len(tied))),
        spare=("Jaccard", "Seconds", "k (1 SE)", "Stability"),
    )


def _spent(standings: Standings) -> list[str]:
    """Say what the seconds of the table are, and how long all of it took."""
    if standings.seconds is None:
        return []
    whole = time_text(standings.seconds)
    return [f"Seconds: CPU time to select on one fold. The whole comparison took {whole}."]


def metric_title(metric: str) -> str:
    """Return what a metric is called above a column or beside an axis."""
    name, sign = measure(metric).words, unit(metric)[1]
    return f"{name[0].upper()}{name[1:]}{f' ({sign})' if sign else ''}"


def _as_shown(found: DataFrame, metric: str) -> DataFrame:
    """Return figures in the unit in which people know them; an interval of errors is turned round."""
    factor = unit(metric)[0]
    low, high = ("low", "high") if factor > 0 else ("high", "low")
    return found.assign(
        mean=factor * found["mean"],
        error=abs(factor) * found["error"],
        difference=factor * found["difference"],
        low=factor * found[low],
        high=factor * found[high],
    )


_CSV = (
    "label", "mean", "error", "k", "smallest_k", "n_folds", "failed", "stability", "stability_low",
    "stability_high", "kuncheva", "jaccard", "select_seconds", "difference", "low", "high", "p_value",
    "p_holm",
)  # fmt: skip


def _standings_line(one: dict[str, Any], metric: str, title: str) -> dict[str, str]:
    there, reference = not np.isnan(one["mean"]), one["label"] in REFERENCES
    return {
        "Method": f"{one['label']}{'†' if one['failed'] else ''}",
        title: score_text(one["mean"], one["error"], metric) if there else DASH,
        "k": f"{one['k']:.0f}" if there else DASH,
        "k (1 SE)": f"{one['smallest_k']:.0f}" if there and not reference else DASH,
        "Stability": DASH if np.isnan(one["stability"]) else f"{round(one['stability'], 2) + 0.0:.2f}",
        "Jaccard": DASH if np.isnan(one["jaccard"]) else f"{one['jaccard']:.2f}",
        "Seconds": DASH if np.isnan(one["select_seconds"]) else f"{one['select_seconds']:.2g}",
        "p": p_text(one["p_value" if reference else "p_holm"]),
    }


def rank_table(
    rows: DataFrame,
    *,
    protocol: ProtocolName = "nested",
    metric: str | None = None,
    methods: Sequence[str] | None = None,
) -> ResultTable:
    """Show mean ranks over data sets, with letters for methods that Nemenyi's test cannot tell apart.

    The parameters are those of :func:`infused.bench.statistics.rank_comparison`.
    """
    import pandas as pd

    found = rank_comparison(rows, protocol=protocol, metric=metric, methods=methods)
    test = found.friedman
    letters = [
        "".join(chr(ord("a") + n) for n, (first, last) in enumerate(found.groups) if first <= place <= last)
        for place in range(len(found.labels))
    ]
    ranks = [f"{rank:.2f}" for rank in found.mean_ranks]
    mine = of_protocol(rows, protocol)
    ranked, every = found.datasets, in_order(mine["dataset"].unique())
    left_out = [name for name in every if name not in ranked]
    notes = [f"Data sets: {', '.join(ranked)}."]
    if left_out:
        notes.append(f"Left out, because a method has no result there: {', '.join(left_out)}.")
    notes += [*variant_notes(mine), *version_notes(plain_methods(mine))]
    return ResultTable(
        caption=f"Mean ranks over {len(ranked)} data sets, 1 is best. Friedman: chi-square "
        f"{test.statistic:.2f}, p {p_text(test.p_value)}; Iman and Davenport: F {test.f_statistic:.2f}, "
        f"p {p_text(test.f_p_value)}. Methods that share a letter differ by less than Nemenyi's difference, "
        f"{found.critical_difference:.2f} at {ALPHA:g}. {protocol_words(protocol)} {OPTIMISM}.",
        cells=pd.DataFrame({"Method": found.labels, "Mean rank": ranks, "Alike": letters}),
        data=pd.DataFrame(
            {"method": found.labels, "mean_rank": found.mean_ranks, "alike": letters, "protocol": protocol}
        ),
        notes=tuple(notes),
    )


WHOLE = "infused-lasso"


def ablation_table(rows: DataFrame, *, protocol: ProtocolName = "nested") -> ResultTable | None:
    """Show every variant less the whole, with as many features as suit the whole best, on the same folds.

    Parameters
    ----------
    rows : DataFrame
        One row per k of a cell; variants are called ``infused-lasso[...]``.
    protocol : {"nested", "leaky"}

    Returns
    -------
    ResultTable or None
        None where there is no variant.
    """
    import pandas as pd

    mine = of_protocol(rows, protocol)
    mine = mine[(mine["label"] == WHOLE) | mine["label"].str.startswith(f"{WHOLE}[")]
    variants = sorted(set(mine["label"]) - {WHOLE})
    if not variants:
        return None
    parts = {name: mine[mine["dataset"] == name] for name in in_order(mine["dataset"].unique())}
    records = [one for part in parts.values() for one in _differences(part, variants)]
    cells = {"Method": [WHOLE, *variants]}
    for name, part in parts.items():
        whole = BestScores(part, metric_of(part), protocol).text(WHOLE, name)
        cells[name] = [whole, *(one["text"] for one in records if one["dataset"] == name)]
    return ResultTable(
        caption="InFusedLasso at its best k, and its variants less it with as many features, on the folds "
        "that both have: points, in brackets p (paired corrected t-test, after Holm within a data set) and "
        f"the share of its features that a variant selects. A p above {ALPHA:g}: the folds show no worth of "
        f"the part that a variant lacks. {protocol_words(protocol)}",
        cells=pd.DataFrame(cells),
        data=pd.DataFrame(records).drop(columns="text").assign(protocol=protocol),
    )


def _differences(part: DataFrame, variants: list[str]) -> list[dict[str, Any]]:
    """Return what the folds of one data set say of each variant."""
    metric = metric_of(part)
    results = scored(part, metric)
    best = best_scores(score_summary(part[part["label"] == WHOLE], metric))
    k = int(best["k"].iloc[0]) if len(best) else None
    tests = [None if k is None else paired_test(results, (one, k), (WHOLE, k), metric) for one in variants]
    adjusted = holm([np.nan if test is None else test.p_value for test in tests])
    factor, records = unit(metric)[0], []
    for variant, test, p in zip(variants, tests, adjusted, strict=True):
        record: dict[str, Any] = {
            "dataset": part["dataset"].iloc[0],
            "variant": variant,
            "k": k,
            "text": DASH,
        }
        if test is not None:
            shared = _shared_features(results, variant, k)
            record |= {
                "difference": factor * test.difference,
                "standard_error": factor * test.error,
                "p_holm": p,
                "folds": test.n_folds,
                "shared_features": shared,
                "text": f"{signed(test.difference, metric)} (p {p_text(p)}, {shared:.0%})",
            }
        records.append(record)
    return records


def _shared_features(results: DataFrame, variant: str, k: int | None) -> float:
    """Return what share of the first k features of the whole the variant has, over the folds."""
    ranked = results[results["selected"].notna()].set_index(["repeat", "fold"])
    whole, other = (ranked.loc[ranked["label"] == label, "selected"] for label in (WHOLE, variant))
    both = whole.index.intersection(other.index)
    return float(np.mean([np.isin(whole[place][:k], other[place][:k]).mean() for place in both]))
