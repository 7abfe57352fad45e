"""Survival targets in selectors that take them, and one line from those that do not."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2

from infused import AutoSelector, StabilitySelection, available_selectors, make_selector, shadow_test
from infused.datafits import survival_records
from infused.exceptions import InputError


@pytest.fixture
def patients():
    """Features and survival, of which the first and a category matter."""
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.normal(size=(120, 6)), columns=list("abcdef"))
    X["kind"] = rng.choice(["x", "y", "z"], size=120)
    risk = X["a"] + (X["kind"] == "x")
    time, censored = rng.exponential(np.exp(-risk)), rng.exponential(2, 120)
    return X, survival_records(np.ceil(10 * np.minimum(time, censored)), time <= censored)


def score_test(F, y, kept=None):
    """Return the score test of some columns at zero, event by event, from its definition."""
    eta = np.zeros(len(F))
    if kept is not None:  # the maximum over what is kept, by Newton's steps
        b = np.zeros(kept.shape[1])
        for _ in range(30):
            U, V = slope_and_information(kept, y, kept @ b)
            b += np.linalg.solve(V, U)
        eta = kept @ b
        both = np.column_stack([kept, F])
        U, V = slope_and_information(both, y, eta)
        n = kept.shape[1]
        U, V = U[n:], V[n:, n:] - V[n:, :n] @ np.linalg.solve(V[:n, :n], V[:n, n:])
    else:
        U, V = slope_and_information(F, y, eta)
    return U @ np.linalg.pinv(V) @ U


def slope_and_information(F, y, eta):
    U, V = np.zeros(F.shape[1]), np.zeros((F.shape[1], F.shape[1]))
    for i in np.flatnonzero(y["event"]):
        risk = y["time"] >= y["time"][i]
        p = np.exp(eta[risk]) / np.exp(eta[risk]).sum()
        mean = p @ F[risk]
        U += F[i] - mean
        V += (F[risk] - mean).T @ (p[:, None] * (F[risk] - mean))
    return U, V


def test_anova_is_the_score_test_of_each_feature(patients):
    """Chi-squared by their degrees of freedom, p-values, and the order of the evidence."""
    X, y = patients
    found = make_selector("anova", n_features_to_select=2).fit(X, y)
    for j, name in enumerate("abcdef"):
        value = score_test(X[[name]].to_numpy(), y)
        assert found.f_values_[j] == pytest.approx(value, rel=1e-8)
        assert found.pvalues_[j] == pytest.approx(chi2.sf(value, 1), rel=1e-6)
    levels = pd.get_dummies(X["kind"]).to_numpy(float)
    value = score_test(levels, y)
    assert found.f_values_[6] == pytest.approx(value / 2, rel=1e-6)
    assert found.pvalues_[6] == pytest.approx(chi2.sf(value, 2), rel=1e-5)
    assert set(found.get_feature_names_out()) == {"a", "kind"}


def test_the_score_test_is_given_what_is_kept(patients):
    X, y = patients
    numbers = X[list("abcdef")]
    found = make_selector("anova", n_features_to_select=2, keep=["a"]).fit(numbers, y)
    kept = numbers[["a"]].to_numpy()
    for j, name in enumerate("bcdef", start=1):
        value = score_test(numbers[[name]].to_numpy(), y, kept)
        assert found.f_values_[j] == pytest.approx(value, rel=1e-5)
    assert found.ranking_[0] == 1


def test_whole_weights_are_copies_of_samples(patients):
    X, y = patients
    X, weights = X[list("abcdef")].to_numpy(), np.random.default_rng(2).integers(0, 4, 120)
    weighed = make_selector("anova", n_features_to_select=2).fit(X, y, sample_weight=weights)
    copies = np.repeat(np.arange(120), weights)
    repeated = make_selector("anova", n_features_to_select=2).fit(X[copies], y[copies])
    np.testing.assert_allclose(weighed.f_values_, repeated.f_values_, rtol=1e-8)


def test_stability_selection_takes_survival_where_its_selector_does(patients):
    X, y = patients
    anova = make_selector("anova", n_features_to_select=2)
    found = StabilitySelection(anova, n_pairs=10, random_state=0).fit(X, y)
    assert found.frequencies_[0] == 1
    with pytest.raises(InputError, match="does not take times and events"):
        StabilitySelection(make_selector("mrmr"), n_pairs=3).fit(X, y)


@pytest.mark.parametrize("id", available_selectors())
def test_a_selector_takes_survival_or_says_what_does(id, patients):
    """No other selector makes anything of times and events by accident."""
    X, y = patients
    X = X[list("abcdef")].to_numpy()
    selector = make_selector(id)
    if getattr(selector, "_takes_survival", False):
        assert selector.set_params(n_features_to_select=2).fit(X, y).get_support().any()
        return
    with pytest.raises(InputError, match="does not take times and events: take anova"):
        selector.fit(X, y)


@pytest.mark.parametrize("id", ["anova", "lasso"])
def test_the_automatic_number_predicts_survival(id, patients):
    """By a Cox regression on the first features of the ranking."""
    X, y = patients
    found = make_selector(id, n_features_to_select="auto").fit(X, y)
    assert {"a", "kind"} <= set(found.get_feature_names_out()) < set(X.columns)
    assert found.number_curve_.scoring == "concordance"


def test_auto_selector_leaves_out_what_takes_no_times(patients):
    X, y = patients
    found = AutoSelector(["anova", "lasso"], cv=3, random_state=0).fit(X, y)
    assert {"a", "kind"} <= set(found.get_feature_names_out())
    with pytest.warns(UserWarning, match="mrmr left out: it does not take times and events"):
        AutoSelector(["anova", "mrmr"], cv=3, n_features_to_select=2).fit(X, y)


def test_shadows_compete_for_survival(patients):
    X, y = patients
    numbers = X[list("abcdef")].to_numpy()
    anova = make_selector("anova", n_features_to_select=3).fit(numbers, y)
    test = shadow_test(anova, numbers, y, n_repeats=9, random_state=0)
    assert test.wins[list(test.features).index(0)] == 1


def test_a_frame_of_event_and_time_is_as_good_as_records(patients):
    X, y = patients
    frame = pd.DataFrame({"event": y["event"], "time": y["time"]})
    for id in ("lasso", "anova"):
        one, other = (make_selector(id, n_features_to_select=2).fit(X, target) for target in (y, frame))
        np.testing.assert_array_equal(one.ranking_, other.ranking_)
        assert set(one.get_feature_names_out()) == {"a", "kind"}


def test_stability_of_a_linear_selector(patients):
    X, y = patients
    found = StabilitySelection(make_selector("lasso", n_features_to_select=2), n_pairs=5, random_state=0)
    assert found.fit(X, y).frequencies_[0] == 1
