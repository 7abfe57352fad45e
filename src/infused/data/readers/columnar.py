"""Parquet and Feather: columns with names and types."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from infused.data.content import ReadOptions, Table
from infused.data.errors import parsing
from infused.data.registry import reader

__all__ = ["read_feather", "read_parquet"]


@reader(".parquet", ".pq", title="Parquet table", options=("target",))
def read_parquet(path: Path, options: ReadOptions) -> Table:
    """All columns of one Parquet file."""
    from pyarrow import parquet

    with parsing(path, "Parquet"), parquet.ParquetFile(path) as file:
        return _checked(file.read())


@reader(".feather", ".arrow", title="Feather table", options=("target",))
def read_feather(path: Path, options: ReadOptions) -> Table:
    """All columns of one Feather (Arrow IPC) file."""
    from pyarrow import feather

    with parsing(path, "Feather"):
        return _checked(feather.read_table(path, memory_map=False))


def _checked(columns: Any) -> Table:
    """The table with the columns that pandas wrote for row labels marked.

    pyarrow trusts the offsets in a file; a damaged one can end the process later on, so they are validated.
    """
    columns.validate(full=True)
    metadata = columns.schema.pandas_metadata or {}
    return Table(
        columns, tuple(entry for entry in metadata.get("index_columns", ()) if isinstance(entry, str))
    )
