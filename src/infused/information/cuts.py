"""Where the bins of many features end, and how many samples differ."""

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
from infused._runtime.threads import spans
from infused._typing import Array, Data, Floats, Ints

__all__ = ["BLOCK", "CutFinder", "Cuts", "cut_finder", "distinct_samples"]

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
