"""Laws of every ranking: how far one serves other numbers of features than the one it was made for.

The selection for k is the first k of the ranking made for any larger k. Most selectors have one ranking for
all numbers; those that pick one feature after the other order the rest by a rule of theirs.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from infused import Lasso, StabilitySelection, available_selectors, make_selector
from infused.selectors.registry import selector_info

FILTERS = ("mifs", "mrmr", "jmim", "jmi", "cmim", "disr")
IDS = [id for id in available_selectors() if id not in ("auto", "stability", "knockoffs")]
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
        if id in FILTERS:
            behind = np.argsort(first.ranking_)[shorter:]
            falls(first.criterion_[behind], first.relevance_[behind] > 0)
        elif id == "greedy-forward":
            falls(first.scores_[np.argsort(first.ranking_)])
        else:
            np.testing.assert_array_equal(first.ranking_, second.ranking_)

    check()


def falls(values, varies=None):
    """Values never rise along a ranking but within ties; what does not vary is left out."""
    values = values if varies is None else values[varies]
    assert (np.diff(values) <= 1e-10 * np.maximum(1.0, np.abs(values[1:]))).all()


PAPER = ("lasso", "ulasso", "fused-lasso", "group-lasso", "in-lasso", "in-elastic-net", "infused-lasso")


def a_problem(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 12))
    return X, (X[:, 1] + X[:, 4] - X[:, 9] + rng.normal(size=60) > 0).astype(int)


@pytest.mark.parametrize(
    "id", [id for id in IDS if {"ranking", "standardize"} <= set(make_selector(id).get_params())]
)
@pytest.mark.parametrize("ranking", ["recursive", "forward", "coefficient", "path"])
def test_linear_selectors_have_one_ranking_for_all_numbers(id, ranking):
    fits = [make_selector(id, ranking=ranking, n_features_to_select=k).fit(*a_problem()) for k in (1, 5, 12)]
    for one in fits[:2]:
        np.testing.assert_array_equal(one.ranking_, fits[-1].ranking_)


@pytest.mark.parametrize("ranking", ["recursive", "forward", "coefficient", "path"])
@pytest.mark.parametrize("id", PAPER)
def test_the_order_of_columns_and_the_tolerance_change_no_selection(id, ranking):
    X, y = a_problem()
    own = {"groups": list(range(12))} if id == "group-lasso" else {}  # clusters have an order of their own
    own |= {"fusion": "none"} if "fused" in id else {}
    own |= {"ranking": ranking, "n_features_to_select": 4}
    chosen = make_selector(id, **own).fit(X, y).support_
    order = np.random.default_rng(5).permutation(12)
    np.testing.assert_array_equal(make_selector(id, **own).fit(X[:, order], y).support_, chosen[order])
    np.testing.assert_array_equal(make_selector(id, tol=1e-2, **own).fit(X, y).support_, chosen)


def test_knockoffs_have_one_ranking_for_all_numbers():
    made = [make_selector("knockoffs", random_state=0, n_draws=3, n_features_to_select=k) for k in (1, 7)]
    first, second = (selector.fit(*a_problem()) for selector in made)
    np.testing.assert_array_equal(first.ranking_, second.ranking_)
    assert (first.support_.sum(), second.support_.sum()) == (1, 7)


def test_halves_of_one_number_have_one_ranking():
    """Where the selector has a number of its own, the one that is asked for only cuts the ranking."""
    fits = [
        StabilitySelection(
            Lasso(n_features_to_select=3), n_features_to_select=k, n_pairs=5, random_state=0
        ).fit(*a_problem())
        for k in (None, 1, 6)
    ]
    for one in fits[1:]:
        np.testing.assert_array_equal(one.ranking_, fits[0].ranking_)


def test_the_ranking_of_auto_is_that_of_its_selector():
    selector = make_selector("auto", methods=["anova", "mrmr"], cv=2).fit(*a_problem())
    np.testing.assert_array_equal(selector.ranking_, selector.selector_.ranking_)
