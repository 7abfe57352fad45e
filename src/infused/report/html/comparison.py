"""The comparison of selectors on one data set: one HTML page that needs nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from html import escape
from typing import TYPE_CHECKING

from infused import __version__
from infused.bench.captions import LEAKY
from infused.bench.frames import Protocol
from infused.bench.standings import Standings, compare_methods
from infused.report import compare_text as text
from infused.report.html.assembly import Section, asset, fill, there
from infused.report.html.comparison_charts import differences_chart, scores_chart, stability_chart, time_chart
from infused.report.html.words import definition_list

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["render_comparison"]


def render_comparison(
    rows: DataFrame,
    title: str | None = None,
    *,
    protocol: Protocol | None = None,
    metric: str | None = None,
    command: str | None = None,
    notes: Sequence[str] = (),
) -> str:
    """One HTML page that answers: which selector, how many features, and is the difference real?

    The answer comes first, in two sentences, and says so where the folds show no difference. Like the report
    of a selection, the page opens without a network, and names of methods and data are shown as text.

    Parameters
    ----------
    rows : DataFrame
        One row per k of a cell, of one data set.
    title : str, optional
    protocol : {"nested", "leaky"}, optional
        Needed where the rows hold both; a leaky page is marked as such.
    metric : str, optional
        By default accuracy, or R² for a real target.
    command : str, optional
        What makes these rows again.
    notes : sequence of str
        What a reader should know about the data.

    Returns
    -------
    str
        Encode it as UTF-8.

    Examples
    --------
    >>> from infused.bench import Store
    >>> from infused.report.html.comparison import render_comparison
    >>> rows = Store("my-results").frame()
    >>> page = render_comparison(rows, "My data")  # doctest: +SKIP
    """
    standings = compare_methods(rows, protocol=protocol, metric=metric)
    sections = _sections(standings)
    return fill(
        "compare.html",
        style=asset("page.css") + asset("compare.css"),
        script="",
        payload={},
        charts=[chart for section in sections for chart in section.charts],
        title=escape(title or f"Feature selectors on {standings.dataset}"),
        eyebrow=escape(f"Standings of {standings.methods['label'].nunique()} feature selectors"),
        answer=escape(text.answer(standings)),
        warning=_warning(standings),
        facts=definition_list(text.facts(standings), "facts"),
        links="".join(section.link() for section in sections),
        sections="".join(section.html() for section in sections),
        command=_command(command),
        settings=definition_list(
            [*text.settings(standings), *[("Note", note) for note in notes]], "settings"
        ),
        citations=text.citations(),
        version=escape(__version__),
    )


def _sections(standings: Standings) -> list[Section]:
    table = (
        f'<div class="card"><table class="methods">{text.method_table(standings)}</table>'
        f"{text.table_note(standings)}</div>"
    )
    candidates = [
        Section("methods", "Methods", [], before=table),
        Section("features", "How many features", [scores_chart(standings)]),
        Section("differences", "Is it real?", there(differences_chart(standings))),
        Section("stability", "Stability and time", there(stability_chart(standings), time_chart(standings))),
    ]
    there_is = [section for section in candidates if section.charts or section.before]
    return [_marked(section) for section in there_is] if standings.protocol == "leaky" else there_is


def _marked(section: Section) -> Section:
    """Every chart of a leaky comparison says so."""
    return replace(section, charts=[replace(one, title=f"Leaky: {one.title}") for one in section.charts])


def _warning(standings: Standings) -> str:
    return f'<p class="warning" role="note">{escape(LEAKY)}</p>' if standings.protocol == "leaky" else ""


def _command(command: str | None) -> str:
    if command is None:
        return ""
    return f'<h3>Run it again</h3><pre tabindex="0"><code>{escape(command)}</code></pre>'
