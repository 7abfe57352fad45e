"""Rows of two files that belong together: by a key that both have, else by their position."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from infused._runtime.messages import count, listed, quoted
from infused.data.columns import find_column, named_like_identifier
from infused.data.reading import DataError, Raw, RawTable, ReadOptions, column_kind
from infused.data.variables import code_texts
from infused.exceptions import InputError, Setting

OVERLAP = 0.5  # of the rows: texts that agree so far are a key, and the others a mistake


def join_rows(raw: Raw, labels: Raw, options: ReadOptions, where: str, beside: str) -> tuple[Raw, Raw, str]:
    """Bring the rows of a second file into the order of the first; say how they were joined."""
    if not isinstance(raw, RawTable) or not isinstance(labels, RawTable):
        if options.join is not None:
            raise InputError(Setting("join", options.join), " has no meaning where a file holds arrays")
        return raw, labels, "by position"
    pair = _key(raw, labels, options, where, beside)
    if pair is None:
        return raw, labels, "by position, as no column tells the rows of both files apart"
    ours, theirs = pair
    wanted, there = _texts(raw, ours), _texts(labels, theirs)
    place = {text: n for n, text in enumerate(there)}
    if len(place) < len(there):
        twice = next(text for n, text in enumerate(there) if place[text] != n)
        raise DataError(
            f"{quoted(theirs)} of {beside} has {quoted(twice)} more than once: which row is meant?"
        )
    absent = [text for text in dict.fromkeys(wanted) if text not in place]
    if absent:
        raise DataError(
            f"{quoted(theirs)} of {beside} lacks {listed(absent, 3)}, so {count(len(absent), 'row')} of "
            f"{where} would have no target: mend the files, or name another column of both with ",
            Setting("join"),
        )
    left = len(place) - len(set(wanted))
    columns = labels.columns.take([place[text] for text in wanted])
    if options.target is None:  # beside the key there may be one column, which is the target
        columns = columns.drop_columns([theirs])
    how = f"by {quoted(ours)}" if ours == theirs else f"by {quoted(ours)} and its {quoted(theirs)}"
    more = f"; {count(left, 'row')} of it left out, as there are no features for them" if left else ""
    return replace(raw, index=(*raw.index, ours)), replace(labels, columns=columns), how + more


def _key(
    raw: RawTable, labels: RawTable, options: ReadOptions, where: str, beside: str
) -> tuple[str, str] | None:
    """Find the columns of both files that tell their rows apart."""
    ours, theirs = raw.columns.column_names, labels.columns.column_names
    if options.join is not None:
        return ours[find_column(ours, options.join, "join")], theirs[
            find_column(theirs, options.join, "join")
        ]
    target = None if options.target is None else theirs[find_column(theirs, options.target, "target")]
    partly = None
    for a, b in _candidates(raw, labels, target):
        wanted, there = _texts(raw, a), _texts(labels, b)
        found = set(there)
        if len(found) < len(there):
            continue
        share = sum(text in found for text in wanted) / max(len(wanted), 1)
        if share == 1:
            return a, b
        if share >= OVERLAP or (a == b and named_like_identifier(a) and len(set(wanted)) == len(wanted)):
            partly = partly or (a, b)
    own = [name for name in ours if named_like_identifier(name) and _is_unique(raw, name)]
    beside_target = [name for name in theirs if name != target]
    other = [name for name in beside_target if named_like_identifier(name) and _is_unique(labels, name)]
    if partly is None and own and other:
        raise DataError(
            f"{quoted(own[0])} of {where} and {quoted(other[0])} of {beside} have no values in common: name "
            "a column of both with ",
            Setting("join"),
            ", or take one of them out of its file to join rows by position",
        )
    return partly


def _candidates(raw: RawTable, labels: RawTable, target: str | None) -> Iterator[tuple[str, str]]:
    """Yield columns that may be one key: of one name first, then texts and identifiers of any name."""
    ours = [name for name in raw.columns.column_names if _may_tell(raw, name)]
    theirs = [name for name in labels.columns.column_names if name != target and _may_tell(labels, name)]
    shared = [
        name for name in labels.columns.column_names if name != target and name in raw.columns.column_names
    ]
    yield from ((name, name) for name in shared if raw.columns.column_names.count(name) == 1)
    unique = [name for name in ours if _is_unique(raw, name)]
    yield from ((a, b) for b in theirs for a in unique if a != b)


def _may_tell(table: RawTable, name: str) -> bool:
    kind = column_kind(table.columns.schema.field(name).type)
    return kind == "text" or (kind == "number" and named_like_identifier(name))


def _is_unique(table: RawTable, name: str) -> bool:
    return bool(len(table.columns.column(name).unique()) == table.columns.num_rows)


def _texts(table: RawTable, name: str) -> list[str]:
    column: Any = table.columns.column(name)
    return ["" if text is None else text for text in code_texts(column).to_pylist()]
