"""Where data come from: a path, an address, a packed file, standard input, a name, or an object of Python."""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
import struct
import sys
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike, fspath
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias, cast
from urllib.parse import unquote, urlsplit

from infused._runtime.checks import most_unpacked
from infused._runtime.messages import extra, listed, quoted, reason, suggestion
from infused._runtime.threads import format_bytes
from infused._typing import Array
from infused.data.columns import check_text
from infused.data.download import LARGEST_DOWNLOAD, TransferError, check_address, download
from infused.data.named import available_datasets, find_named, read_named
from infused.data.readers import format_of, has_reader, is_packed
from infused.data.readers.frames import annotated_matrix, frame_table, is_pandas, known_integers
from infused.data.reading import DataError, Part, Raw, RawMatrix, ReadOptions, temporary
from infused.data.target import target_from_array, target_from_column, together
from infused.exceptions import InputError

#: What has a meaning for a table whose format is not known before it is read.
TABLES = frozenset({"target", "target_file", "separator", "encoding", "header", "sheet"})

Read: TypeAlias = Callable[[ReadOptions, Part], Raw]


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
    """Find the source that was given; files are looked for, but not yet read."""
    if isinstance(source, str | PathLike):
        known = find_named(fspath(source))
        if known is None:
            return file_source(source)
        return Source(lambda *_: read_named(known), frozenset(), quoted(known), known, known)
    if isinstance(source, tuple) and len(source) == 2:
        return _pair(*source)
    if all(hasattr(source, part) for part in ("obs", "var_names", "layers")):
        where, heeds = "the AnnData object", frozenset({"target", "target_file", "x_key"})
        return Source(partial(annotated_matrix, source, where=where), heeds, where)
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
    """Make a source of a file that is there and has a reader, of an address, or of standard input."""
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
    """Make a source of an address, fetched when it is read."""
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


def _pair(X: Any, y: Any) -> Source:
    def read(_: ReadOptions, part: Part) -> Raw:
        raw = frame_table(X) if _is_frame(X) else RawMatrix(X)
        if part in ("features", "texts"):
            return raw
        values, name = _target(y)
        return replace(raw, y=values, target_name=name)

    return Source(read, frozenset(), "the pair")


def _is_frame(source: Any) -> bool:
    return hasattr(source, "columns") if is_pandas(source) else hasattr(source, "__arrow_c_stream__")


def _target(y: Any) -> tuple[Array, str]:
    """Take values and name of a series, of a frame of targets, or of anything that NumPy takes."""
    if _is_frame(y) and len(getattr(y, "shape", ())) == 2:
        table = frame_table(y)
        names = [name for name in table.columns.column_names if name not in table.index]
        columns = [target_from_column(table.columns.column(name), name) for name in names]
        return together(columns, names)
    name = getattr(y, "name", None)
    name = "target" if name is None or name == "" else str(name)
    if is_pandas(y) or hasattr(y, "__arrow_c_stream__") or hasattr(y, "__arrow_c_array__"):
        column = _column(y, name)
        return target_from_array(y, name) if column is None else target_from_column(column, name), name
    return target_from_array(y.toarray() if hasattr(y, "toarray") else y, name), name


def _column(series: Any, name: str) -> Any:
    """Convert a series to a pyarrow column; None for whole numbers beyond 64 bits, which pyarrow has not."""
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
    """Return whether it is an address that can be fetched."""
    return source.lower().startswith(("http://", "https://"))


STANDARD_INPUT = "-"
LARGEST_UNPACKED = 8 * 2**30
CHUNK = 1 << 20
LONGEST_NAME = 100  # bytes: what is put before and after it must fit as well

#: How content begins, and the suffix of files that begin so.
MARKS = {
    b"PAR1": ".parquet",
    b"ARROW1": ".arrow",
    b"\x1f\x8b": ".gz",
    b"BZh": ".bz2",
    b"\xfd7zXZ\x00": ".xz",
    b"\x28\xb5\x2f\xfd": ".zst",
    b"{": ".jsonl",
    b"@relation": ".arff",
}
ARCHIVE_FAILURES = (OSError, EOFError, zipfile.BadZipFile, UnicodeError, NotImplementedError, struct.error)
FAILURES = (*ARCHIVE_FAILURES, lzma.LZMAError, zlib.error, RuntimeError)


def _zstd(path: Path) -> BinaryIO:
    return cast(BinaryIO, extra("pyarrow").CompressedInputStream(str(path), "zstd"))


#: What opens a file with one stream inside, by suffix; .zip holds files.
STREAMS: dict[str, Callable[[Path], Any]] = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
    ".zst": _zstd,
}


def address_name(address: str) -> str:
    """Name the file at an address."""
    return _safe_name(unquote(urlsplit(address).path))


def inner_name(path: Path) -> str:
    """Name the file inside a packed one."""
    return _safe_name(_member(path)) if path.suffix.lower() == ".zip" else path.stem


def _safe_name(path: str) -> str:
    """Return the last part of a path as a name that stays in its folder, whatever the platform.

    Others wrote the path. Windows takes a backslash as a separator, ``C:`` as a drive and ``a:b`` as a stream
    of the file a, and drops dots and spaces at the end.
    """
    name = re.sub(r'[<>:"|?*\x00-\x1f\x7f]', "_", re.split(r"[/\\]", path)[-1]).strip(". ")
    return name.encode("utf-8", "replace")[-LONGEST_NAME:].decode("utf-8", "ignore").strip(". ") or "data"


def read_packed(path: Path, options: ReadOptions, part: Part) -> Raw:
    """Read a packed file with the reader of the file inside."""
    with temporary(inner_name(path), quoted(path)) as file:
        try:
            with _opened(path) as stream:
                _copy(stream, file, most_unpacked(LARGEST_UNPACKED), quoted(path))
        except FAILURES as error:
            raise DataError(f"{quoted(path)} cannot be unpacked to its end: {reason(error)}") from error
        return _read(file, options, part)


def read_address(address: str, options: ReadOptions, part: Part) -> Raw:
    """Fetch what is at an address, anew each time, and read it."""
    with temporary(address_name(address), quoted(address)) as file:
        try:
            bounded = download(address, file, limit=LARGEST_DOWNLOAD)
        except TransferError as error:
            raise DataError(f"{address} cannot be fetched: {error}") from error
        if not bounded:
            warnings.warn(
                f"the server did not state the length of {quoted(address)}: check that the data are complete",
                UserWarning,
                stacklevel=2,
            )
        return _read(file, options, part)


def read_standard_input(options: ReadOptions, part: Part) -> Raw:
    """Read what is piped into the program."""
    if sys.stdin is None or sys.stdin.closed:
        raise DataError("standard input is closed: pipe a table into the program")
    with temporary("stdin", "standard input") as file:
        _copy(sys.stdin.buffer, file, most_unpacked(LARGEST_UNPACKED), "standard input")
        if file.stat().st_size == 0:
            raise DataError("standard input is empty: pipe a table into the program")
        return _read(file, options, part)


def _read(file: Path, options: ReadOptions, part: Part) -> Raw:
    """Read a file by its suffix, or where that tells nothing, by how it begins."""
    if not has_reader(file) and not is_packed(file):
        file = file.rename(file.with_name(file.name + _told_by(file)))
    if is_packed(file):
        return read_packed(file, options, part)
    return format_of(file).read(file, options, part)


def _told_by(file: Path) -> str:
    with file.open("rb") as stream:
        head = stream.read(512).removeprefix(b"\xef\xbb\xbf").lstrip()
    if head.startswith(b"PK\x03\x04"):
        try:
            with zipfile.ZipFile(file) as archive:
                return ".xlsx" if "xl/workbook.xml" in archive.namelist() else ".zip"
        except ARCHIVE_FAILURES:
            return ".zip"  # whose reader says what is wrong with it
    marks = (suffix for mark, suffix in MARKS.items() if head.lower().startswith(mark.lower()))
    return next(marks, ".csv")


def _member(path: Path) -> str:
    """Find the one table in an archive."""
    try:
        with zipfile.ZipFile(path) as archive:
            files = [one for one in archive.namelist() if not one.endswith("/") and "__MACOSX" not in one]
    except ARCHIVE_FAILURES as error:
        raise DataError(f"{quoted(path)} cannot be opened as a zip archive: {reason(error)}") from error
    tables = [one for one in files if has_reader(Path(one)) or Path(one).suffix.lower() in STREAMS]
    if len(tables) != 1:
        held = listed(tables or files) or "nothing"
        what = "several tables" if tables else "no table"
        raise DataError(f"{quoted(path)} holds {what} ({held}): unpack it and give one file")
    return tables[0]


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    if path.suffix.lower() == ".zip":
        member = _member(path)
        with zipfile.ZipFile(path) as archive:
            if archive.getinfo(member).flag_bits & 1:
                raise DataError(f"{quoted(path)} is locked with a password: unpack it and give the file")
            with archive.open(member) as inside:
                yield cast(BinaryIO, inside)
    else:
        with STREAMS[path.suffix.lower()](path) as stream:
            yield stream


def _copy(stream: BinaryIO, file: Path, limit: int, what: str) -> None:
    size = 0
    with file.open("wb") as target:
        while chunk := stream.read(CHUNK):
            size += len(chunk)
            if size > limit:
                raise DataError(f"{what} holds more than {format_bytes(limit)}: give a smaller file")
            target.write(chunk)
