"""Weights of samples: whole ones are repetition, zero is absence, and the rest is scale."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from infused import AutoSelector, available_selectors, make_selector
from infused._runtime.threads import Workers
from infused.exceptions import InputError
from infused.information.discrete import discretize, target_codes
from infused.information.mutual import MutualInformation, joint_information
from infused.selectors.inputs.groups import Groups
from infused.selectors.inputs.training import weighed
from infused.selectors.registry import selector_info
from infused.selectors.scores.univariate import f_tests

STRUCTURAL = ["infused-lasso", "in-elastic-net"]
#: Which draw samples or copies of features, or count samples in leaves.
UNWEIGHTED = [*STRUCTURAL, "auto", "stability", "knockoffs", "boosted-trees"]
WEIGHTED = [id for id in available_selectors() if id not in UNWEIGHTED]
every_selector = pytest.mark.parametrize("id", WEIGHTED)

GROUPS = [0, 1, 2, 2, 3, 4, 4, 4, 5]
VARIANTS = {
    "plain": {},
    "groups": {"groups": GROUPS},
    "keep": {"keep": [3, 8]},
    "both": {"groups": GROUPS, "keep": [2]},
}
EXACT = {"tol": 1e-9, "max_iter": 20_000}


def problem(real=False, seed=0):
    """Counts and measurements, of which two matter."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.poisson(1.0, size=(36, 4)), rng.normal(size=(36, 5))]).astype(float)
    signal = X[:, 1] + X[:, 5] + 0.3 * rng.normal(size=36)
    y = signal if real else np.digitize(signal, [0.3, 1.5])
    return X, y, rng.integers(0, 4, size=36)


def made(id, **options):
    selector = make_selector(id, n_features_to_select=3, **options)
    return selector.set_params(**EXACT) if "tol" in selector.get_params() else selector


@every_selector
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("form", ["dense", "sparse", "real"])
def test_whole_weights_are_repetition(id, variant, form):
    if form == "real" and not selector_info(id).regression:
        pytest.skip("takes classes only")
    X, y, w = problem(real=form == "real")
    as_given = sp.csr_array if form == "sparse" else np.asarray
    shuffled = np.random.default_rng(1).permutation(len(y))  # the order of samples is no matter either
    X_, y_, w_ = X[shuffled], y[shuffled], w[shuffled]
    weighted = made(id, **VARIANTS[variant]).fit(as_given(X_), y_, sample_weight=w_)
    repeated = made(id, **VARIANTS[variant]).fit(as_given(np.repeat(X, w, axis=0)), np.repeat(y, w))
    np.testing.assert_array_equal(weighted.support_, repeated.support_)
    np.testing.assert_array_equal(weighted.ranking_, repeated.ranking_)
    close = 5e-3 if id == "l1-logistic" else 1e-6  # liblinear's tolerance, which counts rows
    np.testing.assert_allclose(weighted.scores_, repeated.scores_, rtol=close, atol=close)
    if hasattr(weighted, "coef_"):
        np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-6)


#: Whose model depends on how many samples there are: C weighs a sum of losses, trees draw rows.
COUNTS_SAMPLES = ("l1-logistic", "random-forest")


@every_selector
@pytest.mark.parametrize("form", ["dense", "sparse", "real", "counts"])
def test_copies_make_no_categories(id, form):
    """Few samples of large weight are ranked as their copies are, and as they are alone."""
    if form == "real" and not selector_info(id).regression:
        pytest.skip("takes classes only")
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X, w = rng.normal(size=(28, 7)), rng.integers(5, 12, size=28)
        if form == "counts":
            X[:, :4] = rng.poisson(2.0, size=(28, 4))
        signal = X[:, 4] + X[:, 6] + 0.3 * rng.normal(size=28)
        y = signal if form == "real" else (signal > 0).astype(int)
        given = sp.csr_array if form == "sparse" else np.asarray

        def ranked(X, y, w=None, given=given):
            return made(id).fit(given(X), y, sample_weight=w).ranking_

        copies = ranked(np.repeat(X, w, axis=0), np.repeat(y, w))
        np.testing.assert_array_equal(ranked(X, y, w), copies)
        five = ranked(np.tile(X, (5, 1)), np.tile(y, 5))
        np.testing.assert_array_equal(ranked(X, y, np.full(28, 5)), five)
        if id not in COUNTS_SAMPLES:
            np.testing.assert_array_equal(ranked(X, y), five)


@pytest.mark.parametrize("options", [{"standardize": False}, {"ranking": "path"}], ids=["as it is", "path"])
@pytest.mark.parametrize("id", ["lasso", "ulasso", "fused-lasso", "group-lasso", "in-lasso"])
def test_whole_weights_are_repetition_in_every_form_of_a_linear_model(id, options):
    X, y, w = problem()
    Y = np.column_stack([y, X[:, 2]])  # several targets
    weighted = made(id, **options).fit(X, Y, sample_weight=w)
    repeated = made(id, **options).fit(np.repeat(X, w, axis=0), np.repeat(Y, w, axis=0))
    np.testing.assert_array_equal(weighted.ranking_, repeated.ranking_)
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-6)
    path = weighted.regularization_path(X, Y, n_lambdas=3, sample_weight=w)
    other = repeated.regularization_path(np.repeat(X, w, axis=0), np.repeat(Y, w, axis=0), n_lambdas=3)
    np.testing.assert_allclose(path.coef, other.coef, atol=1e-6)


@every_selector
def test_weights_of_any_size(id):
    """Ones are none; the scale of weights that are not whole says nothing; and weights do matter."""
    X, y, w = problem(seed=2)
    plain, ones = made(id).fit(X, y), made(id).fit(X, y, sample_weight=np.ones(36))
    np.testing.assert_array_equal(plain.scores_, ones.scores_)
    np.testing.assert_array_equal(plain.scores_, made(id).fit(X, y, sample_weight=np.full(36, 0.3)).scores_)
    fits = [made(id).fit(X, y, sample_weight=c * (w + 0.5)) for c in (1.0, 1e-3, 1e300)]
    for other in fits[1:]:
        np.testing.assert_array_equal(fits[0].ranking_, other.ranking_)
    half = made(id).fit(X, y, sample_weight=w / 2)  # two halves are as good as one and one
    assert half.support_.sum() == 3
    # Where all that matters of y is in samples of weight zero, nothing of it is seen.
    X[:, 0], seen = y, np.arange(36) % 2
    X[seen == 1, 0] = 0.0
    assert not made(id).fit(X, y, sample_weight=seen).support_[0]


@every_selector
def test_weights_are_routed(id):
    X, y, w = problem()
    with config_context(enable_metadata_routing=True):
        selector = made(id).set_fit_request(sample_weight=True)
        model = make_pipeline(selector, LogisticRegression().set_fit_request(sample_weight=False))
        chosen = model.fit(X, y, sample_weight=w)[0]
    np.testing.assert_array_equal(chosen.support_, made(id).fit(X, y, sample_weight=w).support_)


@pytest.mark.parametrize("id", STRUCTURAL)
def test_where_u_enters_weights_are_refused_with_the_reason(id):
    X, y, w = problem()
    refusal = "takes no sample_weight=: every sample is one vertex of the graphs behind U. Repeat samples"
    with pytest.raises(InputError, match=refusal):
        make_selector(id).fit(X, y, sample_weight=w)
    with pytest.raises(InputError, match=refusal):
        make_selector(id).regularization_path(X, y, sample_weight=w)
    np.testing.assert_array_equal(
        made(id).fit(X, y, sample_weight=np.ones(36)).scores_, made(id).fit(X, y).scores_
    )
    without = made(id, lambda3=0.0)
    repeated = clone(without).fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    np.testing.assert_allclose(without.fit(X, y, sample_weight=w).coef_, repeated.coef_, atol=1e-6)


def test_bad_weights_are_named():
    X, y, w = problem()
    for bad, words in (
        (-1.0 * w, "Negative values"),
        (0 * w, "zero"),
        (w[:5], "sample_weight.shape"),
        (np.eye(36)[0], "leaves fewer than two samples"),
        (np.where(w > 1, np.nan, 1.0), "sample_weight contains NaN"),
    ):
        with pytest.raises(ValueError, match=words):
            make_selector("lasso").fit(X, y, sample_weight=bad)
    with pytest.raises(InputError, match="'neighbours' takes no sample_weight"):
        make_selector("mutual-info", estimator="neighbours").fit(X, y, sample_weight=w)


@pytest.mark.parametrize("id", ["anova", "cmim", "lasso"])
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_weights_at_the_end_of_the_range(id):
    """They overflow nowhere, and the model that judges numbers of features gets none that it hangs on."""
    X, y, w = problem()
    for huge in (np.full(36, 1e308), np.where(w > 1, 1e200, 1e-200)):
        selector = make_selector(id, n_features_to_select="auto")
        assert selector.fit(X, y, sample_weight=huge).support_.any()


def information(codes, y, w):
    """I(codes; y) by its definition, with weights."""
    p = np.zeros((codes.max() + 1, y.max() + 1))
    np.add.at(p, (codes, y), w / w.sum())
    expected = np.outer(p.sum(axis=1), p.sum(axis=0))
    return float((p[p > 0] * np.log(p[p > 0] / expected[p > 0])).sum())


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("make", [np.asarray, sp.csc_array], ids=["dense", "sparse"])
def test_weighted_information_is_that_of_the_definition(make, whole):
    rng = np.random.default_rng(3)
    X, y = rng.poisson(0.7, size=(60, 5)).astype(float), rng.integers(0, 3, 60)
    w = rng.integers(1, 9, 60) if whole else rng.exponential(size=60)
    _, _, weights = weighed(X, y, w)
    codes, y_codes = discretize(make(X), weights=weights.counts), target_codes(X, y, weights=weights.counts)
    found = MutualInformation.build(codes, y_codes, Workers(None), weights.units)
    values = np.array([np.unique(column, return_inverse=True)[1] for column in X.T])
    tol = 1e-9 if whole else 1e-6  # others are rounded to whole units
    expected = [information(row, y, w) for row in values]
    np.testing.assert_allclose(found.with_target(), expected, atol=tol)
    pairs = [information(values[2], row, w) for row in values]
    np.testing.assert_allclose(found.with_feature(2), pairs, atol=tol)
    joint = [information(values[2] * 10 + row, y, w) for row in values]
    np.testing.assert_allclose(found.with_feature_and_target(2), joint, atol=tol)
    W = joint_information(codes, y_codes, weights=weights.units)
    np.testing.assert_allclose(W[2], joint, atol=tol)


def test_weighted_bins_have_equal_weight():
    x = np.arange(1000.0)[:, None]
    w = np.where(x[:, 0] < 100, 9.0, 1.0)  # a tenth of the samples with half of the weight
    codes = discretize(x, 4, weights=w).codes[0]
    np.testing.assert_allclose(np.bincount(codes, weights=w) / w.sum(), 0.25, atol=0.01)
    np.testing.assert_array_equal(codes, discretize(x, 4, weights=w.astype(np.int64)).codes[0])


def test_weighted_f_values_are_those_of_a_weighted_regression():
    X, y, _ = problem(real=True)
    w = np.random.default_rng(0).exponential(size=36)
    _, _, weights = weighed(X, y, w)
    found = f_tests(X, y, True, Groups.parse(None, 9), np.empty(0, np.int64), weights).values
    for j in (0, 1, 5):
        line = np.polynomial.polynomial.polyfit(X[:, j], y, 1, w=np.sqrt(w))
        rest = y - line[0] - line[1] * X[:, j]
        share = 1 - (w * rest**2).sum() / (w * (y - np.average(y, weights=w)) ** 2).sum()
        assert found[j] == pytest.approx(share / (1 - share) * 34)


@pytest.mark.parametrize("id", ["lasso", "mrmr", "anova"])
@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc", "f1", "jaccard_macro", None])
def test_the_number_is_chosen_by_the_samples_that_count(id, scoring):
    """Half of the samples say the opposite of the others, but count for nothing."""
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(120, 6)), np.repeat([1.0, 1e-6], 60)
    y = (X[:, 2] > 0) ^ (w < 0.5)
    with_weights = AutoSelector([id], scoring=scoring).fit(X, y, sample_weight=w)
    assert with_weights.support_[2]
    assert with_weights.number_curve_.means[0] > 0.9
    if scoring is None:
        alone = make_selector(id, n_features_to_select="auto").fit(X, y, sample_weight=w)
        assert alone.number_curve_ == with_weights.number_curve_
    without = AutoSelector([id], scoring=scoring).fit(X, y)
    assert without.number_curve_.means[0] < 0.8
