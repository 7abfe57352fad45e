"""Intervals and p-values that allow for the selection, against their definitions."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from scipy import stats

from infused import Lasso, SelectionInference
from infused.datafits import Logistic, Squared, survival_records
from infused.exceptions import InputError
from infused.selectors.control.inference import GAMMA, joined_intervals, joined_p_values, wald

mpl.use("Agg")


def made(seed=0, n=160, p=20, size=1.0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, p))
    a, b = (3, 7) if p > 7 else (0, 1)
    return X, size * (X[:, a] - X[:, b]) + random.normal(size=n)


def test_joined_p_values_are_the_infimum_over_quantiles():
    p = np.random.default_rng(0).uniform(size=(40, 30)) ** 3
    slow = []
    for column in p.T:
        found = [np.sort(column)[int(np.ceil(gamma * 40)) - 1] / gamma for gamma in np.arange(2, 41) / 40]
        slow.append(min(1.0, (1 - np.log(GAMMA)) * min(found)))
    np.testing.assert_allclose(joined_p_values(p), slow)


def test_intervals_hold_all_effects_that_the_joined_p_values_do_not_reject():
    random = np.random.default_rng(1)
    effects = random.normal(0.5, 0.3, size=(40, 6))
    errors, degrees = random.uniform(0.1, 0.3, size=(40, 6)), np.full(40, 30.0)
    effects[random.random((40, 6)) < 0.2] = np.nan
    errors[np.isnan(effects)] = np.nan
    ends = joined_intervals(effects, errors, degrees, 0.1)
    for value in np.linspace(-1, 2, 61):
        p = 2 * stats.t.sf(np.abs(effects - value) / errors, degrees[:, None])
        joined = joined_p_values(np.where(np.isnan(p), 1.0, p))
        outside = (value < ends[:, 0]) | (value > ends[:, 1])
        assert (joined[outside] <= 0.1 + 1e-12).all()
        assert ((joined > 0.1) <= ~outside).all()


def test_effects_and_errors_are_those_of_a_regression():
    X, y = made(n=60, p=3)
    found = wald(Squared(y), X, np.arange(3), np.arange(3), None)
    Z = np.column_stack([X, np.ones(60)])
    b, rest = np.linalg.lstsq(Z, y, rcond=None)[:2]
    errors = np.sqrt(rest[0] / 56 * np.diag(np.linalg.inv(Z.T @ Z)))
    np.testing.assert_allclose(found.effects, b[:3])
    np.testing.assert_allclose(found.errors, errors[:3])
    np.testing.assert_allclose(found.p_values, 2 * stats.t.sf(np.abs(b[:3] / errors[:3]), 56))


def test_errors_of_classes_are_those_of_the_information_matrix():
    X, y = made(n=400, p=3, size=0.3)
    codes = (y > 0).astype(int)
    found = wald(Logistic(codes), X, np.arange(3), np.arange(3), None)
    Z = np.column_stack([X, np.ones(400)])
    b = np.zeros(4)
    for _ in range(30):  # Newton's method, spelled out
        p = 1 / (1 + np.exp(-Z @ b))
        H = (Z * (p * (1 - p))[:, None]).T @ Z
        b += np.linalg.solve(H, Z.T @ (codes - p))
    np.testing.assert_allclose(found.effects, b[:3], rtol=1e-5)
    np.testing.assert_allclose(found.errors, np.sqrt(np.diag(np.linalg.inv(H)))[:3], rtol=1e-5)


def test_errors_in_groups_sum_the_scores_of_each_group():
    X, y = made(n=120, p=2)
    groups = np.repeat(np.arange(24), 5)
    found = wald(Squared(y), X, np.arange(2), np.arange(2), groups)
    Z = np.column_stack([X, np.ones(120)])
    b = np.linalg.lstsq(Z, y, rcond=None)[0]
    scores = pd.DataFrame(Z * (y - Z @ b)[:, None]).groupby(groups).sum().to_numpy()
    inverse = np.linalg.inv(Z.T @ Z)
    covariance = 24 / 21 * inverse @ scores.T @ scores @ inverse
    np.testing.assert_allclose(found.errors, np.sqrt(np.diag(covariance))[:2])
    assert found.degrees == 21


def targets():
    _, y = made(size=1.5)
    random = np.random.default_rng(5)
    time, end = random.exponential(np.exp(-y / 2)), random.exponential(3.0, len(y))
    yield "squared", y, None
    yield "logistic", (y > 0).astype(int), None
    yield "poisson", random.poisson(np.exp(y / 2)).astype(float), Lasso(loss="poisson")
    yield "huber", y, Lasso(loss="huber")
    yield "cox", survival_records(np.minimum(time, end), time <= end, "time", "event"), None


@pytest.mark.parametrize(("loss", "y", "selector"), list(targets()))
def test_every_loss_finds_what_matters_and_nothing_else(loss, y, selector):
    X, _ = made(size=1.5)
    found = SelectionInference(selector, n_splits=12, random_state=0).fit(X, y)
    assert found.loss_ == loss and found.n_splits_ == 12
    np.testing.assert_array_equal(np.argsort(found.p_values_)[:2] % 4, [3, 3])
    assert found.p_values_[[3, 7]].max() <= 0.1 < np.delete(found.p_values_, [3, 7]).min()
    assert (found.conf_int_[3] > 0).all() and (found.conf_int_[7] < 0).all()
    assert found.conf_int_[3, 0] < found.coef_[3] < found.conf_int_[3, 1]


def test_three_classes_have_p_values_and_no_single_effect():
    X, y = made(n=300, size=1.5)
    found = SelectionInference(Lasso(n_features_to_select=3), n_splits=10, random_state=0)
    found.fit(X, np.digitize(y, [-1, 1]))
    assert set(np.flatnonzero(found.p_values_ <= 0.1)) == {3, 7}
    assert np.isnan(found.conf_int_[3]).all() and np.isnan(found.coef_[3])


def test_categories_and_any_selector_are_taken():
    X, y = made(n=200)
    frame = pd.DataFrame(X[:, :6], columns=list("abcdef"))
    frame["kind"] = np.where(y > 0.7, "high", np.where(y < -0.7, "low", "mean"))
    found = SelectionInference("anova", n_splits=8, random_state=0).fit(frame, y)
    assert found.feature_names_in_[np.argmin(found.p_values_)] == "kind"
    assert np.isnan(found.conf_int_[6]).all()
    ax = found.plot()
    assert ax.get_xlabel() == "Effect of one unit, 90% intervals"


def test_groups_widen_the_intervals_of_similar_rows():
    random = np.random.default_rng(2)
    groups = np.repeat(np.arange(40), 6)
    X = random.normal(size=(40, 10))[groups] + 0.2 * random.normal(size=(240, 10))
    y = X[:, 0] + random.normal(size=40)[groups] + 0.2 * random.normal(size=240)
    width = [
        np.ptp(
            SelectionInference(Lasso(n_features_to_select=2), random_state=0).fit(X, y, **own).conf_int_[0]
        )
        for own in ({}, {"sample_groups": groups})
    ]
    assert width[1] > 1.5 * width[0]
    with pytest.raises(InputError, match="cannot be estimated in groups: leave out"):
        records = survival_records(np.exp(y), np.ones(240, dtype=bool), "time", "event")
        SelectionInference().fit(X, records, sample_groups=groups)


def test_noise_is_seldom_found_and_the_result_does_not_depend_on_jobs():
    X, _ = made()
    false = 0
    for seed in range(6):
        y = np.random.default_rng(seed + 50).normal(size=len(X))
        false += (SelectionInference(n_splits=8, random_state=0).fit(X, y).p_values_ <= 0.1).any()
    assert false <= 2
    one, two = (SelectionInference(n_splits=6, random_state=0, n_jobs=n).fit(X, y) for n in (1, 2))
    np.testing.assert_array_equal(one.conf_int_, two.conf_int_)
