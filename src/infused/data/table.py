"""What the columns of a table hold; texts as 0/1 columns, where that is asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import Any

import numpy as np

from infused._runtime.messages import count, quoted
from infused._typing import Floats
from infused.data.coding import Origin
from infused.data.columns import leave_out
from infused.data.treatment import Treatment
from infused.exceptions import Setting

__all__ = ["MOST_TEXTS", "column_kind", "likely_targets", "one_hot_columns", "plain"]

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


def one_hot_columns(found: Any, name: str, column: Any, treatment: Treatment, keep: Collection[str]) -> None:
    """Add a 0/1 variable ``column=value`` for every value, in alphabetical order, with gaps filled.

    The most frequent text stands for a missing one (the first of equals); with ``impute="zero"``, none does.
    """
    from pyarrow import compute

    values = sorted(compute.drop_null(compute.unique(column)).to_pylist())
    if len(values) == len(column) and name not in keep:
        found.leave(name, "because every row has a text of its own")
        return
    if len(values) > MOST_TEXTS:
        many = f"column {quoted(name)} has {len(values):,} different texts, more than the {MOST_TEXTS} that "
        words = (many, Setting("one_hot", True), " makes columns of")
        found.problems.add(words, leave_out([name]), Setting("drop", [name]))
        return
    texts = Counter(sorted(text for text in column.to_pylist() if text is not None))
    usual = texts.most_common(1)[0][0] if texts and treatment.impute not in ("zero", None) else None
    filled = column if usual is None else compute.fill_null(column, usual)
    for value, ones in zip(values, _indicators(filled, values).T, strict=True):
        origin = Origin(name, "level", level=value, fill=float(value == usual))
        found.add(f"{name}={value}", ones.copy(), origin)
    found.notes.append(f"{quoted(name)} became {count(len(values), '0/1 column')}")
    if column.null_count:
        found.notes.append(f"filled {count(column.null_count, 'missing text')} in: {quoted(name)}")


def _indicators(column: Any, values: list[str]) -> Floats:
    """1 where the column holds the value, 0 elsewhere and where it is missing; one column for each value."""
    import pyarrow as pa
    from pyarrow import compute

    codes = compute.fill_null(compute.index_in(column, pa.array(values, column.type)), -1).to_numpy()
    result: Floats = np.equal(codes[:, None], np.arange(len(values))).astype(np.float64)
    return result
