"""Distributions of some of the features, as a worker of a cluster holds them, and what is told of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from infused._runtime.arrays import settled
from infused._runtime.progress import Stage
from infused._runtime.threads import workers
from infused._typing import Floats, Ints
from infused.graphs.distributions import feature_graphs, target_graphs
from infused.graphs.storage import (
    DenseDistributions,
    FeatureDistributions,
    SparseDistributions,
    TargetDistributions,
)
from infused.graphs.validation import Graph, Target, check_data, is_mostly_zero
from infused.information.routes import sample_step

__all__ = ["Chunk", "Summary", "joined", "make_chunk", "picked", "stored_by_sample", "summary_of"]


@dataclass(frozen=True)
class Chunk:
    """Distributions of some features and of their target graphs."""

    features: FeatureDistributions
    target: TargetDistributions
    n_nonzero: int
    """Entries of X that are not zero."""
    given_sparse: bool
    """Whether X itself is sparse."""
    start: int
    """The place of the first feature among all."""
    n_all: int
    """All features."""


@dataclass(frozen=True)
class Summary:
    """What is told of a chunk, to be added up over all."""

    n_features: int
    n_samples: int
    n_nonzero: int
    given_sparse: bool
    sparse: bool
    """Whether the distributions are stored sparse."""
    low: float
    high: float
    above: float
    """The largest entry of a target distribution."""
    shared_target: bool
    first_target: Floats
    n_off_base: int
    """Of the sampled features, entries off their base."""
    n_sampled: int
    """Of the sampled features, all entries."""

    @staticmethod
    def mostly_zero(parts: Sequence[Summary]) -> bool:
        """Whether all the data are treated as sparse: they came so, or most of them is zero."""
        if any(part.given_sparse for part in parts):
            return True
        n_entries = sum(part.n_features * part.n_samples for part in parts)
        return is_mostly_zero(sum(part.n_nonzero for part in parts), n_entries)


def make_chunk(
    block: Any, how: tuple[Any, Graph, Target, int], start: int, sparse: bool | None = None
) -> Chunk:
    """Distributions of a block of X; ``sparse`` of None stores them as these features alone suggest."""
    y, graph, target, n_all = how
    X, y = check_data(settled(block)), settled(y)
    given_sparse = sp.issparse(X)
    n_nonzero = int(X.nnz if given_sparse else np.count_nonzero(X))
    if not given_sparse and (is_mostly_zero(n_nonzero, X.size) if sparse is None else sparse):
        X = sp.csc_array(X, dtype=np.float64)
    mass, stage = float(X.shape[0]), Stage(None, "", 1)
    with workers(1) as work:
        T = target_graphs(X, y, graph, target, work, stage, mass=mass)
        P = feature_graphs(X, graph, work, stage, mass=mass)
    return Chunk(P, T, n_nonzero, given_sparse, start, n_all)


def summary_of(chunk: Chunk) -> Summary:
    """What the choice of a route needs to know of a chunk."""
    P, T = chunk.features, chunk.target
    n_off_base = n_sampled = 0
    if isinstance(P, DenseDistributions):
        step = sample_step(chunk.n_all)
        values = P.values[-chunk.start % step :: step]
        if len(values):
            sample = SparseDistributions.from_dense(values)
            n_off_base, n_sampled = len(sample.values), values.size
    low, high = P.bounds()
    return Summary(
        n_features=P.shape[0],
        n_samples=P.shape[1],
        n_nonzero=chunk.n_nonzero,
        given_sparse=chunk.given_sparse,
        sparse=isinstance(P, SparseDistributions),
        low=low,
        high=high,
        above=float(T.values.max()),
        shared_target=T.shared,
        first_target=T.values[0],
        n_off_base=n_off_base,
        n_sampled=n_sampled,
    )


def stored_by_sample(chunk: Chunk) -> Floats:
    """Of each sample, how many features of the chunk have it off their base."""
    P = chunk.features
    sparse = P if isinstance(P, SparseDistributions) else SparseDistributions.from_dense(P.values)
    return sparse.stored_by_sample()


def joined(chunks: Sequence[Chunk], shared_target: bool) -> tuple[FeatureDistributions, TargetDistributions]:
    """The distributions of several chunks, one below the other."""
    return _joined_features([chunk.features for chunk in chunks]), _joined_targets(chunks, shared_target)


def picked(chunk_of: Sequence[int], rows: Ints, *chunks: Chunk) -> Chunk:
    """A chunk of single features: each by its chunk among those given, and by its place in it."""
    order = np.concatenate([np.flatnonzero(np.asarray(chunk_of) == n) for n in range(len(chunks))])
    back = np.argsort(order)
    parts = [_rows_of(chunk, rows[np.asarray(chunk_of) == n]) for n, chunk in enumerate(chunks)]
    P, T = joined(parts, shared_target=False)
    one = chunks[0]
    return _rows_of(Chunk(P, T, 0, one.given_sparse, 0, one.n_all), back)


def _rows_of(chunk: Chunk, rows: Ints) -> Chunk:
    P, T = chunk.features, chunk.target
    values = np.broadcast_to(T.values, (P.shape[0], T.values.shape[1]))[rows]
    target = TargetDistributions(np.ascontiguousarray(values), T.codes)
    if isinstance(P, DenseDistributions):
        return Chunk(DenseDistributions(P.values[rows]), target, 0, chunk.given_sparse, 0, chunk.n_all)
    lengths = np.diff(P.indptr)[rows]
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    inside = np.arange(indptr[-1]) - np.repeat(indptr[:-1], lengths)
    stored = np.repeat(P.indptr[:-1][rows], lengths) + inside
    features = SparseDistributions(P.base[rows], indptr, P.samples[stored], P.values[stored], P.n_samples)
    return Chunk(features, target, 0, chunk.given_sparse, 0, chunk.n_all)


def _joined_features(parts: Sequence[FeatureDistributions]) -> FeatureDistributions:
    dense = [part.values for part in parts if isinstance(part, DenseDistributions)]
    if dense:
        return DenseDistributions(settled(dense[0]) if len(dense) == 1 else np.concatenate(dense))
    sparse = [part for part in parts if isinstance(part, SparseDistributions)]
    lengths = np.concatenate([np.diff(part.indptr) for part in sparse])
    return SparseDistributions(
        np.concatenate([part.base for part in sparse]),
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        np.concatenate([part.samples for part in sparse]),
        np.concatenate([part.values for part in sparse]),
        sparse[0].n_samples,
    )


def _joined_targets(chunks: Sequence[Chunk], shared: bool) -> TargetDistributions:
    first = chunks[0].target
    codes = settled(first.codes)
    if shared:
        return TargetDistributions(first.values[:1].copy(), codes)
    n_groups = first.values.shape[1]
    rows = [np.broadcast_to(chunk.target.values, (chunk.features.shape[0], n_groups)) for chunk in chunks]
    return TargetDistributions(np.concatenate(rows), codes)
