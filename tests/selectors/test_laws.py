"""A law of every ranking: the selection for k is the first k of the ranking made for any larger k."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from infused import available_selectors, make_selector
from infused.selectors.registry import selector_info

IDS = [id for id in available_selectors() if id not in ("random", "auto", "stability", "knockoffs")]
SLOW = ("random-forest", "mutual-info", "infused-lasso")


@st.composite
def problems(draw):
    """Tables of any shape: numbers, counts, copies and constants; classes or real targets."""
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    n_samples, n_features = draw(st.integers(12, 60)), draw(st.integers(2, 25))
    X = rng.normal(size=(n_samples, n_features))
    for j in range(n_features):
        kind = draw(st.sampled_from(["number", "number", "count", "copy", "constant", "rare"]))
        if kind == "count":
            X[:, j] = rng.integers(0, 4, size=n_samples)
        elif kind == "copy":
            X[:, j] = X[:, draw(st.integers(0, n_features - 1))]
        elif kind == "constant":
            X[:, j] = 1.0
        elif kind == "rare":
            X[:, j] = np.arange(n_samples) == 3
    signal = X[:, : 1 + n_features // 3].sum(axis=1) + 0.5 * rng.normal(size=n_samples)
    real = draw(st.booleans())
    y = signal if real else np.argsort(np.argsort(signal)) * draw(st.integers(2, 3)) // n_samples
    groups = rng.integers(0, draw(st.integers(2, n_features)), size=n_features)
    return X, y, real, draw(st.sampled_from([None, groups])), draw(st.booleans())


@pytest.mark.parametrize("id", IDS)
def test_the_selection_for_k_is_the_first_k_of_any_longer_one(id):
    @settings(max_examples=5 if id in SLOW else 15, suppress_health_check=list(HealthCheck))
    @given(problems(), st.data())
    def check(problem, data):
        X, y, real, groups, kept = problem
        if real and not selector_info(id).regression:
            y = (y > np.median(y)).astype(int)
        n = X.shape[1] if groups is None else len(set(groups.tolist()))
        names = list(range(n)) if groups is None else list(dict.fromkeys(groups.tolist()))
        keep = [names[data.draw(st.integers(0, n - 1))]] if kept and n > 1 else None
        longer = data.draw(st.integers(1, n))
        shorter = data.draw(st.integers(1, longer))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of solvers that stopped early
            first, second = (
                make_selector(id, n_features_to_select=k, groups=groups, keep=keep).fit(X, y)
                for k in (shorter, longer)
            )
        order = np.argsort(second.ranking_)[:shorter]
        np.testing.assert_array_equal(np.argsort(first.ranking_)[:shorter], order)
        assert not (first.support_ & ~second.support_).any()
        np.testing.assert_array_equal(np.sort(first.ranking_), np.arange(1, n + 1))

    check()
