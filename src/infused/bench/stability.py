"""Do other samples lead to the same features? The stability of a selection, with its interval."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from infused._typing import Floats

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["Stability", "selection_stability", "stability_at"]


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
    r"""Nogueira's stability of M selected sets of d features.

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
    >>> from infused.bench.stability import selection_stability
    >>> selection_stability([{0, 1}, {0, 1}, {0, 1}], 10).index
    1.0

    References
    ----------
    S. Nogueira, K. Sechidis, G. Brown, "On the Stability of Feature Selection Algorithms", JMLR 18 (174),
    2018: Definition 4 and Corollary 9.
    """
    from scipy import stats

    n_sets = len(sets)
    if n_sets < 2:
        raise ValueError(f"Stability needs at least two selected sets, got {n_sets}.")
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
    reach = float(stats.norm.isf((1 - confidence) / 2)) * float(np.sqrt(variance))
    return Stability(index, variance, index - reach, index + reach, n_sets)


def _membership(sets: Sequence[Collection[int]], n_features: int) -> Floats:
    """Z: one row for each set, 1 where it holds the feature."""
    Z = np.zeros((len(sets), n_features))
    for row, chosen in zip(Z, sets, strict=True):
        positions = np.fromiter(chosen, dtype=np.int64)
        if positions.size and not 0 <= positions.min() <= positions.max() < n_features:
            raise ValueError(
                f"A selected feature is not among the {n_features}: {positions.min()}, {positions.max()}."
            )
        row[positions] = 1.0
    return Z


def stability_at(rows: DataFrame, label: str, k: int) -> Stability | None:
    """The stability of one method's first k features on one data set; None without two rankings that long.

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
