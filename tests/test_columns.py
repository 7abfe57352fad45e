"""A design that is implied by the data as they are stored is, in every product, the standardised copy."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from infused import (
    FusedLasso,
    GreedyForward,
    GroupLasso,
    InFusedLasso,
    Lasso,
    ULasso,
    _kernels,
    make_selector,
)
from infused._columns import Block, ColumnDesign, HeldColumns, products
from infused._design import (
    column_squares,
    copies_of,
    dense,
    inner_products,
    less,
    rows_scaled,
    selected_columns,
    without_columns,
)
from infused.penalties.norms import RowGroups
from infused.penalties.quadratic import NO_QUADRATIC
from infused.selectors.inputs.training import Weights, dense_design, design_matrix, left_over, unit_columns
from infused.solvers import coordinate_descent
from infused.solvers.least_squares import LeastSquares
from tests import reference

BUDGET = 10**9
DTYPES = ("float64", "float32", "int8", "uint8", "int16", "bool", ">f4")


def made(rng, dtype="float64", order="C", shape=(30, 26)):
    """Numbers of any type; a column far from zero, a constant, an empty one, one twice, one turned."""
    X = np.asarray(rng.integers(0, 2 if dtype == "bool" else 5, size=shape), dtype=dtype, order=order)
    if X.dtype.kind == "f":
        X += rng.normal(size=shape).astype(X.dtype)
    X[:, 4], X[:, 5], X[:, 7] = 1, 0, X[:, 6]
    if dtype == "float64":
        X[:, 3] = 1e7 + rng.normal(size=len(X))
        X[:, 8] = 1e200 * X[:, 9]
    return X


def copy_at_most(monkeypatch, entries):
    for place in ("_columns", "inputs.training", "scores.univariate"):
        room = place if place == "_columns" else f"selectors.{place}"
        monkeypatch.setattr(f"infused.{room}.COPIED", entries)


@pytest.fixture
def small(monkeypatch):
    """Copy nothing but a few columns, and take few at a time."""
    for name, value in (("ENTRIES_AT_ONCE", 90), ("BLOCK", 8)):
        monkeypatch.setattr(f"infused._columns.{name}", value)
    copy_at_most(monkeypatch, 300)


def close(a, b, atol=1e-12):
    np.testing.assert_allclose(a, b, rtol=0, atol=atol)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "float32"])
@pytest.mark.parametrize("missing", [None, 1])
def test_kernels_multiply_as_their_twins_do(rng, dtype, missing):
    A, W, fill = made(rng, dtype, shape=(40, 12)), rng.normal(size=(40, 3)), rng.normal(size=12)
    expected = reference.stored_products(A, W, missing, fill)
    for order in "CF":
        block = Block(slice(0, 12), np.asarray(A, order=order), 0)
        close(products(block, W, missing, fill), expected)
    later = Block(slice(0, 5), A, 7)
    close(products(later, W, missing, fill[7:]), expected[7:])
    if dtype != "float32":
        found = np.empty((12, 3), np.int64)
        _kernels.feature_sums(np.ascontiguousarray(A.T), 0, 12, -999 if missing is None else missing, found)
        assert found.tolist() == reference.stored_sums(A, missing)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("standardize", [True, False])
def test_products_of_columns_as_they_are_stored(small, rng, dtype, order, standardize):
    A = made(rng, dtype, order)
    if not standardize and dtype == "float64":
        A[:, 8] = A[:, 9]
    F, S = dense_design(A, standardize, BUDGET), design_matrix(A, standardize, BUDGET)
    assert isinstance(S, ColumnDesign)
    scale = max(1.0, np.abs(F).max())
    b, B, y, Y = (rng.normal(size=shape) for shape in (26, (26, 3), 30, (30, 3)))
    few = np.array([0, 3, 4, 11, 9])
    close(dense(S), F, 1e-13 * scale)
    if dtype.startswith("float"):
        np.testing.assert_array_equal(dense(S), F)  # what enters has the bits that it has in a copy
    close(S @ b, F @ b, 1e-10 * scale)
    close(S @ B, F @ B, 1e-10 * scale)
    close(S.T @ y, F.T @ y, 1e-10 * scale)
    close(S.T @ Y, F.T @ Y, 1e-10 * scale)
    close(S.T[5], F[:, 5], 1e-13)
    close(S.T @ S, F.T @ F, 1e-10 * scale**2)
    many = np.arange(1, 24)
    assert isinstance(selected_columns(S, many), ColumnDesign)
    close(selected_columns(S, many).T @ Y, F[:, many].T @ Y, 1e-10 * scale)
    close(selected_columns(S, many)[:, few], F[:, many[few]], 1e-13 * scale)
    close(S[np.array([3, 1]), :][:, few], F[[3, 1]][:, few], 1e-13 * scale)
    close(column_squares(S), column_squares(F), 1e-10 * scale**2)
    close(inner_products(S, few, few[::-1]), inner_products(F, few, few[::-1]), 1e-10 * scale**2)
    np.testing.assert_array_equal(S.any(axis=0), F.any(axis=0))
    gone = np.arange(26) % 3 == 0
    close(dense(without_columns(S, gone)), without_columns(F, gone), 1e-13 * scale)
    for found, expected in zip(copies_of(S), copies_of(F), strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("dtype", ["float64", "int8"])
def test_weights_and_projections_of_columns_as_they_are_stored(small, rng, dtype):
    A, weights = made(rng, dtype), Weights(rng.uniform(0.5, 2, 30), False)
    F, S = dense_design(A, True, BUDGET, weights), design_matrix(A, True, BUDGET, weights)
    Z, Y, factors = rng.normal(size=(30, 2)), rng.normal(size=(30, 3)), rng.uniform(1, 2, 30)
    Z[:, 0] = F[:, 6]  # so that two columns are in its span
    rounding = 30 * 1e7 * 2**-52  # the mean of a column that is 1e7 from zero is implied
    for X, T in (
        (F, S),
        (rows_scaled(F, factors), rows_scaled(S, factors)),
        (less(F, Z, Z.T @ F), less(S, Z, Z.T @ F)),
        (left_over(F, Z), left_over(S, Z)),
        (unit_columns(F), unit_columns(S)),
    ):
        assert isinstance(T, ColumnDesign)
        close(dense(T), X, 1e-8)
        close(T.T @ Y, X.T @ Y, rounding)
        close(T.T @ T, X.T @ X, 1e-7)
        close(column_squares(T), column_squares(X), 1e-7)
        assert len(selected_columns(T, np.arange(20))) == 30
        close(selected_columns(T, np.arange(20)).T @ Y, X[:, :20].T @ Y, rounding)


def test_a_missing_value_is_the_mean_of_its_feature(small, rng):
    A = rng.integers(0, 3, size=(30, 26)).astype(np.int8)
    A[rng.random(A.shape) < 0.2] = -1
    A[:, 3] = -1
    filled = A.astype(float)
    for j in range(26):
        present = A[:, j] >= 0
        filled[~present, j] = A[present, j].mean() if present.any() else 0.0
    F, Y = dense_design(filled, True, BUDGET), rng.normal(size=(30, 2))
    for weights in (None, np.ones(30)):
        S = ColumnDesign.of(HeldColumns(np.asfortranarray(A), missing=-1), True, weights)
        close(dense(S), F, 1e-13)
        close(S.T @ Y, F.T @ Y)


def wide(rng, dtype="float64", order="C", n=400):
    X = made(rng, dtype, order, shape=(60, n))
    if dtype == "float64":
        X[:, 3], X[:, 8] = rng.normal(size=(2, 60))
    X[:, 30:60] = X[:, [29]] if X.dtype.kind == "b" else (X[:, [29]] + X[:, 30:60] // 2).astype(X.dtype)
    y = X[:, [10, 40, 200]].astype(float) @ [1.0, -1.0, 1.0] + 0.3 * rng.normal(size=60)
    return X, y


SELECTORS = {
    "lasso": Lasso(),
    "path": Lasso(ranking="path"),
    "coefficient": Lasso(ranking="coefficient"),
    "kept": Lasso(keep=[3, 9]),
    "positive": Lasso(positive=True, penalty_factors={0: 0.5, 1: 3.0}),
    "as given": Lasso(standardize=False),
    "logistic": Lasso(loss="logistic"),
    "chain": FusedLasso(fusion="chain"),
    "fused": FusedLasso(),
    "infused": InFusedLasso(),
    "infused chain": InFusedLasso(fusion="chain"),
    "in-lasso": make_selector("in-lasso"),
    "in-elastic-net": make_selector("in-elastic-net"),
    "ulasso": ULasso(),
    "groups": GroupLasso(groups=np.arange(400) // 4),
    "clusters": GroupLasso(n_groups=12),
    "forward": GreedyForward(),
    "forward of groups": GreedyForward(groups=np.arange(400) // 4),
    "anova": make_selector("anova"),
    "anova, kept": make_selector("anova", keep=[3]),
}


@pytest.mark.parametrize("dtype", ["float64", "int8"])
@pytest.mark.parametrize("name", SELECTORS)
def test_selections_are_those_with_copies(monkeypatch, rng, name, dtype):
    X, y = wide(rng, dtype)
    y = (y > np.median(y)).astype(int) if name == "logistic" else y
    selector = SELECTORS[name].set_params(n_features_to_select=8)
    expected = selector.fit(X, y).ranking_, getattr(selector, "coef_", np.zeros(1)), selector.scores_
    with monkeypatch.context() as patch:
        copy_at_most(patch, 9000)
        selector.fit(np.asfortranarray(X), y)
    np.testing.assert_array_equal(np.flatnonzero(selector.ranking_ <= 8), np.flatnonzero(expected[0] <= 8))
    close(getattr(selector, "coef_", np.zeros(1)), expected[1], 2e-4)
    np.testing.assert_allclose(selector.scores_, expected[2], rtol=1e-2, atol=1e-3)


def test_weights_select_as_with_copies(monkeypatch, rng):
    X, y = wide(rng)
    weights = rng.uniform(0.2, 2, 60)
    selector = Lasso(n_features_to_select=8)
    expected = selector.fit(X, y, weights).ranking_
    copy_at_most(monkeypatch, 9000)
    np.testing.assert_array_equal(selector.fit(X, y, weights).ranking_[:8], expected[:8])


def test_known_products_are_not_computed_again(small, rng):
    X = design_matrix(made(rng), True, BUDGET)
    Y = rng.normal(size=(30, 1))
    known = X.T @ Y
    f = LeastSquares(X, Y, NO_QUADRATIC, dense=False, correlation=known)
    assert f.correlation is known
    result = coordinate_descent(f, RowGroups(0.3 * f.largest_correlation), tol=1e-8)
    assert result.converged


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "uint8"])
@pytest.mark.parametrize("name", ["lasso", "fused-lasso", "greedy-forward", "anova"])
def test_a_fit_takes_half_of_the_data_and_a_constant(monkeypatch, rng, name, dtype, order):
    """One standardised copy would be 19.2 MB."""
    copy_at_most(monkeypatch, 2**16)
    monkeypatch.setattr("infused._columns.ENTRIES_AT_ONCE", 2**15)
    X = np.asarray(rng.integers(0, 5, size=(200, 12_000)), dtype=dtype, order=order)
    y = X[:, :5].sum(axis=1) + rng.normal(size=200)
    selector = make_selector(name, n_features_to_select=5)
    if name == "fused-lasso":
        selector.set_params(fusion="chain")  # to look for an order takes 20 MB more, whatever the data
    selector.fit(np.asarray(X[:, :2000], order=order), y)  # so that kernels are loaded
    tracemalloc.start()
    selector.fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= 0.5 * X.nbytes + 8e6
