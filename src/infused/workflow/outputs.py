"""The files of a selection: whole or absent, and never those of two selections.

All are written aside before the first of them is replaced, ``selection.json`` last: an error, a full disk or
a kill leaves the earlier selection whole, or the new one. A kill between two renames leaves files of both,
and the next command that reads or writes the folder finishes the rest. Two runs into one folder take turns,
so that it holds the files of one of them.
"""

from __future__ import annotations

import csv
import io
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from infused._runtime.files import Content, check_writable, csv_text, settle, unguarded, write_together
from infused._runtime.messages import extra
from infused.data import Dataset
from infused.exceptions import InputError, Setting
from infused.record.explained import dense_columns
from infused.record.schema import SelectionRecord

#: What a folder of results holds, in the order of writing.
FILES = ("selected.csv", "reduced.parquet", "report.html", "selection.json")


def check_folder(folder: str | PathLike[str], force: bool) -> None:
    """Refuse a folder that cannot take the results; cheap, so ask before a long computation."""
    settle(Path(folder), FILES)
    _check_free(Path(folder), force)


def _check_free(folder: Path, force: bool) -> None:
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file, not a folder: choose another one")
    found = [name for name in FILES if (folder / name).exists()]
    if found and not force:
        raise InputError(
            f"{folder} holds earlier results ({', '.join(found)}): choose another folder, or replace them "
            "with ",
            Setting("force", True),
        )
    check_writable(folder)


def write_outputs(
    folder: str | PathLike[str],
    record: SelectionRecord,
    *,
    force: bool = False,
    reduced: Any = None,
    page: str | None = None,
) -> list[Path]:
    """Write selected.csv and selection.json, and where given reduced.parquet and report.html.

    ``reduced`` is an Arrow table. With ``force`` earlier results are replaced; those that are not written
    again are removed.
    """
    folder = Path(folder)
    check_folder(folder, force)
    contents: dict[str, Content | None] = dict.fromkeys(FILES)
    contents["selected.csv"] = selected_csv(record).encode()
    contents["selection.json"] = record.to_json().encode()
    if reduced is not None:
        contents["reduced.parquet"] = _parquet(reduced)
    if page is not None:
        contents["report.html"] = page.encode()
    # Another run may have come first.
    write_together(folder, FILES, contents, check=lambda: _check_free(folder, force))
    return [folder / name for name in FILES if contents[name] is not None]


def _parquet(table: Any) -> bytes:
    buffer = io.BytesIO()
    extra("pyarrow.parquet").write_table(table, buffer)
    return buffer.getvalue()


def reduced_table(record: SelectionRecord, dataset: Dataset) -> Any:
    """Return the selected features in rank order, then the target, as an Arrow table."""
    pyarrow = extra("pyarrow")
    names = [feature.name for feature in record.selected]
    chosen = [feature.index for feature in record.selected]
    values = [_column(dataset, j) for j in chosen]
    target = dataset.target_name
    while target in names:
        target += "_"
    if dataset.kind == "survival":
        several, targets = [dataset.y["time"], dataset.y["event"]], [f"{target}_time", f"{target}_event"]
    else:
        several = list(dataset.y.reshape(dataset.n_samples, -1).T)
        targets = [target] if len(several) == 1 else [f"{target}_{n + 1}" for n in range(len(several))]
    columns = [*values, *map(pyarrow.array, several)]
    return pyarrow.table(columns, names=[*names, *targets])


def _column(dataset: Dataset, feature: int) -> Any:
    """Return a feature as an Arrow array: numbers, or names of levels; null for missing values."""
    pyarrow = extra("pyarrow")
    values = dense_columns(dataset.X, [feature])[:, 0]
    levels = None if dataset.levels is None else dataset.levels[feature]
    if levels is None:
        return pyarrow.array(values.copy(), from_pandas=True)
    return pyarrow.array([None if np.isnan(v) else levels[int(v)] for v in values], pyarrow.string())


def selected_csv(record: SelectionRecord) -> str:
    """Write one line for each selected feature: rank, feature, its figures, coefficients, redundancy group.

    A spreadsheet runs a cell that begins with ``=``, ``+``, ``-`` or ``@`` as a formula, and feature names
    come from files that others wrote. Such a name gets an apostrophe in front, as spreadsheets themselves
    mark text; names that are numbers (``-1.5``) stay as they are. :func:`read_selected` takes the apostrophe
    away again, and selection.json holds all names unchanged.
    """
    several = len(record.coefficient_names) > 1
    headings = [f"coefficient_{name}" if several else "coefficient" for name in record.coefficient_names]
    looked = ["frequency"] if record.stability is not None else []
    figures = ["score", "alone", "unique", *looked]
    rows: list[list[Any]] = [["rank", "feature", *figures, *headings, "redundancy_group"]]
    for feature in record.selected:
        again = () if record.stability is None else (record.stability.frequencies[feature.index],)
        numbers = (feature.score, feature.alone, feature.unique, *again, *(feature.coefficients or ()))
        rows.append([feature.rank, feature.name, *numbers, feature.group])
    return csv_text(rows)


def read_selected(path: str | PathLike[str]) -> list[str]:
    """Read the feature names of a selected.csv, best first, as they are in the data."""
    settle(Path(path).parent, FILES)
    with Path(path).open(encoding="utf-8", newline="") as file:
        return [unguarded(row["feature"]) for row in csv.DictReader(file)]
