"""Checks that every array, number, target and size passes before anything is computed."""

from __future__ import annotations

import gzip
import re
import sys
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from infused._runtime.messages import quoted
from infused._runtime.threads import format_bytes, memory_budget, require
from infused._typing import Array
from infused.exceptions import InputError, TargetWarning


def check_characters(array: Any, what: str) -> None:
    """Refuse texts with characters beyond Unicode, which a file may claim and no text of Python can hold."""
    if array.dtype.kind != "U" or not array.size or not array.dtype.itemsize:
        return
    codes = np.ascontiguousarray(array).view(np.dtype(np.uint32).newbyteorder(array.dtype.byteorder))
    if int(codes.max()) > sys.maxunicode:
        raise InputError(f"{what} holds characters beyond Unicode: it is damaged")


def in_double(array: Any, what: str) -> Any:
    """Return long doubles, dense or sparse, as float64; refuse those beyond its range.

    A cast would make infinities of them, behind every check for infinite values.
    """
    if array.dtype.kind != "f" or array.dtype.itemsize <= 8:
        return array
    with np.errstate(over="ignore"):
        found = array.astype(np.float64)
    given, cast = (array.data, found.data) if hasattr(array, "tocsr") else (array, found)
    if (np.isinf(cast) & np.isfinite(given)).any():
        raise InputError(f"{what} holds numbers beyond the range of float64 (1.8e308): scale it")
    return found


def settled(array: Any) -> Any:
    """Return an array as if it had been made here: aligned and writeable, copied where it is not.

    What comes from another process may begin at any byte. numba compiles its functions once more for such
    arrays, and sums may then round otherwise.
    """
    return (
        np.require(array, requirements=["ALIGNED", "WRITEABLE"]) if isinstance(array, np.ndarray) else array
    )


LONGEST_NUMBER = 1000  # characters; no number that anybody means has more

# Every text can be matched in one way alone: where there are two, a regular expression tries both.
PLAIN = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def is_number(text: str) -> bool:
    """Return whether a text is a number as programs write it, spaces around it aside."""
    return len(text) <= LONGEST_NUMBER and PLAIN.fullmatch(text.strip()) is not None


VALUE_BYTES = 16  # of a number, as it is read and in the matrix that is made of it
COLUMN_BYTES = 8000  # of a column of a table, whatever it holds: its name, its type, its pieces
FEATURE_BYTES = 1000  # of a column of a matrix: its name and what is said of it
MOST_EXPANSION = 1032  # of deflate, which .gz, .zip, .npz and .mat use


def check_table(n_rows: float, n_columns: float, where: str, column_bytes: int = COLUMN_BYTES) -> None:
    """Refuse a table of this size where it would pass the memory budget."""
    n_bytes = max(VALUE_BYTES * n_rows, column_bytes) * n_columns
    size = f"{int(n_rows):,} x {int(n_columns):,} values" if n_rows else f"{int(n_columns):,} columns"
    require(int(n_bytes), memory_budget(), f"{where}, with {size},", "give fewer columns or rows")


def most_unpacked(largest: int) -> int:
    """Return the bytes that a packed file may hold: no more than the memory budget."""
    return min(largest, memory_budget())


def check_archive(path: Path, share: float = 1.0) -> None:
    """Refuse a zip archive whose members would pass the budget; one byte of them takes ``1 / share``."""
    with zipfile.ZipFile(path) as archive:
        size = sum(member.file_size for member in archive.infolist())
    require(int(size / share), memory_budget(), f"{quoted(path)}, unpacked,", "give a smaller file")


def check_stream(path: Path) -> int | None:
    """Count the bytes in a gzipped file where a table of them could pass the memory budget."""
    limit, packed = memory_budget(), path.stat().st_size
    if VALUE_BYTES * packed * MOST_EXPANSION <= limit:
        return None
    size = 0
    with gzip.open(path, "rb") as stream:
        while chunk := stream.read(1 << 20):
            size += len(chunk)
            if size > limit:
                raise InputError(f"{quoted(path)} holds more than {format_bytes(limit)}: give a smaller file")
    return size


FEW_VALUES, SURELY_CLASSES = 20, 10
NUMBERED, STEPS = 0.9, 0.5  # of the steps from the first value to the last, how many are values
UNEVEN = 0.1  # of the frequency of the most frequent value
ONE_SIDED_95 = 1.645  # of the normal distribution
EXACT = 2**53  # whole numbers from here on have neighbours that float64 cannot tell apart


def are_classes(y: Array) -> bool:
    """Return whether y, of one column, holds classes: texts do, fractions do not, whole numbers may.

    Up to 10 different ones are classes. Up to 20 are where at least half of the steps from the first to the
    last are there, and more where they are numbered from 0 or 1 on, nearly without holes; but not if they are
    spread like counts, some far rarer than others and neighbours similarly frequent. The number of samples
    has no say, so that a part of them is taken for what all of them are.
    """
    if y.dtype.kind not in "iuf":
        return True
    if y.dtype.kind == "f" and not (y == np.floor(y)).all():
        return False
    values, times = np.unique(y, return_counts=True)
    if len(values) <= SURELY_CLASSES:
        return True
    few = len(values) <= FEW_VALUES and _present(values) >= STEPS
    return (few or _numbered(values)) and not _like_counts(times)


def in_doubt(y: Array) -> bool:
    """Return whether y, of one column, holds whole numbers that could be classes or measured values."""
    if y.dtype.kind not in "iuf" or (y.dtype.kind == "f" and not _exactly_whole(y)):
        return False
    values, times = np.unique(y, return_counts=True)
    if len(values) <= SURELY_CLASSES:
        return False
    return not _numbered(values) or bool(times.min() < UNEVEN * times.max())


def _numbered(values: Array) -> bool:
    return bool(values[0] in (0, 1)) and _present(values, 1.0) >= NUMBERED


def _present(values: Array, step: float | None = None) -> float:
    """Return the share of the steps from the first value to the last that are values themselves."""
    step = float(np.diff(values).min()) if step is None else step
    return len(values) / ((float(values[-1]) - float(values[0])) / step + 1)


def _like_counts(times: Array) -> bool:
    """Compare neighbouring frequencies by von Neumann's ratio, which is 2 where their order means nothing."""
    if times.min() >= UNEVEN * times.max():
        return False
    logs, n = np.log(times), len(times)
    ratio = (np.diff(logs) ** 2).sum() / ((logs - logs.mean()) ** 2).sum()
    return bool(ratio < 2 - 2 * ONE_SIDED_95 * np.sqrt((n - 2) / (n**2 - 1)))


def told_kind(y: Array) -> bool:
    """Return whether y holds classes; warn where it is in doubt."""
    classes = are_classes(y)
    if in_doubt(y):
        taken, other = ("classes", "measured values") if classes else ("measured values", "classes")
        warnings.warn(
            f"y holds {len(np.unique(y))} different whole numbers in {len(y):,} samples, which are taken as "
            f"{taken}; if they are {other}, say so with the parameter target.",
            TargetWarning,
            stacklevel=2,
        )
    return classes


def _exactly_whole(y: Array) -> bool:
    """Return whether numbers are whole that could have been fractions: larger ones have none to show."""
    return bool((y == np.floor(y)).all() and (np.abs(y) < EXACT).all())


def check_varied(y: Array) -> None:
    """Refuse a target of which all samples have the same value: nothing tells them apart."""
    rows = y.reshape(len(y), -1)
    if len(rows) and (rows[1:] != rows[:1]).any():
        return
    raise InputError(
        "The number of classes in y has to be greater than one; got 1 class: all samples have the same value."
    )


def sound(X: Any, what: str = "X") -> Any:
    """Return X where it is dense, or CSR or CSC in order; else a CSR or CSC copy with duplicates summed.

    A pointer or an index outside its range ends the process, or reads what is not there, in whatever uses the
    matrix: it is refused here. All entries are looked at, whatever the flags of the matrix say.
    """
    if not hasattr(X, "tocsr") or not hasattr(X, "format"):
        return X
    _refuse(X, what)
    if X.format not in ("csr", "csc"):
        X = X.tocsr()
        _refuse(X, what)  # lists of rows and dictionaries are read only now
    if X.dtype.kind not in "biufc":
        return X  # no numbers, which is told by whoever needs them
    fresh = type(X)((X.data, X.indices, X.indptr), shape=X.shape)  # without the flags, which may be wrong
    if fresh.has_canonical_format:
        return X if getattr(X, "has_canonical_format", False) else fresh
    fresh = fresh.copy()
    with np.errstate(over="ignore", invalid="ignore"):  # an infinite sum is told by whoever needs numbers
        fresh.sum_duplicates()
    return fresh


def _refuse(X: Any, what: str) -> None:
    if len(X.shape) != 2:
        raise InputError(f"{what} is a sparse array of {len(X.shape)} dimensions; it must have two.")
    found = damage(X)
    if found is not None:
        raise InputError(f"{what} is a damaged sparse matrix: {found}. Make it anew from its entries.")


def damage(X: Any) -> str | None:
    """Find what is wrong with the structure of a sparse matrix of SciPy; None where nothing is."""
    if X.format in ("csr", "csc"):
        major, minor = X.shape if X.format == "csr" else X.shape[::-1]
        return _compressed(X, major, minor)
    if X.format == "bsr":
        rows, columns = X.blocksize if X.data.ndim == 3 else (0, 0)
        if rows < 1 or columns < 1:
            return "its blocks have no size"
        return _compressed(X, X.shape[0] // rows, X.shape[1] // columns)
    if X.format == "coo":
        return _coordinates(X)
    if X.format == "dia":
        sizes = X.data.ndim == 2 and X.offsets.shape == X.data.shape[:1]
        return None if sizes else "it has another number of diagonals than of offsets"
    if X.format == "lil":
        return _lists(X)
    return None  # a dictionary, whose entries are looked at once they are arrays


def _compressed(X: Any, major: int, minor: int) -> str | None:
    indptr, indices = np.asarray(X.indptr), np.asarray(X.indices)
    if not _whole(indptr) or not _whole(indices) or X.data.ndim != (3 if X.format == "bsr" else 1):
        return "its pointers and indices are no lists of whole numbers"
    if len(indptr) != major + 1:
        return f"it has {len(indptr):,} pointers where {major + 1:,} belong"
    if len(indices) != len(X.data):
        return f"it has {len(indices):,} indices for {len(X.data):,} values"
    if indptr[0] != 0 or indptr[-1] > len(indices) or (indptr[1:] < indptr[:-1]).any():
        return f"its pointers do not rise from 0 to {len(indices):,}"
    return _range(indices[: indptr[-1]], minor)


def _coordinates(X: Any) -> str | None:
    if not _whole(X.row) or not _whole(X.col) or not len(X.row) == len(X.col) == len(X.data):
        return "its rows, columns and values are no lists of one length"
    return _range(X.row, X.shape[0]) or _range(X.col, X.shape[1])


def _lists(X: Any) -> str | None:
    if len(X.rows) != X.shape[0] or len(X.data) != X.shape[0]:
        return f"it has {len(X.rows):,} lists where {X.shape[0]:,} belong"
    lengths = all(len(row) == len(values) for row, values in zip(X.rows, X.data, strict=True))
    return None if lengths else "a row has other numbers of indices and values"


def _whole(indices: Any) -> bool:
    array = np.asarray(indices)
    return array.ndim == 1 and array.dtype.kind in "iu"


def _range(indices: Any, size: int) -> str | None:
    if not len(indices):
        return None
    lowest, highest = int(indices.min()), int(indices.max())
    outside = lowest if lowest < 0 else highest
    return None if lowest >= 0 and highest < size else f"an index is {outside:,}, outside 0 to {size - 1:,}"
