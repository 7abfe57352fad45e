"""The order of the columns matters where it means something, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine, make_classification

from infused import FusedLasso, InFusedLasso


def tables():
    """Ten tables without order: three that people have, seven that are made."""
    yield from (load(return_X_y=True) for load in (load_wine, load_breast_cancer))
    X, y = load_diabetes(return_X_y=True)
    yield X, y + 0.25
    for seed in range(7):
        yield make_classification(150, 20, n_informative=6, n_redundant=4, random_state=seed)


@pytest.mark.parametrize("table", range(10))
@pytest.mark.parametrize("selector", [InFusedLasso, FusedLasso], ids=lambda kind: kind.__name__)
def test_a_table_gives_one_set_for_every_order_of_its_columns(selector, table):
    X, y = list(tables())[table]
    first = selector(n_features_to_select=5).fit(X, y)
    assert first.fusion_ == "none"
    chosen = set(np.flatnonzero(first.support_))
    random = np.random.default_rng(table)
    for _ in range(10):
        order = random.permutation(X.shape[1])
        found = selector(n_features_to_select=5).fit(X[:, order], y)
        assert set(order[found.support_]) == chosen


def spectra():
    """Peaks on a common grid, with a little noise."""
    random, place = np.random.default_rng(0), np.linspace(0, 1, 120)
    heights = random.uniform(size=(60, 9))
    peaks = np.exp(-(((place - np.linspace(0.05, 0.95, 9)[:, None]) / 0.03) ** 2))
    return heights @ peaks + 0.02 * random.normal(size=(60, 120)), (heights[:, 4] > 0.5).astype(int)


def test_the_chain_of_a_spectrum_is_found():
    X, y = spectra()
    found = InFusedLasso(n_features_to_select=10).fit(X, y)
    assert found.fusion_ == "chain" and "signal" in found.fusion_reason_


def test_the_grid_of_a_picture_is_found():
    X, y = load_digits(return_X_y=True)
    found = InFusedLasso(n_features_to_select=10).fit(X, y)
    assert (found.fusion_, found.grid_shape_) == ("grid", (8, 8))


def test_shuffled_pictures_and_spectra_have_no_order():
    order = np.random.default_rng(1).permutation
    for X, y in (load_digits(return_X_y=True), spectra()):
        assert InFusedLasso(n_features_to_select=5).fit(X[:, order(X.shape[1])], y).fusion_ == "none"
