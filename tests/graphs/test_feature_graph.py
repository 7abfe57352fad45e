"""One feature's graph, against the equations."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from infused import FeatureGraph, config_context, feature_distributions, target_distributions
from infused.exceptions import MemoryBudgetError, MissingExtraError


def test_adjacency_is_equation_1(rng):
    f = rng.normal(size=12)
    A = np.abs(f[:, None] - f)
    K = np.array([[a @ b / np.sqrt((a @ a) * (b @ b)) for b in A] for a in A])
    np.testing.assert_allclose(FeatureGraph(f, graph="euclidean").adjacency(), A, atol=1e-15)
    np.testing.assert_allclose(FeatureGraph(f).adjacency(), K, atol=1e-14)
    assert (FeatureGraph(f).adjacency() <= 1).all()


@pytest.mark.parametrize("graph", ["kernel", "euclidean"])
def test_distribution_is_the_steady_state_of_the_adjacency(rng, graph):
    g = FeatureGraph(rng.normal(size=30), graph=graph)
    degree = g.adjacency().sum(axis=1)
    np.testing.assert_allclose(g.distribution(), degree / degree.sum(), rtol=1e-13)
    np.testing.assert_array_equal(
        g.distribution(), feature_distributions(g.values[:, None], graph=graph)[:, 0]
    )


def test_a_random_walk_settles_there(rng):
    K = (g := FeatureGraph(rng.normal(size=10))).adjacency()
    walk = np.full(10, 0.1)
    for _ in range(200):
        walk = walk @ (K / K.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(walk, g.distribution(), rtol=1e-10)


def test_a_constant_feature_relates_all_samples_alike():
    g = FeatureGraph([3.0, 3.0, 3.0])
    np.testing.assert_array_equal(g.adjacency(), np.ones((3, 3)))
    assert g.entropy() == pytest.approx(np.log(3))


@pytest.mark.parametrize("y", [np.arange(20) % 3, np.linspace(0.05, 1.7, 20) ** 2])
def test_target_graphs(rng, y):
    f = rng.normal(size=20)
    g = FeatureGraph.of_target(f, y, graph="euclidean")
    expected = target_distributions(f[:, None], y, graph="euclidean")[:, 0]
    np.testing.assert_allclose(g.distribution(), expected, rtol=1e-12)


def test_class_means_that_differ_by_rounding_are_equal(rng):
    values = rng.normal(size=30) * 10.0 ** rng.integers(-8, 8, size=30)
    g = FeatureGraph.of_target(np.concatenate([values, rng.permutation(values)]), np.repeat([0, 1], 30))
    np.testing.assert_array_equal(g.adjacency(), np.ones((60, 60)))
    assert np.isfinite(FeatureGraph.of_target([1e308, 1.7e308, -1e308], [0, 0, 1]).values).all()


def test_large_values_do_not_overflow():
    assert np.isfinite(FeatureGraph([-1.7e308, 0.0, 1.7e308]).adjacency()).all()


def test_without_networkx_one_line_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(MissingExtraError, match=r"not installed: pip install networkx$"):
        FeatureGraph([0.0, 1.0]).to_networkx()


def test_export_to_networkx(rng):
    networkx = pytest.importorskip("networkx")
    g = FeatureGraph(rng.normal(size=6))
    exported = g.to_networkx()
    assert exported.number_of_nodes() == 6
    assert networkx.number_of_selfloops(exported) == 0
    assert exported.nodes[2]["value"] == g.values[2]
    assert exported.nodes[2]["share"] == g.distribution()[2]
    assert exported.edges[1, 4]["weight"] == g.adjacency()[1, 4]


def test_a_matrix_beyond_the_budget_is_refused():
    g = FeatureGraph(np.arange(1000.0))
    words = r"adjacency of 1000 samples.*distribution\(\)"
    with config_context(memory_budget="1MB"), pytest.raises(MemoryBudgetError, match=words):
        g.adjacency()
    assert len(g.distribution()) == 1000


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (np.ones((3, 3)), "a vector of samples"),
        ([1.0], "1 sample"),
        ([1.0, np.nan], "NaN"),
        (["a", "b"], r"could not convert|dtype"),
    ],
)
def test_bad_features_are_refused(f, message):
    with pytest.raises(ValueError, match=message):
        FeatureGraph(f)
