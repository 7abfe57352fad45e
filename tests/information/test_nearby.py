"""U of the features that a model comes near, against U itself, and the selections with either."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from infused import InElasticNet, InFusedLasso, StructuralInformation, config_context
from infused.information import operator as nearby
from infused.information.operator import NearbyInformation, Sampled
from infused.penalties.norms import RowGroups
from infused.penalties.quadratic import Structural
from infused.selectors.linear import information as structure
from infused.selectors.linear.model import SparseModel
from tests.information.test_operator import some_data

N = 1500


@pytest.fixture(scope="module")
def whole():
    X, y = some_data(40, N)
    return StructuralInformation.from_data(X, y)


@pytest.fixture(scope="module")
def U(whole):
    return whole.full()


@pytest.fixture(scope="module")
def sampled():
    X, y = some_data(40, N)
    some = np.sort(np.random.default_rng(0).choice(N, 500, replace=False))
    return Sampled.of(StructuralInformation.from_data(X[:, some], y).operator(), N)


@pytest.fixture
def near(whole, U, sampled):
    return NearbyInformation.make(N, lambda features: U[np.ix_(features, features)], whole.operator, sampled)


@pytest.fixture
def small_samples(monkeypatch):
    monkeypatch.setattr(structure, "SAMPLE", 500)


def test_a_sample_tells_of_the_whole_what_it_says(U, sampled):
    low, *_, top = np.linalg.eigvalsh(U - U.mean())
    assert abs(sampled.mean - U.mean()) <= 4 * sampled.error_of_mean
    assert abs(sampled.ends[1] / top - 1) <= max(4 * sampled.error_of_top, 0.05)
    assert sampled.ends[0] == pytest.approx(low, rel=0.1)
    assert np.abs(U - U.mean()).max() <= nearby.MARGIN * sampled.deviation


def test_what_is_asked_for_is_that_of_the_whole(near, U, rng):
    assert near.beyond.all()
    rows, columns = rng.permutation(N)[:7], rng.permutation(N)[:5]
    np.testing.assert_array_equal(near.block(rows, columns), U[np.ix_(rows, columns)])
    assert set(np.flatnonzero(~near.beyond)) == {*rows, *columns}

    B = rng.normal(size=(7, 3))
    product = near.times(rows, B)
    np.testing.assert_allclose(product[~near.beyond], U[~near.beyond][:, rows] @ B, rtol=1e-12)
    np.testing.assert_array_equal(product[near.beyond], np.tile(near.mean() * B.sum(axis=0), (N - 12, 1)))


def test_a_part_knows_what_the_whole_knows(near, U, rng):
    features = np.sort(rng.permutation(N)[:300])
    part = near.restricted(features)
    part.learn(np.arange(10))
    assert not near.beyond[features[:10]].any() and near.beyond.sum() == N - 10
    np.testing.assert_array_equal(
        part.block(np.array([3, 299]), np.array([1])), U[np.ix_(features[[3, 299]], features[[1]])]
    )


def test_too_many_are_multiplied_with_through_their_factors(near, whole, U, rng):
    near = NearbyInformation.make(N, near.known._form, whole.operator, near.sampled, most=20)
    rows, B = rng.permutation(N)[:30], rng.normal(size=(30, 2))
    np.testing.assert_allclose(near.times(rows, B), U[:, rows] @ B, rtol=0, atol=1e-3)
    part = near.restricted(np.sort(rows))
    np.testing.assert_allclose(
        part.times(np.arange(30), B), U[np.ix_(np.sort(rows), np.sort(rows))] @ B, atol=1e-3
    )
    assert not near.beyond.any() and near.error_on(rows) > 0


@pytest.mark.parametrize("lambda1", [0.5, 0.05])
def test_the_solution_is_optimal_among_all_features(near, U, lambda1):
    X, y = some_data(40, N)
    X = (X - X.mean(axis=0)) / np.linalg.norm(X - X.mean(axis=0), axis=0)
    Y = np.eye(3)[y] - 1 / 3
    term = Structural.given(near, 0.3)
    model = SparseModel(X=X, Y=Y, tol=1e-6, quadratic=term)
    lambda1 *= model.largest_lambda1()
    B = model.fit(lambda1).result.coef
    assert near.beyond.any()
    # The same term with all of U, written out.
    S = 0.3 * (np.eye(N) - (U - near.mean()) / term.top)
    violation = RowGroups(lambda1).distance(B, X.T @ (X @ B - Y) + 2 * S @ B)
    assert violation.max() <= 1e-5 * lambda1


@pytest.mark.parametrize("most", [4000, 50])
@pytest.mark.parametrize("make", [InFusedLasso, partial(InElasticNet, graph="kernel")])
def test_the_selection_is_that_with_the_formed_matrix(make, most, small_samples, monkeypatch):
    X, y = some_data(40, 2400)
    monkeypatch.setattr(structure, "MOST_KNOWN", most)
    # U of all features would take 46 MB.
    with config_context(memory_budget="20MB"):
        one = make(n_features_to_select=20).fit(X, y)
    monkeypatch.setattr(structure, "MANY_FEATURES", 10**9)
    other = make(n_features_to_select=20).fit(X, y)
    assert 0 < one.information_error_ < 0.1 and one.n_features_screened_ == 0
    assert (np.argsort(one.ranking_)[:20] == np.argsort(other.ranking_)[:20]).all()
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=0, atol=3e-3 * np.abs(other.coef_).max())


def test_what_is_kept_and_paths_go_the_same_way(small_samples, monkeypatch):
    X, y = some_data(40, 2400)
    lasso = InFusedLasso(n_features_to_select=20, keep=[7, 8])
    one, path = lasso.fit(X, y).ranking_, lasso.regularization_path(X, y, n_lambdas=4).coef
    monkeypatch.setattr(structure, "MANY_FEATURES", 10**9)
    np.testing.assert_array_equal(one <= 20, lasso.fit(X, y).ranking_ <= 20)
    other = lasso.regularization_path(X, y, n_lambdas=4).coef
    np.testing.assert_allclose(path, other, rtol=0, atol=3e-3 * np.abs(other).max())
