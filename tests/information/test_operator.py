"""Products with U against U itself, and selections with either."""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
import pytest
from scipy.sparse.linalg import LinearOperator

from infused import InElasticNet, InFusedLasso, StructuralInformation, config_context
from infused.exceptions import PrecisionError
from infused.penalties.quadratic import Structural
from infused.selectors.linear import information as structure

CASES = {
    "three classes": {},
    "two classes": {"n_classes": 2},
    "a real target": {"n_classes": 0},
    "two-way": {"criterion": "two-way"},
}


def some_data(n_samples=30, n_features=300, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_features))
    X[:, ::3] = np.exp(X[:, ::3])
    X[:, 1] = X[:, 0]  # the same feature twice: the largest interaction that there is
    if n_classes == 0:
        return X, X[:, 2] + rng.normal(size=n_samples)
    y = np.arange(n_samples) % n_classes
    X[y == 1, : n_features // 4] += 0.7
    return X, y


@pytest.fixture(params=list(CASES))
def information(request):
    options = dict(CASES[request.param])
    X, y = some_data(n_classes=options.pop("n_classes", 3))
    return StructuralInformation.from_data(X, y, **options)


def test_the_error_is_below_the_one_it_states(information):
    U, operator = information.full(), information.operator()
    wrong = operator @ np.eye(len(U)) - U
    top = np.linalg.eigvalsh(U - U.mean())[-1]
    assert 0 < operator.error <= 1e-3
    # The stated one is a norm over columns that were drawn, and above the spectral norm by its nature.
    assert np.linalg.norm(wrong, 2) / top <= 1.2 * operator.error
    assert operator.mean() == pytest.approx(U.mean(), abs=1e-6)
    assert operator.ends[1] == pytest.approx(top, rel=1e-3)


def test_all_its_products_are_of_one_matrix(information, rng):
    operator = information.operator()
    n = operator.shape[0]
    U = operator @ np.eye(n)
    assert isinstance(operator, LinearOperator)
    np.testing.assert_array_equal(operator.T @ np.ones(n), operator @ np.ones(n))
    np.testing.assert_allclose(U, U.T, rtol=0, atol=1e-7)
    rows, columns = rng.permutation(n)[:7], rng.permutation(n)[:5]
    np.testing.assert_allclose(operator.block(rows, columns), U[np.ix_(rows, columns)], rtol=0, atol=1e-7)
    B = rng.normal(size=(7, 3))
    np.testing.assert_allclose(operator.times(rows, B), U[:, rows] @ B, rtol=0, atol=1e-6)
    part = operator.restricted(rows)
    np.testing.assert_allclose(part @ np.eye(7), U[np.ix_(rows, rows)], rtol=0, atol=1e-7)
    assert part.nbytes < operator.nbytes


def test_the_penalty_is_that_of_the_formed_matrix(information, rng):
    U = information.full()
    one, other = Structural.given(U, 0.3), Structural.given(information.operator(), 0.3)
    B = rng.normal(size=(len(U), 2)) * (rng.uniform(size=(len(U), 1)) < 0.2)
    size = np.linalg.norm(one.gradient(B))
    assert np.linalg.norm(one.gradient(B) - other.gradient(B)) < 1e-3 * size
    np.testing.assert_allclose(one.matrix(), other.matrix(), rtol=0, atol=1e-3 * np.abs(one.matrix()).max())
    assert np.linalg.eigvalsh(other.matrix())[0] > -1e-4


def test_a_bound_that_cannot_be_held_is_refused(information):
    with pytest.raises(PrecisionError, match="an error of"):
        information.operator(bound=1e-9)


@pytest.mark.parametrize("make", [InFusedLasso, partial(InElasticNet, graph="kernel")])
def test_the_selection_is_that_with_the_formed_matrix(make, monkeypatch):
    X, y = some_data(40, 2400)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # U of all features would take 46 MB.
        with config_context(memory_budget="20MB"):
            one = make(n_features_to_select=20).fit(X, y)
        monkeypatch.setattr(structure, "MANY_FEATURES", 10**9)
        other = make(n_features_to_select=20).fit(X, y)
    assert 0 < one.information_error_ <= 1e-3 and other.information_error_ == 0
    assert one.n_features_screened_ == 0
    assert (np.argsort(one.ranking_)[:20] == np.argsort(other.ranking_)[:20]).all()
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=0, atol=1e-4 * np.abs(other.coef_).max())


def test_few_features_and_mostly_zeros_keep_the_formed_matrix(rng):
    X, y = some_data(40, 400)
    assert InFusedLasso(n_features_to_select=5).fit(X, y).information_error_ == 0
    counts = rng.poisson(0.05, size=(40, 2400)).astype(float)
    assert InFusedLasso(n_features_to_select=5).fit(counts, y).information_error_ == 0


@pytest.mark.parametrize("paper_data", ["Lymphoma", "Leukemia"], indirect=True)
def test_the_papers_sets_have_the_same_features(paper_data, monkeypatch):
    _, X, y = paper_data
    one = InFusedLasso(n_features_to_select=200).fit(X, y)
    monkeypatch.setattr(structure, "MANY_FEATURES", 10**9)
    other = InFusedLasso(n_features_to_select=200).fit(X, y)
    assert 1e-3 > one.information_error_ > 0 == other.information_error_
    for k in (10, 50, 100, 120, 200):  # neighbours in the order may be nearly tied
        np.testing.assert_array_equal(one.ranking_ <= k, other.ranking_ <= k)


def test_all_features_in_another_order_are_multiplied_in_that_order():
    operator = StructuralInformation.from_data(*some_data()).operator()
    rng = np.random.default_rng(1)
    order, B = rng.permutation(300), rng.normal(size=(300, 2))
    expected = operator.times(np.arange(300), B[np.argsort(order)])
    np.testing.assert_allclose(operator.times(order, B), expected, atol=1e-3)  # factors in single precision
