"""Is the order of variables certain? A selection must depend neither on the solver nor on its tolerance."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from infused._runtime.compat import cached_property
from infused._typing import Array, Floats, Ints
from infused.selectors.base import ranks

NEGLIGIBLE = 1e-4  # a row shorter than this share of the longest is zero, as far as a solver can tell
TINY = 1e-6  # and shorter than this is zero also where those without a score are ordered
LEVEL = 1e-7  # lengths that differ by less than this share of the longest are equal, as of fused features
SAME = 1e-10  # numbers that differ by less than this share of the largest are ties
Uncertainty: TypeAlias = tuple[float, float]  # of lengths and of leftovers


@dataclass(frozen=True)
class Standing:
    """What variables are ordered by: the length of their coefficients, then their share of the residual."""

    lengths: Floats
    leftover: Floats

    @property
    def scores(self) -> Floats:
        """Return lengths; zero where the solver cannot tell them from zero."""
        return np.asarray(np.where(self.lengths > NEGLIGIBLE * self.largest, self.levels, 0.0))

    @cached_property
    def levels(self) -> Floats:
        """Return lengths, those that are equal to a solver made so."""
        return _levelled(self.lengths, LEVEL)

    @property
    def tie_breaks(self) -> Floats:
        """Order those with no score: those with a coefficient come first, as they are in the model already.

        All of them have the same leftover, lambda1, so that rounding would order them. Where rounding alone
        makes a difference, the first comes first.
        """
        highest = self.leftover.max(initial=0.0)
        inside = (self.lengths > self.tiny) & (self.leftover >= 0)
        return _levelled(np.where(inside, highest * (1 + SAME) + self.levels, self.leftover), SAME)

    @property
    def largest(self) -> float:
        """Return the largest length."""
        return float(self.lengths.max(initial=0.0))

    @property
    def tiny(self) -> float:
        """Return the length below which none counts."""
        return TINY * self.largest

    def order(self) -> Ints:
        """Order the variables, the best first."""
        return np.argsort(ranks(self.scores, self.tie_breaks))


@dataclass(eq=False)
class CertainOrder:
    """Stop the solver once the order of the variables can no longer change.

    From one solution to the next lengths and leftovers change, and from then on by less: a solver gains about
    ten times from look to look. The order at a place is certain when the two beside it differ by more than
    the largest change.
    """

    cut: int | None
    """How many are taken; None asks who has a score, and for the order of all others."""
    uncertainty: Uncertainty | None = None
    """By how much the last solution may be off; given, of the first."""
    ordered: bool = False
    """Whether the order of those behind the cut must be certain as well."""
    _before: Standing | None = field(default=None, init=False)

    def __call__(self, now: Standing) -> bool:
        """Tell whether the order at a solution, better than the one before, would stay as it is."""
        before, self._before = self._before, now
        if before is not None:
            by_length = _largest_change(now.lengths, before.lengths)
            self.uncertainty = by_length, _largest_change(now.leftover, before.leftover)
        if self.uncertainty is None:
            return False
        order = now.order()
        if self.cut is not None:
            taken, left = order[: self.cut], order[self.cut :]
            if self.ordered and not _apart(now, left[:-1], left[1:], *self.uncertainty).all():
                return False
            return _cut_is_certain(now, taken, left, self.uncertainty)
        floor = NEGLIGIBLE * now.largest
        if (np.abs(now.lengths - floor) <= self.uncertainty[0]).any() and floor > 0:
            return False
        others = order[int((now.scores > 0).sum()) :]
        return bool(_apart(now, others[:-1], others[1:], *self.uncertainty).all())


def _cut_is_certain(now: Standing, taken: Ints, left: Ints, uncertainty: Uncertainty) -> bool:
    """Tell whether none of those that are left could be before one that is taken."""
    if not len(taken) or not len(left):
        return True
    by_length, lengths = uncertainty[0], now.lengths
    if lengths[left[0]] > now.tiny:
        return bool(_apart(now, taken[-1:], left[:1], *uncertainty).all())
    # Those left have no coefficients; whoever may have none either is judged by what it leaves over.
    doubtful = taken[lengths[taken] <= now.tiny + by_length]
    if len(doubtful) and ((lengths[left] > 0) & (lengths[left] + by_length > now.tiny)).any():
        return False
    return bool(_apart(now, doubtful, left[:1], *uncertainty).all())


def _apart(now: Standing, before: Ints, after: Ints, by_length: float, by_leftover: float) -> Array:
    """Tell whether each of some variables is surely before another."""
    first, second, ties = now.lengths[before], now.lengths[after], now.tie_breaks
    longer = (first - second > by_length) & (first > now.tiny + by_length)
    none = (second == 0) | (second + by_length <= now.tiny)
    more = now.leftover[before] - now.leftover[after] > by_leftover
    same = (first <= now.tiny) & (ties[before] == ties[after])
    level = np.abs(first - second) + by_length <= LEVEL * now.largest
    return np.asarray(longer | (level & (second > now.tiny)) | (none & (more | same)))


def _largest_change(now: Floats, before: Floats) -> float:
    return float(np.abs(now - before).max(initial=0.0))


def _levelled(values: Floats, share: float) -> Floats:
    """Make equal the numbers that differ by less than a share of the largest."""
    order = np.argsort(-values, kind="stable")
    ordered = values[order]
    first = np.concatenate([[True], ordered[:-1] - ordered[1:] > share * np.abs(values).max(initial=0.0)])
    result = np.empty_like(values)
    result[order] = ordered[np.maximum.accumulate(np.where(first, np.arange(len(values)), 0))]
    return result
