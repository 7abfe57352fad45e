"""Arrays that were damaged or go to extremes: refused in one line, or right; no crash, no noise."""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_diabetes, load_wine

import infused
from infused import InElasticNet, InFusedLasso, InLasso, available_selectors
from infused._runtime.checks import damage, sound
from infused.exceptions import InputError, TargetWarning
from infused.selectors.choose import evaluators as judges
from infused.selectors.linear import estimator as linear
from infused.selectors.method import defaults_of
from infused.selectors.registry import selector_info
from tests.selectors.family import make_selector

WINE = load_wine(return_X_y=True)
every_selector = pytest.mark.parametrize("id", available_selectors())


def made(id, **parameters):
    """A selector that draws the same whenever it is fitted, and not often."""
    if "random_state" in defaults_of(id):
        parameters["random_state"] = 0
    return make_selector(id, **parameters)


@cache
def usual_on_wine(id):
    """The ranking of four features on unscaled data, which is the same for every scale."""
    return made(id, n_features_to_select=4).fit(rounded_wine(), WINE[1]).ranking_


def rounded_wine():
    return np.round(WINE[0] * 2**6) / 2**6


def counts():
    rng = np.random.default_rng(0)
    X = rng.poisson(0.6, size=(18, 8)).astype(float)
    return X, np.arange(18) % 2


def with_index_out_of_range(X):
    X.indices[0] = 40


def with_negative_index(X):
    X.indices[-1] = -3


def with_falling_pointers(X):
    X.indptr[1], X.indptr[2] = X.indptr[-1], 1


def with_pointer_past_the_end(X):
    X.indptr[-1] += 1000


def with_too_few_values(X):
    X.data = X.data[:-2]


DAMAGES = (
    with_index_out_of_range,
    with_negative_index,
    with_falling_pointers,
    with_pointer_past_the_end,
    with_too_few_values,
)


def damaged_ones():
    """A matrix of every format, damaged in every way that it can be."""
    X = counts()[0]
    for format in ("csr", "csc", "bsr"):
        for damages in DAMAGES:
            broken = sp.csr_array(X).asformat(format)
            damages(broken)
            yield f"{format} {damages.__name__}", broken
    for axis, place in ((0, 99), (1, -1)):
        broken = sp.coo_array(X)
        broken.coords[axis][0] = place
        yield f"coo axis {axis}", broken
    broken = sp.lil_array(X)
    broken.rows[0] = [99, *broken.rows[0]]
    yield "lil lengths", broken
    broken = sp.lil_array(X)
    broken.rows[0][0] = 99
    yield "lil index", broken
    broken = sp.dia_array(X)
    broken.offsets = broken.offsets[:-1]
    yield "dia", broken


@pytest.mark.parametrize("broken", [pytest.param(X, id=name) for name, X in damaged_ones()])
def test_a_damaged_sparse_matrix_is_refused_before_anything_compiled_sees_it(broken):
    with pytest.raises(InputError, match=r"X is a damaged sparse matrix: .*Make it anew"):
        sound(broken)


@pytest.mark.parametrize("format", ["csr", "csc", "bsr", "coo", "lil", "dia", "dok"])
def test_sound_matrices_stay_what_they_are(format):
    X = sp.csr_array(counts()[0]).asformat(format)
    assert damage(X) is None
    np.testing.assert_array_equal(sound(X).toarray(), X.toarray())
    if format in ("csr", "csc"):
        assert sound(X) is X


@every_selector
@pytest.mark.parametrize("damages", [with_index_out_of_range, with_pointer_past_the_end])
def test_every_selector_refuses_damaged_arrays(id, damages):
    X, y = counts()
    good, broken = sp.csr_array(X), sp.csr_array(X)
    damages(broken)
    selector = made(id, n_features_to_select=2)
    for use in (lambda: selector.fit(broken, y), lambda: selector.fit(X, broken)):
        with pytest.raises(InputError, match=r"damaged sparse matrix|takes one target"):
            use()
    selector.fit(good, y)
    for use in (selector.transform, selector.inverse_transform):
        with pytest.raises(InputError, match="damaged sparse matrix"):
            use(broken)


def test_other_entrances_refuse_them_too():
    X, y = counts()
    broken = sp.csr_array(X)
    with_index_out_of_range(broken)
    uses = (
        lambda: infused.structural_information(broken, y),
        lambda: infused.feature_distributions(broken),
        lambda: infused.select((broken, y), k=2),
        lambda: infused.FusedLasso(fusion=broken).fit(X, y),
    )
    for use in uses:
        with pytest.raises(InputError, match="damaged sparse matrix"):
            use()


@every_selector
@pytest.mark.parametrize("format", [sp.csr_array, sp.csc_array, sp.coo_array])
def test_duplicate_entries_count_as_their_sum(id, format):
    X, y = counts()
    whole = sp.coo_array(X)
    rows, columns = np.concatenate([whole.coords] * 2, axis=1)
    halves = np.tile(whole.data / 2, 2)
    twice = format(sp.coo_array((halves, (rows, columns)), shape=X.shape))
    if format is not sp.coo_array:  # conversion sums them, so put them in by hand
        once = format(whole)
        indptr, indices = 2 * once.indptr, np.repeat(once.indices, 2)
        twice = format((np.repeat(once.data / 2, 2), indices, indptr), shape=X.shape)
    before = twice.data.copy()
    fits = [made(id, n_features_to_select=3).fit(A, y) for A in (format(whole), twice, X)]
    np.testing.assert_allclose(fits[1].scores_, fits[0].scores_, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(fits[1].ranking_, fits[2].ranking_)
    np.testing.assert_array_equal(twice.data, before)


@every_selector
@pytest.mark.parametrize("scale", [2.0**-1000, 2.0**515])
def test_the_scale_of_a_real_target_does_not_matter(id, scale):
    if not selector_info(id).regression:
        pytest.skip("classes have no scale")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 6))
    y = X[:, 4] - 0.5 * X[:, 1] + 0.1 * rng.normal(size=40)
    usual = made(id, n_features_to_select=2).fit(X, y)
    scaled = made(id, n_features_to_select=2).fit(X, y * scale)
    np.testing.assert_array_equal(scaled.ranking_, usual.ranking_)
    if id not in ("random", "mutual-info"):  # whose scores do not tell that they are linear
        assert usual.support_[4] or id == "random-forest"


@every_selector
@pytest.mark.parametrize("scale", [2.0**-1000, 2.0**1015])
def test_the_scale_of_a_feature_does_not_matter(id, scale, monkeypatch):
    # Samples are drawn in another order: only a large forest ranks the same.
    monkeypatch.setattr("infused.selectors.scores.importances.TREES", 300)
    X, y = rounded_wine(), WINE[1]
    scales = np.where(np.arange(13) % 2, scale, 1.0)
    usual = usual_on_wine(id)
    for matrix in (X * scales, sp.csr_array(X * scales)):
        scaled = made(id, n_features_to_select=4).fit(matrix, y)
        np.testing.assert_array_equal(scaled.ranking_, usual)


@pytest.mark.parametrize("id", ["lasso", "fused-lasso", "infused-lasso", "greedy-forward", "ulasso"])
@pytest.mark.parametrize("scale", [1e-170, 1e155, 1e300])
def test_without_standardising_extremes_are_refused(id, scale):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 5))
    y = X[:, 1] + 0.1 * rng.normal(size=30)
    with pytest.raises(InputError, match=r"largest value of y .*standardize=True"):
        made(id, standardize=False).fit(X, y * scale)
    with pytest.raises(InputError, match=r"largest value of X .*standardize=True"):
        made(id, standardize=False).fit(X * scale, y)


def test_coefficients_that_are_no_numbers_are_an_error(monkeypatch):
    def broken(*arguments):
        ranked = linear_rank(*arguments)
        ranked.coef[0] = np.nan
        return ranked

    linear_rank = linear.rank
    monkeypatch.setattr(linear, "rank", broken)
    with pytest.raises(InputError, match="left the range of numbers"):
        infused.Lasso().fit(*WINE)


@every_selector
@pytest.mark.parametrize(
    "y", [np.zeros(18), np.array(["a"] * 18), np.full(18, 0.5)], ids=["numbers", "texts", "fractions"]
)
def test_one_rule_for_one_class(id, y):
    with pytest.raises(InputError, match="got 1 class"):
        made(id).fit(counts()[0], y)


@every_selector
def test_labels_that_are_missing_or_mixed_are_refused(id):
    X, y = counts()
    labels = np.array(["a", "b"], dtype=object)[y]
    for other in (None, float("nan"), 7):
        mixed = labels.copy()
        mixed[3] = other
        with pytest.raises(InputError, match=r"y (mixes values|has missing labels)"):
            made(id).fit(X, mixed)


@pytest.mark.skipif(
    np.finfo(np.longdouble).max <= np.finfo(np.float64).max, reason="long doubles are doubles here"
)
@every_selector
def test_long_doubles_beyond_float64_are_refused(id):
    """Where they are not, they become infinities after the check for these."""
    X, y = WINE[0].astype(np.longdouble), WINE[0][:, 0].astype(np.longdouble)
    large = np.finfo(np.longdouble).max / 4000
    for data, target in ((X * large, WINE[1]), (sp.csr_array(X * large), WINE[1]), (WINE[0], y * large)):
        with pytest.raises(ValueError, match=r"range of float64|too large for dtype"):
            made(id, n_features_to_select=2).fit(data, target)
    assert made(id, n_features_to_select=2).fit(X, WINE[1]).support_.sum() == 2


@every_selector
def test_labels_beyond_unicode_are_refused(id):
    codes = np.where(WINE[1] == 0, 0x7FFFFFFF, 0x41).astype("<u4")
    with pytest.raises(InputError, match="y holds characters beyond Unicode"):
        made(id, n_features_to_select=2).fit(WINE[0], np.frombuffer(codes.tobytes(), "<U1"))


@every_selector
def test_dates_are_no_numbers(id):
    X, y = counts()
    for kind in ("M8[s]", "m8[s]"):
        with pytest.raises(InputError, match="X holds dates or times: make numbers of them"):
            made(id).fit(X.astype(kind), y)


def test_constant_features_in_the_paper_s_formulation():
    X, y = np.ones((18, 4)), counts()[1]
    try:
        infused.InFusedLasso(formulation="paper").fit(X, y)
    except InputError:
        return
    pytest.fail("nothing can be selected from constants")


@pytest.mark.parametrize("shape", [(8,), (13,), (1, 13, 1), (-1, -13), ("a", "b"), (6.5, 2)])
def test_a_shape_that_is_no_shape(shape):
    X, y = WINE
    with pytest.raises(InputError, match="grid_shape"):
        infused.FusedLasso(fusion="grid", grid_shape=shape).fit(X, y)


def test_many_whole_numbers_are_measured_values_as_on_the_command_line():
    X, y = load_diabetes(return_X_y=True)
    with pytest.warns(TargetWarning, match=r"214 different whole .*measured values.*parameter target"):
        told = infused.Lasso(n_features_to_select=3).fit(X, y)
    real = infused.Lasso(n_features_to_select=3, target="real").fit(X, y)
    np.testing.assert_array_equal(told.coef_, real.coef_)
    chosen = infused.select((X, y), k=3, method="lasso")
    assert chosen.features == [f"feature_{j}" for j in np.argsort(real.ranking_)[:3]]
    with pytest.warns(TargetWarning, match="measured values"):
        infused.MRMR(n_features_to_select=3).fit(X, y)


@every_selector
def test_many_classes_with_samples_enough_are_told(id):
    rng = np.random.default_rng(0)
    y = np.repeat(18 + np.arange(15), 10)  # ages, perhaps
    X = rng.normal(size=(150, 3)) + y[:, None] * [1.0, 0.0, 0.1]
    selector = made(id, n_features_to_select=1)
    with pytest.warns(TargetWarning, match="15 different whole numbers .*taken as classes") as told:
        selector.fit(X, y)
    assert sum(one.category is TargetWarning for one in told) == 1


@pytest.mark.parametrize("first", [0, 1])
def test_classes_that_are_numbered_leave_no_doubt(first):
    y = np.repeat(first + np.arange(25), 10)
    X = np.random.default_rng(0).normal(size=(250, 3))
    assert len(infused.Lasso(n_features_to_select=1).fit(X, y).classes_) == 25


@pytest.mark.parametrize("make", [InLasso, InFusedLasso, InElasticNet])
def test_a_quadratic_term_beyond_the_range_of_numbers_is_refused(make, rng):
    X = 1e10 * rng.normal(size=(20, 6))
    with pytest.raises(InputError, match="too large to solve: lower lambda3"):
        make(lambda3=1e300, standardize=False).fit(X, np.arange(20) % 2)


@pytest.mark.parametrize("name", ["lambda1", "lambda2"])
def test_a_penalty_beyond_the_range_of_numbers_is_refused(name, rng):
    X = 1e10 * rng.normal(size=(20, 6))
    with pytest.raises(InputError, match=f"too large to solve: lower {name}"):
        InFusedLasso(**{name: 1e300}, standardize=False).fit(X, np.arange(20) % 2)


def test_iterations_without_end_are_refused(rng):
    with pytest.raises(ValueError, match="'max_iter' parameter of InLasso must be an int in the range"):
        InLasso(max_iter=2**70).fit(rng.normal(size=(20, 6)), np.arange(20) % 2)


def test_a_ridge_beyond_the_range_of_numbers_is_refused(rng):
    X = 1e10 * rng.normal(size=(20, 6))
    with pytest.raises(InputError, match="too large to solve: lower ridge"):
        infused.GreedyForward(ridge=1e300, standardize=False).fit(X, np.arange(20) % 2)


def test_iterates_that_leave_the_range_are_one_line():
    X = np.random.default_rng(7).normal(size=(40, 5))[:2]
    selector = InFusedLasso(lambda2=0.0, lambda_scale="absolute", formulation="paper", unbounded="iterate")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", UserWarning)  # that there is no minimum
        with pytest.raises(InputError, match="left the range of numbers: lower max_iter"):
            selector.fit(X, [0, 1])


def test_what_is_unseen_does_not_squeeze_the_training_part_into_nothing():
    train = np.random.default_rng(0).normal(size=(20, 2))
    test = np.array([[1e300, 0.5], [0.5, -np.finfo(float).max]])
    fitted, unseen = judges.scaled(train, test)
    np.testing.assert_allclose(fitted.std(axis=0), 1.0)
    assert np.isfinite(unseen**2).all()
    assert unseen[0, 0] > 1e50 and unseen[1, 1] < -1e50
    np.testing.assert_allclose(unseen[1, 0], (0.5 - train[:, 0].mean()) / train[:, 0].std())
