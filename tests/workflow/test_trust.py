"""Would it be chosen again? What selections, records and commands say of it."""

from __future__ import annotations

import numpy as np
import pytest

import infused
from infused.cli import main
from infused.exceptions import InputError
from infused.record.sentences import result_sentences, stability_sentences

DATA = "breast-cancer"


@pytest.fixture(scope="module")
def noise():
    rng = np.random.default_rng(1)
    return rng.normal(size=(80, 60)), rng.permutation(np.arange(80) % 2)


@pytest.fixture(scope="module")
def looked():
    return infused.select(DATA, k=6, method="lasso", stability=20)


def test_on_noise_nothing_is_stable(noise):
    selection = infused.select(noise, k=8, method="lasso", stability=20, folds=0)
    assert selection.record.stability.n_stable == 0
    said = stability_sentences(selection.record)
    assert said.startswith("No feature is stable: none was selected in at least 30 of 40 half-samples")
    assert "All 8 selected features do no better than randomly permuted features" in said
    assert "No feature is stable" in selection.report()
    many = infused.select(noise, stability=5, folds=0)  # as many as it finds, and finds again
    assert stability_sentences(many.record).startswith("Inconclusive: a half-sample selects")
    assert "The selection may be chance" in stability_sentences(many.record)
    none = infused.select(noise, method="stability", folds=0)
    assert len(none) == 0 and "no feature is stable" in result_sentences(none.record)


def test_known_facts_are_reported(looked):
    record = looked.record
    assert looked.table.loc[0, ["feature", "frequency"]].tolist() == ["worst concave points", 1.0]
    assert record.stability.n_stable >= 3 and record.stability.expected_false < 1
    assert record.shadows.n_beaten == 0 and record.selected[0].wins == 1.0
    assert stability_sentences(record).endswith("All 6 outperform randomly permuted features.")
    radius = next(one for one in record.selected if one.name == "worst radius")
    assert {one.name for one in radius.stand_ins} & {"worst perimeter", "worst area"}
    assert all(one.correlation >= 0.8 for one in radius.stand_ins)


def test_records_of_python_reruns_and_files_are_the_same(looked, tmp_path):
    again = infused.rerun(looked).again.record
    assert again.stability == looked.record.stability and again.shadows == looked.record.shadows
    assert again.request == looked.record.request and again.selected == looked.record.selected
    looked.save(tmp_path, report=False)
    assert infused.Selection.load(tmp_path).record == looked.record
    header = (tmp_path / "selected.csv").read_text().splitlines()[0]
    assert header.startswith("rank,feature,score,alone,unique,frequency,")


def test_it_is_looked_at_where_it_takes_seconds(monkeypatch):
    assert infused.select(DATA, k=3, method="anova").record.stability is None
    monkeypatch.setattr("infused.workflow.trust.SECONDS", 60.0)
    quick = infused.select(DATA, k=3, method="anova").record
    assert quick.stability.n_pairs == 50 == quick.request.stability
    assert infused.select(DATA, k=3, method="anova", stability=0).record.stability is None


def test_a_method_that_was_chosen(looked):
    some = infused.data.load_data(DATA).take(range(6))
    method = "auto:methods=['anova','lasso']:cv=3"
    chosen = infused.select(some, k="auto", method=method, scoring="roc_auc", folds=0)
    record = chosen.record
    assert [one.method for one in record.tried] == ["anova", "lasso"]
    assert sum(one.chosen for one in record.tried) == 1
    assert record.number.scoring == "roc_auc" and record.number.chosen == len(chosen)
    page = chosen.report()
    assert "Methods that were tried" in page and "was chosen among 2 methods" in page
    assert infused.rerun(chosen, some).difference == ""
    assert looked.record.tried == ()


def test_a_false_discovery_rate():
    selection = infused.select(DATA, fdr=0.2)
    assert selection.record.request.method.id == "knockoffs"
    assert selection.record.request.method.parameters["fdr"] == 0.2
    assert selection.features == infused.select(DATA, method="knockoffs", fdr=0.2).features
    with pytest.raises(InputError, match="selects by knockoffs: leave method= and its parameters out"):
        infused.select(DATA, method="lasso", fdr=0.2)
    with pytest.raises(InputError, match=r"fdr=0\.2 chooses the number of features: leave k=5 out"):
        infused.select(DATA, k=5, fdr=0.2)
    with pytest.raises(InputError, match="stability=-1: give a whole number from 1"):
        infused.select(DATA, stability=-1)


def test_selectors_inside_selectors_are_recorded_in_words():
    inside = infused.StabilitySelection(infused.MRMR(n_features_to_select=4, n_bins=4), n_pairs=4)
    selection = infused.select(DATA, method=inside)
    assert selection.record.request.method.parameters["selector"] == "mrmr:n_bins=4:n_features_to_select=4"
    assert selection.record.stability.per_half == 4
    assert infused.rerun(selection).difference == ""


def test_whole_variables_of_tables(table):
    selection = infused.select(table, "diagnosis", k=2, method="anova", stability=5)
    assert len(selection.record.stability.frequencies) == selection.record.data.n_features


def test_intervals_are_asked_for_and_kept(tmp_path):
    random = np.random.default_rng(0)
    X = random.normal(size=(160, 12))
    y = 2 * X[:, 3] - 1.5 * X[:, 7] + random.normal(size=160)
    options = {"k": 3, "method": "lasso", "stability": 0, "folds": 0}
    selection = infused.select((X, y), intervals=True, **options)
    record, table = selection.record, selection.table.set_index("feature")
    inference = infused.SelectionInference(infused.Lasso(), random_state=0).fit(X, y)
    for name, truth in (("feature_3", 2.0), ("feature_7", -1.5)):
        low, high = table.loc[name, ["low", "high"]]
        assert low < truth < high and table.loc[name, "p_value"] < 0.01
        assert (low, high) == pytest.approx(tuple(inference.conf_int_[int(name[8:])]))
    third = next(one for one in record.selected if one.name not in ("feature_3", "feature_7"))
    assert third.effect.p_value > 0.1
    said = str(selection)
    assert "Effects: 2 of the 3 selected features have an effect that allows for the selection" in said
    page = selection.report()
    assert "Effects with 90% intervals" in page and "as long as half-samples select all" in page
    assert "Effect and interval" in selection._repr_html_()
    assert infused.Selection.load(selection.save(tmp_path)[0].parent).record == record
    assert ",effect,low,high,p_value," in (tmp_path / "selected.csv").read_text().splitlines()[0]
    assert infused.rerun(selection, (X, y)).again.record.selected == record.selected
    plain = infused.select((X, y), **options)
    assert plain.record.intervals is None and "effect" not in plain.table
    assert plain.features == selection.features


def test_the_terminal_shows_intervals(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "140")
    words = ["select", "wine", "-k", "2", "--method", "anova", "--intervals", "--no-report"]
    assert main([*words, "--stability", "0", "--folds", "0", "-o", str(tmp_path / "out")]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "adjusted p" in shown.lower() and "effect and interval: what one unit more" in shown.lower()
