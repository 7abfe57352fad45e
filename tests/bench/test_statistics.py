"""The statistics against independent computations: scipy, worked examples from the papers, literal twins."""

from __future__ import annotations

from itertools import combinations
from math import inf, isnan, sqrt

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from infused.bench.rows import failed_cells, metric_of, of_protocol, scored
from infused.bench.standings import compare_methods, front_sentence, joint_ranking, pareto_front
from infused.bench.statistics import (
    against_best,
    best_scores,
    compare_ranks,
    corrected_t_test,
    critical_difference,
    friedman,
    holm,
    indistinct_groups,
    score_summary,
    selection_stability,
    stability_at,
)
from tests.bench.made_rows import make_rows, mean_and_error, with_failure

# J. Demsar, JMLR 7, 2006, Table 6: ranks of C4.5, C4.5+m, C4.5+cf and C4.5+m+cf by AUC on 14 data sets, as
# printed there (the AUC of "voting" tie at three digits, the printed ranks do not).
DEMSAR = np.array(
    [
        [4, 3, 2, 1], [1, 2, 3, 4], [4, 1, 2, 3], [4, 1, 3, 2], [4, 2, 3, 1], [1, 2.5, 4, 2.5], [3, 2, 4, 1],
        [2.5, 2.5, 4, 1], [4, 3, 2, 1], [2.5, 2.5, 2.5, 2.5], [4, 2.5, 1, 2.5], [3, 2, 4, 1], [4, 1, 2, 3],
        [3, 1, 4, 2],
    ]
)  # fmt: skip


def test_friedman_as_demsar_worked_it_out():
    found = friedman(-DEMSAR)
    np.testing.assert_allclose(found.mean_ranks, [3.143, 2.000, 2.893, 1.964], atol=5e-4)
    # Demsar leaves ties as they are; the correction divides by the share of rank variance that they leave.
    left = np.var(DEMSAR, axis=1).mean() / ((4**2 - 1) / 12)
    assert 0.9 < left < 1
    assert round(found.statistic * left, 2) == 9.28
    assert found.f_statistic > 3.69
    assert found.f_p_value < 0.05, "F is above its critical value, 2.85"
    assert round(float(stats.f.isf(0.05, 3, 39)), 2) == 2.85


def test_critical_difference_as_demsar_worked_it_out():
    assert round(critical_difference(4, 14), 2) == 1.25
    assert round(critical_difference(4, 14, alpha=0.10), 2) == 1.12
    ranks = np.sort(friedman(-DEMSAR).mean_ranks)
    assert indistinct_groups(ranks, 1.25) == ((0, 3),), "no difference is detected at 0.05"
    # At 0.10 C4.5 is worse than C4.5+m and C4.5+m+cf; C4.5+cf cannot be told from any of them.
    assert indistinct_groups(ranks, 1.12) == ((0, 2), (2, 3))


@pytest.mark.parametrize(("n_methods", "q"), [(2, 1.960), (3, 2.343), (4, 2.569), (10, 3.164)])
def test_critical_values_are_those_of_demsars_table_5(n_methods, q):
    n = 7
    assert critical_difference(n_methods, n) == pytest.approx(
        q * sqrt(n_methods * (n_methods + 1) / (6 * n)), rel=5e-4
    )


def test_holm_as_demsar_worked_it_out():
    # z of the mean ranks against C4.5 gives p = 0.016, 0.019 and 0.607; Holm rejects the first two.
    z = (3.143 - np.array([1.964, 2.000, 2.893])) / sqrt(4 * 5 / (6 * 14))
    p = 2 * stats.norm.sf(z)
    np.testing.assert_allclose(p, [0.016, 0.019, 0.607], atol=2e-3)
    adjusted = holm(p)
    assert (adjusted < 0.05).tolist() == [True, True, False]
    np.testing.assert_allclose(adjusted, [3 * p[0], 3 * p[0], p[2]])


def test_holm_rejects_what_its_steps_reject():
    rng = np.random.default_rng(0)
    for _ in range(50):
        p = rng.uniform(0, 0.1, rng.integers(1, 8))
        rejected = np.zeros(len(p), dtype=bool)
        for step, n in enumerate(np.argsort(p)):  # Holm's procedure, step by step
            if p[n] > 0.05 / (len(p) - step):
                break
            rejected[n] = True
        np.testing.assert_array_equal(holm(p) <= 0.05, rejected)
    np.testing.assert_allclose(holm([0.03, np.nan, 0.01]), [0.03, np.nan, 0.02])
    assert holm([0.9, 0.8]).tolist() == [1.0, 1.0]
    assert len(holm([])) == 0


@pytest.mark.parametrize("digits", [1, 8], ids=["with ties", "without ties"])
def test_friedman_agrees_with_scipy(digits):
    rng = np.random.default_rng(1)
    scores = rng.uniform(size=(9, 5)).round(digits)
    expected = stats.friedmanchisquare(*scores.T)
    found = friedman(scores)
    assert found.statistic == pytest.approx(expected.statistic)
    assert found.p_value == pytest.approx(expected.pvalue)
    assert found.f_statistic == pytest.approx(8 * expected.statistic / (9 * 4 - expected.statistic))


def test_friedman_at_its_ends():
    same_order = friedman(np.tile([0.9, 0.8, 0.7], (4, 1)))
    assert same_order.statistic == pytest.approx(8.0)  # 12 * 4 / 12 * (1 + 4 + 9 - 12)
    assert same_order.f_statistic == inf
    assert same_order.f_p_value == 0.0
    no_difference = friedman(np.ones((4, 3)))
    assert (no_difference.statistic, no_difference.p_value) == (0.0, 1.0)
    # Two methods, the first better on three data sets of four where they differ: (2 * 3 - 4)^2 / 4.
    two = friedman(np.array([[2, 1], [2, 1], [2, 1], [1, 2], [1, 1]]))
    assert two.statistic == pytest.approx(1.0)
    assert two.p_value == pytest.approx(2 * stats.norm.sf(1.0))
    with pytest.raises(ValueError, match="two data sets and two methods, got 1 and 3"):
        friedman(np.ones((1, 3)))


def test_ranks_of_a_frame_come_best_first():
    scores = pd.DataFrame(
        {"b": [0.7, 0.6, 0.9], "a": [0.9, 0.8, 1.0], "c": [0.1, 0.2, 0.3]}, index=["x", "y", "z"]
    )
    found = compare_ranks(scores)
    assert found.labels == ("a", "b", "c")
    assert found.mean_ranks == (1.0, 2.0, 3.0)
    assert found.datasets == ("x", "y", "z")
    assert found.critical_difference == critical_difference(3, 3)
    with pytest.raises(ValueError, match="every method on every data set"):
        compare_ranks(scores.replace(0.6, np.nan))


def twin_t_test(x, y, n_train, n_test):
    """Nadeau and Bengio's test, written out."""
    J = len(x)
    d = [a - b for a, b in zip(x, y, strict=True)]
    mean = sum(d) / J
    variance = sum((one - mean) ** 2 for one in d) / (J - 1)
    t = mean / sqrt((1 / J + n_test / n_train) * variance)
    return t, 2 * (1 - stats.t.cdf(abs(t), J - 1))


def test_paired_test_is_its_formula():
    rng = np.random.default_rng(2)
    for folds in (2, 5, 100):
        x, y = rng.uniform(0.7, 0.9, (2, folds))
        found = corrected_t_test(x, y, 90, 10)
        assert (found.statistic, found.p_value) == pytest.approx(twin_t_test(x, y, 90, 10), abs=1e-12)
        swapped = corrected_t_test(y, x, 90, 10)
        assert (swapped.difference, swapped.p_value) == pytest.approx((-found.difference, found.p_value))
        # The interval holds zero exactly where the test does not reject.
        edge = corrected_t_test(x, y, 90, 10, confidence=1 - found.p_value)
        assert min(abs(edge.low), abs(edge.high)) == pytest.approx(0, abs=1e-9)


def test_without_overlap_it_is_the_usual_paired_test():
    x, y = np.random.default_rng(3).uniform(0.7, 0.9, (2, 10))
    expected = stats.ttest_rel(x, y)
    found = corrected_t_test(x, y, n_train=1, n_test=0)
    assert (found.statistic, found.p_value) == pytest.approx((expected.statistic, expected.pvalue))
    interval = expected.confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))
    assert corrected_t_test(x, y, 9, 1).p_value > found.p_value, "overlap makes it more careful"


def test_paired_test_of_equal_differences():
    same = corrected_t_test([0.9, 0.8, 0.7], [0.9, 0.8, 0.7], 2, 1)
    assert (same.difference, same.p_value, same.low, same.high) == (0.0, 1.0, 0.0, 0.0)
    # 0.9 - 0.8 and 0.8 - 0.7 differ by rounding only.
    shifted = corrected_t_test([0.9, 0.8, 0.7], [0.8, 0.7, 0.6], 2, 1)
    assert (shifted.statistic, shifted.p_value) == (inf, 0.0)
    with pytest.raises(ValueError, match="at least two folds, got 1"):
        corrected_t_test([0.9], [0.8], 2, 1)


def test_the_paired_test_rarely_finds_what_is_not_there():
    # Two coins that are right 80% of the time: their folds are independent, so that even the uncorrected test
    # would reject in 5% of the trials, and the corrected one must in fewer.
    rng = np.random.default_rng(4)
    results = rng.binomial(10, 0.8, (2000, 2, 10)) / 10
    rejected = np.mean([corrected_t_test(x, y, 90, 10).p_value < 0.05 for x, y in results])
    assert rejected < 0.05


def of_folds(values, n_train, n_test):
    """The summary of one method with these results."""
    rows = make_rows(methods={"mrmr": 0.9}, ks=(5,), repeats=1, folds=len(values))
    return score_summary(
        of_protocol(rows.assign(accuracy=values, n_train=n_train, n_test=n_test)), "accuracy"
    ).iloc[0]


def test_mean_and_error_by_hand():
    # s^2 of (0.8, 0.9, 1.0) is 0.01; (1/3 + 20/40) * 0.01 = 0.008333.
    found = of_folds([0.8, 0.9, 1.0], n_train=40, n_test=20)
    assert (found["mean"], found["error"], found["n_folds"]) == (
        pytest.approx(0.9), pytest.approx(sqrt(1 / 120)), 3,
    )  # fmt: skip
    assert isnan(of_folds([0.8], 40, 20)["error"])


def test_more_repeats_do_not_make_the_error_vanish():
    x = np.random.default_rng(5).uniform(0.7, 0.9, 10)
    once, often = (of_folds(np.tile(x, n), 90, 10)["error"] for n in (1, 50))
    assert often > sqrt(1 / 9) * x.std()
    assert often < once


def twin_stability(sets, d):
    """Definition 4 and the variance of Nogueira et al., written out."""
    M = len(sets)
    p = [sum(f in one for one in sets) / M for f in range(d)]
    k = [len(one) for one in sets]
    mean_k = sum(k) / M
    below = (mean_k / d) * (1 - mean_k / d)
    phi = 1 - (sum(M / (M - 1) * q * (1 - q) for q in p) / d) / below
    each = []
    for one in sets:
        first = sum(p[f] for f in one) / d - len(one) * mean_k / d**2
        second = phi / 2 * (2 * len(one) * mean_k / d**2 - len(one) / d - mean_k / d + 1)
        each.append((first + second) / below)
    mean = sum(each) / M
    return phi, 4 / M**2 * sum((one - mean) ** 2 for one in each)


def test_stability_is_its_formula():
    rng = np.random.default_rng(6)
    for d in (5, 40):
        sets = [set(rng.permutation(d)[: rng.integers(1, d)].tolist()) for _ in range(7)]
        found = selection_stability(sets, d)
        assert (found.index, found.variance) == pytest.approx(twin_stability(sets, d))
        reach = 1.959964 * sqrt(found.variance)
        assert (found.low, found.high) == pytest.approx((found.index - reach, found.index + reach))


def test_stability_of_sets_of_one_size_is_the_mean_of_kunchevas_index():
    d, k = 30, 6
    rng = np.random.default_rng(7)
    sets = [set(rng.permutation(12)[:k].tolist()) for _ in range(8)]
    pairs = [(len(a & b) - k * k / d) / (k - k * k / d) for a, b in combinations(sets, 2)]
    found = selection_stability(sets, d)
    assert (found.index, found.kuncheva) == (pytest.approx(np.mean(pairs)), pytest.approx(np.mean(pairs)))
    assert isnan(selection_stability([*sets[:2], {1}], d).kuncheva)


def test_jaccards_index_is_the_mean_share_of_what_two_sets_hold_together():
    rng = np.random.default_rng(8)
    sets = [set(rng.permutation(12)[: rng.integers(1, 9)].tolist()) for _ in range(8)]
    pairs = [len(a & b) / len(a | b) for a, b in combinations(sets, 2)]
    assert selection_stability(sets, 30).jaccard == pytest.approx(np.mean(pairs))
    assert selection_stability([set(), set(), {1}], 30).jaccard == pytest.approx(1 / 3)


def test_stability_at_its_ends():
    same = selection_stability([[3, 1, 4]] * 5, 10)
    assert (same.index, same.variance) == (pytest.approx(1.0), pytest.approx(0.0, abs=1e-30))
    rng = np.random.default_rng(8)
    random = [rng.permutation(50)[:10] for _ in range(400)]
    assert selection_stability(random, 50).index == pytest.approx(0, abs=0.01)
    apart = selection_stability([[0, 1], [2, 3]], 4)
    assert apart.index == pytest.approx(-1.0)  # the least that two sets can have, -1 / (M - 1)
    assert isnan(selection_stability([range(4), range(4)], 4).index), "there was no choice"
    with pytest.raises(ValueError, match="at least two selected sets, got 1"):
        selection_stability([[0]], 4)
    with pytest.raises(ValueError, match="not among the 4"):
        selection_stability([[0], [4]], 4)


def test_stability_reads_the_first_k_of_each_ranking():
    rows = of_protocol(make_rows())
    rankings = rows.loc[(rows["label"] == "anova") & (rows["k"] == 20), "selected"]
    assert len(rankings) == 10
    assert stability_at(rows, "anova", 5) == selection_stability([one[:5] for one in rankings], 40)
    assert stability_at(rows, "anova", 5).index > 0.5 > stability_at(rows, "random", 5).index
    assert stability_at(rows, "anova", 21) is None


def twin_front(points):
    """Every point that no other beats or equals with as few features, the first by name of equal ones."""
    front = [
        one
        for one in points
        if not any(
            other["k"] <= one["k"]
            and other["mean"] >= one["mean"]
            and (other["k"], -other["mean"], other["label"]) < (one["k"], -one["mean"], one["label"])
            for other in points
        )
    ]
    return sorted((one["k"], one["label"]) for one in front)


@pytest.mark.parametrize("noise", [0.0, 0.02, 0.3])
def test_the_pareto_front_is_what_no_point_beats(noise):
    found = compare_methods(make_rows(noise=noise, ks=(2, 5, 9, 20)))
    front = pareto_front(found)
    points = found.curves[found.curves["label"] != "random"].to_dict("records")
    assert list(zip(front["k"], front["label"], strict=True)) == twin_front(points)
    if noise == 0:  # 0.9 - 0.1 / k, from 2 to 20
        above = [(0.1 / 2 - 0.1 / k) / (0.1 / 2 - 0.1 / 20) - (k - 2) / 18 for k in (2, 5, 9, 20)]
        assert front["k"][front["knee"]].tolist() == [(2, 5, 9, 20)[int(np.argmax(above))]]
        assert "5 (infused-lasso, 88.0, the knee)" in front_sentence(found)


def test_all_methods_together_rank_the_features():
    rows = make_rows(n_features=30)
    found = compare_methods(rows)
    names = [f"f{j}" for j in range(30)]
    ranked = joint_ranking(found, names)
    means, weights = [], []
    for label in ("infused-lasso", "mrmr", "anova"):
        own = [one for one in found.rows.loc[found.rows["label"] == label, "selected"] if one is not None]
        means.append([np.mean([one.index(j) + 1 if j in one else 25.5 for one in own]) for j in range(30)])
        weights.append(found.methods.set_index("label").loc[label, "stability"])
    np.testing.assert_allclose(ranked["mean_rank"].reindex(names), np.mean(means, axis=0))
    together = np.average(means, axis=0, weights=weights)
    np.testing.assert_allclose(ranked["weighted_rank"].reindex(names), together)
    assert ranked.index.tolist() == [names[j] for j in np.argsort(together, kind="stable")]
    assert ranked["rank"].tolist() == list(range(1, 31))
    leaky = joint_ranking(compare_methods(make_rows(n_features=30, protocol="leaky")), names)
    assert leaky["weighted_rank"].isna().all() and leaky["mean_rank"].is_monotonic_increasing


def test_summary_and_best_k():
    rows = of_protocol(make_rows(noise=0.0))
    summary = score_summary(rows, "accuracy")
    assert len(summary) == 4 * 3
    mrmr = summary[summary["label"] == "mrmr"].set_index("k")
    np.testing.assert_allclose(mrmr["mean"], [0.88 - 0.1 / k for k in (5, 10, 20)])
    assert (mrmr["n_folds"] == 10).all()
    noisy = of_protocol(make_rows())
    for one in score_summary(noisy, "accuracy").itertuples():
        cell = noisy[(noisy["label"] == one.label) & (noisy["k"] == one.k)]
        assert (one.mean, one.error) == pytest.approx(mean_and_error(cell))
    assert best_scores(summary)["k"].tolist() == [20] * 4
    assert best_scores(summary)["smallest_k"].tolist() == [20] * 4, "without spread nothing else does as well"


def curve(means, errors, n_folds=10):
    n = len(means)
    return pd.DataFrame(
        {"dataset": "d", "label": "m", "method": "m", "k": np.arange(1, n + 1) * 10, "mean": means,
         "error": errors, "n_folds": n_folds}
    )  # fmt: skip


def test_one_standard_error_by_hand():
    found = best_scores(curve([0.80, 0.88, 0.90, 0.85], [0.05, 0.05, 0.03, 0.05])).iloc[0]
    assert (found["k"], found["mean"], found["smallest_k"]) == (30, 0.90, 20)  # 0.88 >= 0.90 - 0.03
    assert best_scores(curve([0.9, 0.9, 0.9], [0.01] * 3)).iloc[0]["k"] == 10, "of equal means the smaller k"
    alone = best_scores(curve([0.8, 0.9], [np.nan, np.nan], 1)).iloc[0]
    assert (alone["k"], alone["smallest_k"]) == (20, 20)
    gap = curve([0.8, 0.95, 0.9], [0.01] * 3, [10, 3, 10])
    assert best_scores(gap).iloc[0]["k"] == 30, "a k that some folds lack does not compete"


def test_each_method_against_the_best():
    rows = of_protocol(make_rows())
    found = against_best(rows, "accuracy")
    assert found["label"].tolist() == ["infused-lasso", "mrmr", "anova", "random"]
    assert found.loc[0, ["difference", "low", "p_value", "p_holm"]].isna().all()
    table = rows.pivot(index=["repeat", "fold"], columns=["label", "k"], values="accuracy")
    best = table["infused-lasso", found["k"][0]]
    for n in (1, 2, 3):
        mine = table[found["label"][n], found["k"][n]]
        t, p = twin_t_test(mine.to_list(), best.to_list(), 80, 20)
        assert found["p_value"][n] == pytest.approx(p)
        reach = stats.t.isf(0.05 / 3 / 2, 9) * (mine - best).mean() / t  # 95% for the three together
        assert found["low"][n] == pytest.approx((mine - best).mean() - reach)
    np.testing.assert_allclose(found["p_holm"][1:], holm(found["p_value"][1:]))


def test_methods_are_compared_on_the_folds_that_both_have():
    rows = make_rows()
    rows = rows[~((rows["method"] == "anova") & (rows["repeat"] == 1))]
    found = against_best(of_protocol(rows), "accuracy").set_index("label")
    assert found.loc["anova", "n_common"] == 5
    assert found.loc["mrmr", "n_common"] == 10
    one_fold = rows[(rows["method"] != "anova") | (rows["fold"] == 0)]
    found = against_best(of_protocol(one_fold), "accuracy").set_index("label")
    assert isnan(found.loc["anova", "p_value"])
    assert isnan(found.loc["anova", "p_holm"])


def test_nested_and_leaky_rows_never_meet():
    both = pd.concat([make_rows(), make_rows(protocol="leaky")])
    assert set(of_protocol(both)["protocol"]) == {"nested"}
    assert set(of_protocol(both, "leaky")["protocol"]) == {"leaky"}
    with pytest.raises(ValueError, match="cannot be mixed"):
        of_protocol(both, None)
    with pytest.raises(
        ValueError, match="no rows of the leaky protocol: run the benchmark with protocol='leaky'"
    ):
        of_protocol(make_rows(), "leaky")
    with pytest.raises(ValueError, match="the column 'protocol' is missing"):
        of_protocol(make_rows().drop(columns="protocol"))


def test_variants_of_a_method_have_labels_of_their_own():
    plain, none = make_rows(), make_rows(methods={"infused-lasso": 0.9}, parameters='{"fusion":"none","k":1}')
    rows = of_protocol(pd.concat([plain, none]))
    assert sorted(rows["label"].unique()) == [
        "anova", "infused-lasso", "infused-lasso (fusion=none, k=1)", "mrmr", "random",
    ]  # fmt: skip
    forest = make_rows(methods={"anova": 0.8}).assign(classifier="random-forest")
    labels = set(of_protocol(pd.concat([plain, forest]))["label"])
    assert {"anova with svm", "anova with random-forest"} <= labels
    real = make_rows(("diabetes",), {"anova": 0.8}, regression=True).assign(classifier="ridge")
    assert "anova" in set(of_protocol(pd.concat([plain, real]))["label"]), "each data set has its own judge"


def test_a_result_that_is_there_twice_is_refused():
    rows = make_rows()
    with pytest.raises(
        ValueError, match=r"infused-lasso on wine has two results for repeat 0, fold 0, k = 5"
    ):
        scored(of_protocol(pd.concat([rows, rows])), "accuracy")


def test_failed_cells_are_named_unless_they_were_run_again():
    rows = with_failure(make_rows(), "mrmr", 0, 3)
    failed = failed_cells(of_protocol(rows))
    assert failed.to_dict("records") == [
        {"dataset": "wine", "label": "mrmr", "repeat": 0, "fold": 3, "status": "timeout",
         "reason": "took longer than 60 s"}
    ]  # fmt: skip
    again = pd.concat([rows, make_rows().query("method == 'mrmr' and repeat == 0 and fold == 3")])
    assert len(failed_cells(of_protocol(again))) == 0


def test_real_targets_are_judged_by_r2():
    assert metric_of(make_rows()) == "accuracy"
    assert metric_of(make_rows(regression=True)) == "r2"
    assert metric_of(make_rows(), "f1") == "f1"
    tuned = make_rows().assign(scoring="roc_auc", roc_auc=0.9)
    assert metric_of(tuned) == "roc_auc" and metric_of(tuned, "accuracy") == "accuracy"
    with pytest.raises(
        ValueError, match="scoring='auc' is not known; there are accuracy, balanced_accuracy, f1"
    ):
        metric_of(make_rows(), "auc")
