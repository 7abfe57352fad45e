"""A design that stays sparse is, in every product, the dense array that it stands for."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans

from infused._design import (
    SparseDesign,
    column_squares,
    dense,
    inner_products,
    selected_columns,
    without_columns,
)
from infused.exceptions import MemoryBudgetError
from infused.selectors.inputs.training import design_matrix, left_over, unit_columns
from infused.selectors.linear.lassos import cluster_features

BUDGET = 10**9


def counts(rng, shape=(30, 20), share=0.25):
    """Mostly zeros; a column far from zero, a full one that is constant, an empty one, one twice."""
    X = np.where(rng.random(shape) < share, rng.poisson(3, size=shape) + rng.normal(size=shape), 0.0)
    X[:, 3] = 1e6 + rng.normal(size=len(X))
    X[:, 4], X[:, 5], X[:, 7] = 0.1, 0.0, X[:, 6]
    X[:, 8] = 1e200 * X[:, 9]
    return X


@pytest.fixture
def pair(rng):
    X = counts(rng)
    F, S = (design_matrix(A, True, BUDGET) for A in (X, sp.csr_array(X)))
    assert isinstance(S, SparseDesign)
    return F, S


def close(a, b, atol=1e-12):
    np.testing.assert_allclose(a, b, rtol=0, atol=atol)


def test_products_of_a_sparse_design(pair, rng):
    F, S = pair
    b, B, y, Y = (rng.normal(size=shape) for shape in (20, (20, 3), 30, (30, 3)))
    few = np.array([0, 3, 4, 11, 9])
    for X, Z in ((F, S), (F[:, few], S[:, few]), (F[few], S[few, :])):
        close(dense(Z), X)
        close(Z.T @ Z, X.T @ X)
        close(column_squares(Z), column_squares(X))
        close(unit_columns(Z).toarray(), unit_columns(X), 1e-10)
        np.testing.assert_array_equal(Z.any(axis=0), X.any(axis=0))
    close(S @ b, F @ b)
    close(S @ B, F @ B)
    close(S.T @ y, F.T @ y)
    close(S.T @ Y, F.T @ Y)
    close(S.T[5], F[:, 5])
    close(S.T[few] @ S, F[:, few].T @ F)
    close(inner_products(S, few, few[::-1]), inner_products(F, few, few[::-1]))
    close(dense(selected_columns(S, few)), selected_columns(F, few))
    close(dense(without_columns(S, np.arange(20) < 8)), without_columns(F, np.arange(20) < 8))
    close(S.replaced(few, F[:, few] ** 2).toarray()[:, few], F[:, few] ** 2)


def test_what_is_not_standardised_stays_as_it_is(rng):
    X = counts(rng)
    X[:, 8] = X[:, 9]  # whose squares would leave the range
    F, S = (design_matrix(A, False, BUDGET) for A in (X, sp.csc_array(X)))
    np.testing.assert_array_equal(dense(S), F)


def test_what_other_columns_leave_over(pair, rng):
    """Those that they nearly explain too: of the last, a millionth is left."""
    F, S = pair
    Z = F[:, [6, 11]].copy()
    Z[:, 1] += 1e-6 * rng.normal(size=len(Z))
    expected, found = left_over(F, Z), left_over(S, Z)
    close(found.toarray(), expected)
    np.testing.assert_array_equal(found.any(axis=0), expected.any(axis=0))
    scale = np.maximum(np.linalg.norm(expected, axis=0), 1e-300)
    close(found.T @ found / scale / scale[:, None], expected.T @ expected / scale / scale[:, None], 1e-9)


def test_what_is_mostly_full_is_dense(rng):
    X = np.where(rng.random((20, 10)) < 0.6, 1.0 + rng.random((20, 10)), 0.0)
    assert isinstance(design_matrix(sp.csr_array(X), True, BUDGET), np.ndarray)


def test_the_budget_is_that_of_the_entries():
    X = sp.random_array((10_000, 10_000), density=1e-4, rng=0, format="csr")
    assert design_matrix(X, True, 10**6).shape == X.shape
    with pytest.raises(MemoryBudgetError, match="sparse design matrix of 10000 samples and 10000 entries"):
        design_matrix(X, True, 10**5)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n_groups", [None, 1, 7, 20])
def test_sparse_columns_have_the_clusters_of_dense_ones(seed, n_groups):
    X = counts(np.random.default_rng(seed), (25, 60), 0.3)
    F, S = (design_matrix(A, True, BUDGET) for A in (X, sp.csr_array(X)))
    np.testing.assert_array_equal(cluster_features(F, n_groups, seed), cluster_features(S, n_groups, seed))


def test_without_ties_clusters_are_those_of_scikit_learn(rng):
    F = design_matrix(rng.normal(size=(40, 150)), True, BUDGET)
    theirs = KMeans(12, n_init=1, random_state=3).fit_predict(F.T)
    np.testing.assert_array_equal(cluster_features(F, 12, 3), theirs)
