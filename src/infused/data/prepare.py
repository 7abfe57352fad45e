"""From what was found to features that can be selected from: columns chosen, values filled, all noted."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from infused._runtime.messages import SHOWN, count, listed, quoted
from infused._typing import Array, Data, Floats
from infused.coding import Levels, Origin
from infused.data.columns import (
    WORDS,
    Problems,
    check_text,
    check_unique,
    find_columns,
    leave_out,
    named_like_identifier,
    numbered,
    numeric_identifiers,
)
from infused.data.dataset import Features
from infused.data.reading import (
    DataError,
    Raw,
    RawMatrix,
    RawTable,
    ReadOptions,
    column_kind,
    column_numbers,
    plain_values,
)
from infused.data.rows import ordered_values
from infused.data.target import COUNTED
from infused.data.variables import Variables, table_variables
from infused.data.written import as_gaps, date_formats, plain_texts
from infused.exceptions import Setting

FEWEST_PILED, SHARE_PILED = 3, 0.01  # rows on a number that may stand for a missing value
LEAST_OTHERS = 5  # different values beside it: fewer are codes
TIMES = COUNTED | {"time", "date", "hr", "mnth", "mon", "yr"}
FEWEST_GROUPS, FEWEST_ROWS = 4, 2.5  # rows of a group, on average
MOST_COLUMNS, MOST_ROWS = 30, 100_000  # of a table in which every column is looked at
CROSSED = 0.75  # of the rows that a table of all groups and times would have
MANY_REPEATED = 0.1  # of the rows


def prepare_features(raw: Raw, options: ReadOptions, where: str, target: tuple[int, ...] = ()) -> Features:
    """Make variables of all columns but the target and what is left out; raise with all culprits."""
    names = checked_names(raw, where)
    use = [names[j] for j in find_columns(names, options.use, "use")]
    positions, notes = _remaining(raw, names, options, use, target)
    if not positions:
        raise DataError(f"{where} has no feature columns beside the target and what is left out")
    problems = Problems()
    if isinstance(raw, RawMatrix):
        features = _of_matrix(raw, names, positions, options)
    else:
        codes, words = (
            [names[j] for j in find_columns(names, getattr(options, option), option)]
            for option in ("as_category", "text")
        )
        features = _of_table(raw, positions, options, (use, codes, words), where, problems)
    if features.X.shape[0] < 2:
        raise DataError(f"{where} has {count(features.X.shape[0], 'row')} of data; at least two are needed")
    refuse_infinite(features.X, features.feature_names, problems)
    gaps = _gaps(features)
    if options.impute == "error" and gaps:
        _refuse_gaps(gaps, features.feature_names, problems)
    problems.tell()
    features = _without_useless(features, use)
    if features.X.shape[1] == 0:
        raise DataError(f"{where} has no feature columns beside the target and what is left out")
    every = (*notes, *features.notes, *_gap_notes(features, options.impute or "median"))
    return Features(features.X, features.feature_names, every, features.levels, features.origins)


def checked_names(raw: Raw, where: str) -> tuple[str, ...]:
    """Return the names of all columns, each of which must be there once."""
    if isinstance(raw, RawTable):
        names = tuple(raw.columns.column_names)
    else:
        n_columns = raw.X.shape[1]
        names = numbered(n_columns) if raw.names is None else raw.names
        if len(names) != n_columns:
            raise DataError(
                f"{where} has {count(len(names), 'feature name')} for {count(n_columns, 'column')} of X"
            )
    check_text(names, where)
    check_unique(names, where)
    return names


def _of_matrix(
    raw: RawMatrix, names: tuple[str, ...], positions: list[int], options: ReadOptions
) -> Features:
    X = raw.X if len(positions) == len(names) else raw.X[:, positions]
    if options.missing and isinstance(X, np.ndarray):
        X = as_gaps(X, options.missing)
    return Features(X, tuple(names[j] for j in positions))


def _of_table(
    raw: RawTable,
    positions: list[int],
    options: ReadOptions,
    named: tuple[Sequence[str], Sequence[str], Sequence[str]],
    where: str,
    problems: Problems,
) -> Features:
    chosen = raw.columns.select(positions)
    if chosen.num_rows == 0:
        raise DataError(f"{where} has a header and no rows")
    found = table_variables(replace(raw, columns=chosen), options, *named)
    problems.found += found.problems.found
    extra = ("with ", Setting("one_hot", True)) if options.one_hot else ()
    check_unique(found.names, f"{where} ", *extra)
    X = np.empty((chosen.num_rows, len(found.names)), order="F")
    for j, values in enumerate(found.values):
        X[:, j] = values
    levels, origins = _unusual(found)
    notes = (*found.told(), *_piles(found))
    return Features(X, tuple(found.names), notes, levels, origins)


def _piles(found: Variables) -> list[str]:
    """Note numbers that may stand for missing values, as -200 and 999 do."""
    piled: dict[float, list[str]] = {}
    for name, values, levels, origin in zip(
        found.names, found.values, found.levels, found.origins, strict=True
    ):
        if levels is None and origin.how == "number":
            for value in edge_piles(values):
                piled.setdefault(value, []).append(name)
    return [
        f"{value:g} stands apart from all other values of {listed(names)}: if it means a missing value, use "
        f"--missing={value:g} (missing=['{value:g}'])"
        for value, names in piled.items()
    ]


def edge_piles(values: Floats) -> list[float]:
    """Find whole numbers on which many rows pile up, at the edge and apart from all other values.

    Such a number is negative where no other is, has nines alone (from 99 on), or is three times farther from
    the others than these are from each other; one that is negative need be only once as far.
    """
    present = values[~np.isnan(values)]
    found = []
    for edge in () if not len(present) else (present.min(), present.max()):
        on_it = present == edge
        few = on_it.sum() < max(FEWEST_PILED, SHARE_PILED * len(present))
        if edge in (0, 1) or few or edge != np.floor(edge) or on_it.all():
            continue
        others = present[~on_it]
        gap, spread = np.abs(others - edge).min(), np.ptp(others)
        nines = set(f"{abs(edge):.0f}") == {"9"} and abs(edge) >= 99 and gap > 0.1 * spread
        apart = gap > (spread if edge < 0 else 3 * spread) or nines or edge < 0 <= others.min()
        if apart and len(np.unique(others)) >= LEAST_OTHERS:
            found.append(float(edge))
    return found


def _unusual(found: Variables) -> tuple[Levels | None, tuple[Origin, ...] | None]:
    """Return levels and origins, None where all are numbers in columns of their names."""
    usual = all(
        origin == Origin(name, unit="") for origin, name in zip(found.origins, found.names, strict=True)
    )
    levels = tuple(found.levels) if any(own is not None for own in found.levels) else None
    return levels, None if usual else tuple(found.origins)


def _remaining(
    raw: Raw, names: tuple[str, ...], options: ReadOptions, use: Sequence[str], target: tuple[int, ...]
) -> tuple[list[int], list[str]]:
    """Find the positions of the features; note what was left out."""
    dropped = find_columns(names, options.drop, "drop")
    for position in target:
        if position in dropped:
            raise DataError(
                Setting("drop", names[position]), ": this is the target, which cannot be left out"
            )
    notes = [f"left out as asked: {listed(names[j] for j in dropped)}"] if dropped else []
    if isinstance(raw, RawTable):
        notes = [*raw.notes, *notes]
        spared = {*target, *dropped, *(names.index(name) for name in use)}
        labels = [j for j, name in enumerate(names) if name in raw.index and j not in spared]
        if labels:
            notes.append(f"left out as row labels: {listed(names[j] for j in labels)}")
            dropped = [*dropped, *labels]
    absent = {*target, *dropped}
    return [j for j in range(len(names)) if j not in absent], notes


def refuse_infinite(X: Data, names: Sequence[str], problems: Problems) -> None:
    """Note the columns that hold infinite values as a problem."""
    infinite = [names[j] for j, values in _unsound(X).items() if np.isinf(values).any()]
    if infinite:
        what = (f"infinite values in {listed(infinite)}",)
        problems.add(what, ("replace them, or ", *leave_out(infinite)), Setting("drop", infinite))


def _gaps(features: Features) -> dict[int, int]:
    """Count the missing values of each feature that has any."""
    counts = {j: int(np.isnan(values).sum()) for j, values in _unsound(features.X).items()}
    return {j: n for j, n in counts.items() if n}


def _refuse_gaps(gaps: dict[int, int], names: Sequence[str], problems: Problems) -> None:
    where = ", ".join(f"{quoted(names[j])} ({n:,})" for j, n in list(gaps.items())[:SHOWN])
    more = f" and {len(gaps) - SHOWN:,} more columns" if len(gaps) > SHOWN else ""
    fill = Setting("impute", "median")
    what = (f"{count(sum(gaps.values()), 'value')} missing in {where}{more}",)
    problems.add(what, ("fill with ", fill, ", or ", *leave_out([names[j] for j in gaps])), fill)


def _without_useless(features: Features, use: Sequence[str]) -> Features:
    """Leave out identifiers and empty columns, with notes that say so."""
    X, names = features.X, features.feature_names
    empty = [j for j, n in _gaps(features).items() if n == X.shape[0]]
    numbers = set(numeric_identifiers(X, names, use))
    levels = features.levels or (None,) * len(names)
    ids = [j for j, name in enumerate(names) if name in numbers and levels[j] is None]
    if not empty and not ids:
        return features
    notes = list(features.notes)
    if ids:
        seem = "an identifier" if len(ids) == 1 else "identifiers"
        notes.append(
            f"left out as {seem}, because every row has its own value: {listed(names[j] for j in ids)}"
        )
    if empty:
        notes.append(f"left out, because every value is missing: {listed(names[j] for j in empty)}")
    left = [j for j in range(len(names)) if j not in {*empty, *ids}]
    own = None if features.levels is None else tuple(features.levels[j] for j in left)
    return Features(
        X[:, left],
        tuple(names[j] for j in left),
        tuple(notes),
        None if own is None or all(one is None for one in own) else own,
        None if features.origins is None else tuple(features.origins[j] for j in left),
    )


def _gap_notes(features: Features, impute: str) -> list[str]:
    levels = features.levels or (None,) * len(features.feature_names)
    gaps = {j: n for j, n in _gaps(features).items() if levels[j] is None}
    if not gaps:
        return []
    by = "zero" if impute == "zero" else f"the {impute.replace('-', ' ')}"
    total = count(sum(gaps.values()), "missing value")
    return [f"{total} filled by {by} in: {listed(features.feature_names[j] for j in gaps)}"]


def _unsound(X: Data) -> dict[int, Array]:
    """Return the stored values of the columns that hold NaN or infinities.

    They are told by their sums; an overflow adds a column that holds none.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        found = np.flatnonzero(~np.isfinite(np.asarray(X.sum(axis=0)).ravel())).tolist()
    if isinstance(X, np.ndarray):
        return {j: X[:, j] for j in found}
    columns = X[:, found].tocsc()
    return dict(zip(found, np.split(columns.data, columns.indptr[1:-1]), strict=True)) if found else {}


def hints_of_related(raw: Raw, options: ReadOptions, target: tuple[int, ...], n_repeated: int) -> list[str]:
    """Find signs that rows are related: a column of groups, times in order, or repeated rows."""
    if not isinstance(raw, RawTable) or raw.columns.num_rows < 2 * FEWEST_GROUPS:
        return []
    others = [j for j in range(raw.columns.num_columns) if j not in target]
    hints = []
    if options.sample_groups is None:
        name = _likely_groups(raw, others)
        if name is not None:
            n_groups = len(raw.columns.column(name).unique())
            hints.append(
                f"rows look related: {quoted(name)} has {n_groups:,} different values in "
                f"{raw.columns.num_rows:,} rows. If rows of one value belong together, use --sample-groups "
                f"{shlex.quote(name)}; without it, scores and stability are too good"
            )
        elif n_repeated >= MANY_REPEATED * raw.columns.num_rows:
            hints.append(
                f"{n_repeated:,} of {raw.columns.num_rows:,} rows repeat an earlier one. If some rows belong "
                "together, name the column that says which with --sample-groups"
            )
    if options.order is None and not hints:
        name = next((raw.columns.column_names[j] for j in others if _in_order(raw, j, options)), None)
        if name is not None:
            hints.append(
                f"rows are in the order of {quoted(name)}. If a model is to predict later rows from earlier "
                f"ones, use --order {shlex.quote(name)}"
            )
    return hints


def _likely_groups(raw: RawTable, places: list[int]) -> str | None:
    """Find the column whose values repeat as those of a patient do who was seen several times.

    It is named like an identifier; or another column has nearly all of its values once for each value of it,
    as times of visits do. A column that is named like a time is none.
    """
    names, n_rows = raw.columns.column_names, raw.columns.num_rows
    for j in places:
        if named_like_identifier(names[j]) and _repeats(_codes(raw.columns.column(j))):
            return str(names[j])
    if len(places) > MOST_COLUMNS or n_rows > MOST_ROWS:
        return None
    coded = {j: _codes(raw.columns.column(j)) for j in places}
    codes = {j: own for j, own in coded.items() if own is not None}
    likely = []
    for j, own in codes.items():
        timed = any(word.lower().removesuffix("s") in TIMES for word in WORDS.findall(names[j]))
        crossed = (_crossed(own, times) for i, times in codes.items() if i != j)
        if not timed and _repeats(own) and any(crossed):
            likely.append((int(own.max()), j))
    return None if not likely else str(names[max(likely)[1]])


def _repeats(codes: Array | None) -> bool:
    """Return whether there are several values, most of them in several rows, and none in most rows."""
    if codes is None:
        return False
    sizes = np.bincount(codes)
    return (
        2 * sizes.max() <= len(codes)  # as of a count, which is mostly 0
        and len(sizes) >= FEWEST_GROUPS
        and len(codes) >= FEWEST_ROWS * len(sizes)
        and bool(np.median(sizes) >= 2)
    )


def _crossed(groups: Array, times: Array) -> bool:
    """Return whether each group has each of several times once, or nearly."""
    n_groups, n_times, n_rows = groups.max() + 1, times.max() + 1, len(groups)
    if n_times < 2 or n_rows > n_groups * n_times or n_rows < CROSSED * n_groups * n_times:
        return False
    return len(np.unique(groups * n_times + times)) == n_rows


def _codes(column: Any) -> Array | None:
    """Number the values of a column of texts or whole numbers; None of any other column."""
    kind = column_kind(column.type)
    if kind not in ("number", "text") or column.null_count:
        return None
    if kind == "text":
        codes = plain_values(column).combine_chunks().dictionary_encode().indices
        return None if codes.null_count else np.asarray(codes.to_numpy(), dtype=np.int64)
    values = column_numbers(column)[0]
    if not (np.isfinite(values).all() and (values == np.floor(values)).all()):
        return None
    return np.asarray(np.unique(values, return_inverse=True)[1].ravel())


def _in_order(raw: RawTable, column: int, options: ReadOptions) -> bool:
    """Return whether a column holds dates that never fall from row to row, most of them different."""
    cells = raw.columns.column(column)
    kind = column_kind(cells.type)
    if cells.null_count or kind not in ("date", "text"):
        return False
    if kind == "text" and not date_formats(plain_texts(plain_values(cells), options.missing)):
        return False
    dates = ordered_values(cells, options, raw.decimal)
    steps = np.diff(dates)
    still = np.zeros(1, steps.dtype)[0]
    return bool(
        ((steps >= still).all() or (steps <= still).all()) and len(np.unique(dates)) > len(dates) // 2
    )
