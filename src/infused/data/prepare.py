"""From what a reader returned to features that a selector can take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from infused._typing import Data
from infused.data.columns import check_unique, find_columns, numbered
from infused.data.content import Content, Matrix, Table
from infused.data.errors import DataError, count, listed, quoted
from infused.data.identifiers import numeric_identifiers, refuse_identifiers
from infused.data.missing import constant_columns, fill_missing, refuse_infinite
from infused.data.table import feature_matrix

__all__ = ["Features", "Treatment", "column_names", "prepare_features"]


@dataclass(frozen=True)
class Treatment:
    """What a caller asks to be done with the columns."""

    drop: tuple[str | int, ...] = ()
    keep: tuple[str | int, ...] = ()
    impute: str | None = None
    one_hot: bool = False


@dataclass(frozen=True)
class Features:
    """Finite numbers, samples x features, with names."""

    X: Data
    feature_names: tuple[str, ...]
    notes: tuple[str, ...] = ()


def column_names(content: Content, where: str) -> tuple[str, ...]:
    """The names of all columns, each of which must be there once."""
    if isinstance(content, Table):
        names = tuple(content.columns.column_names)
    else:
        n_columns = content.X.shape[1]
        names = numbered(n_columns) if content.names is None else content.names
        if len(names) != n_columns:
            raise DataError(
                f"{where} has {count(len(names), 'feature name')} for {count(n_columns, 'column')} of X"
            )
    check_unique(names, where)
    return names


def prepare_features(
    content: Content, treatment: Treatment, where: str, target: int | None = None
) -> Features:
    """Every column but the target and what is left out, as finite numbers; or an error with the culprit."""
    names = column_names(content, where)
    keep = [names[j] for j in find_columns(names, treatment.keep, "--keep")]
    positions, notes = _remaining(content, names, treatment, keep, target)
    if not positions:
        raise DataError(f"{where} has no feature columns beside the target and what is left out")
    features = _numbers(content, names, positions, treatment, keep, where)
    X, names = features.X, features.feature_names
    if X.shape[0] < 2:
        raise DataError(f"{where} has {count(X.shape[0], 'row')} of data; at least two are needed")
    refuse_identifiers(numeric_identifiers(X, names, keep))
    X, filled = fill_missing(X, names, treatment.impute)
    refuse_infinite(X, names)
    return Features(X, names, (*notes, *features.notes, *filled, *_constant(X, names)))


def _remaining(
    content: Content, names: tuple[str, ...], treatment: Treatment, keep: Sequence[str], target: int | None
) -> tuple[list[int], list[str]]:
    """The positions of the features, and notes on what was left out."""
    dropped = find_columns(names, treatment.drop, "--drop")
    if target in dropped:
        raise DataError(f"--drop {quoted(names[target])}: this is the target, which cannot be left out")
    notes = [f"left out as asked: {listed(names[j] for j in dropped)}"] if dropped else []
    if isinstance(content, Table):
        notes = [*content.notes, *notes]
        spared = {target, *dropped, *(names.index(name) for name in keep)}
        labels = [j for j, name in enumerate(names) if name in content.index and j not in spared]
        if labels:
            notes.append(f"left out as row labels: {listed(names[j] for j in labels)}")
            dropped = [*dropped, *labels]
    absent = {target, *dropped}
    return [j for j in range(len(names)) if j not in absent], notes


def _numbers(
    content: Content,
    names: tuple[str, ...],
    positions: list[int],
    treatment: Treatment,
    keep: Sequence[str],
    where: str,
) -> Features:
    if isinstance(content, Matrix):
        X = content.X if len(positions) == len(names) else content.X[:, positions]
        return Features(X, tuple(names[j] for j in positions))
    chosen = content.columns.select(positions)
    if chosen.num_rows == 0:
        raise DataError(f"{where} has a header and no rows")
    X, names, notes = feature_matrix(chosen, keep=keep, one_hot=treatment.one_hot, impute=treatment.impute)
    check_unique(names, f"{where} with --one-hot")
    return Features(X, names, tuple(notes))


def _constant(X: Data, names: tuple[str, ...]) -> list[str]:
    constant = [names[j] for j in constant_columns(X)]
    if not constant:
        return []
    were = "was" if len(constant) == 1 else "were"
    return [f"{count(len(constant), 'constant column')} {were} kept: {listed(constant)}"]
