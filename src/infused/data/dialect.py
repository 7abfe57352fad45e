"""How a text table is written: its separator, its decimal sign, its names."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import Path
from typing import TextIO, cast

from infused._runtime.messages import listed, quoted, reason
from infused._runtime.numbers import is_number
from infused._runtime.sizes import check_table
from infused.data.errors import DataError
from infused.data.treatment import Treatment
from infused.exceptions import InputError, Setting

__all__ = ["Dialect", "codec", "find_dialect", "not_decodable", "ragged_line"]

SEPARATORS = (",", ";", "\t", "|", " ")
SPELLED = {"\\t": "\t", "tab": "\t", "comma": ",", "semicolon": ";", "pipe": "|", "space": " "}
SAMPLE_ROWS = 20
SAMPLE_CHARACTERS = 1 << 20
LONGEST_HEADER = 1 << 26


@dataclass(frozen=True)
class Dialect:
    """What must be known before a text table can be parsed."""

    separator: str
    decimal: str
    names: tuple[str, ...]
    longest_row: int
    """Characters of the longest row in the sample."""


def codec(encoding: str | None) -> str:
    """The name that Python's text streams need: UTF-8 may begin with a byte order mark."""
    try:
        "".encode(encoding or "utf-8")  # finds out also what is a codec, but not of text
        name = codecs.lookup(encoding or "utf-8").name
    except (LookupError, ValueError):  # a name with a NUL is no name
        raise InputError(Setting("encoding", encoding), " is not known; utf-8 and latin-1 are") from None
    return "utf-8-sig" if name == "utf-8" else name


def open_text(path: Path, encoding: str | None) -> TextIO:
    """A text stream of a file, decompressed where it is gzipped, its line ends as they are."""
    if path.suffix.lower() == ".gz":
        return cast(TextIO, gzip.open(path, "rt", encoding=codec(encoding), newline=""))
    return path.open(encoding=codec(encoding), newline="")


def not_decodable(path: Path, encoding: str | None, error: UnicodeError) -> DataError:
    """The error for a text file in another encoding than the one tried."""
    with path.open("rb") as file:
        marked = file.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    return DataError(
        f"{quoted(path)} is not {encoding or 'UTF-8'} text ({reason(error)}): say which encoding it has, "
        "for example ",
        Setting("encoding", "utf-16" if marked else "latin-1"),
    )


def find_dialect(path: Path, treatment: Treatment, separator: str | None) -> Dialect:
    """Look at the first rows; the caller's separator, or the suffix's, goes before what they show."""
    sample = _sample(path, treatment.encoding)
    if not sample.strip("\r\n\t ,;|\ufeff"):
        raise DataError(f"{quoted(path)} is empty: it has blank lines only")
    if treatment.separator is not None:
        separator = _spelled(treatment.separator)
    _check_width(path, sample, (separator,) if separator else SEPARATORS)
    separator = separator or _most_likely_separator(sample)
    rows = _rows(sample, separator)
    if not rows:
        raise DataError(f"the first line of {quoted(path)} cannot be cut into values: a quote is open")
    if treatment.header:
        _check_header(path, rows[0])
        names = [name.strip() or f"unnamed_{j}" for j, name in enumerate(rows[0])]
    else:
        names = [f"column_{j}" for j in range(len(rows[0]))]
    longest = max(len(line) for line in islice(io.StringIO(sample), SAMPLE_ROWS + 1))
    body = rows[1:] if treatment.header else rows
    return Dialect(separator, _decimal(body, separator), tuple(names), longest)


def ragged_line(path: Path, encoding: str | None, separator: str) -> tuple[int, int, int] | None:
    """The first line with another number of values than the first row: (line, values, expected)."""
    with open_text(path, encoding) as stream, suppress(csv.Error):
        rows = csv.reader(stream, delimiter=separator)
        expected = 0
        for row in rows:
            expected = expected or len(row)
            if row and len(row) != expected:
                return rows.line_num, len(row), expected
    return None


def _sample(path: Path, encoding: str | None) -> str:
    """Enough text for some rows, however wide they are, without the last, cut one."""
    with open_text(path, encoding) as stream:
        text = stream.read(SAMPLE_CHARACTERS)
        while len(text) < LONGEST_HEADER and text.count("\n") < 3:
            more = stream.read(len(text))
            if not more:
                return text
            text += more
        rest = stream.read(1)
    if rest and "\n" not in text and "\r" not in text:
        raise DataError(
            f"the first line of {quoted(path)} has more than {len(text):,} characters: is it text?"
        )
    return text[: text.rindex("\n") + 1] if rest and "\n" in text else text


def _check_width(path: Path, sample: str, separators: Sequence[str]) -> None:
    """Refuse more columns than fit in the memory budget, before the first line is cut into them."""
    end = sample.find("\n")
    widest = max(sample.count(one, 0, end if end >= 0 else len(sample)) for one in separators)
    check_table(0, widest + 1, quoted(path))


def _rows(sample: str, separator: str) -> list[list[str]]:
    rows: list[list[str]] = []
    with suppress(csv.Error):  # a quote that is never closed: the parser will meet it too, and say where
        for row in csv.reader(io.StringIO(sample, newline=""), delimiter=separator):
            if row:
                rows.append(row)
            if len(rows) > SAMPLE_ROWS:
                break
    return rows


def _most_likely_separator(sample: str) -> str:
    """The one that cuts every sampled row into the same number of values; then the one that cuts the most."""

    def merit(separator: str) -> tuple[bool, bool, int]:
        widths = [len(row) for row in _rows(sample, separator)]
        first = widths[0] if widths else 0
        return first > 1 and len(set(widths)) == 1, first > 1 and separator != " ", first

    return max(SEPARATORS, key=merit)


def _spelled(separator: str) -> str:
    separator = SPELLED.get(separator.lower(), separator)
    if len(separator) != 1 or not separator.isascii() or separator in "\r\n\"'\0":
        raise InputError(
            Setting("separator", separator), f" must be one character of ASCII, or one of {listed(SPELLED)}"
        )
    return separator


def _decimal(rows: list[list[str]], separator: str) -> str:
    """A comma when no value is written with a point and some are written with a comma."""
    if separator == ",":
        return "."
    cells = [cell for row in rows for cell in row]
    points = any("." in cell and is_number(cell) for cell in cells)
    commas = not points and any("," in cell and "." not in cell and _with_comma(cell) for cell in cells)
    return "," if commas else "."


def _with_comma(cell: str) -> bool:
    return cell.count(",") == 1 and not cell.rstrip().endswith(",") and is_number(cell.replace(",", "."))


def _check_header(path: Path, header: list[str]) -> None:
    """Raise when the names are numbers that could be a row of data."""
    numbers = [float(cell) for cell in header if is_number(cell)]
    if 2 * len(numbers) >= len(header) and not _could_be_names(numbers):
        raise DataError(
            f"the first line of {quoted(path)} looks like data, not like names ({listed(header[:3])}): use ",
            Setting("header", False),
            ", or put names above it",
        )


def _could_be_names(numbers: list[float]) -> bool:
    """Numbers that are names rise or fall, as wavelengths do; six values do so by chance once in 360."""
    steps = [after - before for before, after in pairwise(numbers)]
    if steps and numbers[0] in (0, 1) and all(step == 1 for step in steps):
        return True
    return len(steps) >= 5 and (all(step > 0 for step in steps) or all(step < 0 for step in steps))
