"""The target: from a column or an array to class labels or real numbers."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from numbers import Real
from typing import Any

import numpy as np

from infused._runtime.checks import FEW_VALUES, SURELY_CLASSES, are_classes, in_double, in_doubt
from infused._runtime.messages import count, listed, quoted
from infused._typing import Array, TargetKind
from infused.data.columns import WORDS, check_text
from infused.data.reading import (
    LARGE,
    DataError,
    as_array,
    column_kind,
    column_numbers,
    plain_values,
    too_large,
)
from infused.data.written import as_gaps, number, numbers_in, plain_texts, word_unit
from infused.datafits import SURVIVAL, survival_records
from infused.exceptions import Setting

#: Words, without their s, of names that are counted or measured.
COUNTED = {
    *("age", "amount", "claim", "count", "cost", "day", "death", "duration", "hour", "income", "minute"),
    *("month", "price", "ring", "sale", "score", "stay", "total", "visit", "week", "year"),
}
MOST_LIKELY_CLASSES = 100  # more whole numbers that are no codes are surely measured
LEAST_COUNTED = 5  # whole numbers that are taken as classes, but may be counts
KINDS: dict[str | None, TargetKind] = {"classification": "classes", "regression": "real"}


def target_from_column(
    column: Any,
    name: str,
    decimal: str = ".",
    missing: Collection[str] = (),
    task: str | None = None,
) -> Array:
    """Read a pyarrow column as texts, whole numbers or fractions; booleans are 0 and 1.

    Where one is missing, a text is empty, a fraction NaN and a whole number masked: `present` tells which
    rows have a target.
    """
    from pyarrow import compute, types

    kind = column_kind(column.type)
    if kind not in ("number", "text"):
        words = {"date": "dates or times", "objects": "lists, records or other objects"}
        what = words.get(kind, "bytes that are no UTF-8 text")
        raise DataError(f"the target {quoted(name)} holds {what}; it must hold classes or numbers")
    declared = types.is_dictionary(column.type)
    column = plain_values(column)
    if kind == "text":
        column = plain_texts(column, missing)
        read = None if declared or task == "classification" else _written(column, name, decimal)
        texts = compute.fill_null(column, "")
        return np.array(texts.to_pylist(), dtype=np.str_) if read is None else read
    if types.is_null(column.type):
        return np.full(len(column), np.nan)
    if types.is_decimal(column.type):
        return _decimals(column, name, missing)
    if types.is_floating(column.type):
        return as_gaps(np.asarray(column.to_numpy()), missing)
    whole = compute.cast(column, "uint64" if types.is_uint64(column.type) else "int64")
    values = np.asarray(compute.fill_null(whole, 0).to_numpy())
    return _masked(values, compute.is_null(column).to_numpy(), missing)


def _masked(values: Array, absent: Array, missing: Collection[str]) -> Array:
    """Mask whole numbers where there is none: beside NaN, a fraction, large ones would become each other."""
    gaps = [gap for gap in map(number, missing) if gap is not None]
    absent = absent | np.isin(values, gaps)
    return np.ma.masked_array(values, absent) if absent.any() else values


def _decimals(column: Any, name: str, missing: Collection[str]) -> Array:
    """Convert whole decimals to integers, beyond 64 bits to texts; others to float64, if it can hold them."""
    cells = column.to_pylist()
    if any(cell is not None and cell != int(cell) for cell in cells):
        values, lost = column_numbers(column)
        if lost:
            raise DataError(f"the target {quoted(name)} has {lost}: round them, or write classes as texts")
        return as_gaps(values, missing)
    absent = np.array([cell is None for cell in cells], dtype=bool)
    whole = [0 if cell is None else int(cell) for cell in cells]
    if all(-(2**63) <= number < 2**63 for number in whole):
        return _masked(np.array(whole, dtype=np.int64), absent, missing)
    gone = {"", *missing}
    texts = ["" if cell is None else str(int(cell)) for cell in cells]
    return np.array(["" if text in gone else text for text in texts])


HAPPENED = {"1", "yes", "true", "dead", "died", "deceased", "event"}
CENSORED = {"0", "no", "false", "alive", "living", "censored"}


def survival_from_columns(time: Array, event: Array, time_name: str, event_name: str) -> Array:
    """Put the columns of times and of events together; where either is missing, the time is NaN."""
    if time.dtype.kind == "U":
        raise DataError(
            f"the times {quoted(time_name)} hold text ({quoted(time[0])}): give a column of numbers"
        )
    there, times = present(event), in_float(time, time_name)
    if np.isinf(times).any():
        raise DataError(f"the times {quoted(time_name)} hold infinite values; replace them")
    words = np.ma.getdata(event)
    words = words if words.dtype.kind == "U" else np.array([f"{value:g}" for value in words.tolist()])
    words = np.char.lower(words)
    found = set(words[there].tolist())
    if not found <= HAPPENED | CENSORED:
        raise DataError(
            f"the events {quoted(event_name)} must hold 1 and 0, yes and no, dead and alive, or event and "
            "censored, but have ",
            listed(sorted(found), 3),
        )
    known = there & ~np.isnan(times)
    happened = np.isin(words, list(HAPPENED))
    if known.any():
        survival_records(times[known], happened[known], quoted(time_name), quoted(event_name))
    y = np.empty(len(times), SURVIVAL)
    y["event"], y["time"] = happened, np.where(known, times, np.nan)
    return y


def together(columns: Sequence[Array], names: Sequence[str]) -> tuple[Array, str]:
    """Put targets side by side, which must be numbers if they are several; return them and their name."""
    if len(columns) == 1:
        return columns[0], names[0]
    for values, name in zip(columns, names, strict=True):
        if values.dtype.kind == "U":
            raise DataError(
                f"several targets must be numbers, but {quoted(name)} holds text ({quoted(values[0])}): "
                "predict it alone"
            )
    y = np.column_stack([in_float(values, name) for values, name in zip(columns, names, strict=True)])
    return y, f"{', '.join(names[:-1])} and {names[-1]}"


def in_float(y: Array, name: str) -> Array:
    """Return measured values as float64, NaN where they are missing; refuse those that it cannot hold."""
    if too_large(y):
        raise DataError(
            f"the target {quoted(name)} has {LARGE}, which would be rounded: take them as classes with ",
            Setting("task", "classification"),
            ", or store them as float64",
        )
    return np.ma.filled(y.astype(np.float64), np.nan) if np.ma.isMaskedArray(y) else y.astype(np.float64)


def present(y: Array) -> Array:
    """Return which rows have a target."""
    if y.dtype == SURVIVAL:
        return np.asarray(~np.isnan(y["time"]))
    if y.dtype.kind not in "Uf":
        missing: Array = np.ma.getmaskarray(y)
    else:
        missing = np.equal(y, "") if y.dtype.kind == "U" else np.isnan(y)
    return np.asarray(~(missing if missing.ndim == 1 else missing.any(axis=1)))


def _written(texts: Any, name: str, decimal: str) -> Array | None:
    """Read the numbers of a target that is written as text; None where it is meant to be text.

    Few numbers that are written plainly, or with a word as 36 months is, are labels.
    """
    found = numbers_in(texts, decimal)
    few = len(np.unique(found.values[~np.isnan(found.values)])) <= FEW_VALUES
    if not found.meant or (few and (found.plainly or word_unit(f"1 {found.unit}"))):
        return None
    if found.units:
        raise DataError(
            f"the target {quoted(name)} holds numbers in several units, as in {listed(found.units, 3)}: "
            "convert them to one unit; if they are classes, say so with ",
            Setting("task", "classification"),
        )
    if found.lossy:
        raise DataError(
            f"the target {quoted(name)} has {LARGE}, which would be rounded: if they are classes, say so ",
            "with ",
            Setting("task", "classification"),
        )
    if found.odd:
        raise DataError(
            f"the target {quoted(name)} seems to hold numbers, but not in {listed(found.odd, 3)}: if these "
            "stand for missing values, say so with ",
            Setting("missing", list(found.odd[:3])),
            "; if they are classes, with ",
            Setting("task", "classification"),
        )
    return found.values


def target_from_array(values: Any, name: str) -> Array:
    """Read the values of an array; one of shape (samples, 1) or (1, samples) is one target."""
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
        check_text(y.ravel().tolist(), f"the target {quoted(name)}")
        return np.char.strip(y)
    if y.dtype.kind not in "biuf":
        what = "complex numbers" if y.dtype.kind == "c" else f"values of type {y.dtype}"
        raise DataError(f"the target {quoted(name)} holds {what}; it must hold classes or numbers")
    return y.astype(np.int64) if y.dtype.kind == "b" else in_double(y, f"the target {quoted(name)}")


def logarithm(y: Array, name: str) -> tuple[Array, str]:
    """Return log(1 + y) of a target of numbers, and its name."""
    if y.dtype == SURVIVAL or y.dtype.kind == "U":
        raise DataError(Setting("log_target", True), f" needs numbers, but {quoted(name)} holds none")
    y = in_float(y, name)
    if np.nanmin(y) < 0:
        raise DataError(
            Setting("log_target", True),
            f" needs a target that is not negative, but {quoted(name)} has {np.nanmin(y):g}",
        )
    return np.log1p(y), f"log(1 + {name})"


def settle_target(y: Array, name: str, task: str | None) -> tuple[Array, TargetKind, list[str]]:
    """Give y one type for what it holds (text, int64, float64); return it with its kind and notes.

    Where ``task`` does not say, `are_classes` does; several columns are continuous targets, and so are more
    than ten whole numbers whose name says that they were counted or measured, such as visits or age.
    """
    if y.dtype == SURVIVAL:
        return y, "survival", []
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise DataError(f"the target {quoted(name)} holds infinite values; replace them")
    asked = KINDS.get(task)
    if y.ndim == 2 or asked == "real":
        return _real(y, name, asked), "real", []
    whole = y.dtype.kind in "iu" or (y.dtype.kind == "f" and bool((y == np.floor(y)).all()))
    values, times = np.unique(y, return_counts=True)
    counted = y.dtype.kind != "U" and len(values) > SURELY_CLASSES and _named_like_count(name)
    classes = not counted and are_classes(y)
    likely = classes or (len(values) <= MOST_LIKELY_CLASSES and 2 * len(values) <= len(y) and not counted)
    doubt = []
    some = whole and LEAST_COUNTED <= len(values) <= SURELY_CLASSES
    counts = some and (_named_like_count(name) or float(np.ptp(values)) >= len(values))  # with holes
    if asked is None and (counts or (likely and in_doubt(y))):
        taken, option = ("classes", "regression") if classes else ("measured", "classification")
        doubt = [
            f"the {len(values)} whole numbers of {quoted(name)} were taken as {taken}: if that is wrong, use "
            f"--task {option} (task='{option}')"
        ]
    if asked is None and not classes:
        return _real(y, name, asked), "real", doubt
    _check_classes(y, values, name)
    return _labels(y, whole), "classes", [*_class_notes(values, times, name), *doubt]


def _named_like_count(name: str) -> bool:
    return any(word.lower().removesuffix("s") in COUNTED for word in WORDS.findall(name))


def _labels(y: Array, whole: bool) -> Array:
    """Convert classes to text or int64; fractions and numbers beyond int64 to the text that writes them."""
    if y.dtype.kind == "U":
        return y
    if whole and (y >= -(2.0**63)).all() and (y < 2.0**63).all():
        return y.astype(np.int64)
    return np.array([str(value) if y.dtype.kind in "iu" else repr(float(value)) for value in y.tolist()])


def _decoded(y: Array, name: str) -> Array:
    try:
        return np.char.decode(y, "utf-8")
    except UnicodeDecodeError as error:
        raise DataError(f"the target {quoted(name)} holds bytes that are no UTF-8 text") from error


def _unwrapped(y: Array, name: str) -> Array:
    """Read numbers or texts from an array of objects."""
    values = y.ravel().tolist()
    numeric = all(isinstance(value, Real) for value in values)
    if numeric and any(isinstance(value, int) and not -(2**63) <= value < 2**64 for value in values):
        return np.array([str(value) for value in values]).reshape(y.shape)
    return np.array(values if numeric else [_text(value, name) for value in values]).reshape(y.shape)


def _text(value: Any, name: str) -> str:
    """Read a text, empty where it is missing; a cell of a MATLAB cell array is an array of one text."""
    inner = np.asarray(value)
    if inner.dtype.kind in "US" and inner.size == 1:
        return str(inner.ravel()[0])
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return ""
    raise DataError(f"the target {quoted(name)} is an array of objects; it must hold texts or numbers")


def _real(y: Array, name: str, asked: TargetKind | None) -> Array:
    if y.dtype.kind == "U":
        raise DataError(
            f"the target {quoted(name)} holds text ({quoted(y.flat[0])}), so ",
            Setting("task", "regression"),
            " cannot be",
        )
    if asked == "classes":
        raise DataError(f"the target {quoted(name)} has {y.shape[1]} columns; classes take one")
    y = in_float(y, name)
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
