"""Whole variables: groups of columns are counted, ranked, kept and dropped as one."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine
from sklearn.feature_selection import f_classif, f_regression, mutual_info_classif, mutual_info_regression

from infused import GreedyForward, GroupLasso, InFusedLasso, Lasso, available_selectors, config_context
from infused.exceptions import ScreeningWarning
from infused.information.discrete import discretize, joint_codes
from infused.selectors.inputs.groups import Groups
from infused.selectors.scores.univariate import FTest, joint_information_by_neighbours
from tests.selectors.family import make_selector

IDS = available_selectors()
WINE = load_wine(return_X_y=True)
CANCER = load_breast_cancer(return_X_y=True)
GROUPS = ["b", "a", "c", "a", "d", "d", "e", "b", "b", "f", "g", "g", "a"]
ORDER = ["b", "a", "c", "d", "e", "f", "g"]
every_selector = pytest.mark.parametrize("id", IDS)


def same_fit(first, second):
    np.testing.assert_array_equal(first.scores_, second.scores_)
    np.testing.assert_array_equal(first.ranking_, second.ranking_)
    np.testing.assert_array_equal(first.support_, second.support_)


@every_selector
@pytest.mark.parametrize("k", [1, 3, 7, 0.5, None])
def test_groups_are_counted_and_kept_whole(id, k):
    X, y = WINE
    selector = make_selector(id, n_features_to_select=k, groups=GROUPS).fit(X, y)
    assert selector.group_names_.tolist() == ORDER
    np.testing.assert_array_equal(np.sort(selector.ranking_), np.arange(1, 8))
    assert (np.diff(selector.scores_[np.argsort(selector.ranking_)]) <= 0).all()
    assert selector.scores_.shape == (7,)
    assert selector.support_.shape == (13,)
    chosen = {GROUPS[j] for j in np.flatnonzero(selector.support_)}
    dropped = {GROUPS[j] for j in np.flatnonzero(~selector.support_)}
    assert not chosen & dropped
    if k is not None:
        assert len(chosen) == (4 if k == 0.5 else k)
        assert chosen == {ORDER[g] for g in np.flatnonzero(selector.ranking_ <= len(chosen))}
    assert selector.transform(X).shape[1] == len(selector.get_feature_names_out()) == selector.support_.sum()


@every_selector
@pytest.mark.parametrize("k", [3, None])
def test_groups_of_one_column_each_are_no_groups(id, k):
    X, y = WINE
    alone = make_selector(id, n_features_to_select=k, groups=list("nmlkjihgfedcb")).fit(X, y)
    peer = make_selector("lasso" if id == "group-lasso" else id, n_features_to_select=k).fit(X, y)
    same_fit(alone, peer)
    assert not hasattr(peer, "group_names_")


@every_selector
def test_what_labels_are_and_how_they_sort_does_not_matter(id):
    X, y = WINE
    by_label = make_selector(id, n_features_to_select=3, groups=GROUPS).fit(X, y)
    for rename in (lambda label: -ord(label), lambda label: ("group", label)):
        labels = np.empty(13, dtype=object)
        labels[:] = [rename(label) for label in GROUPS]
        other = make_selector(id, n_features_to_select=3, groups=labels).fit(X, y)
        same_fit(by_label, other)
        assert other.group_names_.tolist() == [rename(label) for label in ORDER]


@every_selector
def test_a_mapping_says_the_same_as_labels(id):
    pytest.importorskip("pandas")
    frame, y = load_wine(return_X_y=True, as_frame=True)
    names = list(frame.columns)
    positions = {label: [j for j, own in enumerate(GROUPS) if own == label] for label in "gfedcba"}
    by_label = make_selector(id, n_features_to_select=3, groups=GROUPS).fit(frame, y)
    by_position = make_selector(id, n_features_to_select=3, groups=positions).fit(frame, y)
    by_name = {label: [names[j] for j in own] for label, own in positions.items() if len(own) > 1}
    others_alone = make_selector(id, n_features_to_select=3, groups=by_name).fit(frame, y)
    for other in (by_position, others_alone):
        same_fit(by_label, other)
    assert by_position.group_names_.tolist() == ORDER
    alone = {"c": names[2], "e": names[6], "f": names[9]}
    assert others_alone.group_names_.tolist() == [alone.get(label, label) for label in ORDER]


@every_selector
def test_the_selection_for_k_is_the_first_k_of_every_longer_one(id):
    if id in ("random", "auto", "stability"):
        pytest.skip("another number may have another order: of chance, of another method, of halves")
    X, y = CANCER
    for groups in (None, np.arange(30) // 3 * 7 % 10):
        n = 30 if groups is None else 10
        longest = make_selector(id, n_features_to_select=n, groups=groups).fit(X, y).ranking_
        for k in (1, 2, 4, 7):
            shorter = make_selector(id, n_features_to_select=k, groups=groups).fit(X, y).ranking_
            np.testing.assert_array_equal(np.argsort(shorter)[:k], np.argsort(longest)[:k])


@every_selector
def test_dense_and_sparse_agree_on_groups(id):
    rng = np.random.default_rng(0)
    X = rng.poisson(0.5, size=(80, 15)).astype(float)
    y = (X[:, 2] + X[:, 7] + 0.1 * rng.normal(size=80) > 1).astype(int)
    groups = np.arange(15) % 6
    dense, sparse = (
        make_selector(id, n_features_to_select=2, groups=groups).fit(A, y) for A in (X, sp.csr_array(X))
    )
    np.testing.assert_array_equal(dense.ranking_, sparse.ranking_)
    np.testing.assert_allclose(dense.scores_, sparse.scores_, rtol=1e-9)


@every_selector
def test_a_group_is_found_where_no_column_of_it_would_do(id):
    """One category of six levels, as indicators, among noise."""
    rng = np.random.default_rng(1)
    level = rng.integers(0, 6, size=300)
    y = np.isin(level, [0, 2, 4]) ^ (rng.random(300) < 0.1)
    X = np.column_stack([rng.normal(size=(300, 8)), np.eye(6)[level], rng.normal(size=(300, 8))])
    groups = [*range(8), *["level"] * 6, *range(8, 16)]
    selector = make_selector(id, n_features_to_select=1, groups=groups).fit(X, y.astype(int))
    if id != "random":
        assert selector.group_names_[np.argmin(selector.ranking_)] == "level"
    assert selector.support_.sum() in (1, 6)


@every_selector
def test_more_groups_than_there_are_is_refused(id):
    with pytest.raises(ValueError, match="n_features_to_select=8 is more than the 7 groups of features"):
        make_selector(id, n_features_to_select=8, groups=GROUPS).fit(*WINE)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([0, 1, 2], r"one label for each of the 13 features, got shape \(3,\)"),
        ([None, *range(12)], "no label for the feature at position 0"),
        ([*range(12), np.nan], "no label for the feature at position 12"),
        ({"a": [0, 1], "b": [1]}, "column more than once: '1'"),
        ({"a": [3, 3]}, "column more than once: '3'"),
        ({"a": []}, "no columns for 'a'"),
        ({"a": [13]}, "no column 13: X has 13 columns"),
        ({"a": [True]}, "X has no names"),
        ({"a": ["hue"]}, "column 'hue', but X has no names"),
        ({3: [1, 2]}, "names a group '3' as a column that is not in it"),
        ("abc", "groups"),
    ],
)
def test_bad_groups_are_named(groups, message):
    with pytest.raises(ValueError, match=message):
        Lasso(groups=groups).fit(*WINE)


def test_an_unknown_name_of_a_column_is_named_with_a_close_one():
    pytest.importorskip("pandas")
    frame, y = load_wine(return_X_y=True, as_frame=True)
    with pytest.raises(ValueError, match="no column 'hues'; did you mean 'hue'"):
        Lasso(groups={"colour": ["hues", "color_intensity"]}).fit(frame, y)


def test_a_fit_without_groups_forgets_their_names():
    selector = Lasso(groups=GROUPS).fit(*WINE)
    assert not hasattr(selector.set_params(groups=None).fit(*WINE), "group_names_")


def test_groups_of_parse():
    groups = Groups.parse({"b": [3, 1], 7: 2}, 5)
    assert groups.names == [0, "b", 7, 4]
    assert groups.codes.tolist() == [0, 1, 2, 1, 3]
    assert groups.sizes.tolist() == [1, 2, 1, 1]
    np.testing.assert_array_equal(groups.summed(np.arange(5.0)), [0, 4, 2, 4])


# Linear models


def test_given_groups_of_the_group_lasso_are_never_split():
    X, y = WINE
    for within in (None, 0.5):
        selector = GroupLasso(n_features_to_select=4, groups=GROUPS, lambda_within=within).fit(X, y)
        assert len({GROUPS[j] for j in np.flatnonzero(selector.support_)}) == 4
        assert selector.groups_.tolist() == GROUPS
    same_fit(
        GroupLasso(n_features_to_select=4, groups=GROUPS).fit(X, y),
        Lasso(n_features_to_select=4, groups=GROUPS).fit(X, y),
    )


def test_without_a_number_a_group_with_any_coefficient_is_whole():
    selector = Lasso(lambda1=0.5, groups=GROUPS).fit(*WINE)
    needed = {GROUPS[j] for j in np.flatnonzero(selector.coef_.any(axis=0))}
    assert 0 < len(needed) < 7
    np.testing.assert_array_equal(selector.support_, [label in needed for label in GROUPS])


@pytest.mark.parametrize("ranking", ["recursive", "forward", "coefficient", "path"])
def test_every_ranking_takes_groups(ranking):
    selector = InFusedLasso(n_features_to_select=2, groups=GROUPS, ranking=ranking).fit(*WINE)
    assert selector.converged_
    assert len({GROUPS[j] for j in np.flatnonzero(selector.support_)}) == 2
    assert not selector.coef_[:, ~selector.support_].any() or ranking not in ("recursive", "forward")


def test_a_score_is_what_a_group_contributes_beyond_chance():
    """By the length of coefficients alone many columns of noise would come before one of signal."""
    X, y = WINE
    selector = Lasso(groups=GROUPS, ranking="coefficient", lambda1=0.2).fit(X, y)
    X = X - X.mean(axis=0)
    X /= np.linalg.norm(X, axis=0)
    Y = np.eye(3)[y] - np.eye(3)[y].mean(axis=0)
    Y /= np.linalg.norm(Y, axis=0)
    parts = {g: X[:, np.array(GROUPS) == g] @ selector.coef_[:, np.array(GROUPS) == g].T for g in ORDER}
    noise = ((Y - sum(parts.values())) ** 2).sum() / (len(X) - 1)
    used = [g for g in ORDER if parts[g].any()]
    beyond = {g: (parts[g] ** 2).sum() - (GROUPS.count(g) - 1) * noise for g in used}
    assert len(used) < len(ORDER) and min(beyond.values()) > 0
    np.testing.assert_allclose(selector.scores_, [np.sqrt(beyond.get(g, 0.0)) for g in ORDER])


def test_many_groups_go_through_rounds():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 1200))
    y = X[:, 4:8].sum(axis=1) + X[:, 100:104].sum(axis=1) + 0.1 * rng.normal(size=60)
    groups = np.arange(1200) // 4
    selector = Lasso(n_features_to_select=2, groups=groups).fit(X, y)
    assert set(np.flatnonzero(selector.ranking_ <= 2)) == {1, 25}
    assert selector.ranking_.shape == (300,)


def test_where_u_does_not_fit_groups_are_screened_whole(rng):
    X = rng.normal(size=(40, 300))
    y = (X[:, 11] + X[:, 200] > 0).astype(int)
    groups = np.arange(300) // 3
    little = config_context(memory_budget="1MB")
    with little, pytest.warns(ScreeningWarning, match="entered when 64 groups of features were left"):
        selector = InFusedLasso(n_features_to_select=5, groups=groups).fit(X, y)
    assert selector.n_features_screened_ == 300 - 3 * 64
    assert selector.support_.sum() == 15
    assert selector.support_.reshape(100, 3).all(axis=1).sum() == 5


def test_columns_of_groups_are_fused_only_as_asked():
    X, y = load_digits(return_X_y=True)
    groups = np.arange(64) // 2
    auto = InFusedLasso(n_features_to_select=5, groups=groups).fit(X, y)
    assert (auto.fusion_, auto.fusion_reason_) == ("none", "variables of several columns have no order")
    assert InFusedLasso(n_features_to_select=5, groups=groups, grid_shape=(8, 8)).fit(X, y).fusion_ == "grid"
    assert InFusedLasso(n_features_to_select=5, groups=groups, fusion="chain").fit(X, y).fusion_ == "chain"
    assert InFusedLasso(n_features_to_select=5, groups=np.arange(64)).fit(X, y).fusion_ == "grid"


# Forward search


def gain_of(X, Y, columns, ridge):
    A = X[:, columns].T @ X[:, columns] + ridge * np.eye(len(columns))
    fit = X[:, columns].T @ Y
    return float((fit * (np.linalg.pinv(A, rcond=1e-9, hermitian=True) @ fit)).sum())


def freedom_of(X, columns, ridge):
    """The trace of the matrix that fits Y by these columns, over directions that are not just rounding."""
    sizes = np.linalg.svd(X[:, columns], compute_uv=False) ** 2
    return float((sizes[sizes > 1e-9] / (sizes[sizes > 1e-9] + ridge)).sum())


def left_over(X, columns, ridge):
    """X with P^(1/2) before it: what these columns leave of all."""
    P = np.eye(len(X))
    if columns:
        A = X[:, columns].T @ X[:, columns] + ridge * np.eye(len(columns))
        P -= X[:, columns] @ np.linalg.pinv(A, rcond=1e-9, hermitian=True) @ X[:, columns].T
    values, vectors = np.linalg.eigh(P)
    return (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T @ X


@pytest.mark.parametrize("ridge", [0.0, 0.1, 2.0])
@pytest.mark.parametrize("collinear", [False, True])
@pytest.mark.parametrize("n_targets", [1, 3])
def test_blocks_agree_with_brute_force(ridge, collinear, n_targets):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(50, 18))
    groups = rng.integers(0, 8, size=18)
    groups[:8] = np.arange(8)
    if collinear:
        X[:, 8:] = X[:, rng.permutation(10)] + X[:, rng.permutation(10)]
    Y = X[:, :6] @ rng.normal(size=(6, n_targets)) + 0.5 * rng.normal(size=(50, n_targets))
    selector = GreedyForward(
        n_features_to_select=8, ridge=ridge, standardize=False, target="real", groups=groups
    ).fit(X, Y)
    weight, selected, value, spent = ridge * (X * X).sum() / 18, [], 0.0, 1.0
    for step, group in enumerate(np.argsort(selector.ranking_)):
        taken = np.flatnonzero(np.isin(groups, selected)).tolist()
        new = left_over(X, taken, weight)
        chance = ((Y * Y).sum() - value) / (50 - spent)
        gains, worth = {}, {}
        for g in set(range(8)) - set(selected):
            own = np.flatnonzero(groups == g).tolist()
            gains[g] = gain_of(X, Y, taken + own, weight) - value
            worth[g] = gains[g] - chance * max(freedom_of(new, own, weight) - 1, 0)
        better_than_nothing = [worth[g] for g in worth if gains[g] > 1e-8] or [0.0]
        assert worth[group] == pytest.approx(max(better_than_nothing), abs=1e-8)
        assert selector.gains_[step] * (Y * Y).sum() == pytest.approx(gains[group], abs=1e-8)
        for column in np.flatnonzero(groups == group).tolist():
            spent += freedom_of(left_over(X, taken, weight), [column], weight)
            taken.append(column)
        selected.append(group)
        value += gains[group]


@pytest.mark.parametrize("id", ["greedy-forward", "lasso", "infused-lasso", "anova"])
def test_many_levels_of_noise_do_not_come_before_a_weak_number(id):
    places = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        levels = np.eye(25)[rng.integers(0, 25, size=200)]
        number = rng.normal(size=200)
        y = (number + 2.5 * rng.normal(size=200) > 0).astype(int)
        X = np.column_stack([levels, number])
        selector = make_selector(id, n_features_to_select=1, groups=["levels"] * 25 + ["number"]).fit(X, y)
        places.append(selector.ranking_[1])
    assert np.mean(places) < 1.5


# Information


def test_joint_codes_are_the_combinations_that_occur():
    rng = np.random.default_rng(0)
    X = (rng.integers(0, 4, size=(200, 9)) * (rng.random((200, 9)) < 0.4)).astype(float)
    X[:, 8] = 1 + np.arange(200) % 3  # no sample has the default
    X[:, 7] = 2.0
    groups = np.array([0, 1, 0, 2, 1, 0, 3, 4, 4])
    dense = joint_codes(discretize(X), groups)
    sparse = joint_codes(discretize(sp.csc_array(X)), groups)
    for g in range(5):
        rows = [tuple(row) for row in X[:, groups == g]]
        for codes, n in ((dense.codes[g], dense.n_codes[g]), (sparse.row(g), sparse.n_codes[g])):
            assert set(codes.tolist()) == set(range(n))
            assert len(set(rows)) == n == len(set(zip(rows, codes.tolist(), strict=True)))


def test_more_combinations_than_a_byte_holds():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 5, size=(900, 8)).astype(float), rng.integers(0, 3, size=900)
    groups = np.array([0, 0, 0, 0, 1, 1, 2, 2])
    cells = X @ [125, 25, 5, 1, 0, 0, 0, 0]
    for id in ("mrmr", "jmim", "disr"):
        grouped = make_selector(id, n_features_to_select=2, groups=groups).fit(X, y)
        sparse = make_selector(id, n_features_to_select=2, groups=groups).fit(sp.csr_array(X), y)
        np.testing.assert_array_equal(grouped.criterion_, sparse.criterion_)
        assert len(np.unique(cells)) > 256
        p = np.array([[((cells == cell) & (y == c)).mean() for c in range(3)] for cell in np.unique(cells)])
        independent = p.sum(axis=1, keepdims=True) * p.sum(axis=0, keepdims=True)
        expected = (p[p > 0] * np.log(p[p > 0] / independent[p > 0])).sum()
        assert grouped.relevance_[0] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("id", ["mifs", "mrmr", "jmim", "jmi", "cmim", "disr"])
def test_indicators_of_a_category_are_the_category(id):
    rng = np.random.default_rng(5)
    levels = rng.integers(0, 4, size=(200, 6))
    y = (levels[:, 1] + levels[:, 3] + rng.integers(0, 2, size=200)) % 3
    indicators = np.hstack([np.eye(4)[column] for column in levels.T])
    as_codes = make_selector(id, n_features_to_select=4).fit(levels.astype(float), y)
    as_groups = make_selector(id, n_features_to_select=4, groups=np.arange(24) // 4).fit(indicators, y)
    for name in ("ranking_", "scores_", "relevance_", "criterion_"):
        np.testing.assert_array_equal(getattr(as_codes, name), getattr(as_groups, name))


# Scores of groups


def joint_f_value(columns, y, real):
    return FTest(y, real, columns[:, :0]).of_group(columns)[0]


def test_the_joint_f_value_of_one_column_is_its_own():
    X, y = WINE
    ours = [joint_f_value(X[:, [j]], y, False) for j in range(13)]
    np.testing.assert_allclose(ours, f_classif(X, y)[0], rtol=1e-9)
    X, y = load_diabetes(return_X_y=True)
    ours = [joint_f_value(X[:, [j]], y, True) for j in range(10)]
    np.testing.assert_allclose(ours, f_regression(X, y)[0], rtol=1e-9)


def test_the_joint_f_value_is_that_of_pillai_s_trace():
    X, y = WINE
    columns = X[:, [0, 3, 6, 9]]
    centred = columns - columns.mean(axis=0)
    within = sum(np.cov(columns[y == c].T, bias=True) * (y == c).sum() for c in range(3))
    between = centred.T @ centred - within
    trace = np.trace(between @ np.linalg.inv(between + within))
    s, m, n = 2, (abs(4 - 2) - 1) / 2, (178 - 3 - 4 - 1) / 2
    expected = (2 * n + s + 1) / (2 * m + s + 1) * trace / (s - trace)
    assert joint_f_value(columns, y, False) == pytest.approx(expected, rel=1e-9)
    assert joint_f_value(np.hstack([columns, columns @ np.ones((4, 1))]), y, False) == pytest.approx(expected)


def test_the_joint_f_value_of_a_real_target_is_that_of_the_regression():
    X, y = load_diabetes(return_X_y=True)
    design = np.column_stack([np.ones(len(y)), X[:, :4]])
    left = y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
    total = ((y - y.mean()) ** 2).sum()
    share = 1 - (left @ left) / total
    expected = share / 4 / ((1 - share) / (len(y) - 5))
    assert joint_f_value(X[:, :4], y, True) == pytest.approx(expected, rel=1e-9)


def test_a_group_that_leaves_no_degree_of_freedom_has_no_f_value(rng):
    assert joint_f_value(rng.normal(size=(10, 12)), np.arange(10) % 2, False) == 0.0
    assert joint_f_value(np.ones((10, 2)), np.arange(10) % 2, False) == 0.0


def test_information_by_neighbours_of_one_column_is_scikit_learn_s():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = X[:, 0] + rng.normal(size=200)
    classes = np.digitize(y, [-1.0, 0.0, 2.0])
    classes[0] = 9  # a class of its own
    for target, real, peer in ((y, True, mutual_info_regression), (classes, False, mutual_info_classif)):
        ours = [joint_information_by_neighbours(X[:, [j]], target, real, 0) for j in range(3)]
        np.testing.assert_allclose(ours, peer(X, target, random_state=0), atol=1e-9)


def test_information_by_neighbours_is_joint():
    """y is one where two columns have the same sign: neither says anything alone."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    assert max(joint_information_by_neighbours(X[:, [j]], y, False, 0) for j in (0, 1)) < 0.05
    assert joint_information_by_neighbours(X, y, False, 0) == pytest.approx(np.log(2), abs=0.1)


def test_forests_and_logistic_regression_sum_over_a_group():
    for id in ("random-forest", "l1-logistic"):
        alone = make_selector(id).fit(*WINE).scores_
        grouped = make_selector(id, groups=GROUPS).fit(*WINE).scores_
        expected = [alone[np.array(GROUPS) == label].sum() for label in ORDER]
        np.testing.assert_allclose(grouped, expected)
