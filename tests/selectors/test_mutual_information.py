"""Mutual information of each feature: exact on codes, the same for the same column."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
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
