"""Which function reads which suffix. A new format is one decorated function in a file of this folder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import TypeAlias, TypeVar

from infused._runtime.messages import quoted
from infused.data.reading import DataError, Part, Raw, ReadOptions

__all__ = ["Format", "Reader", "format_of", "has_reader", "is_packed", "reader", "reader_formats"]

Reader: TypeAlias = Callable[[Path, ReadOptions, Part], Raw]


@dataclass(frozen=True)
class Format:
    """A file format: how it is called, which options it heeds and what reads it."""

    title: str
    options: frozenset[str]
    read: Reader


PACKED = (".gz", ".bz2", ".xz", ".zst", ".zip")

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
    """List every suffix that can be read, and what such a file is.

    Returns
    -------
    dict of str to str
        From the suffix, such as ``.csv.gz``, to the name of the format.

    See Also
    --------
    load_data : Reads a file.

    Examples
    --------
    >>> from infused.data import reader_formats
    >>> reader_formats()[".npz"]
    'NumPy arrays'
    """
    return {suffix: entry.title for suffix, entry in sorted(_formats().items())}


def format_of(path: Path) -> Format:
    """Return the format of a file by its suffix, such as ``.csv`` or ``.csv.gz``; capitals do not matter."""
    endings = _endings(path)
    for suffix in ("".join(endings), *endings[-1:]):
        if suffix in _formats():
            return _formats()[suffix]
    if endings[-1:] in ([".xlsb"], [".ods"], [".numbers"]):
        raise DataError(f"{quoted(path)} is a workbook that cannot be read: save it as .xlsx")
    unknown = f"the suffix {quoted(endings[-1])}, which no reader knows" if endings else "no suffix"
    raise DataError(
        f"{quoted(path)} has {unknown}; what can be read: {', '.join(reader_formats())}, each also packed as "
        ".gz, .bz2, .xz, .zst or .zip"
    )


def has_reader(path: Path) -> bool:
    """Return whether the suffix of a file tells how to read it."""
    endings = _endings(path)
    return "".join(endings) in _formats() or "".join(endings[-1:]) in _formats()


def _endings(path: Path) -> list[str]:
    return [suffix.lower() for suffix in path.suffixes[-2:]]


@cache
def _formats() -> dict[str, Format]:
    for module in iter_modules(__path__):  # on demand: the readers import this module
        import_module(f"{__name__}.{module.name}")
    return _FORMATS


def is_packed(path: Path) -> bool:
    """Return whether a file must be unpacked before a reader can take it; some take .gz as it is."""
    return path.suffix.lower() in PACKED and not has_reader(path)
