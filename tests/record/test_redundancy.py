"""Redundancy against NumPy's correlation and a slow complete-linkage clustering."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.stats.contingency import association

from infused.record.redundancy import absolute_correlation, block_correlation, redundancy_groups


def slow_groups(matrix, threshold):
    """Join the two groups whose worst pair is best, as long as that pair reaches the threshold."""
    groups = [[n] for n in range(len(matrix))]
    while len(groups) > 1:
        worst = {
            (a, b): matrix[np.ix_(groups[a], groups[b])].min()
            for a in range(len(groups))
            for b in range(a + 1, len(groups))
        }
        a, b = max(worst, key=worst.get)
        if worst[a, b] < threshold:
            break
        groups[a] += groups.pop(b)
    numbers = np.zeros(len(matrix), dtype=int)
    for number, group in enumerate(sorted(groups, key=min), start=1):
        numbers[group] = number
    return numbers


@pytest.fixture
def X(rng):
    causes = rng.standard_normal((60, 5))
    return causes[:, rng.integers(0, 5, 25)] * rng.choice([-1, 1], 25) + 0.5 * rng.standard_normal((60, 25))


@pytest.mark.parametrize("threshold", [0.0, 0.5, 0.75, 0.8, 0.95, 1.0])
def test_groups_are_those_of_the_slow_clustering(X, threshold):
    matrix, groups = redundancy_groups(X, threshold)
    np.testing.assert_allclose(matrix, np.abs(np.corrcoef(X, rowvar=False)), atol=1e-13)
    np.testing.assert_array_equal(groups, slow_groups(matrix, threshold))


def test_every_pair_of_a_group_reaches_the_threshold(X):
    matrix, groups = redundancy_groups(X, 0.7)
    together = groups[:, None] == groups[None, :]
    assert together.sum() > len(groups), "the data should have groups of more than one"
    assert (matrix[together] >= 0.7).all()
    assert list(dict.fromkeys(groups.tolist())) == list(range(1, groups.max() + 1)), "numbered as they appear"


def test_sparse_and_dense_agree(rng):
    X = rng.standard_normal((9000, 12)) * (rng.random((9000, 12)) < 0.05)  # several blocks of rows
    X[:, 3] = 2 * X[:, 1]
    for kind in (sparse.csr_array, sparse.csc_matrix):
        matrix, groups = redundancy_groups(kind(X))
        np.testing.assert_allclose(matrix, np.abs(np.corrcoef(X, rowvar=False)), atol=1e-12)
        assert groups[3] == groups[1]


def test_constant_features_stand_alone(rng):
    f = rng.standard_normal(30)
    constant = np.full(30, 0.1)  # its mean is not exactly 0.1
    matrix, groups = redundancy_groups(np.column_stack([f, constant, -f, constant]))
    np.testing.assert_array_equal(groups, [1, 2, 1, 3])
    np.testing.assert_array_equal(matrix[1], [0, 1, 0, 0])
    assert matrix[0, 2] == pytest.approx(1)


def test_offsets_and_huge_values_cost_no_digits(rng):
    X = rng.standard_normal((50, 3))
    expected = np.abs(np.corrcoef(X, rowvar=False))
    np.testing.assert_allclose(absolute_correlation(X * [1e200, 1e-200, 1.7e308 / 9]), expected, atol=1e-12)
    np.testing.assert_allclose(absolute_correlation(X + 1e9), expected, atol=1e-6)


def test_one_feature_is_one_group(rng):
    matrix, groups = redundancy_groups(rng.standard_normal((5, 1)))
    assert matrix.tolist() == [[1.0]]
    assert groups.tolist() == [1]


@pytest.mark.parametrize(
    ("X", "threshold", "message"),
    [
        (np.ones((3, 2)), 1.5, "threshold must lie between 0 and 1"),
        (np.array([[1.0, np.nan], [2, 3]]), 0.8, "missing or infinite"),
        (np.array([[1.0, np.inf], [2, 3]]), 0.8, "missing or infinite"),
        (np.ones((3, 0)), 0.8, "samples and features"),
    ],
)
def test_bad_input_is_refused(X, threshold, message):
    with pytest.raises(ValueError, match=message):
        redundancy_groups(X, threshold)


def test_categories_that_share_one_level_are_not_redundant(rng):
    """ "No internet" stands in every column on internet; among the others they are independent."""
    online = rng.random(600) < 0.7
    columns = [np.where(online, 1 + (rng.random(600) < 0.5), 0) for _ in range(2)]
    F = np.column_stack([np.eye(3)[one] for one in columns])
    tables = np.array([[((columns[0] == a) & (columns[1] == b)).sum() for b in range(3)] for a in range(3)])
    matrix = block_correlation(F, np.array([3, 6]))
    assert matrix[0, 1] == pytest.approx(association(tables, method="cramer")) and matrix[0, 1] < 0.8
    renamed = np.hstack([F[:, :3], F[:, [2, 0, 1]]])
    assert block_correlation(renamed, np.array([3, 6]))[0, 1] == pytest.approx(1)
