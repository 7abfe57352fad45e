"""From the columns of a table to a matrix of numbers, and what to do with columns that are none."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from infused._typing import Floats
from infused.data.dialect import NUMBER
from infused.data.errors import DataError, count, listed, quoted, repeated
from infused.data.identifiers import named_like_identifier, refuse_identifiers
from infused.data.matrix import EXACT
from infused.data.one_hot import one_hot_columns

__all__ = ["column_kind", "column_values", "feature_matrix", "likely_targets", "plain"]

TARGET_NAMES = {"target", "label", "labels", "class", "y", "diagnosis", "outcome", "response", "species"}


def column_kind(kind: Any) -> str:
    """What a pyarrow type is to us: number, text, date, bytes or nested."""
    from pyarrow import types

    if types.is_dictionary(kind):
        return column_kind(kind.value_type)
    if types.is_floating(kind) or types.is_integer(kind) or types.is_boolean(kind):
        return "number"
    if types.is_null(kind) or types.is_decimal(kind):
        return "number"
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return "text"
    if types.is_temporal(kind):
        return "date"
    return "nested" if types.is_nested(kind) else "bytes"


def plain(column: Any) -> Any:
    """The values themselves of a column of categories; texts without spaces around them, null when empty."""
    import pyarrow as pa
    from pyarrow import compute, types

    if types.is_dictionary(column.type):
        column = compute.cast(column, column.type.value_type)
    if column_kind(column.type) != "text":
        return column
    trimmed = compute.utf8_trim_whitespace(compute.cast(column, pa.string()))
    return compute.if_else(compute.equal(trimmed, ""), None, trimmed)


def column_values(column: Any) -> Floats:
    """A column of numbers as float64, NaN where a value is missing; booleans are 0 and 1."""
    import pyarrow as pa
    from pyarrow import compute, types

    kind = column.type
    if types.is_null(kind):
        return np.full(len(column), np.nan)
    if not (types.is_floating(kind) or types.is_integer(kind)):
        column = compute.cast(plain(column), pa.float64())
    return np.asarray(column.to_numpy(), dtype=np.float64)


def likely_targets(table: Any) -> list[str]:
    """Columns that people tend to mean by the target: by their names, then the last and the first."""
    names = table.column_names
    known = [name for name in names if name.strip().casefold() in TARGET_NAMES]
    return list(dict.fromkeys([*known, names[-1], names[0]]))


def feature_matrix(
    table: Any, *, keep: Collection[str], one_hot: bool, impute: str | None
) -> tuple[Floats, tuple[str, ...], list[str]]:
    """The columns of a pyarrow table as one matrix, their names, and notes on what was done.

    Missing numbers become NaN. Texts become one 0/1 column for each value where ``one_hot`` asks for it.
    """
    kinds = dict(zip(table.column_names, map(column_kind, table.schema.types), strict=True))
    texts = {name: plain(table.column(name)) for name, kind in kinds.items() if kind == "text"}
    _refuse_text_identifiers(texts, keep, one_hot)
    _refuse_kinds(kinds)
    if texts and not one_hot:
        _refuse_texts(texts)
    encoded = {name: one_hot_columns(name, column, impute) for name, column in texts.items()}

    names: list[str] = []
    for name in kinds:
        names.extend(encoded[name][0] if name in encoded else [name])
    X = np.empty((table.num_rows, len(names)), order="F")
    end = 0
    for name, column in zip(kinds, table.columns, strict=True):
        start = end
        if name in encoded:
            end += len(encoded[name][0])
            X[:, start:end] = encoded[name][1]
        else:
            end += 1
            X[:, start] = column_values(column)
            _refuse_rounding(name, column.type, X[:, start], keep)
    return X, tuple(names), _notes(encoded)


def _notes(encoded: dict[str, tuple[tuple[str, ...], Floats, int]]) -> list[str]:
    if not encoded:
        return []
    made = sum(len(names) for names, _, _ in encoded.values())
    notes = [f"{count(len(encoded), 'text column')} became {count(made, '0/1 column')}: {listed(encoded)}"]
    filled = {name: missing for name, (_, _, missing) in encoded.items() if missing}
    if filled:
        notes.append(f"filled {count(sum(filled.values()), 'missing text')} in: {listed(filled)}")
    return notes


def _refuse_text_identifiers(texts: dict[str, Any], keep: Collection[str], one_hot: bool) -> None:
    from pyarrow import compute

    refuse_identifiers(
        [
            name
            for name, column in texts.items()
            if name not in keep
            and (one_hot or named_like_identifier(name))
            and compute.count_distinct(column).as_py() == len(column)
        ]
    )


def _refuse_kinds(kinds: dict[str, str]) -> None:
    said = {
        "date": "dates or times, not numbers",
        "nested": "lists or records, not numbers",
        "bytes": "bytes that are no UTF-8 text (for a text file, name its encoding: --encoding latin-1)",
    }
    for kind, what in said.items():
        names = [name for name in kinds if kinds[name] == kind]
        if names:
            hold = "holds" if len(names) == 1 else "hold"
            raise DataError(f"{listed(names)} {hold} {what}: leave out with {repeated('--drop', names)}")


def _refuse_texts(texts: dict[str, Any]) -> None:
    name, column = next(iter(texts.items()))
    values = column.to_pylist()
    no_numbers = (
        row for row, value in enumerate(values) if value is not None and not NUMBER.fullmatch(value)
    )
    row = next(no_numbers, 0)
    raise DataError(
        f"text where numbers belong, in {count(len(texts), 'column')}: {listed(texts)} (row {row + 1:,} of "
        f"{quoted(name)} holds {quoted(values[row])}): leave out with {repeated('--drop', texts)}, "
        "or make 0/1 columns with --one-hot"
    )


def _refuse_rounding(name: str, kind: Any, values: Floats, keep: Collection[str]) -> None:
    from pyarrow import types

    if not (types.is_int64(kind) or types.is_uint64(kind)) or name in keep:
        return
    if (np.abs(values) >= EXACT).any():
        raise DataError(
            f"column {quoted(name)} has whole numbers beyond 2^53, which would be rounded: leave out with "
            f"{repeated('--drop', [name])}, or accept the rounding with {repeated('--keep', [name])}"
        )
