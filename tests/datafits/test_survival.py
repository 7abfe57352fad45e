"""Times and events: what is taken for them, what is refused, and Harrell's index."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from infused.datafits import SURVIVAL, concordance, martingale_residuals, survival_records, survival_target
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


def test_concordance_is_the_share_of_ordered_pairs():
    """Against a double loop over all pairs, with ties in time and in risk."""
    rng = np.random.default_rng(0)
    time, event = np.ceil(rng.exponential(4, 40)), rng.random(40) < 0.6
    risk = np.round(rng.normal(size=40) - time / 4, 1)
    agree = pairs = 0.0
    for i in range(40):
        for j in range(40):
            if event[i] and (time[i] < time[j] or (time[i] == time[j] and not event[j])):
                pairs += 1
                agree += (risk[i] > risk[j]) + 0.5 * (risk[i] == risk[j])
    y = survival_records(time, event)
    assert concordance(y, risk) == pytest.approx(agree / pairs, rel=1e-14)
    assert concordance(y, -risk) == pytest.approx(1 - agree / pairs, rel=1e-14)
    assert concordance(y, np.zeros(40)) == 0.5


def test_martingale_residuals_are_observed_less_expected_events():
    """The expected events are the Nelson-Aalen estimate at the time of each sample."""
    y = survival_records(TIME, EVENT)
    hazard = {t: (EVENT & (t == TIME)).sum() / (t <= TIME).sum() for t in np.unique(TIME)}
    expected = [sum(rate for t, rate in hazard.items() if t <= own) for own in TIME]
    np.testing.assert_allclose(martingale_residuals(y), EVENT - np.array(expected), atol=1e-14)
    assert martingale_residuals(y).sum() == pytest.approx(0, abs=1e-14)
