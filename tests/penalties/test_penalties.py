"""Every penalty is held to one contract, and each to its own definition."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from infused._kernels.solvers import total_variation_prox
from infused.exceptions import InputError
from infused.penalties import (
    L1,
    Decorrelation,
    FusedChain,
    GroupNorms,
    Ridge,
    RowGroups,
    Structural,
    fusion_edges,
    grid_edges,
    incidence,
)

N, Q = 7, 3


def structure(seed=0, n=N):
    A = np.random.default_rng(seed).normal(size=(n, n))
    return 2 + 0.01 * (A + A.T)


LABELS = np.array(["b", "a", "b", "c", "a", "b", "d"])
NORMS = {
    "l1": L1(0.7),
    "row groups": RowGroups(0.7),
    "group norms": GroupNorms(0.7, LABELS),
    "fused chain": FusedChain(0.3, 0.8),
}
QUADRATIC = {
    "ridge": Ridge(0.4),
    "structural": Structural.given(structure(), 0.5),
    "decorrelation": Decorrelation(np.random.default_rng(1).normal(size=(5, N)) / 2, 0.3),
    "structural and ridge": Structural.given(structure(), 0.5, extra_ridge=0.2),
}
matrices = arrays(float, (N, Q), elements=st.floats(-5, 5, allow_subnormal=False))
steps = st.sampled_from([0.1, 1.0, 7.0])
every_norm = pytest.mark.parametrize("penalty", NORMS.values(), ids=NORMS)
every_quadratic = pytest.mark.parametrize("penalty", QUADRATIC.values(), ids=QUADRATIC)


@every_norm
@given(B=matrices, other=matrices, step=steps)
def test_the_prox_is_optimal(penalty, B, other, step):
    """(B - P) / step is a subgradient at P: the penalty lies above that plane everywhere."""
    P = penalty.prox(B, step)
    slope = (B - P) / step
    for Z in (other, P + 1e-3 * other, np.zeros_like(B)):
        assert penalty.value(Z) >= penalty.value(P) + (slope * (Z - P)).sum() - 1e-9


@every_norm
@given(A=matrices, B=matrices, step=steps)
def test_the_prox_is_firmly_nonexpansive(penalty, A, B, step):
    P, R = penalty.prox(A, step), penalty.prox(B, step)
    assert ((P - R) ** 2).sum() <= ((P - R) * (A - B)).sum() + 1e-9


@pytest.mark.parametrize("name", ["l1", "row groups"])
@given(B=matrices, step=steps)
def test_moreau(name, B, step):
    """B = prox(B) + projection of B on the dual ball."""
    penalty = NORMS[name]
    size = np.abs(B) if name == "l1" else np.linalg.norm(B, axis=1, keepdims=True)
    radius = step * penalty.weight
    projection = B * np.minimum(1, radius / np.maximum(size, 1e-300))
    np.testing.assert_allclose(penalty.prox(B, step) + projection, B, atol=1e-12)


@pytest.mark.parametrize("name", ["row groups", "group norms"])
@given(B=matrices, step=steps)
def test_the_distance_to_the_subdifferential_is_zero_where_it_should_be(name, B, step):
    penalty = NORMS[name]
    P = penalty.prox(B, step)
    np.testing.assert_allclose(penalty.distance(P, (P - B) / step), 0, atol=1e-9)
    far = penalty.distance(P, (P - B) / step + 1.0)
    assert (far >= 0).all()
    assert far.max() > 0


@every_quadratic
@given(B=matrices, D=matrices)
def test_gradients(penalty, B, D):
    """Central differences of tr(B' S B)."""
    S, step = penalty.matrix(N), 1e-4
    ahead, behind = (np.trace(Z.T @ S @ Z) for Z in (B + step * D, B - step * D))
    assert (ahead - behind) / (2 * step) == pytest.approx((penalty.gradient(B) * D).sum(), abs=1e-5)


@every_quadratic
def test_parts_of_quadratic_terms(penalty):
    S = penalty.matrix(N)
    rows, columns = np.array([4, 0, 2]), np.array([1, 2, 4, 6])
    np.testing.assert_allclose(penalty.block(rows, columns), S[np.ix_(rows, columns)], atol=1e-12)
    np.testing.assert_allclose(penalty.restricted(rows).matrix(3), S[np.ix_(rows, rows)], atol=1e-12)
    values = np.linalg.eigvalsh(S)
    assert penalty.convex
    assert values[0] >= -1e-9
    assert 2 * values[-1] <= penalty.curvature + 1e-9


def test_group_norms_are_row_norms_for_groups_of_one(rng):
    B, G = rng.normal(size=(2, N, Q))
    B[3] = 0.0
    alone, rows = GroupNorms(0.7, np.arange(N)), RowGroups(0.7)
    for method in ("value", "prox", "lengths"):
        np.testing.assert_allclose(getattr(alone, method)(B), getattr(rows, method)(B))
    np.testing.assert_allclose(alone.distance(B, G), rows.distance(B, G))


def test_group_norms_by_their_definition(rng):
    B, penalty = rng.normal(size=(N, Q)), GroupNorms(0.7, LABELS)
    expected = 0.7 * sum(
        np.sqrt((label == LABELS).sum()) * np.linalg.norm(B[label == LABELS]) for label in "abcd"
    )
    assert penalty.value(B) == pytest.approx(expected)
    features, starts = penalty.members(np.array([1, 2]))
    np.testing.assert_array_equal(features, [0, 2, 5, 3])
    np.testing.assert_array_equal(starts, [0, 3, 4])
    np.testing.assert_allclose(penalty.thresholds(np.array([1, 2])), [0.7 * np.sqrt(3), 0.7])


@given(y=arrays(float, st.integers(1, 40), elements=st.integers(-4, 4).map(float)), weight=st.floats(0, 20))
def test_total_variation_is_exact(y, weight):
    """The dual is the running sum of y - x: within the weight, and at it where x jumps."""
    x = total_variation_prox(y, weight)
    dual = np.cumsum(x - y)
    assert abs(dual[-1]) < 1e-9
    assert (np.abs(dual[:-1]) <= weight + 1e-9).all()
    jump = np.diff(x)
    moved = np.abs(jump) > 1e-9
    np.testing.assert_allclose(dual[:-1][moved], weight * np.sign(jump[moved]), atol=1e-8)


def test_the_fused_prox_agrees_with_cvxpy(rng):
    y, penalty = rng.normal(size=30), FusedChain(0.2, 0.4)
    x = cp.Variable(30)
    objective = 0.5 * cp.sum_squares(x - y) + 0.2 * cp.norm1(x) + 0.4 * cp.norm1(cp.diff(x))
    cp.Problem(cp.Minimize(objective)).solve(solver="CLARABEL", tol_gap_abs=1e-12, tol_gap_rel=1e-12)
    np.testing.assert_allclose(penalty.prox(y[:, None])[:, 0], x.value, atol=1e-5)


@pytest.mark.parametrize("n", [5, 30, 100])
def test_the_convexified_structure_is_positive_semidefinite(n):
    U = structure(1, n)
    term = Structural.given(U, 0.3)
    S = term.matrix()
    values = np.linalg.eigvalsh(S)
    assert values[0] >= -1e-9
    assert 2 * values[-1] <= term.curvature + 1e-9
    features = np.array([0, 2, n - 1])
    np.testing.assert_allclose(term.restricted(features).matrix(), S[np.ix_(features, features)], atol=1e-12)


def test_the_published_structure_is_minus_u():
    U = structure()
    np.testing.assert_allclose(Structural.given(U, 0.3, published=True).matrix(), -0.3 * U)


def test_edges():
    C = incidence(fusion_edges("chain", 4), 4).toarray()
    np.testing.assert_array_equal(C, [[-1, 1, 0, 0], [0, -1, 1, 0], [0, 0, -1, 1]])
    np.testing.assert_array_equal(grid_edges((2, 2)), [[0, 1], [2, 3], [0, 2], [1, 3]])
    assert len(fusion_edges("grid", 12, (3, 4))) == 3 * 3 + 2 * 4
    assert len(fusion_edges("none", 5)) == 0
    np.testing.assert_array_equal(fusion_edges([[0, 3], [1, 2]], 5), [[0, 3], [1, 2]])
    adjacency = sp.csr_array(np.array([[0, 1, 0], [1, 0, 1], [0, 0, 0]]))
    assert set(map(tuple, fusion_edges(adjacency, 3))) == {(0, 1), (1, 2)}


@pytest.mark.parametrize(
    ("fusion", "shape", "message"),
    [
        ("ring", None, "got 'ring'"),
        ("grid", None, "grid_shape"),
        ("grid", (2, 2), r"grid_shape of 5, got \(2, 2\)"),
        ([[0, 5]], None, r"outside 0 \.\. 4"),
        ([0, 1], None, "pairs of features"),
        ([[0.5, 1.0]], None, "pairs of features"),
    ],
)
def test_bad_edges_are_refused(fusion, shape, message):
    with pytest.raises(InputError, match=message):
        fusion_edges(fusion, 5, shape)
