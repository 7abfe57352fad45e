"""What a feature explains, alone and beside others, against the definitions; and nothing for noise."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_wine
from sklearn.feature_selection import f_classif
from sklearn.linear_model import Ridge
from sklearn.preprocessing import StandardScaler

from infused.record.explained import adjusted, explained_variance, lost_without, target_basis


def test_classes_as_in_the_f_test(rng):
    X, y = load_wine().data, rng.integers(0, 4, 178)
    shares, degrees = explained_variance(X, np.arange(13), y, "classes")
    F = f_classif(X, y)[0]
    np.testing.assert_allclose(shares, 3 * F / (3 * F + len(y) - 4), rtol=1e-9)
    assert degrees == 3
    # The adjusted share is the epsilon squared of Kelley: one less the ratio of the variances.
    np.testing.assert_allclose(
        adjusted(shares, degrees, len(y)), 3 * (F - 1) / (3 * F + len(y) - 4), rtol=1e-9
    )


def test_real_targets_as_squared_correlation(rng):
    X, y = load_diabetes(return_X_y=True)
    shares, degrees = explained_variance(X, np.arange(10), y, "real")
    np.testing.assert_allclose(shares, [np.corrcoef(f, y)[0, 1] ** 2 for f in X.T])
    assert degrees == 1


def test_constants_explain_nothing(rng):
    assert explained_variance(np.ones((6, 1)), np.array([0]), np.arange(6) % 2, "classes")[0] == 0
    assert explained_variance(rng.normal(size=(6, 1)), np.array([0]), np.ones(6), "real")[0] == 0
    assert adjusted(np.array([1.0]), 5, 6) == 0, "a class for every sample"


@pytest.mark.parametrize(("n_classes", "kind"), [(2, "classes"), (20, "classes"), (0, "real")])
def test_noise_explains_nothing_on_average(rng, n_classes, kind):
    y = rng.normal(size=60) if kind == "real" else np.arange(60) % n_classes
    shares, degrees = explained_variance(rng.normal(size=(60, 4000)), np.arange(4000), y, kind)
    found = adjusted(shares, degrees, 60)
    assert abs(found.mean()) < 3 * found.std() / np.sqrt(len(found))
    assert shares.mean() > 10 * abs(found.mean()), "without the correction it seems to"


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("kind", ["classes", "real"])
def test_what_is_lost_without_a_feature(kind, wide):
    """The ridge regression again, with one feature less each time; also with fewer samples than features."""
    X, y = load_wine(return_X_y=True) if kind == "classes" else load_diabetes(return_X_y=True)
    if wide:
        rows = np.linspace(0, len(y) - 1, 9).astype(int)
        X, y = X[rows], y[rows]
    F, Y = StandardScaler().fit_transform(X), target_basis(y, kind)
    Y = Y - Y.mean(axis=0)

    def loss(columns):
        model = Ridge(alpha=1.0, fit_intercept=False).fit(F[:, columns], Y)
        B = np.atleast_2d(model.coef_).T
        return ((Y - F[:, columns] @ B) ** 2).sum() + (B * B).sum()

    every = list(range(X.shape[1]))
    expected = [loss([j for j in every if j != out]) - loss(every) for out in every]
    np.testing.assert_allclose(lost_without(X, y, kind), np.array(expected) / (Y * Y).sum(), atol=1e-10)


def test_what_repeats_another_is_not_missed(rng):
    f, g = rng.normal(size=(2, 80))
    y = (f + g > 0).astype(int)
    alone, repeated = lost_without(np.column_stack([f, g]), y, "classes"), None
    repeated = lost_without(np.column_stack([f, f, g]), y, "classes")
    assert repeated[0] == pytest.approx(repeated[1]) and repeated[0] < 0.02 * alone[0]
    assert repeated[2] == pytest.approx(alone[1], rel=0.05)
    assert lost_without(np.ones((80, 1)), y, "classes") == 0
    assert lost_without(np.empty((80, 0)), y, "classes").shape == (0,)


def test_what_blocks_lose_and_how_they_repeat_each_other():
    """Against fits without each block; of single columns, the figures of columns."""
    from infused.record.redundancy import absolute_correlation, block_correlation

    rng = np.random.default_rng(3)
    for n in (60, 5):  # more samples than columns, and fewer
        F = rng.normal(size=(n, 7))
        y = np.arange(n) % 2
        ends = np.array([2, 3, 7])
        Z = (F - F.mean(axis=0)) / F.std(axis=0)
        Y = np.eye(2)[y] / np.sqrt(np.bincount(y))
        Y = Y - Y.mean(axis=0)

        def loss(columns, Z=Z, Y=Y):
            X = Z[:, columns]
            B = np.linalg.solve(X.T @ X + np.eye(X.shape[1]), X.T @ Y)
            return ((Y - X @ B) ** 2).sum() + (B**2).sum()

        blocks = [range(2), range(2, 3), range(3, 7)]
        every = list(range(7))
        wanted = [loss([j for j in every if j not in block]) - loss(every) for block in blocks]
        np.testing.assert_allclose(lost_without(F, y, "classes", ends), np.array(wanted) / (Y**2).sum())
        single = np.arange(1, 8)
        np.testing.assert_allclose(block_correlation(F, single), absolute_correlation(F), atol=1e-12)
    F[:, 1] = F[:, 2] - F[:, 0]  # the second block lies in the span of the first
    assert block_correlation(F, np.array([2, 3, 7]))[0, 1] == pytest.approx(1)
