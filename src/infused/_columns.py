r"""The matrix of features of a linear model, where it is dense and too large to copy.

.. math::

    X = D (A - 1 m') \,\mathrm{diag}(l)^{-1} - LR

with A as it is stored, in memory or on disk, in any type of number and any order; m and l are the means and
the lengths of its columns, D the roots of the weights of samples. Products go through A itself, in double
precision; standardised copies are made of those columns alone that a model takes.

A product with A less that with m loses digits where a mean is far larger than what varies around it: such
columns are standardised before they are multiplied, some at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, Protocol, overload

import numpy as np

from infused import _kernels
from infused._design import Scale, measured
from infused._runtime.compat import cached_property
from infused._runtime.messages import quoted, reason
from infused._runtime.threads import spans
from infused._typing import Array, Floats, Ints
from infused.exceptions import InputError

COPIED = 2**24  # entries of a design (128 MiB), up to which a standardised copy is made
ENTRIES_AT_ONCE = 2**21  # of a copy that lasts a moment
BLOCK = 4096  # columns that are multiplied at a time
FAR = 1e4  # a mean this many standard deviations from zero
ORDINARY = 1e100  # the squares of numbers up to here, and of their inverses, are in range
NONE_MISSING = -(2**62)  # a code that no value of one byte has


class Block(NamedTuple):
    """Some of the features that were asked for."""

    place: slice
    """Which of them."""
    values: Array
    """samples x columns, with other columns beside them."""
    start: int
    """The first of them in ``values``."""

    @property
    def columns(self) -> Array:
        """Return these features alone."""
        width = self.place.stop - self.place.start
        return self.values[:, self.start : self.start + width]


class Columns(Protocol):
    """Features as they are stored."""

    @property
    def shape(self) -> tuple[int, int]:
        """Return the numbers of samples and of features."""
        ...

    @property
    def dtype(self) -> np.dtype[Any]:
        """Return the type of the numbers."""
        ...

    @property
    def missing(self) -> int | None:
        """Return the number that stands for a missing value; it counts as the mean of its feature."""
        ...

    def take(self, features: Ints) -> Array:
        """Return some features, samples x features."""
        ...

    def blocks(self, features: Ints | None) -> Iterator[Block]:
        """Return some features, or all of them, a block at a time."""
        ...


@dataclass(frozen=True, eq=False)
class HeldColumns:
    """An array in memory."""

    A: Array
    missing: int | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Return the numbers of samples and of features."""
        n_samples, n_features = self.A.shape
        return n_samples, n_features

    @property
    def dtype(self) -> np.dtype[Any]:
        """Return the type of the numbers."""
        return self.A.dtype

    def take(self, features: Ints) -> Array:
        """Return some features, in the order of memory that the array has."""
        if self.A.flags.f_contiguous:
            return self.A.T.take(features, axis=0).T
        return self.A.take(features, axis=1)

    def blocks(self, features: Ints | None) -> Iterator[Block]:
        """Return some features, or all of them, a block at a time."""
        if features is None:
            for place in spans(self.shape[1], BLOCK):
                yield Block(place, self.A, place.start)
            return
        for place in spans(len(features), at_once(self.shape[0])):
            yield Block(place, self.take(features[place]), 0)


def at_once(n_samples: int) -> int:
    """Return how many columns are copied at a time."""
    return max(1, ENTRIES_AT_ONCE // n_samples)


@dataclass(frozen=True, eq=False)
class ColumnDesign:
    """X = D (A - 1 m') / l - LR: what dense arrays can do that the models ask for."""

    source: Columns
    features: Ints | None
    """Which of the source's; None for all."""
    scale: Scale
    root: Floats | None
    """The diagonal of D; None for one."""
    L: Floats
    """samples x rank."""
    R: Floats
    """rank x features."""
    samples: Ints | None = None
    """Rows that columns are cut down to; None for all."""
    square: Floats | None = None
    """The squared length of each column, where it is known."""

    __array_ufunc__ = None  # so that an array to the left of @ leaves the product to this class

    @classmethod
    def of(cls, source: Columns, standardize: bool, weights: Floats | None = None) -> ColumnDesign:
        """Measure the columns in one pass; not standardised, they are as they are, but constants are zero."""
        n_samples, n_features = source.shape
        known = {} if weights is not None else getattr(source, "scales", {})
        if standardize not in known:
            scale = Scale(*np.empty((3, n_features)))
            for block in source.blocks(None):
                found = _measured(block, source.missing, standardize, weights)
                for part, own in zip(scale, found, strict=True):
                    part[block.place] = own
                unknown = np.flatnonzero(~np.isfinite(found.mean))
                if len(unknown):
                    worst = block.place.start + int(unknown[0])
                    raise InputError(f"X has missing or infinite values, the first in feature {worst}")
            known[standardize] = scale
        scale = known[standardize]
        root = None if weights is None else np.sqrt(weights)
        none = np.empty((n_samples, 0)), np.empty((0, n_features))
        square = np.where(scale.length > 0, 1.0, 0.0) if standardize else None
        return cls(source, None, scale, root, *none, square=square)

    @property
    def shape(self) -> tuple[int, int]:
        """Return the numbers of samples and of features."""
        n_samples = self.source.shape[0] if self.samples is None else len(self.samples)
        return n_samples, len(self.scale.length)

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def T(self) -> TransposedColumns:
        """Return X', for the left of a product."""
        return TransposedColumns(self)

    def __getitem__(self, key: tuple[Any, Any]) -> Any:
        """Take columns, copied where they are few, or cut columns down to some rows."""
        rows, features = key
        if isinstance(features, slice) and features == slice(None):
            return replace(self, samples=np.arange(self.shape[0])[rows])
        if not (isinstance(rows, slice) and rows == slice(None)):
            raise IndexError("a design has rows or columns taken, not both at once")
        features = np.arange(self.shape[1])[features]
        if len(features) * self.source.shape[0] <= COPIED or self.samples is not None:
            return self.columns(features)
        part, source = self.restricted(features), self.source
        size = source.dtype.itemsize * len(features)
        if isinstance(source, HeldColumns) or part.features is None or size > 8 * COPIED // len(self):
            return part
        return replace(part, source=HeldColumns(source.take(part.features), source.missing), features=None)

    def restricted(self, features: Ints) -> ColumnDesign:
        """Return the design of some columns, of which none is copied."""
        own = features if self.features is None else self.features[features]
        square = None if self.square is None else self.square[features]
        scale, R = self.scale.of(features), self.R[:, features]
        return replace(self, features=own, R=R, scale=scale, square=square)

    def columns(self, features: Ints) -> Floats:
        """Return standardised copies of some columns, with each row's values together."""
        own = features if self.features is None else self.features[features]
        return self._standardised(self.source.take(own), features)

    def _standardised(self, A: Array, features: Any, rows: Any = slice(None)) -> Floats:
        """Standardise some rows of columns, which are copied."""
        scale, L = self.scale.of(features), self.L[rows]
        F: Floats = np.array(A, dtype=np.float64, order="C")
        if self.source.missing is not None:
            np.copyto(F, scale.mean * scale.largest, where=self.source.missing == A)
        F = scale.apply(F, None if self.root is None else self.root[rows])
        if L.shape[1]:
            F -= L @ self.R[:, features]
        return F if self.samples is None else F[self.samples]

    def __matmul__(self, B: Floats) -> Floats:
        """Compute XB, by the columns where B is not zero."""
        rows = np.flatnonzero(B if B.ndim == 1 else B.any(axis=1))
        out = np.zeros((len(self), *B.shape[1:]))
        for some in spans(len(rows), at_once(len(self.L))):
            out += self.columns(rows[some]) @ B[rows[some]]
        return out

    def __rmatmul__(self, A: Floats) -> Floats:
        """Compute AX."""
        return self.pulled(A.T).T

    def pulled(self, W: Floats) -> Floats:
        """Compute X'W, features x columns of W."""
        V = W if self.root is None else self.root[:, None] * W
        sums, out = V.sum(axis=0), np.empty((self.shape[1], W.shape[1]))
        for block in self.source.blocks(self.features):
            place, scale = block.place, self.scale.of(block.place)
            if self._direct[place].all():
                fill = scale.mean * scale.largest
                own = products(block, V, self.source.missing, fill) / scale.largest[:, None]
                own -= scale.mean[:, None] * sums
                own *= _inverse(scale.length)[:, None]
            else:
                own = np.concatenate([F.T @ W for _, F in self._parts(block)])
            out[place] = own
        if self.L.shape[1]:
            out -= self.R.T @ (self.L.T @ W)
        return out

    @cached_property
    def _direct(self) -> Array:
        """Find the columns that can be multiplied as they are stored."""
        largest, mean, length = self.scale
        usual = (largest < ORDINARY) & (largest > 1 / ORDINARY)
        near = np.abs(mean) * np.sqrt(self.source.shape[0]) <= FAR * length
        return np.asarray((usual & near) | (length == 0))

    def _parts(self, block: Block) -> Iterator[tuple[slice, Floats]]:
        """Standardise a block, a few columns at a time; without LR."""
        base = replace(self, L=self.L[:, :0], R=self.R[:0])
        start = block.place.start
        for some in spans(block.place.stop - start, at_once(len(self.L))):
            place = slice(start + some.start, start + some.stop)
            yield place, base._standardised(block.columns[:, some], place)

    def gram(self, other: ColumnDesign) -> Floats:
        """Compute X'Z for another design of the same samples."""
        out = np.empty((self.shape[1], other.shape[1]))
        for some in spans(other.shape[1], at_once(len(self.L))):
            out[:, some] = self.pulled(other.columns(np.arange(other.shape[1])[some]))
        return out

    def any(self, axis: int = 0) -> Array:
        """Find the columns that are not zero."""
        if axis != 0:
            raise ValueError("only columns can be asked for")
        return np.asarray(self.scale.length > 0)

    def toarray(self) -> Floats:
        """Form X itself."""
        return self.columns(np.arange(self.shape[1]))

    def squares(self) -> Floats:
        """Compute the squared length of each column."""
        return self._measured_squares if self.square is None else self.square

    @cached_property
    def _measured_squares(self) -> Floats:
        out = np.empty(self.shape[1])
        for place, F in self.parts():
            out[place] = np.einsum("ij,ij->j", F, F)
        return out

    def parts(self) -> Iterator[tuple[slice, Floats]]:
        """Return standardised copies of all columns, a few at a time."""
        for block in self.source.blocks(self.features):
            for place, F in self._parts(block):
                yield place, F - self.L @ self.R[:, place] if self.L.shape[1] else F

    def inner(self, first: Ints, second: Ints) -> Floats:
        """Compute x_i'x_j of some pairs of columns."""
        out = np.empty(len(first))
        for some in spans(len(first), at_once(len(self.L))):
            out[some] = (self.columns(first[some]) * self.columns(second[some])).sum(axis=0)
        return out

    def scaled(self, factors: Floats) -> ColumnDesign:
        """Multiply every column with a number of its own."""
        length = self.scale.length * np.abs(_inverse(factors))
        square = None if self.square is None else self.square * factors**2
        scale = self.scale._replace(length=length)
        return replace(self, scale=scale, R=self.R * factors, square=square)

    def rows_scaled(self, factors: Floats) -> ColumnDesign:
        """Return X with every row times a number of its own."""
        root = factors if self.root is None else factors * self.root
        return replace(self, root=root, L=factors[:, None] * self.L, square=None)

    def less(self, L: Floats, R: Floats) -> ColumnDesign:
        """Subtract LR."""
        return replace(self, L=np.hstack([self.L, L]), R=np.vstack([self.R, R]), square=None)


@dataclass(frozen=True, eq=False)
class TransposedColumns:
    """X' of such a design: its rows are features."""

    T: ColumnDesign
    __array_ufunc__ = None

    def __getitem__(self, features: Any) -> Any:
        """Take one feature's values, or some features."""
        if isinstance(features, int | np.integer):
            return self.T.columns(np.array([features]))[:, 0]
        return self.T[:, features].T

    def __matmul__(self, other: Floats | ColumnDesign) -> Floats:
        if isinstance(other, ColumnDesign):
            return self.T.gram(other)
        found = self.T.pulled(other if other.ndim == 2 else other[:, None])
        return found if other.ndim == 2 else found[:, 0]


def products(block: Block, W: Floats, missing: int | None, fill: Floats) -> Floats:
    """Compute A'W of a block of features as they are stored; a missing value is the fill of its feature."""
    A, start, stop = block.values, block.start, block.start + len(fill)
    if A.dtype == np.float64 and missing is None:
        return np.asarray(A[:, start:stop].T @ W)
    rows = np.ascontiguousarray(W.T)
    if (
        not A.dtype.isnative
        or A.dtype.kind == "b"
        or A.dtype.itemsize not in (1, 2, 4, 8)
        or A.dtype == np.float16
    ):
        A, start, stop = A[:, start:stop].astype(np.float64), 0, stop - start
    if A.flags.c_contiguous and missing is None:
        turned = np.zeros((W.shape[1], len(fill)))
        _kernels.sample_products(A, start, stop, rows, turned)
        return turned.T
    if not A.flags.f_contiguous:
        A, start, stop = np.asfortranarray(A[:, start:stop]), 0, stop - start
    out = np.empty((len(fill), W.shape[1]))
    _kernels.feature_products(
        A.T, start, stop, rows, np.nan if missing is None else float(missing), fill, out
    )
    return out


def _measured(block: Block, missing: int | None, standardize: bool, weights: Floats | None) -> Scale:
    """Measure the features of a block; whole numbers of one byte by sums without rounding."""
    A, n_samples = block.columns, len(block.values)
    if A.dtype.kind in "iu" and A.dtype.itemsize == 1 and standardize and weights is None:
        return _counted(np.asfortranarray(A), missing)
    parts = []
    for some in spans(A.shape[1], at_once(n_samples)):
        F = np.array(A[:, some], dtype=np.float64, order="C")
        if missing is not None:
            gone = np.equal(A[:, some], missing)
            present = (~gone).sum(axis=0)
            mean = np.where(gone, 0.0, F).sum(axis=0) / np.maximum(present, 1)
            np.copyto(F, mean, where=gone)
        if standardize:
            parts.append(measured(F, weights))
        else:
            varies = (F.max(axis=0) > F.min(axis=0)) * 1.0
            parts.append(Scale(np.ones_like(varies), np.zeros_like(varies), varies))
    return Scale(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def _counted(A: Array, missing: int | None) -> Scale:
    """Measure whole numbers of one byte."""
    sums = np.empty((A.shape[1], 3), np.int64)
    _kernels.feature_sums(A.T, 0, A.shape[1], NONE_MISSING if missing is None else missing, sums)
    present, total, squares = sums.T
    mean = total / np.maximum(present, 1)
    # n sum a^2 - (sum a)^2 is exact: of a million values of one byte it is below 2^63.
    length = np.sqrt((present * squares - total * total) / np.maximum(present, 1))
    return Scale(np.ones_like(mean), mean, length)


def _inverse(values: Floats) -> Floats:
    """Return one over each value; zero where it is zero."""
    return np.divide(1.0, values, out=np.zeros_like(values), where=values != 0)


READ_BYTES = 2**25  # that are read at a time
KEPT_BYTES = 2**27  # of columns that were read one by one, which are asked for again and again
WORTH_ALL = 8  # a block is read whole where at least every so manieth of its features is wanted


@dataclass(eq=False)
class StoredColumns:
    """Features on disk, read when they are needed: some thousands at a time, with one block read ahead.

    It takes the place of X in ``fit`` of the selectors that go through data in passes.

    Parameters
    ----------
    shape : tuple of int
        Samples and features.
    dtype : numpy.dtype
        The type of the numbers.
    read : callable
        Returns the features from a first to before a last, samples x features.
    files : tuple of str
        What is read; where it changes between two readings, that is an error.
    missing : int or None, default=None
        The number that stands for a missing value, which counts as the mean of its feature.
    width : int or None, default=None
        Features to read at a time; by default 32 MB.
    pick : callable or None, default=None
        Returns some features, where that takes less than to read what lies between them.
    names : tuple of str or None, default=None
        What the features are called.
    """

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    read: Callable[[int, int], Array]
    files: tuple[str, ...]
    missing: int | None = None
    width: int | None = None
    pick: Callable[[Ints], Array] | None = None
    names: tuple[str, ...] | None = None
    scales: dict[bool, Scale] = field(default_factory=dict, init=False, repr=False)
    """What the columns are standardised by, once it was measured."""

    def __post_init__(self) -> None:
        self.width = self.width or max(1, READ_BYTES // (self.dtype.itemsize * self.shape[0]))
        self._seen = self._states()
        self._kept: tuple[Ints, Array] | None = None

    @property
    def ndim(self) -> int:
        """Return two."""
        return 2

    @property
    def size(self) -> int:
        """Count the values."""
        return self.shape[0] * self.shape[1]

    def __len__(self) -> int:
        return self.shape[0]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        whole: Array = np.asarray(self[:, :], dtype=dtype)
        return whole

    @overload
    def __getitem__(self, key: tuple[Any, Any]) -> Array: ...
    @overload
    def __getitem__(self, key: Ints) -> StoredColumns: ...
    def __getitem__(self, key: Any) -> Any:
        """Read some features, where a missing value is the mean of its feature; or leave out samples."""
        if not isinstance(key, tuple):
            return self._of_samples(np.arange(len(self))[key])
        rows, features = key
        A: Array = self.take(np.arange(self.shape[1])[features])[rows]
        if self.missing is None or not np.equal(A, self.missing).any():
            return A
        gone = np.equal(A, self.missing)
        means = np.where(gone, 0, A).sum(axis=0) / np.maximum((~gone).sum(axis=0), 1)
        return np.asarray(np.where(gone, means, A))

    def _of_samples(self, rows: Ints) -> StoredColumns:
        """Return the same features of some samples: all are read, and the others left out."""
        read = partial(_some_samples, self.read, rows)
        pick = None if self.pick is None else partial(_some_samples, self.pick, rows)
        return replace(self, shape=(len(rows), self.shape[1]), read=read, pick=pick)

    def take(self, features: Ints) -> Array:
        """Read some features; those that were taken last are kept."""
        held, columns = self._kept or (np.empty(0, np.int64), np.empty((self.shape[0], 0), self.dtype))
        new = np.setdiff1d(features, held)
        if len(new):
            self._check()
            found = self._picked(new)
            most = KEPT_BYTES // (self.dtype.itemsize * self.shape[0])
            if len(held) + len(new) > most:
                wanted = np.isin(held, features)
                held, columns = held[wanted], columns[:, wanted]
            held, columns = np.concatenate([held, new]), np.concatenate([columns, found], axis=1)
            if len(held) <= most:
                self._kept = held, columns
        order = np.argsort(held)
        return columns.T.take(order[np.searchsorted(held, features, sorter=order)], axis=0).T

    def _picked(self, features: Ints) -> Array:
        """Read features that are sorted."""
        if self.pick is not None:
            return self.pick(features)
        out = np.empty((self.shape[0], len(features)), self.dtype, order="F")
        for start in range(0, self.shape[1], self.width or 1):
            a, b = np.searchsorted(features, [start, start + (self.width or 1)])
            if a < b:
                first = int(features[a])
                out[:, a:b] = self.read(first, int(features[b - 1]) + 1)[:, features[a:b] - first]
        return out

    def blocks(self, features: Ints | None) -> Iterator[Block]:
        """Read some features, or all of them, a block at a time; the next is read meanwhile."""
        every = np.arange(self.shape[1]) if features is None else features
        if (np.diff(every) <= 0).any():  # one by one
            for place in spans(len(every), self.width or 1):
                yield Block(place, self.take(every[place]), 0)
            return
        self._check()
        edges = np.arange(0, self.shape[1] + (self.width or 1), self.width)
        cuts = np.searchsorted(every, edges)
        pieces = [(a, b) for a, b in pairwise(cuts.tolist()) if a < b]
        with ThreadPoolExecutor(1, "infused") as reader:
            ahead = reader.submit(self._block, every[slice(*pieces[0])]) if pieces else None
            for n, (a, b) in enumerate(pieces):
                values = ahead.result() if ahead is not None else np.empty(0)
                if n + 1 < len(pieces):
                    ahead = reader.submit(self._block, every[slice(*pieces[n + 1])])
                yield Block(slice(a, b), values, 0)
        self._check()

    def _block(self, features: Ints) -> Array:
        first, last = int(features[0]), int(features[-1]) + 1
        if WORTH_ALL * len(features) < last - first:
            return self._picked(features)
        found = self.read(first, last)
        return found if len(features) == last - first else found[:, features - first]

    def to_dask(self) -> Any:
        """Return an array of Dask, whose chunks the workers read."""
        import dask.array as da

        width = self.width or 1
        widths = tuple(span.stop - span.start for span in spans(self.shape[1], width))
        of_workers = replace(self, files=())
        chunks = ((self.shape[0],), widths)
        made: Any = da.map_blocks  # it carries no types
        meta = np.empty((0, 0), self.dtype)
        return made(partial(_chunk, of_workers), chunks=chunks, dtype=self.dtype, meta=meta)

    def _states(self) -> list[tuple[int, int]]:
        try:
            found = [Path(file).stat() for file in self.files]
        except OSError as error:
            raise InputError(f"{quoted(self.files[0])} cannot be read: {reason(error)}") from error
        return [(state.st_size, state.st_mtime_ns) for state in found]

    def _check(self) -> None:
        """Refuse what has changed since it was opened."""
        now = self._states()
        if now != self._seen:
            raise InputError(f"{quoted(self.files[0])} changed while it was read: open it again")


def _some_samples(read: Callable[..., Array], rows: Ints, *features: Any) -> Array:
    """Read features of all samples, and copy those of some."""
    found = read(*features)
    if found.flags.f_contiguous:
        return found.T.take(rows, axis=1).T
    return found.take(rows, axis=0)


def _chunk(columns: StoredColumns, block_info: Any = None) -> Array:
    """Read a chunk, on a worker."""
    _, (start, stop) = block_info[None]["array-location"]
    return columns.read(start, stop)


def stored_array(array: np.memmap[Any, Any], names: tuple[str, ...] | None = None) -> StoredColumns | None:
    """Take a whole file that is mapped as features on disk; None where it is a part of one."""
    if array.ndim != 2 or isinstance(array.base, np.memmap) or array.filename is None:
        return None
    if not (array.flags.c_contiguous or array.flags.f_contiguous):
        return None
    path, offset = str(array.filename), int(array.offset)
    by_feature = array.flags.f_contiguous
    how = partial(_read_features if by_feature else _read_samples, path, offset, array.shape, array.dtype)
    pick = partial(_pick_features, path, offset, array.shape, array.dtype) if by_feature else None
    n_samples, n_features = array.shape
    return StoredColumns((n_samples, n_features), array.dtype, how, (path,), pick=pick, names=names)


def _read_features(
    path: str, offset: int, shape: tuple[int, int], dtype: np.dtype[Any], start: int, stop: int
) -> Array:
    """Read features that lie one after the other."""
    out = np.empty((stop - start, shape[0]), dtype)
    with Path(path).open("rb", buffering=0) as file:
        fill(file, out, offset + start * shape[0] * dtype.itemsize, path)
    return out.T


def _pick_features(
    path: str, offset: int, shape: tuple[int, int], dtype: np.dtype[Any], features: Ints
) -> Array:
    out = np.empty((len(features), shape[0]), dtype)
    with Path(path).open("rb", buffering=0) as file:
        for row, feature in zip(out, features.tolist(), strict=True):
            fill(file, row, offset + feature * shape[0] * dtype.itemsize, path)
    return out.T


def _read_samples(
    path: str, offset: int, shape: tuple[int, int], dtype: np.dtype[Any], start: int, stop: int
) -> Array:
    """Read features of samples that lie one after the other."""
    out = np.empty((shape[0], stop - start), dtype)
    with Path(path).open("rb", buffering=0) as file:
        for sample, row in enumerate(out):
            fill(file, row, offset + (sample * shape[1] + start) * dtype.itemsize, path)
    return out


def fill(file: Any, out: Array, place: int, path: str) -> None:
    """Read an array from a place of a file: a map of one that is too short would end the process."""
    file.seek(place)
    bytes_left = memoryview(out.view(np.uint8).data).cast("B")
    while len(bytes_left):
        n_read = file.readinto(bytes_left)
        if not n_read:
            raise InputError(f"{quoted(path)} ends before its last value: it is incomplete, or was cut")
        bytes_left = bytes_left[n_read:]
