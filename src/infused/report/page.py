"""The report of a selection: one HTML page that needs nothing else."""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

import numpy as np

from infused.report import page_text as text
from infused.report.page_charts import (
    Chart,
    coefficient_chart,
    convergence_chart,
    rank_chart,
    rounded,
    score_chart,
    shortened,
)
from infused.report.page_distributions import FEW_CLASSES, distribution_charts
from infused.report.page_picture import class_pictures_chart, picture_chart
from infused.report.page_redundancy import heat_chart, network_chart
from infused.selection.record import SelectionRecord

__all__ = ["MOST_ROWS", "render_report"]

#: The table holds this many features, the best ones; selection.json holds all.
MOST_ROWS = 10_000

NAME_LENGTHS = (160, 80, 40, 20)  # in the table: the first with which all names take less than
BYTES_OF_NAMES = 700_000  # this much, so that a page with 10,000 of them stays under 6 MB
SHOWN_AT_FIRST = 6  # small charts; a button shows the others


def render_report(record: SelectionRecord) -> str:
    """One HTML page about a selection, which opens without a network.

    plotly.js is inlined as it is (4.8 MB). Packed as base64 and unpacked by the browser it would take 2 MB,
    but a page that unpacks a blob and runs it is what mail filters reject, and older browsers fail on it.

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
    from plotly.offline import get_plotlyjs

    sections = _sections(record)
    charts = [chart for section in sections for chart in section.charts]
    theme, script, library = _asset("theme.js"), _asset("page.js"), _as_script(get_plotlyjs())
    return Template(_asset("page.html")).substitute(
        policy=_policy([theme, script, library]),
        title=escape(text.title(record)),
        style=_asset("page.css"),
        theme=theme,
        method=escape(record.method_name),
        asked=escape(text.asked(record)),
        came_out=escape(text.came_out(record)),
        facts=text.definition_list(text.facts(record), "facts"),
        links="".join(f'<a href="#{section.id}">{escape(section.title)}</a>' for section in sections),
        table_note=escape(_table_note(record)),
        sections="".join(section.html() for section in sections),
        settings=text.definition_list(text.settings(record), "settings"),
        citations="".join(f"<li>{escape(one)}</li>" for one in text.citations(record)),
        version=escape(record.versions.infused),
        payload=_embedded({**_table(record), "charts": [_drawing(chart) for chart in charts]}),
        script=script,
        library=library,
    )


@dataclass(frozen=True)
class _Section:
    """A heading, words and charts; a section without charts is left out."""

    id: str
    title: str
    charts: list[Chart]
    before: str = ""
    after: str = ""
    small: bool = False
    """Many small charts side by side, the first few of them shown."""

    def html(self) -> str:
        numbers = [f"{n + 1}. " if self.small else "" for n in range(len(self.charts))]
        hidden = [self.small and n >= SHOWN_AT_FIRST for n in range(len(self.charts))]
        cards = "".join(_card(*each) for each in zip(self.charts, numbers, hidden, strict=True))
        heading = f'<h2 id="{self.id}-title">{escape(self.title)}</h2>'
        charts = f'<div class="charts{" small" * self.small}">{cards}</div>'
        inside = f"{heading}{self.before}{charts}{self.after}"
        return f'<section id="{self.id}" aria-labelledby="{self.id}-title">{inside}</section>'


def _sections(record: SelectionRecord) -> list[_Section]:
    groups = text.definition_list(text.groups_text(record), "groups")
    candidates = [
        _Section(
            "scores", "Scores", _there(score_chart(record), coefficient_chart(record), rank_chart(record))
        ),
        _Section("picture", "Picture", _there(picture_chart(record), class_pictures_chart(record))),
        _Section("redundancy", "Redundancy", _there(heat_chart(record), network_chart(record)), after=groups),
        _distributions(record),
        _Section("convergence", "Convergence", _there(convergence_chart(record))),
    ]
    return [section for section in candidates if section.charts]


def _there(*charts: Chart | None) -> list[Chart]:
    return [chart for chart in charts if chart is not None]


def _distributions(record: SelectionRecord) -> _Section:
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
    return _Section(
        id="distributions",
        title=title,
        charts=charts,
        before=f'<p class="note">{escape(words)}</p>{legend}',
        after=more if len(charts) > SHOWN_AT_FIRST else "",
        small=True,
    )


def _card(chart: Chart, number: str, hidden: bool) -> str:
    kinds = " ".join(["card", *["wide"] * chart.wide, *["extra"] * hidden])
    caption = f"<p>{escape(chart.caption)}</p>" if chart.caption else ""
    title, said = escape(chart.title), escape(f"Chart: {chart.title}. {chart.caption}")
    return (
        f'<figure class="{kinds}"><figcaption><h3 title="{title}">{number}{title}</h3>{caption}</figcaption>'
        f'<div class="chart" id="chart-{chart.id}" role="img" aria-label="{said}" '
        f'style="height:{chart.height}px"></div></figure>'
    )


def _drawing(chart: Chart) -> dict[str, Any]:
    return {"id": f"chart-{chart.id}", "data": chart.data, "layout": {**chart.layout, "height": chart.height}}


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
        if len(_embedded(names).encode()) <= BYTES_OF_NAMES:
            break
    return names


def _embedded(payload: Any) -> str:
    """JSON that can stand in a script element: no character of it ends the element or opens a comment."""
    plain = json.dumps(payload, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<\u2028\u2029":
        plain = plain.replace(character, f"\\u{ord(character):04x}")
    return plain


def _as_script(code: str) -> str:
    """Code that can stand in a script element; inside strings and patterns ``<\\/`` means ``</``."""
    return code.replace("</script", "<\\/script").replace("\r\n", "\n")


def _policy(scripts: list[str]) -> str:
    """Only these scripts run, and nothing is fetched; plotly writes styles, which are therefore allowed."""
    hashes = [base64.b64encode(hashlib.sha256(code.encode()).digest()).decode() for code in scripts]
    allowed = " ".join(f"'sha256-{one}'" for one in hashes)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:; "
        "connect-src 'none'; base-uri 'none'; form-action 'none'"
    )


def _asset(name: str) -> str:
    return (files("infused.report") / "assets" / name).read_text(encoding="utf-8")
