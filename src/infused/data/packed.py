"""Files inside others, at an address or on standard input: brought to a file that a reader takes."""

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
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO, cast
from urllib.parse import unquote, urlsplit

from infused._runtime.extras import extra
from infused._runtime.memory import format_bytes
from infused._runtime.messages import listed, quoted, reason
from infused._runtime.sizes import most_unpacked
from infused.data.download import LARGEST_DOWNLOAD, TransferError, download
from infused.data.errors import DataError
from infused.data.raw import Part, Raw
from infused.data.readers import format_of, has_reader, is_packed
from infused.data.treatment import Treatment
from infused.exceptions import InputError

__all__ = [
    "STANDARD_INPUT",
    "address_name",
    "inner_name",
    "read_address",
    "read_packed",
    "read_standard_input",
]

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


def read_packed(path: Path, treatment: Treatment, part: Part) -> Raw:
    """What the reader of the inner file makes of it."""
    with _temporary(inner_name(path), quoted(path)) as file:
        try:
            with _opened(path) as stream:
                _copy(stream, file, most_unpacked(LARGEST_UNPACKED), quoted(path))
        except FAILURES as error:
            raise DataError(f"{quoted(path)} cannot be unpacked to its end: {reason(error)}") from error
        return _read(file, treatment, part)


def read_address(address: str, treatment: Treatment, part: Part) -> Raw:
    """Fetch what is at an address, anew each time, and read it."""
    with _temporary(address_name(address), quoted(address)) as file:
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
        return _read(file, treatment, part)


def read_standard_input(treatment: Treatment, part: Part) -> Raw:
    """What is piped into the program."""
    if sys.stdin is None or sys.stdin.closed:
        raise DataError("standard input is closed: pipe a table into the program")
    with _temporary("stdin", "standard input") as file:
        _copy(sys.stdin.buffer, file, most_unpacked(LARGEST_UNPACKED), "standard input")
        if file.stat().st_size == 0:
            raise DataError("standard input is empty: pipe a table into the program")
        return _read(file, treatment, part)


def _read(file: Path, treatment: Treatment, part: Part) -> Raw:
    """By its suffix, or where that tells nothing, by how it begins."""
    if not has_reader(file) and not is_packed(file):
        file = file.rename(file.with_name(file.name + _told_by(file)))
    if is_packed(file):
        return read_packed(file, treatment, part)
    return format_of(file).read(file, treatment, part)


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
    """The one table in an archive."""
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


@contextmanager
def _temporary(name: str, shown: str) -> Iterator[Path]:
    """A file of this name that is gone afterwards; messages about it name what the user gave."""
    with TemporaryDirectory(prefix="infused-") as folder:
        file = Path(folder) / f"data-{name}"  # CON.csv alone would be a device on Windows
        try:
            yield file
        except InputError as error:
            stem = repr(str(file))[:-1]  # also where a suffix was added
            told = [
                part if not isinstance(part, str) or stem not in part else _renamed(part, stem, shown)
                for part in error.parts
            ]
            if told == list(error.parts):
                raise
            raise type(error)(*told) from error


def _renamed(text: str, stem: str, shown: str) -> str:
    before, _, after = text.partition(stem)
    return before + shown + after.partition("'")[2]
