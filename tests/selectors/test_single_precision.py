"""A forward search in single precision takes the steps of one in double."""

from __future__ import annotations

import numpy as np
import pytest

from infused import GreedyForward
from infused.selectors.greedy import forward as forward_search


def fits(monkeypatch, X, y, **options):
    """Of double and of single precision."""
    selector = GreedyForward(**options)
    double = selector.fit(X, y).ranking_, selector.gains_
    monkeypatch.setattr(forward_search, "WORTH_IT", 1)
    return double, (selector.fit(X, y).ranking_, selector.gains_)


def made(rng, n_samples, n_features, n_targets):
    X = rng.normal(size=(n_samples, n_features))
    Y = X[:, :5] @ rng.normal(size=(5, n_targets)) + rng.normal(size=(n_samples, n_targets))
    return X, Y


@pytest.mark.parametrize("ridge", [0.1, 0.0])
@pytest.mark.parametrize("n_targets", [1, 3])
def test_the_steps_are_those_in_double_precision(rng, monkeypatch, ridge, n_targets):
    X, Y = made(rng, 60, 3000, n_targets)
    double, single = fits(monkeypatch, X, Y, n_features_to_select=40, ridge=ridge, target="real")
    chosen = double[0] <= 40
    np.testing.assert_array_equal(double[0][chosen], single[0][chosen])
    np.testing.assert_allclose(double[1], single[1], rtol=1e-9)


def test_features_that_single_precision_cannot_tell_apart(rng, monkeypatch):
    X, Y = made(rng, 60, 600, 1)
    X[:, 300:] = X[:, :300] + 1e-7 * rng.normal(size=(60, 300))  # twins, nearly
    double, single = fits(monkeypatch, X, Y[:, 0], n_features_to_select=30)
    chosen = double[0] <= 30
    np.testing.assert_array_equal(double[0][chosen], single[0][chosen])


def test_where_nothing_is_left_to_explain_all_are_computed_in_double(rng, monkeypatch):
    X = rng.normal(size=(30, 400))
    y = X[:, :3] @ [3.0, 2.0, 1.0]
    switched = []
    monkeypatch.setattr(
        forward_search.ForwardSearch,
        "_renewed",
        _watched(forward_search.ForwardSearch._renewed, switched),
    )
    double, single = fits(monkeypatch, X, y, n_features_to_select=6, ridge=0.0)
    np.testing.assert_array_equal(double[0][double[0] <= 3], single[0][double[0] <= 3])
    assert 400 in switched and single[1][3:].sum() < 1e-12


def _watched(renew, counts):
    def watch(self, features):
        counts.append(len(features))
        return renew(self, features)

    return watch


def test_the_bounds_hold(rng):
    X, Y = made(rng, 200, 500, 2)
    X /= np.linalg.norm(X, axis=0)
    search = forward_search.ForwardSearch(X, Y, 0.1, 50)
    search._single = forward_search.SinglePrecision(X, Y)
    for step in range(50):
        search._add_feature(step)
    W, sizes = search._W[:50], search._sizes[:50]
    c, fallen = search._single.exact(np.arange(500), W, sizes)
    assert np.linalg.norm(search.c - c, axis=1).max() <= search._single._c
    assert np.abs(search.d - (0.1 + search.square - fallen)).max() <= search._single._d
