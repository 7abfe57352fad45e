"""From features to graphs to distributions.

Feature i becomes a graph whose vertices are the samples and whose edges compare them (Eq. 1 of the paper);
the steady state of the random walk on that graph is its distribution, p_a = d_a / sum(d). The target graph
of feature i is the graph of its class means.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from infused._runtime.memory import memory_budget, require
from infused._runtime.messages import check_choice
from infused._runtime.progress import ProgressCallback, Stage
from infused._runtime.threads import Workers, spans, workers
from infused._typing import Data, Floats, Ints
from infused.graphs.steady_states import class_shares, feature_shares, worth_a_kernel
from infused.graphs.storage import (
    DenseDistributions,
    FeatureDistributions,
    SparseDistributions,
    TargetDistributions,
)
from infused.graphs.validation import GRAPHS, Graph, Target, check_data, class_codes, resolve_target

__all__ = ["feature_distributions", "feature_graphs", "target_distributions", "target_graphs"]

ENTRIES_PER_TASK = 2**18


def feature_distributions(
    X: Any,
    *,
    graph: Graph = "kernel",
    n_jobs: int | None = -1,
    memory_budget: int | float | str | None = None,
    progress: ProgressCallback | None = None,
) -> Floats:
    r"""Distribution of each feature's graph, in O(M log M) per feature.

    .. math::

        p_a = \frac{d_a}{\sum_b d_b}, \quad d_a = \sum_b K_{ab}, \quad
        K_{ab} = \frac{\langle A_a, A_b \rangle}{|A_a| |A_b|}, \quad A_{ab} = |f_a - f_b|

    Parameters
    ----------
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        Finite numbers. Sparse input is not made dense on the way.
    graph : {"kernel", "euclidean"}, default="kernel"
        Compare samples by the kernel K above (the paper's Eq. 1) or by the distance A itself.
    n_jobs : int or None, default=-1
        Threads over features, as in joblib; -1 for every core.
    memory_budget : int, float, str or None, default=None
        Bytes (or like ``"4GB"``) that the result may take; None for half of the free memory.
    progress : callable or None, default=None
        Called as ``progress(fraction, message)``; return False to cancel.

    Returns
    -------
    ndarray of shape (n_samples, n_features)
        Columns sum to one. A constant feature has the uniform distribution; equal values have equal shares,
        to the last bit.

    See Also
    --------
    target_distributions : The same for the target graphs.
    FeatureGraph : One feature's graph, with its adjacency.
    structural_information : What the distributions are made for.

    References
    ----------
    L. Bai, L. Cui, Y. Wang, P. S. Yu, E. R. Hancock, "Fused Lasso for Feature Selection using Structural
    Information".

    Examples
    --------
    >>> import numpy as np
    >>> from infused import feature_distributions
    >>> feature_distributions(np.array([[0.0], [1.0], [1.0]])).ravel()
    array([0.2, 0.4, 0.4])
    """
    X = check_data(X)
    _require_dense(X.shape, memory_budget)
    with workers(n_jobs) as work:
        stage = Stage(progress, "building feature graphs", X.shape[1])
        return feature_graphs(X, graph, work, stage, mass=1.0).dense().T


def target_distributions(
    X: Any,
    y: Any,
    *,
    graph: Graph = "kernel",
    target: Target = "auto",
    n_jobs: int | None = -1,
    memory_budget: int | float | str | None = None,
    progress: ProgressCallback | None = None,
) -> Floats:
    r"""Distribution of each feature's target graph.

    .. math::

        p_a = \frac{d_a}{\sum_b d_b}, \quad d_a = \sum_b K_{ab}, \quad
        K_{ab} = \frac{\langle A_a, A_b \rangle}{|A_a| |A_b|}, \quad A_{ab} = |m_a - m_b|

    With classes, :math:`m_a` is the mean of the feature over the class of sample a. With a real-valued target
    :math:`m_a = y_a`, the same for every feature.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        Finite numbers. Sparse input is not made dense on the way.
    y : array-like of shape (n_samples,)
        Class labels of any kind, or real values.
    graph : {"kernel", "euclidean"}, default="kernel"
        Compare samples by the kernel K above (the paper's Eq. 1) or by the distance A itself.
    target : {"auto", "classes", "real"}, default="auto"
        How to read y; "auto" takes fractional numbers as real values and everything else as classes.
    n_jobs : int or None, default=-1
        Threads over features, as in joblib; -1 for every core.
    memory_budget : int, float, str or None, default=None
        Bytes (or like ``"4GB"``) that the result may take; None for half of the free memory.
    progress : callable or None, default=None
        Called as ``progress(fraction, message)``; return False to cancel.

    Returns
    -------
    ndarray of shape (n_samples, n_features)
        Columns sum to one. Class means that differ by no more than rounding count as equal.

    See Also
    --------
    feature_distributions : The same for the features' own graphs.
    FeatureGraph.of_target : One target graph, with its adjacency.
    structural_information : What the distributions are made for.

    References
    ----------
    L. Bai, L. Cui, Y. Wang, P. S. Yu, E. R. Hancock, "Fused Lasso for Feature Selection using Structural
    Information".

    Examples
    --------
    >>> import numpy as np
    >>> from infused import target_distributions
    >>> X = np.array([[0.0], [2.0], [4.0], [4.0]])
    >>> target_distributions(X, ["a", "a", "b", "b"]).ravel()
    array([0.25, 0.25, 0.25, 0.25])
    """
    X = check_data(X)
    _require_dense(X.shape, memory_budget)
    with workers(n_jobs) as work:
        stage = Stage(progress, "building target graphs", X.shape[1])
        graphs = target_graphs(X, y, graph, target, work, stage, mass=1.0)
    return graphs.dense(X.shape[1]).T


def feature_graphs(
    X: Data, graph: Graph, work: Workers, stage: Stage, *, mass: float
) -> FeatureDistributions:
    """Feature distributions of checked data, each of total ``mass``; sparse data stays sparse."""
    check_choice("graph", graph, GRAPHS)
    n_samples, n_features = X.shape
    options = n_samples, graph == "kernel", mass
    compiled = worth_a_kernel(n_features, n_samples)
    values, base = np.empty(X.nnz if sp.issparse(X) else X.size), np.empty(n_features)

    def compute(features: slice) -> int:
        columns = _Columns.taken(X, features)
        shares = feature_shares(columns.indptr, columns.data, *options, compiled=compiled)
        values[columns.stored], base[features] = shares
        return len(columns.indptr) - 1

    for done in work.map(compute, _feature_spans(X)):
        stage.advance(done)
    if not sp.issparse(X):
        return DenseDistributions(values.reshape(n_features, n_samples))
    indptr, samples = X.indptr.astype(np.int64), X.indices.astype(np.int64)
    return SparseDistributions(base, indptr, samples, values, n_samples)


def target_graphs(
    X: Data, y: Any, graph: Graph, target: Target, work: Workers, stage: Stage, *, mass: float
) -> TargetDistributions:
    """Target distributions of checked data, each of total ``mass``."""
    check_choice("graph", graph, GRAPHS)
    y, kind = resolve_target(X, y, target)
    kernel = graph == "kernel"
    n_samples, n_features = X.shape
    if kind == "real":
        compiled = worth_a_kernel(1, n_samples)
        whole = np.array([0, n_samples])
        values, _ = feature_shares(whole, y, n_samples, kernel, mass, compiled=compiled)
        stage.advance(n_features)
        return TargetDistributions(values[None], np.arange(n_samples, dtype=np.int64))
    codes, counts = class_codes(y)
    out = np.empty((n_features, len(counts)))
    compiled = worth_a_kernel(n_features, n_samples)

    def compute(features: slice) -> int:
        columns = _Columns.taken(X, features)
        own = codes[columns.samples]
        out[features] = class_shares(
            columns.indptr, columns.data, own, counts, kernel, mass, compiled=compiled
        )
        return len(columns.indptr) - 1

    for done in work.map(compute, _feature_spans(X)):
        stage.advance(done)
    return TargetDistributions.compress(out, codes)


@dataclass(frozen=True)
class _Columns:
    """Some columns of X as in CSC; those of a dense X store every sample."""

    indptr: Ints
    data: Floats
    samples: Ints
    stored: slice
    """Where the entries lie among those of all columns."""

    @classmethod
    def taken(cls, X: Data, features: slice) -> _Columns:
        """From dense or sparse data."""
        if sp.issparse(X):
            bounds = X.indptr[features.start : features.stop + 1].astype(np.int64)
            stored = slice(bounds[0], bounds[-1])
            return cls(bounds - bounds[0], X.data[stored], X.indices[stored], stored)
        n_samples, n = X.shape[0], features.stop - features.start
        F = np.ascontiguousarray(X[:, features].T, dtype=np.float64)
        stored = slice(features.start * n_samples, features.stop * n_samples)
        samples = np.tile(np.arange(n_samples), n)
        return cls(np.arange(n + 1) * n_samples, F.ravel(), samples, stored)


def _feature_spans(X: Data) -> list[slice]:
    entries = X.nnz / X.shape[1] if sp.issparse(X) else X.shape[0]
    return spans(X.shape[1], max(1, int(ENTRIES_PER_TASK // max(entries, 1))))


def _require_dense(shape: tuple[int, int], budget: int | float | str | None) -> None:
    require(
        8 * shape[0] * shape[1],
        memory_budget(budget),
        f"A dense array of {shape[0]} x {shape[1]} distributions",
        "use StructuralInformation.from_data, which keeps sparse data sparse",
    )
