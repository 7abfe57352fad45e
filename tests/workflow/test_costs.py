"""The best panel for a budget, and penalty factors by name: in Python, in files, in records."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import infused
from infused.cli import main
from infused.data import DataError
from infused.exceptions import InputError
from infused.selectors.choose.budget import Walks, within_budget


@pytest.fixture
def table():
    """Two cheap features that say nearly what an expensive one says, and noise that costs little."""
    rng = np.random.default_rng(0)
    signal, other = rng.normal(size=(2, 160))
    table = pd.DataFrame({"scan": signal + 0.1 * rng.normal(size=160)})
    table["blood"] = signal + 0.6 * rng.normal(size=160)
    table["urine"] = other + 0.3 * rng.normal(size=160)
    for name in "abc":
        table[name] = rng.normal(size=160)
    table["ill"] = np.where(signal + other + 0.3 * rng.normal(size=160) > 0, "yes", "no")
    return table


COSTS = {"scan": 500, "blood": 20, "urine": 5, "a": 1, "b": 1, "c": 1}


def test_features_are_taken_while_they_fit():
    costs = np.array([5.0, 3.0, 4.0, 0.0, 1.0])
    assert within_budget([0, 1, 2, 3, 4], costs, 8.0) == [0, 1, 3]
    assert within_budget([0, 1, 2, 3, 4], costs, 9.0) == [0, 1, 3, 4]
    assert within_budget([0, 1, 2, 3, 4], costs, 7.0, most=2) == [0, 3]
    assert within_budget([0, 1, 2], np.full(3, 0.1), 0.3) == [0, 1, 2]  # as sums of 0.1 are a little more


def test_every_way_along_a_ranking_keeps_what_must_come_first():
    walks = Walks(np.array([4.0, 3.0, 5.0, 1.0]), limit=9.0, n_kept=1)
    orders = walks.orders(np.array([2, 0, 1, 3]))
    assert [order.tolist() for order in orders] == [[2, 0, 1, 3], [2, 1, 0, 3], [2, 3, 0, 1]]
    assert walks.budgets(np.array([2, 0, 1, 3])).tolist() == [5.0, 6.0, 8.0, 9.0]
    scored = []
    found = walks.scores(
        np.array([2, 0, 1, 3]), np.array([6.0, 9.0]), lambda panel: scored.append(panel) or 1.0
    )
    assert found.shape == (2, 3)
    assert len(scored) == len({frozenset(panel) for panel in scored})  # each set once


@pytest.mark.parametrize("costs", [COSTS, pd.Series(COSTS), list(COSTS.values())])
def test_the_best_panel_for_a_budget(costs, table):
    """The expensive feature is best; what a small budget buys in its place is found."""
    rich = infused.select(table, "ill", method="anova", costs=costs, max_cost=600)
    assert {"scan", "urine"} <= set(rich.features)
    poor = infused.select(table, "ill", method="anova", costs=costs, max_cost=30)
    assert {"blood", "urine"} <= set(poor.features)
    assert "scan" not in poor.features
    for found, limit in ((rich, 600), (poor, 30)):
        budget = found.record.budget
        assert budget.total == found.table["cost"].sum() <= limit
        assert budget.total <= budget.chosen <= limit
        assert max(budget.means) == budget.means[budget.ks.index(budget.chosen)]
        assert found.record.score.means[0] == max(budget.means)
        assert f"they cost {budget.total:g} of at most {limit}" in str(found)
    assert max(rich.record.budget.means) > max(poor.record.budget.means)
    assert any("each alone costs more than the budget: 'scan'" in note for note in poor.record.data.notes)


def test_a_budget_beside_a_number_kept_features_and_categories(table, tmp_path):
    table["kind"] = np.where(table["blood"] > 0.5, "high", np.where(table["blood"] < -0.5, "low", "middle"))
    costs = {**COSTS, "kind": 2}
    found = infused.select(table, "ill", k=2, method="lasso", keep=["a"], costs=costs, max_cost=8)
    assert found.features[0] == "a"
    assert len(found) <= 2
    assert found.table["cost"].sum() <= 8
    found.save(tmp_path / "found")
    page = (tmp_path / "found" / "report.html").read_text(encoding="utf-8")
    assert "Score against cost" in page
    assert "cost" in (tmp_path / "found" / "selected.csv").read_text().splitlines()[0]
    table.to_parquet(tmp_path / "table.parquet")
    again = infused.rerun(tmp_path / "found", table)
    assert again.again.features == found.features
    assert again.again.record.budget == found.record.budget


def test_a_budget_for_survival_and_for_continuous_targets(table):
    rng = np.random.default_rng(1)
    table["months"] = np.ceil(rng.exponential(20 * np.exp(-table["scan"])))
    table["died"] = rng.random(160) < 0.7
    own = {"costs": COSTS, "max_cost": 25, "method": "anova"}
    found = infused.select(table.drop(columns="ill"), time="months", event="died", **own)
    assert "blood" in found.features
    assert found.record.budget.scoring == "concordance"
    table["level"] = table["scan"] + 0.1 * rng.normal(size=160)
    found = infused.select(
        table[["scan", "blood", "a", "b", "level"]], "level", **own | {"costs": {"scan": 99}}
    )
    assert found.features[0] == "blood"
    assert found.record.budget.scoring == "r2"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"costs": {"scam": 1}, "max_cost": 9}, "costs='scam': no such column; did you mean 'scan'"),
        ({"costs": {"scan": -1}, "max_cost": 9}, "costs= must be numbers of at least zero, but has -1"),
        ({"costs": {"scan": "much"}, "max_cost": 9}, "but has 'much'"),
        ({"costs": {"scan": float("nan")}, "max_cost": 9}, "but has nan"),
        ({"costs": {"scan": float("inf")}, "max_cost": 9}, "costs= must be finite"),
        ({"costs": [1, 2], "max_cost": 9}, "a number for each of the 6 features, not 2"),
        ({"costs": [3] * 6, "max_cost": 2}, "max_cost=2 affords no feature: 'scan', the cheapest, costs 3"),
        ({"max_cost": 2}, "max_cost=2 needs costs= beside it"),
        ({"costs": COSTS, "max_cost": -2}, "max_cost=-2: give a number of at least zero"),
        ({"costs": COSTS, "max_cost": 9, "method": "knockoffs"}, "as knockoffs does: take another method"),
        ({"costs": COSTS, "max_cost": 9, "keep": ["blood"]}, "less than the 20 that the features cost"),
        ({"penalty_factors": {"scam": 1}, "method": "lasso"}, "penalty_factors='scam': no such column"),
        (
            {"penalty_factors": {"scan": -1}, "method": "lasso"},
            "penalty_factors= must be numbers of at least",
        ),
        ({"penalty_factors": {"scan": 1}}, "penalty_factors"),
    ],
)
def test_bad_costs_and_factors_get_one_line(options, words, table):
    with pytest.raises((InputError, DataError)) as caught:
        infused.select(table, "ill", **{"method": "anova", **options})
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_penalty_factors_by_name_are_those_of_places(table, tmp_path):
    """Also where a constant column stands before them, and from a record."""
    table.insert(0, "constant", 1.0)
    factors = {"a": 0.0, "scan": float("inf"), "urine": 2.0}
    found = infused.select(table, "ill", k=3, method="lasso", penalty_factors=factors)
    X = table[["scan", "blood", "urine", "a", "b", "c"]]
    own = infused.Lasso(n_features_to_select=3, penalty_factors=factors).fit(X, table["ill"])
    assert found.features == X.columns[np.argsort(own.ranking_)[:3]].tolist()
    assert found.features[0] == "a"
    assert "scan" not in found.features
    found.save(tmp_path / "found", report=False)
    assert infused.rerun(tmp_path / "found", table).again.features == found.features


def test_costs_and_factors_from_files(table, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    table.to_csv("table.csv", index=False)
    lines = "".join(f"{name},{cost}\n" for name, cost in COSTS.items())
    (tmp_path / "costs.csv").write_text(f"feature,cost\n{lines}")
    (tmp_path / "factors.tsv").write_text("a\t0\nscan\tinf\n")
    own = ["select", "table.csv", "-t", "ill", "-o", "out"]
    assert main([*own, "-m", "anova", "--costs", "costs.csv", "--max-cost", "30"]) == 0
    shown = capsys.readouterr().out
    assert "of at most 30" in " ".join(shown.split())
    assert infused.Selection.load("out").record.request.costs == COSTS
    assert main([*own, "-m", "lasso", "-k", "2", "--penalty-factors", "factors.tsv", "--force"]) == 0
    assert infused.Selection.load("out").features[0] == "a"
    capsys.readouterr()
    for text, words in (
        ("scan,1,2\n", "--costs 'bad.csv' has 'scan,1,2', not a name and a number, like age,2"),
        ("scan,1\nscan,2\n", "has 'scan' twice"),
        ("name,cost\n", "has no line with a name and a number"),
        ("scan,-1\n", "--costs must be numbers of at least zero"),
        *((f"a,1\nscan,{text}\n", f"has 'scan,{text}', not a name") for text in ("1_0", "1e400", "nan", "٣")),
    ):
        (tmp_path / "bad.csv").write_text(text)
        assert main([*own, "--costs", "bad.csv", "--max-cost", "30", "--force"]) == 2
        assert words in " ".join(capsys.readouterr().err.split())
    assert main([*own, "--costs", "none.csv", "--max-cost", "30", "--force"]) == 2
    assert "--costs 'none.csv': No such file" in " ".join(capsys.readouterr().err.split())
    monkeypatch.setattr("infused.cli.options.MOST_CHARACTERS", 8)  # of a device, which has no end
    assert main([*own, "--costs", "costs.csv", "--max-cost", "30", "--force"]) == 2
    assert "has 8 characters or more" in " ".join(capsys.readouterr().err.split())
