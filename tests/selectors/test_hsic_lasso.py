"""The lasso on feature graphs: its solution, its path and its ranking by their definitions."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine, make_friedman1
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso

from infused import HSICLasso, config_context
from infused.graphs.inner_products import MANY_SAMPLES
from infused.selectors.kernel.path import GraphLasso
from tests.reference import centred_graph

GRAPHS = ("gaussian", "distance", "kernel", "laplacian")
WINE = load_wine(return_X_y=True)
every_graph = pytest.mark.parametrize("graph", GRAPHS)


def problem(real, n_samples=70, n_features=12, seed=0):
    """Features of which three matter, one of them by its square; one is a copy, one is constant."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_features))
    X[:, 8], X[:, 9] = X[:, 2], 4.0
    signal = X[:, 0] + X[:, 1] ** 2 + np.abs(X[:, 2]) + 0.3 * rng.normal(size=n_samples)
    return X, signal if real else np.digitize(signal, np.quantile(signal, [0.4, 0.7]))


def graphs_of(X, y, graph, real):
    """The graphs of all features and of the target, samples x samples."""
    w = np.ones(len(X))
    K = [centred_graph(f, graph, w) for f in X.T]
    if real:
        return K, centred_graph(y, graph, w)
    sizes = np.bincount(y)
    return K, centred_graph(None, None, w, np.equal.outer(y, y) / sizes[y])


@pytest.mark.parametrize("real", [True, False], ids=["continuous", "classes"])
@every_graph
def test_the_solution_is_that_of_a_non_negative_lasso_on_the_stacked_graphs(graph, real):
    X, y = problem(real)
    K, L = graphs_of(X, y, graph, real)
    stacked = np.array([k.ravel() for k in K]).T
    for lambda1 in (0.5, 0.05, 0.002):
        selector = HSICLasso(graph=graph, lambda1=lambda1).fit(X, y)
        peer = Lasso(
            alpha=selector.lambda_ / L.size, fit_intercept=False, positive=True, tol=1e-12, max_iter=10**5
        )
        b = peer.fit(stacked, L.ravel()).coef_
        b[2], b[8] = b[2] + b[8], 0.0  # the first of two copies has it all
        np.testing.assert_allclose(selector.graph_coef_, b, atol=1e-6)
        assert selector.lambda_ == pytest.approx(lambda1 * max((k * L).sum() for k in K))
        assert selector.certificate_ < 1e-10
        np.testing.assert_array_equal(selector.support_, selector.graph_coef_ > 0)


@every_graph
def test_relevance_and_redundancy_are_inner_products(graph):
    X, y = problem(real=True)
    K, L = graphs_of(X, y, graph, True)
    selector = HSICLasso(n_features_to_select=4, graph=graph).fit(X, y)
    np.testing.assert_allclose(selector.relevance_, [(k * L).sum() for k in K], atol=1e-10)
    best = [K[j] for j in np.argsort(selector.ranking_)[:4]]
    np.testing.assert_allclose(
        selector.redundancy_, [[(a * b).sum() for a in best] for b in best], atol=1e-10
    )


def solved(K, L, lambda1, lambda2=0.0, free=()):
    """The convex problem as it is written, by cvxpy."""
    G = np.array([[(a * b).sum() for a in K] for b in K])
    c = np.array([(k * L).sum() for k in K])
    values, vectors = np.linalg.eigh(G)
    root = np.sqrt(np.maximum(values, 0))[:, None] * vectors.T
    b = cp.Variable(len(K), nonneg=True)
    penalised = [j for j in range(len(K)) if j not in free]
    penalty = lambda1 * cp.sum(b[penalised]) + lambda2 * cp.norm1(cp.diff(b))
    goal = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(root @ b) - c @ b + penalty))
    goal.solve(solver="CLARABEL", tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
    return b.value, goal.value


@pytest.mark.parametrize("lambda2", [0.01, 0.3])
@every_graph
def test_fusion_is_that_of_the_problem(graph, lambda2):
    X, y = problem(real=False)
    X = X[:, np.arange(12) != 9]  # a constant is not in the chain
    K, L = graphs_of(X, y, graph, False)
    selector = HSICLasso(graph=graph, fusion="chain", lambda1=0.1, lambda2=lambda2, tol=1e-10).fit(X, y)
    largest = selector.lambda_ / 0.1
    b, _ = solved(K, L, 0.1 * largest, lambda2 * largest)
    together = lambda b: np.delete(b, [2, 8])  # copies may share  # noqa: E731
    np.testing.assert_allclose(together(selector.graph_coef_), together(b), atol=1e-4)
    assert selector.certificate_ <= 1e-10 and selector.converged_


def test_a_constant_is_not_in_the_chain():
    X, y = problem(real=True)
    fused = HSICLasso(fusion="chain", lambda2=0.5).fit(X, y)
    without = HSICLasso(fusion="chain", lambda2=0.5).fit(np.delete(X, 9, axis=1), y)
    assert fused.graph_coef_[9] == 0
    np.testing.assert_allclose(np.delete(fused.graph_coef_, 9), without.graph_coef_, atol=1e-9)
    nothing = HSICLasso(fusion="chain").fit(np.ones((6, 3)), np.arange(6) % 2)
    assert not nothing.graph_coef_.any()


def test_what_is_kept_carries_no_penalty():
    X, y = problem(real=True)
    K, L = graphs_of(X, y, "gaussian", True)
    selector = HSICLasso(keep=[5, 0], lambda1=0.2).fit(X, y)
    b, _ = solved(K, L, selector.lambda_, free=(0, 5))
    np.testing.assert_allclose(np.delete(selector.graph_coef_, [2, 8]), np.delete(b, [2, 8]), atol=1e-5)
    assert selector.ranking_[[5, 0]].tolist() == [1, 2]


@pytest.mark.parametrize("lambda2", [0.0, 0.05])
def test_the_duality_gap_bounds_the_distance_from_the_minimum(lambda2):
    X, y = problem(real=True)
    K, L = graphs_of(X, y, "gaussian", True)
    G, c = np.array([[(a * b).sum() for a in K] for b in K]), np.array([(k * L).sum() for k in K])
    lasso = GraphLasso(G, c, np.ones(len(c)), 0.05, lambda2)
    best, minimum = solved(K, L, 0.05, lambda2)
    rng = np.random.default_rng(0)
    for scale in (1e-4, 1e-2, 1.0):
        b = np.maximum(best + scale * rng.normal(size=len(best)), 0.0)
        value = 0.5 * b @ G @ b - c @ b + 0.05 * b.sum() + lambda2 * np.abs(np.diff(b)).sum()
        assert lasso.duality_gap(b) >= 2 * (value - minimum) - 1e-9
    assert lasso.duality_gap(np.maximum(best, 0.0)) < 1e-4


def test_a_solver_that_stops_early_says_so():
    with pytest.warns(ConvergenceWarning, match=r"duality gap of .*Raise max_iter or tol"):
        selector = HSICLasso(fusion="chain", max_iter=3, tol=1e-12).fit(*WINE)
    assert not selector.converged_


def test_the_recursion_drops_the_least_coefficients():
    """The last feature that the model keeps is the best one by its own fits on fewer and fewer features."""
    X, y = problem(real=True)
    selector = HSICLasso().fit(X, y)
    K, L = graphs_of(X, y, "gaussian", True)
    own = np.flatnonzero(selector.graph_coef_)
    dropped: list[int] = []
    while len(own) > 1:
        b, _ = solved([K[j] for j in own], L, selector.lambda_)
        by_worth = np.argsort(-b)
        stays = min(len(own) - 1, int(0.8 * len(own)))
        dropped = [*own[by_worth[stays:]], *dropped]
        own = np.sort(own[by_worth[:stays]])
    n = len(dropped) + 1
    assert np.argsort(selector.ranking_)[:n].tolist() == [own[0], *dropped]


@pytest.mark.parametrize("ranking", ["recursive", "path"])
def test_behind_the_solution_features_follow_by_what_is_left_of_their_relevance(ranking):
    X, y = problem(real=True, n_features=30)
    K, L = graphs_of(X, y, "gaussian", True)
    selector = HSICLasso(n_features_to_select=25, ranking=ranking, lambda1=0.3).fit(X, y)
    residual = L - sum(b * k for b, k in zip(selector.graph_coef_, K, strict=True))
    left = np.array([(k * residual).sum() for k in K]) / (selector.lambda_ / 0.3)
    behind = np.flatnonzero((selector.graph_coef_ == 0) & (np.arange(30) != 9))
    np.testing.assert_allclose(selector.scores_[behind], left[behind], atol=1e-8)
    assert selector.ranking_[9] == 30  # a constant
    assert selector.support_.sum() == 25
    assert (selector.graph_coef_ > 0).sum() < 25


@pytest.mark.parametrize("ranking", ["recursive", "path"])
@pytest.mark.parametrize("fusion", ["none", "chain"])
def test_there_is_one_ranking_for_all_numbers(ranking, fusion):
    options = {"ranking": ranking, "fusion": fusion}
    fits = [HSICLasso(n_features_to_select=k, **options).fit(*WINE) for k in (1, 6, 13)]
    for one in fits[1:]:
        np.testing.assert_array_equal(one.ranking_, fits[0].ranking_)
        np.testing.assert_array_equal(one.scores_, fits[0].scores_)


def test_the_path_ranks_by_the_order_of_entry():
    X, y = problem(real=True)
    selector = HSICLasso(ranking="path").fit(X, y)
    entered: list[int] = []
    for lambda1 in np.geomspace(1, 0.05, 400):
        support = np.flatnonzero(HSICLasso(lambda1=float(lambda1)).fit(X, y).graph_coef_)
        entered += [j for j in support if j not in entered]
    assert np.argsort(selector.ranking_)[: len(entered)].tolist() == entered


@every_graph
def test_order_shift_scale_and_names_do_not_matter(graph):
    X, y = problem(real=False)
    usual = HSICLasso(n_features_to_select=5, graph=graph).fit(X, y)
    rng = np.random.default_rng(0)
    samples, columns = rng.permutation(len(X)), rng.permutation(X.shape[1])
    signs = rng.choice([-1.0, 1.0], X.shape[1])
    changed = (
        (X[samples], y[samples], slice(None)),
        (X * signs * rng.uniform(0.1, 9, X.shape[1]) + rng.normal(size=X.shape[1]), y, slice(None)),
        (X, np.array(["red", "blue", "green"])[y], slice(None)),
        (X[:, columns], y, columns),
    )
    for other, target, places in changed:
        found = HSICLasso(n_features_to_select=5, graph=graph).fit(other, target)
        np.testing.assert_allclose(found.relevance_, usual.relevance_[places], atol=1e-9)
        own, theirs = np.delete(found.ranking_, []), usual.ranking_[places]
        copies = np.isin(np.arange(12)[places], [2, 8])
        np.testing.assert_array_equal(own[~copies], theirs[~copies])


def test_a_small_memory_changes_nothing():
    X, y = load_breast_cancer(return_X_y=True)
    roomy = HSICLasso(n_features_to_select=8).fit(X, y)
    with config_context(memory_budget=8 * 569 * 16 * 4):  # four features
        tight = HSICLasso(n_features_to_select=8).fit(X, y)
    np.testing.assert_allclose(tight.graph_coef_, roomy.graph_coef_, atol=1e-10)
    np.testing.assert_array_equal(tight.support_, roomy.support_)
    assert tight.certificate_ < 1e-10


def test_many_samples_are_binned_and_the_error_is_told():
    X, y = make_friedman1(MANY_SAMPLES + 500, 20, random_state=0)
    selector = HSICLasso(n_features_to_select=5).fit(X, y)
    assert selector.get_support(indices=True).tolist() == [0, 1, 2, 3, 4]
    assert 0 < selector.approximation_error_ < 1e-3
    assert HSICLasso(n_features_to_select=5).fit(X[:300], y[:300]).approximation_error_ == 0


def relations():
    """Tables whose relation is not linear, and the features that matter."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 40))
    noise = 0.3 * rng.normal(size=400)
    yield pytest.param(*make_friedman1(400, 50, random_state=0), 5, id="friedman")
    yield pytest.param(X, ((X[:, :3] ** 2).sum(axis=1) > 2.4).astype(int), 3, id="radial")
    yield pytest.param(X, (X[:, :4] ** 2).sum(axis=1) + noise, 4, id="u-shapes")
    yield pytest.param(X, ((X[:, 0] > 0) & (X[:, 1] > 0)).astype(int), 2, id="gate")


@pytest.mark.parametrize(("X", "y", "k"), list(relations()))
def test_relations_that_are_not_linear_are_found(X, y, k):
    assert HSICLasso(n_features_to_select=k).fit(X, y).get_support(indices=True).tolist() == list(range(k))


@pytest.mark.parametrize("keep", [[13], [13, 0, 14]])
def test_constants_and_copies_may_be_kept(keep):
    X, y = load_wine(return_X_y=True)
    X = np.column_stack([X, np.ones(len(X)), X[:, 0]])
    selector = HSICLasso(n_features_to_select=5, keep=keep).fit(X, y)
    assert set(np.flatnonzero(selector.support_)) >= set(keep) and selector.certificate_ < 1e-6
