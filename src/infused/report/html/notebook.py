"""Results as a notebook cell shows them: tables without script that take their colours from the notebook.

Notebooks that are not trusted drop style sheets and keep plain style attributes, so these are all that the
template has; without them, too, what is left is a table that can be read.
"""

from __future__ import annotations

from dataclasses import dataclass

from infused.bench.standings import Standings, verdict
from infused.bench.tables import standings_table
from infused.record.schema import SelectionRecord
from infused.record.sentences import answer_sentences, title, warning_sentences
from infused.report.html.page import render_template
from infused.report.html.selection import column_words

MOST_ROWS = 25
BAR = 90  # pixels of 100%
BLUE, GREEN = "#3d8fce", "#2a9d76"  # seen on light grounds and on dark ones


@dataclass(frozen=True)
class Entry:
    """A text of the table, and below it a bar of so many pixels."""

    text: str
    bar: int | None = None
    colour: str = ""


def selection_html(record: SelectionRecord) -> str:
    """Render the ranking: what each selected feature explains alone and beside the others, with bars."""
    shown = record.selected[:MOST_ROWS]
    scored = any(one.score is not None for one in shown)
    rows = []
    for one in shown:
        row = [Entry(str(one.rank)), Entry(one.name)]
        row += [_share(one.alone, BLUE), _share(one.unique, GREEN)]
        row += [Entry("" if one.score is None else f"{one.score:#.4g}")] * scored
        rows.append([*row, Entry("" if one.group is None else str(one.group))])
    beyond = len(record.selected) - len(shown)
    return render_template(
        "notebook.html",
        title=f"{title(record)}, by {record.method_name}",
        warnings=warning_sentences(record),
        lead=" ".join(answer_sentences(record)),
        columns=["Rank", "Feature", "Alone", "Unique", *["Score"] * scored, "Group"] if shown else [],
        left={"Feature", "Alone", "Unique"},
        rows=rows,
        n_strong=0,
        notes=[f"And {beyond:,} more: its table has them all."] if beyond else [],
        meaning=column_words(record) if shown else "",
    )


def comparison_html(standings: Standings) -> str:
    """Render the verdict and the table of methods, the best first."""
    table = standings_table(standings)
    return render_template(
        "notebook.html",
        title=f"Feature selectors on {standings.dataset}",
        warnings=[],
        lead=verdict(standings),
        columns=list(table.cells.columns),
        left={"Method"},
        rows=[[Entry(str(text)) for text in row] for row in table.cells.to_numpy()],
        n_strong=len(standings.tied),
        notes=table.notes,
        meaning=table.caption,
    )


def _share(share: float | None, colour: str) -> Entry:
    """Return a percentage above a bar, which 100% fills."""
    if share is None:
        return Entry("")
    return Entry(f"{100 * share:.1f}%", round(BAR * min(max(share, 0.0), 1.0)), colour)
