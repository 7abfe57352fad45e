"""What is said of data that hold nothing."""

from __future__ import annotations

import numpy as np
import pytest

import infused


def said(selection):
    return any("better than chance" in note for note in selection.record.data.warnings)


@pytest.fixture(scope="module")
def noise():
    """Selections from twenty data sets without any relation between features and target."""
    random = np.random.default_rng(7)
    found = []
    for n in range(20):
        X = random.normal(size=(60, 30))
        y = random.integers(0, 2 + n % 5, size=60) if n % 2 else random.normal(size=60)
        task = "regression" if n % 2 == 0 else None
        found.append(infused.select((X, y), k=30, method="anova", task=task, folds=0))
    return found


def test_noise_explains_nothing_on_average(noise):
    means = [selection.table["alone"].mean() for selection in noise]
    assert abs(np.mean(means)) <= 2 * np.std(means, ddof=1) / np.sqrt(len(means))
    assert min(selection.table["alone"].min() for selection in noise) < 0, "corrected, not clipped"


def test_the_selection_says_that_nothing_beats_chance(noise):
    assert sum(map(said, noise)) >= 17, "of twenty; one in twenty is expected to miss"


def test_one_real_feature_is_enough_to_say_nothing():
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 30))
    assert not said(infused.select((X, (X[:, 3] > 0).astype(int)), k=3, method="anova", folds=0))
