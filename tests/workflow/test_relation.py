"""A selection says where the relation is not linear: right on tables that are known, never on noise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from pandas import DataFrame
from sklearn.datasets import load_digits

import infused
from infused import relation_curve
from infused.record.schema import RecordError, SelectionRecord
from infused.record.sentences import predicts, relation_sentences, verdict
from infused.report.html.feature_charts import relation_charts
from infused.report.html.selection import render_report
from infused.selectors.choose.number import Relation
from tests.record.records import cells_record
from tests.record.test_verdict import curve

N, P = 600, 20
rng = np.random.default_rng(0)
X, U, E = rng.normal(size=(N, P)), rng.uniform(size=(N, P)), rng.normal(size=N)
WIDE = rng.normal(size=(150, 150))
PRODUCT = np.sin(np.pi * U[:, 0] * U[:, 1])

#: Features, target, and how much of their relation is not linear.
KNOWN = {
    "Friedman 1": (U, 10 * PRODUCT + 20 * (U[:, 2] - 0.5) ** 2 + 10 * U[:, 3] + 5 * U[:, 4] + E, "part"),
    "U shapes": (X, X[:, 0] ** 2 + X[:, 1] ** 2 + E, "most"),
    "product": (X, X[:, 0] * X[:, 1] + 0.3 * E, "most"),
    "sine": (U, np.sin(4 * np.pi * U[:, 0]) + 0.3 * E, "most"),
    "radial": (X, np.where(X[:, 0] ** 2 + X[:, 1] ** 2 > 1.4, "out", "in"), "most"),
    "xor": (X, np.where((X[:, 0] > 0) ^ (X[:, 1] > 0), "a", "b"), "most"),
    "linear": (X, X[:, :4] @ [2, 1, 1, -1] + E, ""),
    "linear, classes": (X, np.where(X[:, :4] @ [2, 1, 1, -1] + E > 0, "a", "b"), ""),
    "linear, wide": (WIDE, WIDE[:, :10].sum(axis=1) + E[:150], ""),
    "noise": (X, E, ""),
    "noise, heavy tails": (X, np.exp(2 * E), ""),
    "noise, classes": (X, np.where(E > 0.8, "a", "b"), ""),
}


@pytest.mark.parametrize("name", KNOWN)
@pytest.mark.parametrize("blind", [False, True], ids=["with the true features", "without"])
def test_ten_tables_where_the_answer_is_known(name, blind):
    F, y, expected = KNOWN[name]
    # What is kept is selected: the true features, or others.
    kept = list(range(P - 5, P)) if blind else list(range(5))
    found = infused.select((F, y), k=5, method="anova", keep=kept, stability=0, folds=5)
    said = relation_sentences(found.record)
    assert said.lower().startswith(expected) and bool(said) == bool(expected)
    assert ("Try --method auto" in said) == (blind and bool(expected))
    if blind and expected:
        assert str(found).startswith(f"Warning: {said}"), "it stands first"
    assert not expected or "not rely" not in str(found)


def test_noise_is_never_said_to_be_not_linear():
    rng = np.random.default_rng(1)
    for n in range(12):
        X = rng.normal(size=(80, 10))
        y = rng.exponential(size=80) ** 2 if n % 2 else rng.uniform(size=80) > 0.7
        found = infused.select((X, y), k=3, method="anova", stability=0, folds=5)
        assert relation_sentences(found.record) == ""


def test_the_figures_are_the_folds_own():
    """The score of the selection is one of the two, and both are kept in the file."""
    F, y, _ = KNOWN["U shapes"]
    found = infused.select((F, y), k=2, method="hsic-lasso", stability=0, folds=5)
    score, relation = found.record.score, found.record.score.relation
    assert score.model == "boosted-trees" and score.means == (relation.boosted_trees,)
    assert score.all_features == relation.boosted_trees_all
    assert relation.linear < 0.1 and relation.linear_all < 0.1 < 0.5 < relation.boosted_trees
    assert SelectionRecord.from_json(found.record.to_json()) == found.record


@pytest.mark.parametrize(
    ("relation", "expected"),
    [
        (Relation(0.6, 0.6, 0.6, 0.95, 1e-4, 1e-4), "Most of the relation is not linear"),
        (Relation(0.6, 0.85, 0.9, 0.95, 1e-4, 1e-4), "Part of the relation is not linear"),
        (Relation(0.6, None, 0.95, None, 1e-4, 1.0), "Predict with a model that is not linear."),
        (Relation(0.6, 0.6, 0.6, 0.95, 1e-4, 1e-4), "but 60.0% on the selected ones. Try --method auto"),
        (Relation(0.6, 0.6, 0.95, 0.95, 0.02, 1.0), ""),  # too little to be sure
        (Relation(0.6, 0.93, 0.95, 0.95, 1e-4, 1.0), ""),  # sure, but too little to matter
    ],
)
def test_what_is_said(relation, expected):
    record = cells_record()
    record = replace(record, data=replace(record.data, chance=0.9))
    score = replace(curve(0.6, 0.05), relation=relation)
    said = relation_sentences(replace(record, score=score))
    assert expected in said and bool(expected) == bool(said)


def test_trees_that_predict_clearly_are_a_prediction():
    record = cells_record()
    score = curve(0.8, 0.1, ks=(8,), chance=0.6, model="boosted-trees")
    record = replace(record, score=score, data=replace(record.data, chance=0.9))
    assert not predicts(record)
    seen = replace(score, relation=Relation(0.6, 0.6, 0.8, 0.9, 1e-3, 0.2))
    said = {one.label: one.text for one in verdict(replace(record, score=seen))}
    assert "predict" in said["Prediction"] and "not linear" in said["Relation"]


def test_curves_are_there_where_they_say_more_than_a_line():
    for (name, method), expected in {
        ("U shapes", "hsic-lasso"): 5,
        ("xor", "anova"): 5,  # found not to be linear
        ("linear", "hsic-lasso"): 5,  # it has graphs
        ("linear", "anova"): 0,
        ("noise", "lasso"): 0,
    }.items():
        F, y, _ = KNOWN[name]
        found = infused.select((F, y), k=5, method=method, stability=0, folds=5)
        lines = found.record.relations
        assert len(lines) == expected, (name, method)
        assert [one.name for one in lines] == found.features[:expected]
        assert all((one.relevance is not None) == (method == "hsic-lasso") for one in lines)
        page = render_report(found.record)
        assert page.count('id="chart-relation') == expected
        assert SelectionRecord.from_json(found.record.to_json()) == found.record


def test_a_curve_is_the_mean_of_the_target_near_a_value():
    rng = np.random.default_rng(2)
    f, kind = rng.normal(size=500), rng.choice(["a", "b", "c"], 500)
    frame = DataFrame({"f": f, "again": f + 0.2 * rng.normal(size=500), "kind": kind, "y": f**2})
    frame.loc[::10, "f"] = np.nan
    found = infused.select(frame, "y", k=3, method="hsic-lasso", stability=0, folds=0)
    lines = {one.name: one for one in found.record.relations}
    curve = relation_curve(frame["f"], frame["y"])
    drawn = curve.samples >= 5
    assert lines["f"].values == tuple(curve.values[drawn]) and 10 < drawn.sum() < 50
    np.testing.assert_allclose(lines["f"].means[0], curve.target[drawn, 0])
    assert lines["kind"].levels == ("a", "b", "c")
    np.testing.assert_allclose(lines["kind"].means[0], frame.groupby("kind")["y"].mean())
    selector, order = found.selector, [one.name for one in found.record.selected]
    n, other = order.index("f"), order.index("again")
    assert lines["f"].redundant == (("again", pytest.approx(selector.redundancy_[n, other])),)
    assert lines["f"].relevance == pytest.approx(selector.relevance_[0])


def test_shares_of_classes_add_up_and_many_classes_are_rows():
    X, y = load_digits(return_X_y=True)
    found = infused.select((X[:400], y[:400]), k=4, method="hsic-lasso", stability=0, folds=0)
    for one in found.record.relations:
        np.testing.assert_allclose(np.sum(one.means, axis=0), 1.0)
    assert {chart.data[0]["type"] for chart in relation_charts(found.record)} == {"heatmap"}


def test_records_that_contradict_themselves_are_refused():
    F, y, _ = KNOWN["U shapes"]
    record = infused.select((F, y), k=2, method="hsic-lasso", stability=0, folds=0).record
    first, second = record.relations
    for wrong in (
        replace(first, means=first.means * 2),
        replace(first, means=(first.means[0][:-1],)),
        replace(first, relevance=1.5),
        replace(first, levels=("a",)),
    ):
        with pytest.raises(RecordError, match="relations"):
            SelectionRecord.from_json(replace(record, relations=(wrong, second)).to_json())
