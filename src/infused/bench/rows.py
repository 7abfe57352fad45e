"""The rows of a benchmark: one for each k of a cell, with the same columns always."""

from __future__ import annotations

import platform
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from infused import __version__
from infused.bench.cells import SCHEMA, Cell

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "COLUMNS",
    "ORDER",
    "VOLATILE",
    "Row",
    "Status",
    "arrow_schema",
    "cell_rows",
    "failed_rows",
    "machine",
]

Row = dict[str, Any]
Status = Literal["ok", "failed", "timeout", "memory"]

#: Every column and its type; what does not apply is null.
COLUMNS = {
    "schema": "int32",
    "cell": "string",
    "dataset": "string",
    "data": "string",
    "method": "string",
    "parameters": "string",
    "protocol": "string",
    "classifier": "string",
    "folds": "int32",
    "seed": "int64",
    "repeat": "int32",
    "fold": "int32",
    "k": "int32",
    "status": "string",
    "reason": "string",
    "accuracy": "float64",
    "balanced_accuracy": "float64",
    "macro_f1": "float64",
    "r2": "float64",
    "transform": "string",
    "C": "float64",
    "tuned": "string",
    "n_train": "int32",
    "n_test": "int32",
    "n_features": "int32",
    "select_seconds": "float64",
    "fit_seconds": "float64",
    "cell_seconds": "float64",
    "selected": "list",
    "warnings": "string",
    "infused_version": "string",
    "sklearn_version": "string",
    "numpy_version": "string",
    "python_version": "string",
    "machine": "string",
}

#: The order of rows in a table; nothing else decides it.
ORDER = ("dataset", "protocol", "classifier", "method", "parameters", "repeat", "fold", "k", "cell")

#: What may differ between two runs of the same cell.
VOLATILE = ("select_seconds", "fit_seconds", "cell_seconds", "machine")


def arrow_schema() -> pa.Schema:
    """The columns as Parquet has them."""
    import pyarrow as pa

    kinds = {"list": pa.list_(pa.int32())}
    fields = [(name, kinds.get(kind) or pa.type_for_alias(kind)) for name, kind in COLUMNS.items()]
    return pa.schema(fields, metadata={"infused.bench": str(SCHEMA)})


def cell_rows(cell: Cell, shared: Row, by_k: dict[int, Row]) -> list[Row]:
    """Rows of a cell from what all k share and what each has of its own."""
    own = {
        "schema": SCHEMA,
        "cell": cell.key,
        "dataset": cell.dataset,
        "data": cell.data,
        "method": cell.method,
        "parameters": cell.parameters,
        "protocol": cell.protocol,
        "classifier": cell.classifier,
        "folds": cell.folds,
        "seed": cell.seed,
        "repeat": cell.repeat,
        "fold": cell.fold,
        **_environment(),
    }
    empty = dict.fromkeys(COLUMNS)
    return [{**empty, **own, **shared, "k": k, **by_k[k]} for k in cell.ks]


def failed_rows(cell: Cell, status: Status, reason: str) -> list[Row]:
    """Rows that say why there are no results: every k that was asked for has one."""
    shared = {"status": status, "reason": reason, "warnings": ""}
    return cell_rows(cell, shared, {k: {} for k in cell.ks})


@cache
def _environment() -> Row:
    return {
        "infused_version": __version__,
        "sklearn_version": version("scikit-learn"),
        "numpy_version": version("numpy"),
        "python_version": platform.python_version(),
        "machine": machine(),
    }


@cache
def machine() -> str:
    """The model and the number of its processors; not its name."""
    import psutil

    return f"{_processor()}, {psutil.cpu_count()} CPUs"


def _processor() -> str:
    facts = Path("/proc/cpuinfo")
    if facts.is_file():
        for line in facts.read_text(errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
