"""Features that could stand in for one that was selected."""

from __future__ import annotations

import numpy as np

from infused._typing import Floats, Ints
from infused.coding import Coded
from infused.record.distributions import dense_columns
from infused.record.trust import StandIn

__all__ = ["stand_ins"]

LIKE = 0.8  # |r| from which on a feature can stand in for another one
MOST_STAND_INS, MOST_WITH = 3, 50
BLOCK = 512  # columns compared at once
CONSTANT = 1e-12


def stand_ins(coded: Coded, best: Ints, names: tuple[str, ...]) -> list[tuple[StandIn, ...]]:
    """For each of the best features, up to three that were not selected and correlate by 0.8 or more.

    Features with several columns have none, and are none.
    """
    groups = np.arange(coded.F.shape[1]) if coded.groups is None else coded.groups
    widths = np.bincount(groups, minlength=len(names))
    single = np.flatnonzero(widths[groups] == 1)
    column = np.full(len(names), -1)
    column[groups[single]] = single
    shown = best[:MOST_WITH]
    own = shown[column[shown] >= 0]
    others = np.setdiff1d(np.flatnonzero(column >= 0), best)
    found: dict[int, tuple[StandIn, ...]] = {}
    if len(own) and len(others):
        Z = _unit(dense_columns(coded.F, column[own]))
        parts = [others[start : start + BLOCK] for start in range(0, len(others), BLOCK)]
        likeness = np.hstack([np.abs(Z.T @ _unit(dense_columns(coded.F, column[part]))) for part in parts])
        for feature, row in zip(own.tolist(), likeness, strict=True):
            close = np.argsort(-row, kind="stable")[:MOST_STAND_INS]
            found[feature] = tuple(
                StandIn(names[others[n]], min(1.0, float(row[n]))) for n in close if row[n] >= LIKE
            )
    return [found.get(int(feature), ()) for feature in best]


def _unit(columns: Floats) -> Floats:
    """Centred columns of length one; constant ones are zero."""
    scale = np.abs(columns).max(axis=0, initial=0.0)
    columns = columns / np.where(scale > 0, scale, 1.0)
    columns = columns - columns.mean(axis=0)
    length = np.linalg.norm(columns, axis=0)
    varies = length > CONSTANT * np.sqrt(len(columns))
    return np.asarray(np.where(varies, columns / np.where(varies, length, 1.0), 0.0))
