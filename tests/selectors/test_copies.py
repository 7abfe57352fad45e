"""Copies of a feature: the first has the coefficients, whatever the solver."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp

from infused import FusedLasso, InFusedLasso, Lasso, make_selector

RANKINGS = ("recursive", "forward", "coefficient", "path")


def drawn(seed, n_samples=60, n_features=20):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_features))
    return X, X @ (rng.normal(size=n_features) * (rng.random(n_features) < 0.4)) + rng.normal(size=n_samples)


def with_copies(X):
    """Some features again, one of them negated and doubled, between those that were there."""
    order = [0, 1, 2, 1, 3, 4, 0, 5, *range(6, X.shape[1]), 4]
    signs = np.ones(len(order))
    signs[[6, -1]] = -2.0
    copies = [3, 6, len(order) - 1]
    return X[:, order] * signs, copies, np.setdiff1d(np.arange(len(order)), copies)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("several", [False, True], ids=["one target", "several"])
@pytest.mark.parametrize(
    "make",
    [Lasso, partial(FusedLasso, fusion="chain", lambda2=0.05), partial(InFusedLasso, lambda3=0.0)],
    ids=["lasso", "fused on a chain", "informed without weight"],
)
def test_the_solution_is_that_without_the_copies(make, several, form):
    X, y = drawn(0)
    y = np.column_stack([y, X[:, 1] - y**2]) if several else y
    more, copies, others = with_copies(np.where(np.abs(X) < 0.3, 0.0, X))
    more = form(more)
    alone = make(tol=1e-8, n_jobs=1, max_iter=30_000).fit(more[:, others], y)
    found = make(tol=1e-8, n_jobs=1, max_iter=30_000).fit(more, y)
    np.testing.assert_allclose(found.coef_[:, others], alone.coef_, atol=1e-6)
    assert not found.coef_[:, copies].any() and not found.support_[copies].any()


@pytest.mark.parametrize("ranking", RANKINGS)
@pytest.mark.parametrize("id", ["lasso", "fused-lasso"])
def test_a_copy_never_comes_before_the_first(id, ranking):
    X, y = drawn(1)
    more, copies, _ = with_copies(X)
    more_options = {"fusion": "chain"} if id == "fused-lasso" else {}
    found = make_selector(id, n_features_to_select=6, ranking=ranking, **more_options).fit(more, y)
    for copy, first in zip(copies, (1, 0, 5), strict=True):
        assert found.ranking_[first] < found.ranking_[copy], (copy, first)


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
