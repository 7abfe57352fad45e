"""Means over folds with honest standard errors, the best k, and the smallest k that does as well.

Folds and repeats share most of their training samples, so their results are not independent, and
s / sqrt(J) is too small a standard error: more repeats would shrink it towards zero without adding samples.
Every standard error here carries the correction of Nadeau and Bengio.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from infused.bench.frames import scored

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["Estimate", "best_scores", "mean_and_error", "overlap_variance", "score_summary"]


@dataclass(frozen=True)
class Estimate:
    """A mean over folds."""

    mean: float
    error: float
    """Its standard error; not a number with a single fold."""
    n_folds: int


def overlap_variance(n_folds: Any, n_train: Any, n_test: Any) -> Any:
    r"""The factor that turns the variance :math:`s^2` of fold results into that of their mean.

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


def mean_and_error(values: Any, n_train: Any, n_test: Any) -> Estimate:
    r"""The mean of fold results :math:`x_1, \ldots, x_J` and its corrected standard error.

    .. math:: \bar x = \frac{1}{J} \sum_j x_j, \qquad
              \mathrm{se} = \sqrt{\left(\frac{1}{J} + \frac{n_{test}}{n_{train}}\right) s^2}, \qquad
              s^2 = \frac{1}{J - 1} \sum_j (x_j - \bar x)^2

    Parameters
    ----------
    values : array of shape (n_folds,)
        One result per fold and repeat.
    n_train, n_test : int or array of shape (n_folds,)
        Samples in the training and in the test part.

    Returns
    -------
    Estimate

    Examples
    --------
    >>> from infused.bench.statistics import mean_and_error
    >>> round(mean_and_error([0.8, 0.9, 1.0, 0.9, 0.9], n_train=80, n_test=20).error, 4)
    0.0474

    References
    ----------
    See :func:`overlap_variance`.
    """
    x = np.asarray(values, dtype=np.float64)
    if len(x) == 0:
        raise ValueError("A mean needs the result of at least one fold.")
    error = float("nan")
    if len(x) > 1:
        error = float(np.sqrt(overlap_variance(len(x), np.mean(n_train), np.mean(n_test))) * x.std(ddof=1))
    return Estimate(float(x.mean()), error, len(x))


def score_summary(rows: DataFrame, metric: str) -> DataFrame:
    """Mean and standard error of a metric for every data set, method and k.

    Parameters
    ----------
    rows : DataFrame
        Labelled rows of one protocol, see :func:`infused.bench.frames.of_protocol`.
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
    r"""The k with the best mean of each method on each data set, and the smallest k that does as well.

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
