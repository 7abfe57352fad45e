"""From the columns of a table to variables: numbers, categories, and the parts of dates."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from infused._runtime.messages import count, enumerated, listed, quoted
from infused._typing import Floats
from infused.coding import Origin, fewest_rows, is_identifier
from infused.data.columns import Problems, leave_out
from infused.data.reading import LARGE, RawTable, ReadOptions, column_kind, column_numbers, plain_values
from infused.data.written import (
    DATES,
    PARTS,
    as_gaps,
    date_formats,
    date_part,
    loses_digits,
    number,
    numbers_in,
    plain_texts,
    read_dates,
    unit_of,
)
from infused.exceptions import Setting

MOST_WORDS = 1000  # of one column of free text
SHOWN = 3
WORDS_OF_TEXT = 5  # on average: names and addresses have fewer
OWN_TEXTS = "because nearly every row has a text of its own"


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
        """Add a variable."""
        self.names.append(name)
        self.values.append(values)
        self.levels.append(levels)
        self.origins.append(origin)

    def leave(self, name: str, why: str) -> None:
        """Leave a column out."""
        self.named.setdefault(why, []).append(name)

    def told(self) -> list[str]:
        """Say what was done, a sentence each."""
        notes = list(self.notes)
        if self.read:
            examples = (f"{quoted(name)} ({' '.join(text.split())})" for name, text in self.read.items())
            notes.append(f"texts read as numbers: {', '.join(examples)}")
        if self.categories:
            what = "column, selected" if len(self.categories) == 1 else "columns, each selected"
            notes.append(f"categorical {what} as one feature: {listed(self.categories)}")
        notes += [f"left out, {why}: {listed(names)}" for why, names in self.named.items()]
        return notes


def table_variables(
    raw: RawTable,
    options: ReadOptions,
    use: Collection[str],
    codes: Collection[str],
    words: Collection[str],
) -> Variables:
    """Make variables of a table; ``codes`` are columns of levels, ``words`` columns whose words are counted.

    What cannot be used is in ``problems``; nothing is raised here.
    """
    found = Variables()
    for name, column in zip(raw.columns.column_names, raw.columns.columns, strict=True):
        kind = column_kind(column.type)
        if kind in ("objects", "bytes"):
            _refuse_kind(found, name, kind)
        elif name in codes:
            _category(found, name, code_texts(column, options.missing), "code", {name}, options.one_hot)
        elif kind == "number":
            _numbers(found, name, column, options, name in use, name in raw.lossy)
        elif kind == "date":
            _date(found, name, column)
        elif name in words:
            _words(found, name, plain_values(column))
        else:
            _text(found, name, column, options, use, raw.decimal)
    return found


def code_texts(column: Any, missing: Iterable[str] = ()) -> Any:
    """Write numbers or texts as texts, equal numbers in the same way; different ones stay different."""
    import pyarrow as pa

    values = plain_values(column)
    if column_kind(column.type) == "text":
        values = plain_texts(values, list(missing))
    return plain_texts(
        pa.chunked_array([pa.array([_code(v) for v in values.to_pylist()], pa.string())]), list(missing)
    )


def _code(value: Any) -> str | None:
    if value is None or value != value:
        return None
    known = value
    if isinstance(value, str):
        known = None if unit_of(value) or loses_digits(value) else number(value)
    if known is None or known in (float("inf"), float("-inf")):
        return str(value)
    return str(int(known)) if known == int(known) else repr(float(known))


def _numbers(
    found: Variables, name: str, column: Any, options: ReadOptions, accepted: bool, lossy: bool
) -> None:
    values, lost = column_numbers(column)
    if options.missing:
        values = as_gaps(values, options.missing)
    if np.isnan(values).all():
        found.leave(name, "because every value is missing")
        return
    if (lost or lossy) and not accepted:
        _refuse_lossy(found, name, lost or LARGE)
    found.add(name, values, Origin(name, unit=""))


def _refuse_lossy(found: Variables, name: str, lost: str) -> None:
    """Refuse numbers that float64 cannot hold, unless the rounding is accepted."""
    found.problems.add(
        (f"column {quoted(name)} has {lost}, which would be rounded",),
        (*leave_out([name]), ", or accept the rounding with ", Setting("use", [name])),
        Setting("drop", [name]),
    )


def _text(
    found: Variables, name: str, column: Any, options: ReadOptions, use: Collection[str], decimal: str
) -> None:
    from pyarrow import types

    texts = plain_texts(plain_values(column), options.missing)
    if texts.null_count == len(texts):
        found.leave(name, "because every value is missing")
        return
    if types.is_dictionary(column.type):  # whoever made it meant levels
        _category(found, name, texts, "category", use, options.one_hot)
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
        if written.units and name not in use:
            _refuse_units(found, name, written.units)
        if written.lossy and name not in use:
            _refuse_lossy(found, name, LARGE)
        if not written.plainly:
            found.read[name] = next(t for t in texts.to_pylist() if t is not None)
        unit = None if written.units else written.unit
        found.add(name, written.values, Origin(name, decimal=written.decimal, unit=unit))
        return
    shapes = date_formats(texts)
    if shapes:
        _written_date(found, name, texts, shapes, options.dates)
    elif options.categories == "error":
        found.problems.add(
            (f"{quoted(name)} holds text, as in {listed(texts.unique().drop_null().to_pylist(), SHOWN)}",),
            (*leave_out([name]), ", or take it as a category with ", Setting("categories", "whole")),
            Setting("categories", "whole"),
        )
    else:
        _category(found, name, texts, "category", use, options.one_hot)


def _category(
    found: Variables, name: str, texts: Any, how: str, use: Collection[str], one_hot: bool = False
) -> None:
    import pyarrow as pa
    from pyarrow import compute

    counted = compute.value_counts(texts.drop_null())
    levels = sorted(counted.field("values").to_pylist())
    most = compute.max(counted.field("counts")).as_py()
    if not levels:
        found.leave(name, "because every value is missing")
    elif most == 1 or (most < fewest_rows(len(texts)) and name not in use):
        found.leave(name, _unusable(levels, len(texts) - texts.null_count, most))
    elif is_identifier(len(levels), len(texts) - texts.null_count) and name not in use:
        found.leave(name, OWN_TEXTS)
    else:
        codes = compute.index_in(texts, pa.array(levels, pa.string()))
        values = np.array(compute.cast(codes, pa.float64()).to_numpy(), dtype=np.float64)
        if one_hot:
            _one_hot(found, name, values, levels)
            return
        found.add(name, values, Origin(name, how), tuple(levels))
        found.categories.append(name)


def _unusable(levels: list[str], n_present: int, most: int) -> str:
    """Say why no level of a column of texts is frequent enough for a column of its own."""
    if sum(len(level.split()) for level in levels) >= WORDS_OF_TEXT * len(levels):
        return "because it is free text (--text counts its words)"
    if most == 1 or is_identifier(len(levels), n_present):
        return OWN_TEXTS
    return "because of too many levels, all rare (--use takes those with a few rows)"


def _refuse_units(found: Variables, name: str, texts: tuple[str, ...]) -> None:
    """Refuse numbers of which some count something else than the others."""
    found.problems.add(
        (f"{quoted(name)} holds numbers in several units, as in {listed(texts, SHOWN)}",),
        (
            *("convert them to one unit; read the numbers without units with ", Setting("use", [name])),
            *("; take the texts as levels with ", Setting("as_category", [name])),
            *(", or ", *leave_out([name])),
        ),
        Setting("drop", [name]),
    )


def _written_date(found: Variables, name: str, texts: Any, shapes: list[str], order: str | None) -> None:
    """Read dates in the format that fits, of two in the order that was asked for, and say which."""
    shape = next((one for one in shapes if f"{DATES[one]}-first" == order), shapes[0])
    dates = read_dates(texts, shape)
    others = [one for one in shapes if one != shape and not read_dates(texts, one).equals(dates)]
    how = f", read {DATES[shape]} first"
    if others and order is None:
        first = next(t for t in texts.to_pylist() if t is not None)
        how += f" (as in {first}, {DATES[others[0]]} first would fit as well: say which with --dates)"
    _date(found, name, dates, shape, how)


def _date(found: Variables, name: str, dates: Any, shape: str | None = None, how: str = "") -> None:
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
        found.notes.append(f"{quoted(name)} holds dates{how}, taken by {enumerated(made)}")
    else:
        found.leave(name, "because its dates have one year, one month, one weekday and one hour")


def _refuse_kind(found: Variables, name: str, kind: str) -> None:
    if kind == "bytes":
        encoding = (
            "bytes, not UTF-8 (of a text file, name the encoding: ",
            Setting("encoding", "latin-1"),
            ")",
        )
    what: tuple[str | Setting, ...] = ("lists, records or other objects",) if kind == "objects" else encoding
    found.problems.add((f"{quoted(name)} holds ", *what), leave_out([name]), Setting("drop", [name]))


def _one_hot(found: Variables, name: str, codes: Floats, levels: list[str]) -> None:
    """Add a 0/1 variable ``column=value`` for every level with enough rows; all are 0 where it is missing."""
    counts = np.bincount(codes[~np.isnan(codes)].astype(np.int64), minlength=len(levels))
    least = min(fewest_rows(len(codes)), int(counts.max()))
    frequent = np.flatnonzero(counts >= least)
    for n in frequent:
        found.add(f"{name}={levels[n]}", (codes == n) * 1.0, Origin(name, "level", level=levels[n], fill=0.0))
    found.notes.append(f"{quoted(name)} became {count(len(frequent), '0/1 column')}")
    if rare := len(levels) - len(frequent):
        found.notes.append(
            f"{count(rare, 'level')} of {quoted(name)} with fewer than {least} samples left out"
        )


def _words(found: Variables, name: str, texts: Any) -> None:
    """Add the count of each word that enough rows have, the most frequent ones."""
    from sklearn.feature_extraction.text import CountVectorizer

    counter = CountVectorizer(min_df=fewest_rows(len(texts)), max_features=MOST_WORDS)
    try:
        counts = counter.fit_transform(text or "" for text in texts.to_pylist()).tocsc()
    except ValueError:  # no word is left
        found.leave(name, "because no word is in enough rows")
        return
    for j, word in enumerate(counter.get_feature_names_out()):
        found.add(f"{name}: {word}", counts[:, [j]].toarray()[:, 0] * 1.0, Origin(name, "word", level=word))
    found.notes.append(f"{quoted(name)} became {count(counts.shape[1], 'count')} of words")


def word_counts(texts: Any, word: str) -> Floats:
    """Count a word in each text, as it is counted when data are read."""
    from sklearn.feature_extraction.text import CountVectorizer

    counter = CountVectorizer(vocabulary=[word])
    counts = counter.transform(text or "" for text in texts.to_pylist())
    return np.asarray(counts.toarray()[:, 0], dtype=np.float64)
