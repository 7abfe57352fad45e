"""Reading options: from the command line into a request, and from a request to data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from infused.cli.errors import CommandError

if TYPE_CHECKING:
    from infused.data import Dataset

__all__ = ["load_requested", "reading_options"]


def reading_options(
    *,
    target_file: Path | None,
    x_key: str | None,
    y_key: str | None,
    drop: list[str] | None,
    keep: list[str] | None,
    impute: str | None,
    one_hot: bool,
    separator: str | None,
    encoding: str | None,
    no_header: bool,
    task: str | None,
    grid: tuple[int, int] | None = None,
) -> dict[str, Any]:
    """Those that were given, as a request keeps them."""
    every = {
        "target_file": None if target_file is None else str(target_file),
        "x_key": x_key,
        "y_key": y_key,
        "drop": drop,
        "keep": keep,
        "impute": impute,
        "one_hot": one_hot or None,
        "separator": separator,
        "encoding": encoding,
        "header": False if no_header else None,
        "task": task,
        "grid": grid,
    }
    return {name: value for name, value in every.items() if value is not None and value != []}


def load_requested(source: str, target: str | None, reading: Mapping[str, Any]) -> Dataset:
    """The data that these options describe, with their grid."""
    from infused.data import load_data

    options = dict(reading)
    grid = options.pop("grid", None)
    try:
        dataset = load_data(source, target=target, **options)
    except TypeError as error:
        if "unexpected keyword" in str(error):  # a request that somebody wrote by hand
            raise CommandError(f"the request has a reading option that does not exist: {error}") from error
        raise
    return dataset if grid is None else _with_grid(dataset, grid)


def _with_grid(dataset: Dataset, grid: Sequence[int]) -> Dataset:
    rows, columns = grid
    if rows * columns != dataset.n_features:
        raise CommandError(
            f"--grid {rows}x{columns} has {rows * columns:,} pixels, "
            f"but {dataset.name!r} has {dataset.n_features:,} features"
        )
    return replace(dataset, grid_shape=(rows, columns))
