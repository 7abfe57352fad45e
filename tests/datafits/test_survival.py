"""Times and events: what is taken for them, what is refused, and how predictions are scored."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from infused.datafits import (
    SURVIVAL,
    CensoringCurve,
    concordance,
    integrated_brier,
    martingale_residuals,
    survival_records,
    survival_target,
)
from infused.exceptions import InputError

TIME = np.array([5.0, 3.0, 8.0, 3.0, 1.0])
EVENT = np.array([True, False, True, True, False])


def test_structured_arrays_and_frames_are_read_alike():
    """Fields may have any name and order; a frame has a boolean column, or is named."""
    expected = survival_records(TIME, EVENT)
    fields = np.array(list(zip(TIME, EVENT, strict=True)), dtype=[("months", float), ("died", bool)])
    frames = [
        pd.DataFrame({"months": TIME, "died": EVENT}),
        pd.DataFrame({"event": EVENT.astype(int), "time": TIME.astype(int)}),
    ]
    for y in (fields, expected, *frames):
        np.testing.assert_array_equal(survival_target(y), expected)
    assert expected.dtype == SURVIVAL


@pytest.mark.parametrize(
    "y",
    [TIME, EVENT, ["a", "b"], np.eye(3), pd.DataFrame({"a": TIME, "b": TIME}), pd.Series(TIME, name="time")],
)
def test_other_targets_are_none(y):
    assert survival_target(y) is None


@pytest.mark.parametrize(
    ("time", "event", "words"),
    [
        ([1.0, -2.0], [1, 1], "at least zero, but has -2"),
        ([1.0, np.nan], [1, 1], "missing or infinite"),
        ([1.0, 2.0], [0, 0], "no event"),
        ([1.0, 2.0], [1, 2], "1 for an event and 0 for none, but has"),
        ([3.0, 3.0, 5.0], [1, 1, 0], "all events at one time (3)"),
        ([2.0, 3.0, 1.0], [0, 1, 0], "all events at one time (3)"),
    ],
)
def test_impossible_targets_are_refused_in_one_line(time, event, words):
    with pytest.raises(InputError) as caught:
        survival_records(np.array(time), np.array(event), "'months'", "'died'")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_structured_array_needs_one_boolean_and_one_number():
    for dtype in ([("a", float), ("b", float)], [("a", bool), ("b", bool)], [("a", bool), ("b", "U3")]):
        with pytest.raises(InputError, match="two fields"):
            survival_target(np.zeros(3, dtype))


def pairs_one_by_one(y, risk, v, w):
    """Return the weighted share of ordered pairs by a double loop, from the definition."""
    agree = pairs = 0.0
    for i in np.flatnonzero(y["event"]):
        for j in range(len(y)):
            later = y["time"][i] < y["time"][j]
            if later or (y["time"][i] == y["time"][j] and not y["event"][j]):
                pairs += v[i] * w[j]
                agree += v[i] * w[j] * ((risk[i] > risk[j]) + 0.5 * (risk[i] == risk[j]))
    return agree / pairs


@pytest.fixture
def followed():
    """Times and events with ties in time and in risk."""
    rng = np.random.default_rng(0)
    time, event = np.ceil(rng.exponential(4, 60)), rng.random(60) < 0.6
    return survival_records(time, event), np.round(rng.normal(size=60) - time / 4, 1), rng


def test_concordance_is_the_share_of_ordered_pairs(followed):
    y, risk, rng = followed
    ones = np.ones(60)
    expected = pairs_one_by_one(y, risk, ones, ones)
    assert concordance(y, risk) == pytest.approx(expected, rel=1e-13)
    assert concordance(y, -risk) == pytest.approx(1 - expected, rel=1e-13)
    assert concordance(y, np.zeros(60)) == 0.5
    w = rng.integers(0, 4, 60).astype(float)
    assert concordance(y, risk, w) == pytest.approx(pairs_one_by_one(y, risk, w, w), rel=1e-13)
    copies = np.repeat(np.arange(60), w.astype(int))
    assert concordance(y, risk, w) == pytest.approx(concordance(y[copies], risk[copies]), rel=1e-12)


def test_concordance_without_comparable_pairs_is_no_number():
    y = survival_records([1.0, 2.0, 3.0], [0, 1, 1])[:2]
    assert np.isnan(concordance(y, np.array([1.0, 2.0])))


def censored_later(y, t, strictly):
    """Return the Kaplan-Meier estimate of not being censored before t, or up to t, from its definition."""
    value = 1.0
    for s in np.unique(y["time"][~y["event"]]):
        if s < t or (strictly and s == t):
            at_risk = (y["time"] > s).sum() + (~y["event"] & (y["time"] == s)).sum()
            value *= 1 - (~y["event"] & (y["time"] == s)).sum() / at_risk
    return value


def test_uno_weighs_events_by_the_inverse_of_censoring(followed):
    y, risk, _ = followed
    G = np.array([censored_later(y, t, False) for t in y["time"]])
    np.testing.assert_allclose(CensoringCurve.of(y).before(y["time"]), G, rtol=1e-13)
    found = concordance(y, risk, None, CensoringCurve.of(y))
    assert found == pytest.approx(pairs_one_by_one(y, risk, 1 / G**2, np.ones(60)), rel=1e-12)


def test_the_integrated_brier_score_is_a_mean_of_squares(followed):
    """By time and sample, and then by the trapezoid rule; without censoring a plain mean of squares."""
    y, _, rng = followed
    curve = CensoringCurve.of(y)
    survival = np.sort(rng.random((60, len(curve.grid))), axis=1)[:, ::-1]
    errors = []
    for t, S in zip(curve.grid, survival.T, strict=True):
        one = 0.0
        for (event, time), s in zip(y, S, strict=True):
            if time <= t and event:
                one += s**2 / censored_later(y, time, False)
            elif time > t:
                one += (1 - s) ** 2 / censored_later(y, t, True)
        errors.append(one / 60)
    width = curve.grid[-1] - curve.grid[0]
    expected = np.trapezoid(errors, curve.grid) / width
    assert integrated_brier(y, survival, curve) == pytest.approx(expected, rel=1e-12)


def test_martingale_residuals_are_observed_less_expected_events():
    """The expected events are the Nelson-Aalen estimate at the time of each sample."""
    y = survival_records(TIME, EVENT)
    hazard = {t: (EVENT & (t == TIME)).sum() / (t <= TIME).sum() for t in np.unique(TIME)}
    expected = [sum(rate for t, rate in hazard.items() if t <= own) for own in TIME]
    np.testing.assert_allclose(martingale_residuals(y), EVENT - np.array(expected), atol=1e-14)
    assert martingale_residuals(y).sum() == pytest.approx(0, abs=1e-14)
