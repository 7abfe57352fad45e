"""Data that stay on disk: .npy, Parquet, Zarr, .h5ad and PLINK's .bed, read column by column."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import partial
from math import prod
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from infused._columns import READ_BYTES, StoredColumns, fill, stored_array
from infused._runtime.checks import check_table, is_number
from infused._runtime.messages import extra, listed, quoted, suggestion
from infused._runtime.threads import memory_budget, require
from infused._typing import Array, Floats, Ints
from infused.data.readers.frames import check_nesting
from infused.data.reading import LARGE, DataError, column_numbers, parsing, too_large
from infused.data.target import in_float, target_from_column
from infused.exceptions import InputError, Setting

MOST_CHUNKS = 10**7  # of an array of Zarr: more are claimed, not stored
NAMED_BYTES = 100  # of a feature or a sample that stays on disk: its name, and what a fit keeps of it
ALIGNED = 2048  # features: chunks of whole tiles of U are read once, others twice


@dataclass(frozen=True)
class Columns:
    """Features that stay on disk, and a target that is here.

    Parameters
    ----------
    X : StoredColumns of shape (n_samples, n_features)
        The features. Selectors that go through data in passes take them as X: the linear selectors,
        ``greedy-forward``, ``anova`` and those by mutual information. ``X[:, features]`` reads some,
        ``X[samples]`` leaves out samples, and ``numpy.asarray(X)`` reads all.
    names : list of str
        What they are called.
    y : ndarray of shape (n_samples,) or None, default=None
        The target.
    samples : list of str or None, default=None
        What the samples are called, where the format says so.
    positions : tuple of ndarray or None, default=None
        Chromosome and position of each feature, of genotypes.

    See Also
    --------
    open_columns : Makes one.
    infused.cluster : Gives the reading to the workers of a cluster.

    Examples
    --------
    >>> from infused.data.stored import Columns
    >>> Columns(None, ["a", "b"]).names
    ['a', 'b']
    """

    X: Any
    names: list[str]
    y: Array | None = None
    samples: list[str] | None = None
    positions: tuple[Array, Array] | None = None

    @property
    def neighbours(self) -> Ints:
        """Return pairs of neighbours on one chromosome, as ``fusion`` takes them."""
        if self.positions is None:
            raise InputError("these features have no positions: take fusion='chain' for all neighbours")
        first = np.flatnonzero(self.positions[0][1:] == self.positions[0][:-1])
        return np.column_stack([first, first + 1])


def open_columns(
    path: str | PathLike[str], target: str | None = None, *, chunk: int | None = None
) -> Columns:
    """Open a table to be read column by column, while it stays on disk.

    Parameters
    ----------
    path : path
        A NumPy array (.npy); a Parquet file; a folder of Parquet files with the same columns, whose rows
        follow each other in the order of their names; a Zarr array; a Zarr group with the arrays ``X`` and,
        for the target, ``y``; AnnData (.h5ad) with a dense X; or genotypes in PLINK's format (.bed, beside a
        .bim and a .fam), whose missing calls count as the mean of their feature. On a cluster, all workers
        must see it.
    target : str, default=None
        The column of Parquet files, or of ``obs``, that is to be predicted; it is read at once. Genotypes
        have the phenotype of the .fam.
    chunk : int, default=None
        Features to read at a time; by default 32 MB, and whole tiles of U where that is possible. Zarr and
        .h5ad are read by whole chunks.

    Returns
    -------
    Columns
        X, which reads when it is used, the names of its features, and y.

    Raises
    ------
    InputError
        Where there is no such table, or a column is not numeric.

    See Also
    --------
    infused.cluster : Reads by the workers of a cluster.
    load_data : Reads a table into memory.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import pandas as pd
    >>> import infused
    >>> with TemporaryDirectory() as folder:
    ...     table = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [3, 4, 4], "kind": ["x", "y", "y"]})
    ...     table.to_parquet(Path(folder) / "part-0.parquet")
    ...     columns = infused.open_columns(folder, target="kind")
    ...     lasso = infused.Lasso(n_features_to_select=1).fit(columns.X, columns.y)
    >>> columns.names, lasso.get_feature_names_out().tolist()
    (['a', 'b'], ['b'])
    """
    place = Path(path)
    if chunk is not None and chunk < 1:
        raise InputError(Setting("chunk", chunk), ": give a whole number from 1")
    if not place.exists():
        raise DataError(f"there is no file or folder {quoted(place)}")
    if any((place / name).exists() for name in ("zarr.json", ".zarray", ".zgroup")):
        return _zarr(place, target, chunk)
    suffix = place.suffix.lower()
    if suffix in (".npy", ".bed") and target is not None:
        raise InputError(Setting("target", target), f" is for tables: {suffix} files have no such columns")
    if suffix == ".npy":
        return _npy(place, chunk)
    if suffix == ".bed":
        return genotypes(place, chunk)
    if suffix == ".h5ad":
        return _h5ad(place, target, chunk)
    files = sorted(place.glob("[!._]*.parquet")) if place.is_dir() else [place]
    if not files:
        raise DataError(f"{quoted(place)} holds neither files that end in .parquet nor an array of Zarr")
    return _parquet(files, target, chunk)


def _npy(place: Path, chunk: int | None) -> Columns:
    """Open an array of NumPy; it is mapped to read its header alone."""
    with parsing(place, "NumPy .npy"):
        array = np.load(place, mmap_mode="r", allow_pickle=False)
    if array.ndim != 2 or array.dtype.kind not in "biuf" or not array.size:
        raise DataError(f"{quoted(place)} holds {_described(array)}: two dimensions of numbers are needed")
    found = stored_array(array)
    if found is None:
        raise DataError(f"{quoted(place)} cannot be read column by column")
    return Columns(found if chunk is None else replace(found, width=chunk), _numbered(found.shape[1]))


def _described(array: Any) -> str:
    return f"{' x '.join(map(str, array.shape)) or 'one'} values of {array.dtype}"


def _numbered(n_features: int) -> list[str]:
    return [str(j) for j in range(n_features)]


def _h5ad(place: Path, target: str | None, chunk: int | None) -> Columns:
    """Open AnnData with a dense X."""
    h5py = extra("h5py")
    with parsing(place, "AnnData"), h5py.File(place, "r") as file:
        X = file["X"]
        if not isinstance(X, h5py.Dataset):
            raise DataError(f"X of {quoted(place)} is sparse: read it into memory, with load_data")
        if len(X.shape) != 2 or X.dtype.kind not in "biuf" or not X.size:
            raise DataError(
                f"X of {quoted(place)} holds {_described(X)}: two dimensions of numbers are needed"
            )
        shape, dtype, step = X.shape, X.dtype, X.chunks[1] if X.chunks else 1
        width = _whole_chunks(place, shape, dtype.itemsize, step, chunk)
        names = _index_of(file["var"], shape[1], f"the names in var of {quoted(place)}")
        samples = _index_of(file["obs"], shape[0], f"the names in obs of {quoted(place)}")
        if target is not None and target not in list(file["obs"]):
            close = suggestion(target, list(file["obs"]))
            raise DataError(f"obs of {quoted(place)} has no column {quoted(target)}{close}")
        what = f"the target {quoted(str(target))} of {quoted(place)}"
        y = None if target is None else _observed(file["obs"][target], shape[0], what)
    stored = StoredColumns(shape, dtype, partial(_read_h5ad, str(place)), (str(place),), width=width)
    return Columns(stored, names, y, samples)


def _index_of(frame: Any, length: int, what: str) -> list[str]:
    index = _of_length(frame[frame.attrs["_index"]], length, what)
    return [str(name) for name in index.asstr()[:]]


def _of_length(values: Any, length: int, what: str) -> Any:
    """Return a column that is as long as X before any of it is read: what a file claims may be anything."""
    if values.shape != (length,):
        size = " x ".join(map(str, values.shape))
        raise DataError(f"{what}: {size} values where X has {length:,}: is the file complete?")
    return values


def _observed(column: Any, length: int, what: str) -> Array:
    """Read a column of ``obs``: numbers, texts or a category."""
    if not hasattr(column, "keys"):
        return _plain(_of_length(column, length, what))
    codes = _of_length(column["codes"], length, what)[:]
    if (codes < 0).any():
        raise DataError(f"{what} has missing values: leave out these samples")
    levels = column["categories"]
    require(NAMED_BYTES * prod(levels.shape), memory_budget(), what, "give a smaller file")
    return np.asarray(_plain(levels)[codes])


def _plain(values: Any) -> Array:
    """Read texts of any length, texts of one length, or numbers."""
    return np.asarray(values.asstr()[:] if values.dtype.kind in "OS" else values[:])


def _read_h5ad(path: str, start: int, stop: int) -> Array:
    import h5py

    with parsing(Path(path), "AnnData"), h5py.File(path, "r") as file:
        return np.asarray(file["X"][:, start:stop])


def _whole_chunks(place: Path, shape: tuple[int, ...], itemsize: int, step: int, asked: int | None) -> int:
    """Return how many features to read at a time: those of whole chunks, where the memory budget holds them.

    What a file claims takes no room on disk, so that nothing is made of its size before it is compared.
    """
    n_samples, n_features = shape
    width = asked or max(1, READ_BYTES // (itemsize * max(n_samples, 1)))
    width = max(1, width // step) * step
    block = itemsize * n_samples * min(width, n_features)
    size = f"{quoted(place)}, of {n_samples:,} x {n_features:,} values in chunks of {step:,} features,"
    require(
        NAMED_BYTES * (n_samples + n_features) + block,
        memory_budget(),
        size,
        "give a smaller file, or smaller chunks",
    )
    return width


BED_MAGIC, BED_BY_SAMPLE = b"\x6c\x1b\x01", b"\x6c\x1b\x00"
MISSING_CALL = -1
COPIES = np.array([2, MISSING_CALL, 1, 0], np.int8)  # of the first allele, by the two bits of a call
#: The four calls of each byte, the first in its lowest bits.
CALLS = COPIES[(np.arange(256)[:, None] >> np.array([0, 2, 4, 6])) & 3]
NO_PHENOTYPE = ("-9", "NA", "nan")


def genotypes(place: Path, chunk: int | None = None, every: bool = False) -> Columns:
    """Open PLINK's .bed, with the names of its .bim and the phenotype of its .fam.

    Samples without a phenotype are left out, unless every sample is asked for: then without phenotypes.
    """
    bim, fam = (_lines(place.with_suffix(suffix)) for suffix in (".bim", ".fam"))
    n_bytes = -(-len(fam) // 4)
    with place.open("rb") as file:
        magic = file.read(3)
    if magic == BED_BY_SAMPLE:
        raise DataError(f"{quoted(place)} is stored by sample: make it anew with plink --make-bed")
    if magic != BED_MAGIC:
        raise DataError(f"{quoted(place)} is no PLINK .bed file")
    expected, size = 3 + n_bytes * len(bim), place.stat().st_size
    if size != expected:
        raise DataError(
            f"{quoted(place)} has {size:,} bytes where {len(fam):,} samples and {len(bim):,} variants take "
            f"{expected:,}: it is incomplete, or belongs to another .bim or .fam"
        )
    y, rows = (None, np.arange(len(fam))) if every else _phenotypes([row[5] for row in fam], place)
    names = [row[1] for row in bim]
    read = partial(_read_calls, str(place), n_bytes, None if len(rows) == len(fam) else rows, len(fam))
    X = StoredColumns(
        (len(rows), len(bim)),
        np.dtype(np.int8),
        read,
        tuple(str(place.with_suffix(suffix)) for suffix in (".bed", ".bim", ".fam")),
        missing=MISSING_CALL,
        width=chunk,
        pick=partial(_pick_calls, read),
        names=tuple(names) if len(set(names)) == len(names) else None,
    )
    positions = np.array([row[0] for row in bim]), np.array([_number(row[3], place) for row in bim])
    return Columns(X, names, y, [fam[row][1] for row in rows], positions)


def _lines(path: Path, n_fields: int = 6) -> list[list[str]]:
    """Read a file of fields between spaces."""
    if not path.exists():
        raise DataError(f"there is no {quoted(path)}, which belongs to the .bed beside it")
    with parsing(path, "PLINK"):
        rows = [line.split() for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    short = next((n for n, row in enumerate(rows, 1) if len(row) != n_fields), None)
    if short is not None or not rows:
        where = "it is empty" if short is None else f"line {short} has {len(rows[short - 1])}"
        raise DataError(f"{quoted(path)} must have {n_fields} fields in each line; {where}")
    return rows


def _phenotypes(texts: list[str], place: Path) -> tuple[Array | None, Ints]:
    """Read phenotypes, and the samples that have one; None and all of them where none has.

    Where all are 0, 1 and 2, these are missing, controls and cases, as PLINK has them.
    """
    values = np.array([np.nan if text in NO_PHENOTYPE else _number(text, place) for text in texts])
    known = ~np.isnan(values)
    classes = bool(np.isin(values[known], (0, 1, 2)).all())
    known &= ~(classes & (values == 0))
    if not known.any():
        return None, np.arange(len(texts))
    if not known.all():
        warnings.warn(
            f"{int((~known).sum()):,} of {len(texts):,} samples of {quoted(place)} have no phenotype and are "
            "left out.",
            UserWarning,
            stacklevel=4,
        )
    y = values[known]
    return y.astype(np.int64) if classes else y, np.flatnonzero(known)


def _number(text: str, place: Path) -> float:
    if not is_number(text):
        raise DataError(f"{quoted(text)} beside {quoted(place)} is no number")
    return float(text)


def _read_calls(path: str, n_bytes: int, rows: Ints | None, n_samples: int, start: int, stop: int) -> Array:
    """Read the calls of some variants, which lie one after the other, four in a byte."""
    packed = np.empty((stop - start, n_bytes), np.uint8)
    with Path(path).open("rb", buffering=0) as file:
        fill(file, packed, 3 + start * n_bytes, path)
    calls = CALLS.take(packed, axis=0).reshape(stop - start, 4 * n_bytes)
    return np.ascontiguousarray(calls[:, :n_samples] if rows is None else calls[:, rows]).T


def _pick_calls(read: Any, features: Ints) -> Array:
    return np.concatenate([read(j, j + 1) for j in features.tolist()], axis=1)


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
    paths = tuple(map(str, files))
    read = partial(read_block, paths, target, n_samples)
    X = StoredColumns(
        (n_samples, len(features)),
        np.dtype(np.float64),
        partial(_span, read),
        paths,
        width=chunk or _usual_width(n_samples),
        pick=read,
        names=tuple(features),
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
    fitting = max(1, READ_BYTES // (8 * n_samples))
    return fitting // ALIGNED * ALIGNED or fitting


def _span(read: Any, start: int, stop: int) -> Array:
    return np.asarray(read(np.arange(start, stop)))


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


def read_block(files: tuple[str, ...], target: str | None, n_samples: int, features: Ints) -> Floats:
    """Read some columns of all files."""
    from pyarrow import parquet

    with parsing(Path(files[0]), "Parquet"):
        every = [name for name in parquet.read_schema(files[0]).names if name != target]
    names = [every[j] for j in features.tolist()]
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


def _zarr(place: Path, target: str | None, chunk: int | None) -> Columns:
    zarr = extra("zarr")
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
    width = _whole_chunks(place, X.shape, X.dtype.itemsize, X.chunks[1], chunk)
    if y is not None:
        if y.shape[:1] != X.shape[:1]:
            raise DataError(f"y of {quoted(place)} holds {_described(y)} where X has {X.shape[0]:,} samples")
        check_table(prod(y.shape), 1, quoted(place))
        with parsing(place, "Zarr"):
            y = np.asarray(y[:])
    read = partial(_read_zarr, str(place), None if alone else "X")
    stored = StoredColumns(tuple(X.shape), X.dtype, read, (str(place),), width=width)
    return Columns(stored, _numbered(X.shape[1]), y)


def _read_zarr(path: str, name: str | None, start: int, stop: int) -> Array:
    import zarr

    with parsing(Path(path), "Zarr"):
        found: Any = zarr.open(path, mode="r")
        block = np.asarray((found if name is None else found[name])[:, start:stop])
        if too_large(block):
            raise DataError(f"the array of {quoted(Path(path))} has {LARGE}, which would be rounded")
        return block


def _refuse_pickles(array: Any, place: Path) -> None:
    """Refuse chunks that are packed as pickled objects; newer versions of numcodecs refuse them too."""
    metadata = getattr(array, "metadata", None)
    codecs = (*(getattr(metadata, "filters", None) or ()), getattr(metadata, "compressor", None))
    if any(getattr(codec, "codec_id", None) == "pickle" for codec in codecs):
        raise DataError(f"{quoted(place)} holds pickled objects, refused as they can run any code")
