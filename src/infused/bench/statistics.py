"""Statistics of folds: means with honest errors, the best k, stability, paired tests, ranks over data sets.

Folds and repeats share most of their training samples, so their results are not independent, and
s / sqrt(J) is too small a standard error: more repeats would shrink it towards zero without adding samples.
Every standard error here carries the correction of Nadeau and Bengio.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

from infused._typing import Floats
from infused.bench.plan import ProtocolName
from infused.bench.rows import (
    in_order,
    metric_of,
    of_protocol,
    only_dataset,
    plain_methods,
    scored,
    without_references,
)
from infused.exceptions import InputError

if TYPE_CHECKING:
    from pandas import DataFrame


#: What stands where there is nothing.
DASH = "\N{EN DASH}"
#: The level of tests.
ALPHA = 0.05


def overlap_variance(n_folds: Any, n_train: Any, n_test: Any) -> Any:
    r"""Return the factor that turns the variance :math:`s^2` of fold results into that of their mean.

    .. math:: \frac{1}{J} + \frac{n_{test}}{n_{train}}

    with J the number of folds over all repeats. The second term stands for the correlation of results whose
    training parts overlap. Where folds differ in size, pass their mean sizes. Numbers or arrays.

    References
    ----------
    C. Nadeau, Y. Bengio, "Inference for the Generalization Error", Machine Learning 52, 2003. For r-times
    repeated k-fold cross-validation, J = r k: R. R. Bouckaert, E. Frank, "Evaluating the Replicability of
    Significance Tests for Comparing Learning Algorithms", PAKDD 2004.
    """
    return 1 / n_folds + n_test / n_train


def score_summary(rows: DataFrame, metric: str) -> DataFrame:
    r"""Compute mean and corrected standard error of a metric for every data set, method and k.

    .. math:: \bar x = \frac{1}{J} \sum_j x_j, \qquad
              \mathrm{se} = \sqrt{\left(\frac{1}{J} + \frac{n_{test}}{n_{train}}\right) s^2}, \qquad
              s^2 = \frac{1}{J - 1} \sum_j (x_j - \bar x)^2

    with :math:`x_j` the result on fold j; see :func:`overlap_variance`. With a single fold there is no
    standard error.

    Parameters
    ----------
    rows : DataFrame
        Labelled rows of one protocol, see :func:`infused.bench.rows.of_protocol`.
    metric : str

    Returns
    -------
    DataFrame
        Columns dataset, label, method, k, mean, error, n_folds; sorted by the first two and k.
    """
    groups = scored(rows, metric).groupby(["dataset", "label", "k"])
    found = groups.agg(
        method=("method", "first"),
        mean=(metric, "mean"),
        spread=(metric, "std"),
        n_folds=(metric, "size"),
        n_train=("n_train", "mean"),
        n_test=("n_test", "mean"),
    ).reset_index()
    variance = overlap_variance(found["n_folds"], found["n_train"], found["n_test"])
    found["error"] = np.sqrt(variance) * found["spread"]
    return found[["dataset", "label", "method", "k", "mean", "error", "n_folds"]]


def best_scores(summary: DataFrame) -> DataFrame:
    r"""Find the k with the best mean of each method on each data set, and the smallest k that does as well.

    .. math:: k^* = \arg\max_k \bar x_k, \qquad
              k_{1se} = \min \{k : \bar x_k \ge \bar x_{k^*} - \mathrm{se}_{k^*}\}

    Of equal means the smaller k wins. Only those k compete that were measured on all folds of the method. The
    best mean is optimistic: k was chosen on the very folds that it is reported for.

    Parameters
    ----------
    summary : DataFrame
        From :func:`score_summary`.

    Returns
    -------
    DataFrame
        One row per data set and method: the row of k*, and ``smallest_k``. With a single fold there is no
        standard error, and smallest_k is k*.

    References
    ----------
    The rule of one standard error: L. Breiman, J. Friedman, R. Olshen, C. Stone, "Classification and
    Regression Trees", 1984, Chapter 3.
    """
    import pandas as pd

    chosen = []
    for _, curve in summary.groupby(["dataset", "label"], sort=True):
        whole = curve[curve["n_folds"] == curve["n_folds"].max()].sort_values("k")
        best = whole.loc[whole["mean"].idxmax()]
        enough = whole["mean"] >= best["mean"] - np.nan_to_num(best["error"])
        chosen.append({**best.to_dict(), "smallest_k": int(whole.loc[enough, "k"].min())})
    return pd.DataFrame(chosen, columns=[*summary.columns, "smallest_k"])


@dataclass(frozen=True)
class Stability:
    """How alike the selected sets are: 1 if identical, about 0 if no more alike than at random."""

    index: float
    variance: float
    low: float
    high: float
    """The confidence interval of the index."""
    n_sets: int
    kuncheva: float = float("nan")
    """Kuncheva's index, which is the same for sets of equal size; not a number for others."""
    jaccard: float = float("nan")
    """Mean share of the features of two sets that both hold; it is not corrected for chance."""


def selection_stability(
    sets: Sequence[Collection[int]], n_features: int, *, confidence: float = 0.95
) -> Stability:
    r"""Compute Nogueira's stability of M selected sets of d features.

    .. math:: \hat\Phi = 1 - \frac{1}{v d} \sum_f s_f^2, \qquad
              s_f^2 = \frac{M}{M - 1}\, \hat p_f (1 - \hat p_f), \qquad
              v = \frac{\bar k}{d} \left(1 - \frac{\bar k}{d}\right)

    where :math:`\hat p_f` is the share of the sets that hold feature f and :math:`\bar k` their mean size.
    The variance is :math:`\frac{4}{M^2} \sum_i (\hat\Phi_i - \bar\Phi)^2` with

    .. math:: \hat\Phi_i = \frac{1}{v} \left[\frac{1}{d} \sum_f z_{if} \hat p_f
              - \frac{k_i \bar k}{d^2} + \frac{\hat\Phi}{2} \left(\frac{2 k_i \bar k}{d^2} - \frac{k_i}{d}
              - \frac{\bar k}{d} + 1\right)\right]

    (:math:`z_{if}` is 1 if set i holds f), and the interval is :math:`\hat\Phi \pm z_{\alpha/2}` standard
    deviations. It supposes independent sets. Folds of a cross-validation share samples, so that theirs are
    more alike than those of fresh samples would be, and the interval is too narrow.

    Beside it are the means over pairs of sets of Kuncheva's index :math:`(r d - k^2) / (k (d - k))`, with r
    the size of the intersection, and of Jaccard's, the intersection over the union.

    Parameters
    ----------
    sets : sequence of collections of int
        Positions of the selected features, one collection for each fold.
    n_features : int
        How many there are to select from.
    confidence : float

    Returns
    -------
    Stability
        Not a number where nothing, or everything, is selected: there is no choice that could be stable.

    Examples
    --------
    >>> from infused.bench.statistics import selection_stability
    >>> selection_stability([{0, 1}, {0, 1}, {0, 1}], 10).index
    1.0

    References
    ----------
    S. Nogueira, K. Sechidis, G. Brown, "On the Stability of Feature Selection Algorithms", JMLR 18 (174),
    2018: Definition 4 and Corollary 9. L. I. Kuncheva, "A Stability Index for Feature Selection", IASTED
    Artificial Intelligence and Applications, 2007.
    """
    n_sets = len(sets)
    if n_sets < 2:
        raise InputError(f"stability needs at least two selected sets, got {n_sets}")
    Z = _membership(sets, n_features)
    share, size = Z.mean(axis=0), Z.sum(axis=1)
    density = float(share.mean())  # mean size over d
    if density in (0.0, 1.0):
        nan = float("nan")
        return Stability(nan, nan, nan, nan, n_sets)
    at_random = density * (1 - density)
    index = 1 - float(Z.var(axis=0, ddof=1).mean()) / at_random
    own = size / n_features
    by_set = (
        Z @ share / n_features - own * density + index / 2 * (2 * own * density - own - density + 1)
    ) / at_random
    variance = 4 / n_sets**2 * float(np.sum((by_set - by_set.mean()) ** 2))
    reach = float(ndtri((1 + confidence) / 2)) * float(np.sqrt(variance))
    return Stability(index, variance, index - reach, index + reach, n_sets, *_of_pairs(Z))


def _of_pairs(Z: Floats) -> tuple[float, float]:
    """Compute the means of Kuncheva's and of Jaccard's index over the pairs of sets."""
    common, size, d = Z @ Z.T, Z.sum(axis=1), Z.shape[1]
    first, second = np.triu_indices(len(Z), 1)
    shared, k = common[first, second], float(size[0])
    union = size[first] + size[second] - shared
    jaccard = float(np.mean(np.divide(shared, union, out=np.ones_like(union), where=union > 0)))
    if (size != k).any():
        return float("nan"), jaccard
    return float(np.mean((shared * d - k**2) / (k * (d - k)))), jaccard


def _membership(sets: Sequence[Collection[int]], n_features: int) -> Floats:
    """Make Z: one row for each set, 1 where it holds the feature."""
    Z = np.zeros((len(sets), n_features))
    for row, chosen in zip(Z, sets, strict=True):
        positions = np.fromiter(chosen, dtype=np.int64)
        if positions.size and not 0 <= positions.min() <= positions.max() < n_features:
            raise InputError(
                f"a selected feature is not among the {n_features}: {positions.min()}, {positions.max()}"
            )
        row[positions] = 1.0
    return Z


def stability_at(rows: DataFrame, label: str, k: int) -> Stability | None:
    """Compute the stability of a method's first k features; None without two rankings that long.

    Parameters
    ----------
    rows : DataFrame
        Labelled rows; ``selected`` holds a cell's ranking on the row of its largest k, and nothing elsewhere.
    label : str
    k : int

    Returns
    -------
    Stability or None
    """
    mine = rows[(rows["label"] == label) & (rows["status"] == "ok")]
    rankings = [
        one for one in mine["selected"] if isinstance(one, (list, tuple, np.ndarray)) and len(one) >= k
    ]
    if len(rankings) < 2:
        return None
    return selection_stability([one[:k] for one in rankings], int(mine["n_features"].iloc[0]))


def p_text(p: float) -> str:
    """Write a p-value with two digits, and no more zeros than anybody could vouch for.

    >>> p_text(0.03456), p_text(0.00002), p_text(0.6)
    ('0.035', '<0.001', '0.60')
    """
    if isnan(p):
        return DASH
    if p < 0.001:
        return "<0.001"
    return f"{p:.3f}" if p < 0.1 else f"{p:.2f}"


class TooFewToRankError(InputError):
    """Ranks need two methods, and two data sets on which all of them have results."""


@dataclass(frozen=True)
class Friedman:
    """Whether the methods' mean ranks differ by more than chance."""

    mean_ranks: Floats
    """1 is best."""
    statistic: float
    p_value: float
    f_statistic: float
    """Of Iman and Davenport; Friedman's own is undesirably conservative."""
    f_p_value: float
    n_datasets: int


@dataclass(frozen=True)
class RankComparison:
    """Methods over data sets: their mean ranks, and which of them do not differ significantly."""

    labels: tuple[str, ...]
    """The best mean rank first."""
    mean_ranks: tuple[float, ...]
    friedman: Friedman
    critical_difference: float
    groups: tuple[tuple[int, int], ...]
    """First and last position in ``labels`` of methods that differ by less than the critical difference."""
    datasets: tuple[str, ...]
    protocol: ProtocolName = "nested"
    """Of the rows that the scores come from."""


def friedman(scores: Floats) -> Friedman:
    r"""Compute Friedman's test on N data sets and k methods, with the F of Iman and Davenport.

    .. math:: \chi^2_F = \frac{12 N}{k (k + 1)} \left[\sum_j R_j^2 - \frac{k (k + 1)^2}{4}\right], \qquad
              F_F = \frac{(N - 1) \chi^2_F}{N (k - 1) - \chi^2_F}

    where :math:`R_j` is the mean rank of method j, ties sharing the mean of their ranks.
    :math:`\chi^2_F` has k - 1 degrees of freedom, :math:`F_F` has k - 1 and (k - 1)(N - 1). The statistic is
    divided by the share of the rank variance that ties leave, as ``scipy.stats.friedmanchisquare`` does. Of
    two methods that differ on n data sets, one better on w of them, it is :math:`(2w - n)^2 / n`.

    Parameters
    ----------
    scores : array of shape (n_datasets, n_methods)
        The larger the better.

    Returns
    -------
    Friedman

    References
    ----------
    J. Demsar, "Statistical Comparisons of Classifiers over Multiple Data Sets", JMLR 7, 2006, Section 3.2.2.
    R. L. Iman, J. M. Davenport, "Approximations of the Critical Region of the Friedman Statistic",
    Communications in Statistics 9, 1980.
    """
    from scipy import stats

    table = np.asarray(scores, dtype=np.float64)
    n, k = table.shape
    if n < 2 or k < 2:
        raise TooFewToRankError(f"Friedman's test needs two data sets and two methods, got {n} and {k}")
    differ = (table != table[:, :1]).any(axis=1)
    if not differ.any():
        statistic = 0.0
    elif k == 2:  # SciPy takes three or more
        better = np.sign(table[:, 0] - table[:, 1])
        statistic = float(better.sum() ** 2 / differ.sum())
    else:
        statistic = float(stats.friedmanchisquare(*table.T).statistic)
    room = n * (k - 1) - statistic
    f = (n - 1) * statistic / room if room > 1e-12 else float("inf")
    return Friedman(
        mean_ranks=stats.rankdata(-table, axis=1).mean(axis=0),
        statistic=statistic,
        p_value=float(stats.chi2.sf(statistic, k - 1)),
        f_statistic=f,
        f_p_value=float(stats.f.sf(f, k - 1, (k - 1) * (n - 1))),
        n_datasets=n,
    )


def critical_difference(n_methods: int, n_datasets: int, alpha: float = 0.05) -> float:
    r"""Compute Nemenyi's critical difference: mean ranks this far apart differ at level alpha.

    .. math:: CD = q_\alpha \sqrt{\frac{k (k + 1)}{6 N}}

    where :math:`q_\alpha` is the critical value of the studentised range for k groups and infinitely many
    degrees of freedom, divided by :math:`\sqrt 2`.

    Examples
    --------
    >>> from infused.bench.statistics import critical_difference
    >>> round(critical_difference(4, 14), 2)  # Demsar 2006, Section 3.2.2
    1.25

    References
    ----------
    J. Demsar, JMLR 7, 2006, Section 3.2.2. P. B. Nemenyi, "Distribution-free Multiple Comparisons", 1963.
    """
    from scipy import stats

    q = float(stats.studentized_range.isf(alpha, n_methods, np.inf)) / np.sqrt(2)
    return float(q * np.sqrt(n_methods * (n_methods + 1) / (6 * n_datasets)))


def indistinct_groups(mean_ranks: Floats, difference: float) -> tuple[tuple[int, int], ...]:
    """Find first and last place of the largest runs of mean ranks within the critical difference.

    >>> from infused.bench.statistics import indistinct_groups
    >>> indistinct_groups([1.0, 1.5, 2.5, 4.0], 1.6)
    ((0, 2), (2, 3))
    """
    ranks = np.asarray(mean_ranks, dtype=np.float64)
    runs: list[tuple[int, int]] = []
    for first in range(len(ranks)):
        last = int(np.flatnonzero(ranks - ranks[first] < difference).max())
        if last > first and (not runs or last > runs[-1][1]):  # not part of the run before
            runs.append((first, last))
    return tuple(runs)


def compare_ranks(scores: DataFrame) -> RankComparison:
    """Rank methods over data sets, with Friedman's test and the groups that Nemenyi's test leaves undivided.

    Parameters
    ----------
    scores : DataFrame
        Data sets x methods, the larger the better, without gaps.

    Returns
    -------
    RankComparison
    """
    if scores.isna().any(axis=None):
        raise InputError(
            "ranks need a score of every method on every data set: leave out incomplete rows or columns"
        )
    test = friedman(scores.to_numpy(dtype=np.float64))
    order = np.argsort(test.mean_ranks, kind="stable")
    ranks = test.mean_ranks[order]
    limit = critical_difference(scores.shape[1], len(scores), ALPHA)
    return RankComparison(
        labels=tuple(str(scores.columns[n]) for n in order),
        mean_ranks=tuple(ranks.tolist()),
        friedman=test,
        critical_difference=limit,
        groups=indistinct_groups(ranks, limit),
        datasets=tuple(str(name) for name in scores.index),
    )


def rank_comparison(
    rows: DataFrame,
    *,
    protocol: ProtocolName = "nested",
    metric: str | None = None,
    methods: Sequence[str] | None = None,
) -> RankComparison:
    """Rank the methods' best means over the data sets on which all of them have one.

    Parameters
    ----------
    rows : DataFrame
        One row per k of a cell.
    protocol : {"nested", "leaky"}
    metric : str, optional
        By default accuracy on data with classes, and R² on those with real targets.
    methods : sequence of str, optional
        Which to rank; by default all that ran with their defaults.

    Returns
    -------
    RankComparison
    """
    import pandas as pd

    mine = without_references(plain_methods(of_protocol(rows, protocol)))
    if methods is not None:
        mine = mine[mine["method"].isin(methods)]
    if mine.empty:
        raise TooFewToRankError("ranks are of methods with their defaults: there are none")
    best = pd.concat(
        best_scores(score_summary(part, metric_of(part, metric))) for _, part in mine.groupby("dataset")
    )
    scores = best.pivot(index="dataset", columns="label", values="mean")
    scores = scores.reindex(columns=sorted(mine["label"].unique())).dropna()
    if min(scores.shape) < 2:
        raise TooFewToRankError(
            "ranks need two methods, and two data sets on which all of them have results: there are "
            f"{scores.shape[1]} and {len(scores)}"
        )
    ordered = scores.loc[in_order(scores.index)]
    # Equal shares of right answers may differ in a last digit.
    return replace(compare_ranks(ordered.round(12)), protocol=protocol)


@dataclass(frozen=True)
class PairedTest:
    """How two methods differ on the same folds."""

    difference: float
    """Mean of the first less that of the second."""
    error: float
    statistic: float
    p_value: float
    """Two-sided."""
    low: float
    high: float
    """The confidence interval of the difference."""
    n_folds: int


def corrected_t_test(
    first: Any, second: Any, n_train: Any, n_test: Any, *, confidence: float = 1 - ALPHA
) -> PairedTest:
    r"""Compute the corrected resampled t-test of two methods on the same J folds.

    .. math:: t = \frac{\bar d}{\sqrt{(1/J + n_{test}/n_{train})\, s_d^2}}, \qquad d_j = x_j - y_j

    with :math:`s_d^2` the sample variance of the differences, compared with Student's t on J - 1 degrees of
    freedom. The uncorrected test takes 1/J alone, and finds differences where there are none: folds share
    training samples.

    Parameters
    ----------
    first, second : array of shape (n_folds,)
        Results of the two methods, in the same order of folds; J = r k for r-times repeated k-fold.
    n_train, n_test : int or array of shape (n_folds,)
        Samples in the training and in the test part.
    confidence : float
        Of the interval :math:`\bar d \pm t_{J-1} \mathrm{se}`.

    Returns
    -------
    PairedTest
        Where all differences are equal, s is zero: p is then 1 for no difference and 0 for any other.

    Examples
    --------
    >>> from infused.bench.statistics import corrected_t_test
    >>> test = corrected_t_test([0.9, 0.8, 0.9, 1.0], [0.8, 0.8, 0.7, 0.9], n_train=30, n_test=10)
    >>> round(test.difference, 3), round(test.p_value, 3)
    (0.1, 0.207)

    References
    ----------
    See :func:`infused.bench.statistics.overlap_variance`.
    """
    from scipy import stats

    d = np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64)
    if len(d) < 2:
        raise InputError(f"a paired test needs at least two folds, got {len(d)}")
    mean, degrees = float(d.mean()), len(d) - 1
    # Equal differences leave rounding errors of 1e-17 in s, which would make any t of the quotient.
    spread = 0.0 if np.allclose(d, d[0], rtol=0, atol=1e-12) else float(d.std(ddof=1))
    error = spread * float(np.sqrt(overlap_variance(len(d), np.mean(n_train), np.mean(n_test))))
    at_zero = 0.0 if abs(mean) < 1e-12 else float(np.copysign(np.inf, mean))
    t = mean / error if error > 0 else at_zero
    p = float(2 * stats.t.sf(abs(t), degrees))
    reach = float(stats.t.isf((1 - confidence) / 2, degrees)) * error
    return PairedTest(mean, error, t, p, mean - reach, mean + reach, len(d))


def holm(p_values: Any) -> Floats:
    r"""Adjust the p-values of m tests for being m.

    .. math:: \tilde p_{(i)} = \max_{j \le i} \min(1, (m - j + 1)\, p_{(j)}), \qquad
              p_{(1)} \le \ldots \le p_{(m)}

    Rejecting where the adjusted value is below alpha keeps the chance of any false rejection below alpha,
    whatever the dependence of the tests. Not-a-number stays, and counts as no test.

    Parameters
    ----------
    p_values : array of shape (n_tests,)

    Returns
    -------
    ndarray of shape (n_tests,)

    Examples
    --------
    >>> from infused.bench.statistics import holm
    >>> holm([0.01, 0.04, 0.03]).round(4).tolist()
    [0.03, 0.06, 0.06]

    References
    ----------
    S. Holm, "A Simple Sequentially Rejective Multiple Test Procedure", Scandinavian Journal of Statistics 6,
    1979.
    """
    p = np.asarray(p_values, dtype=np.float64)
    adjusted = np.full(len(p), np.nan)
    order = np.argsort(p)[: np.count_nonzero(~np.isnan(p))]  # not-a-number sorts last
    steps = p[order] * np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted


def against_best(rows: DataFrame, metric: str) -> DataFrame:
    """Compare every method at its best k with the best of all, on the folds that both have.

    Parameters
    ----------
    rows : DataFrame
        Labelled rows of one protocol and one data set.
    metric : str

    Returns
    -------
    DataFrame
        The columns of :func:`infused.bench.statistics.best_scores`, the best method first, then by mean; and
        for the others difference (to the best, negative where it is worse), low, high, p_value, p_holm and
        n_common. The intervals hold together with 95% confidence (Bonferroni). Where two methods share
        fewer than two folds, these are not a number.
    """
    only_dataset(rows)
    results = scored(rows, metric)
    best = best_scores(score_summary(rows, metric))
    best = best.iloc[np.lexsort((best["label"], best["k"], -best["mean"]))].reset_index(drop=True)
    first = best.iloc[0] if len(best) else None
    best = paired_with(first, best, results, metric, confidence=1 - ALPHA / max(len(best) - 1, 1))
    best["p_holm"] = holm(best["p_value"])
    return best


def paired_with(
    first: Any, lines: DataFrame, results: DataFrame, metric: str, *, confidence: float = 1 - ALPHA
) -> DataFrame:
    """Add to lines of methods, each with its k, how they differ from one of them or from that of another."""
    tests = [
        paired_test(results, (label, k), (first["label"], first["k"]), metric, confidence=confidence)
        if label != first["label"]
        else None
        for label, k in zip(lines["label"], lines["k"], strict=True)
    ]
    for column in ("difference", "low", "high", "p_value"):
        lines[column] = [np.nan if test is None else getattr(test, column) for test in tests]
    lines["n_common"] = [0 if test is None else test.n_folds for test in tests]
    return lines


def paired_test(
    results: DataFrame,
    first: tuple[str, int],
    second: tuple[str, int],
    metric: str,
    *,
    confidence: float = 1 - ALPHA,
) -> PairedTest | None:
    """Test two methods, each with a k of its own, on the folds of one data set that both have.

    Parameters
    ----------
    results : DataFrame
        Finished, labelled rows of one protocol and one data set.
    first, second : pair of label and k
    metric : str
    confidence : float

    Returns
    -------
    PairedTest or None
        None where they have fewer than two folds in common.
    """
    one, other = (_folds(results, *choice) for choice in (first, second))
    both = one.join(other[metric].rename("other"), how="inner")
    if len(both) < 2:
        return None
    return corrected_t_test(
        both[metric], both["other"], both["n_train"], both["n_test"], confidence=confidence
    )


def _folds(results: DataFrame, label: str, k: int) -> DataFrame:
    """Return what one method reached with k features, by repeat and fold."""
    return results[(results["label"] == label) & (results["k"] == k)].set_index(["repeat", "fold"])
