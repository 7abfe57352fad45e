"""Writes one small data set in every format, with the libraries that people write it with."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import scipy.io
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

NAMES = ("gene a", "Größe", "x,y", 'say "hi"', "<img src=x onerror=alert(1)>", "flag")


def decimals(values: list[Any]) -> list[Decimal | None]:
    """Make decimals of numbers."""
    return [None if value is None else Decimal(value) for value in values]


#: One column in every type that holds whole numbers.
COLUMNS: dict[str, Callable[[list[Any]], Any]] = {
    "int64": lambda v: pd.Series(v),
    "Int64": lambda v: pd.array(v, dtype="Int64"),
    "UInt64": lambda v: pd.array(v, dtype="UInt64"),
    "int64[pyarrow]": lambda v: pd.array(v, dtype="int64[pyarrow]"),
    "objects": lambda v: pd.Series(v, dtype=object),
    "objects of decimals": lambda v: pd.Series(decimals(v), dtype=object),
    "category": lambda v: pd.Categorical(v),
    "arrow": lambda v: pa.array(v),
    "arrow uint64": lambda v: pa.array(v, pa.uint64()),
    "arrow dictionary": lambda v: pa.array(v).dictionary_encode(),
    "arrow decimal64": lambda v: pa.array(decimals(v), pa.decimal64(18, 0)),
    "arrow decimal128": lambda v: pa.array(decimals(v), pa.decimal128(38, 2)),
    "arrow decimal256": lambda v: pa.array(decimals(v), pa.decimal256(60, 2)),
    "polars": lambda v: pl.Series(v),
    "polars Int128": lambda v: pl.Series(v, dtype=pl.Int128),
    "polars Decimal": lambda v: pl.Series(decimals(v)),
}


def framed(column: Any, **others: Any) -> Any:
    """Make a frame of the library that made the column."""
    table = {"a": column, **others}
    if isinstance(column, pl.Series):
        return pl.DataFrame(table)
    return pa.table(table) if isinstance(column, pa.Array) else pd.DataFrame(table)


def small() -> tuple[np.ndarray, np.ndarray]:
    """12 samples x 6 features, some zeros, one 0/1 column; texts as classes."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((12, 6)).round(4)
    X[rng.random(X.shape) < 0.3] = 0.0
    X[:, 5] = np.arange(12) % 2
    X[0, :5] = [1e-300, -1e300, 0.1, 123456789.0, -7.0]
    return X, np.array(["healthy", "ill", "very ill"])[np.arange(12) % 3]


def frame() -> pd.DataFrame:
    X, y = small()
    data = pd.DataFrame(X, columns=list(NAMES))
    data["flag"] = data["flag"].astype(int)
    data["diagnosis"] = y
    return data


def write(folder: Path, suffix: str) -> tuple[Path, dict[str, str]]:
    """The file, and what load_data needs to be told about it."""
    path = folder / f"small{suffix}"
    X, y = small()
    if suffix in _TABLES:
        _TABLES[suffix](frame(), path)
        return path, {"target": "diagnosis"}
    if suffix == ".arff":
        path.write_text(_arff(frame()), encoding="utf-8")
        return path, {"target": "diagnosis"}
    if suffix == ".mat":
        scipy.io.savemat(
            path,
            {
                "X": X,
                "Y": y.astype(object)[:, None],
                "feature_names": np.array(NAMES, dtype=object),
            },
        )
    elif suffix == ".npz":
        np.savez(path, X=X, y=y, feature_names=np.array(NAMES))
    else:
        raise ValueError(suffix)
    return path, {}


def write_svmlight(path: Path, zero_based: bool = False) -> Path:
    X, y = small()
    codes = np.unique(y, return_inverse=True)[1]
    dump_svmlight_file(sp.csr_matrix(X), codes, str(path), zero_based=zero_based)
    return path


_TABLES = {
    ".csv": lambda data, path: data.to_csv(path, index=False),
    ".csv.gz": lambda data, path: data.to_csv(path, index=False),
    ".tsv": lambda data, path: data.to_csv(path, index=False, sep="\t"),
    ".tsv.gz": lambda data, path: data.to_csv(path, index=False, sep="\t"),
    ".txt": lambda data, path: data.to_csv(path, index=False, sep="|"),
    ".parquet": lambda data, path: data.to_parquet(path),
    ".feather": lambda data, path: data.to_feather(path),
    ".jsonl": lambda data, path: path.write_text("\n".join(map(json.dumps, data.to_dict("records")))),
}

FORMATS = (*_TABLES, ".arff", ".mat", ".npz")


def _arff(data: pd.DataFrame) -> str:
    def quote(name: str) -> str:
        return "'" + name.replace("\\", "\\\\").replace("'", "\\'") + "'"

    lines = ["% written by hand", "@relation small", ""]
    for name in data.columns[:-2]:
        lines.append(f"@attribute {quote(name)} numeric")
    lines += ["@ATTRIBUTE flag {0, 1}", "@attribute diagnosis {healthy, ill, 'very ill'}", "", "@DATA"]
    for row in data.itertuples(index=False):
        *numbers, label = row
        lines.append(",".join([*map(repr, map(float, numbers[:-1])), str(numbers[-1]), quote(label)]))
    return "\n".join(lines) + "\n% the end\n"
