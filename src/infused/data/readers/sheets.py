"""Spreadsheets: the first sheet of an Excel file, read as the text table that it would be saved as."""

from __future__ import annotations

import csv
from dataclasses import replace
from datetime import date, time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from infused._runtime.extras import extra
from infused._runtime.messages import quoted
from infused._runtime.sizes import check_archive, check_table
from infused.data.errors import DataError, parsing
from infused.data.raw import Part, RawTable
from infused.data.readers import reader
from infused.data.readers.delimited import read_comma
from infused.data.treatment import Treatment
from infused.exceptions import InputError

__all__ = ["read_sheet"]

SHARE = 0.1  # a byte of a sheet takes this many times itself, inverted, as an object of Python


@reader(".xlsx", ".xlsm", title="Excel sheet (the first)", options=("target", "header"))
def read_sheet(path: Path, treatment: Treatment, part: Part) -> RawTable:
    """The values of the first sheet; formulas by what they gave when the file was saved."""
    openpyxl = extra("openpyxl")
    with parsing(path, "an Excel file"):
        check_archive(path, SHARE)
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
        rows = _rows(book.worksheets[0], path)
        names = [sheet.title for sheet in book.worksheets]
        book.close()
    rows = _without_margins(rows)
    if not rows:
        raise DataError(f"the sheet {quoted(names[0])} of {quoted(path)} is empty")
    with TemporaryDirectory(prefix="infused-") as folder:
        file = Path(folder) / "sheet.csv"
        with file.open("w", encoding="utf-8", newline="") as stream:
            csv.writer(stream, lineterminator="\n").writerows(rows)
        try:
            table = read_comma(file, replace(treatment, separator=",", encoding=None), part)
        except InputError as error:
            told = [
                one.replace(quoted(file), quoted(path)) if isinstance(one, str) else one
                for one in error.parts
            ]
            raise type(error)(*told) from error
    others = f"{quoted(names[0])} was read, the first of {len(names)} sheets"
    return replace(table, notes=(*table.notes, *[others] * (len(names) > 1)))


def _rows(sheet: Any, path: Path) -> list[list[str]]:
    """The rows that hold anything; a cell far away makes empty ones without end."""
    rows, cells = [], 0
    for row in sheet.iter_rows(values_only=True):
        cells += len(row)
        check_table(cells, 1, quoted(path))
        if any(value is not None for value in row):
            rows.append([_text(value) for value in row])
    return rows


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value.isoformat() if isinstance(value, date | time) else str(value)


def _without_margins(rows: list[list[str]]) -> list[list[str]]:
    """Without empty rows, and without the empty columns to the right that formatting leaves."""
    rows = [row for row in rows if any(row)]
    width = max((n + 1 for row in rows for n, value in enumerate(row) if value), default=0)
    return [(row + [""] * width)[:width] for row in rows]
