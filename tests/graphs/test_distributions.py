"""Distributions against a precise reference, and by the laws they obey."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from infused import config_context, feature_distributions, target_distributions
from infused.exceptions import InputError, MemoryBudgetError, OperationCancelledError
from infused.graphs import distributions as steady_states
from tests.hard_columns import hard_columns, hard_labels
from tests.reference import precise_distribution, precise_target_distribution

HARD = hard_columns()
GRAPHS = ("kernel", "euclidean")

numbers = st.floats(-1e6, 1e6, allow_subnormal=False).map(lambda v: round(v, 3))
columns = arrays(float, st.integers(2, 40), elements=numbers)


def one(f, graph="kernel"):
    return feature_distributions(np.asarray(f, float)[:, None], graph=graph, n_jobs=1)[:, 0]


def relative_error(p, exact):
    return np.abs(p / exact - 1).max()


def test_there_are_enough_hard_columns():
    assert len(HARD) >= 20


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("name", HARD)
def test_feature_distribution_is_exact_on_hard_columns(name, graph):
    assert relative_error(one(HARD[name], graph), precise_distribution(HARD[name], graph)) < 1e-13


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("labels", hard_labels())
def test_target_distribution_is_exact_on_hard_columns(labels, graph):
    y = hard_labels()[labels]
    X = np.stack(list(HARD.values()), axis=1)
    P = target_distributions(X, y, graph=graph)
    for i, f in enumerate(HARD.values()):
        assert relative_error(P[:, i], precise_target_distribution(f, y, graph)) < 1e-13, list(HARD)[i]


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("make", [np.asarray, sp.csc_array])
def test_the_kernels_and_plain_numpy_have_the_same_bits(monkeypatch, graph, make, rng):
    with np.errstate(all="ignore"):
        X = np.column_stack(list(hard_columns().values()))
    X = make(np.hstack([X, X * rng.integers(0, 2, size=X.shape)]))
    y = np.arange(X.shape[0]) % 4

    def all_distributions():
        real = target_distributions(X, np.sin(np.arange(len(y))), graph=graph)
        return feature_distributions(X, graph=graph), target_distributions(X, y, graph=graph), real

    plain = all_distributions()
    monkeypatch.setattr(steady_states, "FEW_ENTRIES", 0)
    for one, other in zip(plain, all_distributions(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_long_columns_stay_exact(rng):
    """Rounding must not grow with the samples: compare with extended precision on 2,000 of them."""
    f = rng.standard_cauchy(2000)
    value = f.astype(np.longdouble)
    A = np.abs(value[:, None] - value)
    w = 1 / np.sqrt((A * A).sum(axis=1))
    d = w * (A @ (A @ w))
    assert relative_error(one(f), np.asarray(d / d.sum())) < 1e-13


@pytest.mark.parametrize("graph", GRAPHS)
@given(f=columns)
def test_a_distribution_is_positive_and_sums_to_one(graph, f):
    p = one(f, graph)
    assert (p > 0).all()
    assert p.sum() == pytest.approx(1, abs=1e-13)


@pytest.mark.parametrize("graph", GRAPHS)
@given(f=columns, data=st.data())
def test_order_shift_scale_and_sign_do_not_matter(graph, f, data):
    p = one(f, graph)
    order = np.array(data.draw(st.permutations(range(len(f)))))
    shift = data.draw(st.integers(-1000, 1000))
    scale = data.draw(st.sampled_from([0.25, 2.0, 3.0, -1.0, -1e30]))
    np.testing.assert_array_equal(one(f[order], graph), p[order])
    np.testing.assert_allclose(one(f * scale, graph), p, rtol=1e-13)
    exact = np.round(f)  # whole numbers: shifting them loses nothing
    np.testing.assert_allclose(one(exact + shift, graph), one(exact, graph), rtol=1e-13)


@given(f=arrays(float, st.integers(2, 30), elements=st.integers(-3, 3).map(float)))
def test_ties_come_out_bit_identical(f):
    p = one(f)
    for value in np.unique(f):
        assert len(np.unique(p[f == value])) == 1


def test_a_constant_feature_is_uniform():
    X = np.column_stack([np.full(7, v) for v in (0.0, 0.1, -1e300, 5e-324)])
    np.testing.assert_array_equal(feature_distributions(X), np.full((7, 4), 1 / 7))
    np.testing.assert_array_equal(target_distributions(X, [0, 1, 0, 1, 0, 1, 1]), np.full((7, 4), 1 / 7))


def test_class_means_that_differ_by_rounding_are_equal(rng):
    """The same values in both classes, in another order: plain sums would differ in the last bits."""
    values = rng.normal(size=50) * 10.0 ** rng.integers(-8, 8, size=50)
    f = np.concatenate([values, rng.permutation(values)])
    P = target_distributions(f[:, None], np.repeat([0, 1], 50))
    np.testing.assert_array_equal(P, np.full((100, 1), 0.01))


def test_an_offset_costs_no_digits():
    f = np.array([0.0, 1.0, 2.0, 4.0, 7.0, 9.0])
    y = [0, 0, 1, 1, 2, 2]
    near, far = (target_distributions(f[:, None] + offset, y) for offset in (0.0, 2.0**45))
    np.testing.assert_allclose(far, near, rtol=1e-14)


def test_with_two_classes_every_feature_has_the_same_target_graph(rng):
    P = target_distributions(
        rng.normal(size=(31, 20)) * 10.0 ** rng.integers(-9, 9, 20), np.arange(31) % 3 > 0
    )
    np.testing.assert_array_equal(P, np.repeat(P[:, :1], 20, axis=1))


@pytest.mark.parametrize("graph", GRAPHS)
def test_a_real_target_has_the_graph_of_y(rng, graph):
    X, y = rng.normal(size=(30, 4)), rng.normal(size=30)
    P = target_distributions(X, y, graph=graph)
    np.testing.assert_array_equal(P, np.repeat(one(y, graph)[:, None], 4, axis=1))


def test_whole_numbers_are_classes_unless_said_otherwise(rng):
    X, y = rng.normal(size=(30, 2)), np.arange(30) % 3
    classes, real = (target_distributions(X, y, target=target) for target in ("auto", "real"))
    np.testing.assert_array_equal(classes, target_distributions(X, y.astype(str)))
    np.testing.assert_array_equal(real[:, 0], one(y))


@pytest.fixture
def counts(rng):
    X = rng.poisson(0.3, size=(40, 25)).astype(float)
    X[:, 3] = 0  # an empty column
    X[:, 4] = np.arange(1, 41)  # a full one
    X[:, 5] *= -1
    X[:, 6] -= 0.5 * (X[:, 6] > 0) * (np.arange(40) % 2)
    return X


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("make", [sp.csr_array, sp.csc_array, sp.csr_matrix, sp.coo_array])
def test_sparse_input_gives_the_same_bits(counts, graph, make):
    y = np.arange(40) % 3
    S = make(counts)
    np.testing.assert_array_equal(
        feature_distributions(S, graph=graph), feature_distributions(counts, graph=graph)
    )
    sparse, dense = (target_distributions(X, y, graph=graph) for X in (S, counts))
    np.testing.assert_allclose(sparse, dense, rtol=1e-15)


def test_stored_zeros_and_duplicates_in_sparse_input():
    dense = np.array([[0.0, 3.0], [1.0, 0.0], [0.0, 0.0], [2.0, 1.0]])
    rows, cols = [0, 1, 1, 3, 3, 0, 2], [0, 0, 0, 0, 1, 1, 1]
    S = sp.csc_matrix((np.array([0.0, 0.4, 0.6, 2.0, 1.0, 3.0, 0.0]), (rows, cols)), shape=(4, 2))
    before = S.copy()
    np.testing.assert_array_equal(feature_distributions(S), feature_distributions(dense))
    assert S.nnz == before.nnz  # the caller's matrix is left alone


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16, np.uint8, bool])
@pytest.mark.parametrize("order", ["C", "F"])
def test_kinds_of_numbers(rng, dtype, order):
    X = np.asarray(rng.integers(0, 2 if dtype is bool else 100, size=(30, 4)), dtype=dtype, order=order)
    y = np.arange(30) % 2
    np.testing.assert_array_equal(feature_distributions(X), feature_distributions(X.astype(float)))
    np.testing.assert_array_equal(target_distributions(X, y), target_distributions(X.astype(float), y))


def test_data_frames(rng):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(
        {"a": rng.normal(size=20), "b": rng.integers(0, 3, 20), "c": rng.normal(size=20) > 0}
    )
    expected = feature_distributions(frame.to_numpy(dtype=float))
    np.testing.assert_array_equal(feature_distributions(frame), expected)


def test_threads_do_not_change_the_result(rng):
    X, y = rng.normal(size=(3000, 300)), rng.integers(0, 4, 3000)  # more than one task
    np.testing.assert_array_equal(feature_distributions(X, n_jobs=1), feature_distributions(X, n_jobs=2))
    np.testing.assert_array_equal(target_distributions(X, y, n_jobs=1), target_distributions(X, y, n_jobs=2))


BAD_X = {
    "not a number": (np.array([[1.0, np.nan], [2.0, 3.0]]), "NaN"),
    "infinite": (np.array([[1.0, np.inf], [2.0, 3.0]]), "infinity"),
    "infinite, sparse": (sp.csr_array(np.array([[1.0, np.inf], [2.0, 3.0]])), "infinity"),
    "no samples": (np.empty((0, 3)), "0 sample"),
    "no features": (np.empty((3, 0)), "0 feature"),
    "one sample": (np.ones((1, 3)), "1 sample"),
    "objects": (np.array([[1, 2], [3, 4]], dtype=object), "dtype object"),
    "text": (np.array([["a", "b"], ["c", "d"]]), "could not convert|dtype"),
    "complex": (np.ones((3, 3)) * 1j, "Complex"),
    "three dimensions": (np.ones((3, 3, 3)), "dim 3"),
    "one dimension": (np.ones(3), "2D"),
}


@pytest.mark.parametrize("name", BAD_X)
def test_bad_data_is_refused(name):
    X, message = BAD_X[name]
    with pytest.raises(ValueError, match=message):
        feature_distributions(X)
    with pytest.raises(ValueError, match=message):
        target_distributions(X, [0, 1])


BAD_Y = {
    "one class": ([1, 1, 1], "got 1 class"),
    "too short": ([0, 1], "inconsistent numbers of samples"),
    "not a number": ([0.5, np.nan, 1.0], "NaN"),
    "infinite": ([0.5, np.inf, 1.0], "infinity"),
    "two columns": (np.ones((3, 2)), "1d array"),
    "complex": (np.array([1j, 0, 1]), "Complex"),
    "text and None": (np.array(["a", None, "b"], dtype=object), "such as text and None"),
}


@pytest.mark.parametrize("name", BAD_Y)
def test_bad_targets_are_refused(name):
    y, message = BAD_Y[name]
    with pytest.raises(ValueError, match=message):
        target_distributions(np.arange(6.0).reshape(3, 2), y)


def test_text_is_no_real_target():
    with pytest.raises(ValueError, match=r"could not convert|dtype"):
        target_distributions(np.arange(6.0).reshape(3, 2), ["a", "b", "c"], target="real")


@pytest.mark.parametrize("option", [{"graph": "chain"}, {"target": "labels"}])
def test_unknown_choices_are_named(option):
    with pytest.raises(InputError, match=r"(graph='chain'|target='labels') is not known"):
        target_distributions(np.arange(6.0).reshape(3, 2), [0, 1, 0], **option)


def test_a_result_beyond_the_budget_is_refused_before_work():
    words = r"1000 x 100 distributions needs 800 KB.*budget of 10 KB"
    with config_context(memory_budget="10KB"), pytest.raises(MemoryBudgetError, match=words):
        feature_distributions(np.zeros((1000, 100)))


def test_progress_and_cancelling(rng):
    X = rng.normal(size=(2000, 600))
    seen = []
    feature_distributions(X, progress=lambda fraction, message: seen.append((fraction, message)))
    fractions = [fraction for fraction, _ in seen]
    assert fractions == sorted(fractions)
    assert (fractions[0], fractions[-1]) == (0, 1)
    assert {message for _, message in seen} == {"building feature graphs"}
    with pytest.raises(OperationCancelledError, match="building feature graphs"):
        feature_distributions(X, progress=lambda fraction, message: fraction < 0.3)
