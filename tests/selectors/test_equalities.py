"""Selectors that are special cases of each other, and of what other libraries solve."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from sklearn import linear_model
from sklearn.datasets import load_diabetes, load_wine

from infused import FusedLasso, GreedyForward, GroupLasso, InElasticNet, InFusedLasso, InLasso, Lasso, ULasso
from infused.exceptions import UnboundedObjectiveError
from infused.information.discrete import discretize, target_codes
from infused.information.mutual import joint_information

WINE = load_wine(return_X_y=True)
DIABETES = load_diabetes(return_X_y=True)
DIABETES = DIABETES[0], DIABETES[1] + 0.5  # measured, not classes
TIGHT = {"tol": 1e-9, "max_iter": 50_000}
RAW = {"standardize": False, "lambda_scale": "absolute", "target": "real", **TIGHT}


def problem(seed=0, n_samples=60, n_features=20, n_targets=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_features))
    B = np.where(rng.random((n_features, 1)) < 0.3, rng.normal(size=(n_features, n_targets)), 0.0)
    Y = X @ B + 0.3 * rng.normal(size=(n_samples, n_targets))
    return X, Y if n_targets > 1 else Y[:, 0]


def orthonormal(seed=0, n_samples=60, n_features=20):
    """Centred features of length one, and uncorrelated."""
    X, y = problem(seed, n_samples, n_features)
    Q, _ = np.linalg.qr(X - X.mean(axis=0))
    return Q, y - y.mean()


@pytest.mark.parametrize("data", [WINE, DIABETES], ids=["wine", "diabetes"])
@pytest.mark.parametrize("options", [{}, {"n_features_to_select": 4}], ids=["one fit", "recursive"])
def test_without_structure_the_paper_s_selector_is_the_fused_lasso(data, options):
    fused = FusedLasso(lambda2=0.02, **options, **TIGHT).fit(*data)
    full = InFusedLasso(lambda2=0.02, lambda3=0.0, **options, **TIGHT).fit(*data)
    np.testing.assert_array_equal(fused.coef_, full.coef_)
    np.testing.assert_array_equal(fused.ranking_, full.ranking_)


@pytest.mark.parametrize("data", [WINE, DIABETES], ids=["wine", "diabetes"])
def test_without_any_further_term_all_are_the_lasso(data):
    lasso = Lasso(lambda1=0.1, **TIGHT).fit(*data)
    others = [
        InFusedLasso(lambda1=0.1, lambda2=0.0, lambda3=0.0, **TIGHT),
        FusedLasso(lambda1=0.1, lambda2=0.0, **TIGHT),
        ULasso(lambda1=0.1, lambda2=0.0, **TIGHT),
        InLasso(lambda1=0.1, lambda3=0.0, **TIGHT),
        InElasticNet(lambda1=0.1, lambda2=0.0, lambda3=0.0, **TIGHT),
        GroupLasso(lambda1=0.1, groups=np.arange(data[0].shape[1]), **TIGHT),
    ]
    for other in others:
        np.testing.assert_allclose(other.fit(*data).coef_, lasso.coef_, atol=1e-7)
        np.testing.assert_array_equal(other.support_, lasso.support_)


def test_singleton_groups_are_the_lasso_with_a_lasso_inside_them_too():
    groups = np.array([f"g{i}" for i in range(13)])
    for options in ({}, {"lambda_within": 0.5}):
        grouped = GroupLasso(n_features_to_select=4, groups=groups, **options, **TIGHT).fit(*WINE)
        plain = Lasso(n_features_to_select=4, **TIGHT).fit(*WINE)
        np.testing.assert_array_equal(grouped.ranking_, plain.ranking_)
        np.testing.assert_allclose(grouped.coef_, plain.coef_, atol=1e-7)


@pytest.mark.parametrize("shape", [(60, 20), (20, 50)], ids=["tall", "wide"])
def test_lasso_is_scikit_learn_s(shape):
    X, y = problem(1, *shape)
    lambda1 = 0.1 * np.abs(X.T @ y).max()
    peer = linear_model.Lasso(alpha=lambda1 / len(X), fit_intercept=False, tol=1e-12, max_iter=100_000)
    ours = Lasso(lambda1=lambda1, **RAW).fit(X, y)
    np.testing.assert_allclose(ours.coef_[0], peer.fit(X, y).coef_, atol=1e-6)
    np.testing.assert_array_equal(ours.support_, peer.coef_ != 0)


@pytest.mark.parametrize("n_targets", [1, 3])
@pytest.mark.parametrize("shape", [(60, 20), (20, 50)], ids=["tall", "wide"])
def test_in_elastic_net_without_structure_is_the_elastic_net(shape, n_targets):
    X, Y = problem(2, *shape, n_targets)
    lambda1 = 0.1 * np.linalg.norm(np.atleast_2d((X.T @ Y).T), axis=0).max()
    ours = InElasticNet(lambda1=lambda1, lambda2=2.0, lambda3=0.0, **RAW).fit(X, Y)
    np.testing.assert_allclose(ours.coef_, elastic_net(X, Y, lambda1, 2.0), atol=1e-6)


def elastic_net(X, Y, lambda1, lambda2):
    """1/2 |Y - XB|^2 + lambda1 sum_i |b_i| + lambda2 |B|^2, by scikit-learn."""
    alpha = (lambda1 + 2 * lambda2) / len(X)
    options = {"alpha": alpha, "l1_ratio": lambda1 / (lambda1 + 2 * lambda2), "fit_intercept": False}
    kind = linear_model.ElasticNet if Y.ndim == 1 else linear_model.MultiTaskElasticNet
    return np.atleast_2d(kind(**options, tol=1e-12, max_iter=100_000).fit(X, Y).coef_)


def test_one_hot_in_elastic_net_is_the_multi_task_elastic_net():
    X, y = WINE
    ours = InElasticNet(lambda1=0.1, lambda2=0.3, lambda3=0.0, **TIGHT).fit(X, y)
    F = (X - X.mean(axis=0)) / np.linalg.norm(X - X.mean(axis=0), axis=0)
    Y = np.eye(3)[y] - np.eye(3)[y].mean(axis=0)
    Y /= np.linalg.norm(Y, axis=0)
    lambda1 = 0.1 * np.linalg.norm(F.T @ Y, axis=1).max()
    np.testing.assert_allclose(ours.coef_, elastic_net(F, Y, lambda1, 0.3), atol=1e-6)


def test_ulasso_of_uncorrelated_features_is_the_elastic_net():
    X, y = orthonormal()
    lambda1 = 0.1 * np.abs(X.T @ y).max()
    ours = ULasso(lambda1=lambda1, lambda2=0.7, **RAW).fit(X, y)
    np.testing.assert_allclose(ours.coef_, elastic_net(X, y, lambda1, 0.7), atol=1e-6)


@pytest.mark.parametrize("shape", [(60, 20), (20, 50)], ids=["tall", "wide"])
def test_ulasso_agrees_with_cvxpy(shape):
    X, y = problem(3, *shape)
    lambda1 = 0.1 * np.abs(X.T @ y).max()
    R = np.corrcoef(X.T) ** 2
    b = cp.Variable(X.shape[1])
    root = np.linalg.cholesky(R + 1e-12 * np.eye(len(R)))
    objective = 0.5 * cp.sum_squares(y - X @ b) + lambda1 * cp.norm1(b) + 5.0 * cp.sum_squares(root.T @ b)
    problem_ = cp.Problem(cp.Minimize(objective))
    problem_.solve(solver="CLARABEL")
    ours = ULasso(lambda1=lambda1, lambda2=5.0, **RAW).fit(X, y)
    assert ours.objective_path_[-1] == pytest.approx(problem_.value, rel=1e-6)
    np.testing.assert_allclose(ours.coef_[0], b.value, atol=1e-4)


@pytest.mark.parametrize("n_targets", [1, 3])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("shape", [(60, 20), (20, 50), (12, 300)], ids=["tall", "wide", "very wide"])
def test_group_lasso_agrees_with_cvxpy(shape, seed, n_targets):
    X, Y = problem(seed, *shape, n_targets)
    Y2 = Y.reshape(len(X), -1)
    groups = np.random.default_rng(seed).integers(0, 6, size=X.shape[1])
    lambda1 = 2.0
    B = cp.Variable((X.shape[1], n_targets))
    norms = [np.sqrt((groups == g).sum()) * cp.norm(B[groups == g], "fro") for g in np.unique(groups)]
    problem_ = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(Y2 - X @ B) + lambda1 * cp.sum(cp.hstack(norms))))
    problem_.solve(solver="CLARABEL")
    ours = GroupLasso(lambda1=lambda1, groups=groups, **RAW).fit(X, Y)
    assert ours.converged_
    assert ours.objective_path_[-1] == pytest.approx(problem_.value, rel=1e-6)
    if shape[0] > shape[1]:
        np.testing.assert_allclose(ours.coef_.T, B.value, atol=1e-4)


def test_relative_lambda1_of_one_leaves_no_group():
    groups = np.arange(13) // 3
    assert not GroupLasso(lambda1=1.0, groups=groups).fit(*WINE).coef_.any()
    assert GroupLasso(lambda1=0.99, groups=groups).fit(*WINE).coef_.any()


def test_groups_must_fit_the_features():
    with pytest.raises(ValueError, match=r"one label for each of the 13 features, got shape \(3,\)"):
        GroupLasso(groups=[0, 1, 2]).fit(*WINE)


def indefinite(selector, U):
    """The published model just below and just above its limit, against cvxpy."""
    X, y = WINE
    F = (X - X.mean(axis=0)) / np.linalg.norm(X - X.mean(axis=0), axis=0)
    t = (y - y.mean()) / np.linalg.norm(y - y.mean())
    options = {"formulation": "paper", "lambda_scale": "absolute", "lambda1": 0.05}
    limit = selector(lambda3=1e-9, **options).fit(X, y).lambda3_limit_
    ridge = getattr(selector(**options), "lambda2", 0.0)
    hessian = F.T @ F + 2 * ridge * np.eye(13) - 2 * 0.99 * limit * U
    b = cp.Variable(13)
    root = np.linalg.cholesky(hessian + 1e-13 * np.eye(13))
    objective = 0.5 * cp.sum_squares(root.T @ b) - (F.T @ t) @ b + 0.5 + 0.05 * cp.norm1(b)
    best = cp.Problem(cp.Minimize(objective)).solve(solver="CLARABEL")
    ours = selector(lambda3=0.99 * limit, **options, **TIGHT).fit(X, y)
    assert ours.converged_
    assert ours.objective_path_[-1] == pytest.approx(best, rel=1e-6)
    with pytest.raises(UnboundedObjectiveError, match=f"{limit:.6g}") as refusal:
        selector(lambda3=1.01 * limit, **options).fit(X, y)
    assert refusal.value.limit == pytest.approx(limit)


def test_the_published_in_lasso_and_its_limit():
    X, y = WINE
    indefinite(InLasso, joint_information(discretize(X), target_codes(X, y)))


def test_the_published_in_elastic_net_and_its_limit():
    from infused import structural_information

    indefinite(InElasticNet, structural_information(*WINE, graph="euclidean", criterion="two-way"))


def forward(X, Y, k, ridge):
    """Forward selection by brute force: every feature is tried with those selected."""
    selected = []
    for _ in range(k):
        values = []
        for j in range(X.shape[1]):
            S = [*selected, j]
            A = X[:, S].T @ X[:, S] + ridge * np.eye(len(S))
            fit = X[:, S].T @ Y
            values.append(np.inf if j in selected else -float((fit * np.linalg.solve(A, fit)).sum()))
        selected.append(int(np.argmin(values)))
    return selected


@pytest.mark.parametrize("ridge", [0.0, 0.1, 2.0])
@pytest.mark.parametrize("n_targets", [1, 3])
@pytest.mark.parametrize("shape", [(60, 20), (20, 30)], ids=["tall", "wide"])
def test_greedy_forward_agrees_with_brute_force(shape, n_targets, ridge):
    X, Y = problem(5, *shape, n_targets)
    selector = GreedyForward(n_features_to_select=10, ridge=ridge, standardize=False, target="real").fit(X, Y)
    weight = ridge * (X * X).sum() / X.shape[1]
    expected = forward(X, Y.reshape(len(X), -1), 10, weight)
    np.testing.assert_array_equal(np.argsort(selector.ranking_)[:10], expected)
    assert (selector.gains_ >= 0).all()


def test_greedy_forward_on_orthonormal_features_sorts_by_correlation():
    X, y = orthonormal()
    selector = GreedyForward(n_features_to_select=20, ridge=0.0, target="real").fit(X, y)
    np.testing.assert_array_equal(np.argsort(selector.ranking_), np.argsort(-np.abs(X.T @ y)))


def test_greedy_forward_passes_over_what_is_collinear():
    X, y = problem(6)
    twice = np.column_stack([X, X @ np.random.default_rng(0).normal(size=(20, 5)), X[:, :3]])
    for ridge in (0.0, 1e-8):
        selector = GreedyForward(n_features_to_select=28, ridge=ridge, target="real").fit(twice, y)
        assert selector.support_.all()
        assert (selector.gains_[20:] < 1e-6).all()
        assert selector.gains_.sum() <= 1 + 1e-9


def test_greedy_forward_breaks_ties_by_relevance_and_position():
    X, y = problem(7)
    doubled = np.repeat(X, 2, axis=1)
    selector = GreedyForward(n_features_to_select=10, ridge=0.0, target="real").fit(doubled, y)
    assert (selector.get_support(indices=True) % 2 == 0).all()
