"""Scores against scikit-learn's, and the one that suits the data."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    f1_score,
    mean_absolute_error,
    recall_score,
    roc_auc_score,
)
from sklearn.svm import SVC

from infused.bench import Experiment, Problem, Store, run_experiment
from infused.bench.plan import Cell, content_key
from infused.bench.store import StoreError
from infused.data import load_data
from infused.record.sentences import score_number, score_text, signed
from infused.selectors.choose.evaluators import (
    LinearSVM,
    Scoring,
    default_scoring,
    evaluator_named,
    scoring_for,
)
from infused.selectors.method import Method


def made(n_classes, n_samples=150, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n_samples)
    X = rng.standard_normal((n_samples, 4)) + 0.8 * (y[:, None] == np.arange(4))
    return X, np.array([f"c{one}" for one in y])


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ((50, 50), "accuracy"),
        ((74, 26), "accuracy"),
        ((75, 25), "roc_auc"),
        ((80, 20), "roc_auc"),
        ((91, 9), "roc_auc"),
        ((40, 40, 20), "accuracy"),
        ((46, 47, 7), "accuracy"),  # just a fifth of an equal share
        ((80, 11, 9), "balanced_accuracy"),
        ((50, 46, 4), "balanced_accuracy"),
    ],
)
def test_the_default_is_by_the_imbalance_of_classes(counts, expected):
    y = np.repeat([f"c{n}" for n in range(len(counts))], counts)
    name, why = default_scoring(y, "classes")
    assert name == expected
    assert (f"'c{len(counts) - 1}' is rare: {counts[-1]} of" in why) == (expected != "accuracy")


def test_the_default_of_real_targets():
    assert default_scoring(np.arange(9.0), "real") == ("r2", "")


def test_the_papers_data_are_judged_by_accuracy():
    """As published, though the smallest class of Lymphoma has 2 of 96 samples."""
    y = np.repeat([0, 1], [95, 5])
    data = load_data((np.random.default_rng(0).normal(size=(100, 3)), y))
    from dataclasses import replace

    assert Problem(replace(data, name="Lymphoma"), (1,)).default_scoring[0] == "accuracy"
    assert Problem(replace(data, name="mine"), (1,)).default_scoring[0] == "roc_auc"


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_decision_values_are_libsvms(n_classes):
    X, y = made(n_classes)
    ours, theirs = LinearSVM(C=0.5).fit(X, y), SVC(kernel="linear", C=0.5).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=1e-9, atol=1e-12)
    assert (ours.predict(X) == theirs.predict(X)).all()


@pytest.mark.parametrize(
    "model", [LinearSVM(), LogisticRegression(), evaluator_named("knn", "classes").model(0, {})]
)
@pytest.mark.parametrize(
    ("name", "one"), [("roc_auc", roc_auc_score), ("average_precision", average_precision_score)]
)
def test_one_against_the_rest(model, name, one):
    X, y = made(4)
    model.fit(X[:100], y[:100])
    values = getattr(model, "decision_function", getattr(model, "predict_proba", None))(X[100:])
    expected = np.mean([one(y[100:] == c, values[:, n]) for n, c in enumerate(model.classes_)])
    assert Scoring(name).of(model, X[100:], y[100:]) == pytest.approx(expected)


def test_the_rarer_of_two_classes_is_the_positive_one():
    X, y = made(2)
    y[y == "c0"] = np.where(np.arange((y == "c0").sum()) % 3, "c1", "c0")  # now c0 is the rarer
    scoring = scoring_for("average_precision", y, "classes")
    assert scoring.positive == "c0"
    model = LogisticRegression().fit(X, y)
    expected = average_precision_score(y == "c0", -model.decision_function(X))
    assert scoring.of(model, X, y) == pytest.approx(expected)


def test_a_class_that_the_test_part_lacks_is_left_out():
    X, y = made(3)
    model = LogisticRegression().fit(X, y)
    there = y != "c2"
    assert 0.5 < Scoring("roc_auc").of(model, X[there], y[there]) <= 1
    one = y == "c2"
    assert np.isnan(Scoring("roc_auc").of(model, X[one], y[one]))


class Answers(ClassifierMixin, BaseEstimator):
    """A model that answers with X."""

    def predict(self, X):
        return X


@pytest.mark.parametrize("labels", [list("abcd"), range(4), [True, False]], ids=["texts", "numbers", "truth"])
@pytest.mark.parametrize("weigh", ["alike", "whole", "any"])
def test_scores_of_classes_are_scikit_learns(labels, weigh):
    rng = np.random.default_rng(0)
    for n_samples in (1, 2, 7, 30):
        y, answers = np.array(labels)[rng.integers(len(labels), size=(2, n_samples))]
        weights = {
            "alike": None,
            "whole": np.arange(n_samples)[::-1] % 3,
            "any": rng.exponential(size=n_samples),
        }[weigh]
        if weights is not None and not weights.any():
            continue
        by = {"sample_weight": weights}
        averaged = {**by, "average": "macro", "zero_division": 0}
        expected = {
            "accuracy": accuracy_score(y, answers, **by),
            "balanced_accuracy": recall_score(y, answers, labels=np.unique(y), **averaged),
            "f1": f1_score(y, answers, **averaged),
        }
        for name, score in expected.items():
            assert Scoring(name).of(Answers(), answers, y, weights) == pytest.approx(score, rel=1e-14), name


def test_absolute_errors_are_negated():
    X = made(2)[0]
    y = X @ [1.0, 2.0, 0.0, 0.0]
    model = Ridge(50.0).fit(X, y)
    assert Scoring("mae").of(model, X, y) == -mean_absolute_error(y, model.predict(X))


def test_how_scores_are_shown():
    assert score_text(0.9123, 0.01, "roc_auc") == "0.912 ± 0.010"
    assert score_text(-44.1234, 3.6371, "mae") == "44.12 ± 3.6"
    assert signed(-2.5, "mae") == "+2.5", "an error that is larger by 2.5"
    assert score_number(-1e-9, "accuracy") == "0.0"


def test_earlier_results_stand_for_what_was_asked_then():
    fields = {
        "dataset": "wine", "data": "f", "method": "lasso", "parameters": "{}", "protocol": "nested",
        "classifier": "svm", "ks": (2, 4), "folds": 5, "seed": 0, "repeat": 0, "fold": 1,
    }  # fmt: skip
    assert Cell(**fields).key == Cell(**fields, scoring="accuracy").key == content_key(fields)
    assert Cell(**fields, scoring="roc_auc").key == content_key({**fields, "scoring": "roc_auc"})
    assert Cell(**fields, scoring="roc_auc").key != Cell(**fields).key


def test_a_store_holds_results_of_one_score(tmp_path):
    wine = Problem(load_data("wine"), ks=(2,))
    plan = {"problems": (wine,), "methods": (Method("anova"),), "folds": 2, "references": True}
    store = Store(tmp_path)
    run_experiment(Experiment(**plan), store)
    run_experiment(Experiment(**plan), store)
    assert set(store.frame()["method"]) == {"anova", "all features", "majority class"}
    with pytest.raises(StoreError, match="scoring='accuracy'"):
        run_experiment(Experiment(**plan, scoring="roc_auc"), store)
