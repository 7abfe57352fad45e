"""Recorded variables in other data: each is read from its column in the way that the record says."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from infused._runtime.messages import SHOWN, listed, quoted, suggestion
from infused._typing import Data, Floats
from infused.coding import Levels, Origin, VariableCoding
from infused.data.columns import Problems, check_unique, no_columns
from infused.data.dataset import Features
from infused.data.prepare import checked_names, refuse_infinite
from infused.data.reading import (
    DataError,
    Raw,
    RawMatrix,
    RawTable,
    ReadOptions,
    column_kind,
    column_numbers,
    in_numbers,
    plain_values,
)
from infused.data.sources import find_source
from infused.data.variables import code_texts, word_counts
from infused.data.written import (
    PARTS,
    as_gaps,
    date_part,
    loses_digits,
    plain_texts,
    read_dates,
    recorded_number,
)
from infused.exceptions import InputError, Setting

DEFAULTS = ReadOptions()


def load_features(source: Any, features: Sequence[str], options: ReadOptions = DEFAULTS) -> Features:
    """Read these features alone, in this order; a target is not needed, and other columns do not matter.

    A feature ``column=value`` that `load_data` made with ``one_hot`` is made again from its column.

    Parameters
    ----------
    source : path, str, data frame, tuple or AnnData
        As in `load_data`; an array or a sparse matrix alone is taken too.
    features : sequence of str
        Their names. One that the data lack raises `DataError`.
    options : ReadOptions, default=ReadOptions()
        How to read the source. Its other options, and those that have no meaning for the source, are not
        heeded: new data may come in another format.

    Returns
    -------
    Features
        X, the names, and notes on what was done.

    See Also
    --------
    load_data : All features, with a target.

    Examples
    --------
    >>> from infused.data import load_features
    >>> load_features("digits", ["pixel_3_5", "pixel_2_2"]).X.shape
    (1797, 2)
    """
    found = find_source(source)
    raw = in_numbers(found.read(options, "features"), found.where, options.transpose)
    stored = raw.columns.column_names if isinstance(raw, RawTable) else ()
    return _recorded(raw, [_by_name(name, stored) for name in features], options, found.where)


def read_recorded(
    source: Any, variables: Sequence[VariableCoding], options: ReadOptions = DEFAULTS, id: str | None = None
) -> tuple[Features, list[Any] | None]:
    """Read recorded variables from other data, each as the record says, and the column ``id`` as it is.

    NaN stands for a missing value. Categories are the positions of their recorded levels; those that the
    record lacks follow after them.
    """
    found = find_source(source)
    raw = in_numbers(found.read(options, "texts"), found.where, options.transpose)
    features = _recorded(raw, variables, options, found.where)
    if id is None:
        return features, None
    stored = raw.columns.column_names if isinstance(raw, RawTable) else []
    if not isinstance(raw, RawTable) or id not in stored:
        raise InputError(Setting("id", id), f": {found.where} has no such column", suggestion(id, stored))
    return features, raw.columns.column(id).to_pylist()


def _recorded(raw: Raw, variables: Sequence[VariableCoding], options: ReadOptions, where: str) -> Features:
    names = tuple(one.name for one in variables)
    if not names:
        raise DataError(f"no features to read from {where}")
    check_unique(names, "the list of features")
    if isinstance(raw, RawMatrix):
        columns_of = [one.origin.column for one in variables]
        return Features(matrix_columns(raw, columns_of, where, options.missing), names)
    columns, levels = table_columns(raw, variables, where, options)
    X = np.empty((len(columns[0]), len(names)), order="F")
    for j, values in enumerate(columns):
        X[:, j] = values
    return Features(X, names, levels=levels if any(own is not None for own in levels) else None)


def _by_name(feature: str, stored: Sequence[str]) -> VariableCoding:
    """Describe a number in the column of its name, or ``column=value``, which ``one_hot`` makes."""
    if feature not in stored:
        for j, letter in enumerate(feature):
            if letter == "=" and feature[:j] in stored:
                return VariableCoding(feature, Origin(feature[:j], "level", level=feature[j + 1 :]))
    return VariableCoding(feature, Origin(feature))


def matrix_columns(raw: RawMatrix, chosen: Sequence[str], where: str, missing: Sequence[str] = ()) -> Data:
    """Take columns of a matrix by name, in this order."""
    names = checked_names(raw, where)
    position = {name: j for j, name in enumerate(names)}
    absent = [name for name in chosen if name not in position]
    if absent:
        raise no_columns(absent, where)
    X = raw.X[:, [position[name] for name in chosen]]
    problems = Problems()
    refuse_infinite(X, chosen, problems)
    problems.tell()
    return as_gaps(X, missing) if missing and isinstance(X, np.ndarray) else X


def table_columns(
    raw: RawTable, variables: Sequence[VariableCoding], where: str, options: ReadOptions
) -> tuple[list[Floats], Levels]:
    """Read variables of a table, each from its column in the recorded way, NaN where a value is missing.

    Also the levels of the categories: the recorded ones, then those that the record lacks.
    """
    checked_names(raw, where)
    if raw.columns.num_rows == 0:
        raise DataError(f"{where} has a header and no rows")
    stored = set(raw.columns.column_names)
    absent = list(dict.fromkeys(one.origin.column for one in variables if one.origin.column not in stored))
    if absent:
        raise no_columns(absent, where)
    problems, found, levels = Problems(), [], []
    for one in variables:
        name = one.origin.column
        column = raw.columns.column(name)
        if column_kind(column.type) in ("objects", "bytes"):
            raise DataError(f"{quoted(name)} holds neither numbers nor texts in {where}")
        values, own, odd = recorded_values(column, one, options.missing)
        if (name in raw.lossy or recorded_loss(column, one.origin)) and name not in options.use:
            raise DataError(
                f"column {quoted(name)} of {where} has numbers that float64 cannot hold: round them first"
            )
        if odd:
            numbers = f"numbers in {one.origin.unit}" if one.origin.unit else "numbers"
            what = (f"{quoted(name)} holds {listed(dict.fromkeys(odd))} where {numbers} belong",)
            gaps = Setting("missing", list(dict.fromkeys(odd))[:SHOWN])
            problems.add(what, ("if these stand for missing values, say so with ", gaps), gaps)
        if np.isinf(values).any():
            raise DataError(f"infinite values in {quoted(name)}: replace them")
        found.append(values)
        levels.append(own)
    problems.tell()
    return found, tuple(levels)


def recorded_values(
    column: Any, variable: VariableCoding, missing: Iterable[str] = ()
) -> tuple[Floats, tuple[str, ...] | None, list[str]]:
    """Read a variable from its column: its values, its levels, and texts that are no numbers."""
    origin, gaps = variable.origin, list(missing)
    kind = column_kind(column.type)
    if variable.levels is not None or origin.how == "level":
        as_text = kind == "text" and origin.how != "code"
        texts = plain_texts(plain_values(column), gaps) if as_text else code_texts(column, gaps)
        cells = texts.to_pylist()
        if origin.how == "level":
            return np.array([np.nan if t is None else float(t == origin.level) for t in cells]), None, []
        levels = list(dict.fromkeys([*(variable.levels or ()), *(t for t in cells if t is not None)]))
        place = {level: n for n, level in enumerate(levels)}
        return np.array([np.nan if t is None else float(place[t]) for t in cells]), tuple(levels), []
    if origin.how in PARTS:
        return _recorded_dates(column, origin)
    if origin.how == "word":
        return word_counts(plain_values(column), str(origin.level)), None, []
    if kind == "date":
        return np.full(len(column), np.nan), None, [str(column[0].as_py())]
    if kind != "text":
        return as_gaps(column_numbers(column)[0], gaps), None, []
    cells = plain_texts(plain_values(column), gaps).to_pylist()
    read = [np.nan if t is None else recorded_number(t, origin.decimal, origin.unit) for t in cells]
    odd = [t for t, v in zip(cells, read, strict=True) if v is None]
    return np.array([np.nan if v is None else v for v in read], dtype=np.float64), None, odd


def recorded_loss(column: Any, origin: Origin) -> bool:
    """Return whether a column of other data holds numbers that float64 cannot."""
    if origin.how != "number" or column_kind(column.type) not in ("number", "text"):
        return False
    if column_kind(column.type) == "number":
        return column_numbers(column)[1] is not None
    texts = plain_texts(plain_values(column)).unique().drop_null()
    return any(loses_digits(text, origin.decimal) for text in texts.to_pylist())


def _recorded_dates(column: Any, origin: Origin) -> tuple[Floats, None, list[str]]:
    kind = column_kind(column.type)
    if kind == "date":
        return date_part(column, origin.how), None, []
    if kind == "number":  # a column of nulls has no type
        cells, _ = column_numbers(column)
        return np.full(len(cells), np.nan), None, [f"{v:g}" for v in cells[~np.isnan(cells)]]
    texts = plain_texts(plain_values(column))
    dates = read_dates(texts, origin.format or "%Y-%m-%d")
    pairs = zip(texts.to_pylist(), dates.to_pylist(), strict=True)
    return date_part(dates, origin.how), None, [t for t, d in pairs if d is None and t is not None]
