"""Results as a notebook cell shows them: tables without script that take their colours from the notebook.

Notebooks that are not trusted drop style sheets and keep plain style attributes, so these are all that the
template has; without them, too, what is left is a table that can be read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from infused.bench.standings import Standings, verdict
from infused.bench.tables import standings_table
from infused.record.schema import SelectedFeature, SelectionRecord
from infused.record.sentences import (
    COLUMNS,
    OTHER_CELLS,
    Sentence,
    Severity,
    column_meanings,
    gravity,
    title,
    warned,
)
from infused.record.sentences import verdict as selection_verdict
from infused.report.html.explanation import explanation_table
from infused.report.html.page import render_template
from infused.report.html.selection import meanings

MOST_ROWS = 25
BAR = 90  # pixels of 100%
BLUE, GREEN = "#3d8fce", "#2a9d76"  # seen on light grounds and on dark ones


#: Of the box, seen on light grounds and on dark ones.
COLOURS: dict[Severity, str] = {"warning": "#d9480f", "caution": "#b7791f", "good": GREEN, "plain": BLUE}


@dataclass(frozen=True)
class Entry:
    """A text of the table, and below it a bar of so many pixels."""

    text: str
    bar: int | None = None
    colour: str = ""


def selection_html(record: SelectionRecord) -> str:
    """Render the ranking: what each selected feature explains alone and beside the others, with bars."""
    shown = record.selected[:MOST_ROWS]
    stability = record.stability
    cells: dict[str, Callable[[SelectedFeature], Entry]] = {
        "direction": lambda one: Entry(one.direction),
        "alone": lambda one: _share(one.alone, BLUE),
        "unique": lambda one: _share(one.unique, GREEN),
        "frequency": lambda one: _share(
            None if stability is None else stability.frequencies[one.index], BLUE
        ),
        "group": lambda one: Entry("" if one.group is None else str(one.group)),
    }
    keys = list(column_meanings(record))
    rows = [
        [
            Entry(str(one.rank)),
            Entry(one.name),
            *(cells[key](one) if key in cells else Entry(OTHER_CELLS[key](one)) for key in keys),
        ]
        for one in shown
    ]
    beyond = len(record.selected) - len(shown)
    return render_template(
        "notebook.html",
        title=f"{title(record)}, by {record.method_name}",
        **_box(selection_verdict(record)),
        columns=["Rank", "Feature", *(COLUMNS[key] for key in keys)] if shown else [],
        left={"Feature", *COLUMNS.values()},
        rows=rows,
        n_strong=0,
        notes=[f"And {beyond:,} more: its table has them all."] if beyond else [],
        meaning=meanings(record) if shown else "",
    )


def _box(sentences: Sequence[Sentence]) -> dict[str, Any]:
    """Return what the template needs for the verdict."""
    return {"verdict": sentences, "colours": COLOURS, "border": COLOURS[gravity(sentences)]}


def comparison_html(standings: Standings, warnings: Sequence[str] = ()) -> str:
    """Render warnings, the verdict, and the table of methods, the best first."""
    table = standings_table(standings)
    return render_template(
        "notebook.html",
        title=f"Feature selectors on {standings.dataset}",
        **_box([*warned(warnings), Sentence("Answer", verdict(standings))]),
        columns=list(table.cells.columns),
        left={"Method"},
        rows=[[Entry(str(text)) for text in row] for row in table.cells.to_numpy()],
        n_strong=len(standings.tied),
        notes=table.notes,
        meaning=table.caption,
    )


def explanation_html(found: Any) -> str:
    """Render the verdict on one feature, and its values by target."""
    columns, rows = explanation_table(found)
    return render_template(
        "notebook.html",
        title=f"{found.name}, one of {found.n_features:,} features of {found.data.name}",
        **_box(found.verdict),
        columns=columns,
        left={columns[0]},
        rows=[[Entry(text) for text in row] for row in rows],
        n_strong=0,
        notes=[],
        meaning="",
    )


def _share(share: float | None, colour: str) -> Entry:
    """Return a percentage above a bar, which 100% fills."""
    if share is None:
        return Entry("")
    return Entry(f"{100 * share:.1f}%", round(BAR * min(max(share, 0.0), 1.0)), colour)
