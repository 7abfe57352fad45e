"""Is one method better than another? Paired tests on folds, and ranks over many data sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from infused._typing import Floats
from infused.bench import paper
from infused.bench.plan import ProtocolName
from infused.bench.rows import (
    metric_of,
    of_protocol,
    only_dataset,
    plain_methods,
    scored,
    without_references,
)
from infused.bench.statistics import best_scores, overlap_variance, score_summary
from infused.bench.table_formats import in_order
from infused.exceptions import InputError

if TYPE_CHECKING:
    from pandas import DataFrame


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
    """Methods over data sets: their mean ranks, and which of them cannot be told apart."""

    labels: tuple[str, ...]
    """The best mean rank first."""
    mean_ranks: tuple[float, ...]
    friedman: Friedman
    critical_difference: float
    alpha: float
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
    >>> from infused.bench.ranks import critical_difference
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

    >>> from infused.bench.ranks import indistinct_groups
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


def compare_ranks(scores: DataFrame, alpha: float = 0.05) -> RankComparison:
    """Rank methods over data sets, with Friedman's test and the groups that Nemenyi's test leaves undivided.

    Parameters
    ----------
    scores : DataFrame
        Data sets x methods, the larger the better, without gaps.
    alpha : float

    Returns
    -------
    RankComparison
    """
    if scores.isna().any(axis=None):
        raise InputError(
            "ranks need a score of every method on every data set: leave out rows or columns with gaps"
        )
    test = friedman(scores.to_numpy(dtype=np.float64))
    order = np.argsort(test.mean_ranks, kind="stable")
    ranks = test.mean_ranks[order]
    limit = critical_difference(scores.shape[1], len(scores), alpha)
    return RankComparison(
        labels=tuple(str(scores.columns[n]) for n in order),
        mean_ranks=tuple(ranks.tolist()),
        friedman=test,
        critical_difference=limit,
        alpha=alpha,
        groups=indistinct_groups(ranks, limit),
        datasets=tuple(str(name) for name in scores.index),
    )


def rank_comparison(
    rows: DataFrame,
    *,
    protocol: ProtocolName = "nested",
    metric: str | None = None,
    methods: Sequence[str] | None = None,
    alpha: float = 0.05,
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
    alpha : float
        Level of Nemenyi's test.

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
    ordered = scores.loc[in_order(scores.index, paper.DATASETS)]
    # Equal shares of right answers may differ in a last digit.
    return replace(compare_ranks(ordered.round(12), alpha), protocol=protocol)


ALPHA = 0.05


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
    >>> from infused.bench.ranks import corrected_t_test
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
    >>> from infused.bench.ranks import holm
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
    confidence = 1 - ALPHA / max(len(best) - 1, 1)
    choices = list(zip(best["label"], best["k"], strict=True))
    tests = [paired_test(results, one, choices[0], metric, confidence=confidence) for one in choices[1:]]
    for column in ("difference", "low", "high", "p_value"):
        found = [np.nan if test is None else getattr(test, column) for test in tests]
        best[column] = [np.nan, *found][: len(best)]
    best["n_common"] = [0 if test is None else test.n_folds for test in (None, *tests)][: len(best)]
    best["p_holm"] = holm(best["p_value"])
    return best


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
