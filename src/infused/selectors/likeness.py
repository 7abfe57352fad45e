"""How alike two features are: three measures from 0 to 1, computed for some features with some others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from infused._runtime.memory import memory_budget
from infused._runtime.threads import workers
from infused._typing import Floats, Ints
from infused.graphs.distributions import feature_distributions
from infused.information.discrete import discretize
from infused.information.mutual import MutualInformation
from infused.information.structural import StructuralInformation
from infused.selectors.inputs import constant_columns, dense_design

__all__ = ["LIKENESS", "Likeness"]

#: How alike each of some features (rows) is to each of some others (columns).
Likeness: TypeAlias = Callable[[Ints, Ints], Floats]


def correlation(X: Any, n_bins: int, n_jobs: int | None) -> Likeness:
    """|r|, the absolute Pearson correlation; 0 beside a constant feature."""
    if not sp.issparse(X):
        F = dense_design(X, True, memory_budget())
        return lambda rows, columns: np.abs(F[:, rows].T @ F[:, columns])
    # Centring is left to the products, so that what is sparse stays so.
    X = X.tocsc().astype(np.float64)
    largest = np.maximum(abs(X).max(axis=0).toarray().ravel(), np.finfo(float).tiny)
    X = X @ sp.diags_array(1.0 / largest)
    mean = np.asarray(X.mean(axis=0)).ravel()
    variance = np.asarray(X.multiply(X).mean(axis=0)).ravel() - mean**2
    varies = ~constant_columns(X)
    scale = np.where(varies, 1.0 / np.sqrt(np.where(varies, variance, 1.0)), 0.0)

    def similar(rows: Ints, columns: Ints) -> Floats:
        products = (X[:, rows].T @ X[:, columns]).toarray() / X.shape[0] - np.outer(mean[rows], mean[columns])
        return np.asarray(np.abs(products * np.outer(scale[rows], scale[columns])))

    return similar


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
