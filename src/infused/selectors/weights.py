"""Weights of samples: a whole number says how often a sample counts, any other how much it matters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from infused._runtime.cached import cached_property
from infused._runtime.sklearn_compat import check_sample_weight
from infused._typing import Array, Floats, Ints
from infused.exceptions import InputError, Setting

__all__ = ["Weights", "centred", "counted", "refuse_weights", "weighed"]

EXACT = 2.0**53  # beyond it every number is whole
FINEST = 2.0**20
UNITS, UNITS_EACH = 2**22, 64  # in which weights are counted that are not whole, in all and for each sample


@dataclass(frozen=True)
class Weights:
    """What each sample counts: all above zero, and of mean one unless they are whole.

    Samples with whole weights are as good as repeated, down to the degrees of freedom.
    """

    values: Floats
    whole: bool

    @cached_property
    def total(self) -> float:
        """How many samples there are."""
        return float(self.values.sum())

    @cached_property
    def root(self) -> Floats:
        """What a row is multiplied by where squares are summed."""
        return np.sqrt(self.values)

    @property
    def counts(self) -> Array:
        """The weights to fill bins by: integers, or multiples of 2^-20, so that sums have no rounding."""
        if self.whole:
            return self.values.astype(np.int64)
        return np.asarray(np.maximum(np.rint(self.values * FINEST), 1.0) / FINEST)

    @cached_property
    def units(self) -> Ints:
        """The weights as integers: as they are, or rounded to the 4-millionth part of their sum or less."""
        most = max(UNITS, UNITS_EACH * len(self.values))
        scale = 1.0 if self.whole and self.total <= most else most / self.total
        return np.rint(self.values * scale).astype(np.int64)


def weighed(X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Weights | None]:
    """X and y, which were checked, less the samples of weight zero; and what the others weigh.

    Weights that are all one, or all the same and not whole, are none.
    """
    if sample_weight is None:
        return X, y, None
    values, whole = counted(sample_weight, X)
    present = values > 0
    if present.sum() < 2:
        raise InputError(Setting("sample_weight"), " leaves fewer than two samples: the others have zero")
    if not present.all():
        X, y, values = X[present], y[present], values[present]
    if (values == (1.0 if whole else values[0])).all():
        return X, y, None
    return X, y, Weights(values, whole)


def counted(sample_weight: Any, X: Any) -> tuple[Floats, bool]:
    """What each row of X counts, and whether these are whole numbers; others are made to have the mean one.

    No sum of them overflows, and one too small beside the others is zero.
    """
    values = check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    if (values == np.rint(values)).all() and values.max() <= EXACT / len(values):
        return values, True
    values = values / values.max()
    return values / values[values > 0].mean(), False


def centred(F: Floats, weights: Weights | None) -> Floats:
    """Columns less their means; where there are weights, rows were multiplied by their roots."""
    if weights is None:
        return np.asarray(F - F.mean(axis=0))
    return np.asarray(F - np.outer(weights.root, weights.root @ F / weights.total))


def refuse_weights(name: str, why: str, instead: str, weights: Any) -> None:
    """Say why there cannot be any."""
    if weights is not None:
        raise InputError(f"{name} takes no ", Setting("sample_weight"), f": {why}. {instead}.")
