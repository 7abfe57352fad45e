"""The benchmark of choices: what it draws, what it asks for, and how its tables are made."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import choices, relations
from benchmarks.datasets import DatasetError
from infused.bench import Problem
from infused.data import load_data


def test_of_many_samples_some_are_taken_with_equal_shares():
    whole, few = load_data("digits"), choices.some_samples(load_data("digits"))
    assert few.n_samples == choices.MOST_SAMPLES and few.name == "digits"
    shares = [np.unique(data.y, return_counts=True)[1] / data.n_samples for data in (whole, few)]
    np.testing.assert_allclose(*shares, atol=0.005)
    wine = load_data("wine")
    assert choices.some_samples(wine) is wine
    assert (choices.numbers(wine), choices.numbers(few)) == (6, 20)


def test_missing_tables_are_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr(choices, "PAPER", ())
    with pytest.raises(DatasetError, match=r"sonar\.csv is not in .*--tables"):
        next(choices.all_data(tmp_path))


def test_a_small_run_makes_a_table(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(choices, "all_data", lambda folder: iter([load_data("wine")]))
    monkeypatch.setattr(choices, "METHODS", choices.METHODS[:1] + choices.METHODS[3:4])
    output = tmp_path / "choices.csv"
    monkeypatch.setattr("sys.argv", ["choices", "--output", str(output)])
    assert choices.main() == 0
    assert "wine" in capsys.readouterr().out
    lines = output.read_text().splitlines()
    assert [line.split(",")[4] for line in lines] == ["method", "anova", "lasso"]


def made(accuracies, stabilities):
    """Two data sets; every method with the same figures, but for those in halves and the choice."""
    return [
        {
            **{"dataset": name, "samples": "100", "features": "50", "k": "20", "method": method},
            **{"accuracy": str(accuracies[halved][n]), "stability": str(stabilities[halved][n])},
        }
        for n, name in enumerate(("one", "two"))
        for method in map(str, choices.METHODS)
        for halved in [method == "auto" or "selector" in method]
    ]


def test_tables_have_means_and_standard_errors_over_data_sets():
    rows = made({False: (0.8, 0.9), True: (0.81, 0.93)}, {False: (0.2, 0.4), True: (0.5, 0.5)})
    gain = choices.accuracy(rows).splitlines()[-2:]
    assert gain[0].startswith("| mean |  |  | 87.0 | 85.0 |")
    assert gain[1].startswith("| auto minus it |  |  |  | 2.0 ± 1.0 |")
    change = choices.stability(rows).splitlines()
    assert change[2] == "| one | 20 | 0.20 (80.0) | 0.50 (81.0) | 0.20 (80.0) | 0.50 (81.0) |"
    assert change[-1].startswith("| change |  |  | +0.20 ± 0.10 (+2.0 ± 1.0) |")


def test_problems_are_what_a_run_needs():
    assert Problem(load_data("wine"), (choices.numbers(load_data("wine")),)).ks == (6,)
    assert set(choices.AVERAGED) <= set(choices.SINGLE)
    assert len((*choices.PAPER, *choices.WITH_SKLEARN, *choices.TABLES)) == 11


def test_tables_of_relations():
    """The first features matter in every simulated table, and no other does."""
    tables = list(relations.simulated(0))
    assert len({name for name, *_ in tables}) == len(tables) == 10
    for name, X, y, k in tables:
        assert X.shape == (relations.N_TRAIN + relations.N_TEST, relations.N_FEATURES)
        parts = X[:300], X[300:], y[:300], y[300:]
        scores = {}
        for own in (slice(0, k), slice(k, None)):
            trees = relations.models(y.dtype.kind == "f")[1]
            scores[own.start] = trees.fit(parts[0][:, own], parts[2]).score(parts[1][:, own], parts[3])
        none = max(np.bincount(y)) / len(y) if y.dtype.kind != "f" else 0.0
        assert scores[0] > none + 0.2 and scores[k] < none + 0.1, name


def test_means_of_relations():
    row = {
        "part": "real",
        "seed": 0,
        "fold": 0,
        "k": 2,
        "linear": 0.5,
        "trees": 0.6,
        "recall": 1.0,
        "cpu_s": 1,
    }
    rows = [
        {**row, "table": table, "method": method, "trees": 0.6 + 0.1 * (method == "auto") * (table == "a")}
        for table in "ab"
        for method in ("auto", "lasso")
    ]
    lines = relations.summary(rows, "real").splitlines()
    assert lines[2] == "| auto | 50.0 | 65.0 | 65.0 | 1.00 | 1.00 |  |"
    assert lines[3] == "| lasso | 50.0 | 60.0 | 60.0 | 1.00 | 1.00 | +5.0 ± 5.0 |"
