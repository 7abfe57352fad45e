"""Tidy rows, printed as an aligned table and written as CSV."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from importlib.metadata import version
from io import StringIO
from pathlib import Path
from typing import Any

from infused import available_selectors
from infused._runtime.files import write_whole
from infused.selectors.registry import selector_version

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


def versions(measured: str = "") -> Row:
    """Return the versions that a figure depends on; those of selectors for each id in the text.

    A test compares them with the code: a figure of an earlier version has to be measured again.
    """
    packages = {f"{name}_version": version(name) for name in ("infused", "numpy", "scipy", "numba")}
    ids = [id for id in re.findall(r"[a-z][a-z0-9-]*", measured) if id in available_selectors()]
    return {**packages, "selectors": " ".join(f"{id}:{selector_version(id)}" for id in dict.fromkeys(ids))}


def earlier_versions(rows: Sequence[Row]) -> list[str]:
    """Return the selectors of which rows have figures of another version than today's."""
    behind = (each.rpartition(":") for row in rows for each in (row.get("selectors") or "").split())
    return sorted({id for id, _, found in behind if found != selector_version(id)})


def _plain(value: Any) -> Any:
    return f"{value:.6g}" if isinstance(value, float) else value
