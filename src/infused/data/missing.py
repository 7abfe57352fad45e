"""Values that are missing or infinite, and columns that do not vary; for dense and for sparse X."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias, get_args

import numpy as np

from infused._typing import Array, Data, Floats, Ints
from infused.data.errors import DataError, count, listed, quoted, repeated, suggestion

__all__ = ["Impute", "check_impute", "constant_columns", "fill_missing", "refuse_infinite"]

Impute: TypeAlias = Literal["mean", "median", "most-frequent", "zero"]


def check_impute(impute: str | None) -> None:
    """Raise unless it is a way to fill missing values."""
    if impute is not None and impute not in get_args(Impute):
        raise DataError(
            f"--impute {quoted(impute)} is not one of {', '.join(get_args(Impute))}"
            f"{suggestion(impute, get_args(Impute))}"
        )


def fill_missing(X: Data, names: Sequence[str], impute: str | None) -> tuple[Data, list[str]]:
    """X without NaN, each filled by a figure of its column, and a note; raise when not told how."""
    columns = _by_column(X)
    counts = {j: int(np.isnan(_stored(columns, j)).sum()) for j in _unsound(X)}
    missing = [j for j, n in counts.items() if n]
    if not missing:
        return X, []
    total = sum(counts.values())
    affected = [names[j] for j in missing]
    if impute is None:
        where = ", ".join(f"{quoted(names[j])} ({counts[j]:,})" for j in missing[:5])
        more = f" and {len(missing) - 5:,} more columns" if len(missing) > 5 else ""
        raise DataError(
            f"{count(total, 'value')} missing in {where}{more}: fill with --impute median, "
            f"or leave out with {repeated('--drop', affected)}"
        )
    figures = {j: _figure(_column(columns, j), impute, names[j]) for j in missing}
    X = _filled(X, figures)
    by = "by zero" if impute == "zero" else f"by the {impute.replace('-', ' ')}"
    return X, [f"imputed {count(total, 'missing value')} {by} in: {listed(affected)}"]


def refuse_infinite(X: Data, names: Sequence[str]) -> None:
    """Raise when a value is infinite; NaN must be gone already."""
    columns = _by_column(X)
    infinite = [names[j] for j in _unsound(X) if not np.isfinite(_stored(columns, j)).all()]
    if infinite:
        raise DataError(
            f"infinite values in {listed(infinite)}: replace them in the file, "
            f"or leave out with {repeated('--drop', infinite)}"
        )


def constant_columns(X: Data) -> Ints:
    """Positions of the columns that have one value only."""
    if isinstance(X, np.ndarray):
        return np.flatnonzero((X[0] == X).all(axis=0))
    lowest, highest = X.min(axis=0).toarray().ravel(), X.max(axis=0).toarray().ravel()
    return np.flatnonzero(lowest == highest)


def _unsound(X: Data) -> list[int]:
    """Columns that hold NaN or infinities, told by their sums; an overflow adds a column that holds none."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.flatnonzero(~np.isfinite(np.asarray(X.sum(axis=0)).ravel())).tolist()


def _by_column(X: Data) -> Data:
    return X if isinstance(X, np.ndarray) else X.tocsc()


def _stored(X: Data, j: int) -> Array:
    """The stored values of a column of a dense or CSC array."""
    return np.asarray(X[:, j] if isinstance(X, np.ndarray) else X.data[X.indptr[j] : X.indptr[j + 1]])


def _column(X: Data, j: int) -> Array:
    return np.asarray(X[:, j] if isinstance(X, np.ndarray) else X[:, [j]].toarray().ravel())


def _figure(column: Array, impute: str, name: str) -> float:
    if impute == "zero":
        return 0.0
    present = column[~np.isnan(column)]
    if not len(present):
        raise DataError(
            f"column {quoted(name)} has no value at all, so there is no {impute} to fill it with: "
            f"leave it out with {repeated('--drop', [name])}"
        )
    if impute == "most-frequent":
        values, times = np.unique(present, return_counts=True)
        return float(values[np.argmax(times)])
    return float(np.mean(present) if impute == "mean" else np.median(present))


def _filled(X: Data, figures: dict[int, float]) -> Data:
    if isinstance(X, np.ndarray):
        for j, figure in figures.items():
            X[np.isnan(X[:, j]), j] = figure
        return X
    per_column: Floats = np.zeros(X.shape[1])
    per_column[list(figures)] = list(figures.values())
    holes = np.isnan(X.data)
    X.data[holes] = per_column[X.indices[holes]]
    X.eliminate_zeros()
    return X
