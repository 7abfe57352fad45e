"""From features to graphs to distributions.

Feature i becomes a graph whose vertices are the samples and whose edges compare them (Eq. 1 of the paper);
the steady state of the random walk on that graph is its distribution, p_a = d_a / sum(d). The target graph
of feature i is the graph of its class means.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from infused._kernels.class_means import dense_classes, sparse_classes
from infused._kernels.steady_state import dense_features, sparse_features
from infused._runtime.memory import memory_budget, require
from infused._runtime.progress import ProgressCallback, Stage
from infused._runtime.threads import Workers, spans, workers
from infused._typing import Data, Floats
from infused.graphs.storage import (
    DenseDistributions,
    FeatureDistributions,
    SparseDistributions,
    TargetDistributions,
)
from infused.graphs.validation import Graph, Target, check_choice, check_data, class_codes, resolve_target

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
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
        Finite numbers. Sparse input is not made dense.
    graph : {"kernel", "euclidean"}
        Compare samples by the kernel K above (the paper's Eq. 1) or by the distance A itself.
    n_jobs : int
        Threads over features, as in joblib; -1 for every core.
    memory_budget : int or str, optional
        Bytes (or like ``"4GB"``) that the result may take; by default half of the free memory.
    progress : callable, optional
        Called as ``progress(fraction, message)``; return False to cancel.

    Returns
    -------
    ndarray of shape (n_samples, n_features)
        Columns sum to one. A constant feature has the uniform distribution; equal values have equal shares,
        to the last bit.

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

    With classes, the entry :math:`f_{ia}` becomes the mean of feature i over the class of sample a, and the
    graph of those means is built as in :func:`feature_distributions`. With a real-valued target the graph is
    that of y itself, the same for every feature.

    Parameters
    ----------
    X, graph, n_jobs, memory_budget, progress
        As in :func:`feature_distributions`.
    y : array of shape (n_samples,)
        Class labels of any kind, or real values.
    target : {"auto", "classes", "real"}
        How to read y; "auto" takes fractional numbers as real values and everything else as classes.

    Returns
    -------
    ndarray of shape (n_samples, n_features)
        Columns sum to one. Class means that differ by no more than rounding count as equal.

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
    check_choice("graph", graph, ("kernel", "euclidean"))
    kernel = graph == "kernel"
    n_samples, n_features = X.shape
    if sp.issparse(X):
        return _sparse_feature_graphs(X, kernel, work, stage, mass)
    out = np.empty((n_features, n_samples))

    def compute(features: slice) -> int:
        F = np.ascontiguousarray(X[:, features].T, dtype=np.float64)
        dense_features(F, np.argsort(F, axis=1), kernel, mass, out[features])
        return len(F)

    for done in work.map(compute, _feature_spans(X)):
        stage.advance(done)
    return DenseDistributions(out)


def _sparse_feature_graphs(
    X: sp.csc_array, kernel: bool, work: Workers, stage: Stage, mass: float
) -> SparseDistributions:
    n_samples, n_features = X.shape
    indptr = X.indptr.astype(np.int64)
    base, values = np.empty(n_features), np.empty(X.nnz)

    def compute(features: slice) -> int:
        bounds = indptr[features.start : features.stop + 1]
        stored = slice(bounds[0], bounds[-1])
        sparse_features(
            bounds - bounds[0], X.data[stored], n_samples, kernel, mass, values[stored], base[features]
        )
        return len(bounds) - 1

    for done in work.map(compute, _feature_spans(X)):
        stage.advance(done)
    return SparseDistributions(base, indptr, X.indices.astype(np.int64), values, n_samples)


def target_graphs(
    X: Data, y: Any, graph: Graph, target: Target, work: Workers, stage: Stage, *, mass: float
) -> TargetDistributions:
    """Target distributions of checked data, each of total ``mass``."""
    check_choice("graph", graph, ("kernel", "euclidean"))
    y, classes = resolve_target(X, y, target)
    kernel = graph == "kernel"
    n_samples, n_features = X.shape
    if not classes:
        F = y.reshape(1, -1)
        out = np.empty_like(F)
        dense_features(F, np.argsort(F, axis=1), kernel, mass, out)
        stage.advance(n_features)
        return TargetDistributions(out, np.arange(n_samples, dtype=np.int64))
    codes, counts = class_codes(y)
    out = np.empty((n_features, len(counts)))
    entry_codes = codes[X.indices] if sp.issparse(X) else codes

    def compute(features: slice) -> int:
        if sp.issparse(X):
            bounds = X.indptr[features.start : features.stop + 1].astype(np.int64)
            stored = slice(bounds[0], bounds[-1])
            sparse_classes(
                bounds - bounds[0], X.data[stored], entry_codes[stored], counts, kernel, mass, out[features]
            )
        else:
            F = np.ascontiguousarray(X[:, features].T, dtype=np.float64)
            dense_classes(F, codes, counts, kernel, mass, out[features])
        return len(out[features])

    for done in work.map(compute, _feature_spans(X)):
        stage.advance(done)
    return TargetDistributions.compress(out, codes)


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
