"""Datafits: by their definitions, their derivatives by finite differences, and at the ends of the range."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from infused._design import SparseDesign
from infused.datafits import Cox, Huber, Logistic, Multinomial, Poisson, Squared

N = 12
rng = np.random.default_rng(0)
CLASSES = np.arange(N) % 3
TIME = np.round(rng.exponential(3, N) * 2) / 2  # with ties
EVENT = np.arange(N) % 3 > 0
Y = rng.normal(size=(N, 2)) * 3
WEIGHTS = 1.0 + np.arange(N) % 4

MAKE = {
    "squared": lambda w=None: Squared(Y, w),
    "logistic": lambda w=None: Logistic(CLASSES > 0, w),
    "multinomial": lambda w=None: Multinomial(CLASSES, w),
    "poisson": lambda w=None: Poisson(np.floor(np.abs(Y[:, 0])), w),
    "huber": lambda w=None: Huber(Y, 1.3, w),
    "cox": lambda w=None: Cox(TIME, EVENT, w),
}
every = pytest.mark.parametrize("kind", MAKE)


def definition(kind, eta, w):
    """Return the value as it is defined, sample by sample."""
    total = 0.0
    for i in range(N):
        e = eta[i]
        if kind == "squared":
            total += w[i] * sum((Y[i, t] - e[t]) ** 2 for t in range(2)) / 2
        elif kind == "logistic":
            sign = 1 if CLASSES[i] > 0 else -1
            total += w[i] * np.log(1 + np.exp(-sign * e[0]))
        elif kind == "multinomial":
            total -= w[i] * np.log(np.exp(e[CLASSES[i]]) / sum(np.exp(v) for v in e))
        elif kind == "poisson":
            total += w[i] * (np.exp(e[0]) - np.floor(abs(Y[i, 0])) * e[0])
        elif kind == "huber":
            r = np.sqrt(sum((Y[i, t] - e[t]) ** 2 for t in range(2)))
            total += w[i] * (r * r / 2 if r <= 1.3 else 1.3 * r - 1.3**2 / 2)
        elif EVENT[i]:
            at_risk = sum(w[j] * np.exp(eta[j, 0]) for j in range(N) if TIME[j] >= TIME[i])
            total += w[i] * (np.log(at_risk) - e[0])
    return total


def predictions(kind, scale=1.0, seed=0):
    return scale * np.random.default_rng(seed).normal(size=(N, MAKE[kind]().n_targets))


@every
@settings(max_examples=20, deadline=None)
@given(scale=st.sampled_from([0.0, 0.1, 1.0, 5.0]), seed=st.integers(0, 50))
def test_the_value_is_the_definition(kind, scale, seed):
    """Sample by sample, with and without weights."""
    eta = predictions(kind, scale, seed)
    assert MAKE[kind]().value(eta) == pytest.approx(definition(kind, eta, np.ones(N)), rel=1e-12, abs=1e-12)
    assert MAKE[kind](WEIGHTS).value(eta) == pytest.approx(definition(kind, eta, WEIGHTS), rel=1e-12)


@every
def test_whole_weights_are_copies_of_samples(kind):
    """A weight of three is as good as three equal samples, in the value and in the gradient."""
    eta, copies = predictions(kind), np.repeat(np.arange(N), WEIGHTS.astype(int))
    repeated = {
        "squared": lambda: Squared(Y[copies]),
        "logistic": lambda: Logistic(CLASSES[copies] > 0),
        "multinomial": lambda: Multinomial(CLASSES[copies]),
        "poisson": lambda: Poisson(np.floor(np.abs(Y[copies, 0]))),
        "huber": lambda: Huber(Y[copies], 1.3),
        "cox": lambda: Cox(TIME[copies], EVENT[copies]),
    }[kind]()
    weighed = MAKE[kind](WEIGHTS)
    assert repeated.value(eta[copies]) == pytest.approx(weighed.value(eta), rel=1e-12)
    summed = np.zeros_like(eta)
    np.add.at(summed, copies, repeated.gradient(eta[copies]))
    assert np.allclose(summed, weighed.gradient(eta), rtol=1e-10, atol=1e-12)


@every
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighed"])
def test_the_gradient_is_the_derivative_of_the_value(kind, weights):
    """By central differences in every prediction."""
    datafit, eta, step = MAKE[kind](weights), predictions(kind), 1e-6
    gradient = datafit.gradient(eta)
    for place in np.ndindex(eta.shape):
        away = np.zeros_like(eta)
        away[place] = step
        slope = (datafit.value(eta + away) - datafit.value(eta - away)) / (2 * step)
        assert gradient[place] == pytest.approx(slope, rel=1e-6, abs=1e-7)


def hessian(datafit, eta, step=1e-6):
    """Return the derivative of the gradient by central differences, samples and targets as one index."""
    columns = []
    for place in np.ndindex(eta.shape):
        away = np.zeros_like(eta)
        away[place] = step
        columns.append(((datafit.gradient(eta + away) - datafit.gradient(eta - away)) / (2 * step)).ravel())
    return np.array(columns)


@every
def test_the_curvature_is_the_second_derivative_or_above_it(kind):
    """It is exact but for Huber's outliers, and its bound is never below."""
    datafit, eta = MAKE[kind](WEIGHTS), predictions(kind)
    H, X, T = hessian(datafit, eta), np.random.default_rng(1).normal(size=(N, 4)), datafit.n_targets
    curvature = datafit.curvature(eta)
    over = np.kron(X, np.eye(T))
    exact, found = over.T @ H @ over, curvature.gram(X)
    if len(found) < len(exact):
        found = np.kron(found, np.eye(T))
    if kind == "huber":
        below = np.kron(curvature.bound.gram(X), np.eye(T)) - found
        assert np.linalg.eigvalsh(below).min() > -1e-9
    else:
        assert np.allclose(found, exact, rtol=1e-6, atol=1e-6)
    above = np.kron(np.diag(curvature.bound.weights), np.eye(T)) - H
    assert np.linalg.eigvalsh(above).min() > -1e-6


@every
def test_sparse_designs_have_the_same_curvature(kind):
    """X = A - LR, whose means are implied."""
    A = np.where(np.random.default_rng(2).random((N, 5)) < 0.4, 1.0, 0.0)
    X = A - A.mean(axis=0)
    design = SparseDesign(sp.csc_array(A), np.ones((N, 1)), A.mean(axis=0)[None, :])
    curvature = MAKE[kind](WEIGHTS).curvature(predictions(kind))
    assert np.allclose(curvature.gram(design), curvature.gram(X), rtol=1e-10, atol=1e-12)


@every
@pytest.mark.parametrize("size", [40.0, 700.0])
def test_extreme_predictions_are_finite(kind, size):
    """No prediction up to 700 takes a value, a gradient or a curvature out of the range of numbers."""
    datafit = MAKE[kind]()
    for signs in ([1.0] * N, [-1.0] * N, [1.0, -1.0] * (N // 2)):
        eta = np.array(signs)[:, None] * np.linspace(0.9, 1.0, datafit.n_targets) * size
        curvature = datafit.curvature(eta)
        assert np.isfinite(datafit.value(eta))
        assert np.isfinite(datafit.gradient(eta)).all()
        assert np.isfinite(curvature.gram(np.eye(N))).all()
        assert (curvature.bound.weights > 0).all()


@every
def test_predictions_beyond_the_range_are_never_the_better_ones(kind):
    """A line search then turns back: the value is huge or infinite, and never NaN."""
    datafit = MAKE[kind]()
    value = datafit.value(np.tile([[1e5], [-1e5]], (N // 2, 1)) * np.arange(1, datafit.n_targets + 1))
    assert value > datafit.value(predictions(kind, 0.0))


def test_cox_with_one_event_and_with_all_events_at_one_time():
    """The definitions hold where there is little to compare."""
    eta = predictions("cox")
    one = np.arange(N) == 3
    at_risk = TIME[3] <= TIME
    expected = np.log(np.exp(eta[at_risk, 0]).sum()) - eta[3, 0]
    assert Cox(TIME, one).value(eta) == pytest.approx(expected, rel=1e-12)
    tied = Cox(np.ones(N), np.ones(N, bool))
    assert tied.value(eta) == pytest.approx(N * np.log(np.exp(eta).sum()) - eta.sum(), rel=1e-12)
    assert tied.gradient(eta).sum() == pytest.approx(0, abs=1e-12)


def test_cox_does_not_depend_on_the_order_of_samples_nor_on_the_scale_of_time():
    """Only who is at risk when something happens counts."""
    eta, order = predictions("cox"), np.random.default_rng(3).permutation(N)
    plain = Cox(TIME, EVENT)
    shuffled = Cox(np.log1p(TIME[order]) * 7, EVENT[order])
    assert shuffled.value(eta[order]) == pytest.approx(plain.value(eta), rel=1e-13)
    assert np.allclose(shuffled.gradient(eta[order]), plain.gradient(eta)[order], atol=1e-13)
    assert plain.value(eta + 300) == pytest.approx(plain.value(eta), rel=1e-11)


def test_huber_is_least_squares_where_no_error_is_large():
    """A delta beyond all errors changes nothing."""
    eta, squared, huber = predictions("squared"), Squared(Y), Huber(Y, 100.0)
    assert huber.value(eta) == pytest.approx(squared.value(eta), rel=1e-13)
    assert np.allclose(huber.gradient(eta), squared.gradient(eta))


def test_two_classes_of_the_multinomial_are_the_logistic():
    """The difference of both predictions is the logistic one."""
    eta = predictions("multinomial")[:, :2]
    two, logistic = Multinomial(CLASSES > 0), Logistic(CLASSES > 0)
    assert two.value(eta) == pytest.approx(logistic.value(eta[:, [1]] - eta[:, [0]]), rel=1e-12)
