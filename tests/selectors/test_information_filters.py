"""Filters by mutual information: the features of a literal transcription, in its order."""

from __future__ import annotations

import pickle
from collections import Counter
from math import log

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from infused.information import mutual as counting
from infused.selectors.greedy.filters import CMIM, DISR, JMI, JMIM, MIFS, MRMR
from infused.selectors.scores.univariate import MutualInformationSelector
from tests.reference import REFERENCE

WINE = load_wine(return_X_y=True)
CANCER = load_breast_cancer(return_X_y=True)
DIABETES = load_diabetes(return_X_y=True)

FILTERS = {
    "mifs": MIFS(),
    "mifs, beta=1": MIFS(beta=1.0),
    "mrmr": MRMR(),
    "mrmr, quotient": MRMR(scheme="quotient"),
    "jmim": JMIM(),
    "jmi": JMI(),
    "cmim": CMIM(),
    "disr": DISR(),
}


@pytest.fixture(params=list(FILTERS))
def selector(request):
    return clone(FILTERS[request.param])


def entropy(*columns):
    n = len(columns[0])
    return -sum(c / n * log(c / n) for c in Counter(zip(*columns, strict=True)).values())


def mutual(f, g):
    return entropy(f) + entropy(g) - entropy(f, g)


def joint(f, g, y):
    return entropy(f, g) + entropy(y) - entropy(f, g, y)


def conditional(f, y, s):
    return entropy(f, s) + entropy(y, s) - entropy(f, y, s) - entropy(s)


def criterion_of(selector, f, chosen, y):
    """The formula of the paper for one feature, given the columns chosen so far."""
    if not chosen:
        return mutual(f, y)
    if isinstance(selector, JMIM):
        return min(joint(f, s, y) for s in chosen)
    if isinstance(selector, JMI):
        return sum(joint(f, s, y) for s in chosen)
    if isinstance(selector, CMIM):
        return min(mutual(f, y), *(conditional(f, y, s) for s in chosen))
    if isinstance(selector, DISR):
        return sum(joint(f, s, y) / entropy(f, s, y) for s in chosen)
    redundancy = sum(mutual(f, s) for s in chosen)
    if isinstance(selector, MIFS):
        return mutual(f, y) - selector.beta * redundancy
    if selector.scheme == "difference":
        return mutual(f, y) - redundancy / len(chosen)
    return mutual(f, y) / max(redundancy / len(chosen), 1e-10)


def transcription(selector, X, y, k, keep=()):
    """Features from the best to the worst; what agrees to nine digits is equal."""

    def rounded(value):
        return round(value, 9) if abs(value) < 1 else float(f"{value:.10g}")

    columns, y = [tuple(column) for column in X.T.tolist()], tuple(y.tolist())
    order: list[int] = list(keep)
    while len(order) < k:
        chosen = [columns[s] for s in order if len(set(columns[s])) > 1]

        def key(j, chosen=chosen):
            value = criterion_of(selector, columns[j], chosen, y)
            constant = len(set(columns[j])) == 1
            return constant, -rounded(value), -rounded(mutual(columns[j], y)), j

        by_criterion = sorted(set(range(len(columns))) - set(order), key=key)
        order.append(by_criterion.pop(0))
    return [*order, *by_criterion]


def with_ties(seed):
    """Few samples of few values: duplicated, renamed, constant and empty-handed features."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, size=(24, 12))
    y = rng.integers(0, 3, size=24)
    X[:, 3] = X[:, 0]
    X[:, 4] = 2 - X[:, 1]
    X[:, 5] = 1
    X[:, 6] = y
    X[:, 7] = (y + 1) % 3
    X[:, 8] = np.arange(24) % 2
    X[:, 9] = np.arange(24) // 2 % 2
    return X.astype(float), y


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("k", [1, 5, 12])
def test_the_transcription_on_ties(selector, seed, k):
    X, y = with_ties(seed)
    selector.set_params(n_features_to_select=k).fit(X, y)
    assert np.argsort(selector.ranking_).tolist() == transcription(selector, X, y, k)


@pytest.mark.parametrize("seed", range(4))
def test_the_transcription_on_larger_data(selector, seed, monkeypatch):
    rng = np.random.default_rng(seed)
    hidden = rng.integers(0, 4, size=(150, 3))
    X = (hidden[:, rng.integers(0, 3, size=20)] + rng.integers(0, 2, size=(150, 20))) % 4
    y = hidden.sum(axis=1) % 5
    expected = transcription(selector, X, y, 10)
    for cost in (0, float("inf")):  # both ways of counting
        monkeypatch.setattr(counting, "ENTRY_COST", cost)
        selector.set_params(n_features_to_select=10).fit(X.astype(float), y)
        assert np.argsort(selector.ranking_).tolist() == expected


@pytest.mark.parametrize("seed", range(3))
def test_the_transcription_from_what_is_kept(selector, seed):
    X, y = with_ties(seed)
    selector.set_params(n_features_to_select=7, keep=[8, 1]).fit(X, y)
    assert np.argsort(selector.ranking_).tolist() == transcription(selector, X, y, 7, keep=[8, 1])


def test_the_criterion_is_that_of_the_step(selector):
    X, y = with_ties(0)
    selector.set_params(n_features_to_select=4).fit(X, y)
    order = np.argsort(selector.ranking_)
    columns, labels = [tuple(column) for column in X.T.tolist()], tuple(y.tolist())
    for place, j in enumerate(order):
        chosen = [columns[s] for s in order[: min(place, 3)]]
        expected = criterion_of(selector, columns[j], chosen, labels)
        assert selector.criterion_[j] == pytest.approx(expected, rel=1e-9, abs=1e-12)
    np.testing.assert_allclose(selector.relevance_, [mutual(f, labels) for f in columns], atol=1e-13)


@pytest.mark.parametrize(("k", "expected"), [(0.01, 1), (None, 6)])  # test_family has the others
def test_the_number_asked_for_is_the_number_selected(selector, k, expected):
    X, y = WINE
    selector.set_params(n_features_to_select=k).fit(X, y)
    assert selector.support_.sum() == selector.transform(X).shape[1] == expected
    np.testing.assert_array_equal(np.sort(selector.ranking_), np.arange(1, 14))
    np.testing.assert_array_equal(selector.support_, selector.ranking_ <= expected)
    np.testing.assert_array_equal(np.argsort(-selector.scores_), np.argsort(selector.ranking_))


def same(first, second):
    for name in ("ranking_", "scores_", "relevance_", "criterion_"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))


@pytest.mark.parametrize("make", [sp.csr_array, sp.csc_array, sp.csr_matrix])
@pytest.mark.parametrize("density", [0.5, 0.01])
def test_sparse_and_dense_agree_to_the_bit(selector, make, density, rng):
    X = rng.poisson(1.0, size=(400, 30)) * (rng.random((400, 30)) < density) * 1.0
    y = rng.integers(0, 3, size=400)
    sparse = clone(selector).fit(make(X), y)
    same(selector.fit(X, y), sparse)
    assert sp.issparse(sparse.transform(make(X)))


def test_precision_threads_and_transforms_change_no_bit(selector):
    X, y = CANCER
    X = X.astype(np.float32).astype(float)
    selector.fit(X, y)
    same(selector, clone(selector).fit(X.astype(np.float32), y))
    same(selector, clone(selector).set_params(n_jobs=2).fit(X, y))
    same(selector, clone(selector).fit(np.sqrt(X) * 3 + 1, y))


def test_the_names_of_classes_change_no_bit(selector):
    X, y = WINE
    selector.fit(X, y)
    same(selector, clone(selector).fit(X, np.array(["red", "blue", "green"])[y]))
    same(selector, clone(selector).fit(X, np.array([7, -1, 3])[y]))


def test_regression(selector):
    X, y = DIABETES
    real = y + 0.5
    selector.set_params(n_features_to_select=3).fit(X, real)
    assert selector.support_[2]  # body mass, as everybody finds
    same(selector, clone(selector).fit(X, np.log(real)))
    same(selector, clone(selector).set_params(target="real").fit(X, y))
    binned = np.searchsorted(np.quantile(real, [0.2, 0.4, 0.6, 0.8]), real)
    assert mutual(tuple(binned), tuple(binned)) == pytest.approx(log(5), abs=1e-3)
    expected = clone(selector).fit(X, binned).relevance_
    np.testing.assert_allclose(selector.relevance_, expected, atol=0.03)  # up to ties at the cuts


def test_several_targets_are_refused(selector):
    X, y = DIABETES
    with pytest.raises(ValueError, match=r"takes one target, but y has 2 columns: fit one [A-Z]+ for"):
        selector.fit(X, np.column_stack([y, y]))


def test_constant_and_duplicated_features(selector):
    X, y = WINE
    wide = np.column_stack([np.full(len(X), 0.1), X, X, np.zeros((len(X), 2))])
    selector.set_params(n_features_to_select=5).fit(wide, y)
    assert selector.support_.sum() == 5
    assert not selector.relevance_[[0, -1, -2]].any()
    assert 1 <= np.argmin(selector.ranking_) <= 13  # the first of two that are equal
    assert sorted(selector.ranking_[[0, -1, -2]]) == [27, 28, 29]


def test_only_constant_features(selector):
    selector.set_params(n_features_to_select=2).fit(np.ones((6, 4)), [0, 1, 0, 1, 0, 1])
    np.testing.assert_array_equal(selector.ranking_, [1, 2, 3, 4])


def test_the_quotient_prefers_what_shares_nothing():
    balanced = np.array([[a, b, c] for a in range(2) for b in range(2) for c in range(2)] * 8)
    y = balanced[:, 0] + 2 * balanced[:, 1]
    noisy = np.where(np.arange(64) % 5 == 0, 1 - balanced[:, 1], balanced[:, 1])
    X = np.column_stack([balanced[:, 0], noisy, balanced[:, 0] ^ (np.arange(64) == 0), balanced[:, 1]])
    selector = MRMR(scheme="quotient", n_features_to_select=4).fit(X.astype(float), y)
    assert selector.ranking_[3] == 2
    assert selector.criterion_[3] == pytest.approx(log(2) / 1e-10)


def test_redundancy_counts():
    """A copy adds nothing: the filters look elsewhere, one by one ranking does not."""
    rng = np.random.default_rng(3)
    a, b = rng.integers(0, 2, size=(2, 300))
    y = 2 * a + b
    weak = np.where(rng.random(300) < 0.2, 1 - b, b)
    X = np.column_stack([a, a, weak]).astype(float)
    assert MIFS(n_features_to_select=2, beta=0.0).fit(X, y).support_.tolist() == [True, True, False]
    for filtering in (MIFS(beta=1.0), MRMR(), MRMR(scheme="quotient"), JMIM(), JMI(), CMIM()):
        assert filtering.set_params(n_features_to_select=2).fit(X, y).support_.tolist() == [True, False, True]


def test_names_pipelines_and_pickles(selector):
    pd = pytest.importorskip("pandas")
    X, y = load_wine(return_X_y=True, as_frame=True)
    selector.set_params(n_features_to_select=4).set_output(transform="pandas").fit(X, y)
    out = selector.transform(X)
    assert isinstance(out, pd.DataFrame)
    assert list(out.columns) == list(X.columns[selector.support_])
    same(selector, pickle.loads(pickle.dumps(selector)))
    model = make_pipeline(clone(selector), LinearDiscriminantAnalysis())
    assert cross_val_score(model, X, y, cv=3).mean() > 0.85


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (MRMR(n_features_to_select=14), "14 is more than the 13 features"),
        (MRMR(n_features_to_select=0), "n_features_to_select"),
        (MRMR(n_features_to_select=1.5), "n_features_to_select"),
        (MRMR(scheme="ratio"), "scheme"),
        (MIFS(beta=-1), "beta"),
        (JMIM(n_bins=1), "n_bins"),
        (JMIM(n_bins=257), "n_bins"),
        (JMIM(target="onehot"), "target"),
    ],
)
def test_bad_parameters_are_named(estimator, message):
    with pytest.raises(ValueError, match=message):
        estimator.fit(*WINE)


def test_one_class_is_refused(selector):
    with pytest.raises(ValueError, match="got 1 class"):
        selector.fit(WINE[0], np.zeros(178))


@pytest.mark.parametrize("filter_", [MIFS(beta=0.1), MRMR(), JMIM(), JMI(), CMIM(), DISR()])
@pytest.mark.parametrize("seed", range(2))
def test_a_few_samples_far_out_are_not_lost(filter_, seed):
    """Two features decide a tail of 3% of the samples; five equal bins take noise first."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((3000, 20))
    y = 0.3 * X[:, 5] + 0.3 * rng.standard_normal(3000) + 8 * ((X[:, 0] > 2.2) | (X[:, 1] < -2.2))
    assert set(np.flatnonzero(clone(filter_).set_params(n_features_to_select=3).fit(X, y).support_)) == {
        0,
        1,
        5,
    }
    few = clone(filter_).set_params(n_features_to_select=3, n_bins=5).fit(X, y)
    assert few.relevance_[[0, 1]].max() < 0.1


@pytest.mark.skipif(
    not (REFERENCE / "praznik_picks.csv").is_file(),
    reason="lists of praznik are not there: name their folder in INFUSED_REFERENCE",
)
@pytest.mark.parametrize("kind", [int, float, "category"])
@pytest.mark.parametrize("filter_", [MRMR, JMI, JMIM, CMIM, DISR, MutualInformationSelector])
def test_lists_are_those_of_praznik(filter_, kind):
    """The first 20 of 500 features that R's praznik 11.0.0 takes of its discretised Madelon data."""
    X = pd.read_csv(REFERENCE / "madelond.csv.gz")
    y = X.pop("Y")
    picks = pd.read_csv(REFERENCE / "praznik_picks.csv")
    name = "MIM" if filter_ is MutualInformationSelector else filter_.__name__
    selector = filter_(n_features_to_select=20).fit(X.astype(kind), y)
    mine = X.columns[np.argsort(selector.ranking_, kind="stable")[:20]]
    assert mine.tolist() == picks[picks.method == name].sort_values("rank").feature.tolist()
