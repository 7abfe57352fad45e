"""What data can be given as: a path, a name, a data frame, arrays, an AnnData object."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike, fspath
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from infused._runtime.extras import extra
from infused._runtime.messages import quoted, reason, suggestion
from infused._typing import Array
from infused.data.columns import check_text
from infused.data.download import check_address
from infused.data.errors import DataError
from infused.data.named import available_datasets, find_named, read_named
from infused.data.packed import (
    STANDARD_INPUT,
    address_name,
    inner_name,
    read_address,
    read_packed,
    read_standard_input,
)
from infused.data.raw import Part, Raw, RawMatrix
from infused.data.readers import format_of, has_reader, is_packed
from infused.data.readers.frames import annotated_matrix, frame_table, is_pandas, known_integers
from infused.data.target import in_float, target_from_array, target_from_column
from infused.data.treatment import Treatment
from infused.exceptions import InputError

__all__ = ["Source", "file_source", "find_source"]

#: What has a meaning for a table whose format is not known before it is read.
TABLES = frozenset({"target", "target_file", "separator", "encoding", "header"})

Read: TypeAlias = Callable[[Treatment, Part], Raw]


@dataclass(frozen=True)
class Source:
    """Where data are, before they are read."""

    read: Read
    heeds: frozenset[str]
    """Options on reading that have a meaning here."""
    where: str
    """What messages call it."""
    name: str = "data"
    origin: str | None = None
    """What to give to find the data again; None for data given in Python."""


def find_source(source: Any) -> Source:
    """The source that was given; files are looked for, but not yet read."""
    if isinstance(source, str | PathLike):
        known = find_named(fspath(source))
        return _named(known) if known is not None else file_source(source)
    if isinstance(source, tuple) and len(source) == 2:
        return _pair(*source)
    if all(hasattr(source, part) for part in ("obs", "var_names", "layers")):
        return _annotated(source)
    if _is_frame(source):
        heeds = frozenset({"target", "target_file"})
        return Source(lambda *_: frame_table(source), heeds, "the data frame")
    if hasattr(source, "ndim"):
        return Source(lambda *_: RawMatrix(source), frozenset({"target_file"}), "the array")
    raise InputError(
        f"data cannot be read from an object of type {type(source).__name__}: give a path, a name, "
        "a data frame, a pair (X, y) or an AnnData object"
    )


def file_source(source: str | PathLike[str]) -> Source:
    """A file that is there and has a reader, an address, or standard input."""
    if fspath(source) == STANDARD_INPUT:
        return Source(read_standard_input, TABLES, "standard input", "stdin", STANDARD_INPUT)
    if is_address(fspath(source)):
        return _address(fspath(source))
    path = Path(source).expanduser()
    if len(path.parts) == 1 and not path.suffix and not path.exists():
        names = available_datasets()
        raise DataError(
            f"{quoted(source)} is neither a file nor named data"
            f"{suggestion(fspath(source), names) or '; names are ' + ', '.join(names)}"
        )
    _check_file(path)
    if is_packed(path):
        inner = Path(inner_name(path))
        heeds = format_of(inner).options | {"target_file"} if has_reader(inner) else TABLES
        read: Read = partial(read_packed, path)
        return Source(read, heeds, quoted(path), _stem(inner), str(path))
    entry = format_of(path)
    read = partial(entry.read, path)
    return Source(read, entry.options | {"target_file"}, quoted(path), _stem(path), str(path))


def _stem(path: Path) -> str:
    return path.name[: -len("".join(path.suffixes[-2:]))] if path.suffix in (".gz", ".bz2") else path.stem


def _address(address: str) -> Source:
    """What will be fetched when it is read."""
    check_address(address)
    file = Path(address_name(address))
    inner = Path(file.stem) if is_packed(file) else file
    heeds = format_of(inner).options | {"target_file"} if has_reader(inner) else TABLES
    return Source(partial(read_address, address), heeds, quoted(address), _stem(inner), address)


def _check_file(path: Path) -> None:
    check_text([str(path)], "the name of the file")
    if path.is_dir():
        raise DataError(f"{quoted(path)} is a folder; give a file in it")
    try:
        size = path.stat().st_size
    except OSError as error:
        raise DataError(f"{quoted(path)} cannot be opened: {error.strerror or reason(error)}") from error
    if size == 0:
        raise DataError(f"{quoted(path)} is empty (0 bytes)")


def _named(name: str) -> Source:
    return Source(lambda *_: read_named(name), frozenset(), quoted(name), name, name)


def _annotated(data: Any) -> Source:
    where = "the AnnData object"
    return Source(
        lambda treatment, part: annotated_matrix(data, treatment, part, where),
        frozenset({"target", "target_file", "x_key"}),
        where,
    )


def _pair(X: Any, y: Any) -> Source:
    def read(_: Treatment, part: Part) -> Raw:
        raw = frame_table(X) if _is_frame(X) else RawMatrix(X)
        if part in ("features", "texts"):
            return raw
        values, name = _target(y)
        return replace(raw, y=values, target_name=name)

    return Source(read, frozenset(), "the pair")


def _is_frame(source: Any) -> bool:
    return hasattr(source, "columns") if is_pandas(source) else hasattr(source, "__arrow_c_stream__")


def _target(y: Any) -> tuple[Array, str]:
    """The values and the name of a series, of a frame of targets, or of anything that NumPy takes."""
    if _is_frame(y) and len(getattr(y, "shape", ())) == 2:
        table = frame_table(y)
        names = [name for name in table.columns.column_names if name not in table.index]
        columns = [target_from_column(table.columns.column(name), name) for name in names]
        if len(columns) == 1:
            return columns[0], names[0]
        numbers = all(values.dtype.kind in "biuf" for values in columns)
        each = [in_float(v, name) if numbers else v for v, name in zip(columns, names, strict=True)]
        return np.column_stack(each), "target"
    name = getattr(y, "name", None)
    name = "target" if name is None or name == "" else str(name)
    if is_pandas(y) or hasattr(y, "__arrow_c_stream__") or hasattr(y, "__arrow_c_array__"):
        column = _column(y, name)
        return target_from_array(y, name) if column is None else target_from_column(column, name), name
    return target_from_array(y.toarray() if hasattr(y, "toarray") else y, name), name


def _column(series: Any, name: str) -> Any:
    """A pyarrow column of a series; None for whole numbers beyond 64 bits, which pyarrow has not."""
    pa = extra("pyarrow")
    try:
        if hasattr(series, "__arrow_c_stream__"):
            return pa.chunked_array(known_integers(series))
        return pa.chunked_array([pa.array(series, from_pandas=True)])
    except OverflowError:
        return None
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise DataError(f"the target {quoted(name)} cannot be read as a column: {reason(error)}") from error


def is_address(source: str) -> bool:
    """Whether it is an address that can be fetched."""
    return source.lower().startswith(("http://", "https://"))
