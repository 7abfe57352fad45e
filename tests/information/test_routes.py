"""Which route is taken, and what happens where one cannot be."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from infused import StructuralInformation, config_context, feature_distributions, target_distributions
from infused.exceptions import MemoryBudgetError, PrecisionError


def route_of(X, y, **options):
    return StructuralInformation.from_data(X, y, **options).route


def test_small_problems_go_the_direct_way(rng):
    assert route_of(rng.normal(size=(30, 5)), np.arange(30) % 2) == "direct"


def test_dense_data_become_matrix_products(rng):
    assert route_of(rng.normal(size=(200, 150)), np.arange(200) % 3) == "separable"


def test_counts_are_grouped_however_they_are_given(rng):
    X, y = rng.poisson(0.02, size=(200, 300)).astype(float), np.arange(200) % 2
    assert route_of(X, y) == "grouped"
    assert route_of(sp.csr_array(X), y) == "grouped"
    assert route_of(X + 5, y) == "grouped"  # most entries are equal, though not zero
    P, T = feature_distributions(X), target_distributions(X, y)
    assert StructuralInformation(P, T).route == "grouped"


def test_a_sparse_matrix_that_is_full_is_not_grouped(rng):
    assert route_of(sp.csr_array(rng.normal(size=(200, 150))), np.arange(200) % 3) == "separable"


def test_a_real_target_has_too_many_groups_to_group(rng):
    X = rng.poisson(0.02, size=(200, 300)).astype(float)
    assert route_of(X, rng.normal(size=200)) == "separable"


def with_zeros(rng):
    P = rng.dirichlet(np.ones(200), size=150).T
    P[P < 1e-3] = 0
    return P / P.sum(axis=0)


def test_zeros_have_no_factors(rng):
    P = with_zeros(rng)
    assert StructuralInformation(P, P).route == "direct"
    with pytest.raises(
        PrecisionError, match=r"route='separable' cannot reach the tolerance .* use route='direct'"
    ):
        StructuralInformation(P, P, route="separable")


def test_more_digits_than_factors_have(rng):
    X, y = rng.normal(size=(200, 150)), np.arange(200) % 3
    assert route_of(X, y, tol=1e-14) == "direct"
    with pytest.raises(PrecisionError, match=r"it reaches \d"):
        route_of(X, y, tol=1e-14, route="grouped")


@pytest.mark.parametrize("route", ["auto", "separable", "grouped", "direct"])
def test_sparse_data_are_not_made_dense_beyond_the_budget(rng, route):
    X = sp.random_array((400, 300), density=0.02, rng=rng, format="csr")
    words = "The distributions of 300 features and 400 samples"
    with config_context(memory_budget="800KB"), pytest.raises(MemoryBudgetError, match=words):
        route_of(X, rng.normal(size=400), route=route)


def test_grouping_sparse_data_needs_less(rng):
    X = sp.random_array((4000, 300), density=0.002, rng=rng, format="csr")
    with config_context(memory_budget="2MB"):
        assert route_of(X, np.arange(4000) % 2) == "grouped"
