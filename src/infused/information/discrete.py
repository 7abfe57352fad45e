"""Features as small integers: equal-frequency bins, and values that are few as they are.

A discrete feature keeps its values: one with at most ``n_bins`` of them, or with at most 32 of which each has
five samples or more on average. Copies of a sample count once here, whatever its weight: measured values do
not become categories by being repeated. Otherwise a value that holds an equal share
of the samples has a bin of its own (the zeros of a count, say), and the others share the remaining bins.
Equal values are always in one bin, and an increasing transform of a feature changes nothing. A gap is a code
of its own, the last, and has no part in the bins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from infused import _kernels
from infused._kernels import cut_points
from infused._runtime.threads import Workers, spans, workers
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
        """From the codes of each feature."""
        n_codes = np.array([int(row.max(initial=0)) + 1 for row in rows], dtype=np.int64)
        return cls(np.array(rows, dtype=_type_for(n_codes)), n_codes)

    @property
    def shape(self) -> tuple[int, int]:
        """(features, samples)."""
        n_features, n_samples = self.codes.shape
        return n_features, n_samples

    @property
    def n_stored(self) -> int:
        """Entries that are stored."""
        return self.codes.size

    def rows(self, features: slice) -> Array:
        """The code of every sample, of some features."""
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
        """(features, samples)."""
        return len(self.base), self.n_samples

    @property
    def n_stored(self) -> int:
        """Entries that are stored."""
        return len(self.codes)

    def row(self, feature: int) -> Array:
        """The code of every sample."""
        own = slice(self.indptr[feature], self.indptr[feature + 1])
        codes = np.full(self.n_samples, self.base[feature])
        codes[self.samples[own]] = self.codes[own]
        return codes

    def rows(self, features: slice) -> Array:
        """The code of every sample, of some features."""
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


Codes = DenseCodes | SparseCodes


def discretize(
    X: Data,
    n_bins: int = 5,
    n_jobs: int | None = None,
    weights: Array | None = None,
    distinct: Ints | None = None,
) -> Codes:
    """The codes of every feature: sparse when X is.

    Parameters
    ----------
    X : array or sparse array of shape (n_samples, n_features)
        Finite numbers, or NaN for gaps. Only the entries that are not zero are looked at when X is sparse;
        the codes are those of the dense array.
    n_bins : int
        At least 2, at most 256.
    n_jobs : int, optional
        Threads; -1 for every core.
    weights : ndarray of shape (n_samples,), optional
        How often each sample counts: integers, or numbers of mean one.
    distinct : ndarray of shape (n_features,), optional
        How many samples differ that have a value of the feature, see
        :func:`infused.information.discrete.distinct_samples`; by default those that differ in X.
    """
    if not 2 <= n_bins <= MAX_BINS:
        raise InputError(f"n_bins must be between 2 and {MAX_BINS}, got {n_bins}.")
    distinct = distinct_samples(X)[0] if distinct is None else distinct
    if sp.issparse(X):
        return _discretize_sparse(X, n_bins, weights, distinct)
    if weights is not None:
        codes = _discretize_weighted(X, n_bins, weights, distinct)
    else:
        with workers(n_jobs) as pool:
            codes = _discretize_dense(X, n_bins, distinct, pool)
    return _with_gaps(codes, X, n_bins, weights, distinct)


def joint_codes(codes: Codes, groups: Ints) -> Codes:
    """The codes of groups of features, each as one variable: one code for each combination that occurs.

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
    if isinstance(codes, DenseCodes):
        return DenseCodes.of([_combined(codes.codes[own], codes.n_codes[own]) for own in members])
    return _joint_of_sparse(codes, members)


def _joint_of_sparse(codes: SparseCodes, members: list[Ints]) -> SparseCodes:
    """A sample differs from a group's default where it does so in any of its features."""
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
    """One code for each distinct column of a small table, numbered from 0."""
    result: Ints = rows[0].astype(np.int64)
    for row, n in zip(rows[1:], n_codes[1:], strict=True):
        result = np.unique(result * n + row, return_inverse=True)[1]
    return result


def _type_for(n_codes: Ints) -> Any:
    """The smallest type of integers that holds so many codes."""
    return np.min_scalar_type(int(n_codes.max(initial=1)) - 1)


def target_codes(
    X: Data, y: Any, *, target: Target = "auto", n_bins: int = 5, weights: Array | None = None
) -> Ints:
    """The class of each sample as 0 .. C-1; real values are binned as features are."""
    if target == "auto":
        kind_of_target(y, raise_unknown=True)
    values, kind = resolve_target(X, y, target)
    if kind == "classes":
        return class_codes(values)[0]
    _, n_distinct = distinct_samples(X, values)
    codes = discretize(values[:, None], n_bins, weights=weights, distinct=np.array([n_distinct]))
    return np.asarray(codes.codes[0], dtype=np.int64)


def _discretize_dense(X: Array, n_bins: int, distinct: Ints, pool: Workers) -> DenseCodes:
    n_samples, n_features = X.shape
    codes = np.empty((n_features, n_samples), np.uint8)
    n_codes = np.empty(n_features, np.int64)
    find = cut_finder(X.size)

    def run(span: slice) -> None:
        columns = np.ascontiguousarray(X[:, span].T, dtype=np.float64)
        whole = np.arange(len(columns) + 1, dtype=np.int64) * n_samples
        ordered, amount = np.sort(columns, axis=1).ravel(), np.ones(columns.size)
        cuts = find(whole, ordered, amount, distinct[span], n_samples, n_bins)
        codes[span] = cuts.codes(columns)
        n_codes[span] = cuts.number + 1

    pool.run(run, spans(n_features, max(1, BLOCK // n_samples)))
    return DenseCodes(codes, n_codes)


def _discretize_weighted(X: Array, n_bins: int, weights: Array, distinct: Ints) -> DenseCodes:
    """The same with weights: one column after the other, as weights must be brought into its order."""
    n_samples, n_features = X.shape
    codes, n_codes = np.empty((n_features, n_samples), np.uint8), np.empty(n_features, np.int64)
    find = cut_finder(X.size)
    for j in range(n_features):
        values, places = np.unique(X[:, j].astype(np.float64), return_inverse=True)
        cuts = _cuts(find, values, _sums(weights, places), distinct[j], n_bins)
        codes[j] = np.searchsorted(cuts, values)[places]
        n_codes[j] = len(cuts) + 1
    return DenseCodes(codes, n_codes)


def _with_gaps(codes: DenseCodes, X: Array, n_bins: int, weights: Array | None, distinct: Ints) -> DenseCodes:
    """The codes with those columns made anew that have gaps."""
    with np.errstate(over="ignore", invalid="ignore"):
        sums = np.asarray(X.sum(axis=0), dtype=np.float64)
    holes = {j: hole for j in np.flatnonzero(np.isnan(sums)) if (hole := np.isnan(X[:, j])).any()}
    if not holes:
        return codes
    rows = list(codes.codes)
    for j, hole in holes.items():
        own = None if weights is None else weights[~hole]
        rows[j] = np.zeros(len(hole), np.int64)
        if not hole.all():
            present = discretize(X[~hole, j : j + 1], n_bins, weights=own, distinct=distinct[j : j + 1])
            rows[j][~hole], rows[j][hole] = present.codes[0], present.n_codes[0]
    return DenseCodes.of(rows)


def _sums(weights: Array, places: Ints) -> Floats:
    sums = np.zeros(places.max(initial=-1) + 1, weights.dtype)
    np.add.at(sums, places, weights)
    return sums.astype(np.float64)


def _cuts(find: CutFinder, values: Floats, counts: Floats, distinct: int, n_bins: int) -> Floats:
    """The largest value of every bin but the last, of distinct values and how often each counts."""
    cuts = find(np.array([0, len(values)]), values, counts, np.array([distinct]), len(values), n_bins)
    return cuts.places[0, : cuts.number[0]]


def _discretize_sparse(X: Data, n_bins: int, weights: Array | None, distinct: Ints) -> SparseCodes:
    csc = sp.csc_array(X, dtype=np.float64, copy=True)
    csc.sum_duplicates()
    csc.eliminate_zeros()
    n_samples, n_features = csc.shape
    indptr = csc.indptr.astype(np.int64)
    owners = np.repeat(np.arange(n_features), np.diff(indptr))
    if weights is None:
        ordered = csc.data.copy()
        for start, stop in pairwise(indptr):
            ordered[start:stop].sort()
        cuts = cut_finder(csc.nnz)(indptr, ordered, np.ones(csc.nnz), distinct, n_samples, n_bins)
        codes = Cuts(cuts.places[owners], cuts.number[owners]).codes(csc.data[:, None])[:, 0]
        base, n_codes = cuts.codes(np.zeros((n_features, 1)))[:, 0], cuts.number + 1
        weights, each = np.ones(n_samples, np.int64), np.unique(owners[np.isnan(csc.data)])
    else:
        codes, base = np.zeros(csc.nnz, np.uint8), np.zeros(n_features, np.uint8)
        n_codes, each = np.empty(n_features, np.int64), np.arange(n_features)
    if n_bins == MAX_BINS and np.isnan(csc.data).any():
        codes, base = codes.astype(np.uint16), base.astype(np.uint16)
    find = cut_finder(csc.nnz)
    for j in each:  # with weights, or with gaps
        own = slice(indptr[j], indptr[j + 1])
        entries = csc.data[own], weights[csc.indices[own]]
        base[j], n_codes[j] = _entry_codes(find, *entries, weights, distinct[j], n_bins, codes[own])
    differs = codes != base[owners]
    np.cumsum(np.bincount(owners[differs], minlength=n_features), out=indptr[1:])
    samples = csc.indices[differs].astype(np.int32)
    return SparseCodes(base, indptr, samples, codes[differs], n_codes, n_samples)


def _entry_codes(
    find: CutFinder, stored: Floats, own: Array, weights: Array, distinct: int, n_bins: int, codes: Array
) -> tuple[int, int]:
    """Set the bin of every stored entry of one column; return that of zero, and how many there are."""
    gap = np.isnan(stored)
    values, counts = stored[~gap], own[~gap]
    if len(stored) < len(weights):
        values, counts = np.append(values, 0.0), np.append(counts, weights.sum() - own.sum())
    if not len(values):
        codes[:] = 0
        return 0, 1
    values, places = np.unique(values, return_inverse=True)
    cuts = _cuts(find, values, _sums(counts, places), distinct, n_bins)
    codes[~gap] = np.searchsorted(cuts, stored[~gap])
    codes[gap] = len(cuts) + 1
    return int(np.searchsorted(cuts, 0.0)), len(cuts) + 1 + int(gap.any())


BLOCK = 2**18  # entries of X that are copied at a time: 2 MB
ENOUGH = cut_points.DISCRETE * cut_points.SAMPLES_EACH  # samples that differ: more of them change no bins
FEW_ENTRIES = 2**17  # that plain Python takes no longer for than it takes to load a kernel


@dataclass(frozen=True)
class Cuts:
    """The largest value of every bin but the last."""

    places: Floats
    """features x most that one can have."""
    number: Ints
    """How many each feature has."""

    def codes(self, values: Floats) -> Array:
        """The bin of each value, of one row of values for each feature."""
        codes = np.zeros(values.shape, np.uint8)
        for c in range(int(self.number.max(initial=0))):
            own = self.number > c
            if own.all():
                codes += values > self.places[:, c : c + 1]
            else:
                codes[own] += values[own] > self.places[own, c : c + 1]
        return codes


#: From the columns of a CSC matrix, each sorted, how often each entry counts, how many samples of each column
#: differ, how many entries there would be with those that are not stored, and how many bins there may be.
CutFinder: TypeAlias = Callable[[Ints, Floats, Floats, Ints, int, int], Cuts]


def cut_finder(n_entries: int) -> CutFinder:
    """What finds the cuts: compiled where there are many entries."""
    plain = n_entries <= FEW_ENTRIES
    find_cuts: Callable[..., None] = cut_points.find_cuts if plain else _kernels.find_cuts

    def find(
        indptr: Ints, ordered: Floats, amount: Floats, distinct: Ints, n_samples: int, n_bins: int
    ) -> Cuts:
        n_features, most = len(indptr) - 1, max(n_bins, cut_points.DISCRETE)
        longest = int(np.diff(indptr).max(initial=0)) + 1
        found = Cuts(np.empty((n_features, most)), np.empty(n_features, np.int64))
        columns: list[Any] = [indptr, ordered, amount, distinct]
        scratch: list[Any] = [*np.empty((2, longest)), np.empty(longest, np.int64)]
        if plain:  # plain Python is faster with lists
            columns, scratch = [a.tolist() for a in columns], [a.tolist() for a in scratch]
        find_cuts(*columns, n_samples, n_bins, *scratch, found.places, found.number)
        return found

    return find


def distinct_samples(X: Data, y: Array | None = None, enough: int = ENOUGH) -> tuple[Ints, int]:
    """Count the samples that differ in X or y: for every feature those that have a value of it, and all.

    Counting stops where all features have ``enough``, most often after as many rows.
    """
    n_samples, n_features = X.shape
    rows = X.tocsr() if sp.issparse(X) else X
    targets = np.zeros(n_samples, np.int64) if y is None else np.unique(y, return_inverse=True)[1].ravel()
    counts = np.zeros(n_features, np.int64)
    known: set[bytes] = set()
    for span in spans(n_samples, max(1, min(enough, BLOCK // max(1, n_features)))):
        block, new = _canonical(rows[span]), []
        for place, (values, target) in enumerate(zip(_bytes(block), targets[span], strict=True)):
            digest = blake2b(values + target.tobytes(), digest_size=16).digest()
            if digest not in known:
                known.add(digest)
                new.append(place)
        counts += len(new) - _gaps(block[new])
        if (counts >= enough).all():
            break
    return counts, len(known)


def _canonical(block: Data) -> Data:
    """Copy some samples, so that equal values have equal bytes: one kind of zero, and one of NaN."""
    if sp.issparse(block):
        block = sp.csr_array(block, dtype=np.float64, copy=True)
        block.sum_duplicates()
        block.eliminate_zeros()
        block.data[np.isnan(block.data)] = np.nan
        return block
    block = np.asarray(block, dtype=np.float64) + 0.0
    block[np.isnan(block)] = np.nan
    return block


def _bytes(block: Data) -> Iterator[bytes]:
    """Yield the bytes of each sample."""
    if not sp.issparse(block):
        yield from (row.tobytes() for row in block)
        return
    for start, stop in pairwise(block.indptr):
        yield block.indices[start:stop].tobytes() + block.data[start:stop].tobytes()


def _gaps(block: Data) -> Ints:
    """Count the missing values of each feature."""
    if sp.issparse(block):
        return np.bincount(block.indices[np.isnan(block.data)], minlength=block.shape[1])
    return np.asarray(np.isnan(block).sum(axis=0))
