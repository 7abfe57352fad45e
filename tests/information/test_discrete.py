"""Bins: from their rule, and the same for every kind of input."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from infused.exceptions import InputError
from infused.information import discrete as cuts
from infused.information.discrete import DenseCodes, SparseCodes, discretize, distinct_samples, target_codes
from tests.hard_columns import hard_columns


def twin(column, n_bins, n_distinct):
    """The rule in exact fractions: discrete as it is; else heavy values first, then the others from below."""
    counts = sorted(Counter(column.tolist()).items())
    if len(counts) <= 32 and 5 * len(counts) <= n_distinct:
        return np.unique(column, return_inverse=True)[1]
    heavy, bins, light = set(), n_bins, len(column)
    while True:
        new = [x for x, n in counts if x not in heavy and n >= Fraction(light, bins)]
        if not new:
            break
        heavy.add(new[0])
        light, bins = light - dict(counts)[new[0]], bins - 1
        if bins == 0:
            break
    groups, share, filled = [], None, 0
    for x, n in counts:
        if x in heavy:
            groups.append([x])
            share = None
            continue
        further = share is not None and abs(filled + n - share) > abs(filled - share)
        if bins > 0 and (share is None or further):
            share, filled = Fraction(light, bins), 0
            bins -= 1
            groups.append([])
        groups[-1].append(x)
        light -= n
        filled += n
    code = {x: b for b, group in enumerate(groups) for x in group}
    return np.array([code[x] for x in column.tolist()])


def with_tails(column, codes, tail):
    """Cut off the outermost quarter of an outer bin again and again, while both parts are large."""
    cuts = []
    for sign, edge in ((1, codes.min()), (-1, codes.max())):
        own = sign * column[codes == edge] if codes.max() > 0 else np.empty(0)
        while True:
            values, counts = np.unique(own, return_counts=True)
            if len(values) < 2:
                break
            held = np.cumsum(counts)[:-1]
            far = np.abs(held - Fraction(len(own), 4))
            outside = held[far == far.min()][-1]  # the nearest to a quarter, of two the larger
            if min(outside, len(own) - outside) < tail:
                break
            inside = own > values[np.flatnonzero(held == outside)[0]]
            cuts.append((sign, sign * own[~inside].max()))
            own = own[~inside]
    parts = np.array([column > x if sign > 0 else column >= x for sign, x in cuts])
    return np.unique(codes + parts.sum(axis=0), return_inverse=True)[1] if cuts else codes


def codes_of(X, n_bins=5, tail=0):
    codes = discretize(X, n_bins, tail=tail)
    assert isinstance(codes, SparseCodes if sp.issparse(X) else DenseCodes)
    rows = [codes.row(j) for j in range(X.shape[1])] if sp.issparse(X) else codes.codes
    return np.array(rows), codes.n_codes


def awkward_columns(rng):
    skewed = rng.poisson(1.5, size=(60, 4)) * rng.integers(-1, 2, size=(60, 4))
    few = rng.choice([-2.0, 0.0, 7.0], p=[0.05, 0.9, 0.05], size=(60, 2))
    heavy = np.where(rng.random((60, 3)) < [0.2, 0.5, 0.8], 1.0, rng.normal(size=(60, 3)))
    half = np.repeat([0.0, 1.0, 2.0, 3.0], [6, 30, 12, 12])  # one value holds an equal share of two bins
    return np.column_stack(
        [rng.normal(size=(60, 2)), skewed, few, heavy, half, np.zeros(60), np.full(60, 3.0)]
    )


@pytest.mark.parametrize("n_bins", [2, 3, 5, 10, 256])
def test_the_rule(n_bins, rng):
    for X in (awkward_columns(rng), np.column_stack(list(hard_columns().values()))):
        codes, n_codes = codes_of(X, n_bins)
        for j, column in enumerate(X.T):
            np.testing.assert_array_equal(codes[j], twin(column, n_bins, len(np.unique(X, axis=0))))
            assert n_codes[j] == len(np.unique(codes[j])) == codes[j].max() + 1 <= max(n_bins, 32)
            in_order = codes[j][np.argsort(column)].astype(int)
            assert (np.diff(in_order) >= 0).all()


@pytest.mark.parametrize("tail", [1, 3, 25])
@pytest.mark.parametrize("make", [np.asarray, sp.csc_array])
def test_the_rule_of_tails(tail, make, rng):
    heavy = np.column_stack(
        [rng.lognormal(0, 3, 700), rng.standard_cauchy(700), rng.poisson(20, 700), rng.geometric(0.02, 700)]
    )
    heavy[:, 1] *= rng.random(700) < 0.7
    heavy[:, 3] *= rng.random(700) < 0.9  # zeros are part of the lowest bin
    for X in (awkward_columns(rng), heavy):
        discrete = np.array(
            [(5 * (n := len(np.unique(x))) <= len(np.unique(X, axis=0))) and n <= 32 for x in X.T]
        )
        found, plain = codes_of(make(X), tail=tail)[0], codes_of(X)[0].astype(int)
        for j, column in enumerate(X.T):
            expected = plain[j] if discrete[j] else with_tails(column, plain[j], tail)
            np.testing.assert_array_equal(found[j], expected)
    if tail == 25:  # 140 samples, of which 35 are cut off, of which 9 are too few
        assert np.bincount(codes_of(make(heavy), tail=tail)[0][0]).tolist() == [
            35,
            105,
            140,
            140,
            140,
            105,
            35,
        ]


def test_increasing_transforms_and_copies_change_no_tails(rng):
    X = rng.normal(size=(400, 3))
    codes = codes_of(X, tail=25)[0]
    np.testing.assert_array_equal(codes_of(np.exp(3 * X), tail=25)[0], codes)
    for factor in (2, 1000):
        weighted = discretize(X, weights=np.full(400, factor), tail=25)
        np.testing.assert_array_equal(weighted.codes, codes)
    np.testing.assert_array_equal(codes_of(np.tile(X, (3, 1)), tail=25)[0], np.tile(codes, 3))


@pytest.mark.parametrize(("n_samples", "n_bins"), [(72, 5), (100, 5), (1560, 7), (11, 10)])
def test_values_without_ties_fill_bins_evenly(n_samples, n_bins, rng):
    codes, _ = codes_of(rng.normal(size=(n_samples, 3)), n_bins)
    for row in codes:
        sizes = np.bincount(row)
        assert len(sizes) == n_bins
        assert sizes.max() - sizes.min() <= 1


def test_few_values_stay_as_they_are(rng):
    values = np.array([-3.0, 0.0, 0.1, 9.0, 1e6, 2e6, 1e9])
    places = rng.choice(7, p=[0.01, 0.88, 0.03, 0.03, 0.03, 0.01, 0.01], size=(500, 4))
    places[:7] = np.arange(7)[:, None]
    codes, _ = codes_of(values[places])
    np.testing.assert_array_equal(codes, places.T)
    few_samples, _ = codes_of(values[places[:30]])  # seven values of thirty samples are too many
    assert few_samples.max() == 4


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, sp.csc_array], ids=["dense", "csr", "csc"])
@pytest.mark.parametrize("gaps", [False, True])
def test_copies_and_weights_change_no_bins(make, gaps, rng):
    X = np.column_stack([rng.normal(size=(30, 3)), rng.poisson(2.0, size=(30, 2)), rng.integers(0, 7, 30)])
    if gaps:
        X[rng.random(X.shape) < 0.3] = np.nan
    weights = rng.integers(5, 9, size=30)
    copies = np.repeat(X, weights, axis=0)
    alike, few = codes_of(make(X))[0], codes_of(make(np.tile(X, (6, 1))))[0]
    np.testing.assert_array_equal(few, np.tile(alike, 6))
    weighted = discretize(make(X), weights=weights)
    np.testing.assert_array_equal(
        np.repeat(weighted.rows(slice(0, 6)), weights, axis=1), codes_of(make(copies))[0]
    )
    assert alike[:3].max() == 4 + gaps  # five bins of measured values, and a code for gaps


def test_samples_are_counted_once(rng):
    X = np.array([[0.0, 1.0], [-0.0, 1.0], [0.0, np.nan], [0.0, -np.nan], [2.0, 1.0]])
    for make in (np.asarray, sp.csr_array, sp.csc_array):
        features, samples = distinct_samples(make(X))
        assert (features.tolist(), samples) == ([3, 2], 3)
        features, samples = distinct_samples(make(X), np.array(list("aabba")))
        assert (features.tolist(), samples) == ([3, 2], 3)
        features, samples = distinct_samples(make(X), np.array(list("abaab")))
        assert (features.tolist(), samples) == ([4, 3], 4)
    many = rng.normal(size=(1000, 3))
    assert distinct_samples(many)[1] == distinct_samples(np.tile(many, (3, 1)))[1] == 1000


def test_zeros_of_a_count_have_a_bin_of_their_own():
    counts = np.concatenate([np.zeros(1400), np.arange(1, 41)])
    codes, _ = codes_of(counts[:, None])
    np.testing.assert_array_equal(codes[0], np.ceil(counts / 10))


@pytest.mark.parametrize("transform", [np.exp, lambda X: X**3, lambda X: 1e9 + 8 * X])
def test_increasing_transforms_change_nothing(transform, rng):
    X = np.round(rng.normal(size=(80, 6)), 1)
    np.testing.assert_array_equal(codes_of(transform(X))[0], codes_of(X)[0])


@pytest.mark.parametrize("make", [sp.csr_array, sp.csc_array, sp.csr_matrix, sp.csc_matrix])
def test_sparse_is_dense(make, rng):
    X = awkward_columns(rng)
    dense, sparse = codes_of(X), codes_of(make(X))
    np.testing.assert_array_equal(dense[0], sparse[0])
    np.testing.assert_array_equal(dense[1], sparse[1])


def test_stored_zeros_and_duplicates_are_understood():
    stored = np.array([0.0, 1.0, 2.0, -0.0, 3.0, 5.0])
    X = sp.csc_array((stored, [0, 1, 1, 2, 3, 4], [0, 6]), shape=(6, 1))
    before = X.data.copy()
    codes, _ = codes_of(X)
    np.testing.assert_array_equal(codes[0], [0, 1, 0, 1, 2, 0])
    np.testing.assert_array_equal(X.data, before)


@pytest.mark.parametrize("dtype", [np.float32, np.int16, np.uint8, bool])
def test_the_type_of_the_numbers_does_not_matter(dtype, rng):
    X = rng.integers(0, 2 if dtype is bool else 40, size=(90, 5)).astype(dtype)
    np.testing.assert_array_equal(codes_of(X)[0], codes_of(X.astype(float))[0])


def test_threads_change_nothing(rng):
    X = rng.normal(size=(3000, 300))
    np.testing.assert_array_equal(discretize(X, n_jobs=2).codes, discretize(X).codes)


@pytest.mark.parametrize("n_bins", [1, 257])
def test_impossible_numbers_of_bins(n_bins):
    with pytest.raises(InputError, match=f"between 2 and 256, got {n_bins}"):
        discretize(np.eye(3), n_bins)


@pytest.mark.parametrize("make", [np.asarray, sp.csc_array])
def test_the_kernel_and_plain_python_find_the_same_cuts(monkeypatch, make, rng):
    X = np.column_stack([*hard_columns().values(), *rng.poisson(1.0, size=(6, 36))])
    plain = discretize(make(X))
    monkeypatch.setattr(cuts, "FEW_ENTRIES", 0)
    compiled = discretize(make(X))
    np.testing.assert_array_equal(plain.codes, compiled.codes)
    np.testing.assert_array_equal(plain.n_codes, compiled.n_codes)


def test_targets():
    X = np.zeros((6, 1))
    np.testing.assert_array_equal(target_codes(X, list("babcab")), [1, 0, 1, 2, 0, 1])
    np.testing.assert_array_equal(target_codes(X, [7, 7, 3, 3, 3, 7]), [1, 1, 0, 0, 0, 1])
    real = np.arange(6) + 0.5
    np.testing.assert_array_equal(target_codes(X, real, n_bins=3), [0, 0, 1, 1, 2, 2])
    np.testing.assert_array_equal(target_codes(X, np.arange(6), target="real", n_bins=2), [0, 0, 0, 1, 1, 1])
