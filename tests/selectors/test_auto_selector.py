"""AutoSelector: the choice by hand, its rule, its table, and its time."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from infused import AutoSelector, StabilitySelection, make_selector
from infused.exceptions import InputError
from infused.selectors.choose.auto import methods_of
from infused.selectors.scores.univariate import AnovaSelector

METHODS = ["anova", "mrmr", "lasso:lambda1=0.2"]


def made(n_samples=90, n_features=25, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_features))
    y = (X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=n_samples) > 0).astype(int)
    X[:, 2] = X[:, 0] + 0.1 * rng.normal(size=n_samples)
    return X, y


class Sleepy(AnovaSelector):
    """Takes its time, of samples and features."""

    SECONDS = 1e-4  # for each sample of a fit with all features

    def fit(self, X, y):
        time.sleep(self.SECONDS * X.shape[0] * X.shape[1] / 25)
        return super().fit(X, y)


def test_each_method_is_evaluated_as_if_it_chose_its_number_alone():
    X, y = made(n_samples=300)
    y = (X[:, 0] + X[:, 1] > 0).astype(int)  # by far better to see for a linear model
    auto = AutoSelector(METHODS, cv=3).fit(X, y)
    for text in METHODS:
        one = methods_of([text])[0]
        alone = AutoSelector([one], cv=3).fit(X, y)
        assert auto.curves_[text] == replace(alone.number_curve_, relation=None)
    assert auto.evaluator_ == "linear"
    best = max(auto.curves_.values(), key=lambda curve: max(curve.means))
    least = max(best.means) - best.errors[best.ks.index(best.best)]
    enough = [
        k for curve in auto.curves_.values() for k, m in zip(curve.ks, curve.means, strict=True) if m >= least
    ]
    assert auto.n_features_ == min(enough) == auto.support_.sum()
    winner = make_selector("anova" if auto.method_ == "anova" else auto.method_.split(":")[0])
    assert type(auto.selector_) is type(winner)
    np.testing.assert_array_equal(auto.ranking_, auto.selector_.ranking_)


def test_the_table_of_candidates():
    X, y = made()
    best = AutoSelector([*METHODS, "l1-logistic"], rule="best", cv=3).fit(X, y)
    table = pd.DataFrame(best.candidates_)
    assert table.columns.tolist() == [
        *("method", "n_features", "score", "error", "linear", "boosted_trees"),
        *("seconds", "status", "chosen"),
    ]
    assert table["method"].tolist() == [*METHODS, "l1-logistic"]
    assert table.loc[table["chosen"], "score"].item() == table["score"].max()
    assert best.number_curve_.chosen == best.n_features_ == table.loc[table["chosen"], "n_features"].item()
    with pytest.warns(UserWarning, match="could not be tried: l1-logistic left out: it needs classes"):
        real = AutoSelector(["anova", "l1-logistic"], 3, cv=3).fit(X, X[:, 5] + 0.5)
    assert real.candidates_["status"] == ["tried", "left out: it needs classes"]
    assert not hasattr(real, "number_curve_") and real.support_.sum() == 3


def test_methods_in_many_words():
    grid = {"lasso": {"lambda1": [0.05, 0.2], "ranking": "path"}, "anova": {}}
    assert [str(one) for one in methods_of(grid)] == [
        "lasso:lambda1=0.05:ranking=path",
        "lasso:lambda1=0.2:ranking=path",
        "anova",
    ]
    assert [str(one) for one in methods_of([make_selector("mrmr", n_bins=4), "anova", "anova"])] == [
        "mrmr:n_bins=4",
        "anova",
    ]
    with pytest.raises(InputError, match="names no method"):
        AutoSelector([]).fit(*made())
    with pytest.raises(InputError, match="no selector 'lassso'; did you mean"):
        AutoSelector(["lassso"]).fit(*made())


@pytest.mark.parametrize(
    ("methods", "told"),
    [
        (3, "methods=3 is no list of methods"),
        (["anova", "auto"], "methods= has auto, but auto cannot choose among choices"),
        (["stability:selector=auto"], "auto cannot choose among choices"),
        ([StabilitySelection(AutoSelector(["anova"]))], "auto cannot choose among choices"),
        (make_selector("mrmr"), "is no list of methods"),
        ([type(make_selector("mrmr"))], "is neither an id nor a selector"),
        ({"anova": 3}, "gives no grid of 'anova'"),
        ({3: {}}, "gives no grid of '3'"),
    ],
)
def test_what_names_no_methods_is_told(methods, told):
    with pytest.raises(InputError, match=told):
        AutoSelector(methods).fit(*made())


def test_groups_of_samples_and_of_columns():
    X, y = made()
    patients = np.arange(90) // 3
    auto = AutoSelector(METHODS, cv=GroupKFold(3), groups=np.arange(25) // 2, keep=[12]).fit(
        X, y, groups=patients
    )
    assert auto.ranking_[12] == 1 and auto.support_[24]
    assert len(auto.scores_) == 13


@pytest.mark.parametrize("seed", range(2))
def test_nested_it_predicts_noise_by_chance(seed, monkeypatch):
    monkeypatch.setattr("infused.selectors.choose.number.ROUNDS", 6)
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(80, 60)), rng.permutation(np.arange(80) % 2)
    model = make_pipeline(AutoSelector(["anova", "lasso", "greedy-forward"], cv=3), LinearSVC())
    right = (cross_val_predict(model, X, y, cv=4) == y).sum()
    assert 24 <= right <= 56  # which chance leaves once in 4,000 times
    assert AutoSelector(["anova"], 20).fit(X, y).transform(X).shape == (80, 20)


def test_it_keeps_to_its_time(monkeypatch):
    """The quick one is done, the slow one is not begun, and one that is slow at the last is stopped."""
    path = f"{__name__}.Sleepy"
    X, y = made(n_samples=200)
    start = time.perf_counter()
    auto = AutoSelector([Sleepy(), "anova"], time_budget=6.0).fit(X, y)
    spent = time.perf_counter() - start
    assert auto.candidates_["status"] == ["tried", "tried"] and spent < 1.2 * 6.0
    monkeypatch.setattr(Sleepy, "SECONDS", 0.02)  # 3.2 s for one training part
    start = time.perf_counter()
    auto = AutoSelector([Sleepy(), "anova"], time_budget=8.0).fit(X, y)
    spent = time.perf_counter() - start
    assert auto.method_ == "anova" and spent < 1.2 * 8.0
    told = dict(zip(auto.candidates_["method"], auto.candidates_["status"], strict=True))
    assert told[path].startswith("left out: by its estimate it takes longer")


def test_without_time_the_first_is_tried_and_said():
    X, y = made()
    with pytest.warns(UserWarning, match="more than the time budget of 0.0001 s"):
        auto = AutoSelector(["anova", "lasso"], time_budget=1e-4).fit(X, y)
    assert auto.candidates_["status"][0] == "tried" and auto.candidates_["status"][1].startswith("left out")
    assert clone(auto).time_budget == 1e-4


def relation(kind, seed=0):
    """Make ten features of which two matter, together."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 10))
    first, second = X[:, 3], X[:, 7]
    if kind == "linear":
        return X, (first - second + 0.3 * rng.normal(size=300) > 0).astype(int)
    if kind == "xor":
        return X, (first * second > 0).astype(int)
    return X, (first**2 + second**2 > 1.4).astype(int)


@pytest.mark.parametrize(
    ("kind", "evaluator"), [("linear", "linear"), ("radial", "boosted-trees"), ("xor", "boosted-trees")]
)
def test_the_model_that_predicts_better_evaluates(kind, evaluator):
    X, y = relation(kind)
    auto = AutoSelector(["anova", "lasso", "boosted-trees"], cv=3).fit(X, y)
    table = pd.DataFrame(auto.candidates_)
    assert auto.evaluator_ == auto.number_curve_.model == evaluator
    assert auto.support_[[3, 7]].all()
    best, other = ("linear", "boosted_trees") if evaluator == "linear" else ("boosted_trees", "linear")
    assert table[best].max() >= table[other].max()
    assert auto.n_features_ <= 5
    if kind != "linear":
        trees = auto.curves_["boosted-trees"]
        assert table["linear"].max() < 0.7 < 0.95 < trees.means[trees.ks.index(2)]


def test_a_continuous_target_that_is_not_linear():
    X, _ = relation("xor")
    y = X[:, 3] * X[:, 7] + 0.1 * X[:, 0]
    auto = AutoSelector(["lasso", "boosted-trees"], cv=3).fit(X, y)
    assert auto.evaluator_ == "boosted-trees" and set(np.flatnonzero(auto.support_)) >= {3, 7}
    number = make_selector("boosted-trees", n_features_to_select="auto").fit(X, y).number_curve_
    assert number.model == "boosted-trees" and number.chosen <= 4


def test_many_classes_and_several_targets_are_evaluated_by_a_linear_model_alone():
    rng = np.random.default_rng(0)
    y = np.arange(240) % 12
    X = np.eye(12)[y] + 0.3 * rng.normal(size=(240, 12))
    auto = AutoSelector(["anova"], cv=3).fit(X, y)
    assert auto.evaluator_ == "linear" and auto.candidates_["boosted_trees"] == [None]
    several = AutoSelector(["lasso"], cv=3).fit(X, X[:, :2] + rng.normal(size=(240, 2)))
    assert several.candidates_["boosted_trees"] == [None]
