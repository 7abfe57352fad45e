"""Stability selection: bounds against literal twins, halves against laws, answers against facts."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq, minimize_scalar
from sklearn.datasets import load_breast_cancer
from sklearn.feature_selection import RFE, SelectKBest, VarianceThreshold
from sklearn.linear_model import Ridge

from infused import Lasso, StabilitySelection, make_selector
from infused._runtime.progress import reporting
from infused.data import load_data
from infused.exceptions import InputError
from infused.samples import Samples
from infused.selectors.control.stability import (
    BOUNDS,
    expected_false,
    largest_number,
    smallest_threshold,
    tail_of_r_concave,
)

CANCER = load_breast_cancer(return_X_y=True)


def made(n_samples=80, n_features=40, n_useful=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_features))
    y = np.arange(n_samples) % 2
    X[:, :n_useful] += 2.0 * y[:, None]
    return X, y


def tail_by_definition(eta, t, n, r):
    """Shah and Samworth's Appendix, support by support: each k has its own range of a."""
    s, mean = 1 / r, eta * n
    first = int(np.ceil(2 * mean)) + 1
    if t < first:
        return 1.0

    def excess(a, k):
        i = np.arange(k + 1)
        return (i * (a + i) ** s).sum() / ((a + i) ** s).sum() - mean

    limits = {first - 1: 1e5}
    for k in range(first, n + 1):
        limits[k] = brentq(excess, 1e-5, limits[k - 1], args=(k,), xtol=1e-14)

    def below(a, k):
        i = np.arange(k + 1)
        return (k + 1 - mean) * ((a + np.arange(t)) ** s).sum() / ((k + 1 - i) * (a + i) ** s).sum()

    exact = {"method": "bounded", "options": {"xatol": 1e-12}}
    return 1 - min(
        minimize_scalar(below, bounds=(limits[k + 1], limits[k]), args=(k,), **exact).fun
        for k in range(max(first, t - 1), n)
    )


@pytest.mark.parametrize(
    "case",
    [
        (4e-4, 25, 50, -0.5),
        (0.02, 75, 100, -0.25),
        (0.1, 60, 100, -0.25),
        (0.01, 20, 50, -0.5),
        (0.2, 8, 12, -0.5),
    ],
    ids=str,
)
def test_the_tail_is_that_of_the_definition(case):
    assert tail_of_r_concave(*case) == pytest.approx(tail_by_definition(*case), rel=1e-5)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([-0.5, -0.25]), st.integers(4, 40))
def test_no_r_concave_distribution_has_a_larger_tail(seed, r, n):
    """f is r-concave for negative r where f^r is convex: powers of random convex sequences."""
    rng = np.random.default_rng(seed)
    slopes = np.sort(rng.normal(size=n) * rng.choice([0.1, 1, 10]))
    convex = np.concatenate([[0.0], np.cumsum(slopes)])
    f = (convex - convex.min() + rng.exponential()) ** (1 / r)
    f /= f.sum()
    eta = (np.arange(n + 1) * f).sum() / n
    for t in range(1, n + 1):
        assert f[t:].sum() <= tail_of_r_concave(eta, t, n, r) * (1 + 1e-6) + 1e-12


def test_bounds_by_their_formulas():
    for q, threshold, p in [(10, 0.6, 200), (10, 0.75, 200), (30, 0.9, 1000)]:
        theta = q / p
        worst = q**2 / p / (2 * threshold - 1)
        assert expected_false(q, threshold, p, 50, "worst-case") == pytest.approx(worst)
        c = 1 / (2 * (2 * threshold - 1.01)) if threshold <= 0.75 else 4 * (1 - threshold + 0.01) / 1.02
        assert expected_false(q, threshold, p, 50, "unimodal") == pytest.approx(c * theta * q)
        assert expected_false(q, threshold, p, 50, "r-concave") <= c * theta * q


@pytest.mark.parametrize(
    ("p", "q", "cutoff", "bound", "published"),
    [(9, 2, 0.75, "unimodal", 0.454), (88, 20, 0.8, "unimodal", 3.743316), (10, 3, 0.95, "worst-case", 1.0)],
)
def test_bounds_are_those_of_stabs(p, q, cutoff, bound, published):
    """Compare with what the R package prints; the last is its rule of Meinshausen and Bühlmann."""
    assert expected_false(q, cutoff, p, 50, bound) == pytest.approx(published, abs=5e-4)


@pytest.mark.parametrize("bound", BOUNDS)
def test_two_of_three_give_the_third(bound):
    q = largest_number(0.8, 1.0, 500, 50, bound)
    assert expected_false(q, 0.8, 500, 50, bound) <= 1 < expected_false(q + 1, 0.8, 500, 50, bound)
    threshold = smallest_threshold(q, 1.0, 500, 50, bound)
    assert threshold <= 0.8
    assert expected_false(q, threshold, 500, 50, bound) <= 1
    assert threshold < 0.515 or expected_false(q, threshold - 0.01, 500, 50, bound) > 1


@given(st.lists(st.integers(0, 4), min_size=4, max_size=60), st.integers(0, 99))
def test_halves_are_complementary_and_have_equal_shares_of_classes(labels, seed):
    y = np.array(labels)
    first, second = Samples().halves(y, False, seed)
    assert len(first) == len(second) == len(y) // 2
    assert not set(first) & set(second)
    for label in set(labels):
        assert abs((y[first] == label).sum() - (y[second] == label).sum()) <= 1
    assert len(Samples().halves(y, True, seed)[0]) == len(y) // 2


def test_frequencies_are_those_of_the_halves():
    X, y = made()
    selector = StabilitySelection(Lasso(n_features_to_select=4), n_pairs=6, random_state=3).fit(X, y)
    seeds = np.random.RandomState(3).randint(2**31 - 1, size=6)
    counts, first = np.zeros(40), np.zeros((4, 40))
    for seed in seeds:
        for rows in Samples().halves(y, False, int(seed)):
            ranking = Lasso(n_features_to_select=4).fit(X[rows], y[rows]).ranking_
            counts += ranking <= 4
            first += ranking <= np.arange(1, 5)[:, None]
    np.testing.assert_array_equal(selector.frequencies_, counts / 12)
    np.testing.assert_array_equal(selector.path_, first / 12)
    assert selector.path_numbers_.tolist() == [1, 2, 3, 4]
    np.testing.assert_array_equal(selector.support_, selector.frequencies_ >= 0.75)
    assert {0, 2} <= set(selector.get_support(indices=True).tolist()) <= {0, 1, 2}
    assert selector.expected_false_ == expected_false(4, 0.75, 40, 6, "r-concave")


def test_the_number_of_jobs_does_not_matter():
    X, y = made()
    one, two = (
        StabilitySelection("anova", n_pairs=4, random_state=0, n_jobs=jobs).fit(X, y) for jobs in (1, 2)
    )
    np.testing.assert_array_equal(one.frequencies_, two.frequencies_)
    np.testing.assert_array_equal(one.ranking_, two.ranking_)


def test_what_follows_from_what_is_given():
    X, y = made(n_features=200)
    nothing = StabilitySelection("anova", n_pairs=10, random_state=0).fit(X, y)
    assert nothing.threshold_ == 0.9
    assert nothing.n_features_per_half_ == largest_number(0.9, 1.0, 200, 10, "r-concave")
    assert nothing.expected_false_ <= 1
    ten = make_selector("anova", n_features_to_select=10)
    assert StabilitySelection(ten, n_pairs=10, random_state=0).fit(X, y).threshold_ == 0.75
    by_false = StabilitySelection(ten, max_false=0.2, n_pairs=10, random_state=0).fit(X, y)
    assert by_false.threshold_ == smallest_threshold(10, 0.2, 200, 10, "r-concave")
    assert by_false.expected_false_ <= 0.2
    with pytest.raises(InputError, match="threshold= and max_false= give the third"):
        StabilitySelection(ten, threshold=0.8, max_false=1.0).fit(X, y)
    with pytest.raises(InputError, match="take fewer per half, or allow more"):
        StabilitySelection(make_selector("anova", n_features_to_select=150), max_false=0.1).fit(X, y)


def test_noise_is_not_stable():
    rng = np.random.default_rng(0)
    found = [
        StabilitySelection(Lasso(n_features_to_select=10), n_pairs=20, random_state=0)
        .fit(rng.normal(size=(60, 200)), rng.permutation(np.arange(60) % 2))
        .n_stable_
        for _ in range(5)
    ]
    assert sum(found) == 0
    seeds_alone = StabilitySelection("random:n_features_to_select=10", n_pairs=20, random_state=0)
    assert seeds_alone.fit(*made()).frequencies_.max() < 0.75, "a fixed seed is no stability"


def test_selectors_of_scikit_learn():
    X, y = CANCER
    best = StabilitySelection(SelectKBest(k=5), n_pairs=5, random_state=0).fit(X, y)
    assert best.n_features_per_half_ == 5 and best.path_.shape == (1, 30)
    rfe = StabilitySelection(RFE(Ridge(), n_features_to_select=4), n_pairs=3, random_state=0).fit(X, y)
    assert rfe.n_features_per_half_ == 4
    with pytest.raises(InputError, match="SelectKBest does not take groups="):
        StabilitySelection(SelectKBest(k=5), groups=np.arange(30) // 2).fit(X, y)
    with pytest.warns(UserWarning, match="chosen equally often at the last place"):
        StabilitySelection(VarianceThreshold(), n_features_to_select=4, n_pairs=2, random_state=0).fit(X, y)
    with pytest.raises(InputError, match=r"selector=Ridge\(\) selects no features"):
        StabilitySelection(Ridge()).fit(X, y)
    with pytest.raises(InputError, match="is neither an id nor a selector"):
        StabilitySelection(Lasso).fit(X, y)


def test_groups_and_what_is_kept():
    X, y = made(n_features=20)
    frame = pd.DataFrame(X, columns=[f"f{n}" for n in range(20)])
    groups = {"useful": ["f0", "f19"], "noise": ["f8", "f9"]}
    own = StabilitySelection(
        Lasso(n_features_to_select=4), groups=groups, keep=["f12"], n_pairs=5, random_state=0
    )
    through = StabilitySelection(
        Lasso(n_features_to_select=4, groups=groups, keep=["f12"]), n_pairs=5, random_state=0
    )
    for selector in (own.fit(frame, y), through.fit(frame, y)):
        assert len(selector.frequencies_) == 18
        assert selector.ranking_[selector.group_names_.tolist().index("f12")] == 1
        assert selector.support_[[0, 19, 1, 2, 12]].all()
        assert selector.n_stable_ == selector.support_.sum() - 2  # f12 is kept, and one group has two columns


def test_halves_that_fail_are_counted_and_said():
    X, y = made(n_samples=40)
    y = np.where(np.arange(40) < 1, 2, 0)  # one half has one class
    with pytest.raises(InputError, match="no pair of halves could be used: "):
        StabilitySelection("anova", n_pairs=3, random_state=0).fit(X, y)

    class Moody(Lasso):
        def fit(self, X, y):
            if X[:, 5].sum() > 3:
                raise ValueError("not in the mood")
            warnings.warn("too few rounds", UserWarning, stacklevel=2)
            return super().fit(X, y)

    X, y = made()
    with pytest.warns(UserWarning) as told:
        selector = StabilitySelection(Moody(n_features_to_select=3), n_pairs=20, random_state=0).fit(X, y)
    said = " ".join(str(one.message) for one in told)
    assert 0 < selector.n_pairs_ < 20
    assert f"{20 - selector.n_pairs_} of 20 pairs of halves could not be used: not in the mood" in said
    assert "fits on halves of the samples warned: too few rounds" in said


def test_progress_is_that_of_pairs():
    seen = []
    with reporting(lambda fraction, message: seen.append((round(fraction, 6), message)) and None):
        StabilitySelection("mrmr", n_features_to_select=3, n_pairs=4, random_state=0).fit(*made())
    assert seen == [(n / 4, "selecting in halves of the samples") for n in range(5)]


def test_known_facts_of_breast_cancer():
    """The worst concave points and the worst radius are in every published selection."""
    selector = StabilitySelection(Lasso(n_features_to_select=6), random_state=0, n_pairs=20).fit(*CANCER)
    assert selector.frequencies_[[27, 20]].min() > 0.95
    assert selector.frequencies_[[9, 11, 14, 18]].max() < 0.3  # fractal dimension, texture error, ...


@pytest.mark.data
def test_known_genes_of_leukemia():
    """Zyxin, MPO, adipsin, CD33 and cystatin C, by their rows in the table of Golub et al. (1999)."""
    try:
        data = load_data("Leukemia")
    except InputError as error:
        pytest.skip(str(error))
    selector = StabilitySelection(Lasso(n_features_to_select=50), n_pairs=15, random_state=0).fit(
        data.X, data.y
    )
    first = set((np.argsort(selector.ranking_)[:10] + 1).tolist())
    assert len(first & {4847, 1779, 2288, 1834, 1882}) >= 4
