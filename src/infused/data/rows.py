"""Rows of tables: which of two files belong together, and which of one file are related."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from infused._runtime.messages import count, extra, listed, quoted
from infused._typing import Array
from infused.coding import Origin
from infused.data.columns import find_column, find_columns, named_like_identifier
from infused.data.readers import has_reader, is_packed
from infused.data.reading import (
    DataError,
    Raw,
    RawTable,
    ReadOptions,
    column_kind,
    column_numbers,
    plain_values,
    several,
)
from infused.data.variables import code_texts
from infused.data.written import DATES, date_formats, numbers_in, plain_texts, read_dates
from infused.exceptions import InputError, Setting
from infused.samples import Samples

NAMED = 10  # samples that a file lacks
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
    targets = [theirs[j] for j in find_columns(theirs, several(options.target or ()), "target")]
    partly = None
    for a, b in _candidates(raw, labels, targets):
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
    beside_target = [name for name in theirs if name not in targets]
    other = [name for name in beside_target if named_like_identifier(name) and _is_unique(labels, name)]
    if partly is None and own and other:
        raise DataError(
            f"{quoted(own[0])} of {where} and {quoted(other[0])} of {beside} have no values in common: name "
            "a column of both with ",
            Setting("join"),
            ", or take one of them out of its file to join rows by position",
        )
    return partly


def _candidates(raw: RawTable, labels: RawTable, targets: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield columns that may be one key: of one name first, then texts and identifiers of any name."""
    ours = [name for name in raw.columns.column_names if _may_tell(raw, name)]
    theirs = [name for name in labels.columns.column_names if name not in targets and _may_tell(labels, name)]
    shared = [
        name
        for name in labels.columns.column_names
        if name not in targets and name in raw.columns.column_names
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


def join_blocks(
    raw: Raw, files: Sequence[tuple[str, str, Raw]], options: ReadOptions, where: str
) -> tuple[Raw, Array, dict[str, str], list[str]]:
    """Add the columns of files, each a block, to the samples of a table.

    Return the table, which samples are in all files, the block of each column that was added, and notes that
    name the samples that are missing.
    """
    inside, blocks, notes = np.ones(0, dtype=bool), dict[str, str](), list[str]()
    for block, beside, other in files:
        if not isinstance(raw, RawTable) or not isinstance(other, RawTable):
            raise InputError(Setting("blocks"), " joins tables by a column, but a file holds arrays")
        if raw.decimal != other.decimal:
            raise DataError(f"{beside} and {where} write decimals in different ways: write them alike")
        inside = inside if len(inside) else np.ones(raw.columns.num_rows, dtype=bool)
        columns, key, there, said = _joined(raw, other, options, where, beside)
        notes += said
        inside &= there
        renamed = [
            f"{block}_{name}" if name in raw.columns.column_names else name for name in columns.column_names
        ]
        for name, column in zip(renamed, columns.columns, strict=True):
            raw = replace(raw, columns=raw.columns.append_column(name, column))
        lossy = {new for new, old in zip(renamed, columns.column_names, strict=True) if old in other.lossy}
        index = raw.index if key is None or key in raw.index else (*raw.index, key)
        raw = replace(raw, index=index, lossy=raw.lossy | lossy, notes=(*raw.notes, *other.notes))
        blocks |= dict.fromkeys(renamed, block)
    return raw, inside, blocks, notes


def _joined(
    raw: RawTable, other: RawTable, options: ReadOptions, where: str, beside: str
) -> tuple[Any, str | None, Array, list[str]]:
    """Return the columns of a file in the order of the samples, the key, who is there, and notes."""
    pair = _key(raw, other, replace(options, target=None), where, beside)
    if pair is None:
        if other.columns.num_rows != raw.columns.num_rows:
            raise DataError(
                f"{beside} has {count(other.columns.num_rows, 'row')} and {where} {raw.columns.num_rows:,}, "
                "and no column tells the samples of both apart: name one with ",
                Setting("join"),
            )
        note = f"the rows of {beside} were joined by position, as no column tells the rows of both apart"
        return other.columns, None, np.ones(raw.columns.num_rows, dtype=bool), [note]
    ours, theirs = pair
    wanted, stored = _texts(raw, ours), _texts(other, theirs)
    place = {text: n for n, text in enumerate(stored)}
    if len(place) < len(stored):
        twice = next(text for n, text in enumerate(stored) if place[text] != n)
        raise DataError(f"{quoted(theirs)} of {beside} has {quoted(twice)} more than once: give one row each")
    rows = [place.get(text) for text in wanted]
    there = np.array([row is not None for row in rows])
    if not there.any():
        raise DataError(f"{beside} has no sample of {where}: name a column of both with ", Setting("join"))
    notes = []
    absent = list(dict.fromkeys(text for text, row in zip(wanted, rows, strict=True) if row is None))
    if absent:
        notes.append(f"left out {count(len(absent), 'sample')} that {beside} lacks: {listed(absent, NAMED)}")
    known = set(wanted)
    beyond = [text for text in stored if text not in known]
    if beyond:
        more = f"{count(len(beyond), 'sample')} of {beside} that {where} lacks"
        notes.append(f"left out {more}: {listed(beyond, NAMED)}")
    indices = extra("pyarrow").array(rows, "int64")
    return other.columns.drop_columns([theirs]).take(indices), ours, there, notes


def blocks_of(
    names: Sequence[str],
    origins: Sequence[Origin] | None,
    options: ReadOptions,
    joined: Mapping[str, str],
    main: str,
) -> tuple[str, ...]:
    """Return the block of each feature.

    What no block names is a block of its own: that of the first file, or "other".
    """
    columns = list(names) if origins is None else [one.column for one in origins]
    found = [joined.get(column, "") for column in columns]
    for block, entries in (options.blocks or {}).items():
        for entry in entries:
            if is_file(entry):
                continue
            own = [j for j, name in enumerate(names) if entry in (name, columns[j])]
            if not own and isinstance(entry, str):
                own = [j for j, name in enumerate(names) if name.startswith(entry)]
            own = own or [find_column(names, entry, "blocks", "feature")]
            for j in own:
                if found[j] not in ("", block):
                    both = f"{quoted(found[j])} and {quoted(block)}"
                    raise InputError(Setting("blocks"), f" has {quoted(names[j])} in both {both}")
                found[j] = block
    rest = main if joined and main not in found else "other"
    return tuple(one or rest for one in found)


def is_file(entry: str | int) -> bool:
    """Return whether an entry of a block is the name of a file that can be read."""
    return isinstance(entry, str) and (has_reader(Path(entry)) or is_packed(Path(entry)))


NAMES = ("sample_groups", "order")


def related_samples(
    tables: list[Raw], options: ReadOptions, kept: Array
) -> tuple[Samples, tuple[int, ...], list[str]]:
    """Read groups and order of the rows that are kept; return their places in the first table, and notes."""
    found: dict[str, Any] = dict.fromkeys(NAMES)
    places = []
    for name in NAMES:
        asked = getattr(options, name)
        if isinstance(asked, tuple):
            found[name] = np.array(asked)
        elif asked is not None:
            at = next((n for n, raw in enumerate(tables) if asked in _names(raw)), 0)
            column = find_column(_names(tables[at]), asked, name)
            places += [] if at else [column]
            found[name] = _values(tables[at], column, name, options)
    for name, values in found.items():
        if values is not None and len(values) == len(kept):
            found[name] = values[kept]
    samples = Samples.given(found["sample_groups"], found["order"], int(kept.sum()))
    return samples, tuple(places), _notes(samples, options)


def _names(raw: Raw) -> list[str]:
    if isinstance(raw, RawTable):
        return list(raw.columns.column_names)
    return list(raw.names or ())


def _values(raw: Raw, column: int, name: str, options: ReadOptions) -> Array:
    if not isinstance(raw, RawTable):
        values = raw.X[:, [column]]
        return np.asarray(values.toarray() if hasattr(values, "toarray") else values).ravel()
    cells = raw.columns.column(column)
    if name == "sample_groups":
        return np.array(
            ["" if text is None else text for text in code_texts(cells, options.missing).to_pylist()]
        )
    return ordered_values(cells, options, raw.decimal)


def ordered_values(cells: Any, options: ReadOptions, decimal: str) -> Array:
    """Read numbers or dates, which may be written as text."""
    kind = column_kind(cells.type)
    if kind == "number":
        return column_numbers(cells)[0]
    if kind == "text":
        texts = plain_texts(plain_values(cells), options.missing)
        shapes = date_formats(texts)
        if not shapes:
            written = numbers_in(texts, decimal)
            if written.odd:
                raise DataError(Setting("order"), " holds texts that are neither numbers nor dates")
            return written.values
        cells = read_dates(
            texts, next((one for one in shapes if f"{DATES[one]}-first" == options.dates), shapes[0])
        )
    return np.asarray(cells.to_numpy())


def _notes(samples: Samples, options: ReadOptions) -> list[str]:
    notes = []
    if samples.groups is not None:
        sizes = np.bincount(samples.groups)
        by = f" by {quoted(options.sample_groups)}" if isinstance(options.sample_groups, str) else ""
        size = f"{sizes.min():,}" if sizes.min() == sizes.max() else f"{sizes.min():,} to {sizes.max():,}"
        notes.append(
            f"samples form {count(len(sizes), 'group')}{by}, of {size} samples each: folds and half-samples "
            "keep them whole"
        )
    if samples.order is not None:
        by = f" of {quoted(options.order)}" if isinstance(options.order, str) else ""
        halves = (
            ""
            if samples.units is not None
            else "; half-samples ignore the order, which tells few times apart"
        )
        notes.append(f"models are tested on later samples in the order{by}{halves}")
    return notes
