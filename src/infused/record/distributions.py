"""How the values of a feature lie in each class, or against a real target."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from infused._typing import Floats, Ints
from infused.record.schema import ClassDistribution, TargetScatter

__all__ = ["class_distribution", "dense_columns", "target_scatter"]

BINS = 24
MOST_SAMPLES = 500


def dense_columns(X: Any, columns: Any) -> Floats:
    """Some columns of a dense or sparse X as a dense array."""
    part = X[:, columns]
    return np.asarray(part.toarray() if sparse.issparse(part) else part, dtype=np.float64)


def class_distribution(
    name: str, values: Floats, labels: Ints, n_classes: int, levels: tuple[str, ...] | None = None
) -> ClassDistribution:
    """Counts of a feature's values on common bins, or by its levels, for each class (numbered from 0)."""
    known = ~np.isnan(values)
    values, labels = values[known], labels[known]
    edges = _bin_edges(values) if levels is None else np.arange(len(levels) + 1) - 0.5
    counts = [np.histogram(values[labels == c], edges)[0] for c in range(n_classes)]
    return ClassDistribution(
        name, tuple(edges.tolist()), tuple(tuple(row.tolist()) for row in counts), levels
    )


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


def target_scatter(
    name: str, values: Floats, target: Floats, levels: tuple[str, ...] | None = None
) -> TargetScatter:
    """A feature against the target; of many samples, those evenly spaced in the order of the target."""
    known = ~np.isnan(values)
    values, target = values[known], target[known]
    order = np.argsort(target, kind="stable")
    shown = order[np.linspace(0, len(order) - 1, min(len(order), MOST_SAMPLES)).round().astype(int)]
    return TargetScatter(name, tuple(values[shown].tolist()), tuple(target[shown].tolist()), levels)
