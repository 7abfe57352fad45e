"""Mutual information of discrete features with a target and with each other, in nats.

I(a; b) = log M + (sum n_ab log n_ab - sum n_a log n_a - sum n_b log n_b) / M for counts n of M samples.
n log n comes from a table of integers, in units of a power of two, so that sums are exact: the same counts in
another order give the same information to the last bit, and threads change nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

import numpy as np
from scipy.special import xlogy

from infused import _kernels
from infused._runtime.threads import Workers, memory_budget, require, spans, workers
from infused._typing import Array, Floats, Ints
from infused.information.discrete import Codes, DenseCodes, SparseCodes, StoredCodes

#: Rounding is well below this many nats, and what is smaller is taken for zero.
RESOLUTION = 1e-10
TABLE_BITS = 61  # the sum of two table entries is still an integer of 64 bits
ROWS, TILE = 32, 512  # rows of a matrix to a task; side of the tiles in which it is mirrored


@dataclass(frozen=True)
class MutualInformation:
    """Mutual information of many features with one target, and of one feature with all the others.

    Arrays have one entry for each of all the features; those that ``of`` left out have zero.
    """

    counter: Counter
    table: Ints
    unit: float
    """What one unit of the table is in nats."""
    n_features: int
    feature_sums: Ints
    """sum n log n over the codes of each feature."""
    target_sums: Ints
    """sum n log n over the codes of each feature and the classes."""
    classes_sum: int
    """sum n log n over the classes."""
    pool: Workers

    @classmethod
    def build(cls, codes: Codes, y: Ints, pool: Workers, weights: Ints | None = None) -> MutualInformation:
        """Count the codes of features and target; ``weights`` say how often each sample counts."""
        table, unit, counter, classes = _counted(codes, y, pool, weights)
        target_sums, feature_sums = counter.with_target()
        classes_sum = int(table[classes].sum())
        return cls(counter, table, unit, codes.shape[0], feature_sums, target_sums, classes_sum, pool)

    def restricted(self, features: Ints) -> MutualInformation:
        """Restrict to some of the features."""
        kept = np.isin(self.counter.features, features)
        return replace(
            self,
            counter=self.counter.restricted(features),
            feature_sums=self.feature_sums[kept],
            target_sums=self.target_sums[kept],
        )

    def entropies(self) -> Floats:
        """Compute H(f_j) for every feature j."""
        return self._nats(self.table[-1] - self.feature_sums)

    def with_target(self) -> Floats:
        """Compute I(f_j; y) for every feature j."""
        return self._nats(self.target_sums - self.feature_sums + (self.table[-1] - self.classes_sum))

    def with_feature(self, s: int) -> Floats:
        """Compute I(f_s; f_j) for every feature j."""
        place = int(np.searchsorted(self.counter.features, s))
        sums = self.counter.with_feature(s, self.pool)
        return self._nats(sums - self.feature_sums + (self.table[-1] - self.feature_sums[place]))

    def with_feature_and_target(self, s: int) -> Floats:
        """Compute I({f_s, f_j}; y) for every feature j."""
        joint, pair = self.counter.with_feature_and_target(s, self.pool)
        return self._nats(joint - pair + (self.table[-1] - self.classes_sum))

    def symmetrical_relevance(self, s: int) -> Floats:
        """Compute I({f_s, f_j}; y) / H(f_s, f_j, y) for every feature j."""
        joint, pair = self.counter.with_feature_and_target(s, self.pool)
        information = self._nats(joint - pair + (self.table[-1] - self.classes_sum))
        entropy = self._nats(self.table[-1] - joint)
        return np.divide(information, entropy, out=np.zeros_like(information), where=entropy > 0)

    def _nats(self, sums: Ints) -> Floats:
        result = np.zeros(self.n_features)
        result[self.counter.features] = _nats(sums, self.unit)
        return result


def joint_information(
    codes: Codes,
    y: Ints,
    *,
    weights: Ints | None = None,
    n_jobs: int | None = None,
) -> Floats:
    """Compute W_ij = I({f_i, f_j}; y), features x features, symmetric; the diagonal is I(f_i; y).

    Parameters
    ----------
    codes : DenseCodes or SparseCodes
        See :func:`infused.information.discrete.discretize`.
    y : ndarray of int
        See :func:`infused.information.discrete.target_codes`.
    weights : ndarray of int, optional
        How often each sample counts.
    n_jobs : int, optional
        Threads; -1 for every core.
    """
    n_features, _ = codes.shape
    what = f"The joint information of {n_features} features"
    require(8 * n_features**2, memory_budget(), what, "take fewer features")
    W = np.empty((n_features, n_features))
    with workers(n_jobs) as pool:
        table, unit, counter, classes = _counted(codes, y, pool, weights)
        entropy = table[-1] - table[classes].sum()

        def fill(rows: slice) -> None:
            for i in range(rows.start, rows.stop):
                joint, pair = counter.with_feature_and_target(i, Workers(None), first=i)
                W[i, i:] = _nats(joint - pair + entropy, unit)

        def mirror(rows: slice) -> None:
            for columns in spans(rows.start, TILE):
                W[rows, columns] = W[columns, rows].T
            block = W[rows, rows]
            block[:] = np.triu(block) + np.triu(block, 1).T

        pool.run(fill, spans(n_features, ROWS))
        pool.run(mirror, spans(n_features, TILE))
    return W


def _counted(codes: Codes, y: Ints, pool: Workers, weights: Ints | None) -> tuple[Ints, float, Counter, Ints]:
    """Return n log n and its unit, the counter, and the number of samples of each class."""
    classes = np.bincount(y) if weights is None else sums_of(weights, y)
    table, unit = _n_log_n(int(classes.sum()))
    return table, unit, make_counter(codes, y, table, pool, weights), classes


def _n_log_n(n_samples: int) -> tuple[Ints, float]:
    """Tabulate n log n for n = 0 .. n_samples as integers; return their unit in nats per sample too."""
    n = np.arange(n_samples + 1, dtype=np.float64)
    values = xlogy(n, n)
    shift = TABLE_BITS - math.ceil(math.log2(max(values[-1], 1.0)))
    return np.rint(np.ldexp(values, shift)).astype(np.int64), math.ldexp(1.0, -shift) / n_samples


def _nats(sums: Ints, unit: float) -> Floats:
    nats = sums * unit
    return np.where(nats > RESOLUTION, nats, 0.0)


WIDTH = 1024  # features to a task
BITS = 64
BITS_OF_BYTE = np.array([bin(byte).count("1") for byte in range(256)], np.uint8)
FEW_ENTRIES = 2**17  # that plain NumPy counts in a fraction of the time that it takes to load a kernel
CELLS_PER_ENTRY = 16  # of the largest tables
BLOCK = 2**20  # entries that are packed at a time
LANES = 1024  # planes that are counted side by side; their counts stay in the first cache
ENTRY_COST = 24  # pairs of words that are counted in the time of one entry (measured: mostly 18 to 26)


def make_counter(codes: Codes, y: Ints, table: Ints, pool: Workers, weights: Ints | None = None) -> Counter:
    """Return the fastest counter for these data; only entries have weights."""
    n_features, n_samples = codes.shape
    if len(y) != n_samples:
        raise ValueError(f"y has {len(y)} codes, but the features have {n_samples} samples.")
    if isinstance(codes, StoredCodes) and weights is not None:
        codes = codes.dense()
    cells = int(codes.n_codes.sum()) * int(codes.n_codes.max()) * (int(y.max()) + 1)
    few = n_features * n_samples <= FEW_ENTRIES and cells <= CELLS_PER_ENTRY * FEW_ENTRIES
    if weights is None and few and not isinstance(codes, StoredCodes):
        return TableCounter(np.arange(n_features), y, table, codes.rows(slice(0, n_features)), codes.n_codes)
    n_words = int(_n_words(np.bincount(y)).sum())
    word_pairs = n_words * n_features * float(codes.n_codes.mean()) ** 2
    if weights is None and word_pairs <= ENTRY_COST * codes.n_stored:
        return PlaneCounter.build(codes, y, table, pool)
    return EntryCounter.build(codes, y, table, weights)


@dataclass(frozen=True)
class _CellCounter:
    """Counts of the codes of every feature against cells of samples."""

    features: Ints
    y: Ints
    table: Ints

    def with_target(self) -> tuple[Ints, Ints]:
        """Sum over the cells of (feature, class), and of (feature), for every feature."""
        alone = Workers(None)
        return self._count(self.y, alone), self._count(np.zeros_like(self.y), alone)

    def with_feature(self, s: int, pool: Workers) -> Ints:
        """Sum over the cells of (s, feature) for every feature."""
        return self._count(self._row(s), pool)

    def with_feature_and_target(self, s: int, pool: Workers, first: int = 0) -> tuple[Ints, Ints]:
        """Sum over cells of (s, feature, class), and of (s, feature), for features from place first on."""
        row = self._row(s)
        return self._count(row * (self.y.max() + 1) + self.y, pool, first), self._count(row, pool, first)

    def _row(self, s: int) -> Ints:
        raise NotImplementedError

    def _count(self, cells: Ints, pool: Workers, first: int = 0) -> Ints:
        raise NotImplementedError


@dataclass(frozen=True)
class TableCounter(_CellCounter):
    """The code of every entry, and one pass over all of them for each count."""

    codes: Array
    """features x samples, small integers."""
    n_codes: Ints

    def restricted(self, features: Ints) -> TableCounter:
        """Restrict the counter to some of the features."""
        kept = np.isin(self.features, features)
        return replace(self, features=self.features[kept], codes=self.codes[kept], n_codes=self.n_codes[kept])

    def _row(self, s: int) -> Ints:
        row: Ints = self.codes[np.searchsorted(self.features, s)].astype(np.int64)
        return row

    def _count(self, cells: Ints, pool: Workers, first: int = 0) -> Ints:
        n_cells, starts = int(cells.max()) + 1, _starts(self.n_codes[first:])
        places = (self.codes[first:] + starts[:-1, None]) * n_cells + cells
        counts = np.bincount(places.ravel(), minlength=n_cells * int(starts[-1]))
        sums: Ints = np.add.reduceat(self.table[counts].reshape(-1, n_cells).sum(axis=1), starts[:-1])
        return sums


@dataclass(frozen=True)
class PlaneCounter:
    """Bits of every code of every feature, samples ordered by class, each class in words of its own."""

    features: Ints
    starts: Ints
    """Where the planes of each feature start."""
    planes: Array
    """words x planes, uint64."""
    words: Ints
    """Where the words of each class start."""
    margins: Array
    """classes x planes: the bits that are set."""
    totals: Array
    """1 x planes: their sum over the classes."""
    table: Ints

    @classmethod
    def build(cls, codes: Codes, y: Ints, table: Ints, pool: Workers) -> PlaneCounter:
        """Pack the codes."""
        sizes = np.bincount(y)
        words = _starts(_n_words(sizes))
        starts = _starts(codes.n_codes)
        planes = np.empty((words[-1], starts[-1]), np.uint64)
        margins = np.zeros((len(sizes), starts[-1]), np.int64)
        present = np.flatnonzero(sizes)
        # Samples class by class, each class from the first bit of a word on; bits between are no sample's.
        samples = np.full(BITS * words[-1], len(y))
        samples[np.repeat(BITS * words[:-1] - _starts(sizes)[:-1], sizes) + np.arange(len(y))] = np.argsort(
            y, kind="stable"
        )

        def pack(part: DenseCodes | SparseCodes, span: slice, before: int = 0) -> None:
            rows, n_codes = part.rows(span), part.n_codes[span]
            none = np.full((len(rows), 1), -1, np.result_type(rows, np.int8))
            laid_out = np.take(np.hstack([rows, none]), samples, axis=1)
            for b in range(int(n_codes.max(initial=0))):
                own = np.flatnonzero(n_codes > b)
                found = (laid_out if len(own) == len(rows) else laid_out[own]) == b
                packed = np.packbits(found, axis=1, bitorder="little")
                place = starts[before + span.start + own] + b
                planes[:, place] = packed.view("<u8").T
                bits = np.add.reduceat(BITS_OF_BYTE[packed], 8 * words[:-1][present], axis=1, dtype=np.int64)
                margins[np.ix_(present, place)] = bits.T

        parts = codes.blocks() if isinstance(codes, StoredCodes) else [(slice(0, None), codes)]
        for place, part in parts:
            run = partial(pack, part, before=place.start)
            pool.run(run, spans(len(part.n_codes), max(1, BLOCK // len(y))))
        totals = margins.sum(axis=0, keepdims=True)
        return cls(np.arange(len(codes.n_codes)), starts, planes, words, margins, totals, table)

    def restricted(self, features: Ints) -> PlaneCounter:
        """Restrict the counter to some of the features."""
        kept = np.isin(self.features, features)
        n_planes = np.diff(self.starts)
        mine = np.repeat(kept, n_planes)
        return replace(
            self,
            features=self.features[kept],
            starts=_starts(n_planes[kept]),
            planes=np.compress(mine, self.planes, axis=1),
            margins=np.compress(mine, self.margins, axis=1),
            totals=np.compress(mine, self.totals, axis=1),
        )

    def with_target(self) -> tuple[Ints, Ints]:
        """Sum over the cells of (feature, class), and of (feature), for every feature."""
        joint, single = self.table[self.margins].sum(axis=0), self.table[self.totals[0]]
        return np.add.reduceat(joint, self.starts[:-1]), np.add.reduceat(single, self.starts[:-1])

    def with_feature(self, s: int, pool: Workers) -> Ints:
        """Sum over the cells of (s, feature) for every feature."""
        return self._count(s, self.words[[0, -1]], self.totals, 0, pool)[0]

    def with_feature_and_target(self, s: int, pool: Workers, first: int = 0) -> tuple[Ints, Ints]:
        """Sum over cells of (s, feature, class), and of (s, feature), for features from place first on."""
        joint, pair = self._count(s, self.words, self.margins, first, pool)
        return joint, pair

    def _count(self, s: int, words: Ints, margins: Array, first: int, pool: Workers) -> tuple[Ints, Ints]:
        place = int(np.searchsorted(self.features, s))
        selected = np.ascontiguousarray(self.planes[:, self.starts[place] : self.starts[place + 1]].T)
        starts = self.starts[first:]
        joint, pair = np.empty((2, len(starts) - 1), np.int64)
        lanes = max(LANES, int(np.diff(starts).max(initial=0)))
        plane_sums = _kernels.plane_sums

        def run(span: slice) -> None:
            own = starts[span.start : span.stop + 1]
            scratch = np.empty((3 + len(selected), lanes), np.int64)
            args = self.planes, own, words, margins, selected, self.table, scratch
            plane_sums(*args, joint[span], pair[span])

        pool.run(run, spans(len(joint), WIDTH))
        return joint, pair


@dataclass(frozen=True)
class EntryCounter(_CellCounter):
    """Entries of every feature that differ from its default code."""

    codes: SparseCodes
    weights: Ints
    """How often each sample counts."""

    @classmethod
    def build(cls, codes: Codes, y: Ints, table: Ints, weights: Ints | None = None) -> EntryCounter:
        """Keep the codes, made sparse if they are not; without weights every sample counts once."""
        codes = codes.dense() if isinstance(codes, StoredCodes) else codes
        sparse = SparseCodes.from_dense(codes) if isinstance(codes, DenseCodes) else codes
        sparse = replace(sparse, samples=sparse.samples.astype(np.int32), codes=sparse.codes.astype(np.int32))
        weights = np.ones(len(y), np.int64) if weights is None else weights
        return cls(np.arange(len(codes.n_codes)), y, table, sparse, weights)

    def restricted(self, features: Ints) -> EntryCounter:
        """Restrict the counter to some of the features."""
        return replace(self, features=np.sort(features))

    def _row(self, s: int) -> Ints:
        return self.codes.row(s).astype(np.int64)

    def _count(self, cells: Ints, pool: Workers, first: int = 0) -> Ints:
        occupied = np.bincount(cells) > 0
        cells = (np.cumsum(occupied) - 1)[cells]
        sizes = sums_of(self.weights, cells)
        codes, features = self.codes, self.features[first:]
        out = np.empty(len(features), np.int64)
        entry_sums = _kernels.entry_sums

        def run(span: slice) -> None:
            own = features[span]
            counts = np.zeros((len(sizes), int(codes.n_codes[own].max())), np.int64)
            entries = codes.indptr, codes.samples, codes.codes, own
            entry_sums(*entries, cells, self.weights, sizes, self.table, sizes.copy(), counts, out[span])

        pool.run(run, spans(len(out), WIDTH))
        return out


#: Sums of table[n] over the cells of contingency tables.
Counter: TypeAlias = TableCounter | PlaneCounter | EntryCounter


def sums_of(weights: Ints, cells: Ints) -> Ints:
    """Add up the weights of the samples of each cell."""
    sums = np.zeros(cells.max(initial=-1) + 1, np.int64)
    np.add.at(sums, cells, weights)  # in integers: sums of floats stop being exact at 2^53
    return sums


def _n_words(sizes: Ints) -> Ints:
    """Count the words that hold so many bits."""
    return (sizes + BITS - 1) // BITS


def _starts(lengths: Ints) -> Ints:
    """Return where each of several runs starts, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
