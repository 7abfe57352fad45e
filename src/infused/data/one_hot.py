"""Text columns as 0/1 columns, one for each value."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from infused._typing import Floats
from infused.data.errors import DataError, quoted, repeated

__all__ = ["LIMIT", "filled_texts", "indicators", "one_hot_columns"]

LIMIT = 100  # different values of one column that may become columns of their own


def one_hot_columns(name: str, column: Any, impute: str | None) -> tuple[tuple[str, ...], Floats, int]:
    """``column=value`` for every value in alphabetical order, the 0/1 columns, and how many were filled.

    A missing text is filled with the most frequent one, or with "zero" becomes a row of zeros.
    """
    from pyarrow import compute

    present = compute.drop_null(compute.unique(column))
    if len(present) > LIMIT:
        raise DataError(
            f"column {quoted(name)} has {len(present):,} different texts, more than the {LIMIT} that "
            f"--one-hot makes columns of: leave it out with {repeated('--drop', [name])}"
        )
    values = sorted(present.to_pylist())
    names = tuple(f"{name}={value}" for value in values)
    return names, indicators(filled_texts(name, column, impute), values), column.null_count


def filled_texts(name: str, column: Any, impute: str | None) -> Any:
    """The column with the most frequent text (the first of equals) where one is missing; not with "zero"."""
    from pyarrow import compute

    if column.null_count and impute is None:
        raise DataError(
            f"column {quoted(name)} misses {column.null_count:,} of its texts: fill them with "
            f"--impute most-frequent, or leave it out with {repeated('--drop', [name])}"
        )
    texts = Counter(sorted(text for text in column.to_pylist() if text is not None))
    if not column.null_count or not texts or impute == "zero":
        return column
    return compute.fill_null(column, texts.most_common(1)[0][0])


def indicators(column: Any, values: list[str]) -> Floats:
    """1 where the column holds the value, 0 elsewhere and where it is missing; one column for each value."""
    import pyarrow as pa
    from pyarrow import compute

    codes = compute.fill_null(compute.index_in(column, pa.array(values, column.type)), -1).to_numpy()
    result: Floats = np.equal(codes[:, None], np.arange(len(values))).astype(np.float64)
    return result
