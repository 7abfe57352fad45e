"""Features that are always selected: first in the ranking, and the others given them."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine

from infused import GreedyForward, InFusedLasso, Lasso, available_selectors
from infused.selectors.scores.univariate import FTest
from tests.selectors.family import make_selector

IDS = available_selectors()
LINEAR = [id for id in IDS if "lasso" in id or id in ("in-elastic-net", "greedy-forward")]
WINE = load_wine(return_X_y=True)
CANCER = load_breast_cancer(return_X_y=True)
every_selector = pytest.mark.parametrize("id", IDS)


@every_selector
@pytest.mark.parametrize("k", [2, 5, 13, None])
def test_what_is_kept_comes_first_in_the_order_given(id, k):
    X, y = WINE
    selector = make_selector(id, n_features_to_select=k, keep=[7, 2]).fit(X, y)
    assert selector.ranking_[[7, 2]].tolist() == [1, 2]
    assert selector.support_[[7, 2]].all()
    np.testing.assert_array_equal(np.sort(selector.ranking_), np.arange(1, 14))
    assert (np.diff(selector.scores_[np.argsort(selector.ranking_)]) <= 0).all()
    if k is not None:
        assert selector.support_.sum() == k


@every_selector
def test_names_positions_and_groups_say_the_same(id):
    pytest.importorskip("pandas")
    frame, y = load_wine(return_X_y=True, as_frame=True)
    by_name = make_selector(id, n_features_to_select=5, keep=["hue", "ash"]).fit(frame, y)
    by_position = make_selector(id, n_features_to_select=5, keep=np.array([10, 2])).fit(frame, y)
    np.testing.assert_array_equal(by_name.ranking_, by_position.ranking_)
    groups = np.array([f"g{j // 2}" for j in range(13)])
    grouped = make_selector(id, n_features_to_select=3, groups=groups, keep=["g5", "g1"]).fit(frame, y)
    assert grouped.ranking_[[5, 1]].tolist() == [1, 2]
    assert grouped.support_[[10, 11, 2, 3]].all()
    assert 5 <= grouped.support_.sum() <= 6


@every_selector
def test_keeping_nothing_changes_nothing(id):
    none = make_selector(id, n_features_to_select=5).fit(*WINE)
    empty = make_selector(id, n_features_to_select=5, keep=[]).fit(*WINE)
    np.testing.assert_array_equal(none.scores_, empty.scores_)


@pytest.mark.parametrize("id", [*LINEAR, "mifs", "mrmr", "anova"])
def test_a_copy_of_what_is_kept_is_worth_nothing(id):
    X, y = CANCER
    twice = np.column_stack([X[:, :12], X[:, 7]])
    twice[:, 0] = 1.0
    options = {"beta": 2.0} if id == "mifs" else {}
    without = make_selector(id, n_features_to_select=6, **options).fit(twice, y)
    given = make_selector(id, n_features_to_select=6, keep=[12], **options).fit(twice, y)
    assert min(without.ranking_[[7, 12]]) <= 6  # one of the two
    assert given.ranking_[0] == 13  # a constant is worth even less
    assert given.ranking_[7] > 6


#: Graphs do not add up as features do.
ADDITIVE = [id for id in LINEAR if id != "hsic-lasso"]


@pytest.mark.parametrize("id", [*ADDITIVE, "anova"])
def test_others_are_ranked_given_what_is_kept(id):
    """Age drives the outcome; a marker follows age, another adds a little of its own."""
    rng = np.random.default_rng(0)
    age = rng.normal(size=400)
    X = np.column_stack([age + 0.3 * rng.normal(size=400), rng.normal(size=(400, 2)), age])
    y = 3 * age + 0.6 * X[:, 2] + 0.3 * rng.normal(size=400)
    assert make_selector(id, n_features_to_select=1).fit(X[:, :3], y).ranking_[0] == 1
    assert make_selector(id, n_features_to_select=2, keep=[3]).fit(X, y).ranking_[2] == 2


@every_selector
def test_the_selection_for_k_is_the_first_k_of_every_longer_one(id):
    if id in ("random", "auto", "stability"):
        pytest.skip("random features have no order to keep")
    X, y = CANCER
    longest = make_selector(id, n_features_to_select=30, keep=[3, 20]).fit(X, y).ranking_
    for k in (2, 3, 7):
        shorter = make_selector(id, n_features_to_select=k, keep=[3, 20]).fit(X, y).ranking_
        np.testing.assert_array_equal(np.argsort(shorter)[:k], np.argsort(longest)[:k])


@every_selector
@pytest.mark.parametrize(
    ("keep", "message"),
    [
        ([13], "keep= has no column 13: X has 13 columns"),
        (["hue"], "keep= has a column 'hue', but X has no names"),
        ([True], "keep= has a column 'True', but X has no names"),
        ([1, 1], "keep= names a feature more than once"),
        (range(13), "keep= names every feature"),
        ([1, 2, 3], "n_features_to_select=2 is fewer than the 3 of keep="),
        ("hue", "keep"),
    ],
)
def test_what_cannot_be_kept_is_named(id, keep, message):
    with pytest.raises(ValueError, match=message):
        make_selector(id, n_features_to_select=2, keep=keep).fit(*WINE)


def test_an_unknown_group_is_named_with_a_close_one():
    with pytest.raises(ValueError, match="keep= has no group 'colours'; did you mean 'colour'"):
        Lasso(groups=["colour"] * 6 + ["taste"] * 7, keep=["colours"]).fit(*WINE)


# What it means in each family


@pytest.mark.parametrize("shape", [(80, 12), (20, 40)], ids=["tall", "wide"])
@pytest.mark.parametrize("n_targets", [1, 3])
def test_kept_coefficients_carry_no_penalty(shape, n_targets):
    rng = np.random.default_rng(1)
    X = rng.normal(size=shape)
    Y = X[:, :4] @ rng.normal(size=(4, n_targets)) + rng.normal(size=(len(X), n_targets))
    B = cp.Variable((shape[1], n_targets))
    others = [j for j in range(shape[1]) if j not in (2, 9)]
    penalty = 2.0 * cp.sum(cp.norm(B[others], axis=1))
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(Y - X @ B) + penalty))
    problem.solve(solver="CLARABEL")
    selector = Lasso(
        lambda1=2.0,
        keep=[9, 2],
        standardize=False,
        lambda_scale="absolute",
        target="real",
        tol=1e-9,
        max_iter=50_000,
    ).fit(X, Y)
    np.testing.assert_allclose(selector.coef_.T, B.value, atol=1e-4)
    path = selector.regularization_path(X, Y, lambda1=[2.0])
    np.testing.assert_allclose(path.coef[0], selector.coef_, atol=1e-7)
    np.testing.assert_array_equal(selector.support_, (np.abs(B.value) > 1e-5).any(axis=1))


def test_only_what_is_kept_has_coefficients_where_no_more_is_wanted():
    selector = InFusedLasso(n_features_to_select=2, keep=[4, 0]).fit(*WINE)
    assert np.flatnonzero(selector.coef_.any(axis=0)).tolist() == [0, 4]


def test_greedy_forward_explains_what_the_kept_leave():
    X, y = WINE
    selector = GreedyForward(n_features_to_select=5, keep=[2, 8], ridge=0.0).fit(X, y)
    F = (X - X.mean(axis=0)) / X.std(axis=0)
    Y = np.eye(3)[y] - np.eye(3)[y].mean(axis=0)
    Y /= np.linalg.norm(Y, axis=0)

    def left(columns):
        return ((Y - F[:, columns] @ np.linalg.lstsq(F[:, columns], Y, rcond=None)[0]) ** 2).sum()

    chosen = [2, 8]
    for _ in range(3):
        chosen.append(min(set(range(13)) - set(chosen), key=lambda j: left([*chosen, j])))
    assert np.argsort(selector.ranking_)[:5].tolist() == chosen
    expected = -np.diff([3.0, *(left(chosen[: i + 1]) for i in range(5))]) / 3
    np.testing.assert_allclose(selector.gains_, expected, atol=1e-10)


def test_f_values_are_those_of_an_analysis_of_covariance():
    X, y = WINE
    given = X[:, [3, 5]]
    test = FTest(y, False, given)

    def left(design):
        return ((f - design @ np.linalg.lstsq(design, f, rcond=None)[0]) ** 2).sum()

    for j in (0, 6, 9):
        f = X[:, j]
        small = np.column_stack([np.ones(178), given])
        full = np.column_stack([np.eye(3)[y], given])
        expected = (left(small) - left(full)) / 2 / (left(full) / (178 - 3 - 2))
        assert test.of_columns(X[:, [j]])[0] == pytest.approx(expected, rel=1e-8)
        assert test.of_group(X[:, [j]])[0] == pytest.approx(expected, rel=1e-8)
    np.testing.assert_allclose(
        FTest(y, False, X[:, :0]).of_group(X[:, [4]])[0], FTest(y, False, X[:, :0]).of_columns(X)[4]
    )
