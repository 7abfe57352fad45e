"""The sentences on stability and on permuted features must not contradict each other."""

from __future__ import annotations

from dataclasses import replace

import pytest

from infused.record.schema import SelectionStability, Shadows
from infused.record.sentences import stability_sentences
from infused.selectors.choose.number import NumberCurve
from tests.record.records import cells_record

NOTHING = "No feature is stable: none was selected in at least 75 of 100 half-samples."
PERMUTED = "randomly permuted features"


def record(n_stable=0, *, wins=(1.0,) * 8, n_features=30, n_shadows=30, stand_ins=True):
    """Eight features, or as many as have wins, in front of these shadows."""
    base = cells_record()
    selected = tuple(
        replace(one, wins=win, stand_ins=one.stand_ins if stand_ins else ())
        for one, win in zip(base.selected, wins, strict=False)
    )
    n_beaten = sum(win <= 0.5 for win in wins)
    return replace(
        base,
        selected=selected,
        stability=SelectionStability(
            50, 0, 8.0, 0.75, n_stable, 0.4, "r-concave", (0.9,) * n_stable + (0.1,) * (30 - n_stable)
        ),
        shadows=Shadows(5, n_shadows, len(wins), n_beaten, n_features / (n_shadows + 1)),
    )


def test_few_half_samples_are_counted_up_to_the_threshold():
    """4 of 6 are not three quarters."""
    base = record(1)
    first = base.selected[0]
    frequencies = tuple(5 / 6 if j == first.index else 4 / 6 for j in range(30))
    few = replace(base, stability=replace(base.stability, n_pairs=3, frequencies=frequencies))
    assert stability_sentences(few).startswith(
        f"1 of the 8 selected features is stable (selected in at least 5 of 6 half-samples): {first.name}. "
        "Expected false selections: at most 0.4."
    )


def test_better_than_chance_although_not_stable():
    said = stability_sentences(record())
    assert said == (
        f"{NOTHING} Yet the selected features are better than chance: all 8 were ahead of all {PERMUTED} in "
        "each of 5 trials. Other samples could have led to other features in their place; the page lists "
        "some that could replace them."
    )
    most = stability_sentences(record(wins=(1.0,) * 6 + (0.6, 0.4), stand_ins=False))
    assert "6 of 8 were ahead of all" in most and most.endswith("in their place.")
    assert "may be chance" not in said + most


@pytest.mark.parametrize("n_stable", [0, 7])
def test_features_that_predict_are_not_called_chance(n_stable):
    """What depends on the samples is which of them are selected; and a leak is what to look at."""
    doubtful = record(n_stable, wins=(0.4,) * 8)
    doubtful = replace(doubtful, stability=replace(doubtful.stability, expected_false=8.0))
    assert "may be chance" in stability_sentences(doubtful)
    predicting = replace(doubtful, data=replace(doubtful.data, chance=1e-6))
    said = stability_sentences(predicting)
    assert "may be chance" not in said
    assert said.endswith(
        "Yet features predict diagnosis better than chance: other samples could have led to "
        "other features in their place."
    )
    leaking = replace(doubtful, data=replace(doubtful.data, leaks=("worst radius",)))
    assert "chance" not in stability_sentences(leaking).removeprefix(stability_sentences(leaking)[:120])


@pytest.mark.parametrize(
    ("given", "ending"),
    [
        (
            {"wins": (1.0,)},
            f"the selected feature outperforms {PERMUTED}, but by chance about one of the 30 features would",
        ),
        ({"wins": (1.0,) * 3 + (0.8,) * 5}, f"all 8 outperform {PERMUTED}"),  # fewer than half each time
        (
            {"n_features": 20_000, "n_shadows": 1000},  # four would be ahead each time, and twenty once
            f"all 8 outperform {PERMUTED}, but by chance about 20 of the 20,000 features would, too.",
        ),
    ],
)
def test_to_beat_few_shadows_is_no_proof(given, ending):
    said = stability_sentences(record(**given))
    assert said.startswith(f"{NOTHING} The selection may be chance: {ending}")


def test_features_that_shadows_beat_may_be_chance():
    assert stability_sentences(record(wins=(0.0,) * 8)) == (
        f"{NOTHING} The selection may be chance. All 8 selected features do no better than {PERMUTED}."
    )
    assert stability_sentences(replace(record(), shadows=None)).endswith("The selection may be chance.")
    few = record(2, wins=(1.0,) * 6 + (0.5, 0.0))
    names = ", ".join(one.name for one in few.selected[6:])
    assert stability_sentences(few).endswith(
        f"2 of the 8 selected features do no better than {PERMUTED}: {names}."
    )


def test_stable_features_are_reported_with_what_chance_would_do():
    few = stability_sentences(record(2))
    assert "Expected false selections among all 2 stable features: at most 0.4." in few
    assert few.endswith(f"All 8 outperform {PERMUTED}.")
    many = stability_sentences(record(2, n_features=7000, n_shadows=1000))
    assert many.endswith(f"{PERMUTED} (by chance, about 7 of the 7,000 features would).")
    assert stability_sentences(replace(record(), stability=None)) == f"All 8 outperform {PERMUTED}."
    assert stability_sentences(record(2, wins=(1.0, 1.0))).endswith(f"Both outperform {PERMUTED}.")


def crowded(**given):
    """A half-sample selects nearly all features, so that nearly all are stable."""
    made = record(26, **given)
    return stability_sentences(
        replace(made, stability=replace(made.stability, per_half=25.4, expected_false=30.0))
    )


def test_where_a_half_sample_selects_nearly_all_stability_is_inconclusive():
    crowd = (
        "Inconclusive: a half-sample selects 25 of only 30 features, so that chance alone could "
        "explain all 26 that are stable. Try a smaller k."
    )
    assert crowded(wins=(0.0,) * 8) == (
        f"{crowd} The selection may be chance. All 8 selected features do no better than {PERMUTED}."
    )
    assert crowded() == f"{crowd} All 8 outperform {PERMUTED}."
    alone = record(1, wins=(0.0,) * 8)
    alone = replace(alone, stability=replace(alone.stability, per_half=25.4, expected_false=30.0))
    assert "chance alone could explain the one that is stable." in stability_sentences(alone)


def test_one_feature_is_no_plural():
    other = record(1, wins=(1.0,))
    frequencies = tuple(0.9 * (j != other.selected[0].index and j == 29) for j in range(30))
    other = replace(other, stability=replace(other.stability, frequencies=frequencies))
    assert "Expected false selections among the one stable feature: at most 0.4." in stability_sentences(
        other
    )


def test_what_does_not_predict_is_not_said_to_predict():
    """A single feature may predict while those that were selected do not."""
    doubtful = replace(record(), shadows=None)
    doubtful = replace(doubtful, data=replace(doubtful.data, chance=1e-6))
    assert "predict diagnosis better than chance" in stability_sentences(doubtful)
    curve = NumberCurve("accuracy", 5, (8,), (0.49,), (0.02,), 0.5, 0.48, 8, 8)
    failed = stability_sentences(replace(doubtful, score=curve))
    assert "predict" not in failed and failed.endswith("The selection may be chance.")
