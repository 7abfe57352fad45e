"""Tidy rows, printed as an aligned table and written as CSV."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from importlib.metadata import version
from io import StringIO
from pathlib import Path
from typing import Any

from infused._runtime.files import write_whole

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


def write_csv(rows: Sequence[Row], path: Path | None) -> None:
    """Write what was measured and say where; None is for a part, which must not replace a whole run."""
    if path is None:
        print("Not a whole run: nothing written; name a file with --output.")
        return
    text = StringIO(newline="")
    writer = csv.DictWriter(text, list(dict.fromkeys(name for row in rows for name in row)))
    writer.writeheader()
    writer.writerows({name: _plain(value) for name, value in row.items()} for row in rows)
    write_whole(path, text.getvalue().encode())
    print(f"Written to {path}")


def versions() -> Row:
    """The versions that a figure depends on."""
    return {f"{name}_version": version(name) for name in ("infused", "numpy", "scipy", "numba")}


def _plain(value: Any) -> Any:
    return f"{value:.6g}" if isinstance(value, float) else value
