"""`load_data`: from whatever was given to variables that a selector can take, with their target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from infused._runtime.messages import count, listed, quoted
from infused._typing import Array, Data
from infused.data.columns import check_unique, find_column, find_columns, leave_out
from infused.data.dataset import DEFAULTS, Dataset
from infused.data.prepare import hints_of_related, prepare_features
from infused.data.reading import (
    LARGE,
    DataError,
    Raw,
    RawMatrix,
    RawTable,
    ReadOptions,
    column_kind,
    in_numbers,
    likely_targets,
    plain_values,
)
from infused.data.rows import blocks_of, is_file, join_blocks, join_rows, related_samples
from infused.data.sources import Source, file_source, find_source
from infused.data.target import (
    logarithm,
    present,
    settle_target,
    survival_from_columns,
    target_from_array,
    target_from_column,
    together,
)
from infused.exceptions import InputError, Setting
from infused.samples import ALONE

READING = {"target", "target_file", "join", "sheet", "x_key", "y_key", "separator", "encoding", "header"}


def load_data(source: Any, options: ReadOptions = DEFAULTS, **changes: Any) -> Dataset:
    """Read data as variables with a target; raise `DataError` on anything doubtful.

    A column of text is a number where it writes numbers (``$24,000``, ``1.234,56``, ``15.3%``) in one unit, a
    date where it writes dates (then its year, month and weekday are features), else a category. Identifiers,
    and texts that are different in nearly every row, are left out with a note; so are rows without a target.
    Numbers that float64 cannot hold, which are whole ones beyond 2^53 and decimals that it cannot tell apart,
    are refused.

    Parameters
    ----------
    source : path, str, data frame, tuple, AnnData or Dataset
        A file, whose suffix tells the format (see `reader_formats`); one of `available_datasets`; a pandas,
        polars or Arrow data frame; a pair ``(X, y)`` of an array, sparse matrix or data frame and its target;
        or an AnnData object. Data given in Python are not changed. A Dataset is returned as it is.
    options : ReadOptions, default=ReadOptions()
        How to read the source.
    **changes : dict
        Options by name, such as ``target="kind"`` or ``drop=["id"]``: those of :class:`ReadOptions`.

    Returns
    -------
    Dataset
        X, y, the names, and notes on what was done.

    Raises
    ------
    DataError
        Where the data cannot be used as they are; the message says what helps.

    See Also
    --------
    ReadOptions : All options.
    load_features : Read some features, without a target.
    infused.select : Select features from data.

    Examples
    --------
    >>> from infused.data import load_data
    >>> load_data("wine")
    <Dataset wine: 178 samples x 13 features, 3 classes in 'grower'>
    >>> data = load_data(([[1.5, 2.0], [2.5, 0.5], [0.5, 3.0]], ["x", "y", "x"]))
    >>> data.feature_names, data.kind
    (('feature_0', 'feature_1'), 'classes')
    >>> load_data("digits", drop="pixel_0_0").n_features
    63
    """
    options = options.updated(**changes)
    if isinstance(source, Dataset):
        _refuse_other(options, source)
        return source
    found = find_source(source)
    file = options.target_file if "target_file" in found.heeds else None
    labels = None if file is None else file_source(file)
    _refuse_ignored(options, found, labels)
    raw = in_numbers(
        found.read(options, "both" if labels is None else "features"), found.where, options.transpose
    )
    raw, inside, own_blocks, joined = _with_blocks(raw, options, found.where)
    tables = [raw]
    if labels is not None:
        raw, beside, how = join_rows(raw, labels.read(options, "target"), options, found.where, labels.where)
        target = _target(beside, options, labels.where, alone=True)
        joined, tables = [*joined, f"the target of {labels.where} was joined {how}"], [raw, beside]
    else:
        try:
            target = _target(raw, options, found.where)
        except DataError as error:  # it may be in another sheet
            others = raw.notes if isinstance(raw, RawTable) else ()
            raise DataError(*error.parts, *(f" ({one})" for one in others if "sheets" in one)) from error
    raw, target, there, rows = _with_target(raw, target, found.where, inside)
    task = options.task
    if options.log_target:
        y, name = logarithm(target.y, target.name)
        target, task = target._replace(y=y, name=name), "regression"
    samples, places, said = ALONE, tuple[int, ...](), list[str]()
    if options.sample_groups is not None or options.order is not None:
        samples, places, said = related_samples(tables, options, there)
    features = prepare_features(raw, options, found.where, (*target.positions, *places))
    y, kind, notes = settle_target(target.y, target.name, task)
    repeated = _repeated(raw, features.X, y)
    hints = hints_of_related(raw, options, target.positions, repeated)
    data = Dataset(
        found.name,
        features.X,
        y,
        features.feature_names,
        target.name,
        kind,
        found.origin,
        notes=(*joined, *rows, *said, *features.notes, *notes, *_repeated_note(repeated, hints)),
        levels=features.levels,
        origins=features.origins,
        impute="median" if options.impute in (None, "error") else options.impute,
        options=options,
        samples=samples,
        hints=tuple(hints),
        blocks=None
        if options.blocks is None
        else blocks_of(features.feature_names, features.origins, options, own_blocks, found.name),
    )
    return _with_grid(data, raw, options.grid)


def _with_blocks(raw: Raw, options: ReadOptions, where: str) -> tuple[Raw, Array, dict[str, str], list[str]]:
    """Join the files that are blocks; without any, nothing changes."""
    files = []
    if options.blocks is None:
        return raw, np.ones(0, dtype=bool), {}, []
    for block, entries in options.blocks.items():
        for file in filter(is_file, entries):
            source = file_source(str(file))
            read = in_numbers(source.read(replace(options, target=None), "features"), source.where)
            files.append((block, source.where, read))
    return join_blocks(raw, files, options, where) if files else (raw, np.ones(0, dtype=bool), {}, [])


def _refuse_other(options: ReadOptions, data: Dataset) -> None:
    """Raise on options that differ from those that the data were read with."""
    for name, value in options.given().items():
        if getattr(data.options, name) != value:
            raise InputError(Setting(name, value), " comes too late for a Dataset: give it to load_data")


def _refuse_ignored(options: ReadOptions, found: Source, labels: Source | None) -> None:
    """Raise on an option that would be ignored."""
    heeds = found.heeds
    if labels is not None:
        heeds = (heeds - {"target", "y_key"}) | labels.heeds | {"join"}
    if any(is_file(one) for entries in (options.blocks or {}).values() for one in entries):
        heeds = heeds | {"join"}
    for name, value in options.given().items():
        if name in READING and name not in heeds:
            raise InputError(Setting(name, value), f" has no meaning for {found.where}: leave it out")


class _Target(NamedTuple):
    y: Array
    name: str
    positions: tuple[int, ...] = ()
    """Where it is among the columns of the features' table."""


def _target(raw: Raw, options: ReadOptions, where: str, alone: bool = False) -> _Target:
    """Take the target from its column or from beside the features; ``alone`` in a file of its own."""
    if isinstance(raw, RawMatrix) and raw.y is None:
        raise DataError(f"{where} has no target: give a pair (X, y), or a file with ", Setting("target_file"))
    if options.time is not None:
        if not isinstance(raw, RawTable) or raw.y is not None:
            raise InputError(Setting("time"), " names a column of a table: give a file or a data frame")
        return _survival(raw, options, where, alone)
    if isinstance(raw, RawTable) and raw.y is None:
        wanted = options.target if isinstance(options.target, tuple) else (options.target,)
        positions = tuple(_target_position(raw.columns, one, where, alone) for one in wanted)
        names = [raw.columns.column_names[j] for j in positions]
        for name in names:
            if name in raw.lossy:
                raise DataError(
                    f"the target {quoted(name)} has {LARGE}, which would be rounded: write classes as texts"
                )
        columns = [
            target_from_column(raw.columns.column(j), name, raw.decimal, options.missing, options.task)
            for j, name in zip(positions, names, strict=True)
        ]
        return _Target(*together(columns, names), () if alone else positions)
    if isinstance(raw, RawTable):
        _refuse_target_in(raw.columns.column_names, raw.target_name, options)
    return _Target(target_from_array(raw.y, raw.target_name), raw.target_name)


def _survival(raw: RawTable, options: ReadOptions, where: str, alone: bool) -> _Target:
    """Take times and events from their columns."""
    names, positions = raw.columns.column_names, []
    check_unique(names, where)
    for setting, wanted in (("time", options.time), ("event", options.event)):
        if wanted is not None:  # both are given, or none
            _offer_to_transpose(raw.columns, wanted)
            positions.append(find_column(names, wanted, setting))
    if positions[0] == positions[1]:
        raise DataError(Setting("time"), " and ", Setting("event"), " name the same column: two are needed")
    time_name, event_name = (names[j] for j in positions)
    times, events = (
        target_from_column(raw.columns.column(j), names[j], raw.decimal, options.missing, task)
        for j, task in zip(positions, ("regression", "classification"), strict=True)
    )
    y = survival_from_columns(times, events, time_name, event_name)
    return _Target(y, f"{time_name} until {event_name}", () if alone else tuple(positions))


def _target_position(columns: Any, wanted: str | int | None, where: str, alone: bool) -> int:
    names = columns.column_names
    check_unique(names, where)
    if wanted is not None:
        _offer_to_transpose(columns, wanted)
        return find_column(names, wanted, "target")
    if alone and len(names) == 1:
        return 0
    likely = listed(likely_targets(columns))
    raise DataError(
        Setting("target"), f" is not given: which column of {where} is it? likely ones are {likely}"
    )


def _offer_to_transpose(columns: Any, wanted: str | int) -> None:
    """Raise where the target is no column but a row: features in rows are common for genes."""
    if wanted in columns.column_names or column_kind(columns.column(0).type) != "text":
        return
    if str(wanted) in plain_values(columns.column(0)).to_pylist():
        raise DataError(
            Setting("target", wanted),
            " is no column but a row: if features are in rows, turn them with ",
            Setting("transpose", True),
        )


def _repeated(raw: Raw, X: Data, y: Array) -> int:
    """Count rows of a table that repeat an earlier one in all features and in the target."""
    if isinstance(raw, RawMatrix) or not isinstance(X, np.ndarray) or X.shape[1] < 2:
        return 0
    targets = np.ascontiguousarray(y).reshape(len(y), -1)
    rows = {row.tobytes() + own.tobytes() for row, own in zip(np.ascontiguousarray(X), targets, strict=True)}
    return len(X) - len(rows)


def _repeated_note(n_repeated: int, hints: Sequence[str]) -> list[str]:
    if n_repeated == 0 or any("repeat an earlier one" in hint for hint in hints):
        return []
    verb = "row repeats" if n_repeated == 1 else "rows repeat"
    return [f"{n_repeated:,} {verb} an earlier one in every feature and the target"]


def _refuse_target_in(names: Sequence[str], target: str, options: ReadOptions) -> None:
    """Refuse ``(frame, frame["kind"])``, where a selector would find its own target."""
    mentioned = find_columns(names, options.drop, "drop") + find_columns(names, options.use, "use")
    if target in names and names.index(target) not in mentioned:
        twice = f"{quoted(target)} is the target and a column of X too: "
        raise DataError(
            twice, *leave_out([target]), ", or use it as a feature with ", Setting("use", [target])
        )


def _with_target(
    raw: Raw, target: _Target, where: str, inside: Array
) -> tuple[Raw, _Target, Array, list[str]]:
    """Keep the rows that have a target and are in all files; return which, and note how many have none."""
    shape = (raw.columns.num_rows, raw.columns.num_columns) if isinstance(raw, RawTable) else raw.X.shape
    _check_lengths(shape, len(target.y), target.name, where)
    if shape[0] == 0:
        raise DataError(f"{where} has a header and no rows")
    there = known = present(target.y)
    if len(inside):
        there, known = known & inside, known | ~inside
    if there.all():
        return raw, target._replace(y=np.ma.getdata(target.y)), there, []
    if not there.any():
        raise DataError(f"the target {quoted(target.name)} has no value at all: give another column")
    y = np.ma.getdata(target.y[there])
    if isinstance(raw, RawTable):
        kept: Raw = replace(raw, columns=raw.columns.filter(there))
    else:
        kept = replace(raw, X=raw.X[there])
    rows = count(int((~known).sum()), "row")
    notes = [f"left out {rows} without a value of the target {quoted(target.name)}"]
    return kept, target._replace(y=y), there, [] if known.all() else notes


def _check_lengths(shape: tuple[int, int], n_targets: int, name: str, where: str) -> None:
    if shape[0] != n_targets:
        turned = (": if features are in rows, turn them with ", Setting("transpose", True))
        raise DataError(
            f"X of {where} has {count(shape[0], 'row')}, but the target {quoted(name)} has {n_targets:,}",
            *(turned if n_targets in (shape[1], shape[1] - 1) else ()),
        )


def _with_grid(data: Dataset, raw: Raw, asked: tuple[int, int] | None) -> Dataset:
    """Set the grid that was asked for, or else the one that came with all of the features."""
    if isinstance(raw, RawMatrix) and raw.X.shape == data.X.shape:
        data = replace(data, grid_shape=raw.grid_shape, grid_order=raw.grid_order)
    if asked is None:
        return data
    if asked[0] * asked[1] != data.n_features:
        raise InputError(
            Setting("grid", asked),
            f" has {asked[0] * asked[1]:,} pixels, but {quoted(data.name)} has {data.n_features:,} features",
        )
    return replace(data, grid_shape=asked)
