"""Columns by name or by position, the names that they may have, and those that only tell the rows apart."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np

from infused._runtime.messages import SHOWN, count, listed, quoted, suggestion
from infused._typing import Data, Floats
from infused.data.reading import DataError
from infused.exceptions import InputError, Setting

Words = tuple[str | Setting, ...]

WORDS = re.compile(r"(?:[A-Z]+(?![a-z])|[A-Z]?[a-z]+)\d*")  # ID1 is a gene
IDENTIFYING = {
    *("id", "ids", "idx", "index", "identifier", "uuid", "guid", "serial", "barcode", "unnamed"),
    *("row", "rowid", "rowname", "rownames", "record", "recordid", "sample", "samples", "sampleid"),
    *("patient", "patientid", "subject", "subjectid"),
}
SHORTEST_RUN = 5  # two or three rows that happen to hold 1, 2, 3 prove nothing


def find_column(names: Sequence[str], wanted: str | int, option: str, noun: str = "column") -> int:
    """Find a column given by name, or by position (from 0; negative counts from the end).

    A text that is no column's name but a whole number is a position, as a command line has only text to give.
    A number that is no position is a name, as the columns of a data frame may be called 2024 and 2025.
    """
    if isinstance(wanted, str) and wanted in names:
        return names.index(wanted)
    try:
        position = int(wanted)
    except ValueError:
        hint = suggestion(str(wanted), names)
        raise DataError(Setting(option, wanted), f": no such {noun}{hint}") from None
    if -len(names) <= position < len(names):
        return position % len(names)
    if str(wanted) in names:
        return names.index(str(wanted))
    every = count(len(names), noun)
    raise DataError(Setting(option, position), f": there are {every}, 0 to {len(names) - 1}")


def find_columns(names: Sequence[str], wanted: Iterable[str | int], option: str) -> list[int]:
    """Find several columns, all of which must exist, as `find_column` does."""
    return [find_column(names, name, option) for name in wanted]


def numbers_by_name(names: Sequence[str], given: Any, option: str, default: float) -> Floats:
    """Return a number of at least zero for each feature: by a mapping from names, or an array of all."""
    if hasattr(given, "items"):  # a mapping, or a series with an index
        named = dict(given.items())
        numbers = np.full(len(names), default)
        numbers[find_columns(names, named, option)] = [_number(value, option) for value in named.values()]
        return numbers
    try:
        numbers = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(Setting(option), " must be numbers, or a mapping from names to numbers") from None
    if numbers.shape != (len(names),):
        raise InputError(
            Setting(option), f" must hold a number for each of the {len(names)} features, not {numbers.size}"
        )
    return np.array([_number(value, option) for value in numbers])


def _number(value: Any, option: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = float("nan")
    if not number >= 0:
        raise InputError(Setting(option), f" must be numbers of at least zero, but has {value!r}")
    return number


def leave_out(names: Iterable[str]) -> tuple[str, Setting]:
    """Say how to go on without these columns, as parts of a message."""
    return "leave out with ", Setting("drop", list(names)[:SHOWN])


def no_columns(features: Sequence[str], where: str) -> DataError:
    """Make the error for features that the data lack."""
    have = "has" if len(features) == 1 else "have"
    return DataError(f"{count(len(features), 'feature')} {have} no column in {where}: {listed(features)}")


def check_text(texts: Iterable[str], *where: str | Setting) -> None:
    """Raise on a text that no file can hold: half of a pair of surrogates."""
    try:
        "".join(texts).encode()
    except UnicodeEncodeError as error:
        found = quoted(error.object[error.start : error.start + 8])
        raise DataError(*where, f" holds what is no valid text ({found}): rename it") from None


def check_unique(names: Sequence[str], *where: str | Setting) -> None:
    """Raise when two columns have one name."""
    if len(set(names)) < len(names):
        twice = listed(name for name, times in Counter(names).items() if times > 1)
        raise DataError(*where, f" has more than one column named {twice}; rename all but one of each")


def numbered(n_features: int, first: int = 0) -> tuple[str, ...]:
    """Name features that have no names: ``feature_0``, ``feature_1``, ..."""
    return tuple(f"feature_{j}" for j in range(first, first + n_features))


def pixel_names(shape: tuple[int, int], by_columns: bool = False) -> tuple[str, ...]:
    """Name the pixels of a picture ``pixel_<row>_<column>``, listed by rows or by columns."""
    rows, columns = shape
    if by_columns:
        return tuple(f"pixel_{row}_{column}" for column in range(columns) for row in range(rows))
    return tuple(f"pixel_{row}_{column}" for row in range(rows) for column in range(columns))


def named_like_identifier(name: str) -> bool:
    """Return whether a word of a name means an identifier: ``id``, ``PatientID``, ``Unnamed: 0``."""
    return any(word.lower() in IDENTIFYING for word in WORDS.findall(name))


def numeric_identifiers(X: Data, names: Sequence[str], use: Collection[str]) -> list[str]:
    """Find columns of a dense X that number the rows, by their name or because they count."""
    if not isinstance(X, np.ndarray):
        return []
    found = {j for j in _counting(X) if names[j] not in use}
    for j, name in enumerate(names):
        if name not in use and named_like_identifier(name) and _tells_rows_apart(X[:, j]):
            found.add(j)
    return [names[j] for j in sorted(found)]


def _counting(X: Floats) -> list[int]:
    """Find columns that run 0, 1, 2, ... or 1, 2, 3, ...; two rows rule out nearly all others."""
    if len(X) < SHORTEST_RUN:
        return []
    likely = np.flatnonzero(((X[0] == 0) | (X[0] == 1)) & (X[1] == X[0] + 1))
    return [int(j) for j in likely if (np.diff(X[:, j]) == 1).all()]


def _tells_rows_apart(column: Floats) -> bool:
    whole = bool(np.isfinite(column).all()) and bool((column == np.floor(column)).all())
    return whole and len(np.unique(column)) == len(column)


class Problems:
    """Collects what is wrong, and raises it in one go."""

    def __init__(self) -> None:
        self.found: list[tuple[Words, Words, Setting]] = []

    def add(self, what: Words, ways: Words, solution: Setting) -> None:
        """Add a problem, the ways out of it, and the one to take where there are several problems."""
        self.found.append((what, ways, solution))

    def tell(self) -> None:
        """Raise where there is any: one with its ways out, several with one setting for all."""
        if len(self.found) == 1:
            what, ways, _ = self.found[0]
            raise DataError(*what, ": ", *ways)
        if self.found:
            parts: list[str | Setting] = [f"{len(self.found):,} problems: "]
            for n, (what, _, _) in enumerate(self.found[:SHOWN]):
                parts += [f"{'; ' if n else ''}({n + 1}) ", *what]
            if len(self.found) > SHOWN:
                parts.append(f"; and {len(self.found) - SHOWN:,} more")
            parts.append("; this goes on without them: ")
            for n, setting in enumerate(_together([solution for _, _, solution in self.found])):
                parts += [" " if n else "", setting]
            raise DataError(*parts)


def _together(settings: list[Setting]) -> list[Setting]:
    """Make one setting for each name; lists are joined."""
    joined: dict[str, Any] = {}
    for one in settings:
        both = isinstance(one.value, list) and one.name in joined
        joined[one.name] = list(dict.fromkeys([*joined[one.name], *one.value])) if both else one.value
    return [Setting(name, value) for name, value in joined.items()]
