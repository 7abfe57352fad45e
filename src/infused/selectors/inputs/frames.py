"""Data frames as they come: numbers stay numbers, and whatever is text becomes the codes of its levels.

pandas, polars and Arrow tables are taken by what they are, none of them is imported here.
"""

from __future__ import annotations

from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

from infused._runtime.messages import quoted, reason
from infused._typing import Array, Floats
from infused.coding import Levels
from infused.exceptions import InputError

NUMBER, TEXT, TRUTH, OTHER = "number", "text", "truth", "other"


def coded_frame(X: Any) -> tuple[Floats, Levels] | None:
    """Return the columns of a frame as numbers, and the levels of categories; None where all are numbers.

    Texts, categories and whatever else a column of objects holds are levels, sorted, by their texts; those of
    a categorical type are in its own order. Their columns hold codes, and NaN for a missing value. Truth is a
    number, 0 or 1, or with missing values two levels. Dates, lists and the like are refused.
    """
    library = _library(X)
    if library is None:
        return None
    kinds = _kinds(X, library)
    if all(kind == NUMBER for kind in kinds):
        return None
    columns = [_column(X, j, library) for j in range(X.shape[1])]
    names = names_of_frame(X)
    values, levels = np.empty((X.shape[0], len(columns))), []
    for j, (column, kind) in enumerate(zip(columns, kinds, strict=True)):
        if kind == NUMBER:
            values[:, j], own = _numbers(column, library), None
        elif kind == TEXT:
            values[:, j], own = _coded(column, library, names[j])
        else:
            raise _refused(names[j], f"{column.dtype if library != 'pyarrow' else column.type}")
        levels.append(own)
    return None if all(own is None for own in levels) else (values, tuple(levels))


def names_of_frame(X: Any) -> list[str]:
    """List the names of the columns of a frame."""
    return [str(name) for name in (X.column_names if _library(X) == "pyarrow" else X.columns)]


def has_texts(X: Any) -> bool:
    """Return whether X is a frame of which some columns are not of numbers."""
    library = _library(X)
    if library is None:
        return False
    return any(kind != NUMBER for kind in _kinds(X, library))


def kept_columns(X: Any, mask: Array, container: str) -> Any:
    """Take some columns of a frame: as "pandas" or "polars" have it, or by "default" as an array."""
    library = _library(X)
    places = np.flatnonzero(mask).tolist()
    if library == "pandas":
        kept = X.iloc[:, places]
    else:
        kept = X.select([X.columns[j] for j in places]) if library == "polars" else X.select(places)
    if container == "polars":
        return kept if library == "polars" else _in_polars(kept)
    if library == "polars":
        kept = _with_known_integers(kept)
    if container == "pandas" or library == "pyarrow":
        kept = kept if library == "pandas" else kept.to_pandas()
    return kept if container == "pandas" else kept.to_numpy()


def _in_polars(X: Any) -> Any:
    """Convert a frame of pandas or Arrow to polars."""
    import polars

    try:
        return polars.DataFrame(X)
    except (ValueError, TypeError, OverflowError) as error:
        names = X.column_names if hasattr(X, "column_names") else X.columns
        for j, name in enumerate(names):
            try:
                polars.DataFrame(X.iloc[:, [j]] if hasattr(X, "iloc") else X.select([j]))
            except (ValueError, TypeError, OverflowError) as own:
                raise InputError(f"polars cannot hold column {quoted(name)}: {reason(own)}") from error
        raise InputError(f"polars cannot hold these columns: {reason(error)}") from error


def _with_known_integers(X: Any) -> Any:
    """Convert integers of 128 bits, which polars alone has, to floating-point numbers."""
    import polars

    large = [
        name for name, type_ in zip(X.columns, X.dtypes, strict=True) if str(type_) in ("Int128", "UInt128")
    ]
    return X.with_columns(polars.col(large).cast(polars.Float64)) if large else X


def _library(X: Any) -> str | None:
    name = type(X).__name__
    if name == "DataFrame" and type(X).__module__.startswith("polars."):
        return "polars"
    if name == "Table" and type(X).__module__.startswith("pyarrow."):
        return "pyarrow"
    return "pandas" if hasattr(X, "iloc") and hasattr(X, "dtypes") and hasattr(X, "columns") else None


def _column(X: Any, j: int, library: str) -> Any:
    if library == "pandas":
        return X.iloc[:, j]
    return X.to_series(j) if library == "polars" else X.column(j)


def _kinds(X: Any, library: str) -> list[str]:
    """Tell for each column whether it holds numbers, texts, or neither."""
    if library == "pandas":
        kinds = [_kind_in_pandas(type_) for type_ in X.dtypes]
    elif library == "polars":
        kinds = [_kind_in_polars(type_) for type_ in X.dtypes]
    else:
        kinds = [_kind_in_arrow(type_) for type_ in X.schema.types]
    for j in (j for j, kind in enumerate(kinds) if kind == TRUTH):
        column = _column(X, j, library)
        missing = column.isna().any() if library == "pandas" else _n_missing(column) > 0
        kinds[j] = TEXT if missing else NUMBER
    return kinds


def _n_missing(column: Any) -> int:
    """Count the missing values of a column of polars or Arrow."""
    n = column.null_count
    return int(n() if callable(n) else n)


def _kind_in_polars(type_: Any) -> str:
    if type_.is_numeric() or str(type_) == "Boolean":
        return NUMBER if type_.is_numeric() else TRUTH
    return TEXT if str(type_).split("(")[0] in ("String", "Categorical", "Enum", "Null") else OTHER


def _kind_in_arrow(type_: Any) -> str:
    from pyarrow import types

    if types.is_boolean(type_):
        return TRUTH
    if any(is_one(type_) for is_one in (types.is_integer, types.is_floating, types.is_decimal)):
        return NUMBER
    texts = (types.is_dictionary, types.is_string, types.is_large_string, types.is_string_view, types.is_null)
    return TEXT if any(is_one(type_) for is_one in texts) else OTHER


def _kind_in_pandas(type_: Any) -> str:
    kind, name = getattr(type_, "kind", "O"), type(type_).__name__
    if name == "CategoricalDtype" or name == "StringDtype":
        return TEXT
    if kind in "biuf":
        return TRUTH if name in ("BooleanDtype", "ArrowDtype") and kind == "b" else NUMBER
    if name == "ArrowDtype":
        return TEXT if str(type_).startswith(("string", "large_string", "dictionary")) else OTHER
    return TEXT if kind in "OUS" and name not in ("IntervalDtype", "PeriodDtype") else OTHER


def _numbers(column: Any, library: str) -> Floats:
    """Return the numbers of a column, NaN for missing values."""
    if library == "pandas":
        return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
    if library == "pyarrow":
        return np.array([np.nan if v is None else float(v) for v in column.to_pylist()], dtype=np.float64)
    import polars

    return np.asarray(column.cast(polars.Float64).to_numpy(), dtype=np.float64)


def _coded(column: Any, library: str, name: str) -> tuple[Floats, tuple[str, ...] | None]:
    """Return the codes of a column and its levels; for numbers among objects the numbers, and None."""
    own = getattr(column, "cat", None) if library == "pandas" else None
    if own is not None:
        codes = own.codes.to_numpy().astype(np.float64)
        used = np.unique(codes[codes >= 0]).astype(np.int64)
        levels = tuple(str(level) for level in own.categories[used])
        if len(set(levels)) == len(levels):
            return np.where(codes < 0, np.nan, np.searchsorted(used, codes)), levels
    cells = column.to_list() if library != "pyarrow" else column.to_pylist()
    given = [_is_given(cell) for cell in cells]
    present = [cell for cell, there in zip(cells, given, strict=True) if there]
    values = np.full(len(cells), np.nan)
    where = np.flatnonzero(given)
    truth = all(isinstance(cell, bool | np.bool_) for cell in present) and len(present) < len(cells)
    numbers = all(isinstance(cell, Real | Decimal | np.bool_) for cell in present)
    if present and numbers and not truth and own is None:
        try:
            values[where] = [float(cell) for cell in present]
        except OverflowError as error:
            raise InputError(
                f"column {quoted(name)} holds whole numbers beyond the range of floating-point ones: scale "
                "it, make texts of it, or leave it out"
            ) from error
        return values, None
    odd = next((cell for cell in present if not isinstance(cell, str | Real | Decimal | np.bool_)), None)
    if odd is not None:
        raise _refused(name, f"values such as {quoted(odd)}")
    texts, codes = np.unique(np.array([str(cell) for cell in present], dtype=object), return_inverse=True)
    values[where] = codes
    return values, tuple(texts.tolist())


def _is_given(cell: Any) -> bool:
    """Return whether there is a value: None, NaN and pandas' NA are missing values."""
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):
        return False
    return not (isinstance(cell, float | np.floating) and np.isnan(cell))


def _refused(name: str, what: str) -> InputError:
    return InputError(
        f"column {quoted(name)} holds {what}, which is neither a number nor a text: make numbers of it, such "
        "as the years of dates, or leave it out"
    )
