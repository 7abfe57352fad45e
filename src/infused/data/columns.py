"""Columns by name or by position, and the names that columns may have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from infused.data.errors import DataError, count, listed, quoted, suggestion

__all__ = ["check_unique", "find_column", "find_columns", "numbered", "pixel_names"]


def find_column(names: Sequence[str], wanted: str | int, option: str) -> int:
    """The position of a column given by name, or by position (from 0; negative counts from the end).

    A text that is no column's name but a whole number is a position, as a command line has only text to give.
    """
    if isinstance(wanted, str) and wanted in names:
        return names.index(wanted)
    try:
        position = int(wanted)
    except ValueError:
        raise DataError(
            f"{option} {quoted(wanted)}: no such column{suggestion(str(wanted), names)}"
        ) from None
    if not -len(names) <= position < len(names):
        last = len(names) - 1
        raise DataError(f"{option} {position}: there are {count(len(names), 'column')}, 0 to {last}")
    return position % len(names)


def find_columns(names: Sequence[str], wanted: Iterable[str | int], option: str) -> list[int]:
    """`find_column` for several, all of which must exist."""
    return [find_column(names, name, option) for name in wanted]


def check_unique(names: Sequence[str], where: str) -> None:
    """Raise when two columns have one name."""
    if len(set(names)) < len(names):
        twice = [name for name, times in Counter(names).items() if times > 1]
        raise DataError(f"{where} has more than one column named {listed(twice)}; rename all but one of each")


def numbered(n_features: int, first: int = 0) -> tuple[str, ...]:
    """Names for features that have none: ``feature_0``, ``feature_1``, ..."""
    return tuple(f"feature_{j}" for j in range(first, first + n_features))


def pixel_names(shape: tuple[int, int], by_columns: bool = False) -> tuple[str, ...]:
    """``pixel_<row>_<column>`` for a picture whose pixels are listed by rows, or by columns."""
    rows, columns = shape
    if by_columns:
        return tuple(f"pixel_{row}_{column}" for column in range(columns) for row in range(rows))
    return tuple(f"pixel_{row}_{column}" for row in range(rows) for column in range(columns))
