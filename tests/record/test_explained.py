"""What a feature explains, alone and beside others, against the definitions; and nothing for noise."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_wine
from sklearn.feature_selection import f_classif
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import log_loss
from sklearn.preprocessing import StandardScaler

from infused.data import load_data
from infused.record.explained import (
    explained_alone,
    explained_variance,
    inspect_data,
    lost_without,
    target_basis,
)


def alone(table, y, transform="none", **options):
    data = load_data((pd.DataFrame(table), y), **options)
    return explained_alone(data, range(data.n_features), transform)


def test_shares_of_variance_are_those_of_the_f_test(rng):
    X, y = load_wine().data, rng.integers(0, 4, 178)
    shares, degrees = explained_variance(X, np.arange(13), y, "classes")
    F = f_classif(X, y)[0]
    np.testing.assert_allclose(shares, 3 * F / (3 * F + len(y) - 4), rtol=1e-9)
    assert degrees == 3
    X, y = load_diabetes(return_X_y=True)
    shares, degrees = explained_variance(X, np.arange(10), y, "real")
    np.testing.assert_allclose(shares, [np.corrcoef(f, y)[0, 1] ** 2 for f in X.T])
    assert degrees == 1


def test_a_number_explains_what_a_logistic_regression_does():
    """McFadden's R² of scikit-learn's model without a penalty, less the degrees of freedom."""
    X, y = load_wine(return_X_y=True)
    Z, found = StandardScaler().fit_transform(X), alone(X, y)
    sizes = np.bincount(y)
    none = -2 * (sizes * np.log(sizes / len(y))).sum()
    for j in range(13):
        model = LogisticRegression(C=1e8, tol=1e-8, max_iter=10_000).fit(Z[:, [j]], y)
        deviance = 2 * len(y) * log_loss(y, model.predict_proba(Z[:, [j]]))
        assert found[j] == pytest.approx((none - deviance - 2) / (none - 2), abs=1e-3)


def test_a_number_explains_the_adjusted_r2_of_a_continuous_target():
    X, y = load_diabetes(return_X_y=True)
    shares = np.array([np.corrcoef(f, y)[0, 1] ** 2 for f in X.T])
    np.testing.assert_allclose(alone(X, y), 1 - (1 - shares) * 441 / 440)


def test_a_category_explains_what_an_analysis_of_variance_does(rng):
    y, level = rng.normal(size=200), rng.integers(0, 5, 200)
    within = sum(((y[level == n] - y[level == n].mean()) ** 2).sum() for n in range(5))
    expected = 1 - within / ((y - y.mean()) ** 2).sum() * 199 / 195
    names = np.array(list("abcde"))[level]
    assert alone({"c": names, "x": rng.normal(size=200)}, y)[0] == pytest.approx(expected)


def test_a_number_and_its_classes_explain_as_much():
    """Also where codes stand for classes, and where values are missing."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=2000)
    y = np.where(x + rng.normal(size=2000) > 0, "yes", "no")
    table = {
        "number": x,
        "binned": pd.cut(x, [-9, -2, -1, -0.5, 0, 0.5, 1, 2, 9]).astype(str),
        "missing": np.where(rng.random(2000) < 0.3, np.nan, x),
    }
    number, binned, missing = alone(table, y)
    assert binned == pytest.approx(number, abs=0.02) and missing == pytest.approx(number, abs=0.03)
    y = rng.integers(0, 3, 300)
    classes = np.array(["low", "middle", "high"])[y]
    codes = {"name": np.array(list("abc"))[y], "code": 7.5 * y, "shifted": 1e9 + y}
    np.testing.assert_allclose(alone(codes, classes, keep_duplicates=True), 1, atol=1e-3)


def test_leaks_through_many_levels_and_missing_values_are_seen():
    rng = np.random.default_rng(1)
    grade = rng.integers(0, 35, 3000)
    table = {"sub_grade": [f"s{n}" for n in grade], "other": rng.normal(size=3000)}
    assert alone(table, 0.5 * grade + 0.2 * rng.normal(size=3000))[0] > 0.99
    price = rng.normal(20, 9, 93)
    mpg = 50 - price + 3.4 * rng.normal(size=93)
    shares = np.corrcoef(price[7:], mpg[7:])[0, 1] ** 2
    price[:7] = np.nan
    assert alone({"price": price, "other": rng.normal(size=93)}, mpg)[0] == pytest.approx(
        1 - (1 - shares) * 85 / 84
    )


def leaks(X, y):
    data = load_data((X, y))
    return inspect_data(data, data.coded()).leaks


def test_leaks_are_seen_whatever_the_order_of_rows_the_sizes_of_classes_and_the_scale(rng):
    weight = np.sort(rng.normal(3000, 700, 200))
    other = rng.normal(size=(200, 3))
    assert leaks(np.column_stack([weight, other]), np.where(weight < 2500, "low", "usual")) == ("feature_0",)
    spent = np.where(rng.random(900) < 0.1, 0.001 * rng.random(900), 0.01 + np.exp(2 * rng.normal(size=900)))
    X = np.column_stack([rng.normal(size=(900, 3)), spent])
    assert np.corrcoef(spent, spent < 0.005)[0, 1] ** 2 < 0.1
    assert leaks(X, np.where(spent < 0.005, "no", "yes")) == ("feature_3",)
    classes = np.digitize(weight, [2500, 3500]).astype(str)
    classes[:2] = "rare"
    assert leaks(np.column_stack([weight, other]), classes) == ("feature_0",)
    skewed = np.exp(weight / 300)
    assert leaks(np.column_stack([other, weight]), skewed) == ("feature_3",)
    assert leaks(other, skewed) == leaks(other, classes) == ()


def test_what_is_explained_is_that_of_transformed_values(rng):
    y = rng.normal(size=300)
    x = np.expm1(3 + y)
    before, after = (alone({"x": x, "o": y**2}, y, name)[0] for name in ("none", "log1p"))
    assert after == pytest.approx(1) and before < 0.8


def test_the_logarithm_of_a_skewed_target_is_offered_where_residuals_ask_for_it(rng):
    X = rng.normal(size=(300, 5))
    cost = np.exp(X[:, 0] + 0.5 * X[:, 1] + rng.normal(size=300))
    offered = inspect_data(data := load_data((X, cost)), data.coded()).notes
    assert any("To predict its logarithm, use --log-target" in note for note in offered)
    data = load_data((X, cost), log_target=True)
    assert not any("log_target" in note for note in inspect_data(data, data.coded()).notes)
    data = load_data((np.column_stack([X, cost]), cost * 2 + rng.random(300)))  # its residuals are not skewed
    assert not any("log_target" in note for note in inspect_data(data, data.coded()).notes)


def test_constants_explain_nothing(rng):
    assert explained_variance(np.ones((6, 1)), np.array([0]), np.arange(6) % 2, "classes")[0] == 0
    assert explained_variance(rng.normal(size=(6, 1)), np.array([0]), np.ones(6), "real")[0] == 0
    constant = {"c": np.full(12, 1e9 + 0.1), "d": ["same"] * 12, "x": rng.normal(size=12)}
    for y in (np.tile(["a", "b"], 6), rng.normal(size=12)):
        assert alone(constant, y, use=["d"])[:2].tolist() == [0, 0]


@pytest.mark.parametrize("kind", ["2", "8", "real"])
@pytest.mark.parametrize("feature", ["number", "category"])
def test_noise_explains_nothing_on_average(rng, feature, kind):
    n = 80
    y = rng.normal(size=n) if kind == "real" else np.array([f"k{c}" for c in rng.integers(0, int(kind), n)])
    numbers = rng.normal(size=(n, 600))
    levels = np.array(list("abcdef"))[rng.integers(0, 6, (n, 600))]
    found = alone(numbers if feature == "number" else levels, y)
    assert abs(found.mean()) < 4 * found.std() / np.sqrt(len(found))


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
