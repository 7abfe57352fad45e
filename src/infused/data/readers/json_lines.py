"""JSON lines: one object on each line, a column for each key."""

from __future__ import annotations

import re
from pathlib import Path

from infused._runtime.checks import check_table
from infused._runtime.messages import extra, quoted
from infused.data.readers import reader
from infused.data.reading import DataError, Part, RawTable, ReadOptions, large_floats, parsing, validated
from infused.data.written import loses_digits

KEY = re.compile(rb'"((?:[^"\\]|\\.)*+)"\s*+:')
WHOLE = re.compile(rb"[:,\[]\s*+(-?[0-9]{16,})\s*+[],}]")
ESCAPED = re.compile(rb"\\.")
MARKS = bytes.maketrans(b"{}", b"[]")
NO_MARKS = bytes(set(range(256)) - set(b'[]{}"\n'))
DEEPEST = 64  # lists and objects inside each other: pyarrow recurses, and some thousands end the process
SMALLEST_BLOCK, LARGEST_BLOCK = 1 << 20, 1 << 30  # an object must fit into a block


@reader(".jsonl", ".ndjson", title="JSON lines", options=("target",))
def read_json_lines(path: Path, options: ReadOptions, part: Part) -> RawTable:
    """Read all keys of the objects; one that an object lacks is missing there."""
    extra("pyarrow")
    from pyarrow import json

    content = path.read_bytes()
    _check_depth(content, path)
    _check_size(content, path)
    size = min(max(SMALLEST_BLOCK, path.stat().st_size), LARGEST_BLOCK)
    with parsing(path, "JSON lines"):
        table = validated(json.read_json(path, read_options=json.ReadOptions(block_size=size)))
    large = [table.column_names[j] for j in large_floats(table)]
    lossy = large and any(loses_digits(found[1].decode()) for found in WHOLE.finditer(content))
    return RawTable(table, lossy=frozenset(large if lossy else ()))  # whose numbers they are cannot be told


def _check_depth(content: bytes, path: Path) -> None:
    """Refuse nesting that no table has, before pyarrow follows it.

    Each round takes away the innermost brackets outside texts; few that have no partner are left to pyarrow.
    """
    marks = ESCAPED.sub(b"", content).translate(MARKS, NO_MARKS).replace(b'""', b"")
    nested = b"".join(part for line in marks.split(b"\n") for part in line.split(b'"')[::2])
    for _ in range(DEEPEST):
        nested = nested.replace(b"[]", b"")
    if len(nested) > DEEPEST:
        raise DataError(
            f"{quoted(path)} nests lists or objects more than {DEEPEST} deep: write a number or a text for "
            "each key"
        )


def _check_size(content: bytes, path: Path) -> None:
    """Refuse a table beyond the memory budget: every key is a column in every row, also where absent."""
    keys = len({match[1] for match in KEY.finditer(content)})
    check_table(content.count(b"\n") + 1, keys, quoted(path))
