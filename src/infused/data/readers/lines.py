"""Text formats beside CSV: ARFF, of Weka and many collections of data, and JSON lines.

SciPy's reader of ARFF takes neither text attributes nor names outside ASCII and goes row by row, so only the
header is read here and the rows go to pyarrow.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infused._runtime.checks import check_table, is_number
from infused._runtime.messages import extra, listed, quoted, reason
from infused.data.readers import reader
from infused.data.readers.delimited import block_size
from infused.data.reading import DataError, Part, RawTable, ReadOptions, large_floats, parsing, validated
from infused.data.written import any_loses_digits, codec, loses_digits, not_decodable

NUMERIC = ("numeric", "real", "integer")
TEXTUAL = ("string", "date")

DATA = re.compile(rb"^[ \t]*@data\b[^\n]*$", re.IGNORECASE | re.MULTILINE)
COMMENT = re.compile(rb"^[ \t]*%[^\n]*\n?", re.MULTILINE)
ATTRIBUTE = re.compile(
    r"""@attribute\s+(?P<name>'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|[^\s{]+)\s*(?P<type>\{.*\}|\S.*)""",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Attribute:
    """A column that the header declares."""

    name: str
    numeric: bool
    levels: tuple[str, ...] = ()
    """The values that a nominal attribute may take."""


@reader(".arff", title="ARFF table (Weka)", options=("target", "encoding"))
def read_arff(path: Path, options: ReadOptions, part: Part) -> RawTable:
    """Read numeric, nominal and text attributes; a nominal one of numbers alone is read as numbers."""
    extra("pyarrow")
    content = path.read_bytes()
    start = DATA.search(content)
    if start is None:
        raise DataError(f"{quoted(path)} has no @data line, so it is not ARFF or it is cut short")
    try:
        header = content[: start.start()].decode(codec(options.encoding))
        body = content[start.end() :].lstrip(b"\r\n")
        return _parse(path, _attributes(path, header), COMMENT.sub(b"", body), options.encoding)
    except UnicodeError as error:
        raise not_decodable(path, options.encoding, error) from error


def _attributes(path: Path, header: str) -> list[Attribute]:
    attributes = []
    for number, line in enumerate(header.splitlines(), start=1):
        text = line.strip()
        if not text.lower().startswith("@attribute"):
            continue
        match = ATTRIBUTE.fullmatch(text)
        if match is None:
            raise DataError(f"line {number} of {quoted(path)} is no ARFF attribute: {quoted(text)}")
        attributes.append(_attribute(_unquoted(match["name"]), match["type"].strip()))
    if not attributes:
        raise DataError(f"{quoted(path)} declares no @attribute")
    return attributes


def _attribute(name: str, declared: str) -> Attribute:
    if declared.startswith("{"):
        quote = '"' if '"' in declared and "'" not in declared else "'"
        values = csv.reader([declared[1:-1]], quotechar=quote, escapechar="\\", skipinitialspace=True)
        return Attribute(name, False, tuple(value.strip() for value in next(values, [])))
    word = declared.split()[0].lower()
    if word not in (*NUMERIC, *TEXTUAL):
        raise DataError(
            f"the ARFF attribute {quoted(name)} has the type {quoted(word)}, which is not supported"
        )
    return Attribute(name, word in NUMERIC)


def _unquoted(name: str) -> str:
    if name[0] in "'\"" and name[-1] == name[0] and len(name) > 1:
        return re.sub(r"\\(.)", r"\1", name[1:-1])
    return name


def _parse(path: Path, attributes: list[Attribute], body: bytes, encoding: str | None) -> RawTable:
    """Parse the rows; columns go by number, as names may repeat."""
    import pyarrow as pa

    if body.lstrip().startswith(b"{"):
        raise DataError(
            f"{quoted(path)} is sparse ARFF, which is not supported: convert it to svmlight or .mat"
        )
    if not body.strip():
        raise DataError(f"{quoted(path)} has a header and no rows")
    check_table(body.count(b"\n") + 1, len(attributes), quoted(path))
    try:
        table = _rows(body, [pa.float64() if a.numeric else pa.string() for a in attributes], encoding)
    except pa.ArrowInvalid as error:
        raise DataError(_explained(path, attributes, error)) from error
    names = [attribute.name for attribute in attributes]
    columns = [_typed(table.column(j), attribute) for j, attribute in enumerate(attributes)]
    large = large_floats(table)
    texts = _rows(body, [pa.string()] * len(attributes), encoding).columns if large else []
    lossy = frozenset(names[j] for j in large if any_loses_digits(texts[j]))
    return RawTable(pa.table(columns, names=names), lossy=lossy)


def _rows(body: bytes, types: list[Any], encoding: str | None) -> Any:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    numbers = [str(j) for j in range(len(types))]
    size = block_size(max(len(line) for line in body[: 1 << 22].splitlines()))
    return arrow_csv.read_csv(
        pa.BufferReader(body),
        read_options=arrow_csv.ReadOptions(
            column_names=numbers, block_size=size, encoding=encoding or "utf8"
        ),
        parse_options=arrow_csv.ParseOptions(quote_char=_quote(body), escape_char="\\"),
        convert_options=arrow_csv.ConvertOptions(
            column_types=dict(zip(numbers, types, strict=True)),
            null_values=["?", " ?", "? "],
            strings_can_be_null=True,
        ),
    )


def _quote(body: bytes) -> str:
    return '"' if body.count(b'"') > body.count(b"'") else "'"


def _explained(path: Path, attributes: list[Attribute], error: Exception) -> str:
    """Explain an error of pyarrow by the name of the column, which pyarrow knows by its number."""
    found = re.search(r"column #(\d+): .*invalid value '(.*)'", str(error))
    if found is None:
        return f"{quoted(path)} has a row that does not fit its {len(attributes)} attributes: {reason(error)}"
    name = attributes[int(found[1])].name
    return (
        f"the attribute {quoted(name)} of {quoted(path)} is declared as numbers, but holds {quoted(found[2])}"
    )


def _typed(column: Any, attribute: Attribute) -> Any:
    import pyarrow as pa
    from pyarrow import compute

    if attribute.numeric:
        return column
    column = compute.utf8_trim_whitespace(column)
    if not attribute.levels:
        return column
    unknown = [
        value for value in compute.unique(column).to_pylist() if value not in (None, *attribute.levels)
    ]
    if unknown:
        raise DataError(
            f"the attribute {quoted(attribute.name)} holds {listed(unknown)}, which it does not declare"
        )
    numbers = all(map(is_number, attribute.levels)) and not any(map(loses_digits, attribute.levels))
    return compute.cast(column, pa.float64()) if numbers else column


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
