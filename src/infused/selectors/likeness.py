"""How alike two features are: three measures from 0 to 1, computed for some features with some others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from infused._design import dense
from infused._runtime.memory import memory_budget
from infused._runtime.threads import workers
from infused._typing import Floats, Ints
from infused.graphs.distributions import feature_distributions
from infused.information.discrete import discretize
from infused.information.mutual import MutualInformation
from infused.information.structural import StructuralInformation
from infused.selectors.inputs import design_matrix

__all__ = ["LIKENESS", "Likeness"]

#: How alike each of some features (rows) is to each of some others (columns).
Likeness: TypeAlias = Callable[[Ints, Ints], Floats]


def correlation(X: Any, n_bins: int, n_jobs: int | None) -> Likeness:
    """|r|, the absolute Pearson correlation; 0 beside a constant feature."""
    F = design_matrix(X, True, memory_budget())
    return lambda rows, columns: np.abs(F[:, columns].T @ dense(F[:, rows])).T


def shared_information(X: Any, n_bins: int, n_jobs: int | None) -> Likeness:
    """2 I(f; g) / (H(f) + H(g)), the symmetric uncertainty of binned features; 0 beside a constant one."""
    codes, nothing = discretize(X, n_bins, n_jobs), np.zeros(X.shape[0], np.int64)
    with workers(n_jobs) as pool:
        information = MutualInformation.build(codes, nothing, pool)
    entropies = information.entropies()

    def similar(rows: Ints, columns: Ints) -> Floats:
        with workers(n_jobs) as pool:
            part = replace(information.restricted(np.union1d(rows, columns)), pool=pool)
            shared = np.stack([part.with_feature(s)[columns] for s in rows.tolist()])
        joint = entropies[rows, None] + entropies[columns]
        return np.divide(2 * shared, joint, out=np.zeros_like(shared), where=joint > 0)

    return similar


def graph_similarity(X: Any, n_bins: int, n_jobs: int | None) -> Likeness:
    """exp(-D), D the Jensen-Shannon divergence of two features' graphs: the lower part of a fraction in U."""
    P = feature_distributions(X, n_jobs=n_jobs)
    # With features for targets the upper part of that fraction is 2.
    U = StructuralInformation(P, P, criterion="two-way", n_jobs=n_jobs)
    return lambda rows, columns: 2.0 / U.columns(rows)[columns].T


#: A measure by its name.
LIKENESS: dict[str, Callable[[Any, int, int | None], Likeness]] = {
    "correlation": correlation,
    "mutual-information": shared_information,
    "structural": graph_similarity,
}
