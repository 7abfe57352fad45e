"""The curve of a relation: means by value, smooth along numbers, shares of classes."""

from __future__ import annotations

import numpy as np
import pytest

from infused import relation_curve
from infused.exceptions import InputError


def test_few_values_have_the_mean_at_each():
    f = np.array([2.0, 1.0, 2.0, np.nan, 1.0, 1.0])
    curve = relation_curve(f, [0.5, 1.5, 1.0, 99.5, 2.5, 3.5])
    assert curve.values.tolist() == [1.0, 2.0]
    assert curve.target.ravel().tolist() == [2.5, 0.75]
    assert curve.samples.tolist() == [3.0, 2.0]


def test_a_square_is_seen_as_one():
    rng = np.random.default_rng(0)
    f = rng.normal(size=2000)
    curve = relation_curve(f, f**2 + 0.1 * rng.normal(size=2000))
    inner = np.abs(curve.values) < 1  # beyond, a falling density pulls the means inwards
    np.testing.assert_allclose(curve.target[inner, 0], curve.values[inner] ** 2, atol=0.1)
    assert len(curve.values) == 50


def test_classes_have_shares_that_sum_to_one():
    rng = np.random.default_rng(0)
    f = rng.normal(size=900)
    y = np.array(["no", "yes", "rather"])[np.digitize(f, [-0.5, 0.5])]
    curve = relation_curve(f, y, n_points=20)
    np.testing.assert_allclose(curve.target.sum(axis=1), 1.0)
    assert np.argmax(curve.target[0]) == 0 and np.argmax(curve.target[-1]) == 1  # no, rather, yes are sorted


def test_one_point_is_no_curve():
    with pytest.raises(InputError, match="at least two points"):
        relation_curve([1.0, 2.0], [0.5, 1.5], n_points=1)
