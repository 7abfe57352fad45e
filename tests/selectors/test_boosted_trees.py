"""Boosted trees: interactions, missing values, whole variables, and what importances are."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_wine

from infused import make_selector
from infused.exceptions import InputError, MissingExtraError

IMPORTANCES = ("gain", "permutation")
every_importance = pytest.mark.parametrize("importance", IMPORTANCES)


def exclusive(n_samples=500, seed=0):
    """Two features that say something of the class only together."""
    X = np.random.default_rng(seed).normal(size=(n_samples, 12))
    return X, ((X[:, 3] > 0) ^ (X[:, 7] > 0)).astype(int)


@every_importance
def test_it_finds_what_matters_together_only(importance):
    selector = make_selector("boosted-trees", n_features_to_select=2, importance=importance)
    assert selector.fit(*exclusive()).get_support(indices=True).tolist() == [3, 7]


@every_importance
@pytest.mark.parametrize("real", [True, False])
def test_each_importance_takes_every_target(importance, real):
    X, y = load_diabetes(return_X_y=True) if real else load_wine(return_X_y=True)
    y = y + 0.25 if real else y
    selector = make_selector("boosted-trees", n_features_to_select=3, importance=importance).fit(X, y)
    assert selector.support_[2] if real else selector.support_[[6, 9, 12]].any()


def test_noise_costs_nothing_when_it_is_permuted():
    """Held-out samples tell: noise has gain on the samples that trees are grown on, but no importance."""
    X, y = exclusive()
    noise = np.setdiff1d(np.arange(12), [3, 7])
    gain = make_selector("boosted-trees").fit(X, y).scores_
    rise = make_selector("boosted-trees", importance="permutation").fit(X, y).scores_
    assert (gain[noise] > 0).any()
    assert np.abs(rise[noise]).max() < 0.05 * rise[[3, 7]].min()


def test_features_without_a_split_follow_by_their_information():
    """Few samples have one split at most, so nearly all features are ranked without trees."""
    X, y = load_wine(return_X_y=True)
    few = np.arange(0, 178, 8)
    selector = make_selector("boosted-trees").fit(X[few], y[few])
    information = make_selector("mutual-info").fit(X[few], y[few])
    without = np.flatnonzero(selector.scores_ == 0)
    by_tree = without[np.argsort(selector.ranking_[without])]
    np.testing.assert_array_equal(by_tree, without[np.argsort(information.ranking_[without])])


def test_a_class_that_training_parts_lack_is_counted():
    X, y = exclusive(200)
    y[0] = 2
    scores = make_selector("boosted-trees", importance="permutation").fit(X, y).scores_
    assert np.isfinite(scores).all()


def test_weights_are_refused_with_the_reason():
    X, y = exclusive(100)
    with pytest.raises(InputError, match="takes no sample_weight=: a leaf counts samples"):
        make_selector("boosted-trees").fit(X, y, sample_weight=np.arange(100) % 3)


def test_lightgbm_grows_the_trees_where_it_is_installed():
    X, y = exclusive()
    selector = make_selector("boosted-trees", n_features_to_select=2, library="lightgbm")
    try:
        import lightgbm  # noqa: F401
    except ImportError:
        with pytest.raises(MissingExtraError, match="needs the package lightgbm"):
            selector.fit(X, y)
    else:
        assert selector.fit(X, y).get_support(indices=True).tolist() == [3, 7]
