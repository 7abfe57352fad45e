"""Columns with names and types, in files and in memory: Parquet, Feather, Arrow, pandas, polars, AnnData."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date, time
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

from infused._runtime.checks import check_archive, check_table
from infused._runtime.messages import extra, listed, quoted, reason
from infused._runtime.processes import read_tried, try_first
from infused._typing import Array
from infused.data.columns import check_unique, find_column, find_columns
from infused.data.readers import reader
from infused.data.readers.delimited import read_comma
from infused.data.reading import (
    DataError,
    Part,
    RawMatrix,
    RawTable,
    ReadOptions,
    parsing,
    several,
    temporary,
    validated,
)
from infused.data.target import target_from_column, together
from infused.exceptions import InputError, Setting

SMALL_FOOTER = 2**15  # bytes, which hold a few thousand columns inside each other; pyarrow survives that
LONG_INTEGERS = ("Int128", "UInt128")
NAMELESS = re.compile(r"__index_level_\d+__")  # what pyarrow calls row labels that have no name


@reader(".parquet", ".pq", title="Parquet table", options=("target",))
def read_parquet(path: Path, options: ReadOptions, part: Part) -> RawTable:
    """Read all columns of one Parquet file."""
    extra("pyarrow")
    from pyarrow import parquet

    with parsing(path, "Parquet"):
        check_nesting(path)
        with parquet.ParquetFile(path) as file:
            check_table(file.metadata.num_rows, file.metadata.num_columns, quoted(path))
            return _labelled(validated(file.read()))


def check_nesting(path: Path) -> None:
    """Refuse a Parquet file of columns nested so deeply that pyarrow, following them, ends the process."""
    from pyarrow import parquet

    with path.open("rb") as file:
        file.seek(-min(8, path.stat().st_size), os.SEEK_END)
        footer = int.from_bytes(file.read(4), "little")
    if footer > SMALL_FOOTER:
        try_first(partial(parquet.read_schema, path), path, "Parquet")


@reader(".feather", ".arrow", title="Feather table", options=("target",))
def read_feather(path: Path, options: ReadOptions, part: Part) -> RawTable:
    """Read all columns of one Feather (Arrow IPC) file."""
    extra("pyarrow")
    from pyarrow import feather

    with parsing(path, "Feather"):
        return _labelled(validated(feather.read_table(path, memory_map=False)))


@reader(".h5ad", title="AnnData (needs the package anndata)", options=("target", "x_key"))
def read_h5ad(path: Path, options: ReadOptions, part: Part) -> RawMatrix:
    """Read X, or the layer that ``x_key`` names, and a column of ``obs`` as the target."""
    anndata = extra("anndata")
    with parsing(path, "AnnData"):
        data = read_tried(partial(anndata.read_h5ad, path), path, "AnnData")
    return annotated_matrix(data, options, part, quoted(path))


def is_pandas(source: Any) -> bool:
    """Return whether it is one of pandas' objects, found out without importing pandas."""
    return any(cls.__module__.partition(".")[0] == "pandas" for cls in type(source).__mro__)


def frame_table(frame: Any) -> RawTable:
    """Read a pandas frame, or anything that speaks Arrow's C stream, such as a polars frame.

    Row labels of pandas that have a name can be the target or be kept; those without are no data.
    """
    pa = extra("pyarrow")
    try:
        return _labelled(_from_pandas(frame) if is_pandas(frame) else pa.table(known_integers(frame)))
    except (InputError, MemoryError):
        raise
    except Exception as error:  # of many types: pyarrow's own, and those of the library that made the frame
        said = reason(ValueError("; ".join(map(str, error.args))))
        raise DataError(f"the data frame cannot be read as a table: {said}") from error


def known_integers(source: Any) -> Any:
    """Cast the integers of 128 bits of polars, which Arrow has not, to decimals."""
    if not type(source).__module__.startswith("polars."):
        return source
    import polars

    if hasattr(source, "dtype"):
        return source.cast(polars.Decimal(38, 0)) if str(source.dtype) in LONG_INTEGERS else source
    long = [name for name, kind in source.schema.items() if str(kind) in LONG_INTEGERS]
    return source.with_columns(polars.col(long).cast(polars.Decimal(38, 0))) if long else source


def annotated_matrix(data: Any, options: ReadOptions, part: Part, where: str) -> RawMatrix:
    """Take X or a layer of an AnnData object, and the target from its ``obs``."""
    y, target_name = (
        (None, "target") if part in ("features", "texts") else _observed(data, options.target, where)
    )
    X = None if part == "target" else _layer(data, options.x_key, where)
    return RawMatrix(X, y, target_name, tuple(str(name) for name in data.var_names))


def _from_pandas(frame: Any) -> Any:
    """Make an Arrow table whose names are texts, as those of every other source are."""
    import pyarrow as pa

    names = [str(name) for name in frame.columns]
    check_unique(names, "the data frame")
    labelled = any(name is not None for name in frame.index.names)
    return pa.Table.from_pandas(frame.set_axis(names, axis=1), preserve_index=None if labelled else False)


def _labelled(columns: Any) -> RawTable:
    """Mark the columns that pandas wrote for row labels; leave out those without a name."""
    metadata = columns.schema.pandas_metadata or {}
    labels = [entry for entry in metadata.get("index_columns", ()) if isinstance(entry, str)]
    nameless = {label for label in labels if NAMELESS.fullmatch(label)}
    if nameless:
        columns = columns.select([j for j, name in enumerate(columns.column_names) if name not in nameless])
    return RawTable(columns, index=tuple(label for label in labels if label not in nameless))


def _layer(data: Any, key: str | None, where: str) -> Any:
    if key is None and data.X is not None:
        return data.X
    if key is not None and key in data.layers:
        return data.layers[key]
    missing = "no X" if key is None else f"no layer {quoted(key)}"
    held = listed(data.layers) or "none"
    raise DataError(f"{where} has {missing}: name a layer with ", Setting("x_key"), f"; it has {held}")


def _observed(data: Any, target: Any, where: str) -> tuple[Array, str]:
    pa = extra("pyarrow")
    names = [str(name) for name in data.obs.columns]
    if target is None:
        held = listed(names) or "no columns"
        raise DataError(
            Setting("target"), f" is not given: which column of obs of {where} is it? it has {held}"
        )
    found = [names[j] for j in find_columns(names, several(target), "target")]
    columns = [
        target_from_column(
            pa.chunked_array([pa.Array.from_pandas(data.obs.iloc[:, names.index(name)])]), name
        )
        for name in found
    ]
    return together(columns, found)


SHARE = 0.1  # a byte of a sheet takes this many times itself, inverted, as an object of Python


@reader(".xlsx", ".xlsm", title="Excel sheet", options=("target", "header", "sheet"))
def read_sheet(path: Path, options: ReadOptions, part: Part) -> RawTable:
    """Read the values of a sheet; formulas by what they gave when the file was saved."""
    openpyxl = extra("openpyxl")
    with parsing(path, "an Excel file"):
        check_archive(path, SHARE)
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
        names = [sheet.title for sheet in book.worksheets]
        place = _place(names, options)
        rows = _rows(book.worksheets[place].iter_rows(values_only=True), path)
        book.close()
    return _sheet_table(rows, names, place, path, options, part)


@reader(".xls", title="old Excel sheet (needs the package xlrd)", options=("target", "header", "sheet"))
def read_old_sheet(path: Path, options: ReadOptions, part: Part) -> RawTable:
    """Read the values of a sheet of Excel 97 to 2003."""
    xlrd = extra("xlrd")
    with parsing(path, "an Excel file"):
        book = read_tried(partial(xlrd.open_workbook, path, logfile=StringIO()), path, "an Excel file")
        names = book.sheet_names()
        place = _place(names, options)
        rows = _rows(
            ([_old_value(cell, book.datemode) for cell in row] for row in book.sheet_by_index(place)), path
        )
    return _sheet_table(rows, names, place, path, options, part)


def _old_value(cell: Any, datemode: int) -> Any:
    """Return what a cell shows: whole numbers as such, nothing for blanks and errors."""
    import xlrd

    if cell.ctype == xlrd.XL_CELL_DATE:
        return xlrd.xldate_as_datetime(cell.value, datemode)
    if cell.ctype == xlrd.XL_CELL_NUMBER and cell.value.is_integer():
        return int(cell.value)
    if cell.ctype == xlrd.XL_CELL_BOOLEAN:
        return bool(cell.value)
    return cell.value if cell.ctype in (xlrd.XL_CELL_NUMBER, xlrd.XL_CELL_TEXT) and cell.value != "" else None


def _place(names: list[str], options: ReadOptions) -> int:
    return 0 if options.sheet is None else find_column(names, options.sheet, "sheet", "sheet")


def _sheet_table(
    rows: list[list[str]], names: list[str], place: int, path: Path, options: ReadOptions, part: Part
) -> RawTable:
    """Read the cells of a sheet as those of any text table."""
    rows = _without_margins(rows)
    if not rows:
        raise DataError(f"the sheet {quoted(names[place])} of {quoted(path)} is empty")
    with temporary("sheet.csv", quoted(path)) as file:
        with file.open("w", encoding="utf-8", newline="") as stream:
            csv.writer(stream, lineterminator="\n").writerows(rows)
        table = read_comma(file, replace(options, separator=",", encoding=None), part)
    if options.sheet is not None or len(names) == 1:
        return table
    others = f"{quoted(names[0])} was read, the first of {len(names)} sheets: {listed(names)}"
    return replace(table, notes=(*table.notes, others))


def _rows(cells_of_rows: Iterable[Sequence[Any]], path: Path) -> list[list[str]]:
    """Return the rows that hold anything; a cell far away makes empty ones without end."""
    rows, cells = [], 0
    for row in cells_of_rows:
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
    """Leave out empty rows, and the empty columns to the right that formatting leaves."""
    rows = [row for row in rows if any(row)]
    width = max((n + 1 for row in rows for n, value in enumerate(row) if value), default=0)
    return [(row + [""] * width)[:width] for row in rows]
