"""Data as they were found, before any treatment: a table of columns, or a matrix of numbers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from infused._runtime.checks import EXACT, FEATURE_BYTES, check_characters, check_table, in_double, sound
from infused._runtime.messages import count, quoted, reason
from infused._typing import Array, Data, Floats
from infused.exceptions import InputError

#: "texts" are features whose types are known: a text file gives every value as it is written.
Part: TypeAlias = Literal["both", "features", "target", "texts"]
GridOrder: TypeAlias = Literal["rows", "columns"]

TARGET_NAMES = {"target", "label", "labels", "class", "y", "diagnosis", "outcome", "response", "species"}
LARGE = "whole numbers beyond 2^53"
REFUSED = {
    "O": "is an array of objects",
    "V": "is an array of records",
    "c": "holds complex numbers",
    "U": "holds text",
    "S": "holds text",
    "M": "holds dates",
    "m": "holds durations",
}


@dataclass(frozen=True)
class RawTable:
    """Columns of any type."""

    columns: Any
    """A pyarrow table."""
    y: Array | None = None
    """The target, where it came beside the columns; otherwise it is one of them."""
    target_name: str = "target"
    index: tuple[str, ...] = ()
    """Columns that were the row labels of a data frame."""
    notes: tuple[str, ...] = ()
    decimal: str = "."
    """The decimal sign of its texts."""
    lossy: frozenset[str] = frozenset()
    """Columns of which whole numbers lost digits when they were read."""


@dataclass(frozen=True)
class RawMatrix:
    """Features in one array, samples x features, dense or sparse, of any numeric type."""

    X: Data
    y: Array | None = None
    """As stored; None when there is none or it was not wanted."""
    target_name: str = "target"
    names: tuple[str, ...] | None = None
    """Feature names, where there are any."""
    grid_shape: tuple[int, int] | None = None
    """Rows and columns of the picture whose pixels are the features."""
    grid_order: GridOrder = "rows"
    """Whether the pixels are listed row by row or column by column."""


Raw: TypeAlias = RawTable | RawMatrix


def in_numbers(raw: Raw, where: str) -> Raw:
    """The same, a matrix as float64 (CSR where it came sparse), which may share memory with the given."""
    if isinstance(raw, RawTable) and raw.columns.num_columns == 0:
        raise DataError(f"{where} has no columns")
    return raw if isinstance(raw, RawTable) else replace(raw, X=_as_numbers(raw.X, where))


def validated(columns: Any) -> Any:
    """A pyarrow table from a file: its offsets, which pyarrow trusts, and its texts are checked."""
    columns.validate(full=True)
    "".join(columns.column_names)  # raises where a name is no UTF-8
    return columns


def as_array(values: Any, what: str) -> Array:
    """What NumPy makes of it; masked fractions are NaN, masked whole numbers stay masked."""
    if isinstance(values, np.ma.MaskedArray) and values.dtype.kind in "biuf":
        return values if values.dtype.kind != "f" else np.ma.filled(in_double(values, what), np.nan)
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise DataError(f"{what} is no array: {reason(error)}") from error
    check_characters(array, what)
    return array


def _as_numbers(X: Any, where: str) -> Data:
    from scipy import sparse

    X = sound(X, f"X of {where}") if sparse.issparse(X) else as_array(X, f"X of {where}")
    if X.ndim != 2:
        shape = "x".join(map(str, X.shape)) or "one value"
        raise DataError(
            f"X of {where} has {count(X.ndim, 'dimension')} ({shape}); it must be samples x features"
        )
    if X.dtype.kind in REFUSED:
        raise DataError(f"X of {where} {REFUSED[X.dtype.kind]}; it must hold real numbers")
    X = in_double(X, f"X of {where}")
    values = X.data if sparse.issparse(X) else X
    if too_large(values):
        raise DataError(f"X of {where} has {LARGE}, which would be rounded: store it as float64")
    if not sparse.issparse(X):
        check_table(X.shape[0] if X.dtype != np.float64 else 0, X.shape[1], f"X of {where}", FEATURE_BYTES)
        return (
            np.ma.filled(X.astype(np.float64), np.nan)
            if np.ma.isMaskedArray(X)
            else np.asarray(X, np.float64)
        )
    check_table(0, X.shape[1], f"X of {where}", FEATURE_BYTES)
    result = sparse.csr_array(X, dtype=np.float64)
    if not result.data.all():
        result = result.copy()  # the user's matrix stays as it is
        result.eliminate_zeros()
    return result


def too_large(values: Array) -> bool:
    """Return whether whole numbers are beyond 2^53, where float64 cannot hold them all."""
    if values.dtype.kind not in "iu" or values.dtype.itemsize < 8 or not np.ma.count(values):
        return False
    return max(int(values.max()), -int(values.min())) >= EXACT


def column_kind(kind: Any) -> str:
    """What a pyarrow type is to us: number, text, date, bytes or other objects."""
    from pyarrow import types

    if types.is_dictionary(kind):
        return column_kind(kind.value_type)
    if types.is_floating(kind) or types.is_integer(kind) or types.is_boolean(kind):
        return "number"
    if types.is_null(kind) or types.is_decimal(kind):
        return "number"
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return "text"
    if types.is_temporal(kind):
        return "date"
    return "bytes" if "binary" in str(kind) else "objects"


def column_numbers(column: Any) -> tuple[Floats, str | None]:
    """Return a column of numbers as float64, and what of it float64 cannot hold, if anything.

    NaN stands for a missing value; booleans are 0 and 1.
    """
    import pyarrow as pa
    from pyarrow import compute, types

    column = plain(column)
    kind = column.type
    if types.is_null(kind):
        return np.full(len(column), np.nan), None
    if types.is_decimal(kind):
        return _decimals(column)
    if types.is_boolean(kind):
        column = compute.cast(column, pa.float64())
    values = np.asarray(column.to_numpy(), dtype=np.float64)
    large = types.is_int64(kind) or types.is_uint64(kind)
    return values, LARGE if large and (np.abs(values) >= EXACT).any() else None


def _decimals(column: Any) -> tuple[Floats, str | None]:
    """Read decimals by their texts: pyarrow's own cast is off in the last place of every third of them."""
    import pyarrow as pa
    from pyarrow import compute

    texts = compute.cast(column, pa.string())
    values = np.asarray(compute.cast(texts, pa.float64()).to_numpy(), dtype=np.float64)
    if (np.abs(values) >= EXACT).any():
        return values, LARGE
    merged = len(texts.unique().drop_null()) > len(np.unique(values[~np.isnan(values)]))
    return values, "decimals that float64 cannot tell apart" if merged else None


def large_floats(table: Any) -> list[int]:
    """Return the columns of a pyarrow table that were read as fractions and hold numbers of 2^53 or more."""
    from pyarrow import compute, types

    found = []
    for j, column in enumerate(table.columns):
        if types.is_floating(column.type):
            ends = compute.min_max(column).as_py()
            if ends["max"] is not None and max(ends["max"], -ends["min"]) >= EXACT:
                found.append(j)
    return found


def plain(column: Any) -> Any:
    """The values themselves of a column of categories; texts without spaces around them, null when empty."""
    import pyarrow as pa
    from pyarrow import compute, types

    text = column_kind(column.type) == "text"
    if types.is_dictionary(column.type):
        kind = pa.string() if text else column.type.value_type
        values = [compute.take(compute.cast(c.dictionary, kind), c.indices) for c in column.chunks]
        column = pa.chunked_array(values, kind)  # a cast of the whole cannot decode polars' categories
    if not text:
        return column
    trimmed = compute.utf8_trim_whitespace(compute.cast(column, pa.string()))
    return compute.if_else(compute.equal(trimmed, ""), None, trimmed)


def likely_targets(table: Any) -> list[str]:
    """Columns that people tend to mean by the target: by their names, then the last and the first."""
    names = table.column_names
    known = [name for name in names if name.strip().casefold() in TARGET_NAMES]
    return list(dict.fromkeys([*known, names[-1], names[0]]))


class DataError(InputError):
    """The data cannot be used as they are; one line names the culprit and the option that helps.

    See Also
    --------
    load_data : Raises it.

    Examples
    --------
    >>> from infused.data import DataError, dataset_info
    >>> try:
    ...     dataset_info("wines")
    ... except DataError as error:
    ...     print(error)
    no data are named 'wines'; did you mean 'wine'?
    """


@contextmanager
def parsing(path: Path, what: str) -> Iterator[None]:
    """Turn whatever a library raises on a damaged file into a `DataError` that names the file.

    Truncated files make the parsers fail in many ways (``zlib.error``, ``struct.error``, ``KeyError``),
    so every exception counts; wrap the library's call alone, never code of ours.
    """
    try:
        yield
    except (InputError, MemoryError):
        raise
    except Exception as error:
        message = f"{quoted(path)} could not be read as {what}; is it complete? ({reason(error)})"
        raise DataError(message) from error
