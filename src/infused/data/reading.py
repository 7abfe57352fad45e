"""What every reader takes and returns: options, then a table of columns or a matrix of numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from numbers import Integral
from os import PathLike, fspath
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, TypeAlias

import numpy as np

from infused._runtime.checks import EXACT, FEATURE_BYTES, check_characters, check_table, in_double, sound
from infused._runtime.messages import check_choice, count, quoted, reason
from infused._typing import Array, Data, Floats
from infused.exceptions import InputError, Setting
from infused.samples import Samples

#: "texts" are features whose types are known: a text file gives every value as it is written.
Part: TypeAlias = Literal["both", "features", "target", "texts"]
GridOrder: TypeAlias = Literal["rows", "columns"]

IMPUTES = ("mean", "median", "most-frequent", "zero", "error")
CATEGORIES = ("whole", "error")
DATES = ("day-first", "month-first")
TASKS = ("classification", "regression")
TARGET_NAMES = {"target", "label", "labels", "class", "y", "diagnosis", "outcome", "response", "species"}
MANY_TARGETS = 1000  # columns: more are meant as values
LARGE = "whole numbers beyond 2^53"
REFUSED = {
    "O": "is an array of objects",
    "V": "is an array of records",
    "c": "holds complex numbers",
    "U": "holds text",
    "S": "holds text",
    "M": "holds dates",
    "m": "holds durations",
}


@dataclass(frozen=True)
class ReadOptions:
    """Options of reading data: what :func:`load_data` takes and a record keeps.

    Parameters
    ----------
    target : str, int, tuple of them or None, default=None
        The column of the target by name or by position (from 0; negative counts from the end), in a table,
        in the ``obs`` of AnnData, or in ``target_file`` if that is given. Several columns of numbers are
        predicted together.
    log_target : bool, default=False
        Whether to predict log(1 + target), for amounts that few rows have much of.
    time, event : str, int or None, default=None
        In the place of a target, the columns of survival: when an event happened, or until when it had not,
        and whether it happened (1 or 0, yes or no, dead or alive).
    target_file : str or None, default=None
        A second file with the target.
    join : str or None, default=None
        The column that both files have and that tells their rows apart. By default it is found; where neither
        file has one, rows are joined by position.
    transpose : bool, default=False
        Whether features are the rows of the source, as genes often are. The first column of text names them.
    sheet : str, int or None, default=None
        The sheet of an Excel file by name or by position from 0; the first by default.
    x_key : str or None, default=None
        The array of the features in .mat and .npz files; by default X, fea, data and the like. For AnnData,
        a layer.
    y_key : str or None, default=None
        The array of the target in .mat and .npz files; by default Y, gnd, target and the like.
    drop : tuple of str or int, default=()
        Columns to leave out.
    use : tuple of str or int, default=()
        Columns to use although they look like identifiers, are row labels, hold numbers that will be rounded,
        or hold numbers in several units.
    impute : {"median", "mean", "most-frequent", "zero", "error"} or None, default=None
        How missing numbers are filled when columns for a selector are made; None for the median, "error"
        to refuse missing values.
    one_hot : bool, default=False
        Make a 0/1 column ``column=value`` of each value of a text column, each a feature of its own;
        otherwise the column is one feature.
    categories : {"whole", "error"}, default="whole"
        "error" to refuse columns of text; otherwise each is a categorical column, selected as a whole.
    as_category : tuple of str or int, default=()
        Columns of numbers that are codes of categories.
    text : tuple of str or int, default=()
        Columns of free text, whose words are counted: each word that enough rows have is a feature.
    missing : tuple of str, default=()
        Texts that stand for a missing value, beside the usual spellings (empty, ?, NA, n/a, NaN, null).
    dates : {"day-first", "month-first"} or None, default=None
        What comes first in dates such as 01/02/2020. A column in which some number is larger than 12 shows
        it; any other is read with the month before a slash and the day before a point or a dash, and
        a note says so.
    keep_duplicates : bool, default=False
        Whether exact duplicates of a column may be selected beside it.
    separator : str or None, default=None
        The character between the values of a text table; found by default.
    encoding : str or None, default=None
        The encoding of a text file; UTF-8 by default.
    header : bool, default=True
        Whether the first line of a text table holds names.
    task : {"classification", "regression"} or None, default=None
        By default, texts are classes and fractions are continuous; whole numbers are classes if there are
        at most 20 different ones or at least 10 samples for each; several target columns are continuous.
    grid : tuple of int or None, default=None
        Rows and columns of the picture whose pixels are the features.
    sample_groups : str, int, array or None, default=None
        A column, or one value per row, of what rows belong to, such as a patient: folds and half-samples keep
        its rows together. The column is no feature.
    order : str, int, array or None, default=None
        A column, or one value per row, of numbers or dates by which rows follow one another: models are
        tested on later rows. The column is no feature.
    blocks : mapping, str, sequence of str or None, default=None
        Kinds of features, such as clinical, RNA and protein: a mapping from the name of a block to features,
        to what their names begin with, or to a file of their own, whose rows are joined by the column that
        tells samples apart; or texts such as ``"rna_"`` and ``"rna=rna.csv"``. The others are a block of
        their own.

    See Also
    --------
    load_data : Read data with them.

    Examples
    --------
    >>> from infused.data import ReadOptions
    >>> options = ReadOptions.make(target="kind", drop="id")
    >>> options.given()
    {'target': 'kind', 'drop': ('id',)}
    >>> options.updated(drop=["id", "name"]).given()
    {'target': 'kind', 'drop': ('id', 'name')}
    """

    target: str | int | tuple[str | int, ...] | None = None
    log_target: bool = False
    time: str | int | None = None
    event: str | int | None = None
    target_file: str | None = None
    join: str | None = None
    transpose: bool = False
    sheet: str | int | None = None
    x_key: str | None = None
    y_key: str | None = None
    drop: tuple[str | int, ...] = ()
    use: tuple[str | int, ...] = ()
    impute: str | None = None
    one_hot: bool = False
    categories: str = "whole"
    as_category: tuple[str | int, ...] = ()
    text: tuple[str | int, ...] = ()
    missing: tuple[str, ...] = ()
    dates: str | None = None
    keep_duplicates: bool = False
    separator: str | None = None
    encoding: str | None = None
    header: bool = True
    task: str | None = None
    grid: tuple[int, int] | None = None
    sample_groups: str | int | tuple[int, ...] | None = None
    order: str | int | tuple[int, ...] | None = None
    blocks: dict[str, tuple[str | int, ...]] | None = None

    def __post_init__(self) -> None:
        targets = () if self.target is None else several(self.target)
        if len(set(targets)) < len(targets) or not all(isinstance(one, str | int) for one in targets):
            raise InputError(
                Setting("target"), " takes names or positions of columns: give values as a pair (X, y)"
            )
        if (self.time is None) != (self.event is None):
            absent, other = ("event", "time") if self.event is None else ("time", "event")
            raise InputError(Setting(other), " needs ", Setting(absent), " beside it: give both columns")
        if self.time is not None and self.target is not None:
            raise InputError(
                Setting("target"), " and ", Setting("time"), " exclude each other: leave one out"
            )
        check_choice("categories", self.categories, CATEGORIES)
        for name, choices in (("impute", IMPUTES), ("dates", DATES), ("task", TASKS)):
            if getattr(self, name) is not None:
                check_choice(name, getattr(self, name), choices)
        if self.grid is not None and (len(self.grid) != 2 or min(self.grid) < 1):
            raise InputError(Setting("grid", self.grid), " must be a number of rows and a number of columns")

    @classmethod
    def make(cls, **options: Any) -> ReadOptions:
        """Check options as people give them: one column or several, paths of any kind, lists for tuples.

        Parameters
        ----------
        **options : dict
            Options by name; None stands for the default.

        Returns
        -------
        ReadOptions
            The same options in one form.
        """
        return cls().updated(**options)

    @classmethod
    def split(cls, **options: Any) -> tuple[ReadOptions, dict[str, Any]]:
        """Split options by name into those of reading data, checked, and the others.

        Parameters
        ----------
        **options : dict
            Options by name; None stands for the default.

        Returns
        -------
        ReadOptions
            Those that are its fields.
        dict
            The others.
        """
        own = {field.name: options.pop(field.name) for field in fields(cls) if field.name in options}
        return cls.make(**own), options

    def updated(self, **options: Any) -> ReadOptions:
        """Return these options with some of them replaced.

        Parameters
        ----------
        **options : dict
            Options by name, as :meth:`make` takes them; None changes nothing.

        Returns
        -------
        ReadOptions
            The options after the change.
        """
        unknown = options.keys() - {field.name for field in fields(self)}
        if unknown:
            raise InputError(f"there is no option {sorted(unknown)[0]!r} for reading data")
        given = {name: value for name, value in options.items() if value is not None}
        if np.ndim(given.get("target", "")) == 1 and len(given["target"]) < MANY_TARGETS:
            given["target"] = tuple(given["target"]) if len(given["target"]) > 1 else given["target"][0]
        for name in {"target", "time", "event"} & given.keys():
            if isinstance(given[name], Integral):
                given[name] = int(given[name])
        for name in {"drop", "use", "as_category", "text", "missing"} & given.keys():
            given[name] = several(given[name])
        if "missing" in given:
            given["missing"] = tuple(map(str, given["missing"]))
        if "target_file" in given:
            given["target_file"] = fspath(given["target_file"])
        if "grid" in given:
            given["grid"] = tuple(given["grid"])
        for name in {"sample_groups", "order"} & given.keys():
            given[name] = _column_or_codes(name, given[name])
        if "blocks" in given:
            given["blocks"] = _blocks(given["blocks"])
        return replace(self, **given)

    def given(self) -> dict[str, Any]:
        """Return the options that differ from their defaults.

        Returns
        -------
        dict
            Options by name.
        """
        every = ((field, getattr(self, field.name)) for field in fields(self))
        return {field.name: value for field, value in every if value != field.default}


def _column_or_codes(name: str, value: Any) -> Any:
    """Return a column as it is given; of an array the codes, by which a record can repeat a selection."""
    if isinstance(value, str):
        return value
    if isinstance(value, Integral):
        return int(value)
    grouped = name == "sample_groups"
    samples = Samples.given(value if grouped else None, None if grouped else value, len(value))
    codes = samples.groups if grouped else samples.order
    return None if codes is None else tuple(codes.tolist())


def _blocks(given: Any) -> dict[str, tuple[str | int, ...]]:
    """Read blocks from a mapping, or from texts: what names begin with, or ``block=features or file``."""
    if isinstance(given, Mapping):
        pairs = [
            (name, [value] if isinstance(value, str | PathLike | Integral) else value)
            for name, value in given.items()
        ]
    else:
        texts = several(given)
        if not all(isinstance(text, str) for text in texts):
            raise InputError(Setting("blocks"), " must be a mapping from blocks to features, or texts")
        parts = [str(text).partition("=") for text in texts]
        pairs = [(a, [b]) if equals else (a.rstrip("_-.:| "), [a]) for a, equals, b in parts]
    found: dict[str, tuple[str | int, ...]] = {}
    for name, values in pairs:
        entries = tuple(int(one) if isinstance(one, Integral) else fspath(one) for one in values)
        if not isinstance(name, str) or not name or not entries or "" in entries:
            raise InputError(Setting("blocks"), f" gives no features for {name!r}: name some, or a file")
        found[name] = (*found.get(name, ()), *entries)
    if not found:
        raise InputError(Setting("blocks"), " names no block")
    return found


def several(columns: str | int | Iterable[str | int]) -> tuple[str | int, ...]:
    """Return one column or several as a tuple."""
    return (columns,) if isinstance(columns, str | int) else tuple(columns)


@dataclass(frozen=True)
class RawTable:
    """Columns of any type."""

    columns: Any
    """A pyarrow table."""
    y: Array | None = None
    """The target, where it came beside the columns; otherwise it is one of them."""
    target_name: str = "target"
    index: tuple[str, ...] = ()
    """Columns that were the row labels of a data frame."""
    notes: tuple[str, ...] = ()
    decimal: str = "."
    """The decimal sign of its texts."""
    lossy: frozenset[str] = frozenset()
    """Columns of which whole numbers lost digits when they were read."""


@dataclass(frozen=True)
class RawMatrix:
    """Features in one array, samples x features, dense or sparse, of any numeric type."""

    X: Data
    y: Array | None = None
    """As stored; None when there is none or it was not wanted."""
    target_name: str = "target"
    names: tuple[str, ...] | None = None
    """Feature names, where there are any."""
    grid_shape: tuple[int, int] | None = None
    """Rows and columns of the picture whose pixels are the features."""
    grid_order: GridOrder = "rows"
    """Whether the pixels are listed row by row or column by column."""


Raw: TypeAlias = RawTable | RawMatrix


def in_numbers(raw: Raw, where: str, transpose: bool = False) -> Raw:
    """Convert a matrix to float64 (CSR where it came sparse), which may share memory with the given.

    With ``transpose`` rows become columns, of a table too.
    """
    if isinstance(raw, RawTable):
        if raw.columns.num_columns == 0:
            raise DataError(f"{where} has no columns")
        return _transposed(raw, where) if transpose else raw
    X = _as_numbers(raw.X, where)
    if not transpose:
        return replace(raw, X=X)
    X = np.ascontiguousarray(X.T) if isinstance(X, np.ndarray) else X.T.tocsr()
    return RawMatrix(X, raw.y, raw.target_name)


def _transposed(raw: RawTable, where: str) -> RawTable:
    """Make columns of the rows of a table, named by its first column of text."""
    import pyarrow as pa

    table = raw.columns
    kinds = [column_kind(kind) for kind in table.schema.types]
    own = [table.column_names.index(name) for name in raw.index[:1]]
    label = next((j for j in (*own, *range(len(kinds))) if j in own or kinds[j] == "text"), None)
    if label is None:
        raise DataError(
            f"{where} has no column of text, which would name its rows: leave out ", Setting("transpose")
        )
    names = ["" if name is None else str(name) for name in plain_values(table.column(label)).to_pylist()]
    body = [column for j, column in enumerate(table.columns) if j != label]
    if all(kind == "number" for j, kind in enumerate(kinds) if j != label):
        rows = [
            pa.array(row, pa.float64(), from_pandas=True)
            for row in np.array([column_numbers(c)[0] for c in body]).T
        ]
    else:  # some rows hold texts, and which ones is found out as in any text table
        cells = [[None if v is None else str(v) for v in plain_values(c).to_pylist()] for c in body]
        rows = [pa.array(row, pa.string()) for row in zip(*cells, strict=True)]
    samples = next(name for name in ("sample", "sample name", "column of the source") if name not in names)
    others = [name for j, name in enumerate(table.column_names) if j != label]
    return replace(
        raw,
        columns=pa.Table.from_arrays([pa.array(others), *rows], names=[samples, *names]),
        index=(samples,),
        lossy=frozenset(names if raw.lossy else ()),
    )


def validated(columns: Any) -> Any:
    """Check a pyarrow table from a file: its offsets, which pyarrow trusts, and its texts."""
    columns.validate(full=True)
    "".join(columns.column_names)  # raises where a name is no UTF-8
    return columns


def as_array(values: Any, what: str) -> Array:
    """Convert to an array; masked fractions are NaN, masked whole numbers stay masked."""
    if isinstance(values, np.ma.MaskedArray) and values.dtype.kind in "biuf":
        return values if values.dtype.kind != "f" else np.ma.filled(in_double(values, what), np.nan)
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise DataError(f"{what} is no array: {reason(error)}") from error
    check_characters(array, what)
    return array


def _as_numbers(X: Any, where: str) -> Data:
    from scipy import sparse

    X = sound(X, f"X of {where}") if sparse.issparse(X) else as_array(X, f"X of {where}")
    if X.ndim != 2:
        shape = "x".join(map(str, X.shape)) or "one value"
        raise DataError(
            f"X of {where} has {count(X.ndim, 'dimension')} ({shape}); it must be samples x features"
        )
    if X.dtype.kind in REFUSED:
        raise DataError(f"X of {where} {REFUSED[X.dtype.kind]}; it must hold real numbers")
    X = in_double(X, f"X of {where}")
    values = X.data if sparse.issparse(X) else X
    if too_large(values):
        raise DataError(f"X of {where} has {LARGE}, which would be rounded: store it as float64")
    if not sparse.issparse(X):
        check_table(X.shape[0] if X.dtype != np.float64 else 0, X.shape[1], f"X of {where}", FEATURE_BYTES)
        return (
            np.ma.filled(X.astype(np.float64), np.nan)
            if np.ma.isMaskedArray(X)
            else np.asarray(X, np.float64)
        )
    check_table(0, X.shape[1], f"X of {where}", FEATURE_BYTES)
    result = sparse.csr_array(X, dtype=np.float64)
    if not result.data.all():
        result = result.copy()  # the user's matrix stays as it is
        result.eliminate_zeros()
    return result


def too_large(values: Array) -> bool:
    """Return whether whole numbers are beyond 2^53, where float64 cannot hold them all."""
    if values.dtype.kind not in "iu" or values.dtype.itemsize < 8 or not np.ma.count(values):
        return False
    return max(int(values.max()), -int(values.min())) >= EXACT


def column_kind(kind: Any) -> str:
    """Classify a pyarrow type as number, text, date, bytes or objects."""
    from pyarrow import types

    if types.is_dictionary(kind):
        return column_kind(kind.value_type)
    if types.is_floating(kind) or types.is_integer(kind) or types.is_boolean(kind):
        return "number"
    if types.is_null(kind) or types.is_decimal(kind):
        return "number"
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return "text"
    if types.is_temporal(kind):
        return "date"
    return "bytes" if "binary" in str(kind) else "objects"


def column_numbers(column: Any) -> tuple[Floats, str | None]:
    """Return a column of numbers as float64, and what of it float64 cannot hold, if anything.

    NaN stands for a missing value; booleans are 0 and 1.
    """
    import pyarrow as pa
    from pyarrow import compute, types

    column = plain_values(column)
    kind = column.type
    if types.is_null(kind):
        return np.full(len(column), np.nan), None
    if types.is_decimal(kind):
        return _decimals(column)
    if types.is_boolean(kind):
        column = compute.cast(column, pa.float64())
    values = np.asarray(column.to_numpy(), dtype=np.float64)
    large = types.is_int64(kind) or types.is_uint64(kind)
    return values, LARGE if large and (np.abs(values) >= EXACT).any() else None


def _decimals(column: Any) -> tuple[Floats, str | None]:
    """Read decimals by their texts: pyarrow's own cast is off in the last place of every third of them."""
    import pyarrow as pa
    from pyarrow import compute

    texts = compute.cast(column, pa.string())
    values = np.asarray(compute.cast(texts, pa.float64()).to_numpy(), dtype=np.float64)
    if (np.abs(values) >= EXACT).any():
        return values, LARGE
    merged = len(texts.unique().drop_null()) > len(np.unique(values[~np.isnan(values)]))
    return values, "decimals that float64 cannot tell apart" if merged else None


def large_floats(table: Any) -> list[int]:
    """Return the columns of a pyarrow table that were read as fractions and hold numbers of 2^53 or more."""
    from pyarrow import compute, types

    found = []
    for j, column in enumerate(table.columns):
        if types.is_floating(column.type):
            ends = compute.min_max(column).as_py()
            if ends["max"] is not None and max(ends["max"], -ends["min"]) >= EXACT:
                found.append(j)
    return found


def plain_values(column: Any) -> Any:
    """Decode categories to their values; strip spaces around texts, null where nothing is left."""
    import pyarrow as pa
    from pyarrow import compute, types

    text = column_kind(column.type) == "text"
    if types.is_dictionary(column.type):
        kind = pa.string() if text else column.type.value_type
        values = [compute.take(compute.cast(c.dictionary, kind), c.indices) for c in column.chunks]
        column = pa.chunked_array(values, kind)  # a cast of the whole cannot decode polars' categories
    if not text:
        return column
    trimmed = compute.utf8_trim_whitespace(compute.cast(column, pa.string()))
    return compute.if_else(compute.equal(trimmed, ""), None, trimmed)


def likely_targets(table: Any) -> list[str]:
    """Guess the columns that may be the target: by their names, then the last and the first."""
    names = table.column_names
    known = [name for name in names if name.strip().casefold() in TARGET_NAMES]
    return list(dict.fromkeys([*known, names[-1], names[0]]))


class DataError(InputError):
    """The data cannot be used as they are; one line names the culprit and the option that helps.

    See Also
    --------
    load_data : Raises it.

    Examples
    --------
    >>> from infused.data import DataError, dataset_info
    >>> try:
    ...     dataset_info("wines")
    ... except DataError as error:
    ...     print(error)
    no data are named 'wines'; did you mean 'wine'?
    """


@contextmanager
def parsing(path: Path, what: str) -> Iterator[None]:
    """Turn whatever a library raises on a damaged file into a `DataError` that names the file.

    Truncated files make the parsers fail in many ways (``zlib.error``, ``struct.error``, ``KeyError``),
    so every exception counts; wrap the library's call alone, never code of ours.
    """
    try:
        yield
    except (InputError, MemoryError):
        raise
    except Exception as error:
        message = f"{quoted(path)} could not be read as {what}; is it complete? ({reason(error)})"
        raise DataError(message) from error


@contextmanager
def temporary(name: str, shown: str) -> Iterator[Path]:
    """Make a file of this name that is gone afterwards; messages about it name what the user gave."""
    with TemporaryDirectory(prefix="infused-") as folder:
        file = Path(folder) / f"data-{name}"  # CON.csv alone would be a device on Windows
        try:
            yield file
        except InputError as error:
            stem = repr(str(file))[:-1]  # also where a suffix was added
            told = [
                part if not isinstance(part, str) or stem not in part else _renamed(part, stem, shown)
                for part in error.parts
            ]
            if told == list(error.parts):
                raise
            raise type(error)(*told) from error


def _renamed(text: str, stem: str, shown: str) -> str:
    before, _, after = text.partition(stem)
    return before + shown + after.partition("'")[2]
