"""How sure a selection is, in words: what halves and shadows say must not contradict each other."""

from __future__ import annotations

from dataclasses import replace

import pytest

from infused.record.sentences import how_sure
from infused.record.trust import Shadows, Stability
from tests.record.records import cells_record

NOTHING = "in 100 random halves of the samples, no feature was chosen 75 times or more"
COPIES = "shuffled copies of the features, which say nothing of the target"


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
        stability=Stability(
            50, 0, 8.0, 0.75, n_stable, 0.4, "r-concave", (0.9,) * n_stable + (0.1,) * (30 - n_stable)
        ),
        shadows=Shadows(5, n_shadows, len(wins), n_beaten, n_features / (n_shadows + 1)),
    )


def test_few_halves_are_counted_up_to_the_threshold():
    """4 of 6 are not three quarters."""
    base = record(1)
    first = base.selected[0].index
    frequencies = tuple(5 / 6 if j == first else 4 / 6 for j in range(30))
    said = how_sure(replace(base, stability=replace(base.stability, n_pairs=3, frequencies=frequencies)))
    assert (
        "In 6 random halves of the samples, 1 of the 8 selected features was chosen 5 times or more" in said
    )


def test_better_than_chance_and_not_stable_is_one_sentence():
    said = how_sure(record())
    assert said == (
        "The selected features tell more of the target than chance does, but other samples could have led to "
        f"others in their place: all 8 were ahead of all {COPIES}, in each of 5 trials; yet {NOTHING}. The "
        "page names features that could stand in for some of them."
    )
    most = how_sure(record(wins=(1.0,) * 6 + (0.6, 0.4), stand_ins=False))
    assert "6 of 8 were ahead of all" in most and most.endswith(f"yet {NOTHING}.")
    assert "may be chance" not in said + most


@pytest.mark.parametrize(
    ("given", "ending"),
    [
        (
            {"wins": (1.0,)},
            f"the selected feature does better than {COPIES}, but by chance about one of the 30",
        ),
        ({"wins": (1.0,) * 3 + (0.8,) * 5}, "all 8 do better than"),  # fewer than half each time
        (
            {"n_features": 20_000, "n_shadows": 1000},  # four would be ahead each time, and twenty once
            f"all 8 do better than {COPIES}, but by chance about 20 of the 20,000 features would, too.",
        ),
    ],
)
def test_to_beat_few_shadows_is_no_proof(given, ending):
    said = how_sure(record(**given))
    assert said.startswith(f"Nothing is stable: {NOTHING}. What was selected may be chance: {ending}")


def test_what_shadows_beat_may_be_chance():
    assert how_sure(record(wins=(0.0,) * 8)) == (
        f"Nothing is stable: {NOTHING}. What was selected may be chance. Shuffled copies of the features, "
        "which say nothing of the target, do as well as all 8 selected features."
    )
    assert how_sure(replace(record(), shadows=None)).endswith("What was selected may be chance.")


def test_what_is_stable_is_told_with_what_chance_would_do():
    few = how_sure(record(2))
    assert few.startswith("In 100 random halves") and few.endswith(f"All 8 do better than {COPIES}.")
    many = how_sure(record(2, n_features=7000, n_shadows=1000))
    assert many.endswith(f"{COPIES}; by chance, about 7 of the 7,000 features would.")
    alone = how_sure(replace(record(), stability=None))
    assert alone == f"All 8 do better than {COPIES}."


def crowded(**given):
    """A half chooses nearly all: nearly all are chosen again, whatever they say."""
    made = record(26, **given)
    return how_sure(replace(made, stability=replace(made.stability, per_half=25.4, expected_false=30.0)))


def test_where_a_half_chooses_nearly_all_frequencies_say_nothing():
    crowd = (
        "in 100 random halves of the samples, 26 features were chosen 75 times or more, but as many could be "
        "by chance, for a half chose 25 of the 30 features. Ask for fewer of them to tell"
    )
    assert crowded(wins=(0.0,) * 8) == (
        f"Nothing is more stable than chance: {crowd}. What was selected may be chance. Shuffled copies of "
        "the features, which say nothing of the target, do as well as all 8 selected features."
    )
    assert crowded() == (
        f"Whether they would be chosen again cannot be told: {crowd}. All 8 do better than {COPIES}."
    )
