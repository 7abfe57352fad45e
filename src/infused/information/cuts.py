"""Where the bins of many features end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from infused import _kernels
from infused._kernels import cut_points
from infused._typing import Array, Floats, Ints

__all__ = ["CutFinder", "Cuts", "cut_finder"]

FEW_ENTRIES = 2**17  # that plain Python takes no longer for than it takes to load a kernel


@dataclass(frozen=True)
class Cuts:
    """The largest value of every bin but the last."""

    places: Floats
    """features x most that one can have."""
    number: Ints
    """How many each feature has."""

    def codes(self, values: Floats) -> Array:
        """The bin of each value, of one row of values for each feature."""
        codes = np.zeros(values.shape, np.uint8)
        for c in range(int(self.number.max(initial=0))):
            own = self.number > c
            if own.all():
                codes += values > self.places[:, c : c + 1]
            else:
                codes[own] += values[own] > self.places[own, c : c + 1]
        return codes


#: From the columns of a CSC matrix, each sorted, how often each entry counts, how many there would be with
#: those that are not stored, and how many bins there may be.
CutFinder: TypeAlias = Callable[[Ints, Floats, Floats, int, int], Cuts]


def cut_finder(n_entries: int) -> CutFinder:
    """What finds the cuts: compiled where there are many entries."""
    plain = n_entries <= FEW_ENTRIES
    find_cuts: Callable[..., None] = cut_points.find_cuts if plain else _kernels.find_cuts

    def find(indptr: Ints, ordered: Floats, amount: Floats, n_samples: int, n_bins: int) -> Cuts:
        n_features, most = len(indptr) - 1, max(n_bins, cut_points.DISCRETE)
        longest = int(np.diff(indptr).max(initial=0)) + 1
        found = Cuts(np.empty((n_features, most)), np.empty(n_features, np.int64))
        columns: list[Any] = [indptr, ordered, amount]
        scratch: list[Any] = [*np.empty((2, longest)), np.empty(longest, np.int64)]
        if plain:  # plain Python is faster with lists
            columns, scratch = [a.tolist() for a in columns], [a.tolist() for a in scratch]
        find_cuts(*columns, n_samples, n_bins, *scratch, found.places, found.number)
        return found

    return find
