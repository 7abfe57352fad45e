"""Solvers: by their optimality conditions, against cvxpy and scikit-learn, and against each other."""

from __future__ import annotations

from importlib import import_module
from itertools import pairwise

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import Lasso, MultiTaskLasso
from threadpoolctl import threadpool_limits

from infused import _kernels
from infused.penalties import (
    Decorrelation,
    FusedChain,
    GroupNorms,
    Ridge,
    RowGroups,
    Structural,
    chain_edges,
    grid_edges,
    incidence,
)
from infused.selectors.inputs.training import design_matrix, left_over
from infused.solvers import (
    LeastSquares,
    coordinate_descent,
    largest_lambda3,
    proximal_gradient,
    split_bregman,
    split_bregman_on_working_set,
)
from infused.solvers.split_bregman import Inverse, Woodbury

# Modules: in their package they have the names of functions.
small_quadratic = import_module("infused.solvers.coordinate_descent")
bregman = import_module("infused.solvers.split_bregman")
squares = import_module("infused.solvers.least_squares")

TIGHT = {"tol_gap_abs": 1e-9, "tol_gap_rel": 1e-9, "tol_feas": 1e-9}
NO_EDGES = chain_edges(1)


@pytest.fixture(autouse=True, scope="module")
def one_blas_thread():
    """The matrices are so small that threads only wait for each other."""
    with threadpool_limits(1, user_api="blas"):
        yield


def make_problem(kind, n_targets=1, seed=0):
    """X with unit columns and Y: tall, wide, with duplicated or with constant (zero) features."""
    rng = np.random.default_rng(seed)
    n_samples, n_features = (20, 50) if kind == "wide" else (60, 24)
    X = rng.normal(size=(n_samples, n_features))
    if kind == "duplicated":
        X[:, 5] = X[:, 4]
        X[:, 11] = -X[:, 2]
    X -= X.mean(axis=0)
    X /= np.linalg.norm(X, axis=0)
    if kind == "constant":
        X[:, [0, 7]] = 0.0
    B = np.where(np.arange(n_features)[:, None] % 7 < 3, rng.normal(size=(1, n_targets)), 0.0)
    Y = X @ B + 0.05 * rng.normal(size=(n_samples, n_targets))
    lambda1 = 0.1 * np.linalg.norm(X.T @ Y, axis=1).max()
    return X, Y, lambda1


def cvxpy_optimum(X, Y, lambda1, lambda2, edges, S=None):
    B = cp.Variable((X.shape[1], Y.shape[1]))
    objective = 0.5 * cp.sum_squares(Y - X @ B) + lambda1 * cp.sum(cp.norm(B, 2, axis=1))
    if lambda2:
        C = incidence(edges, X.shape[1]).toarray()
        objective += lambda2 * cp.sum(cp.norm(C @ B, 2, axis=1))
    if S is not None:
        root = np.linalg.cholesky(S + 1e-13 * np.eye(len(S)))
        objective += cp.sum_squares(root.T @ B)
    problem = cp.Problem(cp.Minimize(objective))
    problem.solve(solver="CLARABEL", **TIGHT)
    return problem.value, B.value


def structure(n, weight=0.3, seed=3):
    A = np.random.default_rng(seed).normal(size=(n, n))
    return Structural.given(2 + 0.01 * (A + A.T), weight)


KINDS = ["tall", "wide", "duplicated", "constant"]


@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_targets", [1, 3])
def test_split_bregman_agrees_with_cvxpy(kind, n_targets, dense):
    X, Y, lambda1 = make_problem(kind, n_targets)
    edges = chain_edges(X.shape[1])
    f = LeastSquares(X, Y, Ridge(0.0), dense=dense)
    result = split_bregman(
        f, RowGroups(lambda1), incidence(edges, X.shape[1]), lambda1 / 2, tol=1e-7, max_iter=20_000
    )
    best, B = cvxpy_optimum(X, Y, lambda1, lambda1 / 2, edges)
    assert result.converged, result.reason
    assert result.objective[-1] == pytest.approx(best, rel=1e-6)
    if kind in ("tall", "constant"):  # where the solution is unique
        np.testing.assert_allclose(result.coef, B, atol=1e-4)
        support = np.linalg.norm(B, axis=1) > 1e-5
        np.testing.assert_array_equal(result.coef.any(axis=1), support)


@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_with_structure_both_forms_agree_with_cvxpy(kind, dense):
    X, Y, lambda1 = make_problem(kind, 2)
    n = X.shape[1]
    term = structure(n)
    f = LeastSquares(X, Y, term, dense=dense)
    result = split_bregman(
        f, RowGroups(lambda1), incidence(chain_edges(n), n), lambda1 / 5, tol=1e-7, max_iter=20_000
    )
    best, _ = cvxpy_optimum(X, Y, lambda1, lambda1 / 5, chain_edges(n), term.matrix())
    assert result.converged
    assert result.objective[-1] == pytest.approx(best, rel=1e-6)


def test_on_a_grid_it_agrees_with_cvxpy():
    X, Y, lambda1 = make_problem("tall", 2)
    edges = grid_edges((4, 6))
    f = LeastSquares(X, Y, Ridge(0.1), dense=True)
    result = split_bregman(f, RowGroups(lambda1), incidence(edges, 24), lambda1, tol=1e-7, max_iter=20_000)
    best, _ = cvxpy_optimum(X, Y, lambda1, lambda1, edges, 0.1 * np.eye(24))
    assert result.objective[-1] == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_without_fusion_it_is_the_lasso(kind):
    X, Y, lambda1 = make_problem(kind)
    f = LeastSquares(X, Y, Ridge(0.0), dense=True)
    result = split_bregman(
        f, RowGroups(lambda1), incidence(NO_EDGES, X.shape[1]), 0.0, tol=1e-8, max_iter=20_000
    )
    peer = Lasso(alpha=lambda1 / len(X), fit_intercept=False, tol=1e-12, max_iter=10**6).fit(X, Y.ravel())
    expected = 0.5 * ((Y.ravel() - X @ peer.coef_) ** 2).sum() + lambda1 * np.abs(peer.coef_).sum()
    assert result.objective[-1] == pytest.approx(expected, rel=1e-7)
    if kind != "duplicated":
        np.testing.assert_array_equal(result.coef[:, 0] != 0, peer.coef_ != 0)


@pytest.mark.parametrize("kind", KINDS)
def test_with_many_targets_it_is_the_multi_task_lasso(kind):
    X, Y, lambda1 = make_problem(kind, 3)
    f = LeastSquares(X, Y, Ridge(0.0), dense=kind != "wide")
    result = split_bregman(
        f, RowGroups(lambda1), incidence(NO_EDGES, X.shape[1]), 0.0, tol=1e-8, max_iter=20_000
    )
    peer = MultiTaskLasso(alpha=lambda1 / len(X), fit_intercept=False, tol=1e-12, max_iter=10**6).fit(X, Y)
    B = peer.coef_.T
    expected = 0.5 * ((Y - X @ B) ** 2).sum() + lambda1 * np.linalg.norm(B, axis=1).sum()
    assert result.objective[-1] == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_proximal_gradients_agree_with_cvxpy(kind, dense):
    X, Y, lambda1 = make_problem(kind)
    f = LeastSquares(X, Y, Ridge(0.0), dense=dense)
    result = proximal_gradient(f, FusedChain(lambda1, lambda1 / 2), tol=1e-8, max_iter=100_000)
    best, B = cvxpy_optimum(X, Y, lambda1, lambda1 / 2, chain_edges(X.shape[1]))
    assert result.converged
    assert result.objective[-1] == pytest.approx(best, rel=1e-6)
    if kind == "tall":
        np.testing.assert_array_equal(result.coef[:, 0] != 0, np.abs(B[:, 0]) > 1e-5)


def test_a_warm_start_is_shorter():
    X, Y, lambda1 = make_problem("tall", 2)
    f, C = LeastSquares(X, Y, Ridge(0.0), dense=True), incidence(chain_edges(24), 24)
    cold = split_bregman(f, RowGroups(lambda1), C, lambda1 / 5, tol=1e-6)
    warm = split_bregman(f, RowGroups(lambda1 * 0.99), C, lambda1 / 5, tol=1e-6, start=cold.state)
    fresh = split_bregman(f, RowGroups(lambda1 * 0.99), C, lambda1 / 5, tol=1e-6)
    assert warm.n_iter < fresh.n_iter
    np.testing.assert_allclose(warm.coef, fresh.coef, atol=1e-5)


def test_what_a_result_tells():
    X, Y, lambda1 = make_problem("tall")
    f, C = LeastSquares(X, Y, Ridge(0.0), dense=True), incidence(chain_edges(24), 24)
    result = split_bregman(f, RowGroups(lambda1), C, lambda1 / 5, max_iter=3)
    assert not result.converged
    assert result.reason == "the 3 iterations ran out"
    assert len(result.objective) == len(result.primal_residuals) == len(result.dual_residuals) == 3
    assert result.certificate > 1e-4
    enough = split_bregman(f, RowGroups(lambda1), C, lambda1 / 5)
    assert enough.reason.startswith("the optimality conditions hold to")
    assert enough.certificate <= 1e-4


@pytest.mark.parametrize("n_targets", [1, 3])
@pytest.mark.parametrize("edges", [chain_edges(24), chain_edges(24)[:0], grid_edges((4, 6))])
def test_the_systems_solve_the_same_equations(edges, n_targets, rng):
    X, _, _ = make_problem("tall")
    X = X[:15]
    C, mu = incidence(edges, 24), 0.3
    D = X.T @ X + mu * (np.eye(24) + (C.T @ C).toarray())
    right = rng.normal(size=(24, n_targets))
    for system in (Inverse(X.T @ X, C, mu), Woodbury(X, C, mu)):
        np.testing.assert_allclose(D @ system.solve(right), right, atol=1e-10)


def test_the_inverse_of_an_indefinite_system(rng):
    A = rng.normal(size=(10, 10))
    H = A + A.T
    right = rng.normal(size=(10, 2))
    C = incidence(chain_edges(10), 10)
    D = H + 0.1 * (np.eye(10) + (C.T @ C).toarray())
    np.testing.assert_allclose(D @ Inverse(H, C, 0.1).solve(right), right, atol=1e-8)


def test_the_limit_of_the_published_model(rng):
    X = rng.normal(size=(40, 8))
    A = rng.normal(size=(8, 8))
    U = 2 + 0.1 * (A + A.T)
    limit = largest_lambda3(X, U)
    below, above = (np.linalg.eigvalsh(X.T @ X - 2 * limit * share * U)[0] for share in (0.999, 1.001))
    assert below > 0 > above


def test_the_limit_is_zero_with_more_features_than_samples(rng):
    X = rng.normal(size=(10, 30))
    assert largest_lambda3(X, np.full((30, 30), 2.0) + 0.1 * np.eye(30)) == 0.0


def test_a_system_in_which_mu_is_lost_is_solved_where_it_is_not_zero():
    huge = 2.0**990  # rounds nothing, so that what is left of mu is none
    system = Inverse(np.full((3, 3), huge), incidence(chain_edges(3), 3), 0.1)
    np.testing.assert_allclose(system.solve(np.full((3, 1), 3 * huge)), np.ones((3, 1)))


def test_the_limit_with_a_constant_feature_is_zero(rng):
    X = rng.normal(size=(40, 8))
    X[:, 3] = 0.0
    assert largest_lambda3(X, np.full((8, 8), 2.0)) == 0.0


def test_a_negative_definite_structure_has_no_limit(rng):
    assert largest_lambda3(rng.normal(size=(40, 8)), -np.eye(8)) == np.inf
    for size in ((40, 8), (4, 8)):  # nothing to divide by, and nothing that would need it
        assert largest_lambda3(np.zeros(size), np.zeros((8, 8))) == np.inf


@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_targets", [1, 3])
def test_coordinate_descent_agrees_with_cvxpy(kind, n_targets, dense):
    X, Y, lambda1 = make_problem(kind, n_targets)
    for quadratic in (Ridge(0.0), structure(X.shape[1]), Decorrelation(X, 0.3)):
        f = LeastSquares(X, Y, quadratic, dense=dense)
        result = coordinate_descent(f, RowGroups(lambda1), tol=1e-7)
        best, _ = cvxpy_optimum(X, Y, lambda1, 0.0, NO_EDGES, quadratic.matrix(X.shape[1]))
        assert result.converged, result.reason
        assert result.objective[-1] == pytest.approx(best, rel=1e-6)
        np.testing.assert_allclose(result.gradient, f.gradient(result.coef), atol=1e-12)


def test_coordinate_descent_starts_where_another_ended():
    X, Y, lambda1 = make_problem("wide", 2)
    f = LeastSquares(X, Y, Ridge(0.0), dense=False)
    first = coordinate_descent(f, RowGroups(lambda1), tol=1e-9)
    warm = coordinate_descent(f, RowGroups(0.9 * lambda1), tol=1e-9, start=first)
    cold = coordinate_descent(LeastSquares(X, Y, Ridge(0.0), dense=True), RowGroups(0.9 * lambda1), tol=1e-9)
    assert warm.n_iter < cold.n_iter
    np.testing.assert_allclose(warm.coef, cold.coef, atol=1e-7)


def test_coordinate_descent_says_when_it_ran_out():
    X, Y, lambda1 = make_problem("wide", 3)
    f = LeastSquares(X, Y, Ridge(0.0), dense=False)
    result = coordinate_descent(f, RowGroups(lambda1 / 100), max_iter=3, tol=1e-10)
    assert not result.converged
    assert result.reason == "the 3 iterations ran out"
    assert result.n_iter == 3


@pytest.mark.parametrize("n_plain", [0, 10**9])
def test_the_kernel_of_coordinate_descent_reaches_a_fixed_point(n_plain, monkeypatch):
    """At the minimum a proximal gradient step with any group's curvature leads nowhere."""
    monkeypatch.setattr(small_quadratic, "FEW_UPDATES", n_plain)
    X, Y, lambda1 = make_problem("tall", 2)
    penalty = GroupNorms(lambda1, np.arange(24) // 5)
    _, starts = penalty.members(np.arange(5))
    H, C, B = X.T @ X, np.ascontiguousarray((X.T @ Y).T), np.zeros((2, 24))
    curvature = np.array([np.linalg.eigvalsh(H[a:b, a:b])[-1] for a, b in pairwise(starts)])
    small_quadratic.descend(H, C, B, starts, curvature, penalty.thresholds(np.arange(5)), 1e-12, 10_000)
    step = 1 / np.linalg.eigvalsh(H)[-1]
    moved = penalty.prox(B.T - step * (H @ B.T - C.T), step)
    np.testing.assert_allclose(moved, B.T, atol=1e-10)


@pytest.mark.parametrize("n_targets", [1, 3])
@pytest.mark.parametrize("size", [1, 5])
@pytest.mark.parametrize("positive", [False, True])
def test_plain_updates_have_the_bits_of_the_kernel(n_targets, size, positive, rng):
    """What is counted of a process must not be seen in its results."""
    X = rng.normal(size=(40, 20))
    H, starts = X.T @ X, np.arange(0, 21, size)
    H[3], H[:, 3] = 0.0, 0.0
    curvature = np.array([np.linalg.eigvalsh(H[a:b, a:b])[-1] for a, b in pairwise(starts)])
    thresholds, B = rng.uniform(1, 20, size=20 // size), rng.normal(size=(n_targets, 20))
    G = B @ H - rng.normal(size=(n_targets, 20))
    for tol, rows in ((0.0, 6), (1.0, 50)):
        ends = []
        for epochs in (_kernels.epochs, small_quadratic.plain_epochs):
            mine = [B.copy(), G.copy(), *np.zeros((2, rows, B.size))]
            ends.append([epochs(H, starts, curvature, thresholds, positive, tol, *mine), *mine[:2]])
        for compiled, plain in zip(*ends, strict=True):
            np.testing.assert_array_equal(plain, compiled)


@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("solve", [coordinate_descent, split_bregman])
def test_groups_in_both_solvers(solve, dense):
    X, Y, lambda1 = make_problem("wide", 2)
    penalty = GroupNorms(lambda1, np.arange(50) % 9)
    f = LeastSquares(X, Y, Ridge(0.01), dense=dense)
    more = () if solve is coordinate_descent else (incidence(NO_EDGES, 50), 0.0)
    result = solve(f, penalty, *more, tol=1e-8, max_iter=50_000)
    B = cp.Variable((50, 2))
    norms = [
        np.sqrt((np.arange(50) % 9 == g).sum()) * cp.norm(B[np.arange(50) % 9 == g], "fro") for g in range(9)
    ]
    objective = (
        0.5 * cp.sum_squares(Y - X @ B) + 0.01 * cp.sum_squares(B) + lambda1 * cp.sum(cp.hstack(norms))
    )
    problem = cp.Problem(cp.Minimize(objective))
    problem.solve(solver="CLARABEL", **TIGHT)
    assert result.converged
    assert result.objective[-1] == pytest.approx(problem.value, rel=1e-6)


@pytest.mark.parametrize("shape", [(40, 10), (10, 40), (200, 100), (30, 100)])
def test_a_ridge_raises_the_limit(shape):
    rng = np.random.default_rng(0)
    X = rng.normal(size=shape)
    A = rng.normal(size=(shape[1], shape[1]))
    U, ridge = 2 + 0.01 * (A + A.T), 0.3
    limit = largest_lambda3(X, U, ridge)
    hessian = X.T @ X + 2 * ridge * np.eye(shape[1])
    assert np.linalg.eigvalsh(hessian - 2 * 0.999 * limit * U)[0] > 0
    assert np.linalg.eigvalsh(hessian - 2 * 1.001 * limit * U)[0] < 0


@pytest.mark.parametrize("n_targets", [1, 3])
@pytest.mark.parametrize("share", [0.1, 0.5, 1.01])
@pytest.mark.parametrize("edges", ["chain", "grid"])
def test_algorithm_1_on_a_working_set_solves_the_whole_problem(edges, share, n_targets, monkeypatch):
    monkeypatch.setattr(bregman, "FIRST_SIZE", 25)  # so that it grows more than once
    rng = np.random.default_rng(4)
    X = rng.normal(size=(30, 150)) / np.sqrt(30)
    B = np.zeros((150, n_targets))
    B[50:60] = B[120:124] = 1.0
    Y = X @ B + 0.1 * rng.normal(size=(30, n_targets))
    C = incidence(chain_edges(150) if edges == "chain" else grid_edges((10, 15)), 150)
    top = np.linalg.norm(X.T @ Y, axis=1).max()
    penalty, lambda2 = RowGroups(share * top), 0.3 * share * top
    for quadratic in (Ridge(0.01), structure(150, 0.05)):
        f = LeastSquares(X, Y, quadratic, dense=False)
        part = split_bregman_on_working_set(f, penalty, C, lambda2, tol=1e-6, max_iter=50_000)
        whole = split_bregman(f, penalty, C, lambda2, tol=1e-6, max_iter=50_000)
        assert part.converged, part.reason
        assert part.objective[-1] == pytest.approx(whole.objective[-1], rel=1e-6)
        np.testing.assert_allclose(part.coef, whole.coef, atol=1e-3)
        np.testing.assert_allclose(part.gradient, f.gradient(part.coef), atol=1e-10)
        warm = split_bregman_on_working_set(f, penalty, C, lambda2, tol=1e-6, max_iter=50_000, start=part)
        assert warm.n_iter < part.n_iter or part.n_iter == 0


@pytest.mark.parametrize("n_targets", [1, 3])
@pytest.mark.parametrize("labels", [np.arange(40), np.arange(40) // 4], ids=["rows", "groups"])
def test_steps_through_entries_are_the_steps_through_the_hessian(labels, n_targets, monkeypatch):
    """On a sparse design with means implied and a direction projected out."""
    rng = np.random.default_rng(0)
    raw = np.where(rng.random((60, 40)) < 0.2, rng.normal(1.0, 1.0, (60, 40)), 0.0)
    X = design_matrix(sp.csr_array(raw), True, 10**9)
    Z, Y = rng.normal(size=(60, 1)), rng.normal(size=(60, n_targets))
    X, penalty = left_over(X, Z), GroupNorms(0.2, labels)
    results = []
    for cost in (0, np.inf):
        monkeypatch.setattr(squares, "ENTRY_COST", cost)
        f = LeastSquares(X, Y, Ridge(0.05), dense=False)
        results.append(coordinate_descent(f, penalty, tol=1e-9))
    through_entries, through_hessian = results
    assert through_entries.converged
    np.testing.assert_allclose(through_entries.coef, through_hessian.coef, atol=1e-8)
    dense = coordinate_descent(LeastSquares(X.toarray(), Y, Ridge(0.05), dense=True), penalty, tol=1e-9)
    np.testing.assert_allclose(through_entries.coef, dense.coef, atol=1e-8)
