"""Features as small integers: equal-frequency bins, and values that are few as they are.

A discrete feature keeps its values: one with at most ``n_bins`` of them, or with at most 32 of which each has
five samples or more on average. Copies of a sample count once here, whatever its weight: measured values do
not become categories by being repeated. Otherwise a value that holds an equal share of the samples has a bin
of its own (the zeros of a count, say), and the others share the remaining bins. Equal values are always in
one bin, and an increasing transform of a feature changes nothing. Where tails are asked for, the lowest and
the highest bin are cut again, the outermost quarter each time, so that few values far out are not lost in a
fifth of the samples. A missing value is a code of its own, the last, and has no part in the bins.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from infused import _kernels
from infused._columns import StoredColumns
from infused._kernels import cut_points
from infused._runtime.threads import Workers, memory_budget, require, spans, workers
from infused._typing import Array, Data, Floats, Ints
from infused.exceptions import InputError
from infused.graphs.validation import Target, class_codes, kind_of_target, resolve_target

MAX_BINS = 256  # a code is one byte


@dataclass(frozen=True)
class DenseCodes:
    """The code of every sample, one row per feature."""

    codes: Array
    """features x samples, small integers of whatever type holds them."""
    n_codes: Ints
    """Codes of each feature: 0 .. n_codes - 1, all of which occur."""

    @classmethod
    def of(cls, rows: list[Array]) -> DenseCodes:
        """Stack the codes of each feature."""
        n_codes = np.array([int(row.max(initial=0)) + 1 for row in rows], dtype=np.int64)
        return cls(np.array(rows, dtype=_type_for(n_codes)), n_codes)

    @property
    def shape(self) -> tuple[int, int]:
        """Return (features, samples)."""
        n_features, n_samples = self.codes.shape
        return n_features, n_samples

    @property
    def n_stored(self) -> int:
        """Count the stored entries."""
        return self.codes.size

    def rows(self, features: slice) -> Array:
        """Return the code of every sample, for some features."""
        return np.asarray(self.codes[features])


@dataclass(frozen=True)
class SparseCodes:
    """One code that a feature has by default, and the samples that have another."""

    base: Array
    """The default of each feature, of the type of the codes."""
    indptr: Ints
    """Where the entries of each feature start, as in CSC."""
    samples: Array
    """The samples that differ."""
    codes: Array
    """Their codes, small integers of whatever type holds them."""
    n_codes: Ints
    n_samples: int

    @property
    def shape(self) -> tuple[int, int]:
        """Return (features, samples)."""
        return len(self.base), self.n_samples

    @property
    def n_stored(self) -> int:
        """Count the stored entries."""
        return len(self.codes)

    def row(self, feature: int) -> Array:
        """Return the code of every sample for one feature."""
        own = slice(self.indptr[feature], self.indptr[feature + 1])
        codes = np.full(self.n_samples, self.base[feature])
        codes[self.samples[own]] = self.codes[own]
        return codes

    def rows(self, features: slice) -> Array:
        """Return the code of every sample, for some features."""
        out = np.repeat(self.base[features, None], self.n_samples, axis=1)
        bounds = self.indptr[features.start : features.stop + 1]
        own = slice(bounds[0], bounds[-1])
        out[np.repeat(np.arange(len(out)), np.diff(bounds)), self.samples[own]] = self.codes[own]
        return out

    @classmethod
    def from_dense(cls, dense: DenseCodes) -> SparseCodes:
        """Store every sample, so that no default is left."""
        n_features, n_samples = dense.shape
        base = np.zeros(n_features, dense.codes.dtype)
        indptr = np.arange(n_features + 1, dtype=np.int64) * n_samples
        samples = np.tile(np.arange(n_samples, dtype=np.int32), n_features)
        return cls(base, indptr, samples, dense.codes.ravel(), dense.n_codes, n_samples)


@dataclass(frozen=True)
class StoredCodes:
    """Codes of features on disk, which are made of what is read, again at every pass."""

    source: StoredColumns
    cuts: Cuts
    n_codes: Ints

    @property
    def shape(self) -> tuple[int, int]:
        """Return (features, samples)."""
        n_samples, n_features = self.source.shape
        return n_features, n_samples

    @property
    def n_stored(self) -> int:
        """Count the stored entries."""
        return self.source.size

    def blocks(self) -> Iterator[tuple[slice, DenseCodes]]:
        """Return the codes of all features, some at a time, and which they are."""
        for block in self.source.blocks(None):
            missing = self.source.missing
            rows = _codes_of(_rows_of(block.columns, missing), self.cuts.of(block.place), missing)
            yield block.place, DenseCodes(rows, self.n_codes[block.place])

    def dense(self) -> DenseCodes:
        """Hold all codes in memory, one byte each."""
        n_features, n_samples = self.shape
        what, instead = f"The codes of {n_features} features", "take fewer features, or raise memory_budget"
        require(n_features * n_samples, memory_budget(), what, instead)
        codes = np.empty(self.shape, _type_for(self.n_codes))
        for place, part in self.blocks():
            codes[place] = part.codes
        return DenseCodes(codes, self.n_codes)


Codes = DenseCodes | SparseCodes | StoredCodes


def discretize(
    X: Data,
    n_bins: int = 5,
    n_jobs: int | None = None,
    weights: Array | None = None,
    distinct: Ints | None = None,
    tail: int = 0,
) -> Codes:
    """Return the codes of every feature, sparse where X is; of features on disk they are made when needed.

    Parameters
    ----------
    X : array, sparse array or StoredColumns of shape (n_samples, n_features)
        Finite numbers, or NaN for missing values. Only the entries that are not zero are looked at when X is
        sparse; the codes are those of the dense array.
    n_bins : int
        At least 2, at most 256.
    n_jobs : int, optional
        Threads; -1 for every core.
    weights : ndarray of shape (n_samples,), optional
        How often each sample counts: integers, or numbers of mean one.
    distinct : ndarray of shape (n_features,), optional
        How many samples differ that have a value of the feature, see
        :func:`infused.information.discrete.distinct_samples`; by default those that differ in X.
    tail : int
        Samples that differ in every part of an outer bin when tails are cut off it; 0 for no tails.
    """
    if not 2 <= n_bins <= MAX_BINS:
        raise InputError(f"n_bins must be between 2 and {MAX_BINS}, got {n_bins}.")
    distinct = distinct_samples(X)[0] if distinct is None else distinct
    if sp.issparse(X):
        return _discretize_sparse(X, n_bins, weights, distinct, tail)
    with workers(n_jobs) as pool:
        if isinstance(X, StoredColumns):
            return _discretize_stored(X, n_bins, weights, distinct, tail, pool)
        return _discretize_dense(X, n_bins, weights, distinct, tail, pool)


def joint_codes(codes: Codes, groups: Ints) -> Codes:
    """Combine the codes of each group of features: one code for each combination that occurs.

    Parameters
    ----------
    codes : DenseCodes or SparseCodes
        Of the features.
    groups : ndarray of int
        The group of each feature, 0 .. n_groups - 1, all of which occur.
    """
    sizes = np.bincount(groups)
    if len(sizes) == len(groups) and (groups == np.arange(len(groups))).all():
        return codes
    order = np.argsort(groups, kind="stable")
    members = np.split(order, np.cumsum(sizes)[:-1])
    codes = codes.dense() if isinstance(codes, StoredCodes) else codes
    if isinstance(codes, DenseCodes):
        return DenseCodes.of([_combined(codes.codes[own], codes.n_codes[own]) for own in members])
    return _joint_of_sparse(codes, members)


def _joint_of_sparse(codes: SparseCodes, members: list[Ints]) -> SparseCodes:
    """Combine sparse codes: a sample differs from a group's default where any of its features does."""
    samples, values, base, n_codes = [], [], [], []
    for own in members:
        parts = [slice(codes.indptr[j], codes.indptr[j + 1]) for j in own]
        differing = np.unique(np.concatenate([codes.samples[part] for part in parts]))
        table = np.repeat(codes.base[own][:, None], len(differing) + 1, axis=1)
        for row, part in zip(table, parts, strict=True):
            row[np.searchsorted(differing, codes.samples[part])] = codes.codes[part]
        combined = _combined(table, codes.n_codes[own])  # the last column is the default
        if len(differing) == codes.n_samples:  # nobody has it
            combined = np.append(np.unique(combined[:-1], return_inverse=True)[1], 0)
        samples.append(differing)
        values.append(combined[:-1])
        base.append(combined[-1])
        n_codes.append(combined.max() + 1)
    type_ = _type_for(np.array(n_codes))
    indptr = np.concatenate([[0], np.cumsum([len(part) for part in samples])]).astype(np.int64)
    return SparseCodes(
        np.array(base, dtype=type_),
        indptr,
        np.concatenate(samples).astype(np.int32),
        np.concatenate(values).astype(type_),
        np.array(n_codes, dtype=np.int64),
        codes.n_samples,
    )


def _combined(rows: Array, n_codes: Ints) -> Ints:
    """Number the distinct columns of a small table from 0."""
    result: Ints = rows[0].astype(np.int64)
    for row, n in zip(rows[1:], n_codes[1:], strict=True):
        result = np.unique(result * n + row, return_inverse=True)[1]
    return result


def _type_for(n_codes: Ints) -> Any:
    """Return the smallest type of integers that holds so many codes."""
    return np.min_scalar_type(int(n_codes.max(initial=1)) - 1)


def target_codes(
    X: Data,
    y: Any,
    *,
    target: Target = "auto",
    n_bins: int = 5,
    weights: Array | None = None,
    tail: int = 0,
) -> Ints:
    """Return the class of each sample as 0 .. C-1; continuous targets are binned as features are."""
    if target == "auto":
        kind_of_target(y, raise_unknown=True)
    values, kind = resolve_target(X, y, target)
    if kind == "classes":
        return class_codes(values)[0]
    _, n_distinct = distinct_samples(X, values)
    codes = discretize(values[:, None], n_bins, weights=weights, distinct=np.array([n_distinct]), tail=tail)
    assert isinstance(codes, DenseCodes)  # y is dense
    return np.asarray(codes.codes[0], dtype=np.int64)


BLOCK = 2**18  # entries of X that are copied at a time: 2 MB
FEW_ENTRIES = 2**17  # that plain Python takes no longer for than it takes to load a kernel


def _discretize_dense(
    X: Array, n_bins: int, weights: Array | None, distinct: Ints, tail: int, pool: Workers
) -> DenseCodes:
    n_samples, n_features = X.shape
    codes, n_codes = np.empty((n_features, n_samples), _type_of(n_bins)), np.empty(n_features, np.int64)
    cut = _Cutting(n_bins, weights, tail, cut_finder(X.size))

    def run(span: slice) -> None:
        rows = _rows_of(X[:, span], None)
        cuts, n_codes[span] = cut(rows, distinct[span])
        codes[span] = _codes_of(rows, cuts)

    pool.run(run, spans(n_features, max(1, BLOCK // n_samples)))
    return DenseCodes(codes.astype(_type_for(n_codes), copy=False), n_codes)


def _discretize_stored(
    X: StoredColumns, n_bins: int, weights: Array | None, distinct: Ints, tail: int, pool: Workers
) -> StoredCodes:
    """Find the cuts of features on disk in one pass."""
    n_samples, n_features = X.shape
    found: list[Cuts] = []
    n_codes = np.empty(n_features, np.int64)
    cut = _Cutting(n_bins, weights, tail, cut_finder(X.size), X.missing)
    for block in X.blocks(None):
        columns, start = block.columns, block.place.start

        def run(span: slice, columns: Array = columns, start: int = start) -> Cuts:
            place = slice(start + span.start, start + span.stop)
            cuts, n_codes[place] = cut(_rows_of(columns[:, span], X.missing), distinct[place])
            return cuts

        found += pool.map(run, spans(columns.shape[1], max(1, BLOCK // n_samples)))
    return StoredCodes(X, Cuts.joined(found), n_codes)


def _rows_of(columns: Array, missing: int | None) -> Array:
    """Turn some columns into rows: of one byte as they are, else numbers, with NaN where one is missing."""
    one_byte = columns.dtype.kind in "iu" and columns.dtype.itemsize == 1
    return np.ascontiguousarray(columns.T) if one_byte else _numbers(columns.T, missing)


def _numbers(rows: Array, missing: int | None) -> Floats:
    numbers = np.ascontiguousarray(rows, dtype=np.float64)
    if missing is not None:
        numbers[rows == missing] = np.nan
    return numbers


@dataclass(frozen=True)
class _Cutting:
    """Find the cuts of rows of values, a feature each."""

    n_bins: int
    weights: Array | None
    tail: int
    find: CutFinder
    missing: int | None = None
    """The whole number that stands for a missing value."""

    def __call__(self, rows: Array, distinct: Ints) -> tuple[Cuts, Ints]:
        """Return the cuts, and how many codes each feature has."""
        if rows.dtype.itemsize == 1 and self.weights is None:
            return self._of_bytes(rows, distinct)
        rows = _numbers(rows, self.missing) if rows.dtype.itemsize == 1 else rows
        n_samples = rows.shape[1]
        starts, amounts = np.arange(len(rows)) * n_samples, np.ones(rows.shape)
        if self.weights is None:
            ordered = np.sort(rows, axis=1)
        else:
            order = np.argsort(rows, axis=1, kind="stable")
            ordered = np.take_along_axis(rows, order, axis=1)
            amounts = self.weights[order].astype(np.float64)
        stops, zeros = starts + n_samples, np.zeros(len(rows))
        incomplete = np.flatnonzero(np.isnan(ordered[:, -1]))  # missing values are sorted to the end
        stops[incomplete] -= np.isnan(ordered[incomplete]).sum(axis=1)
        columns = starts, stops, ordered.ravel(), amounts.ravel(), zeros, distinct
        cuts, n_codes = self._found(columns), np.zeros(len(rows), np.int64)
        n_codes[incomplete] += 1
        return cuts, n_codes + cuts.n_values

    def _of_bytes(self, rows: Array, distinct: Ints) -> tuple[Cuts, Ints]:
        """Find the cuts of whole numbers of one byte by how often each occurs, without sorting."""
        counts = np.zeros((len(rows), 256), np.int64)
        _kernels.byte_counts(rows.view(np.uint8), counts)
        incomplete: Array = np.zeros(len(rows), bool)
        if self.missing is not None:
            there = ALL_BYTES.view(rows.dtype) == self.missing
            incomplete = np.asarray(counts[:, there].any(axis=1))
            counts[:, there] = 0
        order = np.argsort(ALL_BYTES.view(rows.dtype))
        counts, values = counts[:, order], ALL_BYTES.view(rows.dtype)[order].astype(np.float64)
        owners, places = np.nonzero(counts)
        stops = np.searchsorted(owners, np.arange(len(rows)), side="right")
        starts = np.concatenate([[0], stops[:-1]])
        zeros = np.zeros(len(rows))
        amounts = counts[owners, places].astype(np.float64)
        cuts = self._found((starts, stops, values[places], amounts, zeros, distinct))
        return cuts, cuts.n_values + incomplete

    def _found(self, columns: tuple[Any, Any, Any, Any, Any, Any]) -> Cuts:
        return self.find(*columns, self.n_bins, self.tail)


ALL_BYTES = np.arange(256, dtype=np.uint8)


def _codes_of(rows: Array, cuts: Cuts, missing: int | None = None) -> Array:
    """Return the codes of rows of values, a feature each; a missing value has the last."""
    if rows.dtype.itemsize == 1:
        table = cuts.codes(np.tile(ALL_BYTES.view(rows.dtype).astype(np.float64), (len(rows), 1)))
        if missing is not None:
            table[:, ALL_BYTES.view(rows.dtype) == missing] = cuts.n_values[:, None]
        coded = np.empty(rows.shape, np.uint8)
        _kernels.byte_codes(rows.view(np.uint8), table, coded)
        return coded
    codes, gone = cuts.codes(rows), np.isnan(rows)
    if not gone.any():
        return codes
    last = cuts.n_values.astype(_type_of(int(cuts.n_values.max())))
    return np.where(gone, last[:, None], codes)


def _discretize_sparse(X: Data, n_bins: int, weights: Array | None, distinct: Ints, tail: int) -> SparseCodes:
    csc = sp.csc_array(X, dtype=np.float64, copy=True)
    csc.sum_duplicates()
    csc.eliminate_zeros()
    n_samples, n_features = csc.shape
    indptr, sizes = csc.indptr.astype(np.int64), np.diff(csc.indptr)
    owners, missing = np.repeat(np.arange(n_features), sizes), np.isnan(csc.data)
    zeros, ordered, amounts = (n_samples - sizes).astype(np.float64), csc.data.copy(), np.ones(csc.nnz)
    if weights is None:
        for start, stop in pairwise(indptr):
            ordered[start:stop].sort()
    else:
        own, order = weights[csc.indices], np.lexsort((csc.data, owners))
        ordered, amounts = csc.data[order], own[order].astype(np.float64)
        zeros[zeros > 0] = (weights.sum() - np.bincount(owners, own, n_features))[zeros > 0]
    n_missing = np.bincount(owners[missing], minlength=n_features)
    columns = indptr[:-1], indptr[1:] - n_missing, ordered, amounts, zeros, distinct
    cuts = cut_finder(csc.nnz)(*columns, n_bins, tail)
    codes = Cuts(cuts.places[owners], cuts.number[owners], owners).codes(csc.data[:, None])[:, 0]
    codes = codes.astype(_type_of(n_bins), copy=False)
    codes[missing] = cuts.n_values[owners[missing]]
    base = cuts.codes(np.zeros((n_features, 1)))[:, 0].astype(codes.dtype)
    differs = codes != base[owners]
    np.cumsum(np.bincount(owners[differs], minlength=n_features), out=indptr[1:])
    samples = csc.indices[differs].astype(np.int32)
    return SparseCodes(base, indptr, samples, codes[differs], cuts.n_values + (n_missing > 0), n_samples)


def _type_of(n_bins: int) -> Any:
    """Return the type of integers that holds so many bins and a code for missing values."""
    return np.min_scalar_type(n_bins)


@dataclass(frozen=True)
class Cuts:
    """The largest value of every bin but the last."""

    places: Floats
    """features x most that one can have."""
    number: Ints
    """How many each feature has."""
    n_values: Ints
    """Bins that hold a value: one more, and none where all values are missing."""

    @classmethod
    def joined(cls, parts: list[Cuts]) -> Cuts:
        """Put the cuts of some features after those of others."""
        number = np.concatenate([part.number for part in parts])
        places = np.zeros((len(number), int(number.max(initial=0))))
        stop = 0
        for part in parts:
            start, stop = stop, stop + len(part.number)
            width = int(part.number.max(initial=0))
            places[start:stop, :width] = part.places[:, :width]
        return cls(places, number, np.concatenate([part.n_values for part in parts]))

    def of(self, features: slice) -> Cuts:
        """Take the cuts of some features."""
        return Cuts(self.places[features], self.number[features], self.n_values[features])

    def codes(self, values: Floats) -> Array:
        """Return the bin of each value, of one row of values for each feature."""
        codes = np.zeros(values.shape, np.uint8)
        for c in range(int(self.number.max(initial=0))):
            own = self.number > c
            if own.all():
                codes += values > self.places[:, c : c + 1]
            else:
                codes[own] += values[own] > self.places[own, c : c + 1]
        return codes


#: From where each sorted column starts and ends, its entries, how often each counts, how many zeros it does
#: not store, how many of its samples differ, how many bins there may be, and what a tail holds at least.
CutFinder: TypeAlias = Callable[[Ints, Ints, Floats, Floats, Floats, Ints, int, int], Cuts]


def cut_finder(n_entries: int) -> CutFinder:
    """Return the function that finds the cuts: compiled where there are many entries."""
    plain = n_entries <= FEW_ENTRIES
    find_cuts: Callable[..., None] = cut_points.find_cuts if plain else _kernels.find_cuts

    def find(
        starts: Ints,
        stops: Ints,
        ordered: Floats,
        amounts: Floats,
        zeros: Floats,
        distinct: Ints,
        n_bins: int,
        tail: int,
    ) -> Cuts:
        n_features, longest = len(starts), int((stops - starts).max(initial=0)) + 1
        n_tails = 2 * math.ceil(math.log2(2 + amounts.sum() + zeros.sum())) if tail else 0
        places = np.empty((n_features, max(n_bins + n_tails, cut_points.DISCRETE)))
        number = np.empty(n_features, np.int64)
        columns: list[Any] = [starts, stops, ordered, amounts, zeros, distinct]
        scratch: list[Any] = [*np.empty((2, longest)), np.empty(longest, np.int64)]
        if plain:  # plain Python is faster with lists
            columns, scratch = [a.tolist() for a in columns], [a.tolist() for a in scratch]
        find_cuts(*columns, n_bins, float(tail), *scratch, places, number)
        return Cuts(places, number, number + ((stops > starts) | (zeros > 0)))

    return find


def distinct_samples(X: Data, y: Array | None = None) -> tuple[Ints, int]:
    """Count the samples that differ in X or y: for every feature those that have a value of it, and all.

    Samples are compared by sums of mixed bits modulo 2^64, which two samples share by chance in 1 of 1e19.
    Features on disk are read until all samples differ.
    """
    if isinstance(X, StoredColumns):
        return _distinct_stored(X, y)
    n_samples, n_features = X.shape
    rows = X.tocsr() if sp.issparse(X) else X
    own = np.random.default_rng(0).integers(2**64, size=n_features + 1, dtype=np.uint64)
    keys, missing = np.zeros(n_samples, np.uint64), np.zeros(n_samples, bool)
    if y is not None:
        keys += _mixed(np.unique(y, return_inverse=True)[1].ravel().astype(np.uint64) + own[-1])
    for span in spans(n_samples, max(1, BLOCK // max(1, n_features))):
        block = _canonical(rows[span])
        if sp.issparse(block):
            bits = np.append(np.uint64(0), np.cumsum(_mixed(block.data.view(np.uint64) + own[block.indices])))
            keys[span] += bits[block.indptr[1:]] - bits[block.indptr[:-1]]
            missing[span] = np.diff(np.append(0, np.isnan(block.data).cumsum())[block.indptr]) > 0
        else:
            keys[span] += _mixed(block.view(np.uint64) + own[:-1]).sum(axis=1)
            missing[span] = np.isnan(block).any(axis=1)
    first = np.unique(keys, return_index=True)[1]
    incomplete = first[missing[first]]
    return len(first) - _missing(_canonical(rows[incomplete])), len(first)


def _distinct_stored(X: StoredColumns, y: Array | None) -> tuple[Ints, int]:
    """Count the samples on disk that differ."""
    n_samples, n_features = X.shape
    own = np.random.default_rng(0).integers(2**64, size=n_features + 1, dtype=np.uint64)
    keys = np.zeros(n_samples, np.uint64)
    if y is not None:
        keys += _mixed(np.unique(y, return_inverse=True)[1].ravel().astype(np.uint64) + own[-1])
    for block in X.blocks(None):
        columns, start = block.columns, block.place.start
        for span in spans(columns.shape[1], max(1, BLOCK // n_samples)):
            bits = _canonical(columns[:, span]).view(np.uint64)
            keys += _mixed(bits + own[start + span.start : start + span.stop]).sum(axis=1)
            first = np.unique(keys, return_index=True)[1]
            if len(first) == n_samples:
                break
        if len(first) == n_samples:
            break
    distinct = np.full(n_features, len(first))
    if X.dtype.kind == "f" or X.missing is not None:
        for block in X.blocks(None):
            rows = block.columns[first]
            gone = np.isnan(rows) if X.missing is None else rows == X.missing
            distinct[block.place] -= gone.sum(axis=0)
    return distinct, len(first)


def _mixed(bits: Any) -> Any:
    """Mix the bits of each number over all 64, as the finaliser of SplitMix64 does."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        bits = (bits ^ (bits >> np.uint64(shift))) * np.uint64(factor)
    return bits ^ (bits >> np.uint64(31))


def _canonical(block: Data) -> Data:
    """Copy some samples, so that equal values have equal bits: one kind of zero, and one of NaN."""
    if sp.issparse(block):
        block = sp.csr_array(block, dtype=np.float64, copy=True)
        block.sum_duplicates()
        block.eliminate_zeros()
        block.data[np.isnan(block.data)] = np.nan
        return block
    block = np.ascontiguousarray(block, dtype=np.float64) + 0.0
    block[np.isnan(block)] = np.nan
    return block


def _missing(block: Data) -> Ints:
    """Count the missing values of each feature."""
    if sp.issparse(block):
        return np.bincount(block.indices[np.isnan(block.data)], minlength=block.shape[1])
    return np.asarray(np.isnan(block).sum(axis=0))
