"""JSON lines: one object on each line, a column for each key."""

from __future__ import annotations

import re
from pathlib import Path

from infused._runtime.extras import extra
from infused._runtime.messages import quoted
from infused._runtime.sizes import check_table
from infused.data.errors import parsing
from infused.data.raw import Part, RawTable, validated
from infused.data.readers import reader
from infused.data.treatment import Treatment

__all__ = ["read_json_lines"]

KEY = re.compile(rb'"((?:[^"\\]|\\.)*+)"\s*+:')
SMALLEST_BLOCK, LARGEST_BLOCK = 1 << 20, 1 << 30  # an object must fit into a block


@reader(".jsonl", ".ndjson", title="JSON lines", options=("target",))
def read_json_lines(path: Path, treatment: Treatment, part: Part) -> RawTable:
    """All keys of the objects; one that an object lacks is missing there."""
    extra("pyarrow")
    from pyarrow import json

    _check_size(path)
    size = min(max(SMALLEST_BLOCK, path.stat().st_size), LARGEST_BLOCK)
    with parsing(path, "JSON lines"):
        return RawTable(validated(json.read_json(path, read_options=json.ReadOptions(block_size=size))))


def _check_size(path: Path) -> None:
    """Every key is a column in every row, so that few bytes can make a large table."""
    content = path.read_bytes()
    keys = len({match[1] for match in KEY.finditer(content)})
    check_table(content.count(b"\n") + 1, keys, quoted(path))
