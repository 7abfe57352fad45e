"""A selection hangs neither on the solver nor on its tolerance."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp

from infused import FusedLasso, InFusedLasso, Lasso, make_selector
from infused.selectors.linear.certainty import CertainOrder, Standing
from infused.solvers.result import Stopping

TOLERANCES = (1e-3, 1e-4, 1e-6)


def noisy(n_samples, n_features, n_classes, seed):
    """Mostly noise: most of what is selected was close to not being so."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_features))
    signal = X[:, :3].sum(axis=1) + 2 * rng.normal(size=n_samples)
    return X, signal if n_classes is None else np.digitize(signal, [-1.0, 1.0][: n_classes - 1])


@pytest.mark.parametrize(
    ("shape", "n_classes"), [((40, 600), None), ((50, 500), 3), ((400, 290), 3), ((300, 120), 2)]
)
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("id", ["lasso", "fused-lasso", "infused-lasso", "group-lasso"])
def test_every_solver_and_tolerance_selects_the_same(id, shape, n_classes, seed):
    X, y = noisy(*shape, n_classes, seed)
    make = partial(make_selector, id, n_features_to_select=min(shape[0], shape[1] // 2), n_jobs=1)
    fused = id in ("fused-lasso", "infused-lasso")
    solvers = ["split-bregman", *(["proximal"] if n_classes in (None, 2) else [])] if fused else [None]
    options = [{"solver": solver, "fusion": "chain"} if solver else {} for solver in solvers]
    fits = [make(tol=tol, **more).fit(X, y) for more in options for tol in TOLERANCES]
    for other in fits[1:]:
        np.testing.assert_array_equal(other.support_, fits[0].support_)


@pytest.mark.parametrize("make", [Lasso, FusedLasso, partial(InFusedLasso, fusion="chain")])
def test_the_features_that_a_model_needs_do_not_hang_on_the_tolerance(make):
    X, y = noisy(60, 300, None, 0)
    first, *others = (make(tol=tol, n_jobs=1).fit(X, y).support_ for tol in TOLERANCES)
    for other in others:
        np.testing.assert_array_equal(other, first)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_the_first_of_copies_has_their_coefficients(form):
    """However a solver shares them: and a copy with its sign changed is one too."""
    X, y = noisy(60, 30, None, 0)
    X[X < 0.3] = 0.0
    alone = Lasso(n_jobs=1, tol=1e-8).fit(form(X), y)
    both = Lasso(n_jobs=1, tol=1e-8).fit(form(np.hstack([X, X[:, ::-1], -2 * X])), y)
    np.testing.assert_allclose(both.coef_[:, :30], alone.coef_, atol=1e-7)
    assert not both.coef_[:, 30:].any()


def test_fused_features_are_ties():
    """Of equal coefficients the first comes first, whatever a solver leaves of their difference."""
    equal = Standing(np.array([1.0, 3.0 - 1e-9, 3.0]), np.ones(3))
    np.testing.assert_array_equal(equal.order(), [1, 2, 0])
    certain = CertainOrder(1, (1e-9, 1e-9))
    assert look(certain, [1.0, 3.0 - 1e-9, 3.0], [1.0, 1.0, 1.0])


def test_copies_of_a_feature_do_not_keep_a_solver_going():
    """They are ties for ever: the first comes first, and nobody waits for the floor of the tolerance."""
    X, y = noisy(60, 300, None, 0)
    assert Lasso(n_features_to_select=20, n_jobs=1).fit(np.hstack([X, X]), y).certificate_ > 1e-8


def look(certain, lengths, leftover):
    return certain(Standing(np.array(lengths), np.array(leftover)))


def test_an_order_is_certain_when_the_margin_is_more_than_the_change():
    certain = CertainOrder(2)
    assert not look(certain, [3.0, 2.0, 1.0, 0.0], [1.0, 1.0, 1.0, 0.5])  # nothing to compare with
    assert not look(certain, [3.0, 2.0, 1.9, 0.0], [1.0, 1.0, 1.0, 0.5])
    assert look(certain, [3.0, 2.0, 1.85, 0.0], [1.0, 1.0, 1.0, 0.5])


def test_without_a_cut_all_that_have_no_score_must_be_in_order():
    certain = CertainOrder(None)
    look(certain, [3.0, 2.0, 0.0, 0.0], [1.0, 1.0, 0.5, 0.4])
    assert not look(certain, [3.0, 2.5, 0.0, 0.0], [1.0, 1.0, 0.5, 0.3])
    assert look(certain, [3.0, 2.5, 0.0, 0.0], [1.0, 1.0, 0.5, 0.35])
    assert not look(certain, [3.0, 2e-4, 0.0, 0.0], [1.0, 1.0, 0.5, 0.35])  # it may be none
    assert look(certain, [3.0, 2.5, 0.0, 0.0], [1.0, 1.0, 0.35, 0.35]) is False
    assert look(certain, [3.0, 2.5, 0.0, 0.0], [1.0, 1.0, 0.35, 0.35])  # a tie


def test_who_has_hardly_a_coefficient_may_have_none():
    """It then stands by what it leaves over, and one that is left may come before it."""
    certain = CertainOrder(2)
    look(certain, [3.0, 1e-4, 0.0, 0.0], [1.0, 0.3, 0.4, 0.2])
    assert not look(certain, [3.0, 2e-5, 0.0, 0.0], [1.0, 0.3, 0.4, 0.2])
    assert look(certain, [3.0, 2.1e-5, 0.0, 0.0], [1.0, 0.3, 0.4, 0.2])  # it has, now that it hardly changes
    certain = CertainOrder(2)
    look(certain, [3.0, 1e-4, 0.0, 0.0], [1.0, 0.5, 0.4, 0.2])
    assert look(certain, [3.0, 2e-5, 0.0, 0.0], [1.0, 0.5, 0.4, 0.2])  # either way it is taken
    # One in a million of the longest is rounding: one solver leaves it, another does not.
    standing = Standing(np.array([3.0, 1e-9, 0.0]), np.array([1.0, 0.3, 0.4]))
    np.testing.assert_array_equal(standing.order(), [0, 2, 1])


def test_a_rule_that_is_never_content_ends_at_the_floor():
    rule, seen = Stopping(1e-3, lambda coef, gradient: False), []
    certificate = 1.0
    while not rule.enough(certificate, np.empty(0), np.empty(0)):
        seen.append(certificate)
        certificate /= 2
    assert certificate <= 1e-9
    assert rule.end(certificate, 10)[0]
    assert not Stopping(1e-3).enough(2e-3, np.empty(0), np.empty(0))
    assert Stopping(1e-3).enough(1e-3, np.empty(0), np.empty(0))
