"""The kind of a target of whole numbers: one rule, whatever the number of samples."""

from __future__ import annotations

import numpy as np
import pytest

from infused._runtime.checks import are_classes, in_doubt


def counts(n, mean=5.0, shape=1.5, seed=0):
    return np.random.default_rng(seed).negative_binomial(shape, shape / (shape + mean), n)


@pytest.mark.parametrize("n_each", [1, 2, 8, 10, 200])
@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("n_classes", [3, 15, 40, 68])
def test_numbered_codes_are_classes_however_many_samples_they_have(n_classes, first, n_each):
    y = np.repeat(first + np.arange(n_classes), n_each)
    assert are_classes(y) and are_classes(y.astype(float)) and not in_doubt(y)


def test_a_fold_may_miss_a_class():
    y = np.setdiff1d(np.arange(40), [7, 23]).repeat(3)
    assert are_classes(y)


@pytest.mark.parametrize("n", [300, 3000])
@pytest.mark.parametrize("seed", range(5))
def test_counts_and_measured_values_are_numbers(n, seed):
    rng = np.random.default_rng(seed)
    visits, stay = counts(n, seed=seed), 1 + counts(n, mean=8.0, seed=seed)
    pollution = np.exp(rng.normal(4, 1, n)).round()
    prices = 10 * rng.integers(100, 400, n)
    ages = rng.integers(18, 91, n)
    for y in (visits, stay, pollution, prices, ages):
        assert not are_classes(y) and in_doubt(y)


@pytest.mark.parametrize("seed", range(5))
def test_where_samples_are_too_few_to_tell_the_doubt_is_said(seed):
    y = counts(60, mean=8.0, seed=seed)
    assert in_doubt(y)


@pytest.mark.parametrize("n", [12, 15])
def test_a_small_table_of_prices_is_no_table_of_classes(n):
    assert not are_classes(np.random.default_rng(n).permutation(np.arange(100, 900, 7))[:n])


@pytest.mark.parametrize("values", [[-1, 1], [3, 5, 8], [1, 5, 100], [10, 20, 30], [2**60, 2**61, 2**62]])
def test_few_values_are_classes(values):
    y = np.repeat(values, 4)
    assert are_classes(y) and not in_doubt(y)


def test_uneven_classes_in_no_order_are_classes_but_said_to_be_in_doubt():
    rng = np.random.default_rng(3)
    times = rng.permutation(np.geomspace(3, 400, 30).astype(int))
    y = np.repeat(np.arange(30), times)
    assert are_classes(y) and in_doubt(y)


def test_texts_are_classes_and_fractions_are_not():
    assert are_classes(np.array(["1", "2"])) and not in_doubt(np.array(["1", "2"]))
    assert not are_classes(np.array([1.0, 1.5])) and not in_doubt(np.array([1.0, 1.5]))


def test_a_part_of_the_samples_is_of_the_same_kind_as_all():
    rng = np.random.default_rng(0)
    for y in (np.arange(400) % 40, counts(400, seed=1), rng.integers(100, 700, 400)):
        kinds = {are_classes(rng.choice(y, n, replace=False)) for n in (150, 200, 300, 400)}
        assert len(kinds) == 1
