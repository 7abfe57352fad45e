"""Two ways of counting one feature against many others, and against a target.

``PlaneCounter`` holds every code of every feature as bits, sixty-four samples to a word: the samples that two
codes share are the bits that two words share. ``EntryCounter`` walks through the entries that differ from a
feature's default code: for data with few of them, or with many codes. Both return the same integers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from infused import _kernels
from infused._runtime.threads import Workers, spans
from infused._typing import Array, Ints
from infused.information.discrete import Codes, DenseCodes, SparseCodes

__all__ = ["Counter", "EntryCounter", "PlaneCounter", "make_counter", "sums_of"]

WIDTH = 1024  # features to a task
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
    """The faster of the two for these data; bits have no weights."""
    n_features, n_samples = codes.shape
    if len(y) != n_samples:
        raise ValueError(f"y has {len(y)} codes, but the features have {n_samples} samples.")
    n_words = int(_n_words(np.bincount(y)).sum())
    word_pairs = n_words * n_features * float(codes.n_codes.mean()) ** 2
    if weights is None and word_pairs <= ENTRY_COST * codes.n_stored:
        return PlaneCounter.build(codes, y, table, pool)
    return EntryCounter.build(codes, y, table, weights)


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
        margins = np.empty((len(sizes), starts[-1]), np.uint32)
        order = np.argsort(y, kind="stable")
        pack_dense, pack_sparse = _kernels.pack_dense, _kernels.pack_sparse

        def run(span: slice) -> None:
            where = (order, words, sizes, starts[span.start : span.stop + 1], planes, margins)
            if isinstance(codes, DenseCodes):
                pack_dense(codes.codes[span], *where)
            else:
                own = codes.indptr[span.start : span.stop + 1]
                pack_sparse(codes.base[span], own, codes.samples, codes.codes, *where)

        pool.run(run, spans(len(codes.n_codes), WIDTH))
        totals = margins.sum(axis=0, keepdims=True, dtype=np.uint32)
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
        return joint, pair if len(self.margins) > 1 else joint

    def _count(self, s: int, words: Ints, margins: Array, first: int, pool: Workers) -> tuple[Ints, Ints]:
        place = int(np.searchsorted(self.features, s))
        selected = np.ascontiguousarray(self.planes[:, self.starts[place] : self.starts[place + 1]].T)
        starts = self.starts[first:]
        joint, pair = np.empty((2, len(starts) - 1), np.int64)
        plane_sums = _kernels.plane_sums

        def run(span: slice) -> None:
            own = starts[span.start : span.stop + 1]
            plane_sums(self.planes, own, words, margins, selected, self.table, joint[span], pair[span])

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
            entries = (codes.indptr, codes.samples, codes.codes, features[span], codes.n_codes)
            entry_sums(*entries, cells, self.weights, sizes, self.table, out[span])

        pool.run(run, spans(len(out), WIDTH))
        return out


def sums_of(weights: Ints, cells: Ints) -> Ints:
    """How many samples each cell has, by their weights."""
    sums = np.zeros(cells.max(initial=-1) + 1, np.int64)
    np.add.at(sums, cells, weights)  # in integers: sums of floats stop being exact at 2^53
    return sums


def _n_words(sizes: Ints) -> Ints:
    """Words that hold so many bits."""
    bits = _kernels.BITS
    return (sizes + bits - 1) // bits


def _starts(lengths: Ints) -> Ints:
    """Where each of several runs starts, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
