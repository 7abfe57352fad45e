"""Copies of a feature: of all ways to share a coefficient that are solutions, one, whatever the solver."""

from __future__ import annotations

import numpy as np
import pytest

from infused import FusedLasso
from infused.penalties.fusion import chain_edges, grid_edges
from infused.selectors.linear.model import GOLDEN, Copies

LAMBDAS = ((1.0, 0.1), (0.1, 1.0), (1.0, 1.0), (0.3, 0.7), (1.0, 1e-9), (1e-9, 1.0), (0.0, 1.0))


def drawn(seed, n_features=14):
    """Coefficients of which some are copies, most of them zero or on plateaus, and their edges."""
    rng = np.random.default_rng(seed)
    b = np.repeat(rng.choice([0.0, 0.0, 1.0, -2.0, 3.0], size=n_features // 2), 2)
    first, sign = np.arange(n_features), np.ones(n_features)
    groups = rng.permutation(n_features)[:6].reshape(3, 2)
    for copies in np.sort(groups, axis=1):
        first[copies], sign[copies[1]] = copies[0], rng.choice([-1.0, 1.0])
    edges = chain_edges(n_features) if seed % 2 else grid_edges((2, n_features // 2))
    return b[:, None], Copies(first, sign), edges


def penalty(b, edges, lambda1, lambda2):
    return lambda1 * np.abs(b).sum() + lambda2 * np.abs(b[edges[:, 1]] - b[edges[:, 0]]).sum()


@pytest.mark.parametrize("lambdas", LAMBDAS)
@pytest.mark.parametrize("seed", range(8))
def test_no_way_to_share_costs_less(seed, lambdas):
    """Sums and all others are as they were; steps from copy to copy cost, or leave less at the first."""
    b, copies, edges = drawn(seed)
    arranged = copies.arranged(b, edges, *lambdas)
    np.testing.assert_allclose(copies.joined(arranged), copies.joined(b), atol=1e-12)
    alone = np.bincount(copies.first, minlength=len(b))[copies.first] == 1
    np.testing.assert_array_equal(arranged[alone], b[alone])
    cost, rounding = penalty(arranged[:, 0], edges, *lambdas), 1e-7 * max(lambdas)
    assert cost <= penalty(b[:, 0], edges, *lambdas) + rounding
    later = np.flatnonzero(copies.first != np.arange(len(b)))
    away = 1 + GOLDEN * later % 1
    for steps in np.random.default_rng(0).choice([0.0, 0.0, 0.5, -0.5, 1.0, -2.0], size=(400, len(later))):
        moved = shared_otherwise(arranged, copies, later, steps)
        other = penalty(moved[:, 0], edges, *lambdas)
        assert other >= cost - rounding
        if other <= cost + 1e-12:
            assert away @ np.abs(moved[later, 0]) >= away @ np.abs(arranged[later, 0]) - 1e-9


def shared_otherwise(b, copies, later, steps):
    moved = b.copy()
    moved[later, 0] += steps
    np.add.at(moved[:, 0], copies.first[later], -copies.sign[later] * steps)
    return moved


def test_it_is_the_same_however_they_were_shared():
    rng = np.random.default_rng(0)
    for seed in range(20):
        b, copies, edges = drawn(seed)
        later = np.flatnonzero(copies.first != np.arange(len(b)))
        other = shared_otherwise(b, copies, later, rng.normal(size=len(later)))
        np.testing.assert_allclose(
            copies.arranged(other, edges, 1.0, 0.1), copies.arranged(b, edges, 1.0, 0.1), atol=1e-9
        )


def test_zeros_among_zeros_need_no_program(monkeypatch):
    b, first = np.zeros((9, 1)), np.array([0, 1, 2, 3, 1, 5, 6, 7, 8])
    b[7:] = 1.0
    copies = Copies(first, np.ones(9))
    monkeypatch.setattr(Copies, "_program", None)
    assert copies.arranged(b, chain_edges(9), 1.0, 1.0) is b


@pytest.mark.parametrize("seed", [1, 2])
def test_every_solver_selects_the_same_words(seed):
    """Many a word is a copy of another; the chain along which they are fused means nothing."""
    rng = np.random.default_rng(seed)
    X = (rng.random((200, 400)) < 0.04).astype(float)
    X[:, 266:] = X[:, rng.integers(266, size=134)]
    y = X @ (rng.normal(size=400) * (rng.random(400) < 0.3)) + 0.5 * rng.normal(size=200)
    usual = {"n_features_to_select": 60, "fusion": "chain", "n_jobs": 1}
    first, *others = (
        FusedLasso(**usual, solver=solver, tol=tol).fit(X, y)
        for solver in ("split-bregman", "proximal")
        for tol in (1e-3, 1e-6)
    )
    for other in others:
        np.testing.assert_array_equal(other.support_, first.support_)
    np.testing.assert_allclose(others[0].coef_, others[-1].coef_, atol=1e-6)
