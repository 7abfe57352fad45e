"""CSV that spreadsheets may open: no cell is taken for a formula, and none is split in any country."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from infused._runtime.numbers import is_number

__all__ = ["csv_text", "frame_csv", "guarded", "unguarded"]

FORMULA = re.compile(r"[=+\-@\t\r]")
GUARDED = re.compile(r"'+[=+\-@\t\r]")
SPLITTING = re.compile(r'[,;\t"\r\n]')  # where commas are decimal signs, a semicolon ends a cell


def guarded(name: str) -> str:
    """A name that no spreadsheet takes for a formula."""
    formula = FORMULA.match(name) and not is_number(name)
    # A name that looks as if it had been guarded gets one more apostrophe, so that each reads back as itself.
    return f"'{name}" if formula or GUARDED.match(name) else name


def unguarded(cell: str) -> str:
    """The name that was guarded."""
    return cell[1:] if GUARDED.match(cell) else cell


def csv_text(rows: Iterable[Iterable[Any]]) -> str:
    """Rows of numbers, texts and None as CSV; texts are guarded."""
    return "".join(",".join(map(_cell, row)) + "\n" for row in rows)


def frame_csv(frame: Any) -> str:
    """A data frame as CSV, its column names and its texts guarded; gaps are empty."""
    from pandas.api.types import is_numeric_dtype

    header = csv_text([map(str, frame.columns)])
    if all(is_numeric_dtype(kind) for kind in frame.dtypes):
        return header + str(frame.to_csv(index=False, header=False, lineterminator="\n"))
    columns = [frame.iloc[:, j] for j in range(frame.shape[1])]
    cells = [column.astype(object).where(column.notna(), None).tolist() for column in columns]
    return header + csv_text(zip(*cells, strict=True))


def _cell(value: Any) -> str:
    if value is None:
        return ""
    text = guarded(value) if isinstance(value, str) else str(value)
    if not text and isinstance(value, str):
        return '""'
    return f'"{text.replace(chr(34), chr(34) * 2)}"' if SPLITTING.search(text) else text
