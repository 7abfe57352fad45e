"""Figures of times and events by a feature, each beside its definition."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import chi2

from infused.datafits import survival_records
from infused.record.explained import feature_parts, hazard_ratio, kaplan_meier, log_rank, survival_curves
from infused.record.schema import HazardRatio
from infused.record.sentences import hazard_words


@pytest.fixture
def followed():
    """Times with ties, and a feature on which they depend."""
    rng = np.random.default_rng(0)
    x = rng.normal(50, 4, 90)
    time, censored = rng.exponential(10 * np.exp(-(x - 50) / 4)), rng.exponential(12, 90)
    return x, survival_records(np.ceil(np.minimum(time, censored)), time <= censored)


def test_survival_is_a_product_over_the_times_of_events(followed):
    _, y = followed
    times, shares = kaplan_meier(y)
    for t, share in zip(times, shares, strict=True):
        expected = 1.0
        for s in np.unique(y["time"][y["event"]]):
            if s <= t:
                expected *= 1 - (y["event"] & (y["time"] == s)).sum() / (y["time"] >= s).sum()
        assert share == pytest.approx(expected, rel=1e-12)
    assert times[0] == 0
    assert times[-1] == y["time"].max()


def test_the_log_rank_test_is_that_of_the_hypergeometric_distribution(followed):
    x, y = followed
    labels, _ = feature_parts(x)
    excess, V = np.zeros(3), np.zeros((3, 3))
    for t in np.unique(y["time"][y["event"]]):
        n = np.array([((labels == g) & (y["time"] >= t)).sum() for g in range(3)])
        d = np.array([((labels == g) & (y["time"] == t) & y["event"]).sum() for g in range(3)])
        excess += d - d.sum() * n / n.sum()
        if n.sum() > 1:
            share = n / n.sum()
            factor = d.sum() * (n.sum() - d.sum()) / (n.sum() - 1)
            V += factor * (np.diag(share) - np.outer(share, share))
    statistic = excess[:2] @ np.linalg.solve(V[:2, :2], excess[:2])
    assert log_rank(y, labels) == pytest.approx(chi2.sf(statistic, 2), rel=1e-9)
    assert log_rank(y, np.zeros(90, np.int64)) is None


def test_parts_are_thirds_or_the_most_frequent_levels():
    labels, names = feature_parts(np.array([1.0, 2, 3, 4, 5, 6, np.nan]))
    assert labels.tolist() == [0, 0, 1, 1, 2, 2, -1]
    assert names == ["1 to 2", "3 to 4", "5 to 6"]
    codes = np.repeat(np.arange(8.0), [9, 1, 8, 7, 6, 5, 4, 2])
    labels, names = feature_parts(codes, tuple("abcdefgh"))
    assert names == list("acdefg")
    assert (labels == -1).sum() == 3


def test_the_hazard_ratio_is_that_of_one_standard_deviation(followed):
    x, y = followed

    def value(b):
        eta = b * (x - x.mean()) / x.std()
        events = np.flatnonzero(y["event"])
        return sum(np.log(np.exp(eta[y["time"] >= y["time"][i]]).sum()) - eta[i] for i in events)

    b = minimize_scalar(value, (-1, 1), tol=1e-10).x
    found = hazard_ratio(x, y)
    assert found.ratio == pytest.approx(np.exp(b), rel=1e-6)
    curvature = (value(b + 1e-3) - 2 * value(b) + value(b - 1e-3)) / 1e-6
    assert np.log(found.high) - b == pytest.approx(1.959964 / np.sqrt(curvature), rel=1e-4)
    assert found.unit == "standard deviation"
    assert "higher values, earlier events" in hazard_words(found)


def test_two_levels_are_compared_and_more_are_not(followed):
    x, y = followed
    old = (x > 50).astype(float)
    found = hazard_ratio(old, y, ("young", "old"))
    assert found.unit == "old against young"
    assert hazard_words(found).endswith("of old against young: old, earlier events")
    assert hazard_ratio(np.arange(90.0) % 3, y, ("a", "b", "c")) is None
    assert hazard_ratio(np.ones(90), y) is None
    assert "no clear direction" in hazard_words(HazardRatio(1.1, 0.9, 1.3, "standard deviation"))


def test_a_part_without_events_determines_no_ratio():
    y = survival_records([1.0, 2, 3, 4, 5, 6], [1, 1, 1, 0, 0, 0])
    values = np.array([1.0, 1, 1, 0, 0, 0])
    assert hazard_ratio(values, y) is None
    curves = survival_curves("x", values, y)
    assert [part.n_events for part in curves.parts] == [0, 3]
    assert curves.parts[0].shares[-1] == 1
