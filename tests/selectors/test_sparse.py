"""Sparse data stay sparse, and give the answers of dense ones."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from infused import Lasso, available_selectors, config_context, make_selector
from infused._design import SparseDesign
from infused.selectors.inputs import training as inputs

LEAST_SQUARES = ["lasso", "fused-lasso", "group-lasso", "ulasso", "greedy-forward"]
STRUCTURAL = ["infused-lasso", "in-elastic-net", "in-lasso"]
SHAPES = [(80, 30), (40, 300), (330, 280)]
STAY_SPARSE = [*LEAST_SQUARES, *STRUCTURAL]


def words(shape, n_classes=2, seed=0):
    """Counts, mostly zero; some say something of the class. A column has no zeros, and one is constant."""
    rng = np.random.default_rng(seed)
    n_samples, n_features = shape
    y = rng.integers(0, n_classes, n_samples)
    rates = np.where(np.arange(n_features) % 9 == 0, 0.1 + 0.4 * (y[:, None] == 1), 0.15)
    X = rng.poisson(rates).astype(float)
    X[:, 2] = 1000 + rng.normal(size=n_samples) + y
    X[:, 4] = 3.0
    return X, y


def agree(id, X, y, sample_weight=None, **options):
    make = lambda: make_selector(id, **{"n_features_to_select": 6, "n_jobs": 1, **options})  # noqa: E731
    more = {} if sample_weight is None else {"sample_weight": sample_weight}
    full, *others = (make().fit(A, y, **more) for A in (X, sp.csr_array(X), sp.csc_array(X)))
    for other in others:
        np.testing.assert_array_equal(other.support_, full.support_)
        k = options.get("n_features_to_select", 6) or int(full.support_.sum())
        np.testing.assert_array_equal(np.argsort(other.ranking_)[:k], np.argsort(full.ranking_)[:k])
        if hasattr(full, "coef_"):
            np.testing.assert_allclose(other.coef_, full.coef_, rtol=0, atol=1e-8 * np.abs(full.coef_).max())


#: In halves of few samples, features that are as good as each other fall either way.
IDS = [id for id in available_selectors() if id != "stability"]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("id", IDS)
def test_sparse_equals_dense(id, shape):
    if id in ("random-forest", "knockoffs", "auto") and shape != SHAPES[0]:
        pytest.skip("slow, and the data are a dense array to it anyway")
    n_classes = 2 if shape[0] < shape[1] else 3
    X, y = words(shape, n_classes)
    agree(id, X, y, **({"random_state": 0, "n_draws": 3} if id == "knockoffs" else {}))


@pytest.mark.parametrize("id", STAY_SPARSE)
def test_sparse_equals_dense_with_groups_and_kept_features(id):
    X, y = words((60, 40))
    agree(id, X, y, keep=[9, 3])
    agree(id, X, y, groups=np.arange(40) // 3, n_features_to_select=4)


@pytest.mark.parametrize("id", LEAST_SQUARES)
def test_sparse_equals_dense_for_numbers_and_raw_columns(id):
    X, y = words((60, 40))
    target = X[:, :9] @ np.arange(9) + 0.5
    agree(id, X, target, sample_weight=1 + np.arange(60) % 3)
    agree(id, X, y, standardize=False)
    if id != "greedy-forward":
        agree(id, X, target, ranking="path")
        agree(id, X, target, n_features_to_select=None)


@pytest.mark.parametrize("fusion", ["chain", "none"])
def test_sparse_equals_dense_with_fusion(fusion):
    for n_classes in (2, 3):
        X, y = words((50, 270), n_classes)
        agree("fused-lasso", X, y, fusion=fusion)


@pytest.mark.parametrize("id", STAY_SPARSE)
def test_nothing_dense_of_the_size_of_the_data(id, monkeypatch):
    """The whole design is never asked for as an array, not even by the rounds that have fewer features."""
    X, y = words((90, 400), 3)
    asked = []
    toarray = SparseDesign.toarray
    monkeypatch.setattr(SparseDesign, "toarray", lambda self: asked.append(self.shape[1]) or toarray(self))
    monkeypatch.setattr(inputs, "dense_design", None)
    make_selector(id, n_features_to_select=5).fit(sp.csr_array(X), y)
    assert max(asked, default=0) <= 100


def test_a_sparse_lasso_that_would_never_fit_as_a_dense_array():
    rng = np.random.default_rng(0)
    X = sp.random_array(
        (20_000, 20_000), density=1e-4, rng=rng, format="csr", data_sampler=rng.standard_normal
    )
    b = np.zeros(20_000)
    b[:10] = 5 + np.arange(10)
    with config_context(memory_budget="200MB"):
        lasso = Lasso(n_features_to_select=10).fit(X, X @ b + 0.01 * rng.normal(size=20_000))
    assert lasso.support_[:10].all()
    assert lasso.converged_
