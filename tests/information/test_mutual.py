"""Mutual information, against scikit-learn and against its definition, on all counters."""

from __future__ import annotations

from collections import Counter
from math import log

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import mutual_info_score

from infused import config_context
from infused._runtime.threads import Workers
from infused.exceptions import MemoryBudgetError
from infused.information import mutual as counting
from infused.information.discrete import DenseCodes, discretize
from infused.information.mutual import (
    EntryCounter,
    MutualInformation,
    PlaneCounter,
    TableCounter,
    joint_information,
)

COUNTERS = {
    "tables": (float("inf"), 0, TableCounter),
    "planes": (0, float("inf"), PlaneCounter),
    "entries": (0, 0, EntryCounter),
}


def force(monkeypatch, name):
    """One of the ways of counting, for all data."""
    few, cost, kind = COUNTERS[name]
    monkeypatch.setattr(counting, "FEW_ENTRIES", few)
    monkeypatch.setattr(counting, "ENTRY_COST", cost)
    return kind


@pytest.fixture(params=list(COUNTERS))
def counter(request, monkeypatch):
    return force(monkeypatch, request.param)


def information_of(X, y, n_bins=5):
    return MutualInformation.build(discretize(X, n_bins), y, Workers(None))


def definition(*columns, y):
    """Mutual information of several columns together with y, from dictionaries of frequencies."""
    n = len(y)
    together = list(zip(*columns, strict=True))
    joint, first, second = Counter(zip(together, y, strict=True)), Counter(together), Counter(y)
    return sum(c / n * log(c * n / (first[a] * second[b])) for (a, b), c in joint.items())


def some_data(rng):
    X = np.column_stack(
        [
            rng.integers(0, 3, size=(131, 4)),
            rng.poisson(0.4, size=(131, 4)),
            rng.normal(size=(131, 3)),
            np.full(131, 2.0),
        ]
    )
    X[:, 5] = 1.0 - X[:, 0]  # the same counts in another order
    y = rng.choice(4, p=[0.5, 0.3, 0.15, 0.05], size=131)
    return X, y


def test_with_the_target_and_with_a_feature(counter, rng):
    X, y = some_data(rng)
    codes = discretize(X).codes
    info = information_of(X, y)
    assert isinstance(info.counter, counter)
    expected = [mutual_info_score(row, y) for row in codes]
    np.testing.assert_allclose(info.with_target(), expected, atol=1e-14)
    for s, row in enumerate(codes):
        expected = [mutual_info_score(row, other) for other in codes]
        np.testing.assert_allclose(info.with_feature(s), expected, atol=1e-14)


def test_with_a_feature_and_the_target(counter, rng):
    X, y = some_data(rng)
    codes = discretize(X).codes.tolist()
    info = information_of(X, y)
    for s, row in enumerate(codes):
        expected = [definition(row, other, y=y.tolist()) for other in codes]
        np.testing.assert_allclose(info.with_feature_and_target(s), expected, atol=1e-14)


def test_the_joint_matrix(counter, rng):
    X, y = some_data(rng)
    codes = discretize(X)
    W = joint_information(codes, y)
    rows = codes.codes.tolist()
    expected = [[definition(a, b, y=y.tolist()) for a in rows] for b in rows]
    np.testing.assert_allclose(W, expected, atol=1e-14)
    np.testing.assert_array_equal(W, W.T)
    np.testing.assert_array_equal(np.diag(W), information_of(X, y).with_target())
    np.testing.assert_array_equal(joint_information(codes, y, n_jobs=2), W)
    np.testing.assert_array_equal(joint_information(discretize(sp.csr_array(X)), y), W)


def test_many_features_are_mirrored_and_blocked(rng):
    """More features than a tile and more planes than are counted side by side."""
    X, y = rng.integers(0, 3, size=(40, 1100)), rng.integers(0, 2, size=40)
    codes = discretize(X)
    W = joint_information(codes, y, n_jobs=2)
    np.testing.assert_array_equal(W, W.T)
    info = MutualInformation.build(codes, y, Workers(None))
    for s in (0, 511, 512, 1099):
        np.testing.assert_array_equal(W[s], info.with_feature_and_target(s))
        j = int(rng.integers(1100))
        assert W[s, j] == pytest.approx(definition(X[:, s], X[:, j], y=y.tolist()), abs=1e-13)


@pytest.mark.parametrize("sizes", [(1, 63), (64, 64), (65, 127), (128, 129, 1), (3,) * 90])
def test_all_counters_agree_to_the_bit(sizes, monkeypatch, rng):
    y = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    X = rng.normal(size=(len(y), 9)) * rng.integers(0, 2, size=(len(y), 9))
    X[:, :4] = np.round(rng.normal(size=(len(y), 4)), 1)  # zero is one value of many
    results = []
    for name in COUNTERS:
        force(monkeypatch, name)
        for data in (X, sp.csc_array(X)):
            info = information_of(data, y)
            pairs = [info.with_feature(3), info.with_feature_and_target(3), info.with_target()]
            results.append(np.array([*pairs, *joint_information(discretize(data), y)]))
    for other in results[1:]:
        np.testing.assert_array_equal(other, results[0])


def test_features_with_many_codes(counter, rng):
    X, y = rng.integers(0, 256, size=(700, 7)), rng.integers(0, 3, size=700)
    info = information_of(X, y, n_bins=256)
    assert info.counter.features.shape == (7,)
    expected = [mutual_info_score(X[:, 2], column) for column in X.T]
    np.testing.assert_allclose(info.with_feature(2), expected, atol=1e-13)
    expected = [definition(X[:, 2], column, y=y) for column in X.T]
    np.testing.assert_allclose(info.with_feature_and_target(2), expected, atol=1e-13)


def test_the_same_counts_in_any_order_have_the_same_bits(counter, rng):
    """Codes, classes and samples by other names and in another order."""
    X, y = rng.integers(0, 5, size=(97, 6)).astype(np.uint8), rng.integers(0, 4, size=97)
    samples = rng.permutation(97)
    renamed = np.array([3, 0, 4, 1, 2], dtype=np.uint8)[X]
    codes = DenseCodes(X.T.copy(), np.full(6, 5))
    others = DenseCodes(renamed[samples].T.copy(), np.full(6, 5))
    y_others = np.array([2, 3, 1, 0])[y][samples]
    np.testing.assert_array_equal(joint_information(codes, y), joint_information(others, y_others))


def test_independence_is_exactly_zero(counter):
    X = np.array([[a, b, c] for a in range(3) for b in range(4) for c in range(5)] * 7)
    info = information_of(X[:, :2], X[:, 2])
    assert not info.with_target().any()
    assert info.with_feature(0)[1] == 0.0
    assert not joint_information(discretize(X[:, :2]), X[:, 2]).any()
    assert not joint_information(discretize(X), np.zeros(len(X), np.int64)).any()


def test_a_part_of_the_features(counter, rng):
    X, y = some_data(rng)
    whole = information_of(X, y)
    part = whole.restricted(np.array([1, 4, 8])).restricted(np.array([4, 8]))
    assert part.counter.features.tolist() == [4, 8]
    for full, some in (
        (whole.with_target(), part.with_target()),
        (whole.with_feature(4), part.with_feature(4)),
        (whole.with_feature_and_target(8), part.with_feature_and_target(8)),
    ):
        np.testing.assert_array_equal(some[[4, 8]], full[[4, 8]])
        assert not np.delete(some, [4, 8]).any()


def test_the_counter_follows_the_data(rng):
    y = np.arange(2000) % 2
    chosen = {
        TableCounter: [rng.normal(size=(2000, 3)), sp.random_array((2000, 20), density=0.01, rng=rng)],
        PlaneCounter: [rng.normal(size=(2000, 70)), sp.random_array((2000, 70), density=0.1, rng=rng)],
        EntryCounter: [sp.random_array((2000, 70), density=0.002, rng=rng)],
    }
    for kind, data in chosen.items():
        for X in data:
            assert isinstance(information_of(X, y).counter, kind)
    assert isinstance(information_of(rng.normal(size=(2000, 70)), y, n_bins=200).counter, EntryCounter)


def test_what_does_not_fit_is_refused_first():
    codes = DenseCodes(np.zeros((1000, 4), np.uint8), np.ones(1000, np.int64))
    words = r"of 1000 features needs 8 MB.*fewer features"
    with config_context(memory_budget="1MB"), pytest.raises(MemoryBudgetError, match=words):
        joint_information(codes, np.array([0, 1, 0, 1]))
    with pytest.raises(ValueError, match="y has 3 codes, but the features have 4 samples"):
        joint_information(codes, np.array([0, 1, 0]))
