"""Training and test parts, and the seeds that they and everything random in a cell are drawn from."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from infused._typing import Array, Ints

if TYPE_CHECKING:
    from infused.data.content import Task

__all__ = ["Split", "folds_of", "seed_for"]

#: Positions of the training and of the test samples.
Split = tuple[Ints, Ints]


def folds_of(y: Array, task: Task, n_folds: int, seed: int, groups: Array | None = None) -> list[Split]:
    """The folds of one repeat: classes in equal shares, groups unbroken.

    A class with fewer samples than folds is in some test parts only.
    """
    from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

    if task == "classification":
        kind = StratifiedKFold if groups is None else StratifiedGroupKFold
    else:
        kind = KFold if groups is None else GroupKFold
    splitter = kind(n_folds, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        return list(splitter.split(np.zeros((len(y), 1)), y, groups))


def seed_for(seed: int, *place: int) -> int:
    """A seed of its own for a repeat, or for a fold of it, so that no two draw the same numbers."""
    return int(np.random.SeedSequence(seed, spawn_key=place).generate_state(1)[0])
