"""The comparison of selectors on one data set: one HTML page that needs nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import isnan
from typing import Any

from infused.bench.agreement import agreement
from infused.bench.captions import LEAKY, measure, number, unit
from infused.bench.standings import Standings
from infused.bench.tables import standings_table
from infused.bench.verdict import n_features, verdict, with_unit
from infused.report.html.comparison_charts import (
    agreement_chart,
    differences_chart,
    scores_chart,
    stability_chart,
    time_chart,
)
from infused.report.html.page import PAPER, Pair, Section, render_page

__all__ = ["render_comparison"]

CITATIONS = (
    PAPER,
    'C. Nadeau, Y. Bengio, "Inference for the Generalization Error", Machine Learning 52, 2003.',
    'S. Holm, "A Simple Sequentially Rejective Multiple Test Procedure", Scandinavian Journal of Statistics '
    "6, 1979.",
    'S. Nogueira, K. Sechidis, G. Brown, "On the Stability of Feature Selection Algorithms", JMLR 18 (174), '
    "2018.",
)


def render_comparison(
    standings: Standings,
    title: str | None = None,
    *,
    command: str | None = None,
    notes: Sequence[str] = (),
    names: Sequence[str] = (),
) -> str:
    """One HTML page on which selector is best, with how many features, and whether the difference is real.

    The answer comes first, in two sentences, and says so where the folds show no difference. Like the report
    of a selection, the page opens without a network, and names of methods and data are shown as text. A page
    about leaky results is marked as such.

    Parameters
    ----------
    standings : Standings
        What the folds say about the methods: a comparison's ``standings``.
    title : str, default=None
        The heading; by default it names the data.
    command : str, default=None
        What to type to run it again.
    notes : sequence of str, default=()
        What a reader should know about the data.
    names : sequence of str, default=()
        Those of all features, to show which of them methods agree on.

    Returns
    -------
    str
        Encode it as UTF-8.

    See Also
    --------
    infused.Comparison.report : The same, also as a file.

    Examples
    --------
    >>> import infused
    >>> found = infused.compare("wine", methods=["anova"], k=[2, 4], folds=3)
    >>> page = infused.report.render_comparison(found.standings, "Wine")
    >>> page.splitlines()[0]
    '<!doctype html>'
    """
    leaky = standings.protocol == "leaky"
    table = standings_table(standings)
    sections = _sections(standings, names)
    return render_page(
        "comparison.html",
        sections=[_marked(section) for section in sections] if leaky else sections,
        title=title or f"Feature selectors on {standings.dataset}",
        eyebrow=f"Standings of {standings.methods['label'].nunique()} feature selectors",
        lead=verdict(standings),
        warning=LEAKY if leaky else "",
        facts=_facts(standings),
        columns=list(table.cells.columns),
        rows=table.cells.to_numpy().tolist(),
        n_best=len(standings.tied),
        n_methods=len(standings.methods),
        notes=[table.caption, *table.notes],
        command=command,
        settings=_settings(standings),
        findings=[note[:1].upper() + note[1:] for note in notes],
        citations=CITATIONS,
    )


def _sections(standings: Standings, names: Sequence[str]) -> list[Section]:
    others = (stability_chart(standings), time_chart(standings))
    agreed = agreement_chart(agreement(standings, names)) if names else None
    difference = differences_chart(standings)
    return [
        Section("features", "How many features", [scores_chart(standings)]),
        Section("differences", "Is it real?", [] if difference is None else [difference]),
        Section("agreement", "Which features", [] if agreed is None else [agreed]),
        Section("stability", "Stability and time", [chart for chart in others if chart is not None]),
    ]


def _marked(section: Section) -> Section:
    """Every chart of a leaky comparison says so."""
    return replace(section, charts=[replace(one, title=f"Leaky: {one.title}") for one in section.charts])


def _facts(standings: Standings) -> list[Pair]:
    """The key figures."""
    best, rows = standings.methods.iloc[0], standings.rows
    sizes = rows[["n_train", "n_test"]].dropna().sum(axis=1)
    repeats, folds = rows["repeat"].nunique(), rows["fold"].nunique()
    tied = standings.tied
    pairs = [
        ("Best", str(best["label"]) if len(tied) == 1 else f"{len(tied)} methods tied"),
        (f"Its {measure(standings.metric).words}", with_unit(best, standings.metric)),
        ("Its features", f"{int(best['k']):,} of {n_features(standings):,}"),
        ("Enough", f"{int(best['smallest_k']):,}"),
    ]
    for name, mean in zip(standings.references["label"], standings.references["mean"], strict=True):
        if not isnan(mean):
            sign = unit(standings.metric)[1]
            pairs.append((f"{name[0].upper()}{name[1:]}", f"{number(mean, standings.metric)}{sign}"))
    if not isnan(best["stability"]):
        pairs.append(("Its stability", f"{best['stability']:.2f}"))
    pairs.append(("Samples", f"{int(sizes.max()):,}"))
    pairs.append(("Folds", f"{folds}" if repeats == 1 else f"{repeats} x {folds}"))
    return pairs


def _settings(standings: Standings) -> list[Pair]:
    """What a rerun needs, in words."""
    rows = standings.rows
    packages = {"infused": "infused_version", "scikit-learn": "sklearn_version", "NumPy": "numpy_version"}
    versions = [f"{name} {_values(rows, one)}" for name, one in packages.items() if _values(rows, one)]
    pairs = [
        ("Data", standings.dataset),
        ("Fingerprint", _values(rows, "data")),
        ("Protocol", standings.protocol),
        ("Repeats x folds", f"{rows['repeat'].nunique()} x {rows['fold'].nunique()}"),
        ("Numbers of features", ", ".join(str(k) for k in sorted(standings.curves["k"].unique()))),
        ("Judged by", _values(rows, "classifier")),
        ("Scored by", standings.metric),
        ("Transforms chosen", _values(rows, "transform")),
        ("Seed", _values(rows, "seed")),
        ("Versions", ", ".join(versions)),
        ("Machine", _values(rows, "machine")),
    ]
    return [(name, value) for name, value in pairs if value]


def _values(rows: Any, column: str) -> str:
    """The different values of a column, if there is one."""
    return ", ".join(sorted(str(one) for one in rows[column].dropna().unique())) if column in rows else ""
