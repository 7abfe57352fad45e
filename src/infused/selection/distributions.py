"""How the values of a feature lie in each class, or against a real target."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from infused._typing import Array, Floats, Ints
from infused.selection.record import ClassDistribution, TargetScatter

__all__ = ["class_distribution", "dense_columns", "explained_variance", "target_scatter"]

BINS = 24
MOST_SAMPLES = 500
COLUMNS_AT_ONCE = 256


def dense_columns(X: Any, columns: Any) -> Floats:
    """Some columns of a dense or sparse X as a dense array."""
    part = X[:, columns]
    return np.asarray(part.toarray() if sparse.issparse(part) else part, dtype=np.float64)


def class_distribution(name: str, values: Floats, labels: Ints, n_classes: int) -> ClassDistribution:
    """Counts of a feature's values on common bins, for each class (numbered from 0)."""
    edges = _bin_edges(values)
    counts = [np.histogram(values[labels == c], edges)[0] for c in range(n_classes)]
    return ClassDistribution(name, tuple(edges.tolist()), tuple(tuple(row.tolist()) for row in counts))


def _bin_edges(values: Floats) -> Floats:
    """One bin for each value of a short scale of equal steps (counts, grey levels), else 24 equal bins."""
    distinct = np.unique(values)
    if len(distinct) == 1:
        return np.asarray(distinct[0] + np.array([-0.5, 0.5]) * max(1.0, abs(distinct[0])))
    step = np.diff(distinct).min()
    n_steps = (distinct - distinct[0]) / step
    if n_steps[-1] < BINS and np.allclose(n_steps, n_steps.round(), rtol=0, atol=1e-6):
        return np.asarray(distinct[0] + step * (np.arange(round(n_steps[-1]) + 2) - 0.5))
    return np.linspace(distinct[0], distinct[-1], BINS + 1)


def target_scatter(name: str, values: Floats, target: Floats) -> TargetScatter:
    """A feature against the target; of many samples, those evenly spaced in the order of the target."""
    order = np.argsort(target, kind="stable")
    shown = order[np.linspace(0, len(order) - 1, min(len(order), MOST_SAMPLES)).round().astype(int)]
    return TargetScatter(name, tuple(values[shown].tolist()), tuple(target[shown].tolist()))


def explained_variance(X: Any, columns: Ints, target: Array, classes: bool) -> Floats:
    r"""Share of each column's variance that the target explains, between 0 and 1.

    :math:`\eta^2 = \sum_c n_c (\bar f_c - \bar f)^2 / \sum_a (f_a - \bar f)^2` for classes c; for real
    targets the :math:`R^2` of the column regressed on them, which for one is the squared correlation. A
    constant column has 0.
    """
    if classes:
        basis = np.eye(target.max() + 1)[:, target].T
        basis /= np.sqrt(basis.sum(axis=0))
    else:
        columns_of_y = target.reshape(len(target), -1)
        basis, sizes, _ = np.linalg.svd(columns_of_y - columns_of_y.mean(axis=0), full_matrices=False)
        basis = basis[:, sizes > 1e-12 * sizes[0]]
    shares = np.zeros(len(columns))
    for start in range(0, len(columns), COLUMNS_AT_ONCE):
        part = slice(start, start + COLUMNS_AT_ONCE)
        values = dense_columns(X, columns[part])
        spread = np.ptp(values, axis=0)
        centred = (values - values.mean(axis=0)) / np.where(spread == 0, 1.0, spread)
        total = np.where(spread == 0, 1.0, (centred**2).sum(axis=0))
        shares[part] = np.where(spread == 0, 0.0, ((basis.T @ centred) ** 2).sum(axis=0) / total)
    return np.clip(shares, 0.0, 1.0)
