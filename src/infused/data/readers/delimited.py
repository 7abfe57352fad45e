"""Text tables: CSV, TSV and their kin, parsed by pyarrow."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from infused._runtime.checks import check_stream, check_table
from infused._runtime.messages import extra, quoted, reason
from infused.data.columns import find_column
from infused.data.readers import reader
from infused.data.reading import DataError, Part, RawTable, ReadOptions, large_floats
from infused.data.written import MISSING, Dialect, any_loses_digits, find_dialect, not_decodable, ragged_line
from infused.exceptions import Setting

WHOLE = r"^\s*[+-]?[0-9]+\s*$"
OPTIONS = ("target", "separator", "encoding", "header")

# pyarrow pays for every column of every block, so a block of wide rows has to be large.
# Measured on 2,000 x 10,000 values: from about 300 rows a block on, the time falls no further.
ROWS_PER_BLOCK = 384
SMALLEST_BLOCK = 1 << 20
LARGEST_BLOCK = 1 << 30


@reader(".csv", ".csv.gz", ".txt", ".txt.gz", title="text table, separator found out", options=OPTIONS)
def read_comma(path: Path, options: ReadOptions, part: Part) -> RawTable:
    """Read columns between the separators that the first rows show."""
    return _read(path, options, part, separator=None)


@reader(".tsv", ".tsv.gz", ".tab", ".tab.gz", title="text table, tabs between values", options=OPTIONS)
def read_tab(path: Path, options: ReadOptions, part: Part) -> RawTable:
    """Read columns between tabs."""
    return _read(path, options, part, separator="\t")


def block_size(longest_row: int) -> int:
    """Choose how many bytes pyarrow should parse at once, given the length of a row."""
    return min(max(SMALLEST_BLOCK, ROWS_PER_BLOCK * longest_row), LARGEST_BLOCK)


def _read(path: Path, options: ReadOptions, part: Part, separator: str | None) -> RawTable:
    extra("pyarrow")
    try:
        dialect = find_dialect(path, options, separator)
        _check_size(path, dialect)
        every = range(len(dialect.names))
        table = _parse(path, options, dialect, every if part == "texts" else None)
        return _tidied(*_exact(path, options, dialect, table), dialect)
    except UnicodeError as error:
        raise not_decodable(path, options.encoding, error) from error
    except (EOFError, OSError, zlib.error) as error:
        raise DataError(f"{quoted(path)} cannot be read to its end: {reason(error)}") from error


def _check_size(path: Path, dialect: Dialect) -> None:
    """Refuse a table that would not fit in memory: as many rows as the longest of the first would make."""
    size = check_stream(path) if path.suffix.lower() == ".gz" else path.stat().st_size
    if size is not None:
        check_table(size / max(dialect.longest_row, 1), len(dialect.names), quoted(path))


def _exact(path: Path, options: ReadOptions, dialect: Dialect, table: Any) -> tuple[Any, frozenset[str]]:
    """Find the columns of whole numbers that lost digits; a target of large ones becomes text."""
    from pyarrow import compute

    large = large_floats(table)
    if not large:
        return table, frozenset()
    texts = dict(zip(large, _parse(path, options, dialect, large).columns, strict=True))
    lossy = {j for j in large if any_loses_digits(texts[j], dialect.decimal)}
    target = _target_place(list(dialect.names), options.target)
    if target in large and compute.all(compute.match_substring_regex(texts[target], WHOLE)).as_py():
        table = table.set_column(target, dialect.names[target], texts[target])
        lossy -= {target}
    return table, frozenset(dialect.names[j] for j in lossy)


def _target_place(names: list[str], target: Any) -> int:
    """Find the column of the target, -1 where there is none; whoever needs it reports what is wrong."""
    try:
        alone = isinstance(target, str | int) and len(set(names)) == len(names)
        return find_column(names, target, "target") if alone else -1
    except DataError:
        return -1


def _parse(path: Path, options: ReadOptions, dialect: Dialect, texts: Sequence[int] | None) -> Any:
    """Parse a table with the dialect's names, or some columns of it with the values as they are written.

    A quoted value may hold a line break. To allow for it costs time on every file, so that is done only when
    the parser fails on a file whose rows all have the same length.
    """
    import pyarrow as pa

    size = block_size(dialect.longest_row)
    try:
        table = _parse_blocks(path, options, dialect, size, texts)
    except pa.ArrowInvalid:
        _refuse_ragged(path, options, dialect)
        try:
            table = _parse_blocks(path, options, dialect, LARGEST_BLOCK, texts, line_breaks=True)
        except pa.ArrowInvalid as error:
            raise DataError(f"{quoted(path)} could not be parsed as a table: {reason(error)}") from error
    pa.default_memory_pool().release_unused()  # what parsing took, before the matrix is made
    names = [dialect.names[j] for j in (range(len(dialect.names)) if texts is None else texts)]
    if table.num_columns != len(names):
        raise DataError(f"the first line of {quoted(path)} has a quote in a wrong place")
    return table.rename_columns(names)


def _parse_blocks(
    path: Path,
    options: ReadOptions,
    dialect: Dialect,
    size: int,
    texts: Sequence[int] | None,
    line_breaks: bool = False,
) -> Any:
    import pyarrow as pa
    from pyarrow import csv

    compression = "gzip" if path.suffix.lower() == ".gz" else None
    names: dict[str, Any] = {"autogenerate_column_names": not options.header}
    types: dict[str, Any] = {}
    if texts is not None:
        numbered = [str(j) for j in range(len(dialect.names))]  # names may repeat
        names = {"column_names": numbered, "skip_rows_after_names": int(options.header)}
        types = {
            "column_types": dict.fromkeys(numbered, pa.string()),
            "include_columns": [numbered[j] for j in texts],
        }
    with pa.input_stream(str(path), compression=compression) as stream:
        return csv.read_csv(
            stream,
            read_options=csv.ReadOptions(block_size=size, encoding=options.encoding or "utf8", **names),
            parse_options=csv.ParseOptions(delimiter=dialect.separator, newlines_in_values=line_breaks),
            convert_options=csv.ConvertOptions(
                null_values=list(MISSING), strings_can_be_null=True, decimal_point=dialect.decimal, **types
            ),
        )


def _refuse_ragged(path: Path, options: ReadOptions, dialect: Dialect) -> None:
    ragged = ragged_line(path, options.encoding, dialect.separator)
    if ragged is not None:
        line, values, expected = ragged
        raise DataError(
            f"line {line} of {quoted(path)} has {values} values where the first line has {expected}: "
            "mend that line, or say what separates the values with ",
            Setting("separator"),
            f" (it seemed to be {dialect.separator!r})",
        )


def _tidied(table: Any, lossy: frozenset[str], dialect: Dialect) -> RawTable:
    """Leave out the empty column that a separator at the end of every line makes."""
    import pyarrow as pa

    notes = [] if dialect.decimal == "." else ["numbers were read with decimal commas"]
    last = table.num_columns - 1
    if (
        last > 0
        and table.column_names[last] == f"unnamed_{last}"
        and pa.types.is_null(table.schema.types[last])
    ):
        table = table.remove_column(last)
        notes.append("an empty column without a name was left out at the end")
    return RawTable(table, notes=tuple(notes), decimal=dialect.decimal, lossy=lossy)
