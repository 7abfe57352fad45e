"""Features that say nearly the same: one stands for the others."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import mutual_info_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from infused import RedundancyFilter, feature_distributions, similarity
from infused.exceptions import InputError
from infused.information.discrete import discretize
from infused.selectors.control.redundancy import LIKENESS

MEASURES = list(LIKENESS)


@pytest.fixture(scope="module")
def copies():
    """Twelve features: four of their own, and each of these with a nearly equal and with a mirrored copy."""
    rng = np.random.default_rng(3)
    own = rng.normal(size=(90, 4))
    near = own + 1e-3 * rng.normal(size=own.shape)
    y = (own[:, 0] + own[:, 1] > 0).astype(int)
    return np.hstack([own, near, 5 - 2 * own]), y


@parametrize_with_checks([RedundancyFilter()])
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def literal(measure, X):
    """All pairs, one by one."""
    if measure == "correlation":
        return np.abs(np.corrcoef(X.T))
    if measure == "structural":
        P = feature_distributions(X)
        return np.array([[similarity(p, q) for q in P.T] for p in P.T])
    codes = discretize(X, 5).codes
    shared = np.array([[mutual_info_score(a, b) for b in codes] for a in codes])
    entropy = shared.diagonal()
    return 2 * shared / (entropy[:, None] + entropy)


@pytest.mark.parametrize("measure", MEASURES)
def test_the_measures_are_what_they_say(measure, copies):
    X, _ = copies
    every = np.arange(X.shape[1])
    expected = literal(measure, X)
    np.testing.assert_allclose(LIKENESS[measure](X, 5, None)(every, every), expected, atol=1e-9)
    some = LIKENESS[measure](X, 5, 2)(every[[5, 2]], every[[1, 7, 3]])
    np.testing.assert_allclose(some, expected[np.ix_([5, 2], [1, 7, 3])], atol=1e-9)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("threshold", [0.3, 0.9, 0.9995, 1.0])
def test_what_is_kept_covers_the_rest_and_is_not_alike(measure, threshold, copies):
    X, y = copies
    fitted = RedundancyFilter(threshold=threshold, measure=measure).fit(X, y)
    s = literal(measure, X)
    kept = fitted.get_support(indices=True)
    between = s[np.ix_(kept, kept)] - np.eye(len(kept))
    assert (between < threshold).all()
    every = np.arange(X.shape[1])
    assert (s[every, fitted.representatives_] >= threshold - 1e-9).all()
    np.testing.assert_allclose(fitted.likeness_, s[every, fitted.representatives_], atol=1e-9)


@pytest.mark.parametrize("order_seed", range(5))
def test_with_a_target_the_order_of_the_columns_does_not_matter(order_seed, copies):
    X, y = copies
    frame = pd.DataFrame(X).add_prefix("f")
    shuffled = frame.sample(frac=1, axis=1, random_state=order_seed)
    kept = [set(RedundancyFilter().fit(one, y).get_feature_names_out()) for one in (frame, shuffled)]
    # A mirrored copy has the same F value: the first of the two stands for both.
    same = [{int(name[1:]) % 4 for name in one} for one in kept]
    assert same[0] == same[1] == {0, 1, 2, 3}
    assert len(kept[0]) == len(kept[1]) == 4


def test_of_features_alike_the_one_that_tells_most_is_kept(copies):
    X, _ = copies
    y = X[:, 0]  # the very feature
    noisy = np.column_stack([X[:, 0] + 0.1 * np.random.default_rng(0).normal(size=len(X)), X[:, 0]])
    assert RedundancyFilter().fit(noisy, y).get_support(indices=True).tolist() == [1]
    assert RedundancyFilter().fit(noisy).get_support(indices=True).tolist() == [0]


def test_it_tells_what_each_stands_for(copies):
    X, _ = copies
    assert RedundancyFilter().fit(X).stands_for_ == {n: [n + 4, n + 8] for n in range(4)}
    frame = pd.DataFrame(X[:, [0, 4]], columns=["a", "b"])
    assert RedundancyFilter().fit(frame).stands_for_ == {"a": ["b"]}


@pytest.mark.parametrize("measure", MEASURES)
def test_sparse_data_give_the_same(measure):
    rng = np.random.default_rng(1)
    X = sp.random_array((80, 30), density=0.1, rng=rng, format="csr")
    X = sp.hstack([X, 3 * X[:, :7]], format="csr")
    y = np.arange(80) % 3
    dense, sparse = (RedundancyFilter(measure=measure).fit(one, y) for one in (X.toarray(), X))
    assert (sparse.representatives_ == dense.representatives_).all()
    np.testing.assert_allclose(sparse.likeness_, dense.likeness_, atol=1e-12)
    assert not sparse.support_.all()


def test_constants_stand_for_themselves_alone():
    X = np.column_stack([np.full(20, 7.0), np.arange(20.0), np.zeros(20)])
    assert RedundancyFilter().fit(X).support_.all()


def test_breast_cancer_has_its_well_known_copies():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    stands_for = RedundancyFilter().fit(X, y).stands_for_
    assert set(stands_for) == {"worst perimeter", "radius error"}


@pytest.mark.parametrize("form", [pd.DataFrame, pl.DataFrame])
def test_text_is_told_by_its_column(form):
    X = form(
        {"town": ["a", "b"] * 5, "size": np.arange(10.0), "colour": ["red", "red", "blue", "red", ""] * 2}
    )
    with pytest.raises(InputError, match="text in 'town', 'colour': make 0/1 columns of it"):
        RedundancyFilter().fit(X)
