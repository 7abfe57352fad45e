"""F values where rounding is all that there is."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.datasets import load_diabetes, load_wine
from sklearn.feature_selection import f_classif, f_regression

import infused
from infused import make_selector
from infused.selectors.inputs.groups import Groups
from infused.selectors.scores.univariate import f_tests

NONE_KEPT = np.empty(0, np.int64)


def test_a_feature_that_is_the_target_comes_first():
    for seed in range(
        20
    ):  # the correlation of a column with itself is above one in some, below one in others
        rng = np.random.default_rng(seed)
        y = rng.normal(size=50)
        X = np.column_stack([y + rng.normal(size=50), y])
        selector = make_selector("anova", n_features_to_select=1).fit(X, y)
        assert selector.get_support(indices=True).tolist() == [1]
        assert np.isfinite(selector.scores_).all()


def test_a_feature_whose_class_means_are_equal_comes_last():
    x = np.array([1.4, 0.4, 0.2, -0.3, 1.4, 0.2])  # scikit-learn's F is -3.6e-16
    y = np.array([1, 1, 1, 0, 0, 1])
    selector = make_selector("anova", n_features_to_select=1).fit(np.column_stack([x, x + y]), y)
    assert selector.scores_[0] == 0.0
    assert selector.get_support(indices=True).tolist() == [1]


@pytest.mark.parametrize("real", [False, True])
def test_single_columns_have_scikit_learns_values_and_p_values(real):
    X, y = load_diabetes(return_X_y=True) if real else load_wine(return_X_y=True)
    values, p = (f_regression if real else f_classif)(X, y)
    found = f_tests(X, y, real, Groups.parse(None, X.shape[1]), NONE_KEPT)
    np.testing.assert_array_equal(found.evidence, values)
    np.testing.assert_allclose(np.exp(found.log_p), p, rtol=1e-8)
    selector = make_selector("anova", target="real" if real else "classes").fit(X, y)
    np.testing.assert_array_equal(selector.scores_, values)
    np.testing.assert_allclose(selector.pvalues_, p, rtol=1e-8)


@pytest.mark.parametrize("strength", [0.5, 2.0, 10.0, 100.0])
def test_p_values_beyond_the_range_of_numbers(strength):
    """Against the finite sum that the incomplete beta function is where b is whole."""
    rng = np.random.default_rng(0)
    codes = np.repeat(np.arange(5), 161)  # 4 and 800 degrees of freedom: a = 400, b = 2
    f = strength * np.array([0.3, -1.0, 0.2, 0.8, -0.3])[codes] + rng.normal(size=len(codes))
    found = f_tests(f[:, None], codes, False, Groups.parse(None, 1), NONE_KEPT)
    x = 800 / (800 + 4 * found.values[0])
    assert found.log_p[0] == pytest.approx(400 * np.log(x) + np.log(1 + 400 * (1 - x)), rel=1e-4)


def table(n=400, seed=0):
    """Make a category of nine levels that matters more than a number, though its F value is smaller."""
    rng = np.random.default_rng(seed)
    job = rng.integers(9, size=n)
    y = (0.35 * job + rng.normal(size=n)).round(6)
    return pd.DataFrame({"job": [f"j{one}" for one in job], "pay": y + 1.8 * rng.normal(size=n)}), y


def test_categories_and_numbers_are_ranked_by_their_p_values():
    frame, y = table()
    selector = make_selector("anova", n_features_to_select=1).fit(frame, y)
    by_level = [y[frame["job"] == level] for level in sorted(set(frame["job"]))]
    category = stats.f_oneway(*by_level)
    number = stats.linregress(frame["pay"], y)
    assert selector.f_values_[0] == pytest.approx(category.statistic, rel=1e-6)
    np.testing.assert_allclose(selector.pvalues_, [category.pvalue, number.pvalue], rtol=1e-5)
    assert selector.f_values_[0] < selector.f_values_[1] and category.pvalue < number.pvalue
    assert selector.ranking_.tolist() == [1, 2]
    np.testing.assert_allclose(selector.scores_, -np.log10([category.pvalue, number.pvalue]), rtol=1e-5)


def test_an_explanation_has_the_same_f_and_p():
    frame, y = table()
    selector = make_selector("anova", n_features_to_select=1).fit(frame, y)
    for j, name in enumerate(frame):
        found = infused.explain(frame.assign(y=y), name, target="y")
        assert found.f_value.value == pytest.approx(selector.f_values_[j])
        assert found.p_value == pytest.approx(selector.pvalues_[j])
        assert found.f_value.rank == selector.ranking_[j]


@pytest.mark.parametrize("seed", range(5))
def test_what_rounding_leaves_of_a_target_is_nothing(seed):
    """Beside two kept columns, two explain five samples in full: with weights as with copies of them."""
    rng = np.random.default_rng(seed)
    X, y, w = rng.normal(size=(5, 5)), np.array([1, 0, 1, 1, 0]), np.array([5, 10, 3, 1, 10])
    selector = make_selector("anova", n_features_to_select=2, groups=[0, 0, 1, 1, 2], keep=[1])
    weighted = selector.fit(X, y, sample_weight=w).scores_
    copies = selector.fit(np.repeat(X, w, axis=0), np.repeat(y, w)).scores_
    np.testing.assert_allclose(weighted, copies, rtol=1e-9)
    assert np.isfinite(weighted).all() and weighted.argmax() == 1 and weighted[0] > 1000
