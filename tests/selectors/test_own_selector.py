"""A selector of one's own, by the dotted path of its class: scikit-learn's interface is all that it needs."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin

import infused


class LastFeatures(SelectorMixin, BaseEstimator):
    def __init__(self, *, n_features_to_select=2):
        self.n_features_to_select = n_features_to_select

    def fit(self, X, y):
        self.n_features_in_ = X.shape[1]
        self.ranking_ = np.arange(X.shape[1], 0, -1)
        return self

    def _get_support_mask(self):
        return self.ranking_ <= self.n_features_to_select


def test_it_is_compared_with_the_others(rng):
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 6)) + 3 * y[:, None] * (np.arange(6) > 3)
    found = infused.compare((X, y), methods=[f"{__name__}.LastFeatures", "random"], k=2, folds=3)
    best = found.standings.methods.iloc[0]
    assert best["label"] == f"{__name__}.LastFeatures" and best["mean"] > 0.9 and best["failed"] == 0
