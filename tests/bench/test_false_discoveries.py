"""The simulations: the truth that they judge by, and that a broken promise is told."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from benchmarks import false_discoveries
from benchmarks.datasets import DatasetError
from benchmarks.designs import DESIGNS, draw
from benchmarks.discovery_methods import METHODS
from benchmarks.false_discoveries import judged, promise, replaced
from benchmarks.tables import write_csv


def test_there_are_designs_of_every_kind():
    assert len(DESIGNS) >= 12 and len({design.name for design in DESIGNS}) == len(DESIGNS)
    assert any(design.n_signals == 0 for design in DESIGNS)
    assert any(design.n_features > design.n_samples for design in DESIGNS)
    assert {design.n_classes for design in DESIGNS} == {0, 2, 3}


@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.name)
def test_a_draw_is_what_its_design_says(design):
    try:
        drawn, again, other = draw(design, 3), draw(design, 3), draw(design, 4)
    except DatasetError as error:
        pytest.skip(str(error))
    assert drawn.X.shape == (design.n_samples, design.n_features)
    np.testing.assert_array_equal(drawn.y, again.y)
    assert not np.array_equal(drawn.X, other.X)
    assert drawn.relevant.sum() == design.n_signals * design.cluster
    assert len(np.unique(drawn.y)) == (design.n_classes or design.n_samples)


def test_what_is_false_and_what_is_found():
    drawn = draw(next(design for design in DESIGNS if design.cluster > 1), 0)
    one = np.flatnonzero(drawn.relevant)[0]
    mask = np.zeros(len(drawn.relevant), dtype=bool)
    mask[[one, one + 1, np.flatnonzero(~drawn.relevant)[0]]] = True  # two of one cluster
    assert judged(mask, drawn) == {"selected": 3, "false": 1, "found": 1}


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, "kept"),
        ({"fdr": 0.13}, "BROKEN"),
        ({"fdr": 0.13, "method": "knockpy"}, ""),
        ({"signals": 0, "any": 0.18}, "kept"),
        ({"signals": 0, "any": 0.2}, "BROKEN"),
        ({"method": "stability", "bound": 1.0, "false": 1.1}, "kept"),
        ({"method": "stability", "bound": 1.0, "false": 1.3}, "BROKEN"),
    ],
)
def test_a_broken_promise_is_told(changed, expected):
    row = {"method": "knockoffs", "signals": 30, "q": 0.1, "draws": 50, "fdr": 0.11, "fdr_error": 0.01}
    row |= {"any": 1.0, "bound": None, "false": 0.0, "false_error": 0.1}
    assert promise({**row, **changed}) == expected


def test_the_command_goes_on_where_it_stopped_and_fails_where_a_promise_is_broken(
    tmp_path, monkeypatch, capsys
):
    rows, output = tmp_path / "rows.csv", tmp_path / "out.csv"
    asked = ["--designs", "no signal", "--methods", "knockoffs", "--draws", "2", "--rows", str(rows)]
    monkeypatch.setattr("sys.argv", ["false_discoveries", *asked, "--output", str(output)])
    assert false_discoveries.main() == 0
    first = rows.read_text()
    assert len(first.splitlines()) == 7
    monkeypatch.setitem(METHODS, "knockoffs", None)  # nothing is left to compute
    assert false_discoveries.main() == 0 and rows.read_text() == first
    with output.open(newline="") as file:
        assert [row["promise"] for row in csv.DictReader(file)] == ["kept"] * 3
    rows.write_text(first.replace(",0,0,0,", ",5,5,0,"))
    assert false_discoveries.main() == 1
    assert "broken: no signal, knockoffs, q=0.05" in capsys.readouterr().out


def test_more_draws_of_one_method_replace_its_lines(tmp_path):
    earlier = [
        {"design": design.name, "method": method, "q": q, "draws": 3}
        for design in DESIGNS[:2]
        for method in ("knockoffs", "knockpy")
        for q in (0.1, 0.2)
    ]
    write_csv(earlier, tmp_path / "out.csv")
    more = [{"design": DESIGNS[1].name, "method": "knockpy", "q": q, "draws": 20} for q in (0.1, 0.2)]
    lines = replaced(tmp_path / "out.csv", more)
    assert [int(line["draws"]) for line in lines] == [3] * 6 + [20] * 2
    assert [(line["design"], line["method"]) for line in lines] == [
        (line["design"], line["method"]) for line in earlier
    ]
