"""Files of a store: each carries a checksum of what it holds, and one that does not fit it is named."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from infused._runtime.extras import extra
from infused._runtime.files import write_whole
from infused._runtime.messages import reason
from infused.bench.plan import SCHEMA
from infused.exceptions import InputError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "DamagedFileError",
    "StoreError",
    "damaged",
    "read_table",
    "read_value",
    "write_table",
    "write_value",
]

VERSION, SUM = b"infused.bench", b"infused.sum"


class StoreError(InputError):
    """A store cannot be used as it is.

    See Also
    --------
    Store : Raises it.

    Examples
    --------
    >>> from infused.bench import Store, StoreError
    >>> try:
    ...     Store("no-such-folder").compact()
    ... except StoreError as error:
    ...     print(error)
    there is no store in 'no-such-folder'
    """


class DamagedFileError(StoreError):
    """A file does not hold what was written to it."""


def damaged(path: Path, why: str) -> DamagedFileError:
    """Make the error for a file that is not as it was written."""
    return DamagedFileError(f"{str(path)!r} is damaged ({why}): delete it to have its cells computed again")


def write_table(table: pa.Table, path: Path) -> None:
    """Rows with their checksum."""
    from pyarrow import parquet

    metadata = {**(table.schema.metadata or {}), SUM: _sum(table)}
    marked = table.replace_schema_metadata(metadata)
    write_whole(path, lambda file: parquet.write_table(marked, file, compression="zstd"))


def read_table(
    path: Path,
    schema: pa.Schema,
    renamed: Mapping[str, str],
    needed: Sequence[str],
    check: Callable[[pa.Table], Iterable[str]],
) -> pa.Table:
    """Read the rows of a file with the columns of a schema; those that came later are empty.

    A file without a checksum is read too, for earlier versions wrote none; so ``check`` says what its values
    cannot be.
    """
    pa = extra("pyarrow")
    table = _read(path)
    metadata = table.schema.metadata or {}
    if VERSION not in metadata:
        raise StoreError(f"{str(path)!r} holds no results of a benchmark: move it out of the store")
    if metadata[VERSION] != str(SCHEMA).encode():
        written = metadata[VERSION].decode(errors="replace")
        raise StoreError(
            f"{str(path)!r} has schema {written}, but this infused reads {SCHEMA}: use another store"
        )
    if SUM in metadata and metadata[SUM] != _sum(table):
        raise damaged(path, "its checksum does not fit")
    table = table.rename_columns([renamed.get(name, name) for name in table.column_names])
    for name in needed:
        if name not in table.column_names:
            raise damaged(path, f"it has no column {name!r}")
    for field in table.schema:
        wanted = schema.field(field.name).type if field.name in schema.names else field.type
        same = field.type == wanted or (pa.types.is_list(field.type) and pa.types.is_list(wanted))
        if not same and not pa.types.is_null(field.type):
            raise damaged(path, f"its column {field.name!r} has the type {field.type}, not {wanted}")
    rows = pa.concat_tables([schema.empty_table(), table], promote_options="default")
    for wrong in check(rows):
        raise damaged(path, wrong)
    return rows


def write_value(value: Any, path: Path) -> None:
    """What JSON can hold, with its checksum."""
    text = json.dumps(value)
    write_whole(path, json.dumps({"sum": sha256(text.encode()).hexdigest(), "value": value}).encode())


def read_value(path: Path) -> Any:
    """What was written; earlier versions wrote no checksum."""
    try:
        found = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise damaged(path, reason(error)) from error
    if not isinstance(found, dict) or set(found) != {"sum", "value"}:
        return found
    if sha256(json.dumps(found["value"]).encode()).hexdigest() != found["sum"]:
        raise damaged(path, "its checksum does not fit")
    return found["value"]


def _read(path: Path) -> pa.Table:
    pa = extra("pyarrow")
    from pyarrow import parquet

    try:
        table = parquet.ParquetFile(path).read(use_threads=False)  # quicker than read_table for a few rows
        table.validate(full=True)
        return table
    except FileNotFoundError:
        raise
    except (pa.ArrowException, OSError, ValueError, KeyError, TypeError, OverflowError, MemoryError) as error:
        raise damaged(path, reason(error)) from error


def _sum(table: pa.Table) -> bytes:
    """A hash of names, types and values, however they are stored."""
    from pyarrow import types

    found = sha256()
    for name, column in zip(table.column_names, table.columns, strict=True):
        kind = "list" if types.is_list(column.type) else column.type  # its items have names that change
        found.update(f"{name}:{kind}:{len(column)}".encode())
        for part in _parts(column):
            found.update(part)
    return found.hexdigest().encode()


def _parts(column: Any) -> Iterator[bytes]:
    from pyarrow import compute, types

    if types.is_list(column.type):
        yield from _parts(compute.list_value_length(column))
        yield from _parts(compute.list_flatten(column))
    elif types.is_string(column.type):
        texts = column.to_pylist()
        yield json.dumps(texts).encode()
    elif not types.is_null(column.type):
        yield compute.is_null(column).to_numpy().tobytes()
        yield compute.fill_null(column, 0).to_numpy().tobytes()
