"""`load_features`: the features of an earlier selection, from new data that may have no target."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from infused._typing import Floats
from infused.data.columns import check_unique
from infused.data.content import Matrix, ReadOptions, Table
from infused.data.errors import DataError, count, listed, quoted
from infused.data.load import read_source
from infused.data.missing import check_impute, fill_missing, refuse_infinite
from infused.data.one_hot import filled_texts, indicators
from infused.data.prepare import Features, column_names
from infused.data.table import column_kind, feature_matrix, plain

__all__ = ["load_features"]


def load_features(
    source: str | PathLike[str],
    features: Sequence[str],
    *,
    x_key: str | None = None,
    impute: str | None = None,
    separator: str | None = None,
    encoding: str | None = None,
    header: bool = True,
) -> Features:
    """Read these features alone, in this order; what else the file holds does not matter.

    A feature ``column=value`` that `load_data` made with ``one_hot`` is made again from its column. The other
    parameters are those of `load_data`. A feature that the file lacks raises `DataError`.
    """
    check_impute(impute)
    options = ReadOptions(None, x_key, None, separator, encoding, header, part="features")
    content, _, origin = read_source(source, options)
    where = quoted(Path(origin))
    if not features:
        raise DataError(f"no features to read from {where}")
    check_unique(features, "the list of features")
    if isinstance(content, Table) and content.columns.num_rows == 0:
        raise DataError(f"{where} has a header and no rows")
    position = {name: j for j, name in enumerate(column_names(content, where))}
    table: Any = content.columns if isinstance(content, Table) else None
    made = {name: _one_hot(table, name, impute) for name in features if name not in position}
    absent = [name for name, column in made.items() if column is None]
    if absent:
        have = "has" if len(absent) == 1 else "have"
        raise DataError(f"{count(len(absent), 'feature')} {have} no column in {where}: {listed(absent)}")
    stored = [position[name] for name in features if name in position]
    notes: list[str] = []
    if isinstance(content, Matrix):
        X = content.X[:, stored]
    else:
        X, _, notes = feature_matrix(table.select(stored), keep=features, one_hot=False, impute=impute)
        X = _woven(X, features, made)
    X, filled = fill_missing(X, features, impute)
    refuse_infinite(X, features)
    return Features(X, tuple(features), (*notes, *filled))


def _one_hot(table: Any, name: str, impute: str | None) -> Floats | None:
    """The 0/1 column of ``column=value``, where the table has such a column of text."""
    for j, letter in enumerate(name):
        if table is not None and letter == "=" and name[:j] in table.column_names:
            column = table.column(name[:j])
            if column_kind(column.type) == "text":
                texts = filled_texts(name[:j], plain(column), impute)
                return indicators(texts, [name[j + 1 :]])[:, 0]
    return None


def _woven(X: Floats, features: Sequence[str], made: dict[str, Any]) -> Floats:
    """The stored and the made columns in the order of the features."""
    if not made:
        return X
    stored = iter(X.T)
    return np.column_stack([made[name] if name in made else next(stored) for name in features])
