"""What folds say of one method: means with honest standard errors, the best k, the smallest, stability.

Folds and repeats share most of their training samples, so their results are not independent, and
s / sqrt(J) is too small a standard error: more repeats would shrink it towards zero without adding samples.
Every standard error here carries the correction of Nadeau and Bengio.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

from infused._typing import Floats
from infused.bench.rows import scored
from infused.exceptions import InputError

if TYPE_CHECKING:
    from pandas import DataFrame


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
    2018: Definition 4 and Corollary 9.
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
    return Stability(index, variance, index - reach, index + reach, n_sets)


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
