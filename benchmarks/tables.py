"""Tidy rows, printed as an aligned table and written as CSV."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

Row = dict[str, Any]


def format_table(header: Sequence[str], cells: Sequence[Sequence[str]]) -> str:
    """Columns padded to their widest cell: the first to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(header, *cells, strict=True)]

    def line(row: Sequence[str]) -> str:
        padded = [row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))]
        return "  ".join(padded)

    return "\n".join([line(header), line(["-" * width for width in widths]), *map(line, cells)])


def markdown_table(header: Sequence[str], cells: Sequence[Sequence[str]]) -> str:
    """A pipe table."""
    lines = [header, ["---"] * len(header), *cells]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def write_csv(rows: Sequence[Row], path: Path) -> None:
    """Write under a temporary name and rename, so that an old table is never half replaced."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(path.name + ".tmp")
    columns = list(dict.fromkeys(name for row in rows for name in row))
    with unfinished.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows({name: _plain(value) for name, value in row.items()} for row in rows)
    unfinished.replace(path)


def versions() -> Row:
    """The versions that a figure depends on."""
    return {f"{name}_version": version(name) for name in ("infused", "numpy", "scipy", "numba")}


def _plain(value: Any) -> Any:
    return f"{value:.6g}" if isinstance(value, float) else value
