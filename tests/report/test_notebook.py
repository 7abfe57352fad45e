"""What a notebook cell shows: complete, plain enough for notebooks that are not trusted, and only text."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from infused.bench.standings import compare_methods, verdict
from infused.bench.tables import standings_table
from infused.report.html.notebook import BAR, comparison_html, selection_html
from tests.bench.made_rows import make_rows, with_failure
from tests.record import records

HOSTILE = "<img src=x onerror=alert(1)>"
#: What JupyterLab leaves of a notebook that is not trusted.
TAGS = {"div", "p", "strong", "br", "table", "thead", "tbody", "tr", "th", "td", "details", "summary"}
STYLE = re.compile(r"(text-align|padding|margin|width|height|font-weight|border-collapse|border-radius|"
                   r"overflow-x|background-color|border|border-left|color): [#\w ]+")  # fmt: skip


class Fragment(HTMLParser):
    """The cells of a table by row, the lengths of the bars, and everything that is not plain."""

    def __init__(self, text):
        super().__init__()
        self.rows, self.bars, self.strange, self.words = [], [], [], ""
        self._cell = False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        styles = [one.strip() for name, value in attributes for one in value.split(";")]
        if tag not in TAGS or {name for name, _ in attributes} - {"style"}:
            self.strange.append((tag, attributes))
        self.strange += [one for one in styles if not STYLE.fullmatch(one)]
        self.bars += [int(one[7:-2]) for one in styles if one.startswith("width: ")]
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        self._cell = tag in ("td", "th")

    def handle_data(self, text):
        self.words += text
        if self._cell:
            self.rows[-1][-1] += text.strip()

    def handle_endtag(self, tag):
        self._cell = False


def test_the_ranking():
    record = records.cells_record()
    shown = Fragment(selection_html(record))
    assert shown.rows[0] == [
        "Rank", "Feature", "Direction", "Explains alone", "Adds to the others", "Redundancy group",
    ]  # fmt: skip
    assert shown.rows[1:] == [
        [
            str(one.rank), one.name, one.direction, f"{100 * one.alone:.1f}%", f"{100 * one.unique:.1f}%",
            "" if one.group is None else str(one.group),
        ]
        for one in record.selected
    ]  # fmt: skip
    assert record.selected[0].direction == "higher in malignant"
    assert shown.bars[::2] == [round(BAR * one.alone) for one in record.selected], "100% fills a bar"
    assert shown.bars[1::2] == [round(BAR * one.unique) for one in record.selected]
    assert "8 of 30 features of breast-cancer, by InFusedLasso" in shown.words
    assert (
        "Top 8 of 30 features for predicting diagnosis (569 samples), ranked by InFusedLasso: " in shown.words
    )
    assert "beyond chance" in shown.words


def test_long_rankings_are_cut_and_say_so():
    shown = Fragment(selection_html(records.large_record()))
    assert len(shown.rows) == 1 + 25
    assert "And 125 more" in shown.words


def test_what_is_not_known_is_empty():
    record = records.cells_record()
    bare = tuple(
        replace(one, unique=None, score=None, group=None, alone=-0.01) for one in record.selected[:2]
    )
    shown = Fragment(selection_html(replace(record, selected=bare, redundancy=None)))
    assert [row[3:] for row in shown.rows] == [["Explains alone", "Adds to the others"], *[["-1.0%", ""]] * 2]
    assert shown.bars == [0, 0], "less than chance is no bar"
    nothing = Fragment(selection_html(replace(record, selected=(), redundancy=None)))
    assert not nothing.rows
    assert "No feature was selected" in nothing.words


def test_the_methods():
    found = compare_methods(with_failure(make_rows(), "mrmr", 0, 1))
    shown = Fragment(comparison_html(found))
    cells = standings_table(found).cells
    assert shown.rows == [list(cells.columns), *cells.to_numpy().tolist()]
    assert verdict(found) in shown.words
    assert "took longer than 60 s" in shown.words


@pytest.mark.parametrize(
    "fragment",
    [
        lambda: selection_html(records.hostile_record()),
        lambda: comparison_html(compare_methods(make_rows((HOSTILE,), {HOSTILE: 0.9, "random": 0.5}))),
    ],
    ids=["selection", "comparison"],
)
def test_names_stay_text_and_nothing_is_lost_where_the_notebook_is_not_trusted(fragment):
    shown = Fragment(fragment())
    assert not shown.strange
    assert "<img src=x onerror=" in shown.words
