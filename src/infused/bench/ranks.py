"""Which methods are better over many data sets? Mean ranks, Friedman's test, Nemenyi's difference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from infused._typing import Floats
from infused.bench import paper
from infused.bench.captions import in_order
from infused.bench.frames import metric_of, of_protocol, plain_methods, without_references
from infused.bench.plan import ProtocolName
from infused.bench.statistics import best_scores, score_summary
from infused.exceptions import InputError

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = [
    "Friedman",
    "RankComparison",
    "TooFewToRankError",
    "compare_ranks",
    "critical_difference",
    "friedman",
    "indistinct_groups",
    "rank_comparison",
]


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
    r"""Friedman's test on N data sets and k methods, with the F of Iman and Davenport.

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
    r"""Nemenyi's critical difference: mean ranks that differ by at least this much differ at level alpha.

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
    """First and last place of the largest runs whose sorted mean ranks lie within the critical difference.

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
    """Mean ranks over data sets with Friedman's test and the groups that Nemenyi's test leaves undivided.

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
    """Mean ranks of the methods' best means, over the data sets on which all of them have one.

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
