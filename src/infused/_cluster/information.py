"""U on a cluster, by tiles, with the bits of U here.

::

    X, in blocks of TILE features      read or received by the workers, never kept
      -> chunks of distributions       kept by the workers
      -> a summary of each             added up here: one box, one rank, one route for all
      -> a task for each pair of them  one tile of U

A tile is computed from two chunks by the very functions that compute it here, on arrays of the same shapes:
its last bits are the same, however many workers there are.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial, reduce
from operator import getitem
from os import PathLike, fspath
from typing import Any

import numpy as np
import scipy.sparse as sp

from infused._cluster.tasks import DaskCluster, Held
from infused._runtime.checks import settled
from infused._runtime.messages import extra
from infused._runtime.processes import is_collection
from infused._runtime.progress import Stage
from infused._runtime.threads import one_blas_thread, spans, workers
from infused._typing import Floats, Ints
from infused.exceptions import InputError
from infused.graphs.distributions import (
    DenseDistributions,
    FeatureDistributions,
    SparseDistributions,
    TargetDistributions,
    feature_graphs,
    target_graphs,
)
from infused.graphs.validation import Graph, Target, check_data, is_mostly_zero, resolve_target
from infused.information.pair_sums import CRITERIA, TILE, PairSumProblem, block_of
from infused.information.routes import Outline, Plan, build_route, plan_route, sample_step, stored_by_sample
from infused.information.separable import Box
from infused.information.structural import GRAPHS_SHARE, Options, StructuralInformation


def feature_blocks(X: Any, width: int) -> list[Callable[[], Any]]:
    """List functions that give each block of so many features: of a Dask array lazily, of others a part."""
    if not is_collection(X):
        return [partial(getitem, X, np.s_[:, span]) for span in spans(X.shape[1], width)]
    if getattr(X, "ndim", 0) != 2 or any(np.isnan(size) for size in X.shape):
        raise InputError("X must have two dimensions of known sizes: call compute_chunk_sizes() on it first")
    X = X.rechunk((-1, width))
    return [partial(getitem, X.blocks, (0, j)) for j in range(X.numblocks[1])]


@dataclass(frozen=True)
class Common:
    """What all tiles share."""

    plan: Plan
    criterion: str
    shared_target: bool


class DistributedInformation(StructuralInformation):
    """The structural information of data on a cluster; made by :meth:`StructuralInformation.from_data`."""

    def __init__(self, X: Any, y: Any, graph: Graph, target: Target, options: Options, cluster: DaskCluster):
        if not is_collection(X):
            X = check_data(X)
        blocks = [cluster.passing(make) for make in feature_blocks(X, TILE)]
        self._n_samples, self._n_features = (int(size) for size in X.shape)
        if self._n_samples < 2:
            raise InputError(f"X has {self._n_samples} samples: two are needed")
        resolve_target(np.empty(self._n_samples), y, target)
        self._options, self._cluster = options, cluster
        how = cluster.put((np.asarray(y), graph, target, self._n_features))
        summaries = self._make_chunks(blocks, how)
        kind = CRITERIA[options.criterion]
        outline = joined_outline(summaries, self.shape[0], kind.weights, self._stored)
        with one_blas_thread():  # factors, too, hang on the number of threads
            self._plan = plan_route(outline, options.route, options.tol / kind.largest)
        first = summaries[0].first_target
        shared = all(one.shared_target and np.array_equal(one.first_target, first) for one in summaries)
        self._common = cluster.put(Common(self._plan, options.criterion, shared))
        self._start = GRAPHS_SHARE

    def _computed(self, ordered: bool) -> Generator[tuple[tuple[slice, slice], Floats]]:
        """Yield each tile on and above the diagonal with its place, as they are finished or in order."""
        pairs, stage = self._upper_tiles(), self._stage_of_all()
        run = self._cluster.in_order if ordered else self._cluster.finished
        with closing(run(compute_tile, (self._task(*pair) for pair in pairs))) as tiles:
            for place, block in tiles:
                stage.advance(block.size * self._n_samples)
                yield pairs[place], block

    def to_zarr(self, path: str | PathLike[str]) -> None:
        """Write U to a Zarr array, a tile at a time, each by the worker that computed it.

        Parameters
        ----------
        path : path
            A folder that this process and all workers see. What is there is replaced.

        See Also
        --------
        to_dask : U as a lazy array.
        """
        pairs, stage = self._upper_tiles(), self._stage_of_all()
        open_array = extra("zarr").open_array
        open_array(fspath(path), mode="w", shape=self.shape, chunks=(TILE, TILE), dtype="f8")
        tasks = ((fspath(path), pair, *self._task(*pair)) for pair in pairs)
        with closing(self._cluster.finished(write_tile, tasks)) as written:
            for place, _ in written:
                rows, columns = pairs[place]
                stage.advance((rows.stop - rows.start) * (columns.stop - columns.start) * self._n_samples)

    def to_dask(self) -> Any:
        """Return U as a Dask array, whose tiles are computed when they are needed.

        Returns
        -------
        dask.array.Array of shape (n_features, n_features)
            Its chunks are the tiles. It uses what this object holds on the cluster.

        See Also
        --------
        to_zarr : Writes it; goes on where a worker is lost.
        """
        array, delayed = extra("dask.array"), extra("dask").delayed
        tile, edges = delayed(compute_tile, pure=False), spans(self._n_features, TILE)
        made: dict[tuple[int, int], Any] = {}
        for n, rows in enumerate(edges):
            for m, columns in enumerate(edges[n:], n):
                task = (one.future() for one in self._task(rows, columns))
                shape = rows.stop - rows.start, columns.stop - columns.start
                made[n, m] = array.from_delayed(tile(*task), shape, dtype=np.float64)
        every = range(len(edges))
        return array.block([[made[n, m] if n <= m else made[m, n].T for m in every] for n in every])

    def _fill_columns(self, out: Floats, chosen: Ints, stage: Stage) -> None:
        rows = spans(self._n_features, TILE)
        for part in spans(len(chosen), TILE):
            those = self._picked(chosen[part])
            tasks = ((self._common, chunk, those) for chunk in self._chunks)
            with closing(self._cluster.finished(compute_tile, tasks)) as blocks:
                for n, block in blocks:
                    out[rows[n], part] = block
                    stage.advance(block.size * self._n_samples)

    def _picked(self, chosen: Ints) -> Held:
        """Make a chunk of these features, on the workers."""
        places = np.unique(chosen // TILE)
        there = [int(np.searchsorted(places, feature // TILE)) for feature in chosen]
        return self._cluster.defer(picked, there, chosen % TILE, *(self._chunks[place] for place in places))

    def _task(self, rows: slice, columns: slice) -> tuple[Held, ...]:
        first, second = self._chunks[rows.start // TILE], self._chunks[columns.start // TILE]
        return (self._common, first) if rows is columns else (self._common, first, second)

    def _make_chunks(self, blocks: list[Held], how: Held) -> list[Summary]:
        """Make distributions on the workers, and a summary of each chunk here."""

        def chunk(n: int, sparse: bool | None) -> Held:
            return self._cluster.defer(make_chunk, blocks[n], how, n * TILE, sparse)

        self._chunks = [chunk(n, None) for n in range(len(blocks))]
        stage = Stage(self._options.progress, "building graphs", self._n_features, 0.0, GRAPHS_SHARE)
        summaries: dict[int, Summary] = {}

        def summarise(places: list[int]) -> None:
            tasks = ((self._chunks[n],) for n in places)
            with closing(self._cluster.finished(summary_of, tasks)) as results:
                for n, found in results:
                    summaries[places[n]] = found
                    stage.advance(found.n_features)

        summarise(list(range(len(blocks))))
        sparse = Summary.mostly_zero(list(summaries.values()))
        others = [n for n, found in summaries.items() if found.sparse != sparse]
        for n in others:
            self._chunks[n] = chunk(n, sparse)
        summarise(others)
        return [summaries[n] for n in range(len(blocks))]

    def _stored(self) -> Floats:
        tasks = ((chunk,) for chunk in self._chunks)
        with closing(self._cluster.finished(stored_in_chunk, tasks)) as counts:
            return reduce(np.add, (count for _, count in counts))


def joined_outline(
    parts: list[Summary], n_features: int, weights: tuple[float, float], stored: Callable[[], Floats]
) -> Outline:
    """Add up the outline of a problem from its chunks."""
    low, high = min(part.low for part in parts), max(part.high for part in parts)
    above = max(part.above for part in parts) if weights[0] else 0.0

    def off_base() -> float | None:
        """Return the share of the features that are looked at, whichever chunks they are in."""
        if parts[0].sparse:
            return None
        return sum(part.n_off_base for part in parts) / sum(part.n_sampled for part in parts)

    shape, n_groups = (n_features, parts[0].n_samples), len(parts[0].first_target)
    return Outline(shape, n_groups, weights, Box((low, high + above), (low, high)), off_base, stored)


def compute_tile(common: Common, rows: Chunk, columns: Chunk | None = None) -> Floats:
    """Compute a tile of U, on a worker: of two chunks of features, or within one."""
    kind = CRITERIA[common.criterion]
    P, T = joined([rows] if columns is None else [rows, columns], common.shared_target)
    n = rows.features.shape[0]
    here = slice(0, n)
    there = here if columns is None else slice(n, P.shape[0])
    with workers(1) as work:
        sums = build_route(common.plan, PairSumProblem(P, T, *kind.weights), None, work)
        return block_of(sums, kind(P, T, work), here, there, work, Stage(None, "", 1))


def write_tile(
    path: str, pair: tuple[slice, slice], common: Common, rows: Chunk, columns: Chunk | None = None
) -> None:
    """Write a tile of U to its place, and mirrored, on a worker."""
    block = compute_tile(common, rows, columns)
    array = extra("zarr").open_array(path, mode="r+")
    array[pair[0], pair[1]] = block
    if columns is not None:
        array[pair[1], pair[0]] = block.T


@dataclass(frozen=True)
class Summary:
    """What is known of a chunk, to be added up over all."""

    n_features: int
    n_samples: int
    n_nonzero: int
    """Entries of X that are not zero."""
    given_sparse: bool
    """Whether X itself is sparse."""
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
        """Tell whether all the data are treated as sparse: they came so, or most of them is zero."""
        if any(part.given_sparse for part in parts):
            return True
        n_entries = sum(part.n_features * part.n_samples for part in parts)
        return is_mostly_zero(sum(part.n_nonzero for part in parts), n_entries)


@dataclass(frozen=True)
class Chunk:
    """Distributions of some features and of their target graphs."""

    features: FeatureDistributions
    target: TargetDistributions
    summary: Summary | None = None
    """For the choice of a route; None where that is made."""


def make_chunk(
    block: Any, how: tuple[Any, Graph, Target, int], start: int, sparse: bool | None = None
) -> Chunk:
    """Make distributions of a block of X; ``sparse`` of None stores them as these features alone suggest."""
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
    n_off_base = n_sampled = 0
    if isinstance(P, DenseDistributions):
        step = sample_step(n_all)
        values = P.values[-start % step :: step]
        if len(values):
            sample = SparseDistributions.from_dense(values)
            n_off_base, n_sampled = len(sample.values), values.size
    low, high = P.bounds()
    summary = Summary(
        n_features=P.shape[0],
        n_samples=P.shape[1],
        n_nonzero=n_nonzero,
        given_sparse=given_sparse,
        sparse=isinstance(P, SparseDistributions),
        low=low,
        high=high,
        above=float(T.values.max()),
        shared_target=T.shared,
        first_target=T.values[0],
        n_off_base=n_off_base,
        n_sampled=n_sampled,
    )
    return Chunk(P, T, summary)


def summary_of(chunk: Chunk) -> Summary | None:
    """Return the summary of a chunk, on its worker."""
    return chunk.summary


def stored_in_chunk(chunk: Chunk) -> Floats:
    """Count for each sample the features of the chunk that have it off their base."""
    return stored_by_sample(chunk.features)


def joined(chunks: Sequence[Chunk], shared_target: bool) -> tuple[FeatureDistributions, TargetDistributions]:
    """Join the distributions of several chunks, one below the other."""
    return _joined_features([chunk.features for chunk in chunks]), _joined_targets(chunks, shared_target)


def picked(chunk_of: Sequence[int], rows: Ints, *chunks: Chunk) -> Chunk:
    """Make a chunk of single features: each by its chunk among those given, and by its place in it."""
    order = np.concatenate([np.flatnonzero(np.asarray(chunk_of) == n) for n in range(len(chunks))])
    back = np.argsort(order)
    parts = [_rows_of(chunk, rows[np.asarray(chunk_of) == n]) for n, chunk in enumerate(chunks)]
    return _rows_of(Chunk(*joined(parts, shared_target=False)), back)


def _rows_of(chunk: Chunk, rows: Ints) -> Chunk:
    P, T = chunk.features, chunk.target
    values = np.broadcast_to(T.values, (P.shape[0], T.values.shape[1]))[rows]
    target = TargetDistributions(np.ascontiguousarray(values), T.codes)
    if isinstance(P, DenseDistributions):
        return Chunk(DenseDistributions(P.values[rows]), target)
    lengths = np.diff(P.indptr)[rows]
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    inside = np.arange(indptr[-1]) - np.repeat(indptr[:-1], lengths)
    stored = np.repeat(P.indptr[:-1][rows], lengths) + inside
    features = SparseDistributions(P.base[rows], indptr, P.samples[stored], P.values[stored], P.n_samples)
    return Chunk(features, target)


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
