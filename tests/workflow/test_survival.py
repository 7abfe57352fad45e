"""Selection for survival times, from tables to answers, in Python and on the command line."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import infused
from infused.cli import main
from infused.data import DataError, load_data
from infused.exceptions import InputError


@pytest.fixture
def table():
    """Patients whose survival depends on age and on the stage, and on nothing else."""
    rng = np.random.default_rng(4)
    table = pd.DataFrame({"age": rng.normal(60, 10, 150).round(1)})
    for name in ("ferritin", "iron", "glucose", "sodium"):
        table[name] = rng.normal(size=150).round(3)
    table["stage"] = rng.choice(["I", "II", "III"], 150)
    risk = (table["age"] - 60) / 10 + 1.5 * (table["stage"] == "III")
    time, censored = rng.exponential(10 * np.exp(-risk)), rng.exponential(15, 150)
    table["months"] = np.minimum(time, censored).round(2) + 0.01
    table["died"] = (time <= censored).astype(int)
    return table


@pytest.mark.parametrize("method", ["anova", "lasso", "infused-lasso"])
def test_the_features_of_survival_are_found(method, table, tmp_path):
    """With the note that says what the figures are of, and the same again from the record."""
    table.to_csv(tmp_path / "patients.csv", index=False)
    found = infused.select(str(tmp_path / "patients.csv"), time="months", event="died", k=2, method=method)
    assert set(found.features) == {"age", "stage"}
    assert found.record.data.target == "months until died"
    assert any("martingale residuals" in note for note in found.record.data.notes)
    assert (found.table["alone"] > 0).all()
    found.save(tmp_path / "found")
    again = infused.rerun(tmp_path / "found")
    assert again.same_data
    assert again.again.features == found.features


@pytest.mark.parametrize(
    "words", [(0, 1), (False, True), ("no", "yes"), ("alive", "dead"), ("censored", "Died"), (0.0, 1.0)]
)
def test_events_are_written_in_many_ways(table, words):
    given = table.assign(died=[words[died] for died in table["died"]])
    data = load_data(given, time="months", event="died")
    assert data.kind == "survival"
    np.testing.assert_array_equal(data.y["event"], table["died"] == 1)
    np.testing.assert_array_equal(data.y["time"], table["months"])
    assert data.fingerprint == load_data(table, time="months", event="died").fingerprint


def test_rows_without_a_time_or_an_event_are_left_out(table):
    given = table.assign(died=table["died"].map({0: "no", 1: "yes"}))
    given.loc[3, "months"], given.loc[5, "died"] = np.nan, None
    data = load_data(given, time="months", event="died")
    assert data.n_samples == 148
    assert any("2 rows" in note for note in data.notes)


@pytest.mark.parametrize(
    ("changes", "options", "words"),
    [
        ({}, {"time": "months"}, "time= needs event= beside it"),
        ({}, {"event": "died"}, "event= needs time= beside it"),
        ({}, {"time": "months", "event": "died", "target": "age"}, "leave one out"),
        ({}, {"time": "months", "event": "months"}, "same column"),
        ({}, {"time": "month", "event": "died"}, "did you mean 'months'"),
        ({}, {"time": "stage", "event": "died"}, "hold text"),
        ({}, {"time": "months", "event": "iron"}, "must hold 1 and 0, yes and no"),
        ({"months": -1.0}, {"time": "months", "event": "died"}, "at least zero, but has -1"),
        ({"died": 0}, {"time": "months", "event": "died"}, "no event"),
        ({"months": 7.0, "died": 1}, {"time": "months", "event": "died"}, "all events at one time (7)"),
        ({}, {"time": "months", "event": "died", "drop": "died"}, "cannot be left out"),
        ({}, {"time": "months", "event": "died", "method": "mrmr"}, "take anova or a linear method"),
        ({}, {"time": "months", "event": "died", "scoring": "r2"}, "not for a target of times and events"),
        ({}, {"time": "months", "event": "died", "scoring": "concordanse"}, "did you mean 'concordance'"),
        ({}, {"time": "months", "event": "died", "method": "auto:methods=mrmr"}, "take times and events"),
    ],
)
def test_bad_survival_gets_one_line(table, changes, options, words):
    with pytest.raises((InputError, DataError)) as caught:
        infused.select(table.assign(**changes), **{"k": 2, "method": "anova", **options})
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_few_events_are_not_enough_to_choose_by(table):
    given = table.assign(died=[1] * 4 + [0] * 146)
    with pytest.raises(InputError, match="at least 6 events, but there are 4"):
        infused.select(given, time="months", event="died", method="anova", k="auto")


def test_the_number_and_the_method_are_chosen_by_concordance(table):
    """Folds have events in equal shares, and the model without features reaches one half."""
    own = {"time": "months", "event": "died"}
    found = infused.select(table, **own, k="auto", method="anova", transform="auto")
    assert set(found.features) == {"age", "stage"}
    assert found.record.number.scoring == "concordance"
    assert found.record.number.chance == 0.5
    assert found.record.data.events == table["died"].sum()
    assert "the null model 0.500). Measured with Cox's regression" in str(found)
    auto = infused.select(table, **own, method="auto:methods=('anova','lasso')", scoring="uno_concordance")
    assert set(auto.features) == {"age", "stage"}
    assert [one.status for one in auto.record.tried] == ["tried", "tried"]
    scored = infused.select(table, **own, k=2, method="anova", folds=3, scoring="integrated_brier")
    assert 0.1 < -scored.record.score.means[0] < -scored.record.score.chance < 0.25


def test_methods_are_compared_for_survival(table):
    """The default methods are those that take times and events."""
    found = infused.compare(table, time="months", event="died", k=[2], folds=3)
    best = found.table.set_index("method")
    assert {"infused-lasso", "lasso", "anova", "random", "all features", "null model"} <= set(best.index)
    assert "mrmr" not in best.index
    assert best.loc["anova", "mean"] > best.loc["random", "mean"]
    assert best.loc["null model", "mean"] == 0.5
    assert "The null model alone reaches 0.500." in found.verdict
    with pytest.raises(InputError, match="mrmr does not take times and events"):
        infused.compare(table, time="months", event="died", methods=["mrmr"])
    with pytest.raises(InputError, match=r"more than the \d+ events"):
        infused.compare(table, time="months", event="died", methods=["anova"], folds=140)


def test_a_feature_is_explained_for_survival(table):
    found = infused.explain(table, "age", time="months", event="died")
    assert found.f_value.rank <= 2
    assert found.mutual_information is None
    assert [part.name for part in found.by_target] == ["censored", "event"]
    assert "score test" in str(found)
    assert found.hazard.ratio > 1 < found.hazard.low
    assert [part.count for part in found.survival.parts] == [51, 49, 50]
    assert found.survival.p_value < 0.01
    pair = found.plot()
    assert "Survival by 'age'" in pair[0].get_title()
    assert infused.explain(table, "stage", time="months", event="died").hazard is None


def test_the_page_shows_survival_by_each_feature(table, tmp_path):
    """Also after reading the record again; figures of single features have their direction."""
    found = infused.select(table, time="months", event="died", k=3, method="lasso", stability=0, folds=0)
    assert found.table.set_index("feature").loc["age", "hazard ratio"] > 1
    found.save(tmp_path / "found")
    again = infused.Selection.load(tmp_path / "found")
    assert [curves.name for curves in again.record.survival] == found.features
    page = again.report()
    assert "Survival by the best features" in page
    assert "per standard deviation: higher values, earlier events; log-rank p" in page


def test_the_command_line(table, tmp_path, monkeypatch, capsys):
    """Two options in the place of a target; what is wrong names them as they are typed."""
    monkeypatch.chdir(tmp_path)
    table.to_csv("patients.csv", index=False)
    own = ["select", "patients.csv", "--time", "months", "--event", "died", "-m", "anova", "-k", "2"]
    assert main([*own, "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert {feature["name"] for feature in shown["selected"]} == {"age", "stage"}
    assert main([*own, "--reduced", "--stability", "5"]) == 0
    reduced = pd.read_parquet("infused-patients/reduced.parquet")
    assert reduced["months until died_event"].sum() == table["died"].sum()
    assert "months until died" in (tmp_path / "infused-patients" / "report.html").read_text(encoding="utf-8")
    capsys.readouterr()
    assert main(["select", "patients.csv", "--time", "months", "--force"]) == 2
    assert "--time needs --event beside it" in " ".join(capsys.readouterr().err.split())
