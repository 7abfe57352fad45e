"""From the columns of a table to variables: numbers, categories, and the parts of dates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from infused._runtime.messages import count, listed, quoted
from infused._typing import Floats
from infused.coding import Origin, VariableCoding, is_identifier
from infused.data.columns import Problems, leave_out
from infused.data.raw import EXACT, column_kind, plain
from infused.data.treatment import Treatment
from infused.data.written import (
    PARTS,
    as_gaps,
    date_format,
    date_part,
    number,
    numbers_in,
    plain_texts,
    read_dates,
    recorded_number,
)
from infused.exceptions import Setting

__all__ = ["MOST_TEXTS", "Variables", "code_texts", "recorded_values", "table_variables"]

MOST_TEXTS = 100  # different values of one column that may become columns of their own
SHOWN = 3


@dataclass
class Variables:
    """Variables in the order of their columns, and what is to be said of them."""

    names: list[str] = field(default_factory=list)
    values: list[Floats] = field(default_factory=list)
    levels: list[tuple[str, ...] | None] = field(default_factory=list)
    origins: list[Origin] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    problems: Problems = field(default_factory=Problems)
    read: dict[str, str] = field(default_factory=dict)
    """Columns of text that were read as numbers, each with an example."""
    categories: list[str] = field(default_factory=list)
    named: dict[str, list[str]] = field(default_factory=dict)
    """Columns that were left out, by reason."""

    def add(self, name: str, values: Floats, origin: Origin, levels: tuple[str, ...] | None = None) -> None:
        """One more variable."""
        self.names.append(name)
        self.values.append(values)
        self.levels.append(levels)
        self.origins.append(origin)

    def leave(self, name: str, why: str) -> None:
        """Leave a column out."""
        self.named.setdefault(why, []).append(name)

    def told(self) -> list[str]:
        """What was done, a sentence each."""
        notes = list(self.notes)
        if self.read:
            notes.append(
                "texts read as numbers: " + ", ".join(f"{quoted(n)} ({t})" for n, t in self.read.items())
            )
        if self.categories:
            are = "is a category" if len(self.categories) == 1 else "are categories"
            notes.append(f"{listed(self.categories)} {are}, each kept or dropped as a whole")
        notes += [f"left out, {why}: {listed(names)}" for why, names in self.named.items()]
        return notes


def table_variables(
    table: Any, treatment: Treatment, use: Collection[str], codes: Collection[str], decimal: str
) -> Variables:
    """The variables of a pyarrow table; ``codes`` are columns whose numbers are levels.

    What cannot be used is in ``problems``; nothing is raised here.
    """
    found = Variables()
    for name, column in zip(table.column_names, table.columns, strict=True):
        kind = column_kind(column.type)
        if kind in ("objects", "bytes"):
            _refuse_kind(found, name, kind)
        elif name in codes:
            _category(found, name, code_texts(column, treatment.missing), "code", use={name})
        elif kind == "number":
            _numbers(found, name, column, treatment, use)
        elif kind == "date":
            _date(found, name, column, None)
        elif treatment.one_hot:
            one_hot_columns(found, name, plain(column), treatment, use)
        else:
            _text(found, name, column, treatment, use, decimal)
    return found


def code_texts(column: Any, missing: Iterable[str] = ()) -> Any:
    """Numbers or texts as texts, numbers always written in the same way."""
    import pyarrow as pa

    def one(value: Any) -> str | None:
        if value is None or (isinstance(value, float) and np.isnan(value)):
            return None
        known = number(value) if isinstance(value, str) else float(value)
        return str(value) if known is None else f"{known:.15g}"

    values = plain(column)
    if column_kind(column.type) == "text":
        values = plain_texts(values, list(missing))
    return plain_texts(
        pa.chunked_array([pa.array([one(v) for v in values.to_pylist()], pa.string())]), list(missing)
    )


def recorded_values(
    column: Any, variable: VariableCoding, missing: Iterable[str] = ()
) -> tuple[Floats, tuple[str, ...] | None, list[str]]:
    """A variable's values from its column in other data, its levels, and texts that are no numbers."""
    origin, gaps = variable.origin, list(missing)
    kind = column_kind(column.type)
    if variable.levels is not None or origin.how == "level":
        as_text = kind == "text" and origin.how != "code"
        texts = plain_texts(plain(column), gaps) if as_text else code_texts(column, gaps)
        cells = texts.to_pylist()
        if origin.how == "level":
            return np.array([np.nan if t is None else float(t == origin.level) for t in cells]), None, []
        levels = list(dict.fromkeys([*(variable.levels or ()), *(t for t in cells if t is not None)]))
        place = {level: n for n, level in enumerate(levels)}
        return np.array([np.nan if t is None else float(place[t]) for t in cells]), tuple(levels), []
    if origin.how in PARTS:
        return _recorded_dates(column, origin)
    if kind == "date":
        return np.full(len(column), np.nan), None, [str(column[0].as_py())]
    if kind != "text":
        return as_gaps(_values(column), gaps), None, []
    cells = plain_texts(plain(column), gaps).to_pylist()
    read = [np.nan if t is None else recorded_number(t, origin.decimal) for t in cells]
    odd = [t for t, v in zip(cells, read, strict=True) if v is None]
    return np.array([np.nan if v is None else v for v in read], dtype=np.float64), None, odd


def _recorded_dates(column: Any, origin: Origin) -> tuple[Floats, None, list[str]]:
    kind = column_kind(column.type)
    if kind == "date":
        return date_part(column, origin.how), None, []
    if kind == "number":  # a column of nulls has no type
        cells = _values(column)
        return np.full(len(cells), np.nan), None, [f"{v:g}" for v in cells[~np.isnan(cells)]]
    texts = plain_texts(plain(column))
    dates = read_dates(texts, origin.format or "%Y-%m-%d")
    pairs = zip(texts.to_pylist(), dates.to_pylist(), strict=True)
    return date_part(dates, origin.how), None, [t for t, d in pairs if d is None and t is not None]


def _numbers(found: Variables, name: str, column: Any, treatment: Treatment, use: Collection[str]) -> None:
    values = _values(column)
    if treatment.missing:
        values = as_gaps(values, treatment.missing)
    if np.isnan(values).all():
        found.leave(name, "because every value is missing")
        return
    if name not in use and _would_be_rounded(column.type, values):
        found.problems.add(
            (f"column {quoted(name)} has whole numbers beyond 2^53, which would be rounded",),
            (*leave_out([name]), ", or accept the rounding with ", Setting("use", [name])),
            Setting("drop", [name]),
        )
    found.add(name, values, Origin(name))


def _text(
    found: Variables, name: str, column: Any, treatment: Treatment, use: Collection[str], decimal: str
) -> None:
    from pyarrow import types

    texts = plain_texts(plain(column), treatment.missing)
    if texts.null_count == len(texts):
        found.leave(name, "because every value is missing")
        return
    if types.is_dictionary(column.type):  # whoever made it meant levels
        _category(found, name, texts, "category", use)
        return
    written = numbers_in(texts, decimal)
    if written.meant and written.odd:
        found.problems.add(
            (f"{quoted(name)} seems to hold numbers, but not in {listed(written.odd, SHOWN)}",),
            (
                *(
                    "if these stand for missing values, say so with ",
                    Setting("missing", list(written.odd[:SHOWN])),
                ),
                *("; if the column is a category, with ", Setting("as_category", [name])),
                *(", or ", *leave_out([name])),
            ),
            Setting("missing", list(written.odd)) if len(written.odd) <= SHOWN else Setting("drop", [name]),
        )
        return
    if written.meant and not np.isnan(written.values).all():
        if not written.plainly:
            found.read[name] = next(t for t in texts.to_pylist() if t is not None)
        found.add(name, written.values, Origin(name, decimal=written.decimal))
        return
    shape = date_format(texts)
    if shape is not None:
        _date(found, name, read_dates(texts, shape), shape)
    elif treatment.categories == "error":
        found.problems.add(
            (f"{quoted(name)} holds text, as in {listed(texts.unique().drop_null().to_pylist(), SHOWN)}",),
            (*leave_out([name]), ", or take it as a category with ", Setting("categories", "whole")),
            Setting("categories", "whole"),
        )
    else:
        _category(found, name, texts, "category", use)


def _category(found: Variables, name: str, texts: Any, how: str, use: Collection[str]) -> None:
    import pyarrow as pa
    from pyarrow import compute

    levels = sorted(compute.drop_null(compute.unique(texts)).to_pylist())
    present = len(texts) - texts.null_count
    if not levels:
        found.leave(name, "because every value is missing")
    elif is_identifier(len(levels), present) and name not in use:
        found.leave(name, "because nearly every row has a text of its own")
    else:
        codes = compute.index_in(texts, pa.array(levels, pa.string()))
        values = compute.cast(codes, pa.float64()).to_numpy()
        found.add(name, np.array(values, dtype=np.float64), Origin(name, how), tuple(levels))
        found.categories.append(name)


def _date(found: Variables, name: str, dates: Any, shape: str | None) -> None:
    import pyarrow as pa

    if not (pa.types.is_timestamp(dates.type) or pa.types.is_date(dates.type)):
        found.leave(name, "because times of day and durations are no features")
        return
    made = []
    for part in PARTS:
        values = date_part(dates, part)
        if len(np.unique(values[~np.isnan(values)])) > 1:
            found.add(f"{name} ({part})", values, Origin(name, part, format=shape))
            made.append(part)
    if made:
        found.notes.append(f"{quoted(name)} holds dates, taken by {' and '.join(made)}")
    else:
        found.leave(name, "because its dates have one year, one month and one weekday")


def _refuse_kind(found: Variables, name: str, kind: str) -> None:
    if kind == "bytes":
        encoding = (
            "bytes, not UTF-8 (of a text file, name the encoding: ",
            Setting("encoding", "latin-1"),
            ")",
        )
    what: tuple[str | Setting, ...] = ("lists, records or other objects",) if kind == "objects" else encoding
    found.problems.add((f"{quoted(name)} holds ", *what), leave_out([name]), Setting("drop", [name]))


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


def _would_be_rounded(kind: Any, values: Floats) -> bool:
    from pyarrow import types

    return bool(types.is_int64(kind) or types.is_uint64(kind)) and bool((np.abs(values) >= EXACT).any())


def one_hot_columns(found: Any, name: str, column: Any, treatment: Treatment, use: Collection[str]) -> None:
    """Add a 0/1 variable ``column=value`` for every value, in alphabetical order, with gaps filled.

    The most frequent text stands for a missing one (the first of equals); with ``impute="zero"``, none does.
    """
    from pyarrow import compute

    values = sorted(compute.drop_null(compute.unique(column)).to_pylist())
    if len(values) == len(column) and name not in use:
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
