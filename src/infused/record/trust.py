"""Would a selection be made again, and is it better than chance? What the record keeps of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from infused._typing import Ints


@dataclass(frozen=True)
class StandIn:
    """A feature that was not selected, and says nearly the same as one that was."""

    name: str
    correlation: float
    """|Pearson correlation| of the two."""


@dataclass(frozen=True)
class Stability:
    """What was chosen in complementary halves of the samples."""

    n_pairs: int
    """Pairs of halves that count."""
    n_failed: int
    """Pairs that do not, because a half could not be fitted."""
    per_half: float
    """How many features a half chose, on average."""
    threshold: float
    """The share of the halves from which on a feature is stable."""
    n_stable: int
    """How many features reach it, selected or not."""
    expected_false: float
    """At most so many of these are expected to be there by chance."""
    bound: str
    """Which bound that is."""
    frequencies: tuple[float, ...]
    """The share of the halves that chose each feature, in the order of the data."""


@dataclass(frozen=True)
class Shadows:
    """How the selected features fared against shuffled copies, which say nothing of the target."""

    n_repeats: int
    n_shadows: int
    n_compared: int
    """Selected features that competed."""
    n_beaten: int
    """Those that the best shadow was ahead of in half of the repeats or more."""
    by_chance: float
    """How many of all features would be ahead of all shadows if none had to do with the target."""


@dataclass(frozen=True)
class TriedMethod:
    """One row of the table by which a method was chosen."""

    method: str
    n_features: int | None
    score: float | None
    error: float | None
    seconds: float
    status: str
    chosen: bool


def stability_of(fitted: Any, kept: Ints, n_features: int) -> Stability:
    """From a fitted StabilitySelection that saw the features ``kept`` of all."""
    frequencies = np.zeros(n_features)
    frequencies[kept] = fitted.frequencies_
    return Stability(
        n_pairs=int(fitted.n_pairs_),
        n_failed=int(fitted.n_pairs - fitted.n_pairs_),
        per_half=float(fitted.n_features_per_half_),
        threshold=float(fitted.threshold_),
        n_stable=int(fitted.n_stable_),
        expected_false=float(fitted.expected_false_),
        bound=str(fitted.bound),
        frequencies=tuple(frequencies.tolist()),
    )


def tried_methods(selector: Any) -> tuple[TriedMethod, ...]:
    """The table of a fitted AutoSelector; empty for all others."""
    table = getattr(selector, "candidates_", None)
    if not isinstance(table, dict):
        return ()
    rows = zip(*(table[name] for name in table), strict=True)
    return tuple(TriedMethod(**dict(zip(table, row, strict=True))) for row in rows)
