"""Selecting whole variables from ordinary tables, and applying that to other rows."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import mutual_info_score
from sklearn.metrics.cluster import expected_mutual_information

import infused
from infused.bench.tuning import Part, choose_number
from infused.coding import Coder
from infused.data import load_data
from infused.exceptions import InputError
from infused.selectors.choose.contest import features_by_rank
from infused.selectors.choose.evaluators import scoring_for
from infused.selectors.method import Method, prepared
from infused.workflow import Selection


def people(n=240, seed=0):
    """A table with the traits of those that people have."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["male", "female"], n)
    deck = rng.choice(["A", "B", "C", "T"], n, p=[0.4, 0.35, 0.24, 0.01]).astype(object)
    y = np.where((sex == "female") ^ (rng.random(n) < 0.15), "yes", "no")
    age = rng.normal(40, 12, n).round(1) + 6 * (y == "yes")
    age[rng.random(n) < 0.2] = np.nan
    deck[rng.random(n) < 0.6] = None
    return pd.DataFrame(
        {
            "name": [f"person {j}" for j in range(n)],
            "sex": sex,
            "gender": np.where(sex == "male", "M", "F"),
            "age": age,
            "deck": deck,
            "fare": [f"${v:,.2f}" for v in rng.gamma(2, 900, n)],
            "when": pd.date_range("2020-01-01", periods=n, freq="5D").strftime("%d.%m.%Y"),
            "constant": 1,
            "noise": rng.normal(size=n),
            "noise again": 0.0,
            "survived": y,
        }
    ).assign(**{"noise again": lambda t: t["noise"]})


@pytest.fixture
def file(tmp_path):
    people().to_csv(tmp_path / "people.csv", index=False)
    return tmp_path / "people.csv"


@pytest.mark.parametrize("method", ["infused-lasso", "lasso", "mrmr", "anova", "greedy-forward"])
def test_whole_variables_are_selected(file, method):
    selection = infused.select(file, "survived", k=4, method=method)
    assert selection.features[0] == "sex"
    assert set(selection.features) <= {"sex", "age", "deck", "fare", "noise", *(f"when ({p})" for p in PARTS)}
    notes = selection.record.data.notes
    assert any(
        "'gender' (same as 'sex')" in note and "'noise again' (same as 'noise')" in note for note in notes
    )
    assert any("1 constant column" in note for note in notes)
    assert any("'name'" in note for note in notes)


PARTS = ("year", "month", "weekday")


def test_duplicates_may_be_kept(file):
    kept = infused.select(file, "survived", k=2, method="anova", keep_duplicates=True)
    assert set(kept.features) == {"sex", "gender"}
    with pytest.raises(InputError, match="without duplicates"):
        infused.select(file, "survived", k=10, method="anova")


def test_constants_come_last(file):
    every = infused.select(file, "survived", k=9, method="mrmr")
    assert every.features[-1] == "constant"
    assert "constant" not in infused.select(file, "survived", k=8, method="mrmr").features


def single_rows(table, folder):
    for j in range(len(table)):
        path = folder / "row.csv"
        table.iloc[[j]].to_csv(path, index=False)
        yield path


@pytest.mark.parametrize("transform", ["none", "sqrt"])
def test_apply_on_each_row_is_apply_on_all(file, tmp_path, transform):
    drop = ["noise", "noise again"] if transform == "sqrt" else []
    selection = infused.select(file, "survived", k=6, method="anova", transform=transform, drop=drop)
    assert {"sex", "age", "deck", "fare"} <= set(selection.features)
    selection.save(tmp_path / "out", report=False)
    loaded = Selection.load(tmp_path / "out")
    new = people(30, seed=7).drop(columns="survived")
    new.loc[0, "sex"], new.loc[1, "deck"], new.loc[2, "age"] = "other", "Z", np.nan
    new.loc[3, ["fare", "when", "sex"]] = [None, None, None]
    new = new[list(reversed(new.columns))].assign(more="what nobody asked for")
    new.to_csv(tmp_path / "new.csv", index=False)
    whole = loaded.apply(tmp_path / "new.csv", transformed=True)
    assert list(whole) == selection.features and len(whole) == 30
    rows = [loaded.apply(path, transformed=True) for path in single_rows(new, tmp_path)]
    for j, row in enumerate(rows):
        assert [same(a, b) for a, b in zip(row.iloc[0], whole.iloc[j], strict=True)] == [True] * len(
            whole.columns
        )
    pd.testing.assert_frame_equal(loaded.apply(new, transformed=True), whole, check_dtype=False)


def same(a, b):
    return (a is None or a != a) and (b is None or b != b) if a is None or a != a else a == b


def test_apply_treats_values_as_recorded(file):
    selection = infused.select(file, "survived", k=6, method="anova")
    table = people()
    new = table.iloc[:4].drop(columns="survived").copy()
    new["age"] = [np.nan, 30.0, 31.0, 32.0]
    new["deck"] = ["A", "T", None, "Q"]
    new["sex"] = ["male", "female", "neither", None]
    new["fare"] = ["$1,234.50", "$2.00", "7", None]
    applied = selection.apply(new)
    assert applied["age"].tolist() == [table["age"].median(), 30.0, 31.0, 32.0]
    assert applied["deck"].tolist() == ["A", "(other)", "(missing)", "(other)"]
    assert applied["sex"][:2].tolist() == ["male", "female"] and applied["sex"][2:].isna().all()
    fares = table["fare"].str.replace(r"[$,]", "", regex=True).astype(float)
    assert applied["fare"].tolist() == [1234.5, 2.0, 7.0, pytest.approx(fares.median())]
    with pytest.raises(InputError, match="'lots' where numbers in USD belong"):
        selection.apply(new.assign(fare="lots"))


def test_the_record_reads_back_and_reruns(file, tmp_path):
    selection = infused.select(file, "survived", k=3, method="anova")
    record = type(selection.record).from_json(selection.record.to_json())
    assert record == selection.record
    assert not infused.rerun(selection).difference
    content = json.loads(record.to_json())
    assert content["coding"][0]["levels"] == ["female", "male"]


def test_what_a_category_explains_alone(file):
    """The mutual information with the target beyond permutations; a missing value is a level."""
    selection = infused.select(file, "survived", k=4, method="anova", drop=["fare", "when"])
    figures, table = selection.table.set_index("feature")["alone"], people()
    y = table["survived"]
    for name, levels in (("sex", table["sex"]), ("deck", table["deck"].fillna("gap"))):
        counts = pd.crosstab(y, levels).to_numpy()
        entropy = mutual_info_score(y, y)
        by_chance = expected_mutual_information(counts, len(y))
        share = (mutual_info_score(y, levels) - by_chance) / (entropy - by_chance)
        assert figures[name] == pytest.approx(share)


def test_noise_categories_explain_nothing():
    rng = np.random.default_rng(1)
    found = []
    for _ in range(30):
        table = pd.DataFrame({f"t{j}": rng.choice(list("abcdefgh"), 80) for j in range(4)})
        table["y"] = rng.choice(list("uvwx"), 80)
        found += infused.select(table, "y", k=4, method="anova", folds=0).table["alone"].tolist()
    assert abs(np.mean(found)) < 3 * np.std(found) / np.sqrt(len(found))


def test_filling_does_not_leak(monkeypatch):
    """Gaps of the training part alone decide what they are filled with, in every fold."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 6))
    X[rng.random(X.shape) < 0.3] = np.nan
    data = load_data((X, np.arange(60) % 2))
    seen = []

    def fit(self, part):
        seen.append(len(part))
        return self.learn(part)

    monkeypatch.setattr(Coder, "fit", fit)
    scoring = scoring_for(None, data.y, "classes")
    choose_number(lambda k: prepared(Method("anova"), k, "classes"), Part.of(data, 0), scoring)
    assert len(seen) >= 5 and set(seen) == {48}


def test_order_is_by_variables():
    data = load_data(people(), target="survived")
    coded = data.coded()
    order = features_by_rank(
        prepared(Method("anova"), 3, "classes"), coded.F, data.y, "classes", groups=coded.groups
    )
    assert sorted(order) == list(range(data.n_features))
    assert data.feature_names[order[0]] in ("sex", "gender")


def test_compare_and_auto_take_tables(file):
    found = infused.compare(file, "survived", methods=["anova", "mrmr"], k=[1, 3], folds=3)
    best = found.table.set_index("method")
    assert found.n_failed == 0 and {"anova", "mrmr", "random"} < set(best.index)
    selection = infused.select(file, "survived", k="auto", method="anova")
    assert selection.features[0] == "sex"


def test_findings(tmp_path):
    table = people().assign(alive=lambda t: np.where(t["survived"] == "yes", "living", "dead"))
    table["rarely"] = (np.arange(len(table)) == 5).astype(int)
    data = infused.select(table, "survived", k=2, method="anova").record.data
    notes = (*data.warnings, *data.notes)
    assert data.leaks == ("alive",) and "'alive' alone predicts" in data.warnings[0]
    for words in (
        "'alive' alone predicts 'survived' almost perfectly",
        "more than half of the values are missing in 'deck'",
        "nearly constant (one value in 99% of the samples or more): 'rarely'",
        "levels with fewer than 5 samples are pooled: 'deck' (1)",
    ):
        assert any(words in note for note in notes), (words, notes)
    few = people().iloc[:24].assign(survived=["yes"] * 4 + ["no"] * 20)
    data = infused.select(few, "survived", k=2, method="anova").record.data
    notes = (*data.warnings, *data.notes)
    assert any("fewer than 10 samples in 1 class: 'yes' (4)" in note for note in notes)
    assert any("83.3% of the samples are 'no'" in note for note in notes)


def test_explain_a_category(file):
    found = infused.explain(file, "deck", "survived")
    assert found.levels == ("A", "B", "C", "(other)", "(missing)") and found.entropy is None
    table = people()
    for part in found.by_target:
        own = table[table["survived"] == part.name]["deck"]
        counts = [(own == level).sum() for level in ("A", "B", "C", "T")]
        assert list(part.histogram) == [*counts, own.isna().sum()] and part.five is None
    sex = infused.explain(file, "sex", "survived")
    assert sex.by_correlation[0].name == "gender" and sex.by_correlation[0].correlation == pytest.approx(1)
    assert json.loads(sex.to_json())["levels"] == ["female", "male"]
    number = infused.explain(file, "age", "survived")
    assert number.levels is None and {one.name for one in number.by_similarity}.isdisjoint({"sex", "deck"})


def test_explaining_draws_levels(file, tmp_path):
    written = {
        path.suffix: path for path in infused.explain(file, "deck", "survived").save(tmp_path / "deck")
    }
    assert written[".png"].read_bytes().startswith(b"\x89PNG")


def test_all_problems_come_at_once_with_one_command_line(tmp_path, monkeypatch, capsys):
    from infused.cli import main

    monkeypatch.chdir(tmp_path)
    table = people(60)
    table["size"] = [*map(str, range(58)), "lots", "few"]
    table["weight"] = [np.inf, *range(59)]
    table.to_csv("t.csv", index=False)
    assert main(["select", "t.csv", "-t", "survived", "-k", "2", "-m", "anova"]) == 2
    said = capsys.readouterr().err
    assert "2 problems" in said and "--missing lots --missing few --drop weight" in said
    options = said.split("without them: ")[1].split()
    assert main(["select", "t.csv", "-t", "survived", "-k", "2", "-m", "anova", *options]) == 0
    assert main(["explain", "t.csv", "sex", "-t", "survived", *options]) == 0
    assert "Its levels by survived" in capsys.readouterr().out
