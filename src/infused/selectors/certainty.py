"""Is the order of variables certain? A selection must hang neither on the solver nor on its tolerance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from infused._typing import Floats, Ints
from infused.selectors.base import ranks

__all__ = ["CertainOrder", "Standing", "Uncertainty"]

NEGLIGIBLE = 1e-4  # a row shorter than this share of the longest is zero, as far as a solver can tell
Uncertainty: TypeAlias = tuple[float, float]  # of lengths and of leftovers
SAME = 1e-10  # numbers that differ by less than this share of the largest are ties


@dataclass(frozen=True)
class Standing:
    """What variables are ordered by: the length of their coefficients, then their share of the residual."""

    lengths: Floats
    leftover: Floats

    @property
    def scores(self) -> Floats:
        """Lengths; zero where the solver cannot tell them from zero."""
        return np.asarray(np.where(self.lengths > NEGLIGIBLE * self.largest, self.lengths, 0.0))

    @property
    def tie_breaks(self) -> Floats:
        """For those with no score: those with a coefficient come first, as they are in the model already.

        All of them have the same leftover, lambda1, so that rounding would order them. What differs by
        rounding alone is the same, and the first comes first.
        """
        highest = self.leftover.max(initial=0.0)
        inside = (self.lengths > 0) & (self.leftover >= 0)
        return _levelled(np.where(inside, highest * (1 + SAME) + self.lengths, self.leftover))

    @property
    def largest(self) -> float:
        """The longest."""
        return float(self.lengths.max(initial=0.0))

    def order(self) -> Ints:
        """The best first."""
        return np.argsort(ranks(self.scores, self.tie_breaks))


class CertainOrder:
    """Looks at better and better solutions, and is content when what is taken from the last is certain.

    From one solution to the next lengths and leftovers change, and from then on by less: a solver gains about
    ten times from look to look. The order at a place is certain when the two beside it differ by more than
    the largest change.
    """

    def __init__(
        self,
        standing: Callable[[Floats, Floats], Standing],
        cut: int | None,
        known: Uncertainty | None = None,
    ):
        """``cut`` is how many are taken; None asks who has a score, and for the order of all others.

        ``known`` is how far the first solution that it sees is known, where it is.
        """
        self.standing, self.cut, self.uncertainty = standing, cut, known
        self._before: Standing | None = None

    def __call__(self, coef: Floats, gradient: Floats) -> bool:
        """Whether the order would stay as it is."""
        now, before = self.standing(coef, gradient), self._before
        self._before = now
        if before is not None:
            lengths = _largest_change(now.lengths, before.lengths)
            self.uncertainty = lengths, _largest_change(now.leftover, before.leftover)
        if self.uncertainty is None:
            return False
        changed = self.uncertainty
        order = now.order()
        scores, ties = now.scores[order], now.tie_breaks[order]
        if self.cut is not None:
            return _apart(scores, ties, np.array([self.cut]), *changed)
        n_scored = int((scores > 0).sum())
        floor = NEGLIGIBLE * now.largest
        if (np.abs(now.lengths - floor) <= changed[0]).any() and floor > 0:
            return False
        return _apart(scores, ties, np.arange(n_scored + 1, len(order)), *changed)


def _apart(scores: Floats, ties: Floats, places: Ints, by_length: float, by_leftover: float) -> bool:
    """Whether those before and after each place differ by more than what is not known of them."""
    places = places[(places > 0) & (places < len(scores))]
    score = scores[places - 1] - scores[places]
    tie = ties[places - 1] - ties[places]
    by_score = scores[places - 1] > 0
    return bool(np.where(by_score, score > by_length, (tie > by_leftover) | (tie == 0)).all())


def _largest_change(now: Floats, before: Floats) -> float:
    return float(np.abs(now - before).max(initial=0.0))


def _levelled(values: Floats) -> Floats:
    """The same numbers, those that differ by rounding alone made equal: to the largest of them."""
    order = np.argsort(-values, kind="stable")
    ordered = values[order]
    first = np.concatenate([[True], ordered[:-1] - ordered[1:] > SAME * np.abs(values).max(initial=0.0)])
    result = np.empty_like(values)
    result[order] = ordered[np.maximum.accumulate(np.where(first, np.arange(len(values)), 0))]
    return result
