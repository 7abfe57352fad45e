"""How people write tables: separators and decimal signs, numbers with units, and dates."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, TextIO, cast

import numpy as np

from infused._runtime.checks import EXACT, LONGEST_NUMBER, check_table, is_number
from infused._runtime.messages import listed, quoted, reason
from infused._typing import Array, Floats
from infused.data.reading import DataError, ReadOptions
from infused.exceptions import InputError, Setting

#: Texts that stand for a value that is missing, in any column.
MISSING = ("", "?", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "-nan", "NULL", "null")
#: Texts that do so among numbers alone: elsewhere they may be a level.
NO_NUMBER = frozenset(
    (
        *(".", "..", "...", "-", "--", "---", "*", "na", "n.a.", "n/d", "nd", "none", "nil", "missing"),
        *("unknown", "not available", "#div/0!", "#value!", "#ref!", "#num!", "#name?", "<na>"),
    )
)
TRUTH = {"true": 1.0, "false": 0.0}
MONEY = re.compile(
    r"[$€£¥₹₽₩₺₪฿]|\b(?:USD|EUR|GBP|CHF|JPY|CNY|INR|AUD|CAD|SEK|NOK|DKK|PLN|BRL)\b", re.IGNORECASE
)
SIGNS = {"$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "₹": "INR", "₽": "RUB"}
SPACES = " \u00a0\u2009\u202f'\u2019"
SHAPES = {
    sign: re.compile(
        rf"[+-]?(?:\d{{1,3}}(?:[{SPACES}{re.escape(other)}]\d{{3}})+|\d+)?(?:{re.escape(sign)}\d*)?(?:[eE][+-]?\d+)?",
        re.ASCII,
    )
    for sign, other in ((".", ","), (",", "."))
}
#: A unit behind a number; one letter alone is a unit where it is written small (12A is a seat).
UNIT = re.compile(r"(.*[\d.,])\s*((?:[^\W\d_]|°){2,12}|[gmlshd])((?:/[^\W\d_]{1,6})?[²³]?)\.?")
THOUSANDS = re.compile(r"(.*[\d.,])\s*([KkM]|[Bb]n?)")
POWERS = {"k": "e3", "m": "e6", "b": "e9"}
MOST_UNITS = 3  # of words behind numbers: more are names
LEADING_ZERO = re.compile(r"0[0-9]+")

DIGITS = "0123456789"
MOSTLY = 0.8  # of the cells: such a column was meant to hold numbers
FEW_LEVELS = 10  # 0, 1, 2 and 3+ are levels, although most are numbers

#: The formats of dates, and what comes first. Of two that fit a column, the earlier is taken.
DATES = {
    "%Y-%m-%d": "year",
    "%Y/%m/%d": "year",
    "%d.%m.%Y": "day",
    "%m.%d.%Y": "month",
    "%m/%d/%Y": "month",
    "%d/%m/%Y": "day",
    "%d-%m-%Y": "day",
    "%m-%d-%Y": "month",
    "%d-%b-%Y": "day",
    "%d %b %Y": "day",
    "%b %d, %Y": "month",
}
ISO = "%Y-%m-%d"
WRITTEN = {"%Y": r"\d{4}", "%m": r"\d{1,2}", "%d": r"(?P<day>\d{1,2})", "%b": "[A-Za-z]+", ".": r"\."}
PARTS = ("year", "month", "weekday", "hour")
CLOCK = (
    r"[T ]\s*(?P<hour>\d{1,2}):(?P<minute>[0-5]\d)(?::[0-5]\d(?:[.,]\d+)?)?"
    r"(?:\s*(?P<half>[APap])\.?[Mm]\.?)?\s*(?:Z|UTC|GMT|[+-]\d{2}:?\d{2})?$"
)


@dataclass(frozen=True)
class Written:
    """The numbers of a column of text."""

    values: Floats
    """NaN where there is none."""
    decimal: str
    """The decimal sign."""
    plainly: bool
    """Whether all are written as programs write them."""
    gaps: tuple[str, ...]
    """Texts that stand for a missing number."""
    odd: tuple[str, ...]
    """Texts that are no numbers."""
    meant: bool
    """Whether the column is meant to hold numbers."""
    unit: str = ""
    """The currency of all numbers that have one, %, or a word such as kg."""
    units: tuple[str, ...] = ()
    """A text for each of several units that do not belong into one column."""
    lossy: bool = False
    """Whether whole numbers lost digits."""


def number(text: str, decimal: str = ".") -> float | None:
    """Read the number that a text writes with this decimal sign; None where it writes none.

    >>> number("$24,000"), number("1.234,56", ","), number("15.3%"), number("(12)"), number("4o")
    (24000.0, 1234.56, 15.3, -12.0, None)
    >>> number("10.9K"), number("10 kg"), number("10880.50-"), number("12A")
    (10900.0, 10.0, -10880.5, None)
    """
    if len(text) > LONGEST_NUMBER:
        return None
    bare = MONEY.sub("", text).strip().removesuffix("%").strip().replace("\u2212", "-")
    power = ""
    if bare[-1:].isalpha() or bare[-1:] in "°²³.":
        bare, power = _without_unit(bare, priced=bare != text.strip())
    if bare.startswith("(") and bare.endswith(")"):
        bare = f"-{bare[1:-1].strip()}"
    elif bare.endswith("-") and bare[:1] not in ("+", "-"):
        bare = f"-{bare[:-1].strip()}"
    bare = re.sub(r"^([+-])\s+", r"\1", bare)
    if not SHAPES[decimal].fullmatch(bare) or not any(letter in DIGITS for letter in bare):
        return None
    if power and "e" in bare.lower():
        return None
    digits = "".join(letter for letter in bare if letter in "+-eE" + DIGITS or letter == decimal)
    try:
        return float(digits.replace(",", ".") + power)
    except ValueError:  # an exponent of nothing
        return None


def _without_unit(bare: str, priced: bool) -> tuple[str, str]:
    """Cut a number from the unit behind it; K and M, and of prices B, are powers of ten."""
    found = THOUSANDS.fullmatch(bare)
    if found is not None and (priced or found[2] not in "Bb"):
        return found[1], POWERS[found[2][0].lower()]
    found = UNIT.fullmatch(bare)
    return (bare, "") if found is None else (found[1], "")


def word_unit(text: str) -> str:
    """Return the unit that is a word behind a number, in small letters and the singular, or nothing.

    >>> word_unit("10 kg"), word_unit("36 Months"), word_unit("10.9K"), word_unit("5 USD")
    ('kg', 'month', '', '')
    """
    bare = MONEY.sub("", text).strip()
    found = None if THOUSANDS.fullmatch(bare) else UNIT.fullmatch(bare)
    if found is None:
        return ""
    word = found[2].casefold()
    return (word.removesuffix("s") if len(word) > 2 else word) + found[3].casefold()


def unit_of(text: str) -> str:
    """Return the unit of a number: a currency, %, a word such as kg, or nothing.

    >>> unit_of("$5"), unit_of("5 USD"), unit_of("5 €"), unit_of("15.3%"), unit_of("5"), unit_of("5 kg")
    ('USD', 'USD', 'EUR', '%', '', 'kg')
    """
    currencies = {SIGNS.get(found, found.upper()) for found in MONEY.findall(text)}
    return "".join(sorted(currencies)) + "%" * text.rstrip().endswith("%") + word_unit(text)


def loses_digits(text: str, decimal: str = ".") -> bool:
    """Return whether a text is a whole number that float64 cannot hold.

    >>> loses_digits("9007199254740993"), loses_digits("9007199254740992"), loses_digits("1e300")
    (True, False, False)
    """
    if len(text) < len(str(EXACT)) or decimal in text or "e" in text.lower():
        return False
    value = number(text, decimal)
    if value is None or abs(value) < EXACT or value in (float("inf"), float("-inf")):
        return False
    return abs(int(value)) != int("".join(letter for letter in text if letter in DIGITS))


def any_loses_digits(texts: Any, decimal: str = ".") -> bool:
    """Return whether any text of a pyarrow column is such a number."""
    from pyarrow import compute

    long = texts.filter(compute.greater_equal(compute.utf8_length(texts), len(str(EXACT))))
    return any(loses_digits(text.strip(), decimal) for text in long.unique().drop_null().to_pylist())


def recorded_number(text: str, decimal: str, unit: str | None = None) -> float | None:
    """Read a text of a column that is known to hold numbers in a unit, or with None in any.

    A gap is NaN, truth 0 and 1. None where the text is no number, or one in another unit.
    """
    if text.lower() in NO_NUMBER:
        return float("nan")
    value = TRUTH.get(text.lower(), number(text, decimal))
    fits = unit is None or value == 0 or unit_of(text) in ((unit,) if unit == "%" else (unit, ""))
    return value if fits else None


def plain_texts(column: Any, missing: Collection[str] = ()) -> Any:
    """Strip spaces around the texts of a pyarrow column; null where one stands for a missing value."""
    import pyarrow as pa
    from pyarrow import compute

    trimmed = compute.utf8_trim_whitespace(compute.cast(column, pa.string()))
    gaps = pa.array([*MISSING, *(text.strip() for text in missing)], pa.string())
    return compute.if_else(compute.is_in(trimmed, gaps), None, trimmed)


def numbers_in(column: Any, decimal: str = ".") -> Written:
    """Read the numbers of a column of plain texts; of two decimal signs that fit, the given one is taken."""
    encoded = (
        column.combine_chunks().dictionary_encode()
        if hasattr(column, "chunks")
        else column.dictionary_encode()
    )
    texts: list[str] = encoded.dictionary.to_pylist()
    codes = encoded.indices.fill_null(len(texts)).to_numpy(zero_copy_only=False)
    times = np.bincount(codes, minlength=len(texts) + 1)[: len(texts)]
    gaps = [text.lower() in NO_NUMBER for text in texts]
    signs = (decimal, "," if decimal == "." else ".")
    found = {sign: [number(text, sign) for text in texts] for sign in signs}
    cells = {
        sign: sum(int(n) for n, v in zip(times, found[sign], strict=True) if v is not None) for sign in signs
    }
    sign = max(signs, key=lambda one: cells[one])
    values = np.array([np.nan if v is None else v for v in [*found[sign], None]], dtype=np.float64)
    odd = [t for t, v, gap in zip(texts, found[sign], gaps, strict=True) if v is None and not gap]
    total = int(times[~np.array(gaps, dtype=bool)].sum()) if texts else 0
    distinct = len({v for v in found[sign] if v is not None})
    codes_not_numbers = any(LEADING_ZERO.fullmatch(text) for text in texts)
    present = [(text, v) for text, v in zip(texts, found[sign], strict=True) if v is not None]
    units = {unit_of(text): text for text, v in reversed(present) if v != 0 or unit_of(text)}
    several = len(units) > 1 and ("%" in units or len(units.keys() - {""}) > 1)
    words = {word_unit(text) for text, _ in present} - {""}
    names = len(words) > 1 and (len(words) > MOST_UNITS or distinct <= FEW_LEVELS)  # no units
    likely = total > 0 and cells[sign] >= MOSTLY * total and (distinct > FEW_LEVELS or not odd)
    return Written(
        values=values[codes],
        decimal=sign,
        plainly=all(_plain(text) for text, _ in present),
        gaps=tuple(text for text, gap in zip(texts, gaps, strict=True) if gap),
        odd=tuple(odd),
        meant=likely and not codes_not_numbers and not names,
        unit="" if several else max(units, default=""),
        units=tuple(units.values()) if several else (),
        lossy=any(loses_digits(text, sign) for text, _ in present),
    )


def as_gaps(values: Array, missing: Collection[str]) -> Array:
    """Replace numbers by NaN where they are among the texts that stand for a missing value."""
    gaps = [gap for gap in map(number, missing) if gap is not None]
    return np.where(np.isin(values, gaps), np.nan, values) if np.isin(values, gaps).any() else values


def date_formats(column: Any) -> list[str]:
    """Return the formats in which every text of a column is a date: none, one, or two that fit as well."""
    from pyarrow import compute

    present = compute.drop_null(column)
    if not len(present) or not any(letter.isdigit() for letter in present[0].as_py()):
        return []
    return [
        shape
        for shape in DATES
        if read_dates(present[:1], shape).null_count == 0 and read_dates(present, shape).null_count == 0
    ]


def read_dates(texts: Any, shape: str) -> Any:
    """Parse texts as dates, to the hour where a time of day follows; null where a text is no such date.

    What pyarrow reads is held to the text: it takes 30 February for a day in March, and 24 for the year 24.
    """
    import pyarrow as pa
    from pyarrow import compute

    clock = compute.extract_regex(texts, CLOCK)
    texts = compute.replace_substring_regex(texts, CLOCK, "")
    pattern = shape
    for sign, written in WRITTEN.items():
        pattern = pattern.replace(sign, written)
    day = compute.cast(compute.struct_field(compute.extract_regex(texts, f"^{pattern}$"), "day"), pa.int64())
    dates = compute.strptime(texts, format=shape, unit="s", error_is_null=True)
    dates = compute.if_else(compute.equal(compute.day(dates), day), dates, None)
    return compute.if_else(compute.is_valid(clock), compute.add(dates, _hours(clock)), dates)


def _hours(clock: Any) -> Any:
    """Compute durations of whole hours from the parts of a time of day; null where it is no such time."""
    import pyarrow as pa
    from pyarrow import compute

    hour = compute.cast(compute.struct_field(clock, "hour"), pa.int64())
    half = compute.utf8_lower(compute.struct_field(clock, "half"))
    in_half = compute.less(hour, 13)
    twelve = compute.subtract(hour, compute.multiply(12, compute.cast(compute.equal(hour, 12), pa.int64())))
    hour = compute.if_else(compute.equal(half, "a"), compute.if_else(in_half, twelve, 24), hour)
    hour = compute.if_else(
        compute.equal(half, "p"), compute.if_else(in_half, compute.add(twelve, 12), 24), hour
    )
    known = compute.if_else(compute.less(hour, 24), hour, None)
    return compute.cast(compute.multiply(known, 3600), pa.duration("s"))


def date_part(dates: Any, part: str) -> Floats:
    """Compute year, month (from 1), weekday (Monday is 1) or hour of dates; NaN where one is missing."""
    import pyarrow as pa
    from pyarrow import compute

    if part == "weekday":
        values = compute.day_of_week(dates, count_from_zero=False)
    elif part == "hour" and pa.types.is_date(dates.type):
        return np.where(dates.is_null().to_numpy(zero_copy_only=False), np.nan, 0.0)
    else:
        values = getattr(compute, part)(dates)
    return np.asarray(compute.cast(values, pa.float64()).to_numpy(zero_copy_only=False), dtype=np.float64)


def _plain(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


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
    """Return the codec that Python's text streams need: UTF-8 may begin with a byte order mark."""
    try:
        "".encode(encoding or "utf-8")  # finds out also what is a codec, but not of text
        name = codecs.lookup(encoding or "utf-8").name
    except (LookupError, ValueError):  # a name with a NUL is no name
        raise InputError(Setting("encoding", encoding), " is not known; utf-8 and latin-1 are") from None
    return "utf-8-sig" if name == "utf-8" else name


def open_text(path: Path, encoding: str | None) -> TextIO:
    """Open a text stream of a file, decompressed where it is gzipped, its line ends as they are."""
    if path.suffix.lower() == ".gz":
        return cast(TextIO, gzip.open(path, "rt", encoding=codec(encoding), newline=""))
    return path.open(encoding=codec(encoding), newline="")


def not_decodable(path: Path, encoding: str | None, error: UnicodeError) -> DataError:
    """Make the error for a text file in another encoding than the one tried."""
    with path.open("rb") as file:
        marked = file.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    return DataError(
        f"{quoted(path)} is not {encoding or 'UTF-8'} text ({reason(error)}): say which encoding it has, "
        "for example ",
        Setting("encoding", "utf-16" if marked else "latin-1"),
    )


def find_dialect(path: Path, options: ReadOptions, separator: str | None) -> Dialect:
    """Look at the first rows; the caller's separator, or the suffix's, goes before what they show."""
    sample = _sample(path, options.encoding)
    if not sample.strip("\r\n\t ,;|\ufeff"):
        raise DataError(f"{quoted(path)} is empty: it has blank lines only")
    if options.separator is not None:
        separator = _spelled(options.separator)
    _check_width(path, sample, (separator,) if separator else SEPARATORS)
    separator = separator or _most_likely_separator(sample)
    rows = _rows(sample, separator)
    if not rows:
        raise DataError(f"the first line of {quoted(path)} cannot be cut into values: a quote is open")
    if options.header:
        _check_header(path, rows[0])
        names = [name.strip() or f"unnamed_{j}" for j, name in enumerate(rows[0])]
    else:
        names = [f"column_{j}" for j in range(len(rows[0]))]
    longest = max(len(line) for line in islice(io.StringIO(sample), SAMPLE_ROWS + 1))
    body = rows[1:] if options.header else rows
    return Dialect(separator, _decimal(body, separator), tuple(names), longest)


def ragged_line(path: Path, encoding: str | None, separator: str) -> tuple[int, int, int] | None:
    """Find the first line with another number of values than the first row: (line, values, expected)."""
    with open_text(path, encoding) as stream, suppress(csv.Error):
        rows = csv.reader(stream, delimiter=separator)
        expected = 0
        for row in rows:
            expected = expected or len(row)
            if row and len(row) != expected:
                return rows.line_num, len(row), expected
    return None


def _sample(path: Path, encoding: str | None) -> str:
    """Read enough text for some rows, however wide they are, without the last, cut one."""
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
    """Guess the separator that cuts every sampled row into the same number of values, then into the most."""

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
    """Choose the comma when no value is written with a point and some are written with a comma."""
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
    """Return whether numbers rise or fall, as wavelengths do; six values do so by chance once in 360."""
    steps = [after - before for before, after in pairwise(numbers)]
    if steps and numbers[0] in (0, 1) and all(step == 1 for step in steps):
        return True
    return len(steps) >= 5 and (all(step > 0 for step in steps) or all(step < 0 for step in steps))
