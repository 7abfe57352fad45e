"""Which function reads which suffix. A new format is one file in ``readers/`` with one decorated function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TypeAlias, TypeVar

from infused.data.content import Content, ReadOptions
from infused.data.errors import DataError, quoted, reason

__all__ = ["Format", "Reader", "existing_file", "format_of", "reader", "reader_formats"]

Reader: TypeAlias = Callable[[Path, ReadOptions], Content]


@dataclass(frozen=True)
class Format:
    """A file format: how it is called, which options it heeds and what reads it."""

    title: str
    options: frozenset[str]
    read: Reader


_FORMATS: dict[str, Format] = {}


AnyReader = TypeVar("AnyReader", bound=Reader)


def reader(*suffixes: str, title: str, options: tuple[str, ...] = ()) -> Callable[[AnyReader], AnyReader]:
    """Register a function as the reader of files with these suffixes."""

    def register(function: AnyReader) -> AnyReader:
        for suffix in suffixes:
            _FORMATS[suffix] = Format(title, frozenset(options), function)
        return function

    return register


def reader_formats() -> dict[str, str]:
    """Every suffix that can be read, and what such a file is."""
    return {suffix: entry.title for suffix, entry in sorted(_formats().items())}


def format_of(path: Path) -> Format:
    """The format that a file's suffix tells, such as ``.csv`` or ``.csv.gz``; capitals do not matter."""
    endings = [suffix.lower() for suffix in path.suffixes[-2:]]
    for suffix in ("".join(endings), *endings[-1:]):
        if suffix in _formats():
            return _formats()[suffix]
    known = ", ".join(reader_formats())
    found = (
        f"the suffix {quoted(endings[-1])}, which no reader knows"
        if endings
        else "no suffix to tell its format"
    )
    raise DataError(f"{quoted(path)} has {found}; what can be read: {known}")


def existing_file(path: Path) -> Path:
    """The path as it is, or an error that says what is wrong with it."""
    if path.is_dir():
        raise DataError(f"{quoted(path)} is a folder; give a file in it")
    try:
        size = path.stat().st_size
    except OSError as error:
        raise DataError(f"{quoted(path)} cannot be opened: {error.strerror or reason(error)}") from error
    if size == 0:
        raise DataError(f"{quoted(path)} is empty (0 bytes)")
    return path


def _formats() -> dict[str, Format]:
    import_module("infused.data.readers")  # on demand: the readers import this module
    return _FORMATS
