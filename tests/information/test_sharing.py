"""What selectors share: computed once, the same bits, and no less time on the clock."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_wine

from infused import InElasticNet, InFusedLasso, structural_information
from infused.information import structural
from infused.information import structural as module
from infused.information.structural import saved_seconds, sharing

WINE = load_wine(return_X_y=True)


@pytest.fixture
def built(monkeypatch):
    """How many times the feature graphs were built."""
    calls = []
    build = structural.feature_graphs

    def counted(*args, **options):
        calls.append(1)
        return build(*args, **options)

    monkeypatch.setattr(structural, "feature_graphs", counted)
    return calls


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_u_is_computed_once_and_is_the_same(built, make):
    X, y = make(np.floor(WINE[0] / WINE[0].max(axis=0) * 3)), WINE[1]
    alone = structural_information(X, y)
    with sharing():
        first, second = structural_information(X, y), structural_information(X.copy(), y.copy())
    assert len(built) == 2
    assert first is second
    np.testing.assert_array_equal(first, alone)


def test_selectors_with_another_criterion_share_the_graphs(built):
    kinds = InFusedLasso, InElasticNet
    selectors = [kind(n_features_to_select=4, graph="euclidean") for kind in kinds]
    alone = [selector.fit(*WINE).ranking_ for selector in selectors]
    built.clear()
    with sharing():
        together = [selector.fit(*WINE).ranking_ for selector in selectors]
    assert len(built) == 1
    np.testing.assert_array_equal(together, alone)


@pytest.mark.parametrize("other", ["X", "y", "graph"])
def test_what_was_computed_from_something_else_is_not_given(other):
    X, y = WINE
    options = {}
    with sharing():
        structural_information(X, y)
        if other == "X":
            X = X + np.eye(*X.shape)
        elif other == "y":
            y = np.roll(y, 7)
        else:
            options = {"graph": "euclidean"}
        found = structural_information(X, y, **options)
    np.testing.assert_array_equal(found, structural_information(X, y, **options))


def test_nothing_is_kept_outside_or_where_it_is_too_large(built, monkeypatch):
    structural_information(*WINE)
    structural_information(*WINE)
    assert len(built) == 2 and saved_seconds() == 0
    monkeypatch.setattr(module, "LARGEST", 100)
    with sharing():
        assert structural_information(*WINE) is not structural_information(*WINE)
    assert len(built) == 3  # graphs are kept all the same


def test_results_are_written_where_they_are_wanted():
    place = np.empty((13, 13))
    with sharing():
        found = structural_information(*WINE)
        assert structural_information(*WINE, out=place) is place
    np.testing.assert_array_equal(place, found)


def test_the_clock_counts_what_was_saved():
    X, y = load_breast_cancer(return_X_y=True)
    X = np.tile(X, 20) + np.random.default_rng(0).normal(size=(len(X), 600))
    with sharing() as kept:
        structural_information(X, y)
        assert kept.seconds <= 0  # looking for it took time, and nothing was saved
        before = kept.seconds
        structural_information(X, y)
        assert saved_seconds() == kept.seconds > before
        (seconds,) = (seconds for what, (_, seconds) in kept._kept.items() if what[0] == "U")
        assert kept.seconds - before <= seconds  # what it took the first time, less the look
