"""The structural information matrix: against its definition on every route, and by its laws."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from threadpoolctl import threadpool_info, threadpool_limits

from infused import (
    StructuralInformation,
    config_context,
    feature_distributions,
    similarity,
    structural_information,
    target_distributions,
)
from infused.exceptions import InputError, MemoryBudgetError, OperationCancelledError
from infused.information import structural
from tests.reference import definition

CRITERIA = ("three-way", "two-way")
ROUTES = ("separable", "grouped", "direct")
GRAPHS = ("kernel", "euclidean")


def make_data(kind, n_samples=60, n_features=23, seed=0):
    """X and y of a kind: every combination of dense or counts, with two or many classes or real values."""
    rng = np.random.default_rng(seed)
    data, target = kind.split(", ")
    if data == "dense":
        X = rng.normal(size=(n_samples, n_features)) * 10.0 ** rng.integers(-3, 3, n_features)
        X[:, 1] = 4.2
        X[:, 2] = X[:, 3]
    else:
        X = rng.poisson(0.2, size=(n_samples, n_features)).astype(float)
        X[:, 1] = 0.0
        X[:, 2] = 1.0 + np.arange(n_samples) % 5
        X[:, 4] = np.arange(n_samples) == 7
    y = {
        "two": np.arange(n_samples) % 2,
        "many": rng.integers(0, 7, n_samples),
        "real": rng.normal(size=n_samples),
    }
    return X, y[target]


KINDS = [f"{data}, {target}" for data in ("dense", "counts") for target in ("two", "many", "real")]


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("kind", KINDS)
def test_every_route_agrees_with_the_definition(kind, route, criterion, graph):
    X, y = make_data(kind)
    P, T = feature_distributions(X, graph=graph), target_distributions(X, y, graph=graph)
    exact = definition(P, T, criterion)
    info = StructuralInformation(P, T, criterion=criterion, route=route)
    U = info.full()
    assert info.route == route
    error = np.abs(U - exact).max()
    assert error <= info.error_estimate() <= 1e-10
    np.testing.assert_array_equal(U, U.T)
    for data in (X, sp.csr_array(X)):
        from_data = StructuralInformation.from_data(data, y, graph=graph, criterion=criterion, route=route)
        assert np.abs(from_data.full() - exact).max() <= from_data.error_estimate() <= 1e-10


@pytest.mark.parametrize("tol", [1e-5, 1e-8, 1e-12])
@pytest.mark.parametrize("kind", KINDS)
def test_the_error_estimate_bounds_the_error_at_every_tolerance(kind, tol):
    X, y = make_data(kind)
    info = StructuralInformation.from_data(X, y, tol=tol)
    exact = definition(feature_distributions(X), target_distributions(X, y))
    assert np.abs(info.full() - exact).max() <= info.error_estimate() <= tol


@given(seed=st.integers(0, 10**6), kind=st.sampled_from(KINDS), criterion=st.sampled_from(CRITERIA))
def test_entries_stay_within_their_bounds(seed, kind, criterion):
    X, y = make_data(kind, n_samples=12, n_features=6, seed=seed)
    U = structural_information(X, y, criterion=criterion, n_jobs=1)
    assert (U > 0).all()
    assert U.max() <= structural.CRITERIA[criterion].largest


@given(
    P=arrays(float, (9, 4), elements=st.floats(0, 1)),
    T=arrays(float, (9, 4), elements=st.floats(0, 1)),
    criterion=st.sampled_from(CRITERIA),
)
def test_any_distributions_will_do_even_with_zeros(P, T, criterion):
    P, T = ((D + (D.sum(axis=0) < 1e-3)) for D in (P, T))
    P, T = P / P.sum(axis=0), T / T.sum(axis=0)
    info = StructuralInformation(P, T, criterion=criterion, n_jobs=1)
    assert np.abs(info.full() - definition(P, T, criterion)).max() <= info.error_estimate() + 1e-13


@given(seed=st.integers(0, 10**6), kind=st.sampled_from(KINDS))
def test_shift_scale_sign_and_order_do_not_matter(seed, kind):
    X, y = make_data(kind, n_samples=14, n_features=5, seed=seed)
    rng = np.random.default_rng(seed)
    U = structural_information(X, y, n_jobs=1)
    scale = rng.choice([-1.0, 0.5, 3.0, -1e5], size=5)
    order = rng.permutation(14)
    features = rng.permutation(5)
    np.testing.assert_allclose(structural_information(X * scale, y, n_jobs=1), U, atol=2e-10)
    np.testing.assert_allclose(structural_information(X[order], y[order], n_jobs=1), U, atol=2e-10)
    swapped = structural_information(X[:, features], y, n_jobs=1)
    np.testing.assert_allclose(swapped, U[np.ix_(features, features)], atol=2e-10)
    if kind.startswith("counts"):  # whole numbers: shifting them loses nothing
        np.testing.assert_allclose(structural_information(X + 1000, y, n_jobs=1), U, atol=2e-10)


def test_the_diagonal_is_twice_the_similarity_to_the_target():
    X, y = make_data("dense, many")
    P, T = feature_distributions(X), target_distributions(X, y)
    np.testing.assert_allclose(np.diag(structural_information(X, y)), 2 * similarity(P, P, T), atol=1e-10)


@pytest.fixture
def small_tiles(monkeypatch):
    """Many tiles and many chunks on small data."""
    monkeypatch.setattr(structural, "TILE", 8)
    monkeypatch.setattr("infused.information.separable.BUFFER_BYTES", 2**17)


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("kind", KINDS)
def test_tiles_columns_and_full_agree(kind, route, small_tiles):
    X, y = make_data(kind)
    info = StructuralInformation.from_data(X, y, route=route)
    exact = definition(feature_distributions(X), target_distributions(X, y))
    U = info.full()
    assert np.abs(U - exact).max() <= info.error_estimate()
    np.testing.assert_array_equal(U, U.T)

    seen = np.zeros_like(U)
    for rows, columns, block in info.tiles():
        np.testing.assert_array_equal(block, U[rows, columns])
        seen[rows, columns] += 1
    np.testing.assert_array_equal(seen, np.ones_like(U))

    chosen = [5, 0, 22, 5, -1]
    assert np.abs(info.columns(chosen) - exact[:, chosen]).max() <= info.error_estimate()
    mask = np.arange(23) % 4 == 0
    np.testing.assert_allclose(info.columns(mask), U[:, mask], atol=1e-10)
    assert info.columns([]).shape == (23, 0)


def blas_limits():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


def test_between_tiles_blas_belongs_to_the_caller(small_tiles):
    info = StructuralInformation.from_data(*make_data("dense, many"))
    with threadpool_limits(2, user_api="blas"):
        before = blas_limits()
        assert all(blas_limits() == before for _ in info.tiles())


def test_full_writes_where_it_is_told(tmp_path):
    X, y = make_data("dense, many")
    with config_context(memory_budget=1000):
        info = StructuralInformation.from_data(X, y)
    disk = np.memmap(tmp_path / "U.bin", dtype=np.float64, mode="w+", shape=info.shape)
    assert info.full(out=disk) is disk
    np.testing.assert_array_equal(disk, structural_information(X, y))
    with pytest.raises(InputError, match=r"shape \(23, 23\)"):
        info.full(out=np.empty((3, 3)))


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("kind", ["dense, many", "counts, two"])
def test_one_and_two_threads_give_the_same_bits(kind, route):
    X, y = make_data(kind, n_samples=300, n_features=200)
    one, two = (structural_information(X, y, route=route, n_jobs=n_jobs) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one, two)


def test_more_than_the_budget_is_refused_before_work():
    X, y = make_data("dense, many")
    with config_context(memory_budget="2KB"):
        info = StructuralInformation.from_data(X, y)
    with pytest.raises(
        MemoryBudgetError, match=r"23 x 23 features needs 4.23 KB, .* budget of 2 KB: .*columns\(\)"
    ):
        info.full()
    with pytest.raises(MemoryBudgetError, match="20 columns of U"):
        info.columns(np.arange(20))
    assert info.columns([1, 2]).shape == (23, 2)
    assert sum(block.size for *_, block in info.tiles()) == 23 * 23


@pytest.mark.parametrize("route", ROUTES)
def test_progress_runs_from_nothing_to_all(route, small_tiles):
    X, y = make_data("dense, many")
    seen = []
    structural_information(
        X, y, route=route, progress=lambda fraction, message: seen.append((fraction, message))
    )
    fractions = [fraction for fraction, _ in seen]
    assert fractions == sorted(fractions)
    assert (fractions[0], fractions[-1]) == (0.0, 1.0)
    messages = list(dict.fromkeys(message for _, message in seen))
    assert messages == ["building target graphs", "building feature graphs", "computing U"]
    assert len(fractions) > 10


def test_a_second_computation_starts_its_progress_anew():
    seen = []
    info = StructuralInformation.from_data(
        *make_data("dense, many"), progress=lambda fraction, message: seen.append((message, fraction))
    )
    info.columns([1])
    info.columns([2])
    fractions = [fraction for message, fraction in seen if message == "computing columns"]
    second = fractions.index(0.0)
    assert fractions[0] == pytest.approx(0.2)
    assert fractions[second - 1] == fractions[-1] == 1.0


def test_it_says_what_it_is():
    info = StructuralInformation.from_data(*make_data("dense, many"), route="separable")
    assert (
        repr(info) == f"StructuralInformation(23 features, 60 samples, route='separable', rank={info.rank})"
    )


def test_cancelling(small_tiles):
    X, y = make_data("dense, many")
    with pytest.raises(OperationCancelledError, match="computing U"):
        structural_information(X, y, progress=lambda fraction, message: fraction < 0.5)


def test_an_error_in_the_callback_comes_through(small_tiles):
    def callback(fraction, message):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        structural_information(*make_data("dense, many"), progress=callback)


good = np.full((4, 2), 0.25)


@pytest.mark.parametrize(
    ("P", "T", "options", "message"),
    [
        (good, np.full((4, 3), 0.25), {}, r"one shape, got \(4, 2\) and \(4, 3\)"),
        (good * 2, good, {}, "Column 0 of P sums to 2"),
        (good, good * np.array([1, 1.5]), {}, "Column 1 of T sums to 1.5"),
        (good - np.array([[0.5], [-0.5], [0], [0]]), good, {}, "P has negative entries"),
        (np.full((4, 2), np.nan), good, {}, "NaN"),
        (sp.csr_array(good), good, {}, "P must be dense"),
        (good[:1] * 4, good[:1] * 4, {}, "1 sample"),
        (good, good, {"tol": 0.0}, "tol must be positive"),
        (good, good, {"tol": float("nan")}, "tol must be positive"),
        (good, good, {"criterion": "four-way"}, "criterion='four-way' is not known.*'two-way'"),
        (good, good, {"route": "magic"}, "route='magic' is not known; there are auto, separable"),
    ],
)
def test_bad_input_is_refused(P, T, options, message):
    with pytest.raises(ValueError, match=message):
        StructuralInformation(P, T, **options)


@pytest.mark.parametrize("indices", [[23], [-24], [0.5], [[1, 2]], ["a"], [True, False]])
def test_bad_indices_are_refused(indices):
    info = StructuralInformation.from_data(*make_data("dense, many"))
    with pytest.raises(InputError, match="indices must"):
        info.columns(indices)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (np.full((3, 2), np.nan), [0, 1, 0], "NaN"),
        (np.ones((1, 2)), [0], "1 sample"),
        (np.ones((3, 2, 1)), [0, 1, 0], "dim 3"),
        (np.ones((3, 2)) * 1j, [0, 1, 0], "Complex"),
        (np.ones((3, 2)), [1, 1, 1], "got 1 class"),
        (np.ones((3, 2)), [0, 1], "inconsistent numbers of samples"),
    ],
)
def test_bad_data_is_refused(X, y, message):
    with pytest.raises(ValueError, match=message):
        structural_information(X, y)


@pytest.mark.data
def test_the_papers_data(paper_data):
    """A few features of each data set, as dense and as sparse, against the definition."""
    name, X, y = paper_data
    chosen = np.random.default_rng(0).choice(X.shape[1], 24, replace=False)
    X = X[:, chosen]
    P, T = feature_distributions(X), target_distributions(X, y)
    exact = definition(P, T)
    for data in (X, sp.csr_array(X.astype(float))):
        info = StructuralInformation.from_data(data, y)
        assert np.abs(info.full() - exact).max() <= info.error_estimate() <= 1e-10, (name, info.route)
