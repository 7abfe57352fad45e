"""Selectors on arrays of Dask: what the workers leave out, the rounds here would leave out too."""

from __future__ import annotations

import os
import signal
import warnings

import numpy as np
import pytest

import infused
from infused import MRMR, FusedLasso, GroupLasso, InFusedLasso, Lasso
from infused._cluster import screening
from infused._cluster.tasks import DaskCluster
from infused.exceptions import InputError, MemoryBudgetError, ScreeningWarning
from infused.selectors.inputs.training import dense_design, target_matrix
from tests.cluster.test_tasks import tasks_of

da = pytest.importorskip("dask.array")

N_SAMPLES, N_FEATURES = 80, 1_600
BUDGET = 3 * 8 * 900**2  # bytes: the first round has too many features for it


@pytest.fixture(autouse=True)
def little_memory():
    with infused.config_context(memory_budget=BUDGET):
        yield


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(N_SAMPLES, N_FEATURES)) * rng.uniform(0.1, 9.0, N_FEATURES) + 5.0
    y = np.arange(N_SAMPLES) % 3
    X[:, ::160] += 2.0 * (y == 1)[:, None]
    X[:, 7] = 4.0  # constant
    return X, y


def lazily(X):
    """Chunks of unequal widths, cut by samples too."""
    return da.from_array(X, chunks=((50, 30), (300, 700, 599, 1)))


@pytest.mark.parametrize("make", [Lasso, FusedLasso, InFusedLasso])
def test_the_selection_is_that_of_the_rounds_here(client, data, make):
    X, y = data
    selector = make(n_features_to_select=12, tol=1e-6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ScreeningWarning)
        here = make(n_features_to_select=12, tol=1e-6).fit(X, y)
    with infused.cluster(client), pytest.warns(ScreeningWarning, match="Of 1,600 features .* 800"):
        there = selector.fit(lazily(X), y)
    assert tasks_of(client) == []
    assert np.flatnonzero(there.support_).tolist() == np.flatnonzero(here.support_).tolist()
    assert sorted(there.ranking_) == list(range(1, N_FEATURES + 1)) and there.n_features_screened_ == 800
    assert there.ranking_[7] == N_FEATURES and there.n_features_in_ == N_FEATURES
    assert (np.diff(there.scores_[np.argsort(there.ranking_)]) <= 0).all()
    assert np.allclose(there.coef_[:, there.support_], here.coef_[:, here.support_], atol=1e-4)
    assert there.transform(X).shape == (N_SAMPLES, 12)


def test_the_workers_solve_the_lasso_on_all_features(client, data):
    """Optimality on all features, checked here: |x'(Y - XB)| is at most lambda1, and less where B is zero."""
    X, y = data
    selector = Lasso(n_features_to_select=5, tol=1e-7)
    found = screening.screen(screening.Chunks(DaskCluster(client), lazily(X)), selector, y)
    F, Y = dense_design(X, True, 10**9), target_matrix(y, "onehot", True)
    exact = Lasso(ranking="coefficient", tol=1e-8).fit(X, y)
    pull = np.linalg.norm(F.T @ (Y - F @ exact.coef_.T), axis=1)
    needed = np.flatnonzero(exact.support_)
    assert found.converged and found.n_needed == len(needed)
    first = np.argsort(found.ranking)
    assert sorted(first[: len(needed)]) == needed.tolist()
    behind = first[len(needed) : -1]
    assert (np.diff(pull[behind]) <= 1e-6).all(), "by what they still have to say"


def test_what_fits_is_fitted_as_it_is(client, data):
    X, y = data
    here = InFusedLasso(n_features_to_select=9).fit(X[:, :400], y)
    with infused.cluster(client):
        there = InFusedLasso(n_features_to_select=9).fit(lazily(X)[:, :400], y)
    assert np.array_equal(there.ranking_, here.ranking_) and np.array_equal(there.coef_, here.coef_)
    assert there.n_features_screened_ == 0


def test_a_worker_that_is_killed_changes_nothing(client, data, monkeypatch):
    X, y = data
    selector = Lasso(n_features_to_select=12)
    killed = []

    def kill(fraction, message):
        if message.startswith("screening") and not killed:
            killed.append(next(iter(client.run(os.getpid).values())))
            os.kill(killed[0], signal.SIGKILL)

    with infused.cluster(client), pytest.warns(ScreeningWarning):
        calm = selector.fit(lazily(X), y).ranking_
        with infused.progress(kill):
            assert np.array_equal(selector.fit(lazily(X), y).ranking_, calm)
    assert killed


def test_what_needs_all_features_at_once_is_refused_in_one_line(client, data):
    X, y = data
    with pytest.raises(InputError, match=r"inside infused\.cluster\(client\)"):
        Lasso(n_features_to_select=3).fit(lazily(X), y)
    few = {"n_features_to_select": 3}
    for selector, words in (
        (Lasso(), "n_features_to_select="),
        (Lasso(n_features_to_select="auto"), "selected by their number"),
        (Lasso(**few, keep=[3]), "keep="),
        (Lasso(**few, ranking="path"), "ranking="),
        (InFusedLasso(**few, formulation="paper"), "formulation="),
        (InFusedLasso(**few, fusion="grid", grid_shape=(40, 40)), "fusion="),
        (GroupLasso(**few), "GroupLasso"),
        (MRMR(**few), "MRMR needs all of it here"),
    ):
        with infused.cluster(client), pytest.raises(InputError, match=words):
            selector.fit(lazily(X), y)
    little = infused.config_context(memory_budget=10**6)
    with infused.cluster(client), little, pytest.raises(MemoryBudgetError, match="900 features need"):
        Lasso(n_features_to_select=900).fit(lazily(X), y)
    X = X.copy()
    X[2, 1000] = np.inf
    with infused.cluster(client), pytest.raises(ValueError, match="contains infinity"):
        Lasso(n_features_to_select=3).fit(lazily(X), y)
