"""The report of a selection: one HTML page that needs nothing else."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from infused.record.schema import SelectionRecord
from infused.report import page_text as text
from infused.report.html.assembly import SHOWN_AT_FIRST, Section, asset, embedded, fill, there
from infused.report.html.charts import (
    coefficient_chart,
    convergence_chart,
    rank_chart,
    rounded,
    score_chart,
    shortened,
)
from infused.report.html.distributions import FEW_CLASSES, distribution_charts
from infused.report.html.pictures import class_pictures_chart, picture_chart
from infused.report.html.redundancy import heat_chart, network_chart

__all__ = ["MOST_ROWS", "render_report"]

#: The table holds this many features, the best ones; selection.json holds all.
MOST_ROWS = 10_000

NAME_LENGTHS = (160, 80, 40, 20)  # in the table: the first with which all names take less than
BYTES_OF_NAMES = 700_000  # this much, so that a page with 10,000 of them stays under 6 MB


def render_report(record: SelectionRecord) -> str:
    """One HTML page about a selection, which opens without a network.

    Names of features and classes are data. In HTML they are escaped, in the embedded JSON no character can
    end the script element, the script writes them by ``textContent``, and labels of charts are escaped for
    plotly. The page's Content-Security-Policy lets only those scripts run whose hashes it lists, and forbids
    every connection.

    Parameters
    ----------
    record : SelectionRecord

    Returns
    -------
    str
        Encode it as UTF-8.
    """
    sections = _sections(record)
    return fill(
        "page.html",
        style=asset("page.css"),
        script=asset("page.js"),
        payload=_table(record),
        charts=[chart for section in sections for chart in section.charts],
        title=escape(text.title(record)),
        method=escape(record.method_name),
        asked=escape(text.asked(record)),
        came_out=escape(text.came_out(record)),
        facts=text.definition_list(text.facts(record), "facts"),
        links="".join(section.link() for section in sections),
        table_note=escape(_table_note(record)),
        sections="".join(section.html() for section in sections),
        settings=text.definition_list(text.settings(record), "settings"),
        citations="".join(f"<li>{escape(one)}</li>" for one in text.citations(record)),
        version=escape(record.versions.infused),
    )


def _sections(record: SelectionRecord) -> list[Section]:
    groups = text.definition_list(text.groups_text(record), "groups")
    candidates = [
        Section(
            "scores", "Scores", there(score_chart(record), coefficient_chart(record), rank_chart(record))
        ),
        Section("picture", "Picture", there(picture_chart(record), class_pictures_chart(record))),
        Section("redundancy", "Redundancy", there(heat_chart(record), network_chart(record)), after=groups),
        _distributions(record),
        Section("convergence", "Convergence", there(convergence_chart(record))),
    ]
    return [section for section in candidates if section.charts]


def _distributions(record: SelectionRecord) -> Section:
    charts, classes = distribution_charts(record), record.data.classes
    title, legend = "Best features by class", ""
    if classes is None:
        title = "Best features against the target"
        words = f"Each dot is a sample: the feature from left to right, {record.data.target} upwards."
    elif len(classes) > FEW_CLASSES:
        words = "One row for each class: the stronger the colour, the more of its samples have this value."
    else:
        words = "Percent of the samples of each class, by the value of the feature."
        chips = [
            f'<li><span class="chip series{n}"></span>{escape(c.name)}</li>' for n, c in enumerate(classes)
        ]
        legend = f'<ul class="legend">{"".join(chips)}</ul>'
    more = f'<p><button type="button" id="more" class="button">Show all {len(charts)}</button></p>'
    return Section(
        id="distributions",
        title=title,
        charts=charts,
        before=f'<p class="note">{escape(words)}</p>{legend}',
        after=more if len(charts) > SHOWN_AT_FIRST else "",
        small=True,
    )


def _table(record: SelectionRecord) -> dict[str, Any]:
    """What the table shows, by rank: the selected with all their columns, then the others."""
    order = np.argsort(record.features.ranks)[:MOST_ROWS]
    shown = record.selected[:MOST_ROWS]
    return {
        "names": _names_that_fit([record.features.names[n] for n in order]),
        "scores": [rounded(record.features.scores[n]) for n in order],
        "selected": len(shown),
        "groups": [feature.group for feature in shown],
        "relevance": [rounded(feature.relevance, 4) for feature in shown],
        "coefficients": [[rounded(b, 4) for b in feature.coefficients or ()] for feature in shown],
        "coefficientNames": list(record.coefficient_names),
        "byClass": record.data.classes is not None,
    }


def _table_note(record: SelectionRecord) -> str:
    explains = "the class" if record.data.classes is not None else record.data.target
    words = f"Explained: share of the feature's variance that goes with {explains}, on its own."
    if record.redundancy is not None:
        limit = f"{record.redundancy.threshold:g}"
        words += f" Group: features of one group correlate with each other by at least {limit}."
    if record.data.n_features > MOST_ROWS:
        words += f" The table holds the best {MOST_ROWS:,} features; selection.json holds all."
    return words


def _names_that_fit(names: list[str]) -> list[str]:
    """Names that may lose their middle, where they are many and long."""
    for longest in NAME_LENGTHS:
        names = [shortened(name, longest) for name in names]
        if len(embedded(names).encode()) <= BYTES_OF_NAMES:
            break
    return names
