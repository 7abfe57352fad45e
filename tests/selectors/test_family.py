"""Every selector is held to the same contract."""

from __future__ import annotations

import pickle
from importlib.metadata import EntryPoint

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

import infused
from infused import available_selectors
from infused.exceptions import InputError
from infused.selectors import registry
from infused.selectors.registry import selector_info
from tests.selectors.family import MAY_SELECT_NOTHING, make_selector

IDS = [
    "infused-lasso",
    "in-elastic-net",
    "in-lasso",
    "lasso",
    "ulasso",
    "fused-lasso",
    "group-lasso",
    "greedy-forward",
    "hsic-lasso",
    "knockoffs",
    "mifs",
    "mrmr",
    "jmim",
    "jmi",
    "cmim",
    "disr",
    "random",
    "anova",
    "mutual-info",
    "l1-logistic",
    "random-forest",
    "boosted-trees",
    "auto",
    "stability",
]
DETERMINED_BY_DATA = [id for id in IDS if id != "random"]
ONE_TARGET = [id for id in IDS[IDS.index("mifs") :] if id not in ("auto", "stability")]
WINE = load_wine(return_X_y=True)
every_selector = pytest.mark.parametrize("id", IDS)


def test_the_registry_has_them_all():
    assert available_selectors() == IDS
    assert [id for id in IDS if selector_info(id).in_paper] == IDS[:7]


@parametrize_with_checks([make_selector(id, n_features_to_select=1) for id in IDS if id != "infused-lasso"])
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@every_selector
@pytest.mark.parametrize(("k", "expected"), [(1, 1), (5, 5), (13, 13), (0.5, 6)])
def test_the_number_asked_for_is_the_number_selected(id, k, expected):
    X, y = WINE
    selector = make_selector(id, n_features_to_select=k).fit(X, y)
    assert selector.support_.sum() == selector.transform(X).shape[1] == expected
    np.testing.assert_array_equal(np.sort(selector.ranking_), np.arange(1, 14))
    np.testing.assert_array_equal(selector.support_, selector.ranking_ <= expected)
    assert (np.diff(selector.scores_[np.argsort(selector.ranking_)]) <= 0).all()


@every_selector
def test_without_a_number(id):
    X, y = WINE
    support = make_selector(id).fit(X, y).support_
    assert 0 < support.sum() + (id in MAY_SELECT_NOTHING) <= 13


@every_selector
def test_dense_and_sparse_agree(id):
    rng = np.random.default_rng(0)
    X = rng.poisson(0.5, size=(80, 15)).astype(float)
    y = (X[:, 2] + X[:, 7] + 0.1 * rng.normal(size=80) > 1).astype(int)
    make = {"csr": sp.csr_array, "csc": sp.csc_array}
    fits = [make_selector(id, n_features_to_select=4).fit(A, y) for A in (X, *(f(X) for f in make.values()))]
    for other in fits[1:]:
        np.testing.assert_array_equal(fits[0].ranking_, other.ranking_)
    assert sp.issparse(fits[-1].transform(sp.csr_array(X)))


@every_selector
def test_single_and_double_precision_agree(id):
    X, y = WINE
    X = X.astype(np.float32)
    single = make_selector(id, n_features_to_select=5).fit(X, y)
    double = make_selector(id, n_features_to_select=5).fit(X.astype(np.float64), y)
    np.testing.assert_array_equal(single.support_, double.support_)
    assert single.transform(X).dtype == np.float32


@every_selector
def test_names_and_labels_of_any_kind(id):
    frame, y = load_wine(return_X_y=True, as_frame=True)
    labels = np.array(["barolo", "grignolino", "barbera"])[y]
    selector = make_selector(id, n_features_to_select=3).set_output(transform="pandas").fit(frame, labels)
    out = selector.transform(frame)
    assert isinstance(out, pd.DataFrame)
    assert (
        list(out.columns) == list(frame.columns[selector.support_]) == list(selector.get_feature_names_out())
    )


@every_selector
def test_constant_and_duplicated_features(id):
    X, y = load_iris(return_X_y=True)
    X = np.column_stack([np.full(150, 7.0), X, X[:, 2], np.zeros(150)])
    selector = make_selector(id, n_features_to_select=4).fit(X, y)
    assert selector.support_.sum() == 4
    assert not selector.support_[[0, 6]].any()
    assert np.isfinite(selector.scores_).all()


def with_constants(seed):
    """Constants among features that are duplicated, rare, or say nothing of y, some of them not at all."""
    rng = np.random.default_rng(seed)
    y = np.arange(48) % 3
    X = rng.integers(0, 3, size=(48, 12)).astype(float)
    X[:, 3] = X[:, 0]
    X[:, 5] = y
    X[:, 6] = np.arange(48) == 7
    X[:, 7] = np.arange(48) // 3 % 2  # each class has half of it
    X[:, [1, 4, 9]] = [0.0, 0.1, -1e9]
    return X, y, [1, 4, 9]


@every_selector
@pytest.mark.parametrize(
    ("make", "seed"),
    [(np.asarray, 0), (np.asarray, 1), (sp.csr_array, 2)],
    ids=["dense-0", "dense-1", "sparse-2"],
)
def test_constants_come_last(id, make, seed):
    X, y, constant = with_constants(seed)
    for k in (5, 9, 11):
        selector = make_selector(id, n_features_to_select=k).fit(make(X), y)
        assert sorted(selector.ranking_[constant]) == [10, 11, 12]
        assert selector.support_[constant].sum() == max(0, k - 9)
        assert (np.diff(selector.scores_[np.argsort(selector.ranking_)]) <= 0).all()
    groups = np.array([0, 1, 2, 0, 1, 3, 4, 5, 6, 7, 6, 2])  # 1 and 7 have constants only
    grouped = make_selector(id, n_features_to_select=3, groups=groups).fit(make(X), y)
    assert sorted(grouped.ranking_[[1, 7]]) == [7, 8]
    assert not make_selector(id).fit(make(X), y).support_[constant].any()


@pytest.mark.parametrize("ranking", ["recursive", "forward", "coefficient", "path"])
@pytest.mark.parametrize("id", ["infused-lasso", "fused-lasso", "lasso", "greedy-forward"])
def test_constants_come_last_where_fusion_and_scale_could_raise_them(id, ranking):
    X, y, constant = with_constants(0)
    options = {} if id == "greedy-forward" else {"ranking": ranking}
    fused = {} if id in ("greedy-forward", "lasso") else {"fusion": "chain", "lambda2": 0.5}
    for extra in ({}, {"standardize": False}):
        for k in (4, *([None] if options else [])):
            selector = make_selector(id, n_features_to_select=k, **options, **fused, **extra).fit(X, y)
            assert sorted(selector.ranking_[constant]) == [10, 11, 12]
            assert not selector.support_[constant].any()


@every_selector
def test_it_finds_what_matters(id):
    if id == "random":
        pytest.skip("random features are meant to miss it")
    rng = np.random.default_rng(0)
    X, y = load_iris(return_X_y=True)
    noisy = np.column_stack([rng.normal(size=(150, 20)), X])
    selector = make_selector(id, n_features_to_select=2).fit(noisy, y)
    assert set(selector.get_support(indices=True)) & {22, 23}


@every_selector
def test_real_targets_or_a_clear_refusal(id):
    X, y = load_diabetes(return_X_y=True)
    y = y + 0.5 * (np.arange(len(y)) % 2)  # not integers, so not classes
    if not selector_info(id).regression:
        with pytest.raises(ValueError, match="needs classes, but y is continuous"):
            make_selector(id).fit(X, y)
        return
    selector = make_selector(id, n_features_to_select=3).fit(X, y)
    assert selector.support_.sum() == 3
    if id in DETERMINED_BY_DATA:
        assert selector.support_[[2, 8]].any()  # body mass and s5, as everybody finds


@every_selector
@pytest.mark.filterwarnings("ignore:.*could not be tried.*it takes one target")  # of the methods of auto
def test_several_targets_or_a_clear_refusal(id):
    X, y = load_diabetes(return_X_y=True)
    Y = np.column_stack([y + 0.5, X[:, 0]])
    selector = make_selector(id, n_features_to_select=3)
    if id in ONE_TARGET:
        with pytest.raises(InputError, match="takes one target, but y has 2 columns: fit one"):
            selector.fit(X, Y)
    else:
        assert selector.fit(X, Y).support_[0]


@every_selector
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, pd.DataFrame], ids=["array", "sparse", "frame"])
@pytest.mark.filterwarnings("ignore:.*could not be tried.*it takes one target")  # of the methods of auto
def test_several_labels_or_a_clear_refusal(id, make):
    """Two labels, each set by a feature of its own; no sample need have either."""
    X = np.random.default_rng(0).normal(size=(120, 9))
    labels = (X[:, [3, 6]] > [0.5, 0.8]).astype(int)
    assert labels.sum(axis=1).min() == 0
    selector = make_selector(id, n_features_to_select=2)
    if id in ONE_TARGET:
        with pytest.raises(InputError, match="takes one target, but y has 2 columns: fit one"):
            selector.fit(X, make(labels))
        return
    assert selector.fit(X, make(labels)).get_support(indices=True).tolist() == [3, 6]
    np.testing.assert_array_equal(selector.ranking_, clone(selector).fit(X, labels + 0.0).ranking_)
    if id in ("stability", "auto"):  # the selectors inside are what takes such a target
        return
    with pytest.raises(InputError, match="'onehot' needs one class label per sample, but y is 'multilabel"):
        selector.set_params(target="onehot").fit(X, make(labels))


@every_selector
def test_pipelines_cloning_and_pickling(id):
    X, y = load_breast_cancer(return_X_y=True)
    model = make_pipeline(
        StandardScaler(), make_selector(id, n_features_to_select=6, n_jobs=1), LogisticRegression()
    )
    assert model.fit(X, y).score(X, y) > 0.85
    selector = model[1]
    assert clone(selector).get_params() == selector.get_params()
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(selector)).ranking_, selector.ranking_)
    with pytest.raises(NotFittedError):
        clone(selector).transform(X)


@every_selector
def test_fitting_twice_with_any_number_of_threads_gives_the_same(id):
    X, y = load_breast_cancer(return_X_y=True)
    first, second = (make_selector(id, n_features_to_select=6, n_jobs=jobs).fit(X, y) for jobs in (1, 2))
    np.testing.assert_array_equal(first.ranking_, second.ranking_)
    np.testing.assert_allclose(first.scores_, second.scores_, rtol=1e-9)


@every_selector
def test_bad_input_is_named(id):
    X, y = WINE
    with pytest.raises(ValueError, match="14 is more than the 13 features"):
        make_selector(id, n_features_to_select=14).fit(X, y)
    with pytest.raises(ValueError, match="n_features_to_select"):
        make_selector(id, n_features_to_select=1.5).fit(X, y)
    for bad in (np.inf, *([] if get_tags(make_selector(id)).input_tags.allow_nan else [np.nan])):
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            make_selector(id).fit(np.where(X[3, 4] == X, bad, X), y)
    with pytest.raises(ValueError, match="does not take these parameters"):
        make_selector(id, colour="blue")


def test_an_unknown_id_is_named_with_a_close_one():
    with pytest.raises(ValueError, match="no selector 'mrmrr'; did you mean 'mrmr'"):
        make_selector("mrmrr")
    with pytest.raises(ValueError, match="there are infused-lasso, in-elastic-net"):
        make_selector("???")


def test_another_package_can_register_its_own(monkeypatch):
    entries = [
        EntryPoint("theirs", "infused.selectors.linear.lassos:Lasso", registry.ENTRY_POINTS),
        EntryPoint("lasso", "infused.selectors.greedy.filters:MRMR", registry.ENTRY_POINTS),
    ]
    monkeypatch.setattr(
        registry, "entry_points", lambda group: entries if group == registry.ENTRY_POINTS else []
    )
    registry._registry.cache_clear()
    try:
        assert available_selectors() == [*IDS, "theirs"]
        assert isinstance(make_selector("theirs", n_features_to_select=2), infused.Lasso)
        assert isinstance(make_selector("lasso"), infused.Lasso)  # ours cannot be replaced
    finally:
        registry._registry.cache_clear()
