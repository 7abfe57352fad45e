"""Mutual information of each feature: exact on codes, the same for the same column."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine, make_friedman1
from sklearn.feature_selection import mutual_info_classif, mutual_info_regression
from sklearn.metrics import mutual_info_score

from infused.selectors.scores.univariate import MutualInformationSelector, is_discrete


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    y = np.arange(200) % 3
    flag, code = (
        (y == 1) ^ (rng.random(200) < 0.2),
        np.where(rng.random(200) < 0.6, y, rng.integers(7, size=200)),
    )
    real = y + rng.standard_normal(200)
    return np.column_stack([flag, code, real, flag, real, real]), y


@pytest.mark.parametrize("estimator", ["binned", "neighbours"])
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_the_same_columns_have_the_same_score(table, estimator, n_jobs):
    scores = MutualInformationSelector(estimator=estimator, n_jobs=n_jobs).fit(*table).scores_
    assert scores[0] == scores[3] and scores[2] == scores[4] == scores[5]
    again = MutualInformationSelector(estimator=estimator).fit(sp.csr_array(table[0]), table[1]).scores_
    np.testing.assert_allclose(again, scores, atol=1e-12)


@pytest.mark.parametrize("estimator", ["binned", "neighbours"])
def test_codes_are_counted_as_they_are(table, estimator):
    X, y = table
    scores = MutualInformationSelector(estimator=estimator).fit(X, y).scores_
    for n in (0, 1):
        assert scores[n] == pytest.approx(mutual_info_score(X[:, n], y), abs=1e-9)


def test_bins_are_of_equal_frequency(table):
    X, y = table
    edges = np.quantile(X[:, 2], np.arange(1, 4) / 4)
    scores = MutualInformationSelector(n_bins=4).fit(X, y).scores_
    assert scores[2] == pytest.approx(mutual_info_score(np.digitize(X[:, 2], edges), y), abs=0.02)


def test_what_is_discrete():
    assert is_discrete(np.array([0.0, 1.0, 1.0]), 3) and is_discrete(np.arange(50.0) % 10, 50)
    assert not is_discrete(np.arange(50.0), 50) and not is_discrete(np.array([0.5, 1.0, 1.0]), 3)
    assert not is_discrete(np.repeat(np.arange(50.0), 5), 50)  # copies make no codes


def tables_of_all_kinds(n=600, p=15):
    """Yield twenty tables, and how many features matter; of a real one, four are taken, or two."""
    rng = np.random.default_rng(0)
    X, U, C = rng.normal(size=(n, p)), rng.uniform(size=(n, p)), rng.standard_cauchy((n, p))
    L, P = np.exp(2 * rng.normal(size=(n, p))), rng.pareto(1.2, (n, p))
    e, counts = rng.normal(size=n), rng.poisson(np.exp(X)).astype(float)
    yield "linear", X, X[:, :4] @ [1, 1, -1, 0.5] + e, 4
    yield "heavy target", X, np.exp(2 * X[:, 0] + X[:, 1] + 0.5 * e), 2
    yield "heavy features", L, np.log(L[:, 0]) + np.log(L[:, 1]) + 0.5 * e, 2
    yield "Cauchy", C, np.arctan(C[:, :4]).sum(axis=1) + 0.3 * e, 4
    yield "sum of Cauchy", C, C[:, :3].sum(axis=1) + 0.3 * e, 3
    yield "Pareto, few far out", P, (P[:, :3] > 5) @ [3.0, 2, 1] + 0.3 * e, 3
    yield "rare and large", X, 10.0 * (X[:, 0] > 1.7) + 5 * (X[:, 1] > 1.7) + e, 2
    yield "rare, both ends", X, 10.0 * (np.abs(X[:, 0]) > 1.9) + 5 * (np.abs(X[:, 1]) > 1.9) + e, 2
    yield "U shapes", X, (X[:, :3] ** 2).sum(axis=1) + e, 3
    yield "sines", U, np.sin(4 * np.pi * U[:, 0]) + np.sin(2 * np.pi * U[:, 1]) + 0.3 * e, 2
    yield "Friedman 1", *make_friedman1(n, p, noise=1, random_state=0), 5
    yield "scale mixture", X, X[:, 0] * np.exp(X[:, 1]) + 0.1 * e, 2
    yield "counts", counts, X[:, :3].sum(axis=1) + 0.5 * e, 3
    yield "steps", X, np.digitize(X[:, 0] + 0.5 * X[:, 1], [-2, 1.5]), 2
    yield "radial", X, ((X[:, :3] ** 2).sum(axis=1) > 2.4).astype(int), 3
    yield "rare class", L, (L[:, 0] * L[:, 1] > 30).astype(int), 2
    for load in (load_diabetes, load_breast_cancer, load_wine, load_iris):
        F, y = load(return_X_y=True)
        yield load.__name__, F, y, min(4, F.shape[1] // 2)


@pytest.mark.parametrize(("n_bins", "least"), [("auto", 0.9), (5, None)])
def test_bins_are_never_far_behind_the_estimate_by_neighbours(n_bins, least):
    """The picks have at least 90% of the information, by scikit-learn's estimate, that its own picks have."""
    shares = {}
    for name, X, y, k in tables_of_all_kinds():
        real = y.dtype.kind == "f"
        estimate = mutual_info_regression if real else mutual_info_classif
        neighbours = estimate(X, y, random_state=0, discrete_features=False)
        target = "real" if real else "classes"
        picks = MutualInformationSelector(n_features_to_select=k, n_bins=n_bins, target=target).fit(X, y)
        shares[name] = neighbours[picks.get_support()].sum() / np.sort(neighbours)[-k:].sum()
    assert len(shares) == 20
    if least is None:  # five equal bins are
        assert min(shares, key=shares.get) == "rare, both ends" and min(shares.values()) < 0.7
    else:
        assert min(shares.values()) >= least, shares
