"""From the columns of a table to a matrix of numbers; texts become 0/1 columns where that is asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import Any

import numpy as np

from infused._runtime.messages import count, listed, quoted
from infused._typing import Floats
from infused.data.columns import leave_out, named_like_identifier, refuse_identifiers
from infused.data.dialect import NUMBER
from infused.data.errors import DataError
from infused.data.raw import EXACT
from infused.exceptions import Setting

__all__ = ["MOST_TEXTS", "column_kind", "feature_matrix", "likely_targets", "one_hot_column", "plain"]

MOST_TEXTS = 100  # different values of one column that may become columns of their own
TARGET_NAMES = {"target", "label", "labels", "class", "y", "diagnosis", "outcome", "response", "species"}


def column_kind(kind: Any) -> str:
    """What a pyarrow type is to us: number, text, date, bytes or other objects."""
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
    return "bytes" if "binary" in str(kind) else "objects"


def plain(column: Any) -> Any:
    """The values themselves of a column of categories; texts without spaces around them, null when empty."""
    import pyarrow as pa
    from pyarrow import compute, types

    text = column_kind(column.type) == "text"
    if types.is_dictionary(column.type):
        kind = pa.string() if text else column.type.value_type
        values = [compute.take(compute.cast(c.dictionary, kind), c.indices) for c in column.chunks]
        column = pa.chunked_array(values, kind)  # a cast of the whole cannot decode polars' categories
    if not text:
        return column
    trimmed = compute.utf8_trim_whitespace(compute.cast(column, pa.string()))
    return compute.if_else(compute.equal(trimmed, ""), None, trimmed)


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
    encoded = {name: _one_hot(name, column, impute) for name, column in texts.items()}

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
            X[:, start] = _values(column)
            _refuse_rounding(name, column.type, X[:, start], keep)
    return X, tuple(names), _notes(encoded)


def one_hot_column(table: Any, feature: str, impute: str | None) -> Any:
    """The 0/1 column of a feature ``column=value``, where the table has such a column of text; else None."""
    import pyarrow as pa

    for j, letter in enumerate(feature):
        name = feature[:j]
        if letter == "=" and name in table.column_names:
            column = table.column(name)
            if column_kind(column.type) == "text":
                return pa.array(_indicators(_filled(name, plain(column), impute), [feature[j + 1 :]])[:, 0])
    return None


def _one_hot(name: str, column: Any, impute: str | None) -> tuple[tuple[str, ...], Floats, int]:
    """``column=value`` for every value in alphabetical order, the 0/1 columns, and how many were filled."""
    from pyarrow import compute

    present = compute.drop_null(compute.unique(column))
    if len(present) > MOST_TEXTS:
        many = f"column {quoted(name)} has {len(present):,} different texts, more than the {MOST_TEXTS} that "
        raise DataError(many, Setting("one_hot", True), " makes columns of: ", *leave_out([name]))
    values = sorted(present.to_pylist())
    names = tuple(f"{name}={value}" for value in values)
    return names, _indicators(_filled(name, column, impute), values), column.null_count


def _filled(name: str, column: Any, impute: str | None) -> Any:
    """The column with the most frequent text (the first of equals) where one is missing; not with "zero"."""
    from pyarrow import compute

    if column.null_count and impute is None:
        fill = ("fill with ", Setting("impute", "most-frequent"))
        missing = f"column {quoted(name)} misses {column.null_count:,} of its texts: "
        raise DataError(missing, *fill, ", or ", *leave_out([name]))
    texts = Counter(sorted(text for text in column.to_pylist() if text is not None))
    if not column.null_count or not texts or impute == "zero":
        return column
    return compute.fill_null(column, texts.most_common(1)[0][0])


def _indicators(column: Any, values: list[str]) -> Floats:
    """1 where the column holds the value, 0 elsewhere and where it is missing; one column for each value."""
    import pyarrow as pa
    from pyarrow import compute

    codes = compute.fill_null(compute.index_in(column, pa.array(values, column.type)), -1).to_numpy()
    result: Floats = np.equal(codes[:, None], np.arange(len(values))).astype(np.float64)
    return result


def _values(column: Any) -> Floats:
    """A column of numbers as float64, NaN where a value is missing; booleans are 0 and 1."""
    import pyarrow as pa
    from pyarrow import compute, types

    kind = column.type
    if types.is_null(kind):
        return np.full(len(column), np.nan)
    if not (types.is_floating(kind) or types.is_integer(kind)):
        column = compute.cast(plain(column), pa.float64())
    return np.asarray(column.to_numpy(), dtype=np.float64)


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
    encoding = ("bytes, not UTF-8 (of a text file, name the encoding: ", Setting("encoding", "latin-1"), ")")
    said: dict[str, tuple[str | Setting, ...]] = {
        "date": ("dates or times, not numbers",),
        "objects": ("lists, records or other objects, not numbers",),
        "bytes": encoding,
    }
    for kind, what in said.items():
        names = [name for name in kinds if kinds[name] == kind]
        if names:
            hold = "holds" if len(names) == 1 else "hold"
            raise DataError(f"{listed(names)} {hold} ", *what, ": ", *leave_out(names))


def _refuse_texts(texts: dict[str, Any]) -> None:
    name, column = next(iter(texts.items()))
    values = column.to_pylist()
    no_numbers = (
        row for row, value in enumerate(values) if value is not None and not NUMBER.fullmatch(value)
    )
    row = next(no_numbers, 0)
    raise DataError(
        f"text where numbers belong, in {count(len(texts), 'column')}: {listed(texts)} (row {row + 1:,} of "
        f"{quoted(name)} holds {quoted(values[row])}): ",
        *leave_out(texts),
        ", or make 0/1 columns with ",
        Setting("one_hot", True),
    )


def _refuse_rounding(name: str, kind: Any, values: Floats, keep: Collection[str]) -> None:
    from pyarrow import types

    if not (types.is_int64(kind) or types.is_uint64(kind)) or name in keep:
        return
    if (np.abs(values) >= EXACT).any():
        large = f"column {quoted(name)} has whole numbers beyond 2^53, which would be rounded: "
        accept = (", or accept the rounding with ", Setting("keep", [name]))
        raise DataError(large, *leave_out([name]), *accept)
