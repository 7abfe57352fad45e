"""The target: from a column or an array to class labels or real numbers."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from infused._runtime.messages import count, listed, quoted
from infused._typing import Array, TargetKind
from infused.data.errors import DataError
from infused.data.raw import as_array
from infused.data.table import column_kind, plain
from infused.exceptions import Setting

__all__ = ["settle_target", "target_from_array", "target_from_column"]

KINDS: dict[str | None, TargetKind] = {"classification": "classes", "regression": "real"}
FEW_VALUES = 20
SAMPLES_PER_CLASS = 10


def target_from_column(column: Any, name: str) -> Array:
    """The values of a pyarrow column: texts, whole numbers or real numbers; booleans are 0 and 1."""
    from pyarrow import compute, types

    kind = column_kind(column.type)
    if kind not in ("number", "text"):
        words = {"date": "dates or times", "objects": "lists, records or other objects"}
        what = words.get(kind, "bytes that are no UTF-8 text")
        raise DataError(f"the target {quoted(name)} holds {what}; it must hold classes or numbers")
    column = plain(column)
    missing = compute.is_null(column, nan_is_null=True).to_numpy()
    _refuse_missing(missing, name)
    if kind == "text":
        return np.array(column.to_pylist(), dtype=np.str_)
    if types.is_boolean(column.type):
        column = compute.cast(column, "int64")
    elif types.is_decimal(column.type):
        column = compute.cast(column, "float64")
    return np.asarray(column.to_numpy())


def target_from_array(values: Any, name: str) -> Array:
    """The values of an array; one of shape (samples, 1) or (1, samples) is one target."""
    y = as_array(values, f"the target {quoted(name)}")
    if y.ndim == 2 and 1 in y.shape:
        y = y.ravel()
    if y.ndim not in (1, 2):
        raise DataError(
            f"the target {quoted(name)} has the shape {y.shape}; it must have one value per sample"
        )
    if y.dtype.kind == "O":
        y = _unwrapped(y, name)
    if y.dtype.kind == "S":
        y = _decoded(y, name)
    if y.dtype.kind == "U":
        y = np.char.strip(y)
        _refuse_missing(np.equal(y, ""), name)
        return y
    if y.dtype.kind not in "biuf":
        what = "complex numbers" if y.dtype.kind == "c" else f"values of type {y.dtype}"
        raise DataError(f"the target {quoted(name)} holds {what}; it must hold classes or numbers")
    _refuse_missing(np.isnan(y), name)
    return y.astype(np.int64) if y.dtype.kind == "b" else y


def settle_target(y: Array, name: str, task: str | None) -> tuple[Array, TargetKind, list[str]]:
    """y with one type for what it holds (text, int64, float64), what that is, and notes.

    The rule, where ``task`` does not say: texts are classes; fractions are real numbers; whole numbers are
    classes when there are at most 20 different ones, or at least 10 samples for each; several columns are
    real targets.
    """
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise DataError(f"the target {quoted(name)} holds infinite values; replace them")
    asked = KINDS.get(task)
    if y.ndim == 2 or asked == "real":
        return _real(y, name, asked), "real", []
    whole = y.dtype.kind in "iu" or (y.dtype.kind == "f" and bool((y == np.floor(y)).all()))
    values, times = np.unique(y, return_counts=True)
    few = len(values) <= FEW_VALUES or len(y) >= SAMPLES_PER_CLASS * len(values)
    if asked is None and y.dtype.kind != "U" and not (whole and few):
        return _real(y, name, asked), "real", []
    _check_classes(y, values, name)
    notes = _class_notes(values, times, name)
    if asked is None and y.dtype.kind != "U" and len(values) > FEW_VALUES:
        notes.append(
            f"the {len(values)} whole numbers of {quoted(name)} were taken as classes, not as measured"
        )
    return _labels(y, whole), "classes", notes


def _labels(y: Array, whole: bool) -> Array:
    """Classes as text or int64; fractions are told apart by how they are written."""
    if y.dtype.kind == "U":
        return y
    return y.astype(np.int64) if whole else np.array([repr(float(value)) for value in y])


def _decoded(y: Array, name: str) -> Array:
    try:
        return np.char.decode(y, "utf-8")
    except UnicodeDecodeError as error:
        raise DataError(f"the target {quoted(name)} holds bytes that are no UTF-8 text") from error


def _unwrapped(y: Array, name: str) -> Array:
    """Numbers or texts from an array of objects."""
    values = y.ravel().tolist()
    numeric = all(isinstance(value, Real) for value in values)
    return np.array(values if numeric else [_text(value, name) for value in values]).reshape(y.shape)


def _text(value: Any, name: str) -> str:
    """A text, empty where it is missing; a cell of a MATLAB cell array is an array of one text."""
    inner = np.asarray(value)
    if inner.dtype.kind in "US" and inner.size == 1:
        return str(inner.ravel()[0])
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return ""
    raise DataError(f"the target {quoted(name)} is an array of objects; it must hold texts or numbers")


def _refuse_missing(missing: Array, name: str) -> None:
    rows = np.flatnonzero(missing if missing.ndim == 1 else missing.any(axis=1))
    if len(rows):
        raise DataError(
            f"the target {quoted(name)} misses {count(len(rows), 'value')}, "
            f"the first in row {rows[0] + 1:,}: remove those rows"
        )


def _real(y: Array, name: str, asked: TargetKind | None) -> Array:
    if y.dtype.kind == "U":
        raise DataError(
            f"the target {quoted(name)} holds text ({quoted(y.flat[0])}), so ",
            Setting("task", "regression"),
            " cannot be",
        )
    if asked == "classes":
        raise DataError(f"the target {quoted(name)} has {y.shape[1]} columns; classes take one")
    y = y.astype(np.float64)
    if (y == y[0]).all():
        raise DataError(f"the target {quoted(name)} has the same value in every row ({y.flat[0]:g})")
    return y


def _check_classes(y: Array, values: Array, name: str) -> None:
    if y.dtype.kind == "U" and any("\n" in value for value in values):
        broken = next(value for value in values if "\n" in value)
        raise DataError(
            f"the target {quoted(name)} has a label with a line break ({quoted(broken)}): a quote is open"
        )
    if len(values) < 2:
        raise DataError(f"the target {quoted(name)} has one class only ({quoted(values[0])}); two are needed")
    if len(values) == len(y):
        measured = () if y.dtype.kind == "U" else (", or use ", Setting("task", "regression"))
        raise DataError(
            f"the target {quoted(name)} has a class of its own for each of the {len(y):,} rows: "
            "give another column",
            *measured,
        )


def _class_notes(values: Array, times: Array, name: str) -> list[str]:
    single = [str(value) for value in values[times == 1]]
    found = f"{count(len(single), 'class')} of {quoted(name)} with one sample only: {listed(single)}"
    return [found] if single else []
