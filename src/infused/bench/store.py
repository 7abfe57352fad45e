"""Where results are kept: a folder that any number of processes can add to, and that a kill does not harm.

::

    store/
      cells/KEY.parquet    the rows of one finished cell
      shared/KEY.json      what several cells share, such as the transform of a fold
      results.parquet      cells that were put together by `Store.compact`; a store can be this file alone

KEY is a hash of all that the result depends on, so two processes that compute the same cell write the same
file. Every file is written under a temporary name, reaches the disk, and is renamed.
"""

from __future__ import annotations

import json
import os
import secrets
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, Any

from infused.bench.cells import SCHEMA, content_key
from infused.bench.rows import ORDER, Row, arrow_schema
from infused.exceptions import InfusedError

if TYPE_CHECKING:
    import pyarrow as pa
    from pandas import DataFrame

__all__ = ["Store", "StoreError"]

TEMPORARY = ".part"
STALE_S = 3600.0  # no file takes this long to write


class StoreError(InfusedError, ValueError):
    """A store cannot be used as it is."""


class Store:
    """The results in a folder; made when the first is written.

    Examples
    --------
    >>> from infused.bench import Store
    >>> Store("no-such-folder").frame().empty
    True
    """

    def __init__(self, folder: str | Path):
        self.folder = Path(folder)
        if self.folder.exists() and not self.folder.is_dir():
            raise StoreError(f"{str(self.folder)!r} is a file, not a store: give a folder.")

    @property
    def results(self) -> Path:
        """The compact form."""
        return self.folder / "results.parquet"

    def write(self, rows: list[Row]) -> None:
        """Keep the rows of one cell, in the place of earlier ones."""
        import pyarrow as pa

        table = pa.Table.from_pylist(rows, schema=arrow_schema())
        self._write_table(table, self._cell(rows[0]["cell"]))

    def has(self, key: str) -> bool:
        """Whether a cell is among those that are not compacted: a quick look at what others finished."""
        return self._cell(key).exists()

    def table(self) -> pa.Table:
        """All rows, in an order that depends on nothing but their content."""
        import pyarrow as pa
        from pyarrow import compute

        # Cells come before the compact form: what another process compacts meanwhile is found there.
        cells = [part for path in self._cells() if (part := _read(path)) is not None]
        table = pa.concat_tables([arrow_schema().empty_table(), *cells])
        earlier = _read(self.results)
        if earlier is not None:
            known = compute.is_in(earlier["cell"], value_set=table["cell"].combine_chunks())
            table = pa.concat_tables([table, earlier.filter(compute.invert(known))])
        return table.sort_by([(name, "ascending") for name in ORDER])

    def frame(self) -> DataFrame:
        """All rows as a data frame; ``selected`` holds arrays, on the row of the largest k."""
        return self.table().to_pandas()

    def compact(self) -> int:
        """Put all cells into results.parquet, which is small enough to commit; the number of rows."""
        if not self.folder.is_dir():
            raise StoreError(f"There is no store in {str(self.folder)!r}.")
        with self._alone():
            cells = {path: path.stat().st_ino for path in self._cells()}
            table = self.table()
            self._write_table(table, self.results)
            for path, inode in cells.items():
                if path.stat().st_ino == inode:  # else it was written again meanwhile
                    path.unlink()
            self._sweep()
        return int(table.num_rows)

    def remember(self, key: Mapping[str, Any], compute: Callable[[], Any]) -> Any:
        """What was computed for this key before, by any process; else compute it and keep it."""
        path = self.folder / "shared" / f"{content_key(key)}.json"
        with suppress(FileNotFoundError):
            return json.loads(path.read_text(encoding="utf-8"))
        value = compute()
        _write_whole(path, json.dumps(value).encode())
        return value

    def _cell(self, key: str) -> Path:
        return self.folder / "cells" / f"{key}.parquet"

    def _cells(self) -> list[Path]:
        return sorted((self.folder / "cells").glob("[!.]*.parquet"))

    def _write_table(self, table: pa.Table, path: Path) -> None:
        import pyarrow as pa
        from pyarrow import parquet

        sink = pa.BufferOutputStream()
        parquet.write_table(table, sink, compression="zstd")
        _write_whole(path, sink.getvalue())

    def _sweep(self) -> None:
        """Remove temporary files that a killed process left."""
        for path in self.folder.rglob(f".*{TEMPORARY}"):
            with suppress(FileNotFoundError):
                if time() - path.stat().st_mtime > STALE_S:
                    path.unlink()

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Let one process at a time compact; the system lets go of the lock when a process dies."""
        with (self.folder / ".lock").open("w") as file:
            if sys.platform == "win32":
                import msvcrt

                msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
            else:
                import fcntl

                fcntl.flock(file, fcntl.LOCK_EX)
            yield


def _read(path: Path) -> pa.Table | None:
    """The rows of a file, or None where there is none."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        table = parquet.ParquetFile(path).read(use_threads=False)  # quicker than read_table for a few rows
    except FileNotFoundError:
        return None
    except (pa.ArrowException, OSError) as error:
        reason = " ".join(str(error).split())
        raise StoreError(
            f"{str(path)!r} is damaged ({reason}): delete it to have its cells computed again."
        ) from error
    written = (table.schema.metadata or {}).get(b"infused.bench")
    if written is None:
        raise StoreError(f"{str(path)!r} holds no results of a benchmark: move it out of the store.")
    if int(written) != SCHEMA:
        raise StoreError(
            f"{str(path)!r} has schema {int(written)}, but this infused reads {SCHEMA}: use another store."
        )
    return table


def _write_whole(path: Path, content: Any) -> None:
    """Write under a temporary name in the same folder, wait for the disk, rename."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}{TEMPORARY}")
    try:
        with temporary.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
