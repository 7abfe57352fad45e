"""Each term of the objective decides something that can be seen: on data whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.datasets import load_digits
from sklearn.linear_model import MultiTaskLasso

from infused import FusedLasso, GreedyForward, InFusedLasso, Lasso, make_selector, structural_information

LINEAR = ("infused-lasso", "in-elastic-net", "in-lasso", "lasso", "ulasso", "fused-lasso", "group-lasso")
DIGITS = load_digits(return_X_y=True)
SEEDS = range(4)


def chain(seed):
    """Three runs of twelve features with a weak effect each, among 300 in a row."""
    rng = np.random.default_rng(seed)
    X, effect = rng.normal(size=(100, 300)), np.zeros(300)
    for start in (40, 130, 220):
        effect[start : start + 12] = 0.3
    return X, X @ effect + rng.normal(size=100), effect != 0, {"fusion": "chain"}


def grid(seed):
    """Two patches of 4 x 4 pixels with a weak effect each, in a picture of 16 x 16."""
    rng = np.random.default_rng(seed)
    X, effect = rng.normal(size=(150, 256)), np.zeros((16, 16))
    effect[3:7, 3:7] = effect[9:13, 8:12] = 0.3
    y = X @ effect.ravel() + rng.normal(size=150)
    return X, y, effect.ravel() != 0, {"fusion": "grid", "grid_shape": (16, 16)}


def mean_recall(design, make):
    """The share of the true features among as many selected ones: precision and recall are then one."""
    shares = []
    for seed in SEEDS:
        X, y, true, order = design(seed)
        selector = make(order, n_features_to_select=int(true.sum())).fit(X, y)
        shares.append(true[selector.support_].mean())
    return np.mean(shares)


@pytest.mark.parametrize("design", [chain, grid])
@pytest.mark.parametrize("estimator", [FusedLasso, InFusedLasso])
def test_fusion_brings_whole_neighbourhoods(design, estimator):
    fused = mean_recall(design, lambda order, **k: estimator(lambda2=0.1, **order, **k))
    plain = mean_recall(design, lambda order, **k: estimator(lambda2=0.0, **order, **k))
    greedy = mean_recall(design, lambda order, **k: GreedyForward(**k))
    assert fused > 0.7
    assert fused - max(plain, greedy) > 0.25


@pytest.mark.parametrize("design", [chain, grid])
def test_the_forward_order_drops_what_fusion_found(design):
    """Why it is not the default: the order no longer comes from the model."""
    model = mean_recall(design, lambda order, **k: FusedLasso(lambda2=0.1, **order, **k))
    forward = mean_recall(design, lambda order, **k: FusedLasso(lambda2=0.1, ranking="forward", **order, **k))
    assert model - forward > 0.2


def orthonormal(seed):
    """Features of length one at right angles, from nearly two values to long tails, all with one effect."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 24))
    X = (np.sign(X) * np.abs(X) ** np.linspace(0.3, 2.5, 24))[:, rng.permutation(24)]
    Q, R = np.linalg.qr(X - X.mean(axis=0))
    Q *= np.sign(np.diag(R))
    return Q, 10 * Q.sum(axis=1)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("ranking", ["recursive", "coefficient"])
def test_features_with_more_structural_information_come_earlier(seed, ranking):
    """Where nothing else tells features apart, their order is that of their information with the others."""
    X, y = orthonormal(seed)
    model = InFusedLasso(n_features_to_select=12, target="real", fusion="none", ranking=ranking).fit(X, y)
    information = structural_information(X, y).sum(axis=0)
    assert spearmanr(-model.ranking_, information).statistic > 0.85
    without = InFusedLasso(n_features_to_select=12, target="real", fusion="none", lambda3=0.0).fit(X, y)
    assert spearmanr(-without.ranking_, information).statistic < 0.5


def test_the_seven_models_are_not_one_method():
    """Each has its own list of twenty pixels, and none has that of forward selection."""
    lists = {id: first_features(make_selector(id, n_features_to_select=20)) for id in LINEAR}
    greedy = first_features(GreedyForward(n_features_to_select=20))
    assert len({*lists.values(), greedy}) == len(LINEAR) + 1


def test_the_ranking_is_recursive_elimination_by_the_lasso():
    """Against a twin of a few lines on scikit-learn's solver: the same order of all features."""
    X, labels = DIGITS
    X = X[:, X.std(axis=0) > 0]
    X = unit_columns(X)
    Y = unit_columns(np.eye(10)[labels])
    left, behind = np.arange(X.shape[1]), []
    for size in elimination_sizes(len(left)):
        weight = 0.05 * np.linalg.norm(X[:, left].T @ Y, axis=1).max()
        twin = MultiTaskLasso(alpha=weight / len(X), fit_intercept=False, tol=1e-7, max_iter=20_000)
        lengths = np.linalg.norm(twin.fit(X[:, left], Y).coef_, axis=0)
        order = left[np.argsort(-lengths, kind="stable")]
        left, behind = np.sort(order[:size]), [*order[size:], *behind]
    ranking = Lasso(n_features_to_select=10).fit(X, labels).ranking_
    np.testing.assert_array_equal(np.argsort(ranking)[:40], [*left, *behind][:40])


def elimination_sizes(n):
    """How many of at most 250 features each round keeps: four fifths, and at least one is dropped."""
    while n > 1:
        n = min(int(np.ceil(0.8 * n)), n - 1)
        yield n


def unit_columns(A):
    A = A - A.mean(axis=0)
    return A / np.linalg.norm(A, axis=0)


def first_features(selector):
    return tuple(np.argsort(selector.fit(*DIGITS).ranking_)[:20].tolist())
