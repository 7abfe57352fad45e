"""What a reader returns: a table of columns, or a matrix that may bring its target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from infused._typing import Array, Data

__all__ = ["Content", "GridOrder", "Matrix", "Part", "ReadOptions", "Table", "Task"]

Task: TypeAlias = Literal["classification", "regression"]
Part: TypeAlias = Literal["both", "features", "target"]
GridOrder: TypeAlias = Literal["rows", "columns"]


@dataclass(frozen=True)
class ReadOptions:
    """What a caller may tell a reader; a reader names those that it heeds when it is registered."""

    target: str | int | None = None
    """The target's column, by name or by position."""
    x_key: str | None = None
    """Where the features are in a file of several arrays."""
    y_key: str | None = None
    """Where the target is in a file of several arrays."""
    separator: str | None = None
    """The character between two values of a text table; None to find it out."""
    encoding: str | None = None
    """Of a text file; None for UTF-8."""
    header: bool = True
    """Whether the first line of a text table holds names."""
    part: Part = "both"
    """What is wanted of this file."""


@dataclass(frozen=True)
class Table:
    """Columns of any type; the target is one of them."""

    columns: Any
    """A pyarrow table."""
    index: tuple[str, ...] = ()
    """Columns that were the row labels of a data frame."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Matrix:
    """Features in one array, samples x features, dense or sparse, of any numeric type."""

    X: Data
    y: Array | None = None
    """As stored; None when the file has none or it was not wanted."""
    names: tuple[str, ...] | None = None
    """Feature names, where the file has them."""
    target_name: str = "target"
    grid_shape: tuple[int, int] | None = None
    """Rows and columns of the picture whose pixels are the features."""
    grid_order: GridOrder = "rows"
    """Whether the pixels are listed row by row or column by column."""


Content: TypeAlias = Table | Matrix
