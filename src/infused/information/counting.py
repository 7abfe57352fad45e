"""Three ways of counting one feature against many others, and against a target.

``TableCounter`` counts in plain NumPy: for few entries, where nothing is worth compiling. ``PlaneCounter``
holds every code of every feature as bits, sixty-four samples to a word: the samples that two
codes share are the bits that two words share. ``EntryCounter`` walks through the entries that differ from a
feature's default code: for data with few of them, or with many codes. All return the same integers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from infused import _kernels
from infused._runtime.threads import Workers, spans
from infused._typing import Array, Ints
from infused.information.discrete import Codes, DenseCodes, SparseCodes

__all__ = ["Counter", "EntryCounter", "PlaneCounter", "TableCounter", "make_counter", "sums_of"]

WIDTH = 1024  # features to a task
BITS = 64
BITS_OF_BYTE = np.array([bin(byte).count("1") for byte in range(256)], np.uint8)
FEW_ENTRIES = 2**17  # that plain NumPy counts in a fraction of the time that it takes to load a kernel
CELLS_PER_ENTRY = 16  # of the largest tables
BLOCK = 2**20  # entries that are packed at a time
LANES = 1024  # planes that are counted side by side; their counts stay in the first cache
ENTRY_COST = 24  # pairs of words that are counted in the time of one entry (measured: mostly 18 to 26)


class Counter(Protocol):
    """Sums of table[n] over the cells of contingency tables."""

    @property
    def features(self) -> Ints:
        """The features that are counted, in increasing order."""

    def restricted(self, features: Ints) -> Counter:
        """The counter of some of the features."""

    def with_target(self) -> tuple[Ints, Ints]:
        """Over the cells of (feature, class), and of (feature), for every feature."""

    def with_feature(self, s: int, pool: Workers) -> Ints:
        """Over the cells of (s, feature) for every feature."""

    def with_feature_and_target(self, s: int, pool: Workers, first: int = 0) -> tuple[Ints, Ints]:
        """Over the cells of (s, feature, class), and of (s, feature); for features from place first on."""


def make_counter(codes: Codes, y: Ints, table: Ints, pool: Workers, weights: Ints | None = None) -> Counter:
    """The fastest for these data; only entries have weights."""
    n_features, n_samples = codes.shape
    if len(y) != n_samples:
        raise ValueError(f"y has {len(y)} codes, but the features have {n_samples} samples.")
    cells = int(codes.n_codes.sum()) * int(codes.n_codes.max()) * (int(y.max()) + 1)
    few = n_features * n_samples <= FEW_ENTRIES and cells <= CELLS_PER_ENTRY * FEW_ENTRIES
    if weights is None and few:
        return TableCounter(np.arange(n_features), codes.rows(slice(0, n_features)), codes.n_codes, y, table)
    n_words = int(_n_words(np.bincount(y)).sum())
    word_pairs = n_words * n_features * float(codes.n_codes.mean()) ** 2
    if weights is None and word_pairs <= ENTRY_COST * codes.n_stored:
        return PlaneCounter.build(codes, y, table, pool)
    return EntryCounter.build(codes, y, table, weights)


@dataclass(frozen=True)
class TableCounter:
    """The code of every entry, and one pass over all of them for each count."""

    features: Ints
    codes: Array
    """features x samples."""
    n_codes: Ints
    y: Ints
    table: Ints

    def restricted(self, features: Ints) -> TableCounter:
        """The counter of some of the features."""
        kept = np.isin(self.features, features)
        return replace(self, features=self.features[kept], codes=self.codes[kept], n_codes=self.n_codes[kept])

    def with_target(self) -> tuple[Ints, Ints]:
        """Over the cells of (feature, class), and of (feature), for every feature."""
        return self._count(self.y), self._count(np.zeros_like(self.y))

    def with_feature(self, s: int, pool: Workers) -> Ints:
        """Over the cells of (s, feature) for every feature."""
        return self._count(self._row(s))

    def with_feature_and_target(self, s: int, pool: Workers, first: int = 0) -> tuple[Ints, Ints]:
        """Over the cells of (s, feature, class), and of (s, feature); for features from place first on."""
        row = self._row(s)
        return self._count(row * (self.y.max() + 1) + self.y, first), self._count(row, first)

    def _row(self, s: int) -> Ints:
        row: Ints = self.codes[np.searchsorted(self.features, s)].astype(np.int64)
        return row

    def _count(self, cells: Ints, first: int = 0) -> Ints:
        """Sums over the cells of (cell, code) for features from place first on."""
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

        def run(span: slice) -> None:
            rows, n_codes = codes.rows(span), codes.n_codes[span]
            none = np.full((len(rows), 1), -1, np.result_type(rows, np.int8))
            laid_out = np.take(np.hstack([rows, none]), samples, axis=1)
            for b in range(int(n_codes.max(initial=0))):
                own = np.flatnonzero(n_codes > b)
                found = (laid_out if len(own) == len(rows) else laid_out[own]) == b
                packed = np.packbits(found, axis=1, bitorder="little")
                place = starts[span.start + own] + b
                planes[:, place] = packed.view("<u8").T
                bits = np.add.reduceat(BITS_OF_BYTE[packed], 8 * words[:-1][present], axis=1, dtype=np.int64)
                margins[np.ix_(present, place)] = bits.T

        pool.run(run, spans(len(codes.n_codes), max(1, BLOCK // len(y))))
        totals = margins.sum(axis=0, keepdims=True)
        return cls(np.arange(len(codes.n_codes)), starts, planes, words, margins, totals, table)

    def restricted(self, features: Ints) -> PlaneCounter:
        """The counter of some of the features."""
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
        """Over the cells of (feature, class), and of (feature), for every feature."""
        joint, single = self.table[self.margins].sum(axis=0), self.table[self.totals[0]]
        return np.add.reduceat(joint, self.starts[:-1]), np.add.reduceat(single, self.starts[:-1])

    def with_feature(self, s: int, pool: Workers) -> Ints:
        """Over the cells of (s, feature) for every feature."""
        return self._count(s, self.words[[0, -1]], self.totals, 0, pool)[0]

    def with_feature_and_target(self, s: int, pool: Workers, first: int = 0) -> tuple[Ints, Ints]:
        """Over the cells of (s, feature, class), and of (s, feature); for features from place first on."""
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
class EntryCounter:
    """Entries of every feature that differ from its default code."""

    features: Ints
    codes: SparseCodes
    y: Ints
    table: Ints
    weights: Ints
    """How often each sample counts."""

    @classmethod
    def build(cls, codes: Codes, y: Ints, table: Ints, weights: Ints | None = None) -> EntryCounter:
        """Keep the codes, made sparse if they are not; without weights every sample counts once."""
        sparse = SparseCodes.from_dense(codes) if isinstance(codes, DenseCodes) else codes
        sparse = replace(sparse, samples=sparse.samples.astype(np.int32), codes=sparse.codes.astype(np.int32))
        weights = np.ones(len(y), np.int64) if weights is None else weights
        return cls(np.arange(len(codes.n_codes)), sparse, y, table, weights)

    def restricted(self, features: Ints) -> EntryCounter:
        """The counter of some of the features."""
        return replace(self, features=np.sort(features))

    def with_target(self) -> tuple[Ints, Ints]:
        """Over the cells of (feature, class), and of (feature), for every feature."""
        return self._count(self.y, Workers(None)), self._count(np.zeros_like(self.y), Workers(None))

    def with_feature(self, s: int, pool: Workers) -> Ints:
        """Over the cells of (s, feature) for every feature."""
        return self._count(self.codes.row(s).astype(np.int64), pool)

    def with_feature_and_target(self, s: int, pool: Workers, first: int = 0) -> tuple[Ints, Ints]:
        """Over the cells of (s, feature, class), and of (s, feature); for features from place first on."""
        row = self.codes.row(s).astype(np.int64)
        joint = self._count(row * (self.y.max() + 1) + self.y, pool, first)
        return joint, self._count(row, pool, first)

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


def sums_of(weights: Ints, cells: Ints) -> Ints:
    """How many samples each cell has, by their weights."""
    sums = np.zeros(cells.max(initial=-1) + 1, np.int64)
    np.add.at(sums, cells, weights)  # in integers: sums of floats stop being exact at 2^53
    return sums


def _n_words(sizes: Ints) -> Ints:
    """Words that hold so many bits."""
    return (sizes + BITS - 1) // BITS


def _starts(lengths: Ints) -> Ints:
    """Where each of several runs starts, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
