"""Writes one small data set in every format, with the libraries that people write it with."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.io
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

NAMES = ("gene a", "Größe", "x,y", 'say "hi"', "<img src=x onerror=alert(1)>", "flag")


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
