"""`load_data`: from a file or a name to a `Dataset`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, replace
from os import PathLike, fspath
from pathlib import Path

from infused._typing import Array
from infused.data.columns import check_unique, find_column
from infused.data.content import Content, Matrix, Part, ReadOptions, Table, Task
from infused.data.dataset import Dataset
from infused.data.errors import DataError, count, listed, quoted, suggestion
from infused.data.matrix import as_numbers
from infused.data.missing import check_impute
from infused.data.named import available_datasets, find_named, read_named
from infused.data.prepare import Treatment, prepare_features
from infused.data.registry import existing_file, format_of
from infused.data.table import likely_targets
from infused.data.target import check_task, settle_target, target_from_array, target_from_column

__all__ = ["load_data", "read_source"]


def load_data(
    source: str | PathLike[str],
    *,
    target: str | int | None = None,
    x_key: str | None = None,
    y_key: str | None = None,
    target_file: str | PathLike[str] | None = None,
    drop: str | Iterable[str | int] = (),
    keep: str | Iterable[str | int] = (),
    impute: str | None = None,
    one_hot: bool = False,
    separator: str | None = None,
    encoding: str | None = None,
    header: bool = True,
    task: Task | None = None,
) -> Dataset:
    """Read a file or named data as finite numbers with a target; raise `DataError` on anything doubtful.

    Parameters
    ----------
    source : path or name
        A file, whose suffix tells the format (see `reader_formats`), or one of `available_datasets`.
    target : str or int, optional
        The column of the target by name or by position (from 0; negative counts from the end), in a table,
        in the ``obs`` of .h5ad, or in ``target_file`` when that is given.
    x_key, y_key : str, optional
        The arrays of .mat and .npz files; by default X and Y, fea and gnd, data and target, and the like.
        For .h5ad, ``x_key`` is a layer.
    target_file : path, optional
        A second file with the target, in the same order of samples.
    drop : names or positions
        Columns to leave out.
    keep : names or positions
        Columns to use although they look like identifiers or hold whole numbers beyond 2^53.
    impute : {"mean", "median", "most-frequent", "zero"}, optional
        How to fill missing values; without it they are an error.
    one_hot : bool
        Make a 0/1 column ``column=value`` of each value of a text column; without it text is an error.
    separator, encoding, header
        For text tables: the character between values (found out by default), the encoding (UTF-8 by
        default), and whether the first line holds names.
    task : {"classification", "regression"}, optional
        By default, texts are classes and fractions are real numbers; whole numbers are classes when there are
        at most 20 different ones or at least 10 samples for each; several target columns are real numbers.
    """
    check_impute(impute)
    check_task(task)
    labels = None if target_file is None else Path(target_file).expanduser()
    part: Part = "both" if labels is None else "features"
    options = ReadOptions(target, x_key, y_key, separator, encoding, header, part)
    treatment = Treatment(_several(drop), _several(keep), impute, one_hot)
    content, name, origin = read_source(source, options, labels)
    where = quoted(Path(origin))
    y, target_name, position = _target(content, options, labels, where)
    features = prepare_features(content, treatment, where, position)
    _check_lengths(features.X.shape, len(y), target_name, where)
    y, settled, notes = settle_target(y, target_name, task)
    data = Dataset(
        name,
        features.X,
        y,
        features.feature_names,
        target_name,
        settled,
        origin,
        notes=(*features.notes, *notes),
    )
    if isinstance(content, Matrix) and content.X.shape == features.X.shape:
        return replace(data, grid_shape=content.grid_shape, grid_order=content.grid_order)
    return data


def read_source(
    source: str | PathLike[str], options: ReadOptions, labels: Path | None = None
) -> tuple[Content, str, str]:
    """The content of a file or of named data, its short name, and what to give to find it again."""
    known = find_named(fspath(source))
    if known is not None:
        if labels is not None:
            raise DataError(f"{known} comes with its target: leave --target-file out")
        _check_options(options, frozenset(), known)
        return _numeric(read_named(known), known), known, known
    path = Path(source).expanduser()
    if len(path.parts) == 1 and not path.suffix and not path.exists():
        names = available_datasets()
        raise DataError(
            f"{quoted(source)} is neither a file nor named data"
            f"{suggestion(fspath(source), names) or '; names are ' + ', '.join(names)}"
        )
    entry = format_of(existing_file(path))
    heeded = entry.options
    if labels is not None:
        heeded = (heeded - {"target", "y_key"}) | format_of(existing_file(labels)).options
    _check_options(options, heeded, f"{path.suffix} files")
    short = path.name[: -len("".join(path.suffixes[-2:]))] if path.suffix == ".gz" else path.stem
    return _numeric(entry.read(path, options), quoted(path)), short, str(path)


def _numeric(content: Content, where: str) -> Content:
    return replace(content, X=as_numbers(content.X, where)) if isinstance(content, Matrix) else content


def _several(columns: str | Iterable[str | int]) -> tuple[str | int, ...]:
    return (columns,) if isinstance(columns, str | int) else tuple(columns)


def _check_options(options: ReadOptions, heeded: frozenset[str], what: str) -> None:
    """Raise on an option that would be ignored."""
    for field in fields(ReadOptions):
        given = getattr(options, field.name) != field.default
        if given and field.name not in heeded and field.name != "part":
            option = "--no-header" if field.name == "header" else f"--{field.name.replace('_', '-')}"
            raise DataError(f"{option} has no meaning for {what}: leave it out")


def _target(
    content: Content, options: ReadOptions, labels: Path | None, where: str
) -> tuple[Array, str, int | None]:
    """The target's values and name, and its position when it is one of the content's columns."""
    if labels is not None:
        alone = replace(options, part="target")
        y, name, _ = _target(format_of(labels).read(labels, alone), alone, None, quoted(labels))
        return y, name, None
    if isinstance(content, Matrix):
        if content.y is None:
            raise DataError(f"{where} has no target: give it with --target-file")
        return target_from_array(content.y, content.target_name), content.target_name, None
    position = _target_position(content, options, where)
    name = content.columns.column_names[position]
    return target_from_column(content.columns.column(position), name), name, position


def _target_position(table: Table, options: ReadOptions, where: str) -> int:
    names = table.columns.column_names
    check_unique(names, where)
    if options.target is not None:
        return find_column(names, options.target, "--target")
    if options.part == "target" and len(names) == 1:
        return 0
    raise DataError(
        f"--target is not given: which column of {where} is it? "
        f"likely ones are {listed(likely_targets(table.columns))}"
    )


def _check_lengths(shape: tuple[int, int], n_targets: int, name: str, where: str) -> None:
    if shape[0] != n_targets:
        turned = " (X seems to be features x samples: transpose it)" if shape[1] == n_targets else ""
        raise DataError(
            f"X of {where} has {count(shape[0], 'row')}, "
            f"but the target {quoted(name)} has {n_targets:,}{turned}"
        )
