"""The knockoff filter: its copies, its statistic, its e-values, and what it selects."""

from __future__ import annotations

import warnings
from itertools import product

import numpy as np
import pytest
from scipy.stats import binomtest

from infused import KnockoffSelector
from infused.datafits import survival_records
from infused.exceptions import InputError, MemoryBudgetError
from infused.selectors.control.knockoffs import (
    CONSTRUCTIONS,
    Copies,
    Parts,
    Scales,
    Target,
    coefficient_gaps,
    discoveries,
    e_benjamini_hochberg,
    e_values,
    equicorrelated,
    least_reconstructable,
    reconstructability,
    shrunk_covariance,
)
from infused.selectors.control.redundancy import cluster_representatives

every_number = pytest.mark.parametrize("number", [1, 3])
every_construction = pytest.mark.parametrize("construction", CONSTRUCTIONS)


def covariance(kind, n=12):
    if kind == "independent":
        return np.eye(n)
    if kind == "autoregressive":
        return 0.8 ** np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    if kind == "blocks":
        return 0.1 * np.eye(n) + 0.9 * (np.subtract.outer(np.arange(n) // 4, np.arange(n) // 4) == 0)
    X = np.random.default_rng(3).normal(size=(n - 4, n))
    X[:, 1] = X[:, 0]  # the same feature twice, and fewer samples than features
    X -= X.mean(axis=0)
    return shrunk_covariance(X / X.std(axis=0))


every_covariance = pytest.mark.parametrize("kind", ["independent", "autoregressive", "blocks", "estimated"])


# Copies


@every_covariance
@every_construction
@every_number
def test_features_and_copies_have_the_moments_that_let_them_change_places(kind, construction, number):
    Sigma = covariance(kind)
    copies = Copies.make(Sigma, construction, number)
    S = np.diag(copies.s)
    of_mean = copies.mean.T @ Sigma @ copies.mean + copies.root @ copies.root.T
    np.testing.assert_allclose(Sigma @ copies.mean, Sigma - S, atol=1e-9)
    np.testing.assert_allclose(of_mean + (1 - 1 / number) * S, Sigma, atol=1e-7)  # of one copy
    np.testing.assert_allclose(of_mean - S / number, Sigma - S, atol=1e-7)  # of two copies
    assert (copies.s > 0).all()
    assert np.linalg.eigvalsh((number + 1) * Sigma - number * S)[0] >= -1e-12


def joint_covariance(Sigma, s, number):
    return np.kron(np.ones((number + 1, number + 1)), Sigma - np.diag(s)) + np.kron(
        np.eye(number + 1), np.diag(s)
    )


@every_construction
@every_number
def test_drawn_copies_have_these_moments(construction, number):
    Sigma, rng = covariance("autoregressive", 6), np.random.default_rng(0)
    X = rng.multivariate_normal(np.zeros(6), Sigma, size=40_000)
    copies = Copies.make(Sigma, construction, number)
    both = np.hstack([X, *copies.draw(X, rng)])
    np.testing.assert_allclose(both.T @ both / len(X), joint_covariance(Sigma, copies.s, number), atol=0.04)


@every_covariance
@every_number
def test_the_better_construction_minimises_reconstructability(kind, number):
    Sigma = covariance(kind)
    s, equal = least_reconstructable(Sigma, number), equicorrelated(Sigma, number)
    assert reconstructability(Sigma, s, number) <= reconstructability(Sigma, equal, number) * (1 + 1e-9)
    G = joint_covariance(Sigma, s, number)
    assert reconstructability(Sigma, s, number) == pytest.approx(np.trace(np.linalg.inv(G)), rel=1e-6)
    # At the minimum no coordinate wants to move.
    inverse = np.linalg.inv((number + 1) * Sigma - number * np.diag(s))
    np.testing.assert_allclose((inverse**2).sum(axis=0) * s**2, 1.0, atol=0.01)


def test_where_features_are_independent_copies_are_too():
    np.testing.assert_allclose(least_reconstructable(np.eye(5)), 1.0, atol=1e-3)
    np.testing.assert_allclose(equicorrelated(np.eye(5)), 1.0, atol=1e-5)


def test_parts_of_a_group_are_uncorrelated_and_span_it():
    rng = np.random.default_rng(0)
    level = np.eye(4)[rng.integers(0, 4, size=50)]  # indicators of levels: one of them says nothing new
    columns = [rng.normal(size=(50, 1)), level, rng.normal(size=(50, 2)) @ [[1.0, 0.9], [0.0, 0.1]]]
    columns = [own - own.mean(axis=0) for own in columns]
    parts = Parts.make(columns)
    assert parts.owners.tolist() == [0, 1, 1, 1, 2, 2]
    for place, own in enumerate(columns):
        Z = parts.Z[:, parts.owners == place]
        np.testing.assert_allclose(Z.T @ Z / 50, np.eye(Z.shape[1]), atol=1e-12)
        np.testing.assert_allclose(Z @ (Z.T @ own) / 50, own, atol=1e-10)


def heavy_rows(rng, n_samples, Sigma, freedom):
    """Draw samples of a multivariate t distribution: some are far out in all features."""
    scale = np.sqrt(freedom / rng.chisquare(freedom, size=(n_samples, 1)))
    return rng.multivariate_normal(np.zeros(len(Sigma)), Sigma, n_samples) * scale


@pytest.mark.parametrize("n_columns", [1, 3, 20])
def test_the_tails_of_samples_are_found(n_columns):
    rng, Sigma = np.random.default_rng(0), covariance("autoregressive", n_columns)
    for freedom in (4, 8):
        X = heavy_rows(rng, 4000, Sigma, freedom) * np.sqrt((freedom - 2) / freedom)
        assert Scales.fit(X, Sigma).freedom == pytest.approx(freedom, rel=0.25)
    assert Scales.fit(rng.multivariate_normal(np.zeros(n_columns), Sigma, 4000), Sigma).freedom > 60


@every_number
def test_copies_of_samples_far_out_are_far_out_with_them(number):
    """Fourth moments of any pair stay as they are when features change places with copies."""
    rng, freedom, Sigma = np.random.default_rng(0), 12, covariance("autoregressive", 4)
    X = heavy_rows(rng, 100_000, Sigma, freedom)
    X /= X.std(axis=0)
    copies = Copies.make(Sigma, "mvr", number)
    both = np.hstack([X, *copies.draw(X, rng, scales=Scales.fit(X, Sigma))])
    G = joint_covariance(Sigma, copies.s, number)
    expected = (1 + 2 * G**2) * (freedom - 2) / (freedom - 4)  # of squares of two columns
    np.testing.assert_allclose((both**2).T @ both**2 / len(X), expected, rtol=0.08)


# The statistic


def problem(seed, n_samples=80, n_features=10, n_signals=3, classes=0):
    rng = np.random.default_rng(seed)
    X = rng.multivariate_normal(np.zeros(n_features), covariance("autoregressive", n_features), n_samples)
    y = X[:, :n_signals].sum(axis=1) + rng.normal(size=n_samples)
    if classes:
        y = np.argsort(np.argsort(y)) * classes // n_samples
    return X, y


def parts_of(X, groups=None):
    X = X - X.mean(axis=0)
    codes = np.arange(X.shape[1]) if groups is None else groups
    return Parts.make([X[:, codes == code] for code in range(codes.max() + 1)])


@pytest.mark.parametrize("groups", [None, np.arange(10) // 2], ids=["alone", "groups"])
@pytest.mark.parametrize("n_targets", [1, 3])
@every_number
def test_a_feature_that_changes_place_with_its_copy_changes_its_sign(groups, n_targets, number):
    X, y = problem(0)
    Y = np.column_stack([y, X[:, 5], y**2])[:, :n_targets]
    Y = (Y - Y.mean(axis=0)) / np.linalg.norm(Y - Y.mean(axis=0), axis=0)
    parts = parts_of(X, groups)
    rng = np.random.default_rng(1)
    copies = Copies.make(shrunk_covariance(parts.Z), "mvr", number).draw(parts.Z, rng)
    W = coefficient_gaps(parts, copies, Target(Y, None, None), np.random.default_rng(2))
    swapped = np.isin(parts.owners, [0, 3])
    exchanged = Parts(np.where(swapped, copies[0], parts.Z), parts.owners)
    others = np.stack([np.where(swapped, parts.Z, copies[0]), *copies[1:]])
    V = coefficient_gaps(exchanged, others, Target(Y, None, None), np.random.default_rng(2))
    exchanged_and_first = np.isin(np.arange(len(W)), [0, 3]) & (W > 0)
    signs = np.where(exchanged_and_first, -1.0, np.sign(V) * np.sign(W))
    np.testing.assert_allclose(V, signs * W, atol=2e-3 * np.abs(W).max())
    np.testing.assert_array_equal(np.sign(V)[[1, 2, 4]], np.sign(W)[[1, 2, 4]])
    assert W[0] > 0


@pytest.mark.parametrize("classes", [0, 3])
@every_number
def test_irrelevant_features_win_as_often_as_each_of_their_copies(classes, number):
    positive = total = 0
    for seed in range(40):
        X, y = problem(seed, 60, 12, 2, classes)
        found = KnockoffSelector(0.5, n_copies=number, random_state=seed).fit(X, y)
        W = found.statistics_[0, 2:]
        positive, total = positive + int((W > 0).sum()), total + int((W != 0).sum())
    assert total > 60
    assert binomtest(positive, total, 1 / (number + 1)).pvalue > 0.001


# The filter


def filtered(W, q, m):
    """Knockoffs+ of m copies from its definition."""
    for t in sorted(abs(W[W != 0])):
        if (1 + sum(t <= -W)) / (m * max(1, sum(t <= W))) <= q:
            return t <= W
    return np.zeros(len(W), dtype=bool)


@pytest.mark.parametrize("q", [0.05, 0.1, 0.2, 0.5])
@every_number
def test_one_draw_is_the_knockoff_filter(q, number):
    for seed in range(100):
        rng = np.random.default_rng(seed)
        W = np.round(rng.normal(rng.choice([0, 3], size=60, p=[0.6, 0.4]), 1.0), 1)  # ties and zeros
        np.testing.assert_array_equal(discoveries(W[None], q, number).selected, filtered(W, q, number))


@every_number
def test_the_e_values_of_irrelevant_features_sum_to_at_most_their_number(number):
    """Exactly: over all signs that irrelevant features could have had, beside relevant ones."""
    others = np.array([9.5, 7.5, -6.5, 4.5, 2.5])
    for level in (0.1, 0.3, 0.6):
        mean = 0.0
        for signs in product([-1.0, 1.0], repeat=9):
            W = np.concatenate([np.array(signs) * np.arange(1, 10), others])
            n_wins = signs.count(1.0)
            chance = number ** (9 - n_wins) / (number + 1) ** 9  # each wins one time in m + 1
            mean += chance * e_values(W, level, number)[:9].sum()
        assert 0 < mean <= 14 + 1e-9


def test_e_values_against_their_definition():
    W = np.array([5.0, 4.0, 3.0, -2.0, 2.0, 1.0, -1.0, 0.0])
    np.testing.assert_allclose(e_values(W, 0.5), [4, 4, 4, 0, 4, 0, 0, 0])  # (1 + 1) / 4 at 2
    np.testing.assert_allclose(e_values(W, 0.1), [8, 8, 8, 0, 0, 0, 0, 0])  # none is negative from 3 on
    assert not e_values(-np.abs(W), 0.5).any()


def test_the_largest_set_whose_least_e_value_is_large_enough():
    for seed in range(50):
        rng = np.random.default_rng(seed)
        e = np.round(rng.exponential(rng.choice([0.3, 12.0], size=25)), 0)
        selected, threshold = e_benjamini_hochberg(e, 0.2)
        sizes = [k for k in range(1, 26) if sum(e >= 25 / (0.2 * k)) >= k]
        np.testing.assert_array_equal(selected, e >= 25 / (0.2 * max(sizes)) if sizes else np.zeros(25, bool))
        assert threshold == (e[selected].min() if sizes else np.inf)


# The selector


def test_what_is_selected_and_what_is_said_of_it():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 40))
    y = X[:, :15].sum(axis=1) + rng.normal(size=200)
    found = KnockoffSelector(0.2, random_state=0, n_draws=5).fit(X, y)
    assert found.support_[:15].all() and found.support_.sum() <= 18
    assert found.n_discoveries_ == found.support_.sum()
    np.testing.assert_array_equal(found.support_, found.e_values_ >= found.threshold_)
    assert set(np.argsort(found.ranking_)[: found.n_discoveries_]) == set(np.flatnonzero(found.support_))
    assert (found.frequencies_[:15] > 0.5).all()
    assert found.statistics_.shape == (5, 40)
    np.testing.assert_array_equal(found.representatives_, np.arange(40))


def test_noise_selects_nothing_and_transforming_says_so():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 30)), rng.normal(size=100)
    found = KnockoffSelector(random_state=0, n_draws=3).fit(X, y)
    assert found.n_discoveries_ == 0 and found.threshold_ == np.inf
    with pytest.warns(UserWarning, match="No features were selected"):
        assert found.transform(X).shape == (100, 0)


def test_a_rate_that_can_select_nothing_is_told():
    X, y = problem(0)
    with pytest.warns(UserWarning, match="fdr=0.05 with 1 copy of each feature selects at least 20 features"):
        KnockoffSelector(0.05, random_state=0, n_copies=1).fit(X, y)


@pytest.mark.parametrize(("n_features", "n_signals"), [(100, 6), (12, 3)])
def test_few_features_are_found_with_several_copies(n_features, n_signals):
    """One copy needs ten discoveries at a rate of 0.1."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, n_features))
    y = X[:, :n_signals].sum(axis=1) + rng.normal(size=300)
    usual = KnockoffSelector(0.1, random_state=0).fit(X, y)
    assert usual.support_[:n_signals].all()
    assert KnockoffSelector(0.1, n_copies=1, random_state=0).fit(X, y).n_discoveries_ == 0


@pytest.mark.parametrize(
    ("fdr", "shape", "n_copies"),
    [
        (0.1, (150, 100), 2),
        (0.1, (60, 100), 1),
        (0.1, (150, 10), 4),
        (0.05, (150, 10), 8),
        (0.01, (40, 4), 10),
    ],
)
def test_the_usual_number_of_copies(fdr, shape, n_copies):
    rng = np.random.default_rng(0)
    X = rng.normal(size=shape)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert KnockoffSelector(fdr, random_state=0).fit(X, rng.normal(size=len(X))).n_copies_ == n_copies


def test_groups_are_tested_whole():
    rng = np.random.default_rng(0)
    levels = rng.integers(0, 3, size=(400, 20))
    X = np.hstack([np.eye(3)[column] for column in levels.T])  # indicators: each group is of rank two
    y = (levels[:, :8] == 1).sum(axis=1) + 0.5 * rng.normal(size=400)
    found = KnockoffSelector(0.2, groups=np.arange(60) // 3, random_state=0, n_draws=5).fit(X, y)
    assert set(range(8)) <= set(np.flatnonzero(found.e_values_ >= found.threshold_))
    assert found.support_.reshape(20, 3)[:, 0].sum() <= 10
    assert (found.support_.reshape(20, 3) == found.support_[::3, None]).all()


def test_what_is_kept_explains_what_follows_it():
    """Copies of the kept feature, with noise: without it they count, given it they do not."""
    rng = np.random.default_rng(0)
    cause = rng.normal(size=(300, 1))
    X = np.hstack([cause, cause + rng.normal(size=(300, 15)), rng.normal(size=(300, 15))])
    y = cause[:, 0] + 0.3 * rng.normal(size=300)
    without = KnockoffSelector(0.2, random_state=0, n_draws=5).fit(X[:, 1:], y)
    given = KnockoffSelector(0.2, keep=[0], random_state=0, n_draws=5).fit(X, y)
    assert without.support_[:15].sum() >= 10
    assert given.get_support(indices=True).tolist() == [0] and given.n_discoveries_ == 0


def test_many_features_are_tested_by_clusters():
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=(100, 40))
    X = np.repeat(hidden, 8, axis=1) + 0.3 * rng.normal(size=(100, 320))
    y = hidden[:, :15].sum(axis=1) + 0.5 * rng.normal(size=100)
    found = KnockoffSelector(0.2, n_clusters=40, random_state=0, n_draws=5).fit(X, y)
    stand_in = found.representatives_
    for cluster in range(40):
        assert len(set(stand_in[8 * cluster : 8 * cluster + 8])) == 1
    assert (stand_in[found.support_] == np.flatnonzero(found.support_)).all()
    assert set(range(15)) <= set(np.flatnonzero(found.support_) // 8)
    assert found.n_discoveries_ <= 18
    assert len(set(KnockoffSelector(0.2, random_state=0, n_draws=1).fit(X, y).representatives_)) == 320
    usual = KnockoffSelector(0.2, random_state=0, n_draws=1).fit(X[:60], y[:60])
    assert len(set(usual.representatives_)) == 60  # as many as samples
    assert sorted(usual.ranking_) == list(range(1, 321))


def test_clusters_do_not_see_the_target_and_take_the_most_central():
    rng = np.random.default_rng(0)
    F = rng.normal(size=(200, 1)) + 0.4 * rng.normal(size=(200, 5))
    F = np.column_stack([F, rng.normal(size=(200, 2)), F.mean(axis=1)])
    F = (F - F.mean(axis=0)) / np.linalg.norm(F - F.mean(axis=0), axis=0)
    assert cluster_representatives(F, 3, 10**9).tolist() == [7, 7, 7, 7, 7, 5, 6, 7]
    with pytest.raises(MemoryBudgetError, match="correlation of all pairs of 8 features"):
        cluster_representatives(F, 3, 100)


def test_too_many_groups_are_refused():
    X, y = np.random.default_rng(0).normal(size=(20, 120)), np.arange(20) % 2
    with pytest.raises(InputError, match="covariance of 120 columns cannot be known from 20 samples"):
        KnockoffSelector(groups=np.arange(120) // 2).fit(X, y)


def test_several_draws_depend_less_on_the_seed():
    rng = np.random.default_rng(0)
    X = rng.multivariate_normal(np.zeros(40), covariance("autoregressive", 40), 200)
    y = 0.6 * X[:, ::3].sum(axis=1) + rng.normal(size=200)

    def agreement(n_draws):
        found = [
            KnockoffSelector(0.2, n_copies=1, n_draws=n_draws, random_state=seed).fit(X, y)
            for seed in range(4)
        ]
        masks = [one.support_ for one in found]
        pairs = [(a, b) for i, a in enumerate(masks) for b in masks[:i]]
        return np.mean([(a & b).sum() / max((a | b).sum(), 1) for a, b in pairs])

    assert agreement(15) > max(agreement(1), 0.8)


def drawn_survival(seed, n_true=12, n_samples=250, n_features=40, censoring=2.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_features))
    time = rng.exponential(np.exp(-0.8 * X[:, :n_true].sum(axis=1)))
    censored = rng.exponential(censoring, size=n_samples)
    return X, survival_records(np.minimum(time, censored), time <= censored)


def test_times_and_events_compete_by_coxs_likelihood():
    """What matters is found, a linear target of the same features is none, and kept features are given."""
    found, false = [], []
    for seed in range(4):
        X, y = drawn_survival(seed)
        support = KnockoffSelector(fdr=0.2, random_state=seed).fit(X, y).support_
        found.append(support[:12].mean())
        false.append(support[12:].sum() / max(support.sum(), 1))
    assert np.mean(found) > 0.9
    assert np.mean(false) <= 0.3  # 0.2 on average over many draws: benchmarks.survival
    X, y = drawn_survival(0)
    none = KnockoffSelector(fdr=0.2, random_state=0).fit(X[:, 12:], y)
    assert none.support_.sum() <= 8 and (none.statistics_ < 0).any()
    kept = KnockoffSelector(fdr=0.2, keep=[0, 1], random_state=0).fit(X, y)
    assert kept.ranking_[[0, 1]].max() == 2 and kept.support_[:12].mean() > 0.8


def test_the_error_of_left_out_survival_is_a_difference_of_partial_likelihoods():
    X, y = drawn_survival(0, n_samples=40, n_features=12)
    rows = np.arange(40) % 4 > 0
    target = Target(np.zeros((40, 1)), y, X[:, :1])
    fit = target.model(X[:, 1:], rows, None, 1e-6).fit(0.5)
    eta = X[:, 1:] @ fit.result.coef[:, 0] + X[:, 0] * fit.result.free[0, 0]

    def minus_log_likelihood(own):
        events = np.flatnonzero(y["event"] & own)
        at_risk = [own & (y["time"] >= y["time"][i]) for i in events]
        return sum(np.log(np.exp(eta[risk]).sum()) - eta[i] for i, risk in zip(events, at_risk, strict=True))

    expected = minus_log_likelihood(np.ones(40, dtype=bool)) - minus_log_likelihood(rows)
    assert target.error(X[:, 1:], rows, fit) == pytest.approx(expected)
