"""Proximal Newton solvers of every loss: optimality conditions, cvxpy, glmnet, and each other."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from infused import _kernels
from infused._columns import ColumnDesign, HeldColumns
from infused._design import SparseDesign
from infused.datafits import Cox, Huber, Logistic, Multinomial, Poisson, Squared
from infused.penalties import GroupNorms, Ridge, RowGroups, chain_edges, incidence
from infused.solvers import (
    LeastSquares,
    Loss,
    coordinate_descent,
    null_solution,
    proximal_newton,
    reweighted,
    split_bregman,
)
from infused.solvers.proximal_newton import newton_on_screened
from tests.reference import REFERENCE

LOSSES = ("squared", "logistic", "multinomial", "poisson", "huber", "cox")
every_loss = pytest.mark.parametrize("kind", LOSSES)


def make_loss(kind, n_samples=60, n_features=24, seed=0, weights=None, kept=None, ridge=0.0):
    """Return a loss with unit columns, of which every sixth matters."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_features))
    X -= X.mean(axis=0)
    X /= np.linalg.norm(X, axis=0)
    eta = X @ np.where(np.arange(n_features) % 6 == 0, 5.0, 0.0)
    return Loss(make_datafit(kind, eta, rng, weights), X, Ridge(ridge), kept)


def make_datafit(kind, eta, rng, weights=None):
    n = len(eta)
    noisy = eta + rng.normal(size=n)
    if kind == "squared":
        return Squared(np.column_stack([noisy, rng.normal(size=n)]), weights)
    if kind == "logistic":
        return Logistic(noisy > 0, weights)
    if kind == "multinomial":
        return Multinomial(np.digitize(noisy, [-0.7, 0.7]), weights)
    if kind == "poisson":
        return Poisson(rng.poisson(np.exp(0.5 * eta)), weights)
    if kind == "huber":
        return Huber(eta + rng.standard_t(2, size=n), 0.5, weights)
    time, censored = rng.exponential(np.exp(-eta)), rng.exponential(2, size=n)
    return Cox(np.round(np.minimum(time, censored), 1), time <= censored, weights)


def unmet(f, penalty, result):
    """Return how far a solution is from the optimality conditions, by the definition of the gradient."""
    eta = f.X @ result.coef + f.Z @ result.free
    slope = f.datafit.gradient(eta)
    gradient = f.X.T @ slope + 2 * f.quadratic.matrix(f.shape[0]) @ result.coef
    return max(penalty.distance(result.coef, gradient).max(), np.abs(f.Z.T @ slope).max(initial=0.0))


def largest(f, penalty=None):
    penalty = RowGroups(1.0) if penalty is None else penalty
    return penalty.lengths(null_solution(f, penalty).gradient).max()


@every_loss
@pytest.mark.parametrize("seed", range(50))
def test_solutions_meet_the_optimality_conditions_of_the_loss(kind, seed):
    """On random designs, tall and wide, with weights, factors, signs, groups and a ridge in turn."""
    rng = np.random.default_rng(seed)
    n_samples, n_features = (60, 24) if seed % 2 else (30, 80)
    weights = rng.integers(1, 4, size=n_samples).astype(float) if seed % 3 == 0 else None
    f = make_loss(kind, n_samples, n_features, seed, weights, ridge=0.05 * (seed % 4 == 0))
    factors = rng.choice([0.5, 1.0, 2.0], size=n_features) if seed % 5 == 0 else None
    lambda1 = (0.05 + 0.5 * rng.random()) * largest(f)
    penalty = RowGroups(lambda1, factors, positive=seed % 7 == 0)
    if seed % 6 == 1:
        penalty = GroupNorms(lambda1, np.arange(n_features) // 4)
    result = proximal_newton(f, penalty, tol=1e-7, max_iter=500_000)
    assert result.converged
    assert unmet(f, penalty, result) <= 1e-6 * lambda1
    assert (np.diff(result.objective) <= 1e-9 * abs(result.objective[0])).all()


def cvxpy_loss(f, B, D):
    """Return the loss as cvxpy has it."""
    eta, datafit = f.X @ B + f.Z @ D, f.datafit
    if isinstance(datafit, Squared):
        return cp.sum_squares(eta - datafit.y) / 2
    if isinstance(datafit, Logistic):
        return cp.sum(cp.logistic(eta)) - cp.sum(cp.multiply(datafit.y, eta))
    if isinstance(datafit, Multinomial):
        return cp.sum(cp.log_sum_exp(eta, axis=1)) - cp.sum(cp.multiply(datafit.Y, eta))
    if isinstance(datafit, Poisson):
        return cp.sum(cp.exp(eta)) - cp.sum(cp.multiply(datafit.y, eta))
    return cp.sum(cp.huber(eta - datafit.y, datafit.delta)) / 2


@pytest.mark.parametrize("kind", [kind for kind in LOSSES if kind != "cox"])
@pytest.mark.parametrize("case", ["rows", "groups", "positive", "kept"])
def test_no_objective_is_lower_than_cvxpy_finds(kind, case):
    """Penalties on rows and groups, signs, and features without a penalty."""
    rng = np.random.default_rng(3)
    kept = rng.normal(size=(60, 2)) if case == "kept" else None
    f = make_loss(kind, kept=kept)
    lambda1, positive = 0.2 * largest(f), case == "positive"
    penalty = RowGroups(lambda1, positive=positive)
    B, D = cp.Variable(f.shape), cp.Variable((f.Z.shape[1], f.shape[1]))
    norms = cp.sum(cp.norm(B, 2, axis=1))
    if case == "groups":
        penalty = GroupNorms(lambda1, np.arange(24) // 3)
        norms = cp.sum(cp.hstack([np.sqrt(3) * cp.norm(B[g : g + 3], "fro") for g in range(0, 24, 3)]))
    problem = cp.Problem(cp.Minimize(cvxpy_loss(f, B, D) + lambda1 * norms), [B >= 0] if positive else [])
    problem.solve(solver="CLARABEL")
    result = proximal_newton(f, penalty, tol=1e-8)
    assert result.objective[-1] == pytest.approx(problem.value, rel=1e-6)
    assert np.allclose(result.coef, B.value, atol=2e-3 * max(np.abs(B.value).max(), 1e-3))


@pytest.mark.parametrize("kind", [kind for kind in LOSSES if kind != "cox"])
def test_fused_losses_are_those_of_cvxpy(kind):
    """Newton steps through Algorithm 1, with a penalty on the differences of neighbours."""
    f = make_loss(kind)
    lambda1, C = 0.1 * largest(f), incidence(chain_edges(24), 24)
    first, second = RowGroups(lambda1), RowGroups(0.5 * lambda1)

    def solve(model, tol, start):
        state = None if start is None else start.state
        return split_bregman(model, first, C, 0.5 * lambda1, tol=tol, start=state, max_iter=20_000)

    def norms(B):
        return first.value(B) + second.value(C @ B)

    result = reweighted(f, norms, solve, lambda1, tol=1e-7)
    B, D = cp.Variable(f.shape), cp.Variable((f.Z.shape[1], f.shape[1]))
    penalty = cp.sum(cp.norm(B, 2, axis=1)) + 0.5 * cp.sum(cp.norm(C.toarray() @ B, 2, axis=1))
    problem = cp.Problem(cp.Minimize(cvxpy_loss(f, B, D) + lambda1 * penalty))
    problem.solve(solver="CLARABEL")
    assert result.converged
    assert result.objective[-1] == pytest.approx(problem.value, rel=1e-6)


@every_loss
@pytest.mark.parametrize("shape", [(60, 24), (30, 80)])
def test_both_solvers_have_one_solution(kind, shape):
    """Without fusion, steps through least squares end where those on a working set do."""
    f = make_loss(kind, *shape, ridge=0.1)
    rows = RowGroups(0.2 * largest(f))

    def solve(model, tol, start):
        return coordinate_descent(model, rows, tol=tol, start=start)

    one = proximal_newton(f, rows, tol=1e-9)
    other = reweighted(f, rows.value, solve, rows.weight, tol=1e-7)
    assert other.converged
    assert np.allclose(one.coef, other.coef, atol=1e-4 * np.abs(one.coef).max())


@pytest.mark.parametrize("kind", ["squared", "logistic", "multinomial", "poisson", "cox"])
def test_a_warm_start_ends_where_a_cold_one_does(kind):
    """Along a path, where the Hessian of one solution serves for the next."""
    f, start = make_loss(kind), None
    for share in (0.9, 0.5, 0.2, 0.1):
        rows = RowGroups(share * largest(f))
        start = proximal_newton(f, rows, tol=1e-8, start=start)
        cold = proximal_newton(make_loss(kind), rows, tol=1e-8)
        assert np.allclose(start.coef, cold.coef, atol=1e-6 * max(np.abs(cold.coef).max(), 1e-3))


def test_squared_errors_are_least_squares():
    """With the targets centred there is nothing for an intercept to do."""
    f = make_loss("squared")
    Y = f.datafit.y - f.datafit.y.mean(axis=0)
    rows = RowGroups(0.2 * largest(f))
    published = coordinate_descent(LeastSquares(f.X, Y, Ridge(0.0), dense=True), rows, tol=1e-9)
    assert np.allclose(proximal_newton(f, rows, tol=1e-9).coef, published.coef, atol=1e-7)


@every_loss
def test_sparse_designs_have_the_solutions_of_dense_ones(kind):
    """Means are implied, and steps go through the stored entries."""
    rng = np.random.default_rng(5)
    A = np.where(rng.random((80, 300)) < 0.03, rng.normal(size=(80, 300)) + 1, 0.0)
    mean = A.mean(axis=0)
    X = A - mean
    datafit = make_datafit(kind, 4 * X[:, :5].sum(axis=1), rng)
    design = SparseDesign(sp.csc_array(A), np.ones((80, 1)), mean[None, :])
    dense, sparse = Loss(datafit, X), Loss(datafit, design)
    rows = RowGroups(0.1 * largest(dense))
    one, other = proximal_newton(dense, rows, tol=1e-9), proximal_newton(sparse, rows, tol=1e-9)
    assert np.allclose(one.coef, other.coef, atol=1e-6 * np.abs(one.coef).max())


@pytest.mark.parametrize("kind", ["logistic", "multinomial", "cox"])
def test_separable_data_have_finite_solutions(kind):
    """Without noise the likelihood has no maximum; with any penalty the solution is finite and certified."""
    x = np.linspace(-1, 1, 40)[:, None]
    datafit = {
        "logistic": Logistic(x[:, 0] > 0),
        "multinomial": Multinomial(np.digitize(x[:, 0], [-0.3, 0.3])),
        "cox": Cox(np.arange(40.0), np.ones(40, bool)),
    }[kind]
    f = Loss(datafit, x / np.linalg.norm(x))
    rows = RowGroups(1e-4 * largest(f))
    result = proximal_newton(f, rows, tol=1e-6)
    assert result.converged
    assert np.isfinite(result.coef).all()


def test_a_factor_of_infinity_keeps_a_feature_out_and_one_of_zero_in():
    """Whatever lambda is."""
    f = make_loss("logistic")
    factors = np.where(np.arange(24) == 0, np.inf, np.where(np.arange(24) == 1, 0.0, 1.0))
    at_most = null_solution(f, RowGroups(1.0, factors))
    assert np.flatnonzero(at_most.coef.any(axis=1)).tolist() == [1]
    for share in (2.0, 0.2):
        result = proximal_newton(f, RowGroups(share * largest(f), factors), tol=1e-8)
        assert result.converged
        assert result.coef[0] == 0
        assert result.coef[1] != 0


needs_glmnet = pytest.mark.skipif(
    not (REFERENCE / "glmnet").is_dir(),
    reason="figures of glmnet are not there: name their folder in INFUSED_REFERENCE",
)
VARIANTS = ("plain", "factors", "weights", "positive")
FAMILIES = ("gaussian", "mgaussian", "binomial", "multinomial", "poisson", "cox")


def glmnet_figures(family, variant):
    """Return X, y and by lambda the intercepts and coefficients of glmnet, targets in columns."""
    folder = REFERENCE / "glmnet"
    X, y = (pd.read_csv(folder / f"{family}_{part}.csv").to_numpy() for part in "xy")
    figures = pd.read_csv(folder / f"{family}_coef.csv.gz")
    figures, n_targets = figures[figures.variant == variant], figures.target.max()
    if figures.empty:
        pytest.skip("glmnet has no such variant")
    path = {}
    for value, own in figures.groupby("lambda"):
        path[value] = np.zeros((X.shape[1] + 1, n_targets))
        term = [int(name[1:]) if str(name).startswith("V") else 0 for name in own.term]
        path[value][term, own.target - 1] = own.value
    return X, y, path


@needs_glmnet
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("variant", VARIANTS)
def test_coefficients_are_those_of_glmnet(family, variant):
    """Along its path, on the scale of the data, relative to the largest coefficient or intercept."""
    X, y, path = glmnet_figures(family, variant)
    n, p = X.shape
    weights = np.resize([1.0, 2.0, 3.0], n) if variant == "weights" else np.ones(n)
    weights *= n / weights.sum()
    factors = np.resize([1.0, 2.0, 0.5, 1.0], p) if variant == "factors" else np.ones(p)
    factors *= p / factors.sum()
    datafit = {
        "binomial": lambda: Logistic(y[:, 0], weights),
        "multinomial": lambda: Multinomial(y[:, 0].astype(int) - 1, weights),
        "poisson": lambda: Poisson(y[:, 0], weights),
        "cox": lambda: Cox(y[:, 0], y[:, 1] == 1, weights),
    }.get(family, lambda: Squared(y, weights))()
    mean = weights @ X / n
    scale = np.sqrt(weights @ (X - mean) ** 2)
    f, last = Loss(datafit, (X - mean) / scale), None
    for value in sorted(path, reverse=True):
        rows = RowGroups(value * np.sqrt(n), factors, positive=variant == "positive")
        last = proximal_newton(f, rows, tol=1e-9, start=last)
        B = last.coef / scale[:, None]
        intercept = last.free[0] - mean @ B if datafit.has_intercept else np.zeros(f.shape[1])
        found, expected = np.vstack([intercept, B]), path[value]
        if family == "multinomial":  # a constant for all classes changes nothing
            found[0] -= found[0].mean()
            expected[0] -= expected[0].mean()
        assert np.abs(found - expected).max() <= 1e-5 * np.abs(expected).max()


@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("ridge", [0.0, 0.3])
@pytest.mark.parametrize("n_free", [0, 1, 3])
def test_passes_without_a_hessian_end_at_the_minimum_of_the_parabola(ridge, n_free, dense):
    """The subgradient of what is minimised contains zero, from zero and from elsewhere."""
    rng = np.random.default_rng(0)
    A = sp.random_array((40, 25), density=0.3, rng=rng, format="csc")
    Z = np.column_stack([np.ones(40), rng.normal(size=(40, 2))])[:, :n_free]
    h, u, thresholds = rng.uniform(0.1, 1, 40), rng.normal(size=40), rng.uniform(0.1, 0.8, 25)
    for before in (np.zeros(25), rng.normal(size=25)):
        b, d, slope = before.copy(), np.zeros(n_free), u.copy()
        rest = np.ascontiguousarray(Z.T), h, thresholds, ridge, 1e-12, 10_000, b, d, slope
        if dense:
            _kernels.touching_dense_epochs(np.ascontiguousarray(A.toarray().T), *rest)
        else:
            _kernels.touching_epochs(A.indptr.astype(np.int32), A.indices.astype(np.int32), A.data, *rest)
        e = A @ (b - before) + Z @ d
        np.testing.assert_allclose(slope, u + h * e, atol=1e-10)
        gradient = A.T @ (u + h * e) + 2 * ridge * b
        np.testing.assert_allclose(Z.T @ (u + h * e), 0, atol=1e-9)
        np.testing.assert_allclose(gradient[b != 0], -(thresholds * np.sign(b))[b != 0], atol=1e-9)
        assert (np.abs(gradient) <= thresholds + 1e-9).all() and 0 < np.count_nonzero(b) < 25


def screened_path(kind, positive=False, factors=None, stored=False, ridge=0.0):
    """Return a wide loss, its penalties along a path, and the solutions with few features at hand."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 5000))
    X = (X - X.mean(axis=0)) / np.linalg.norm(X - X.mean(axis=0), axis=0)
    datafit = make_datafit(kind, X[:, :12] @ np.full(12, 2.0), rng)
    design = ColumnDesign.of(HeldColumns(np.asfortranarray(X)), False) if stored else X
    f = Loss(datafit, design, Ridge(ridge))
    largest = np.abs(null_solution(f, RowGroups(1.0)).gradient).max()
    rows = [RowGroups(value, factors, positive) for value in largest * np.geomspace(0.8, 0.1, 12)]
    found = [proximal_newton(f, rows[0], tol=1e-5)]
    for one in rows[1:]:
        found.append(newton_on_screened(f, one, found[-1], tol=1e-5))
    assert f.wide
    return f, rows, found


@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize("kind", ["logistic", "poisson", "cox", "huber"])
def test_a_path_with_few_features_at_hand_is_certified_for_all(kind, stored):
    """Its certificate is that of derivatives of all features; a gradient that may matter is exact."""
    f, rows, found = screened_path(kind, stored=stored)
    X = f.X if isinstance(f.X, np.ndarray) else f.X.toarray()
    for penalty, one in zip(rows, found, strict=True):
        exact = X.T @ f.datafit.gradient(X @ one.coef + f.Z @ one.free)
        certificate = penalty.distance(one.coef, exact).max() / penalty.weight
        assert one.converged and one.certificate <= 1e-5
        assert certificate <= one.certificate + 1e-12
        near = np.abs(exact) > penalty.weight * (1 + 1e-5)
        np.testing.assert_allclose(one.gradient[near], exact[near], rtol=1e-9)
    assert np.count_nonzero(found[-1].coef) >= 10
    assert len(f.screening.features) < 1000  # of 5,000


@pytest.mark.parametrize("options", [{"positive": True}, {"factors": True}, {"ridge": 0.05}])
@pytest.mark.parametrize("kind", ["logistic", "cox"])
def test_a_path_with_few_features_at_hand_has_the_solutions_of_all(kind, options):
    """Also where coefficients are at least zero, with factors of the penalty, and with a ridge."""
    if "factors" in options:
        options = {"factors": np.resize([1.0, 2.0, np.inf, 0.7], 5000)}
    f, rows, found = screened_path(kind, **options)
    plain = Loss(f.datafit, f.X, f.quadratic)
    for penalty, one in list(zip(rows, found, strict=True))[::4]:
        alone = proximal_newton(plain, penalty, tol=1e-6)
        np.testing.assert_allclose(one.coef, alone.coef, atol=1e-3 * np.abs(alone.coef).max())
    assert np.count_nonzero(found[-1].coef) >= 5
