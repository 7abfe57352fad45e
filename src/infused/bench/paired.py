"""Is one method better than another on these folds? A paired test that knows that folds overlap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from infused._typing import Floats
from infused.bench.frames import only_dataset, scored
from infused.bench.statistics import best_scores, overlap_variance, score_summary
from infused.exceptions import InputError

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["ALPHA", "PairedTest", "against_best", "corrected_t_test", "holm", "paired_test"]

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
    r"""The corrected resampled t-test of two methods on the same J folds.

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
    >>> from infused.bench.paired import corrected_t_test
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
    r"""p-values of m tests, adjusted for being m.

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
    >>> from infused.bench.paired import holm
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
    """Every method at its best k against the best of all, on the folds that both have.

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
    """Two methods, each with a k of its own, on the folds of one data set that both have.

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
    """What one method reached with k features, by repeat and fold."""
    return results[(results["label"] == label) & (results["k"] == k)].set_index(["repeat", "fold"])
