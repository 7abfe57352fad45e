"""The files of a selection, each written whole or not at all.

Every file goes to a temporary name in the same folder, reaches the disk, and is then renamed. Who reads the
folder while we write, or after we were killed, finds complete files only; ``selection.json`` comes last.
"""

from __future__ import annotations

import csv
import io
import os
import re
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from infused.exceptions import InfusedError
from infused.selection.record import SelectionRecord

__all__ = ["FILES", "OutputExistsError", "check_folder", "read_selected", "selected_csv", "write_outputs"]

#: What a folder of results holds, in the order of writing.
FILES = ("selected.csv", "reduced.parquet", "report.html", "selection.json")

FORMULA = re.compile(r"[=+\-@\t\r]")
GUARDED = re.compile(r"'+[=+\-@\t\r]")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
MARK = ".part"


class OutputExistsError(InfusedError, FileExistsError):
    """The output folder holds earlier results, and nothing was written."""


def check_folder(folder: str | Path, force: bool) -> None:
    """Refuse a folder that cannot take the results; cheap, so ask before a long computation."""
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise OutputExistsError(f"{folder} is a file, not a folder: choose another output folder.")
    found = [name for name in FILES if (folder / name).exists()]
    if found and not force:
        raise OutputExistsError(
            f"{folder} holds earlier results ({', '.join(found)}): choose another folder, or replace "
            "them with --force."
        )


def write_outputs(
    folder: str | Path,
    record: SelectionRecord,
    force: bool = False,
    reduced: Any = None,
    report_html: str | None = None,
) -> list[Path]:
    """Write selected.csv and selection.json, and where given reduced.parquet and report.html.

    Parameters
    ----------
    folder : path
        Made where it does not exist.
    record : SelectionRecord
    force : bool
        Whether earlier results are replaced; those that this selection does not write again are removed, so
        that a folder never mixes two selections.
    reduced : pyarrow Table or pandas DataFrame, optional
        The data with only the selected columns.
    report_html : str, optional

    Returns
    -------
    list of Path
        What was written.
    """
    folder = Path(folder)
    check_folder(folder, force)
    writers: dict[str, Callable[[BinaryIO], None]] = {
        "selected.csv": lambda file: _pour(file, selected_csv(record)),
        "selection.json": lambda file: _pour(file, record.to_json()),
    }
    if reduced is not None:
        writers["reduced.parquet"] = lambda file: _write_parquet(file, reduced)
    if report_html is not None:
        writers["report.html"] = lambda file: _pour(file, report_html)
    folder.mkdir(parents=True, exist_ok=True)
    _remove_leftovers(folder)
    names = [name for name in FILES if name in writers]
    temporary = {name: folder / f".{name}.{secrets.token_hex(6)}{MARK}" for name in names}
    try:
        for name in names:
            _write_whole(temporary[name], writers[name])
        for name in names:
            temporary[name].replace(folder / name)
    finally:
        for path in temporary.values():
            path.unlink(missing_ok=True)
    for name in FILES:
        if name not in writers:
            (folder / name).unlink(missing_ok=True)
    _sync_folder(folder)
    return [folder / name for name in names]


def selected_csv(record: SelectionRecord) -> str:
    """One line for each selected feature: rank, feature, score, coefficients, redundancy group.

    A spreadsheet runs a cell that begins with ``=``, ``+``, ``-`` or ``@`` as a formula, and feature names
    come from files that others wrote. Such a name gets an apostrophe in front, as spreadsheets themselves
    mark text; names that are numbers (``-1.5``) stay as they are. :func:`read_selected` takes the apostrophe
    away again, and selection.json holds all names unchanged.
    """
    text = io.StringIO(newline="")
    rows = csv.writer(text, lineterminator="\n")
    several = len(record.coefficient_names) > 1
    headings = [f"coefficient_{name}" if several else "coefficient" for name in record.coefficient_names]
    rows.writerow(["rank", "feature", "score", *headings, "redundancy_group"])
    for feature in record.selected:
        numbers = (feature.score, *(feature.coefficients or ()))
        cells = ["" if number is None else repr(number) for number in numbers]
        group = "" if feature.group is None else feature.group
        rows.writerow([feature.rank, _guarded(feature.name), *cells, group])
    return text.getvalue()


def read_selected(path: str | Path) -> list[str]:
    """The feature names of a selected.csv, best first, as they are in the data."""
    with Path(path).open(encoding="utf-8", newline="") as file:
        return [_unguarded(row["feature"]) for row in csv.DictReader(file)]


def _guarded(name: str) -> str:
    formula = FORMULA.match(name) and not NUMBER.fullmatch(name)
    # A name that looks as if it had been guarded gets one more apostrophe, so that each reads back as itself.
    return f"'{name}" if formula or GUARDED.match(name) else name


def _unguarded(cell: str) -> str:
    return cell[1:] if GUARDED.match(cell) else cell


def _write_whole(path: Path, write: Callable[[BinaryIO], None]) -> None:
    with path.open("xb") as file:
        write(file)
        file.flush()
        os.fsync(file.fileno())


def _pour(file: BinaryIO, text: str) -> None:
    file.write(text.encode())


def _write_parquet(file: BinaryIO, reduced: Any) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    table = reduced if isinstance(reduced, pa.Table) else pa.Table.from_pandas(reduced, preserve_index=False)
    parquet.write_table(table, file)


def _remove_leftovers(folder: Path) -> None:
    """Temporary files of an earlier run that was killed."""
    for name in FILES:
        for path in folder.glob(f".{name}.*{MARK}"):
            path.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    """Make the renames last through a power cut, where the system lets a folder be opened."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
