"""The factorisation of phi(x + y): its error on the box, and what it is made of."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from infused.information.separable import Box, PhiFactors


def phi(s):
    return s * np.log(s)


BOXES = {
    "faces": Box((0.6, 2.24), (0.6, 1.13)),
    "speech": Box((0.134, 2.45), (0.134, 1.21)),
    "text": Box((0.0025, 2.11), (0.0025, 1.11)),
    "outliers": Box((0.5, 864.0), (0.5, 864.0)),
    "nearly constant": Box((0.999, 2.001), (0.999, 1.001)),
    "a point": Box((1.0, 1.0), (1.0, 1.0)),
    "below the anchor": Box((1e-4, 1e-3), (1e-4, 1e-3)),
}


@pytest.mark.parametrize("tolerance", [1e-6, 5e-11])
@pytest.mark.parametrize("name", BOXES)
def test_the_stated_error_holds_everywhere_on_the_box(name, tolerance, rng):
    box = BOXES[name]
    factors = PhiFactors(box, tolerance)
    assert factors.error <= tolerance
    x, y = (np.exp(rng.uniform(*np.log(side), size=800)) for side in (box.x, box.y))
    x[:2], y[:2] = box.x, box.y
    L, R = factors.evaluate(x)[0], factors.evaluate(y)[1]
    sums = L @ R.T + phi(x + 1)[:, None] + phi(1 + y) - phi(2.0)
    error = np.abs(sums - phi(x[:, None] + y))
    relative = error / np.maximum(1, (x[:, None] + y) / 3)  # large values are rare: their mean is one
    assert min(error.max(), 2 * relative.max()) <= factors.error + 1e-13


def test_the_mean_error_of_distributions_with_outliers(rng):
    """Euclidean graphs put much of their mass on an outlier, where the error may be larger."""
    P = rng.standard_cauchy(size=(40, 800)) ** 2
    P /= P.mean(axis=1, keepdims=True)
    P = np.maximum(P, 0.2)
    P /= P.mean(axis=1, keepdims=True)
    assert P.max() > 300
    factors = PhiFactors(Box((P.min(), P.max()), (P.min(), P.max())), 5e-11)
    for p, q in pairwise(P):
        product = (factors.evaluate(p)[0] * factors.evaluate(q)[1]).sum(axis=1)
        error = np.mean(product + phi(p + 1) + phi(1 + q) - phi(2.0)) - np.mean(phi(p + q))
        assert abs(error) <= factors.error <= 5e-11


def test_rank_is_small_and_grows_with_precision():
    box = BOXES["speech"]
    ranks = [PhiFactors(box, tolerance).rank for tolerance in (1e-4, 1e-7, 1e-10)]
    assert ranks == sorted(ranks)
    assert ranks[-1] <= 9


def test_an_error_that_cannot_be_reached_is_told():
    factors = PhiFactors(BOXES["speech"], 1e-18)
    assert 1e-18 < factors.error < 1e-11


def test_both_factors_and_weights(rng):
    factors = PhiFactors(BOXES["speech"], 1e-9)
    P, T = rng.uniform(0.2, 1.2, size=(3, 5)), rng.uniform(0.5, 1.2, size=(3, 2))
    codes = np.array([0, 1, 1, 0, 1])
    left, right = np.empty((3, 5 * factors.rank)), np.empty((3, 5 * factors.rank))
    factors.fill(P, T, codes, (0.25, -2.0), left, right)
    for i in range(3):
        at_p, right_at_p = factors.evaluate(P[i])
        at_sum, _ = factors.evaluate(P[i] + T[i, codes])
        np.testing.assert_allclose(left[i].reshape(5, -1), 0.25 * at_sum - 2.0 * at_p, atol=1e-15)
        np.testing.assert_array_equal(right[i].reshape(5, -1), right_at_p)


def test_wider_boxes_get_more_nodes():
    assert BOXES["faces"].nodes() <= BOXES["text"].nodes()
    assert math.isclose(BOXES["faces"].whole_pieces().x[0], 0.6, rel_tol=0.01)
