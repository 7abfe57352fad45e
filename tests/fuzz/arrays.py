"""Arrays, tables and targets, some of which nobody should take."""

from __future__ import annotations

import contextlib
from datetime import date, datetime
from decimal import Decimal
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import scipy.sparse as sp

#: Columns of no numbers, for a frame; each is cut or repeated to its length.
ODD_COLUMNS: tuple[list[Any], ...] = (
    ["a", "b", None],
    ["red", "red", "blue"],
    [1.0, None, 3.0],
    [True, False, None],
    [True, False],
    [None],
    ["x"],
    [1, "a", 2.5],
    [date(2020, 1, 1), date(2021, 5, 5)],
    [datetime(2020, 1, 1), None],
    [Decimal("1.5"), Decimal("1e400"), None],
    [10**30, 10**31],
    [1 + 2j, 3j],
    [b"a", b"b"],
    [[1], [2]],
    [{"a": 1}, {}],
    ["\udc80", "b"],
    [float("inf"), 1.0],
    ["1", "2", "3"],
    ["", "b"],
)


@cache
def _signal() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(7)
    X = rng.normal(size=(40, 5))
    return X, X[:, 3] - X[:, 1] + 0.2 * rng.normal(size=40)


def data(random: np.random.Generator) -> tuple[Any, Any]:
    """X and y, of a small signal that is changed, stored and typed at random."""
    X, y = (part.copy() for part in _signal())
    rows = int(random.choice([2, 3, 5, 12, 40]))
    X, y = X[:rows], y[:rows]
    if random.random() < 0.2:  # sound data, for what the parameters do
        return X, y if random.random() < 0.5 else (y > np.median(y)).astype(int)
    X = _columns(random, X)
    return _stored(random, X), _target(random, y)


def _columns(random: np.random.Generator, X: np.ndarray) -> np.ndarray:
    change = int(random.integers(12))
    if change == 0:
        X[:, int(random.integers(5))] = 1e300
    elif change == 1:
        X *= float(random.choice([1e-320, 1e-200, 1e100, 1e200, 1e307]))
    elif change == 2:
        X[:] = 3.0
    elif change == 3:
        X = np.round(X)
    elif change == 4:
        X[:, 2] = X[:, 1]
    elif change == 5:
        X[int(random.integers(len(X))), 0] = random.choice([np.nan, np.inf])
    elif change == 6:
        X += 1e15
    elif change == 7:
        X[np.abs(X) < 1] = 0.0
    return X


def _stored(random: np.random.Generator, X: np.ndarray) -> Any:
    form = int(random.integers(13))
    with np.errstate(all="ignore"):
        if form == 0:
            return sp.csr_array(X)
        if form == 1:
            return sp.csc_matrix(X)
        if form == 2:
            return X.astype(np.float32)
        if form == 3:
            return np.asfortranarray(X)
        if form == 4 and np.isfinite(X).all() and np.abs(X).max() < 1e9:
            return X.astype(np.int64)
        if form == 5:
            broken = sp.csr_array(X)
            if broken.nnz:
                broken.indices[int(random.integers(broken.nnz))] = int(random.choice([-1, 5, 40, 2**30]))
            return broken
        if form == 6:
            return _frame(random, X)
        if form == 7:
            return _odd_shape(random, X)
    return X


def _frame(random: np.random.Generator, X: np.ndarray) -> Any:
    """A table of pandas, polars or Arrow; some columns are of other things than numbers."""
    columns: dict[Any, Any] = {name: list(X[:, j]) for j, name in enumerate("abcde")}
    for name in list(columns):
        if random.random() < 0.3:
            odd = ODD_COLUMNS[int(random.integers(len(ODD_COLUMNS)))]
            columns[name] = [odd[j % len(odd)] for j in range(len(X))]
    library = int(random.integers(4))
    try:
        if library == 0:
            return pl.DataFrame(columns, strict=False)
        if library == 1:
            return pa.table(columns)
    except Exception:  # what it cannot hold
        pass
    frame = pd.DataFrame({name: _series(values) for name, values in columns.items()})
    if library == 2:
        names = frame.columns[random.random(5) < 0.5]
        with contextlib.suppress(Exception):
            kind = str(random.choice(["category", "string", "Int64", "Float64", "boolean", "float16", "str"]))
            frame = frame.astype(dict.fromkeys(names, kind))
    if random.random() < 0.2:
        frame.columns = [["a", "a", "b", "c", "d"], [0, 1, 2, 3, 4], ["a", 1, None, 2.5, ("x",)]][
            int(random.integers(3))
        ]
    return frame


def _series(values: list[Any]) -> pd.Series:
    try:
        return pd.Series(values)
    except UnicodeEncodeError:  # its texts are Arrow's, which are UTF-8; its objects are any
        return pd.Series(values, dtype=object)


def _odd_shape(random: np.random.Generator, X: np.ndarray) -> Any:
    """What is no table, or hardly one."""
    shapes = (
        *(X[:, 0], X[None], X[:0], X[:, :0], X[:, :1], X.tolist(), X.astype(str), X.astype(object), None),
        *(X + 1j, X.astype(np.float16), X.astype(">f8"), X.astype(np.longdouble), X.view(np.matrix), X[::-1]),
        *(np.ma.masked_greater(X, 1), X > 0, pd.Series(X[:, 0]), "text", 3, {"a": [1]}, [[1, 2], [3]]),
        *(X.astype("M8[s]"), sp.coo_array(X), sp.dia_array(X), sp.lil_array(X), np.hstack([X] * 40)),
        *(sp.csr_array(X.astype(np.float32)), np.broadcast_to(X[:1], X.shape)),
    )
    return shapes[int(random.integers(len(shapes)))]


def _target(random: np.random.Generator, y: np.ndarray) -> Any:
    kind = int(random.integers(16))
    if kind == 0:
        return y * float(random.choice([1e-320, 1e-200, 1e155, 1e200, 1e307]))
    if kind == 1:
        return np.zeros(len(y))
    if kind == 2:
        return np.array(["a", "b", None], dtype=object)[np.arange(len(y)) % 3]
    if kind == 3:
        return np.column_stack([y, -y, y**2])
    if kind == 4:
        return np.arange(len(y))
    if kind == 5:
        return y[:-1]
    if kind == 6:
        return np.where(y > 0, np.nan, y)
    if kind == 7:
        return np.array(["x", "y", "z"])[np.arange(len(y)) % 3]
    if kind in (8, 9):
        return y
    if kind == 10:
        return _odd_target(random, y)
    return (y > np.median(y)).astype(int)


def _odd_target(random: np.random.Generator, y: np.ndarray) -> Any:
    """What hardly is one."""
    n = len(y)
    targets = (
        *([10**30 + j for j in range(n)], [date(2020, 1, 1 + j % 3) for j in range(n)], list(map(str, y))),
        *([True, False] * n, y.astype(np.float16), y.astype(">f8"), (y * 1j), y[:, None], y[None], y > 0),
        *(pd.Series(y > 0, dtype="category"), pd.Series(y, index=range(5, n + 5)), pl.Series(y), pa.array(y)),
        *(pd.Series(["a", None] * n, dtype="string")[:n], pd.DataFrame({"y": y}), [Decimal("1.5")] * n),
        *(
            [[]] * n,
            ["\udc80", "b"] * n,
            [b"a", b"b"] * n,
            np.full(n, 2**62) + np.arange(n) % 2,
            3,
            None,
            "x",
        ),
        *(
            sp.csr_array(y[:, None]),
            np.where(y > 0, np.inf, y),
            np.ma.masked_greater(y, 0),
            y.astype("M8[s]"),
        ),
    )
    found = targets[int(random.integers(len(targets)))]
    return found[:n] if isinstance(found, list) else found
