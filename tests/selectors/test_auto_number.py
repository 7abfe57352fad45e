"""``n_features_to_select="auto"`` on every selector: the rule again by hand, and any splitter."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.metrics import make_scorer, mean_squared_error
from sklearn.model_selection import GroupKFold, LeaveOneOut, StratifiedKFold, TimeSeriesSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from infused import AutoSelector, Lasso, available_selectors, make_selector
from infused.exceptions import InputError
from infused.selectors.choose.number import numbers_to_try
from infused.selectors.registry import selector_info

#: These choose by themselves, in other ways.
OTHERS = ("auto", "stability", "knockoffs")
IDS = [id for id in available_selectors() if id not in OTHERS]


def made(n_useful=3, n_samples=90, n_features=12, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n_samples) % 2
    X = rng.standard_normal((n_samples, n_features))
    X[:, :n_useful] += 1.5 * y[:, None]
    return X, y


def by_hand(selector, X, y, splits, own):
    scores = []
    for train, test in splits:
        order = np.argsort(
            clone(selector).set_params(n_features_to_select=X.shape[1]).fit(X[train], y[train]).ranking_
        )
        model = make_pipeline(StandardScaler(), own)
        scores.append(
            [
                model.fit(X[train][:, order[:k]], y[train]).score(X[test][:, order[:k]], y[test])
                for k in range(1, X.shape[1] + 1)
            ]
        )
    mean, spread = np.mean(scores, axis=0), np.std(scores, axis=0, ddof=1) / np.sqrt(len(scores))
    least = mean.max() - spread[mean.argmax()]
    return mean, next(k for k, score in enumerate(mean, 1) if score >= least)


@pytest.mark.parametrize("id", IDS)
def test_the_rule_of_one_standard_error(id):
    X, y = made(n_samples=60, n_features=8)
    selector = make_selector(id, n_features_to_select="auto").fit(X, y)
    splits = StratifiedKFold(5, shuffle=True, random_state=0).split(X, y)
    mean, expected = by_hand(selector, X, y, splits, LinearSVC(random_state=0))
    np.testing.assert_allclose(selector.number_curve_.means, mean)
    assert selector.support_.sum() == selector.number_curve_.chosen == expected
    alone = AutoSelector([id]).fit(X, y)
    assert alone.number_curve_ == selector.number_curve_
    np.testing.assert_array_equal(alone.ranking_, selector.ranking_)
    given = make_selector(id, n_features_to_select=expected).fit(X, y)
    np.testing.assert_array_equal(selector.ranking_ <= expected, given.ranking_ <= expected)
    assert not hasattr(selector.set_params(n_features_to_select=2).fit(X, y), "number_curve_")


@pytest.mark.parametrize("id", [id for id in IDS if selector_info(id).regression and id != "random-forest"])
def test_real_targets_in_the_order_of_time(id):
    X, _ = made(n_useful=0, n_samples=60, n_features=8)
    y = X[:, 4] - X[:, 7] + 0.1 * np.arange(60) / 60
    selector = AutoSelector([id], cv=TimeSeriesSplit(3)).fit(X, y)
    mean, expected = by_hand(selector, X, y, TimeSeriesSplit(3).split(X), Ridge())
    np.testing.assert_allclose(selector.number_curve_.means, mean)
    assert selector.support_.sum() == expected


def test_groups_of_samples_stay_whole():
    """A feature that tells the patient predicts nothing about another one."""
    rng = np.random.default_rng(0)
    patients = np.repeat(np.arange(30), 4)
    y = rng.permutation(np.arange(30) % 2)[patients]
    X = rng.standard_normal((120, 8))
    X[:, :6] = rng.standard_normal((30, 6))[patients]
    torn = AutoSelector(["anova"]).fit(X, y).number_curve_
    for cv in (5, GroupKFold(5)):
        whole = AutoSelector(["anova"], cv=cv).fit(X, y, groups=patients).number_curve_
        assert max(whole.means) < max(torn.means)
    with pytest.raises(InputError, match="cannot split these samples: The 'groups' parameter"):
        AutoSelector(["anova"], cv=GroupKFold(5)).fit(X, y)


def test_scorers_by_name_and_of_your_own():
    X, y = made()
    error = make_scorer(mean_squared_error, greater_is_better=False)
    for scoring, name in (("roc_auc", "roc_auc"), ("neg_log_loss", None), (error, "mean_squared_error")):
        selector = AutoSelector(["lasso"], scoring=scoring)
        if name is None:
            with pytest.raises(InputError, match="cannot be had of the model"):
                selector.fit(X, y)
        else:
            assert selector.fit(X, y).number_curve_.scoring == name
    with pytest.raises(InputError, match="scoring='r2' is not for a target of classes"):
        AutoSelector(["lasso"], scoring="r2").fit(X, y)
    with pytest.raises(InputError, match="has no value on some test parts"):
        AutoSelector(["lasso"], cv=LeaveOneOut()).fit(X[:20], X[:20, 0])


def test_columns_that_belong_together_and_those_that_are_kept():
    X, y = made()
    frame = pd.DataFrame(X, columns=list("abcdefghijkl"))
    groups = {"useful": ["a", "l"], "other": ["d", "e"]}
    selector = Lasso(n_features_to_select="auto", groups=groups, keep=["k"]).fit(frame, y)
    chosen = selector.number_curve_.chosen
    assert selector.number_curve_.ks == tuple(range(1, 11))
    assert len({*selector.group_names_[selector.ranking_ <= chosen]}) == chosen
    assert selector.support_[10] and selector.support_[0] == selector.support_[11]
    two = Lasso(n_features_to_select="auto", keep=[10, 11]).fit(X, y).number_curve_
    assert two.ks[0] == 2


def test_sparse_data_give_the_same_answer():
    X, y = made()
    X = np.where(X > 0.5, X, 0.0)
    chosen = [
        Lasso(n_features_to_select="auto").fit(kind(X), y).number_curve_
        for kind in (np.asarray, sp.csr_array, sp.csc_array)
    ]
    assert chosen[0].chosen == chosen[1].chosen == chosen[2].chosen


def test_several_targets():
    X, _ = made(n_useful=0)
    Y = np.column_stack([X[:, 0] + X[:, 5], X[:, 5] - X[:, 7]])
    for selector in (Lasso(n_features_to_select="auto"), AutoSelector(["lasso"])):
        assert selector.fit(X, Y).get_support(indices=True).tolist() == [0, 5, 7]
    with pytest.warns(UserWarning, match="could not be tried: anova left out: it takes one target"):
        both = AutoSelector(["anova", "lasso"]).fit(X, Y)
    assert both.method_ == "lasso"
    with pytest.raises(InputError, match="AutoSelector takes one target, but y has 2 columns"):
        AutoSelector(["anova"]).fit(X, Y)


def test_missing_values_and_categories_are_those_of_the_method():
    """The curve is of filled columns; the fit is the method's own, of the data as they are."""
    X, y = made()
    frame = pd.DataFrame(X.round(1)).rename(columns=str).mask(np.arange(X.size).reshape(X.shape) % 11 == 0)
    frame["12"] = np.where(y == 1, "a", np.where(X[:, 11] > 0, "b", "c"))
    one = make_selector("mrmr", n_features_to_select="auto").fit(frame, y)
    auto = AutoSelector(["mrmr"]).fit(frame, y)
    assert auto.number_curve_ == one.number_curve_
    np.testing.assert_array_equal(auto.ranking_, one.ranking_)
    with pytest.raises(InputError, match="X has NaN"):
        AutoSelector(["mrmr", "lasso"]).fit(frame, y)


def test_numbers_begin_with_those_that_are_kept():
    assert numbers_to_try(64, 4).tolist() == [4, 5, 7, 10, 15, 20, 30, 40, 50, 60, 64]
    assert numbers_to_try(1000, 250)[0] == 250


@pytest.mark.parametrize(
    ("cv", "words"),
    [
        ([(0, 1)], "must be positions"),
        ([([], [])], "must be positions"),
        ([([0.5], [1.5])], "must be positions"),
        ([([0, 1], [40])], "from 0 to 39"),
        ([3], "cannot split"),
        ([], "no split"),
    ],
)
def test_splits_that_are_none_are_refused_at_once(cv, words):
    X = np.random.default_rng(0).normal(size=(40, 3))
    with pytest.raises(InputError, match=words):
        AutoSelector(cv=cv).fit(X, X[:, 0] > 0)


def test_a_split_may_be_a_mask():
    X = np.random.default_rng(0).normal(size=(40, 3))
    first = np.arange(40) < 20
    fits = [
        AutoSelector(["anova"], cv=[split]).fit(X, X[:, 0] > 0)
        for split in ((first, ~first), (np.flatnonzero(first), np.flatnonzero(~first)))
    ]
    assert fits[0].number_curve_ == fits[1].number_curve_


@pytest.mark.parametrize("small", [0.0, 1e-200])
def test_a_fold_without_any_weight_is_refused(small):
    """Beside 1e200 a weight of 1e-200 is none."""
    X, y = np.random.default_rng(0).normal(size=(24, 3)), np.arange(24) % 2
    splits = [(np.arange(8, 24), np.arange(8)), (np.arange(16), np.arange(16, 24))]
    weights = np.where(np.arange(24) < 8, small, 1e200)
    with pytest.raises(InputError, match="leaves a part of a fold without any weight"):
        AutoSelector(["anova"], cv=splits).fit(X, y, sample_weight=weights)
