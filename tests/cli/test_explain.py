"""One feature: the screen, the JSON, the files."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from infused import explain
from tests.cli.conftest import patients


def test_the_screen(folder, infused):
    done = infused("explain", "breast-cancer", "worst radius", "--neighbours", "2")
    assert done.code == 0, done.err
    for words in (
        "worst radius  one of 30 features, 569 samples",
        "rank 4 of 30",
        "By diagnosis, bars from 7.93 to 36",
    ):
        assert words in done.out
    rows = [line.split() for line in done.out.splitlines() if line]
    values = load_breast_cancer().data[:, 20][load_breast_cancer().target == 1]
    five = [f"{value:.3g}" for value in np.percentile(values, (0, 25, 50, 75, 100))]
    assert ["benign", "357", *five, "▂▅█▄▁▁"] in rows
    closest = [row[:4] for row in rows if row[:2] == ["worst", "perimeter"]]
    assert closest == [["worst", "perimeter", "0.994", "━━━━━━━━━━━━"]] * 2


def test_real_targets(folder, infused):
    done = infused("explain", "diabetes", "bmi", "--json")
    assert done.out == explain("diabetes", "bmi").to_json() + "\n", "what Python gives"
    facts = json.loads(done.out)
    assert facts["schema"] == "infused.explain/2"
    assert [part["name"] for part in facts["by_target"]] == [
        "25 to 87",
        "88 to 140",
        "141 to 210",
        "212 to 346",
    ]
    assert sum(part["count"] for part in facts["by_target"]) == 442
    assert facts["f_value"]["rank"] == 1


def test_the_next_command_has_the_transform(folder, infused):
    said = infused("explain", "breast-cancer", "worst radius", "--transform", "sqrt").out
    assert "infused select breast-cancer -k auto --transform sqrt" in said


def test_the_files(folder, infused):
    command = ("explain", "patients.csv", "glucose", "-t", "diagnosis", "-o", "there")
    assert infused(*command).code == 0
    assert (folder / "there" / "graph.png").read_bytes().startswith(b"\x89PNG")
    assert json.loads((folder / "there" / "explain.json").read_text())["name"] == "glucose"
    assert infused(*command).code == 2
    assert infused(*command, "--force").code == 0
    assert sorted(path.name for path in (folder / "there").iterdir()) == [
        "explain.json",
        "graph.png",
        "report.html",
    ]


def test_sparse_and_constant_features(folder, infused):
    lines = [
        f"{int(row.diagnosis == 'ill')} 1:{row.glucose} 3:{row.iron} 4:1" for row in patients().itertuples()
    ]
    (folder / "t.svm").write_text("\n".join(lines))
    facts = json.loads(infused("explain", "t.svm", "3", "--json").out)
    assert facts["n_distinct"] == 1
    assert facts["entropy"] == pytest.approx(np.log(90)), "a constant has the uniform distribution"
    assert facts["f_value"]["value"] == 0
    assert {one["correlation"] for one in facts["by_correlation"]} == {0.0}


def test_a_single_feature(folder, infused):
    patients()[["age", "diagnosis"]].to_csv("one.csv", index=False)
    done = infused("explain", "one.csv", "0", "-t", "diagnosis")
    assert done.code == 0, done.err
    assert "Closest" not in done.out


def test_a_narrow_terminal_keeps_names_and_figures_whole(folder, infused, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    done = infused("explain", "breast-cancer", "worst area", "--neighbours", "2")
    assert done.out.splitlines()[1].startswith("Relevance: worst area explains ")
    assert max(map(len, done.out.splitlines()[:-1])) <= 60
    rows = [line.split() for line in done.out.splitlines()]
    assert ["benign", "357", "185", "547", "1,210"] in [row[:5] for row in rows]
    assert "…" not in done.out
