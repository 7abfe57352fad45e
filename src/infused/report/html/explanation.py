"""One feature: a page about it, and the table that the page and a notebook share."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from infused.record.explained import shown_values, target_scatter
from infused.record.redundancy import THRESHOLD
from infused.record.schema import ClassDistribution
from infused.record.sentences import hazard_words, p_words, short_number
from infused.report.html.charts import Chart, axis, bars, row_chart
from infused.report.html.feature_charts import class_chart, scatter_chart, survival_chart
from infused.report.html.page import PAPER, Pair, Section, render_page

HEIGHT = 340
FIVE = ("Smallest", "25%", "Median", "75%", "Largest")


def render_explanation(found: Any) -> str:
    """Render one HTML page about a feature, which opens without a network.

    Parameters
    ----------
    found : Explanation
        What :func:`infused.explain` returns.

    Returns
    -------
    str
        Encode it as UTF-8.
    """
    columns, rows = explanation_table(found)
    return render_page(
        "comparison.html",
        sections=_sections(found),
        first=("values", f"Values by {found.target}"),
        title=found.name,
        eyebrow=f"One of {found.n_features:,} features of {found.data.name}",
        verdict=found.verdict,
        facts=_facts(found),
        columns=columns,
        rows=rows,
        n_best=0,
        n_methods=len(rows),
        notes=[],
        command=None,
        settings=[
            ("Data", found.data.name),
            ("Target", found.target),
            ("Fingerprint", found.data.fingerprint),
        ],
        findings=[note[:1].upper() + note[1:] for note in found.notes],
        citations=[PAPER],
    )


def explanation_table(found: Any) -> tuple[list[str], list[list[str]]]:
    """Return the head and the rows of a table: five numbers of each class, or the levels in each."""
    if found.levels is None:
        rows = [
            [part.name, f"{part.count:,}", *(short_number(value) for value in part.five or ())]
            for part in found.by_target
        ]
        return [found.target, "Samples", *FIVE], [row + [""] * (len(FIVE) + 2 - len(row)) for row in rows]
    counts = np.array([part.histogram for part in found.by_target])
    totals = np.maximum(1, counts.sum(axis=0))
    cells = [
        [level, f"{column.sum():,}", *(f"{one:,} ({one / total:.0%})" for one in column)]
        for level, column, total in zip(found.levels, counts.T, totals, strict=True)
    ]
    return ["Level", "Samples", *(part.name for part in found.by_target)], cells


def _facts(found: Any) -> list[Pair]:
    values = f"{found.n_distinct:,} different" if found.levels is None else f"{len(found.levels):,} levels"
    rank = f"{found.f_value.rank:,} of {found.n_features:,}"
    pairs = [
        ("Explains alone", f"{found.alone:.1%}"),
        (f"Rank by {found.test}", rank),
        ("p-value", p_words(found.p_value).removeprefix("p = ").removeprefix("p ")),
        ("Samples", f"{found.n_samples:,}"),
        ("Values", values),
    ]
    if words := hazard_words(found.hazard):
        pairs.insert(3, ("Hazard ratio", words.removeprefix("Hazard ratio ")))
    return pairs


def _sections(found: Any) -> list[Section]:
    technical: list[Pair] = [(f"{found.test[0].upper()}{found.test[1:]}", f"{found.f_value.value:.4g}")]
    if found.mutual_information is not None:
        own = found.mutual_information
        technical.append(("Mutual information", f"{own.value:.4g} nats, rank {own.rank:,}"))
    if found.entropy is not None:
        most = np.log(found.n_samples)
        technical.append(("Entropy of its graph", f"{found.entropy:.5g} nats, of {most:.5g} for a constant"))
        technical.append(("Similarity to its target graph", f"I_S = {found.target_similarity:.5f}"))
    closest = _closest("correlation", "Closest by correlation", found.by_correlation)
    alike = _closest("similarity", "Closest by the similarity of their graphs", found.by_similarity, "I_S")
    return [
        Section("distribution", "Distribution", [_distribution(found)]),
        Section("closest", "Closest features", [closest] if closest else []),
        Section(
            "technical", "Technical details", [alike] if alike else [], pairs=tuple(technical), folded=True
        ),
    ]


def _distribution(found: Any) -> Chart:
    """Draw the values by class, against a continuous target, or as survival curves."""
    if found.survival is not None:
        chart = survival_chart(0, found.survival, found.hazard)
    elif found.data.kind == "real":
        values, levels = shown_values(found.data, found.position)
        chart = scatter_chart(0, target_scatter(found.name, values, found.data.y, levels))
        chart = replace(chart, caption=f"Each dot is a sample; {found.target} upwards.")
    else:
        counts = tuple(part.histogram for part in found.by_target)
        own = ClassDistribution(found.name, found.bin_edges, counts, found.levels)
        chart = class_chart(0, own, [part.name for part in found.by_target])
        words = f"Percent of the samples of each class of {found.target}, by the value of the feature."
        chart = replace(chart, caption=words)
    layout = {**chart.layout, "showlegend": True}
    return replace(chart, height=max(HEIGHT, chart.height), layout=layout, wide=True)


def _closest(id: str, title: str, neighbours: Any, order: str = "|r|") -> Chart | None:
    if not neighbours:
        return None
    names = [one.name for one in neighbours]
    redundant = ["@mark" if one.correlation >= THRESHOLD else "@accent" for one in neighbours]
    return row_chart(
        id,
        title,
        f"In the order of {order}. Bars show |r| with the feature; orange: redundant, |r| >= {THRESHOLD:g}.",
        names,
        [bars([one.correlation for one in neighbours], names, "|r| = %{x:.3f}", redundant)],
        wide=False,
        xaxis=axis("|r|", range=[0, 1]),
    )
