"""Data that stay where they are: columns of Parquet files or of Zarr arrays, as arrays of Dask."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import prod
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from infused._runtime.checks import check_table
from infused._runtime.messages import extra, listed, quoted, suggestion
from infused._typing import Array, Floats
from infused.data.readers.frames import check_nesting
from infused.data.reading import LARGE, DataError, column_numbers, parsing, too_large
from infused.data.target import in_float, target_from_column
from infused.exceptions import InputError, Setting

CHUNK_BYTES = 2**26
MOST_CHUNKS = 10**7  # of an array of Zarr: more are claimed, not stored
ALIGNED = 2048  # features: chunks of whole tiles of U are read once, others twice


@dataclass(frozen=True)
class Columns:
    """Features that are read when they are needed, and a target that is here.

    Parameters
    ----------
    X : dask.array.Array of shape (n_samples, n_features)
        The features, in chunks of whole columns.
    names : list of str
        What they are called.
    y : ndarray of shape (n_samples,) or None, default=None
        The target.

    See Also
    --------
    open_columns : Makes one.
    infused.cluster : Where they are for.

    Examples
    --------
    >>> from infused._cluster.columns import Columns
    >>> Columns(None, ["a", "b"]).names
    ['a', 'b']
    """

    X: Any
    names: list[str]
    y: Array | None = None


def open_columns(
    path: str | PathLike[str], target: str | None = None, *, chunk: int | None = None
) -> Columns:
    """Open a table to be read column by column, by the workers of a cluster.

    Parameters
    ----------
    path : path
        A Parquet file; a folder of Parquet files with the same columns, whose rows follow each other in the
        order of their names; a Zarr array; or a Zarr group with the arrays ``X`` and, for the target, ``y``.
        All workers must see it.
    target : str, default=None
        The column of Parquet files that is to be predicted; it is read at once.
    chunk : int, default=None
        Features of a chunk; by default about 64 MB, and whole tiles of U where that is possible. A Zarr array
        has chunks of its own.

    Returns
    -------
    Columns
        X as an array of Dask, the names of its features, and y.

    Raises
    ------
    InputError
        Where there is no such table, or a column is not numeric.

    See Also
    --------
    infused.cluster : Where to use it.
    load_data : Reads a table into memory.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import pandas as pd
    >>> import infused
    >>> with TemporaryDirectory() as folder:
    ...     table = pd.DataFrame({"a": [1.0, 2.0], "b": [3, 4], "kind": ["x", "y"]})
    ...     table.to_parquet(Path(folder) / "part-0.parquet")
    ...     columns = infused.open_columns(folder, target="kind")
    ...     X = columns.X.compute()
    >>> columns.names, X.tolist(), columns.y.tolist()
    (['a', 'b'], [[1.0, 3.0], [2.0, 4.0]], ['x', 'y'])
    """
    place = Path(path)
    if chunk is not None and chunk < 1:
        raise InputError(Setting("chunk", chunk), ": give a whole number from 1")
    if not place.exists():
        raise DataError(f"there is no file or folder {quoted(place)}")
    if any((place / name).exists() for name in ("zarr.json", ".zarray", ".zgroup")):
        return _zarr(place, target)
    files = sorted(place.glob("[!._]*.parquet")) if place.is_dir() else [place]
    if not files:
        raise DataError(f"{quoted(place)} holds neither files that end in .parquet nor an array of Zarr")
    return _parquet(files, target, chunk)


def _parquet(files: list[Path], target: str | None, chunk: int | None) -> Columns:
    parquet = extra("pyarrow.parquet")
    names = _column_names(files[0])
    for file in files[1:]:
        if _column_names(file) != names:
            raise DataError(f"{quoted(file)} has other columns than {quoted(files[0])}: make them the same")
    y = None
    if target is not None:
        if target not in names:
            raise DataError(f"there is no column {quoted(target)}{suggestion(target, names)}")
        y = _target_in(files, target)
    features = [name for name in names if name != target]
    for file in files:
        _refuse_text(file, features)
    n_samples = sum(parquet.ParquetFile(file).metadata.num_rows for file in files)
    if not n_samples or not features:
        raise DataError(f"{quoted(files[0])} has no {'features' if n_samples else 'samples'}")
    width = chunk or _usual_width(n_samples)
    widths = tuple(min(width, len(features) - start) for start in range(0, len(features), width))
    read = partial(read_block, [str(file) for file in files], target)
    X = extra("dask.array").map_blocks(
        read, chunks=((n_samples,), widths), dtype=np.float64, meta=np.empty((0, 0))
    )
    return Columns(X, features, y)


def _target_in(files: list[Path], target: str) -> Array:
    import pyarrow as pa
    from pyarrow import parquet

    columns = []
    for file in files:
        with parsing(file, "Parquet"):
            columns.append(parquet.ParquetFile(file).read(columns=[target]).column(0))
    if len({column.type for column in columns}) > 1:
        raise DataError(f"the target {quoted(target)} has other types in other files: make them the same")
    y = target_from_column(
        pa.chunked_array([c for one in columns for c in one.chunks], columns[0].type), target
    )
    return in_float(y, target) if np.ma.isMaskedArray(y) else y


def _usual_width(n_samples: int) -> int:
    fitting = max(1, CHUNK_BYTES // (8 * n_samples))
    return fitting // ALIGNED * ALIGNED or fitting


def _column_names(file: Path) -> list[str]:
    from pyarrow import ArrowException, parquet

    try:
        check_nesting(file)
        return list(parquet.read_schema(file).names)
    except (ArrowException, OSError) as error:
        raise DataError(f"{quoted(file)} is no Parquet file, or is damaged") from error


def _refuse_text(file: Path, features: list[str]) -> None:
    from pyarrow import parquet, types

    schema = parquet.read_schema(file)
    kinds = {name: schema.field(name).type for name in features}
    numeric = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
    other = [name for name, kind in kinds.items() if not any(test(kind) for test in numeric)]
    if other:
        raise DataError(f"columns that are not numbers cannot be read column by column: {listed(other)}")


def read_block(files: list[str], target: str | None, block_info: Any = None) -> Floats:
    """Read some columns of all files, on a worker."""
    from pyarrow import parquet

    (_, n_samples), (start, stop) = block_info[None]["array-location"]
    names = [name for name in parquet.read_schema(files[0]).names if name != target][start:stop]
    out, row = np.empty((n_samples, len(names)), order="F"), 0
    for file in files:
        with parsing(Path(file), "Parquet"):
            table = parquet.ParquetFile(file).read(columns=names, use_threads=False)
        rows = slice(row, row + table.num_rows)
        for place, name in enumerate(names):
            out[rows, place], lost = column_numbers(table.column(name))
            if lost:
                raise DataError(f"column {quoted(name)} of {quoted(file)} has {lost}, which would be rounded")
        row = rows.stop
    return out


def _zarr(place: Path, target: str | None) -> Columns:
    zarr, array = extra("zarr"), extra("dask.array")
    if target is not None:
        raise InputError(Setting("target", target), " is for Parquet: a Zarr group holds the target as y")
    with parsing(place, "Zarr"):
        found = zarr.open(str(place), mode="r")
        alone = hasattr(found, "shape")
        X, y = (found, None) if alone else (found.get("X"), found.get("y"))
    if not hasattr(X, "shape"):
        raise DataError(f"{quoted(place)} is a Zarr group without an array X")
    for one in (X, y):
        _refuse_pickles(one, place)
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        raise DataError(
            f"the array of {quoted(place)} has {X.ndim} dimensions of {X.dtype}: two of numbers are needed"
        )
    n_chunks = prod(-(-length // step) for length, step in zip(X.shape, X.chunks, strict=True))
    if not 0 < n_chunks <= MOST_CHUNKS:
        size = " x ".join(str(length) for length in X.shape)
        raise DataError(
            f"the array of {quoted(place)} claims {size} values in {n_chunks} chunks; is it complete?"
        )
    if y is not None:
        check_table(prod(y.shape), 1, quoted(place))
        with parsing(place, "Zarr"):
            y = np.asarray(y[:])
    lazy = array.from_array(_Chunks(X, place), chunks=X.chunks)
    return Columns(lazy, [str(j) for j in range(X.shape[1])], y)


def _refuse_pickles(array: Any, place: Path) -> None:
    """Refuse chunks that are packed as pickled objects; newer versions of numcodecs refuse them too."""
    metadata = getattr(array, "metadata", None)
    codecs = (*(getattr(metadata, "filters", None) or ()), getattr(metadata, "compressor", None))
    if any(getattr(codec, "codec_id", None) == "pickle" for codec in codecs):
        raise DataError(f"{quoted(place)} holds pickled objects, refused as they can run any code")


@dataclass(frozen=True)
class _Chunks:
    """An array of Zarr of which a chunk that cannot be read is told with its place."""

    values: Any
    place: Path

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.values.shape)

    @property
    def ndim(self) -> int:
        return int(self.values.ndim)

    @property
    def dtype(self) -> np.dtype[Any]:
        found: np.dtype[Any] = self.values.dtype
        return found

    def __getitem__(self, where: Any) -> Array:
        with parsing(self.place, "Zarr"):
            found = np.asarray(self.values[where])
            if too_large(found):
                raise DataError(f"the array of {quoted(self.place)} has {LARGE}, which would be rounded")
            return found
