"""What data would take in memory, checked before they are read: a small file can claim anything."""

from __future__ import annotations

import gzip
import zipfile
from pathlib import Path

from infused._runtime.memory import format_bytes, memory_budget, require
from infused._runtime.messages import quoted
from infused.exceptions import InputError

__all__ = ["FEATURE_BYTES", "check_archive", "check_stream", "check_table", "most_unpacked"]

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
    """Bytes that a packed file may hold: no more than the memory budget."""
    return min(largest, memory_budget())


def check_archive(path: Path, share: float = 1.0) -> None:
    """Refuse a zip archive whose members would pass the budget; one byte of them takes ``1 / share``."""
    with zipfile.ZipFile(path) as archive:
        size = sum(member.file_size for member in archive.infolist())
    require(int(size / share), memory_budget(), f"{quoted(path)}, unpacked,", "give a smaller file")


def check_stream(path: Path) -> int | None:
    """The bytes in a gzipped file, counted where a table of them could pass the memory budget."""
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
