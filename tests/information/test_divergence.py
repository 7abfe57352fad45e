"""Jensen-Shannon divergence: against its definition, SciPy, and its laws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.distance import jensenshannon

from infused import jensen_shannon, similarity
from infused.exceptions import InputError
from tests.reference import entropy, jsd

shapes = st.tuples(st.integers(2, 5), st.integers(1, 12))
positive = st.floats(0, 1, allow_subnormal=False)


@st.composite
def several_distributions(draw):
    rows = draw(arrays(float, draw(shapes), elements=positive))
    rows = rows + 1e-9 * (rows.sum(axis=1, keepdims=True) == 0)
    return rows / rows.sum(axis=1, keepdims=True)


@given(several_distributions())
def test_it_is_the_entropy_of_the_mean_less_the_mean_entropy(P):
    assert jensen_shannon(*P) == pytest.approx(jsd(*P), abs=1e-14)


@given(several_distributions())
def test_it_lies_between_zero_and_log_n(P):
    assert 0 <= jensen_shannon(*P) <= np.log(len(P)) + 1e-14
    assert 1 / len(P) - 1e-14 <= similarity(*P) <= 1


@given(several_distributions(), st.data())
def test_order_does_not_matter(P, data):
    order = data.draw(st.permutations(range(len(P))))
    assert jensen_shannon(*P[list(order)]) == pytest.approx(jensen_shannon(*P), abs=1e-15)


@given(several_distributions())
def test_equal_distributions_are_at_zero(P):
    assert jensen_shannon(P[0], P[0], P[0]) == pytest.approx(0, abs=1e-15)


def test_disjoint_distributions_are_at_log_n():
    assert jensen_shannon(*np.eye(4)) == pytest.approx(np.log(4))


def test_two_distributions_agree_with_scipy(rng):
    p, q = rng.dirichlet(np.ones(20), size=2)
    assert jensen_shannon(p, q) == pytest.approx(jensenshannon(p, q) ** 2, rel=1e-12)


def test_weights(rng):
    P, w = rng.dirichlet(np.ones(8), size=3), np.array([0.5, 0.3, 0.2])
    expected = entropy(w @ P) - w @ [entropy(p) for p in P]
    assert jensen_shannon(*P, weights=w) == pytest.approx(expected, abs=1e-15)
    assert jensen_shannon(*P, weights=[1, 0, 0]) == 0


def test_columns_are_compared_one_by_one(rng):
    P, Q = (rng.dirichlet(np.ones(9), size=4).T for _ in range(2))
    result = jensen_shannon(P, Q)
    np.testing.assert_allclose(result, [jensen_shannon(P[:, i], Q[:, i]) for i in range(4)])
    np.testing.assert_allclose(similarity(P, Q), np.exp(-result))


half = [0.5, 0.5]


@pytest.mark.parametrize(
    ("distributions", "weights", "message"),
    [
        ([half], None, "At least two"),
        ([half, [0.5, 0.4]], None, "Distribution 1 does not sum to one"),
        ([half, [1.5, -0.5]], None, "Distribution 1 has entries that are negative"),
        (
            [[np.nan, 1.0], half],
            None,
            "Distribution 0 has entries that are negative, infinite or not a number",
        ),
        ([half, [0.2, 0.3, 0.5]], None, "one shape"),
        ([half, []], None, "Distribution 1 is empty"),
        ([half, ["a", "b"]], None, "Distribution 1 has dtype"),
        ([half, half], [0.5, 0.6], "sum one"),
        ([half, half], [1.0], "2 non-negative numbers"),
        ([half, half], [1.5, -0.5], "non-negative"),
    ],
)
def test_bad_input_is_refused(distributions, weights, message):
    with pytest.raises(InputError, match=message):
        jensen_shannon(*distributions, weights=weights)
