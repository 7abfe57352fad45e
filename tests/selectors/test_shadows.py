"""Shadows: permuted copies of features compete with what a selector chose."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.stats import binomtest
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.feature_selection import SelectKBest

from infused import InFusedLasso, Lasso, available_selectors, shadow_test
from infused.exceptions import InputError
from tests.selectors.family import make_selector


def made(n_samples=120, n_features=25, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_features))
    return X, (X[:, 3] + X[:, 8] + 0.3 * rng.normal(size=n_samples) > 0).astype(int)


class Ranks(Lasso):
    """Ranks by the correlation with the target, and remembers what it saw."""

    seen: ClassVar[list] = []

    def fit(self, X, y):
        self.seen.append((X, self.groups, self.keep))
        gap = np.abs((X - X.mean(axis=0)).T @ (y - y.mean()))
        self.ranking_ = np.argsort(np.argsort(-gap)) + 1
        self.support_ = self.ranking_ <= self.n_features_to_select
        return self


def test_wins_are_counted_against_the_best_shadow():
    X, y = made()
    Ranks.seen.clear()
    selector = Ranks(n_features_to_select=6).fit(X, y)
    test = shadow_test(selector, X, y, n_repeats=4, random_state=3)
    assert test.features.tolist() == np.argsort(selector.ranking_)[:6].tolist()
    expected = np.zeros(6)
    for both, _, _ in Ranks.seen[1:]:
        np.testing.assert_array_equal(both[:, :25], X)
        order = [X.tolist().index(row) for row in both[:, 25:].tolist()]  # whole rows, each once
        assert sorted(order) == list(range(120))
        gap = np.abs((both - both.mean(axis=0)).T @ (y - y.mean()))
        expected += gap[test.features] > gap[25:].max()
    np.testing.assert_array_equal(test.wins, expected / 4)
    assert test.n_beaten == (expected <= 2).sum() > 0
    assert (test.wins[:2] == 1).all() and set(test.features[:2]) == {3, 8}
    assert (test.n_features, test.n_shadows, test.by_chance) == (25, 25, 25 / 26)


@pytest.mark.parametrize("id", [id for id in available_selectors() if id != "random"])
def test_every_selector_tells_signal_from_noise(id):
    X, y = made(150, 12)
    selector = make_selector(id, n_features_to_select=4).fit(X, y)
    test = shadow_test(selector, X, y, n_repeats=3, random_state=0)
    assert dict(zip(test.features, test.wins, strict=True))[3] > 0.5
    assert test.wins[-1] < 1 or test.n_beaten < 3


def test_random_features_are_beaten():
    X, y = made()
    selector = make_selector("random", n_features_to_select=8).fit(X, y)
    assert shadow_test(selector, X, y, random_state=0).n_beaten >= 6


def test_noise_is_told_as_noise():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 40)), np.arange(80) % 2
    assert shadow_test(Lasso(n_features_to_select=10).fit(X, y), X, y, random_state=0).n_beaten >= 8


@pytest.mark.parametrize("max_shadows", [30, 10])
def test_p_values_are_honest_where_no_feature_is_relevant(max_shadows):
    """Of all draws of noise, at most a share of a has any p-value of a or less."""
    smallest = []
    for seed in range(120):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(40, 30)), rng.normal(size=40)
        selector = Ranks(n_features_to_select=3).fit(X, y)
        test = shadow_test(selector, X, y, n_repeats=19, max_shadows=max_shadows, random_state=seed)
        smallest.append(test.p_values.min())
    for level in (0.1, 0.2, 0.5):
        assert binomtest(int(np.sum(np.array(smallest) <= level)), 120, level, "greater").pvalue > 0.01


def test_p_values_of_relevant_features_are_small():
    X, y = made()
    test = shadow_test(Lasso(n_features_to_select=4).fit(X, y), X, y, n_repeats=19, random_state=0)
    assert set(test.features[test.p_values <= 0.05]) == {3, 8}


def test_known_features_of_known_data_win():
    X, y = load_breast_cancer(return_X_y=True)
    test = shadow_test(Lasso(n_features_to_select=5).fit(X, y), X, y, random_state=0)
    assert (test.wins == 1).all() and test.n_beaten == 0


def test_groups_and_what_is_kept_stay_what_they_are():
    X, y = made()
    groups = np.array(["a", "b", "c", "d", "e"])[np.arange(25) % 5]
    Ranks.seen.clear()

    class Grouped(Ranks):
        def fit(self, X, y):
            super().fit(X, y)
            codes = np.unique(self.groups, return_inverse=True)[1]
            self.ranking_ = np.arange(1, codes.max() + 2)
            self.support_ = codes < 3
            return self

    selector = Grouped(n_features_to_select=3, groups=groups, keep=["b"]).fit(X, y)
    test = shadow_test(selector, X, y, n_repeats=1, random_state=0)
    both, labels, keep = Ranks.seen[-1]
    assert both.shape == (120, 45)  # the kept has no shadow
    np.testing.assert_array_equal(labels[:25], np.arange(25) % 5)
    np.testing.assert_array_equal(labels[25:].reshape(5, 4), np.tile([5, 6, 7, 8], (5, 1)))
    assert keep == [1]
    assert test.features.tolist() == [0, 2] and test.n_features == test.n_shadows == 4


@pytest.mark.parametrize("make", [sp.csr_array, pd.DataFrame], ids=["sparse", "frame"])
def test_any_kind_of_input(make):
    X, y = made()
    X = np.where(np.abs(X) > 1, X, 0.0)
    plain = Lasso(n_features_to_select=5).fit(X, y)
    other = Lasso(n_features_to_select=5).fit(make(X), y)
    first, second = shadow_test(plain, X, y, random_state=1), shadow_test(other, make(X), y, random_state=1)
    np.testing.assert_array_equal(first.wins, second.wins)


def test_neighbours_stay_neighbours():
    X, y = load_digits(n_class=3, return_X_y=True)
    for fusion in ("auto", "chain", [[0, 1], [9, 10], [62, 63]]):
        selector = InFusedLasso(n_features_to_select=10, fusion=fusion).fit(X[:200], y[:200])
        test = shadow_test(selector, X[:200], y[:200], n_repeats=2, random_state=0, max_shadows=40)
        assert test.n_beaten == 0
        assert test.n_shadows == 40 and test.by_chance == 64 / 41


def test_what_cannot_be_tested_is_named():
    X, y = made()
    with pytest.raises(InputError, match="SelectKBest ranks no features"):
        shadow_test(SelectKBest(k=3).fit(X, y), X, y)
    with pytest.raises(InputError, match="n_repeats= and max_shadows= must be 1 or more"):
        shadow_test(Lasso().fit(X, y), X, y, n_repeats=0)
    nothing = make_selector("knockoffs").fit(X, np.random.default_rng(1).normal(size=120))
    assert nothing.support_.sum() == 0
    assert shadow_test(nothing, X, y).n_beaten == 0
