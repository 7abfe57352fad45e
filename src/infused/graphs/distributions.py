"""Distributions of many graphs, in the two shapes that data takes.

Everything inside infused is features x samples and scaled so that a distribution has mean one: the numbers
then do not shrink as samples are added, and the uniform distribution is all ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from infused import _kernels
from infused._runtime.messages import check_choice
from infused._runtime.progress import ProgressCallback, Stage
from infused._runtime.threads import Workers, memory_budget, require, spans, workers
from infused._typing import Array, Data, Floats, Ints
from infused.graphs.validation import GRAPHS, Graph, Target, check_data, class_codes, resolve_target


@dataclass(frozen=True)
class DenseDistributions:
    """One row per feature."""

    values: Floats
    """features x samples."""

    @property
    def shape(self) -> tuple[int, int]:
        """Return (features, samples)."""
        n_features, n_samples = self.values.shape
        return n_features, n_samples

    def bounds(self) -> tuple[float, float]:
        """Return the smallest and the largest entry."""
        return float(self.values.min()), float(self.values.max())

    def dense(self) -> Floats:
        """Return a dense array, features x samples."""
        return self.values


@dataclass(frozen=True)
class SparseDistributions:
    """One value that most samples of a feature share, and the samples that differ from it."""

    base: Floats
    """The shared value of each feature."""
    indptr: Ints
    """Where the samples of each feature start, as in CSC."""
    samples: Ints
    """The samples that differ."""
    values: Floats
    """Their entries."""
    n_samples: int

    @property
    def shape(self) -> tuple[int, int]:
        """Return (features, samples)."""
        return len(self.base), self.n_samples

    @property
    def owners(self) -> Ints:
        """Return the feature of each stored entry."""
        return np.repeat(np.arange(len(self.base), dtype=np.int64), np.diff(self.indptr))

    def bounds(self) -> tuple[float, float]:
        """Return the smallest and the largest entry; the base counts where at least one sample has it."""
        base = self.base[np.diff(self.indptr) < self.n_samples]
        parts = [part for part in (base, self.values) if len(part)]
        return float(min(part.min() for part in parts)), float(max(part.max() for part in parts))

    def dense(self) -> Floats:
        """Return a dense array, features x samples."""
        out = np.repeat(self.base[:, None], self.n_samples, axis=1)
        out[self.owners, self.samples] = self.values
        return out

    @classmethod
    def from_dense(cls, values: Floats) -> SparseDistributions:
        """Take each row's median as its base: where more than half of a row is equal, it is that value."""
        n_features, n_samples = values.shape
        middle = n_samples // 2
        base = np.array([np.partition(row, middle)[middle] for row in values])
        owners, samples = np.nonzero(values != base[:, None])
        indptr = np.zeros(n_features + 1, np.int64)
        np.cumsum(np.bincount(owners, minlength=n_features), out=indptr[1:])
        return cls(base, indptr, samples.astype(np.int64), values[owners, samples], n_samples)


FeatureDistributions = DenseDistributions | SparseDistributions


@dataclass(frozen=True)
class TargetDistributions:
    """Target graphs: samples of one group (a class, or a sample by itself) share one entry."""

    values: Floats
    """features x groups, or 1 x groups when every feature has the same target graph."""
    codes: Ints
    """The group of each sample."""

    @property
    def shared(self) -> bool:
        """Tell whether every feature has the same target graph."""
        return len(self.values) == 1

    def rows(self, features: slice | Ints) -> Floats:
        """Return the rows of some features; the one row there is, when shared."""
        return self.values if self.shared else self.values[features]

    def dense(self, n_features: int) -> Floats:
        """Return a dense array, features x samples."""
        return np.broadcast_to(self.values, (n_features, self.values.shape[1]))[:, self.codes]

    @classmethod
    def compress(cls, values: Floats, codes: Ints) -> TargetDistributions:
        """Keep a single row when all are equal to the last bit."""
        return cls(values[:1].copy() if bool((values == values[0]).all()) else values, codes)

    @classmethod
    def from_dense(cls, values: Floats) -> TargetDistributions:
        """Find the groups: samples whose entries agree in every feature."""
        by_sample = np.ascontiguousarray(values.T)
        records = by_sample.view(np.dtype((np.void, by_sample.shape[1] * by_sample.itemsize))).ravel()
        _, first, codes = np.unique(records, return_index=True, return_inverse=True)
        return cls.compress(np.ascontiguousarray(values[:, first]), codes.ravel().astype(np.int64))


ENTRIES_PER_TASK = 2**18


def feature_distributions(
    X: Any,
    *,
    graph: Graph = "kernel",
    n_jobs: int | None = -1,
    progress: ProgressCallback | None = None,
) -> Floats:
    r"""Compute the distribution of each feature's graph, in O(M log M) per feature.

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
    _require_dense(X.shape)
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
    progress: ProgressCallback | None = None,
) -> Floats:
    r"""Compute the distribution of each feature's target graph.

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
    _require_dense(X.shape)
    with workers(n_jobs) as work:
        stage = Stage(progress, "building target graphs", X.shape[1])
        graphs = target_graphs(X, y, graph, target, work, stage, mass=1.0)
    return graphs.dense(X.shape[1]).T


def feature_graphs(
    X: Data, graph: Graph, work: Workers, stage: Stage, *, mass: float
) -> FeatureDistributions:
    """Compute feature distributions of checked data, each of total ``mass``; sparse data stays sparse."""
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
    """Compute target distributions of checked data, each of total ``mass``."""
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
        """Take some columns of dense or sparse data."""
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


def _require_dense(shape: tuple[int, int]) -> None:
    require(
        8 * shape[0] * shape[1],
        memory_budget(),
        f"A dense array of {shape[0]} x {shape[1]} distributions",
        "use StructuralInformation.from_data, which keeps sparse data sparse",
    )


FEW_ENTRIES = 2**17  # that plain NumPy takes no longer for than it takes to load a kernel
FEW_SAMPLES = 2**12  # the same, where each sample is a step
EPS = 2.0**-52
SPLITTER = 2.0**27 + 1.0


def worth_a_kernel(n_features: int, n_samples: int) -> bool:
    """Tell whether there is so much to do that a kernel should be loaded, or compiled."""
    return n_samples > FEW_SAMPLES or n_features * n_samples > FEW_ENTRIES


def _power_of_two_scales(smallest: Floats, greatest: Floats) -> Floats:
    """Return powers of two that bring each column near one, so that no difference or sum overflows."""
    largest = np.maximum(np.abs(smallest), np.abs(greatest))
    exponent = np.clip(np.frexp(largest)[1], -1000, 1000)
    return np.where(largest == 0.0, 1.0, np.ldexp(1.0, -exponent))


def feature_shares(
    indptr: Ints, data: Floats, n_samples: int, kernel: bool, mass: float, *, compiled: bool
) -> tuple[Floats, Floats]:
    """Compute distributions of the columns of a CSC matrix, of total ``mass``: of each entry, and of a zero.

    Where nothing is zero, that is the share of the smallest entry. ``compiled`` says whether the loops are.
    """
    smallest, greatest = _ends(indptr, data, n_samples)
    scales = _power_of_two_scales(smallest, greatest)
    data = data * np.repeat(scales, np.diff(indptr))
    if compiled:
        out, base, scratch = np.empty(len(data)), np.empty(len(scales)), np.empty((5, n_samples + 1))
        order = _order_of_columns(indptr, data, n_samples)
        _kernels.column_shares(indptr, data, order, n_samples, kernel, mass, scratch, out, base)
        return out, base
    stored = np.arange(n_samples) < np.diff(indptr)[:, None]
    F = np.zeros(stored.shape)
    F[stored] = data
    shares, base = _row_shares(F, kernel, mass)
    return shares[stored], base


def _order_of_columns(indptr: Ints, data: Floats, n_samples: int) -> Ints:
    """Sort the entries of each column; return their order, counted from its first."""
    if len(data) == n_samples * (len(indptr) - 1):
        return np.argsort(data.reshape(-1, n_samples), axis=1).ravel()
    order = np.empty(len(data), np.int64)
    for start, stop in pairwise(indptr.tolist()):
        order[start:stop] = np.argsort(data[start:stop])
    return order


def _row_shares(F: Floats, kernel: bool, mass: float) -> tuple[Floats, Floats]:
    """Compute the distributions of the rows of F, and the share of a zero in each."""
    order = np.argsort(F, axis=1)
    ordered = np.take_along_axis(F, order, axis=1)
    place = np.zeros(F.shape, np.int64)
    np.cumsum(ordered[:, 1:] != ordered[:, :-1], axis=1, out=place[:, 1:])
    n_levels = int(place.max(initial=0)) + 1
    cell = np.arange(len(F))[:, None] * n_levels + place
    count = np.bincount(cell.ravel(), minlength=len(F) * n_levels).reshape(len(F), n_levels)
    level = np.zeros(count.shape)
    np.put_along_axis(level, place, ordered, axis=1)
    gap = np.where(count[:, 1:] > 0, level[:, 1:] - level[:, :-1], 0.0)
    share = steady_states(gap, count.astype(np.float64), kernel, mass)
    out = np.empty(F.shape)
    np.put_along_axis(out, order, np.take_along_axis(share, place, axis=1), axis=1)
    zeros = ordered == 0.0
    first = np.where(zeros.any(axis=1), zeros.argmax(axis=1), 0)
    every = np.arange(len(F))
    return out, share[every, place[every, first]]


def class_shares(
    indptr: Ints, data: Floats, code: Ints, class_count: Floats, kernel: bool, mass: float, *, compiled: bool
) -> Floats:
    """Compute target distributions of the columns of a CSC matrix: columns x classes, of one sample each.

    The graph does not change when a feature is scaled, so a difference of class means that is only rounding
    would become structure. Sums are therefore kept in double-double precision, relative to one of the values,
    and gaps between means below 4 M eps (max f - min f) count as zero. ``code`` holds the class of each
    entry; ``compiled`` says whether its loop over entries is.
    """
    n_samples, sizes = class_count.sum(), np.diff(indptr)
    smallest, greatest = _ends(indptr, data, n_samples)
    scales = _power_of_two_scales(smallest, greatest)
    whole = sizes == n_samples
    shift = np.zeros(len(sizes))
    shift[whole] = data[indptr[:-1][whole]] * scales[whole]
    high, low = np.zeros((len(sizes), len(class_count))), np.zeros((len(sizes), len(class_count)))
    sums = _kernels.class_sums if compiled else _class_sums
    sums(indptr, data * np.repeat(scales, sizes), code, shift, high, low)
    mean = high / class_count
    back, rounding = _two_product(mean, np.broadcast_to(class_count, mean.shape))
    low = ((high - back) - rounding + low) / class_count
    noise = 4.0 * n_samples * EPS * (greatest * scales - smallest * scales)
    rank = np.argsort(mean, axis=1)
    mean, low = np.take_along_axis(mean, rank, axis=1), np.take_along_axis(low, rank, axis=1)
    gap = (mean[:, 1:] - mean[:, :-1]) + (low[:, 1:] - low[:, :-1])
    gap[~(gap > noise[:, None])] = 0.0
    out = np.empty(mean.shape)
    np.put_along_axis(out, rank, steady_states(gap, class_count[rank], kernel, mass), axis=1)
    return out


def steady_states(gap: Floats, count: Floats, kernel: bool, mass: float) -> Floats:
    """Compute the shares of the distinct values of each row, of total ``mass``; without ``kernel`` Euclidean.

    A row with fewer values than others ends with counts and gaps of zero. Only ratios of gaps matter.
    Dividing by the largest, rather than by a power of two, makes the graphs of all two-valued features with
    the same counts equal to the last bit.
    """
    widest = gap.max(axis=1, initial=0.0)[:, None]
    gap = np.divide(gap, widest, out=np.zeros_like(gap), where=widest > 0)
    share = np.ones_like(count)
    if kernel:
        norm = np.sqrt(_squared_distances(count, gap))
        norm[widest[:, 0] == 0] = 1.0
        share = _distances(count * _distances(count / norm, gap), gap) / norm
    else:
        share = _distances(count, gap)
    share[widest[:, 0] == 0] = 1.0
    return np.asarray(share * (mass / _running(count * share)[:, -1:]))


def _running(a: Floats) -> Floats:
    """Sum from the left, one term after the other, as a loop would."""
    return np.asarray(np.cumsum(a, axis=1))


def _distances(weight: Floats, gap: Floats) -> Floats:
    """Compute out_a = sum_b weight_b |f_a - f_b|."""
    out = np.zeros_like(weight)
    out[:, 1:] = _running(gap * _running(weight[:, :-1]))
    out[:, :-1] += _running(gap[:, ::-1] * _running(weight[:, :0:-1]))[:, ::-1]
    return out


def _squared_distances(weight: Floats, gap: Floats) -> Floats:
    """Compute out_a = sum_b weight_b (f_a - f_b)^2, by S2' = S2 + 2 g S1 + g^2 W."""
    out = np.zeros_like(weight)
    out[:, 1:] = _second(weight[:, :-1], gap)
    out[:, :-1] += _second(weight[:, :0:-1], gap[:, ::-1])[:, ::-1]
    return out


def _second(weight: Floats, gap: Floats) -> Floats:
    inside = _running(weight)
    first = np.zeros_like(inside)
    first[:, 1:] = _running(gap * inside)[:, :-1]
    return _running(2.0 * gap * first + gap * gap * inside)


def _ends(indptr: Ints, data: Floats, n_samples: float) -> tuple[Floats, Floats]:
    """Return the smallest and the greatest value of each column; values that are not stored are zero."""
    sizes = np.diff(indptr)
    smallest, greatest = np.zeros(len(sizes)), np.zeros(len(sizes))
    filled = sizes > 0
    if filled.any():
        starts = indptr[:-1][filled]
        smallest[filled], greatest[filled] = (
            np.minimum.reduceat(data, starts),
            np.maximum.reduceat(data, starts),
        )
    holes = sizes < n_samples
    smallest[holes], greatest[holes] = np.minimum(smallest[holes], 0.0), np.maximum(greatest[holes], 0.0)
    return smallest, greatest


def _class_sums(indptr: Ints, data: Floats, code: Ints, shift: Floats, high: Floats, low: Floats) -> None:
    """Add what lies above the shift to the sum of its class, and the rounding errors to ``low``."""
    sizes = np.diff(indptr)
    for step in range(int(sizes.max(initial=0))):
        rows: Array = np.flatnonzero(sizes > step)
        entry = indptr[rows] + step
        deviation, lost = _two_sum(data[entry], -shift[rows])
        cell = rows, code[entry]
        high[cell], rounding = _two_sum(high[cell], deviation)
        low[cell] += rounding + lost


def _two_sum(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return the rounded sum and its rounding error (Knuth)."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def _two_product(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return the rounded product and its rounding error (Dekker)."""
    p = a * b
    t = SPLITTER * a
    a_high = t - (t - a)
    a_low = a - a_high
    t = SPLITTER * b
    b_high = t - (t - b)
    b_low = b - b_high
    return p, ((a_high * b_high - p) + a_high * b_low + a_low * b_high) + a_low * b_low
