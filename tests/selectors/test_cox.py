"""Cox's regression, which evaluates features of survival: its minimum, its baseline, wide data, bad input."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.base import clone

from infused.datafits import survival_records
from infused.exceptions import InputError
from infused.selectors.choose.cox import CoxRegression


def patients(n, p, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(3, 1, size=(n, p))
    time, censored = rng.exponential(np.exp(-(X[:, 0] - 3))), rng.exponential(2, n)
    return X, survival_records(np.ceil(9 * np.minimum(time, censored)), time <= censored)


def objective(b, X, y, alpha, w):
    """Return the penalised negative partial likelihood with Breslow's rule, event by event."""
    eta, value = X @ b, 0.0
    for i in np.flatnonzero(y["event"]):
        at_risk = y["time"] >= y["time"][i]
        value += w[i] * (np.log((w[at_risk] * np.exp(eta[at_risk])).sum()) - eta[i])
    return value + alpha / 2 * b @ b


@pytest.mark.parametrize("alpha", [0.0, 1.0, 30.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_minimum_is_that_of_the_partial_likelihood(alpha, weighted):
    X, y = patients(60, 3)
    w = np.random.default_rng(1).integers(1, 4, 60).astype(float) if weighted else np.ones(60)
    found = CoxRegression(alpha).fit(X, y, w if weighted else None)
    expected = minimize(objective, np.zeros(3), (X, y, alpha, w), tol=1e-12).x
    assert found.converged_
    np.testing.assert_allclose(found.coef_, expected, atol=1e-5)
    assert objective(found.coef_, X, y, alpha, w) <= objective(expected, X, y, alpha, w) + 1e-9
    if alpha == 0:  # a change of one standard error costs one half of the likelihood's units
        step = 1e-3
        for j, direction in enumerate(np.eye(3)):
            h = step * direction
            value = [objective(found.coef_ + s * h, X, y, 0, w) for s in (-1, 0, 1)]
            assert found.variance_[j] > step**2 / (value[0] - 2 * value[1] + value[2]) * 0.99


def test_more_features_than_samples():
    """The minimum over combinations of samples satisfies the optimality conditions of all features."""
    X, y = patients(40, 120)
    found = CoxRegression(5.0).fit(X, y)
    slope = [
        (
            objective(found.coef_ + h, X, y, 5.0, np.ones(40))
            - objective(found.coef_ - h, X, y, 5.0, np.ones(40))
        )
        / 2e-5
        for h in 1e-5 * np.eye(120)[:20]
    ]
    np.testing.assert_allclose(slope, 0, atol=1e-5)


def test_without_features_survival_is_breslows():
    _, y = patients(50, 1)
    found = CoxRegression().fit(np.empty((50, 0)), y)
    times = np.array([0.0, 3.0, 8.0])
    rates = {s: (y["event"] & (y["time"] == s)).sum() / (y["time"] >= s).sum() for s in np.unique(y["time"])}
    expected = [np.exp(-sum(rate for s, rate in rates.items() if s <= t)) for t in times]
    np.testing.assert_allclose(found.predict_survival(np.empty((2, 0)), times), [expected] * 2, rtol=1e-12)
    np.testing.assert_array_equal(found.predict(np.empty((2, 0))), 0)


def test_predictions_order_survival_and_models_are_cloned():
    X, y = patients(80, 4)
    found = clone(CoxRegression(2.0)).fit(X, y)
    later = found.predict_survival(X, np.array([1.0, 4.0, 9.0]))
    assert (np.diff(later, axis=1) <= 0).all()
    order = np.argsort(found.predict(X))
    assert (np.diff(later[order, 1]) <= 0).all()
    assert 0.6 < found.score(X, y) < 1


def test_bad_input_gets_one_line():
    X, y = patients(20, 2)
    for model, target, words in (
        (CoxRegression(-1.0), y, "alpha=-1.0 must be at least zero"),
        (CoxRegression(), X[:, 0], "y must hold times and events"),
    ):
        with pytest.raises(InputError, match=words):
            model.fit(X, target)
