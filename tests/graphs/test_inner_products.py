"""Inner products of graphs against the graphs themselves, samples x samples."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import infused
from infused._runtime.processes import each
from infused.exceptions import MemoryBudgetError
from infused.graphs import inner_products as routes
from infused.graphs.inner_products import ColumnProducts, GraphColumns, ThinProducts, graph_products
from tests.reference import centred_graph

GRAPHS = ("gaussian", "distance", "kernel", "laplacian")
ENOUGH = 10**9


def table(n_samples=60, seed=0):
    """Numbers with and without ties, heavy tails, a rare value, a copy and a constant."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, 7))
    X[:, 1] = np.round(X[:, 1])
    X[:, 2] = rng.standard_cauchy(n_samples)
    X[:, 3] = np.arange(n_samples) == 5
    X[:, 4] = 3 * X[:, 0] - 1
    X[:, 5] = 2.0
    return X


def targets(n_samples=60, seed=1):
    """Classes, one and several continuous targets: columns, and whether they are classes."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, n_samples)
    return {
        "classes": (np.eye(3)[codes], True),
        "continuous": (rng.normal(size=(n_samples, 1)), False),
        "several": (np.column_stack([rng.normal(size=n_samples), rng.exponential(size=n_samples)]), False),
    }


def defined(X, Y, classes, graph, weights, owners):
    """All graphs by their definition: of each variable, and of the target."""
    columns = [centred_graph(column, graph, weights) for column in X.T]
    K = [sum(columns[j] for j in np.flatnonzero(owners == v)) for v in range(owners.max() + 1)]
    if classes:
        L = centred_graph(None, None, weights, sum(np.outer(y, y) / (weights @ y) for y in Y.T))
    else:
        L = sum(centred_graph(column, graph, weights) for column in Y.T)
    return [k / (np.linalg.norm(k) or 1.0) for k in K], L / np.linalg.norm(L)


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("grouped", [False, True], ids=["columns", "groups"])
@pytest.mark.parametrize("target", ["classes", "continuous", "several"])
@pytest.mark.parametrize("graph", GRAPHS)
def test_every_route_is_the_definition(graph, target, grouped, weighted, monkeypatch):
    X, (Y, classes) = table(), targets()[target]
    weights = np.random.default_rng(2).uniform(0.5, 3, len(X)) if weighted else np.ones(len(X))
    owners = np.array([0, 1, 0, 2, 1, 3, 4]) if grouped else np.arange(7)
    columns = GraphColumns.of(X, owners, owners.max() + 1, weights)
    goal = GraphColumns.of_target(Y, weights, classes)
    K, L = defined(X, Y, classes, graph, weights, owners)
    c = [(k * L).sum() for k in K]
    G = [[(k * other).sum() for other in K] for k in K]
    every, kinds = np.arange(len(K)), set()
    for many, few in ((4096, 0), (4096, 64), (10, 0)):
        monkeypatch.setattr(routes, "MANY_SAMPLES", many)
        monkeypatch.setattr(routes, "FEW_VALUES", few)
        found = graph_products(columns, goal, graph, ENOUGH)
        kinds.add(type(found))
        block = found.block(every)
        np.testing.assert_allclose(found.relevance, c, atol=1e-10)
        np.testing.assert_allclose([block.products(j) for j in every], G, atol=1e-10)
        some = found.block(every[1:4:2])
        np.testing.assert_allclose(some.products(0), np.array(G)[0][1:4:2], atol=1e-10)
        assert found.error < 1e-10
    assert kinds == {ThinProducts, ColumnProducts}


@pytest.mark.parametrize("graph", GRAPHS)
def test_missing_values_have_a_graph_of_their_own(graph):
    X, y = table()[:, :2], targets()["continuous"][0]
    X[::4, 0] = np.nan
    missing, w = np.isnan(X[:, 0]), np.ones(60)
    filled = np.where(missing, X[~missing, 0].mean(), X[:, 0])
    # Values keep the scale that those present have with zeros for the others.
    K = 0.75 * centred_graph(filled, graph, w) + 0.25 * centred_graph(missing.astype(float), graph, w)
    L = centred_graph(y[:, 0], graph, w)
    expected = (K * L).sum() / np.linalg.norm(K)
    for given in (X, sp.csc_array(X)):
        columns = GraphColumns.of(given, np.arange(2), 2, w)
        found = graph_products(columns, GraphColumns.of_target(y, w, False), graph, ENOUGH)
        assert found.relevance[0] == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("graph", GRAPHS)
def test_the_measured_error_of_bins_is_that_of_all_pairs(graph, monkeypatch):
    """Of few features the error is measured; here of all."""
    rng = np.random.default_rng(0)
    X = np.column_stack(
        [rng.normal(size=(900, 2)), rng.standard_t(3, size=900), np.exp(rng.normal(size=900))]
    )
    y, w = (X[:, [0]] ** 2 + rng.normal(size=(900, 1))), np.ones(900)
    columns, goal = GraphColumns.of(X, np.arange(4), 4, w), GraphColumns.of_target(y, w, False)
    exact = graph_products(columns, goal, graph, ENOUGH)
    monkeypatch.setattr(routes, "MANY_SAMPLES", 100)
    errors = {}
    for nodes in (16, 64, 256):
        monkeypatch.setattr(routes, "NODES", nodes)
        binned = graph_products(columns, goal, graph, ENOUGH)
        errors[nodes] = np.abs(binned.relevance - exact.relevance).max()
        assert binned.error > 0
        assert errors[nodes] <= 3 * binned.error
    assert errors[256] < 2e-3
    assert errors[256] < errors[16]


def test_factors_that_do_not_fit_are_computed_again():
    X, (y, _), w = table(), targets()["continuous"], np.ones(60)
    columns, goal = GraphColumns.of(X, np.arange(7), 7, w), GraphColumns.of_target(y, w, False)
    roomy = graph_products(columns, goal, "gaussian", ENOUGH)
    tight = graph_products(columns, goal, "gaussian", 8 * 60 * 16 * 3)
    np.testing.assert_allclose(tight.relevance, roomy.relevance, rtol=1e-12)
    for some in (np.arange(2), np.arange(2, 7)):  # the first are kept, the others are not
        block = tight.block(some)
        for j in range(7):
            np.testing.assert_allclose(
                block.products(j), roomy.block(np.arange(7)).products(j)[some], atol=1e-12
            )


@pytest.mark.parametrize(("n_samples", "few"), [(40, 256), (40, 0), (300, 256)])
def test_a_combination_of_graphs_is_one_graph(n_samples, few, monkeypatch):
    """With fewer samples than the factors have columns, the factor of their sum is made smaller."""
    monkeypatch.setattr(routes, "FEW_SAMPLES", few)
    X, (y, _), w = table(n_samples), targets(n_samples)["continuous"], np.ones(n_samples)
    columns, goal = GraphColumns.of(X, np.arange(7), 7, w), GraphColumns.of_target(y, w, False)
    roomy = graph_products(columns, goal, "gaussian", ENOUGH)
    coef, some = np.array([0.0, 0.5, 0.0, 2.0, 0.1, 0.7, 1.0]), np.array([0, 2, 5, 6])
    block = roomy.block(some)
    expected = sum(b * block.products(j) for j, b in enumerate(coef))
    np.testing.assert_allclose(roomy.combined(coef, some), expected, atol=1e-12)
    tight = graph_products(columns, goal, "gaussian", 8 * 16 * n_samples).combined(coef, some)
    assert tight is None or n_samples <= few  # sums over pairs keep no factors
    if tight is not None:
        np.testing.assert_allclose(tight, expected, atol=1e-12)


def hard_rows(n_samples):
    """Rows whose graphs are hard to evaluate: outliers, steps, tight clusters, heavy tails."""
    rng = np.random.default_rng(0)
    outlier = rng.normal(scale=1e-9, size=n_samples)
    outlier[0] = 1.0
    rows = [
        rng.normal(size=n_samples),
        outlier,
        (np.arange(n_samples) % 2).astype(float),
        np.tan(np.pi * (np.arange(1, n_samples + 1) / (n_samples + 1) - 0.5)),
        np.repeat([0.0, 1.0, 1.0 + 1e-7], n_samples // 3),
        np.arange(n_samples) ** 3.0,
    ]
    return np.array([(row - row.mean()) / row.std() for row in rows])


@pytest.mark.parametrize("n_samples", [12, 60, 240])
def test_gaussian_graphs_are_those_of_the_definition(n_samples, monkeypatch):
    """By sums over pairs and by factors, with whole weights and without."""
    X, rng = hard_rows(n_samples).T, np.random.default_rng(1)
    y = X[:, [0]] + X[:, [5]] ** 2
    for w in (np.ones(n_samples), rng.integers(1, 4, n_samples).astype(float)):
        columns, goal = GraphColumns.of(X, np.arange(6), 6, w), GraphColumns.of_target(y, w, False)
        K = [centred_graph(f, "gaussian", w) for f in X.T]
        relevance = [(k * centred_graph(y[:, 0], "gaussian", w)).sum() for k in K]
        for few in (256, 0):
            monkeypatch.setattr(routes, "FEW_SAMPLES", few)
            monkeypatch.setattr(routes, "FIRST_ROWS", 8)  # some factors grow
            found = graph_products(columns, goal, "gaussian", ENOUGH)
            np.testing.assert_allclose(found.relevance, relevance, rtol=0, atol=1e-10)
            block = found.block(np.arange(6))
            for j in range(6):
                expected = [(k * K[j]).sum() for k in K]
                np.testing.assert_allclose(block.products(j), expected, rtol=0, atol=1e-10)


def test_what_cannot_fit_is_refused():
    X, (y, _), w = table(100), targets(100)["continuous"], np.ones(100)
    columns, goal = GraphColumns.of(X, np.arange(7), 7, w), GraphColumns.of_target(y, w, False)
    with pytest.raises(MemoryBudgetError, match="graph='gaussian'"):
        graph_products(columns, goal, "distance", 1000)


@pytest.mark.parametrize("n_samples", [60, 300])
def test_workers_of_a_cluster_multiply_all_variables_with_one(client, n_samples, monkeypatch):
    X, w = table(n_samples), np.ones(n_samples)
    y, _ = targets(n_samples)["continuous"]
    columns, goal = GraphColumns.of(X, np.arange(7), 7, w), GraphColumns.of_target(y, w, False)
    here = graph_products(columns, goal, "gaussian", ENOUGH)
    monkeypatch.setattr(routes, "SPREAD", 3)
    tasks = []
    monkeypatch.setattr(routes, "each", lambda *given: tasks.append(given[1]) or each(*given))
    coef, some = np.array([0.0, 0.5, 0.0, 2.0, 0.1, 0.7, 1.0]), np.array([0, 2, 4, 5, 6])
    with infused.cluster(client):
        there = graph_products(columns, goal, "gaussian", ENOUGH)
        combined = there.combined(coef, some)
    assert [len(parts) for parts in tasks] == [3, 2]
    np.testing.assert_allclose(there.relevance, here.relevance, rtol=0, atol=1e-12)
    np.testing.assert_allclose(combined, here.combined(coef, some), rtol=0, atol=1e-12)
    np.testing.assert_allclose(there.block(some).products(1), here.block(some).products(1), atol=1e-12)
