"""The verdict: warnings first, then whether the features predict, whether they are stable, and what to do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import infused
from infused.record.sentences import gravity, predicts, score_sentences, verdict
from infused.selectors.choose.number import NumberCurve
from tests.record.records import cells_record


def curve(mean, error, *, ks=(8,), chance=0.6, whole=0.9, model="linear"):
    n = len(ks)
    return NumberCurve("accuracy", 5, ks, (mean,) * n, (error,) * n, chance, whole, ks[-1], ks[-1], model)


def scored(score, **data):
    record = cells_record()
    return replace(record, score=score, data=replace(record.data, **data))


def test_all_features_are_not_compared_with_themselves():
    some = scored(curve(0.9, 0.01), chance=1e-9)
    assert "(all 30 features " in score_sentences(some)
    whole = replace(some, data=replace(some.data, n_features=some.score.chosen))
    assert "all " not in score_sentences(whole) and "majority class" in score_sentences(whole)


def labels(record):
    return [one.label for one in verdict(record)]


def test_the_questions_are_answered_in_order():
    record = scored(curve(0.95, 0.01), chance=1e-9)
    assert labels(record) == ["Result", "Prediction", "Stability", "Next"]
    assert gravity(verdict(record)) == "good"
    leaking = scored(curve(1.0, 0.0), chance=1e-9, leaks=("x",), warnings=("possible leakage: x",))
    first, *others = verdict(leaking)
    assert (first.label, first.severity) == ("Warning", "warning") and "leakage" in first.text
    assert "good" not in {one.severity for one in others}, "a leak makes the score look good"
    assert "known only afterwards" in others[-1].text


@pytest.mark.parametrize(
    ("score", "chance", "expected"),
    [
        (curve(0.65, 0.005), 0.9, True),
        (curve(0.65, 0.02), 0.9, False),  # t = 1.7 with 4 degrees of freedom
        (curve(0.65, 0.005, ks=tuple(range(1, 41))), 0.9, False),  # the best of many is better by chance
        (curve(0.65, 0.02), 1e-6, True),  # single features predict
        (curve(0.55, 0.001), 1e-6, False),  # below chance
        (curve(0.65, 0.0), 0.9, True),  # all folds alike
        (curve(0.65, float("nan")), 0.9, False),
        (None, 1e-6, False),
    ],
)
def test_whether_a_score_is_better_than_chance(score, chance, expected):
    record = scored(score, chance=chance, warnings=("no single feature predicts it",) * (chance > 0.05))
    assert predicts(record) is expected
    warned = any("no single feature" in one.text.lower() for one in verdict(record))
    assert warned == (chance > 0.05 and not expected), "features together may predict where none does alone"
    said = next(one for one in verdict(record) if one.label == "Prediction")
    if score is not None:
        assert ("not predict" in said.text) != expected
        assert said.severity == ("good" if expected else "warning")


def test_how_often_noise_is_said_to_predict():
    """One time in twenty at most, of the best of four numbers by two models."""
    rng = np.random.default_rng(0)
    wrong = 0
    for _ in range(400):
        folds = rng.normal(0.5, 0.05, size=(8, 5))
        best = folds[folds.mean(axis=1).argmax()]
        score = curve(best.mean(), best.std(ddof=1) / 5**0.5, ks=(1, 2, 3, 8), chance=0.5)
        wrong += predicts(scored(score, chance=0.9))
    assert wrong <= 400 * 0.05


def test_the_number_on_noise_concludes():
    record = replace(scored(None, chance=0.7), number=curve(0.61, 0.03, ks=(1, 2, 3)))
    said = {one.label: one.text for one in verdict(record)}
    assert said["Number of features"].startswith("None predicts clearly better than chance.")
    assert said["Next"].startswith("Do not rely on these features.")


def test_more_features_are_proposed_where_all_predict_better():
    assert "select more" in verdict(scored(curve(0.8, 0.01, whole=0.95)))[-1].text


def test_few_samples_are_a_warning():
    first = verdict(scored(curve(0.95, 0.01), n_samples=30))[0]
    assert (first.label, first.severity) == ("Warning", "caution")
    assert first.text.startswith("Only 30 samples")


def test_stable_features_that_were_not_selected_are_named():
    found = infused.select("wine", k=2, method="anova", stability=20, folds=0)
    stability = replace(found.record.stability, frequencies=(0.9,) * 13, n_stable=13)
    said = {one.label: one.text for one in verdict(replace(found.record, stability=stability))}
    others = [name for name in found.record.features.names if name not in found.features]
    assert f"Also stable, but not selected: {', '.join(others[:8])} and 3 more." in said["Stability"]


def test_imbalance_is_read_first():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    y = np.arange(200) < 180
    X[:, 0] += 3 * y
    found = infused.select((X, np.where(y, "well", "ill")), k=2, method="anova", stability=0)
    assert str(found).startswith("Warning: 90.0% of the samples are 'well'")


def test_parts_of_the_target_are_a_possible_leak():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 6))
    record = infused.select((X, X[:, 0] + X[:, 1]), k=2, folds=3, stability=0).record
    assert record.data.leaks == () and record.selected and predicts(record)
    first, *others = verdict(record)
    assert (first.label, first.severity) == ("Warning", "warning") and "together predict" in first.text
    assert "good" not in {one.severity for one in others if one.label == "Prediction"}
    assert "known only afterwards" in others[-1].text
    noisy = infused.select((X, X[:, 0] + X[:, 1] + 0.1 * rng.normal(size=200)), k=2, folds=3, stability=0)
    assert "leakage" not in str(verdict(noisy.record))
