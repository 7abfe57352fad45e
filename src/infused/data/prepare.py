"""From what was found to features that a selector can take: columns chosen, values finite, the rest noted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from infused._runtime.messages import SHOWN, count, listed, quoted
from infused._typing import Array, Data
from infused.data.columns import (
    check_unique,
    find_columns,
    leave_out,
    no_columns,
    numbered,
    numeric_identifiers,
    refuse_identifiers,
)
from infused.data.dataset import Features
from infused.data.errors import DataError
from infused.data.raw import Raw, RawMatrix, RawTable
from infused.data.table import feature_matrix, one_hot_column
from infused.data.treatment import Treatment
from infused.exceptions import Setting

__all__ = ["chosen_features", "prepare_features"]


def prepare_features(raw: Raw, treatment: Treatment, where: str, target: int | None = None) -> Features:
    """Every column but the target and what is left out, as finite numbers; or an error with the culprit."""
    names = _column_names(raw, where)
    keep = [names[j] for j in find_columns(names, treatment.keep, "keep")]
    positions, notes = _remaining(raw, names, treatment, keep, target)
    if not positions:
        raise DataError(f"{where} has no feature columns beside the target and what is left out")
    features = _numbers(raw, names, positions, treatment, keep, where)
    X, names = features.X, features.feature_names
    if X.shape[0] < 2:
        raise DataError(f"{where} has {count(X.shape[0], 'row')} of data; at least two are needed")
    refuse_identifiers(numeric_identifiers(X, names, keep))
    _refuse_infinite(X, names)
    X, filled = _fill_missing(X, names, treatment.impute)
    return Features(X, names, (*notes, *features.notes, *filled, *_constant(X, names)))


def chosen_features(raw: Raw, chosen: Sequence[str], treatment: Treatment, where: str) -> Features:
    """These features alone, in this order; ``column=value`` is made again from its column of text."""
    if not chosen:
        raise DataError(f"no features to read from {where}")
    check_unique(chosen, "the list of features")
    if isinstance(raw, RawTable):
        raw = _with_one_hot(raw, chosen, treatment.impute)
    names = _column_names(raw, where)
    position = {name: j for j, name in enumerate(names)}
    absent = [name for name in chosen if name not in position]
    if absent:
        raise no_columns(absent, where)
    positions = [position[name] for name in chosen]
    features = _numbers(raw, names, positions, replace(treatment, one_hot=False), chosen, where)
    _refuse_infinite(features.X, chosen)
    X, filled = _fill_missing(features.X, chosen, treatment.impute)
    return Features(X, tuple(chosen), (*features.notes, *filled))


def _with_one_hot(raw: RawTable, chosen: Sequence[str], impute: str | None) -> RawTable:
    columns, stored = raw.columns, set(raw.columns.column_names)
    for name in chosen:
        made = None if name in stored else one_hot_column(raw.columns, name, impute)
        columns = columns if made is None else columns.append_column(name, made)
    return replace(raw, columns=columns)


def _column_names(raw: Raw, where: str) -> tuple[str, ...]:
    """The names of all columns, each of which must be there once."""
    if isinstance(raw, RawTable):
        names = tuple(raw.columns.column_names)
    else:
        n_columns = raw.X.shape[1]
        names = numbered(n_columns) if raw.names is None else raw.names
        if len(names) != n_columns:
            raise DataError(
                f"{where} has {count(len(names), 'feature name')} for {count(n_columns, 'column')} of X"
            )
    check_unique(names, where)
    return names


def _refuse_infinite(X: Data, names: Sequence[str]) -> None:
    """Raise when a value is infinite."""
    infinite = [names[j] for j, values in _unsound(X).items() if np.isinf(values).any()]
    if infinite:
        raise DataError(f"infinite values in {listed(infinite)}: replace them, or ", *leave_out(infinite))


def _fill_missing(X: Data, names: Sequence[str], impute: str | None) -> tuple[Data, list[str]]:
    """X with a figure of its column for every NaN, as a copy, and a note; raise when not told how."""
    counts = {j: int(np.isnan(values).sum()) for j, values in _unsound(X).items()}
    missing = [j for j, n in counts.items() if n]
    if not missing:
        return X, []
    total, affected = sum(counts.values()), [names[j] for j in missing]
    if impute is None:
        where = ", ".join(f"{quoted(names[j])} ({counts[j]:,})" for j in missing[:SHOWN])
        more = f" and {len(missing) - SHOWN:,} more columns" if len(missing) > SHOWN else ""
        fill = ("fill with ", Setting("impute", "median"))
        raise DataError(
            f"{count(total, 'value')} missing in {where}{more}: ", *fill, ", or ", *leave_out(affected)
        )
    figures = np.zeros(X.shape[1])
    if impute != "zero":
        from sklearn.impute import SimpleImputer

        _refuse_empty([names[j] for j in missing if counts[j] == X.shape[0]], impute)
        imputer = SimpleImputer(strategy=impute.replace("-", "_"))
        figures[missing] = imputer.fit(X[:, missing]).statistics_
    by = "by zero" if impute == "zero" else f"by the {impute.replace('-', ' ')}"
    note = f"imputed {count(total, 'missing value')} {by} in: {listed(affected)}"
    return _filled(X.copy(), missing, figures), [note]


def _remaining(
    raw: Raw, names: tuple[str, ...], treatment: Treatment, keep: Sequence[str], target: int | None
) -> tuple[list[int], list[str]]:
    """The positions of the features, and notes on what was left out."""
    dropped = find_columns(names, treatment.drop, "drop")
    if target in dropped:
        raise DataError(Setting("drop", names[target]), ": this is the target, which cannot be left out")
    notes = [f"left out as asked: {listed(names[j] for j in dropped)}"] if dropped else []
    if isinstance(raw, RawTable):
        notes = [*raw.notes, *notes]
        spared = {target, *dropped, *(names.index(name) for name in keep)}
        labels = [j for j, name in enumerate(names) if name in raw.index and j not in spared]
        if labels:
            notes.append(f"left out as row labels: {listed(names[j] for j in labels)}")
            dropped = [*dropped, *labels]
    absent = {target, *dropped}
    return [j for j in range(len(names)) if j not in absent], notes


def _numbers(
    raw: Raw,
    names: tuple[str, ...],
    positions: list[int],
    treatment: Treatment,
    keep: Sequence[str],
    where: str,
) -> Features:
    if isinstance(raw, RawMatrix):
        X = raw.X if len(positions) == len(names) else raw.X[:, positions]
        return Features(X, tuple(names[j] for j in positions))
    chosen = raw.columns.select(positions)
    if chosen.num_rows == 0:
        raise DataError(f"{where} has a header and no rows")
    X, names, notes = feature_matrix(chosen, keep=keep, one_hot=treatment.one_hot, impute=treatment.impute)
    check_unique(names, f"{where} with ", Setting("one_hot", True))
    return Features(X, names, tuple(notes))


def _constant(X: Data, names: tuple[str, ...]) -> list[str]:
    if isinstance(X, np.ndarray):
        same = (X[0] == X).all(axis=0)
    else:
        same = X.min(axis=0).toarray().ravel() == X.max(axis=0).toarray().ravel()
    constant = [names[j] for j in np.flatnonzero(same)]
    were = "was" if len(constant) == 1 else "were"
    found = f"{count(len(constant), 'constant column')} {were} kept: {listed(constant)}"
    return [found] if constant else []


def _unsound(X: Data) -> dict[int, Array]:
    """The stored values of the columns that hold NaN or infinities.

    They are told by their sums; an overflow adds a column that holds none.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        found = np.flatnonzero(~np.isfinite(np.asarray(X.sum(axis=0)).ravel())).tolist()
    if isinstance(X, np.ndarray):
        return {j: X[:, j] for j in found}
    columns = X[:, found].tocsc()
    return dict(zip(found, np.split(columns.data, columns.indptr[1:-1]), strict=True)) if found else {}


def _refuse_empty(names: Sequence[str], impute: str) -> None:
    if names:
        has = "has" if len(names) == 1 else "have"
        why = f"{listed(names)} {has} no value at all, so there is no {impute} to fill with: "
        raise DataError(why, *leave_out(names))


def _filled(X: Data, missing: Sequence[int], figures: Array) -> Data:
    if isinstance(X, np.ndarray):
        for j in missing:
            X[np.isnan(X[:, j]), j] = figures[j]
        return X
    holes = np.isnan(X.data)
    X.data[holes] = figures[X.indices[holes]]
    X.eliminate_zeros()
    return X
