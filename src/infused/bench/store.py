"""Where results are kept: a folder that any number of processes can add to, and that a kill does not harm.

::

    store/
      cells/KEY.parquet    the rows of one finished cell
      results.parquet      cells that were put together by `Store.compact`; a store can be this file alone

KEY is a hash of all that the result depends on, so two processes that compute the same cell write the same
file. A file has one row for each k of its cell, with the same columns always.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from infused._runtime.files import alone, check_writable, remove_leftovers, write_whole
from infused._runtime.messages import extra, listed, quoted, reason
from infused.bench.plan import SCHEMA, ProtocolName
from infused.bench.rows import COLUMNS, ORDER, Row, Status, with_scores
from infused.exceptions import InputError, Setting

if TYPE_CHECKING:
    import pyarrow as pa
    from pandas import DataFrame

#: What every row has, the least that a number can be, and the largest of a figure that is averaged.
FILLED = (
    *("cell", "dataset", "data", "method", "parameters", "protocol", "classifier"),
    *("folds", "seed", "repeat", "fold", "k", "status"),
)
LEAST = {"repeat": 0, "fold": 0, "k": 0, "folds": 2, "seed": 0}
LARGEST = 1e300

#: Columns that are the scores of their names.
MEASURED = {"accuracy", "balanced_accuracy", "f1", "r2"}

KEY = re.compile("[0-9a-f]{32}")  # the name of a cell

#: What may differ between two runs of the same cell.
VOLATILE = ("select_seconds", "fit_seconds", "cell_seconds", "machine")


class Store:
    """The results in a folder; made when the first is written.

    Parameters
    ----------
    folder : str or Path
        Where they are.

    See Also
    --------
    run_experiment : Fills it.

    Examples
    --------
    >>> from infused.bench import Store
    >>> Store("no-such-folder").frame().empty
    True
    """

    def __init__(self, folder: str | Path):
        self.folder = Path(folder)
        if self.folder.exists() and not self.folder.is_dir():
            raise StoreError(Setting("store", str(self.folder)), " is a file: give a folder")

    @property
    def compacted(self) -> Path:
        """Return the path of the compact form, one file."""
        return self.folder / "results.parquet"

    def write(self, rows: list[Row]) -> None:
        """Keep the rows of one cell, in the place of earlier ones.

        Parameters
        ----------
        rows : list of dict
            One for each k.
        """
        pa = extra("pyarrow")
        table = pa.Table.from_pylist(rows, schema=arrow_schema())
        write_table(table, self._cell(rows[0]["cell"]))

    def check(self) -> None:
        """Refuse a store that cannot be written to; cheap, so ask before a long computation."""
        check_writable(self.folder / "cells")

    def has(self, key: str) -> bool:
        """Look quickly whether a cell is among those that are not compacted, as others may have finished it.

        Parameters
        ----------
        key : str
            The cell's own.

        Returns
        -------
        bool
            True where it is there.
        """
        return self._cell(key).exists()

    def table(self) -> pa.Table:
        """Return all rows, in an order that depends on nothing but their content.

        Returns
        -------
        pyarrow.Table
            One row per k of a cell.
        """
        pa = extra("pyarrow")
        from pyarrow import compute

        # Cells come before the compact form: what another process compacts meanwhile is found there.
        table = pa.concat_tables([arrow_schema().empty_table(), *self._read_cells()])
        earlier = self._read(self.compacted)
        if earlier is not None:
            known = compute.is_in(earlier["cell"], value_set=table["cell"].combine_chunks())
            table = pa.concat_tables([table, earlier.filter(compute.invert(known))])
        return table.sort_by([(name, "ascending") for name in ORDER])

    def frame(self) -> DataFrame:
        """Return all rows as a data frame.

        Returns
        -------
        DataFrame
            One row per k of a cell; ``selected`` holds arrays, on the row of the largest k. The score that
            counted has a column of its own name. Rows of earlier versions are among them.
        """
        extra("pandas")
        return with_scores(self.table().to_pandas())

    def compact(self) -> int:
        """Put all cells into results.parquet, which is small enough to commit.

        Returns
        -------
        int
            The number of rows.
        """
        if not self.folder.is_dir():
            raise StoreError(f"there is no store in {str(self.folder)!r}")
        with alone(self.folder / ".lock"):
            cells = {path: path.stat().st_ino for path in self._cells()}
            table = self.table()
            write_table(table, self.compacted)
            for path, inode in cells.items():
                if path.stat().st_ino == inode:  # else it was written again meanwhile
                    path.unlink()
            remove_leftovers(self.folder.rglob(".*"))
        return int(table.num_rows)

    def _cell(self, key: str) -> Path:
        return self.folder / "cells" / f"{key}.parquet"

    def _cells(self) -> list[Path]:
        return sorted((self.folder / "cells").glob("[!.]*.parquet"))

    def _read(self, path: Path) -> pa.Table | None:
        """Read the rows of a file; None where there is none."""
        with suppress(FileNotFoundError):
            return read_table(path)
        return None

    def _read_cells(self) -> list[pa.Table]:
        """Read every cell once: copies that a program for synchronising made do not count."""
        tables = {path: part for path in self._cells() if (part := self._read(path)) is not None}
        found = {path.stem for path, part in tables.items() if path.stem in part["cell"].to_pylist()}
        for path in tables:
            if KEY.fullmatch(path.stem) and path.stem not in found:
                raise damaged(path, "it holds other cells than its name says")
        result, copies = [], []
        for path, part in tables.items():
            own = path.stem in found
            if not own:
                copies.append(path.name)
            if own or not found & set(part["cell"].to_pylist()):
                result.append(part)
                found |= set(part["cell"].to_pylist())
        if copies:
            warnings.warn(
                f"{str(self.folder)!r} holds copies of cells under other names, which do not count twice; "
                f"delete them: {listed(copies)}",
                UserWarning,
                stacklevel=3,
            )
        return result


def wrong_values(rows: pa.Table) -> Iterator[str]:
    """Yield sentences on values that no benchmark writes."""
    from pyarrow import compute, types

    for name in FILLED:
        if rows[name].null_count:
            yield f"a row has no {name}"
    for name, known in (("status", get_args(Status)), ("protocol", get_args(ProtocolName))):
        for other in set(compute.unique(rows[name]).to_pylist()) - set(known):
            yield f"{name} is {quoted(other)}"
    for name, least in LEAST.items():
        if (compute.min(rows[name]).as_py() or least) < least:
            yield f"{name} is below {least}"
    for name, column in zip(rows.column_names, rows.columns, strict=True):
        if types.is_floating(column.type) and (compute.max(compute.abs(column)).as_py() or 0.0) > LARGEST:
            yield f"{name} is out of range"
    for text in compute.unique(rows["parameters"]).to_pylist():
        if not _is_object(text):
            yield f"parameters are {quoted(text)}, no object of JSON"
    for text in compute.unique(rows["scoring"]).to_pylist():
        if text in set(COLUMNS) - MEASURED or text == "":
            yield f"scoring is {quoted(text)}"
    selected = compute.list_flatten(rows["selected"])
    if selected.null_count or (compute.min(selected).as_py() or 0) < 0:
        yield "selected holds what is no feature"


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def arrow_schema() -> pa.Schema:
    """Return the columns as Parquet has them."""
    pa = extra("pyarrow")
    kinds = {"list": pa.list_(pa.field("element", pa.int32()))}  # the name that Parquet gives
    fields = [(name, kinds.get(kind) or pa.type_for_alias(kind)) for name, kind in COLUMNS.items()]
    return pa.schema(fields, metadata={"infused.bench": str(SCHEMA)})


VERSION = b"infused.bench"


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
    """Write rows with a checksum of every page."""
    from pyarrow import parquet

    checked = partial(parquet.write_table, table, compression="zstd", write_page_checksum=True)
    write_whole(path, checked)


def read_table(path: Path) -> pa.Table:
    """Read the rows of a file; anybody may have written it, so columns and values are checked as well."""
    table, schema = _read(path), arrow_schema()
    written = (table.schema.metadata or {}).get(VERSION, b"").decode(errors="replace")
    if not written:
        raise StoreError(f"{str(path)!r} holds no results of a benchmark: move it out of the store")
    if written != str(SCHEMA):
        raise StoreError(
            f"{str(path)!r} has schema {written}, but this infused reads {SCHEMA}: use another store"
        )
    other = set(table.schema) ^ set(schema)
    if other:
        raise damaged(path, f"its columns are not those of results: {listed({one.name for one in other})}")
    table = table.select(schema.names)
    for wrong in wrong_values(table):
        raise damaged(path, wrong)
    return table


def _read(path: Path) -> pa.Table:
    pa = extra("pyarrow")
    from pyarrow import parquet

    try:
        # Quicker than parquet.read_table for a few rows.
        table = parquet.ParquetFile(path, page_checksum_verification=True).read(use_threads=False)
        table.validate(full=True)
        return table
    except FileNotFoundError:
        raise
    except (pa.ArrowException, OSError, ValueError, KeyError, TypeError, OverflowError, MemoryError) as error:
        raise damaged(path, reason(error)) from error
