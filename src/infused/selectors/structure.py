"""The structural term of a model: how large it is, whether it fits, and where it has a minimum."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from infused._typing import Array, Floats
from infused.exceptions import UnboundedObjectiveError
from infused.penalties.quadratic import Structural
from infused.selectors.inputs import mean_square
from infused.selectors.ranking import next_size
from infused.solvers.limits import largest_lambda3

__all__ = ["PublishedTerm", "bytes_of_structure", "one_target", "size_that_fits", "stable_term"]


@dataclass(frozen=True)
class PublishedTerm:
    """-lambda3 b'Ub, with the largest lambda3 for which the objective has a minimum."""

    term: Structural
    limit: float

    @classmethod
    def of(cls, F: Floats, U: Floats, lambda3: float, relative: bool, ridge: float = 0.0) -> PublishedTerm:
        """A relative lambda3 is a share of the limit; where the limit is zero, it is taken as it is."""
        limit = largest_lambda3(F, U, ridge)
        share = relative and 0 < limit < np.inf
        return cls(Structural.published(U, lambda3 * limit if share else lambda3), limit)

    @property
    def bounded(self) -> bool:
        """Whether the objective has a minimum."""
        return self.term.weight <= self.limit

    @property
    def complaint(self) -> str:
        """What is wrong when it has none."""
        return (
            f"The published objective has no minimum for lambda3={self.term.weight:.6g}: the largest "
            f"admissible value on these data is {self.limit:.6g}."
        )

    def refuse(self) -> None:
        """Raise with the limit and the ways out."""
        ways = "Use formulation='stable', a smaller lambda3, or unbounded='iterate'."
        raise UnboundedObjectiveError(f"{self.complaint} {ways}", self.limit)


def stable_term(F: Floats, U: Floats, lambda3: float, relative: bool) -> Structural:
    """The convexified term; a relative lambda3 is a share of the mean squared length of a feature."""
    term = Structural.convexified(U, 1.0)
    weight = lambda3 * mean_square(F) if relative else lambda3 * term.top
    return Structural(U, weight, term.mean, term.top, term.bottom)


def bytes_of_structure(n_features: int) -> int:
    """U, its part for the next round, and what the solver makes of it."""
    return 3 * 8 * n_features * n_features


def size_that_fits(n_features: int, k: int, budget: int) -> int:
    """The first round of the recursive ranking for which U fits."""
    while n_features > k and bytes_of_structure(n_features) > budget:
        n_features = next_size(n_features, k)
    return n_features


def one_target(y: Array) -> Array:
    """Target graphs are of one target: of several real ones, their first principal component."""
    y = np.asarray(y)
    if y.ndim == 1 or y.shape[1] == 1:
        return y.ravel()
    centred = y - y.mean(axis=0)
    left, size, _ = np.linalg.svd(centred / np.maximum(centred.std(axis=0), 1e-300), full_matrices=False)
    return np.asarray(left[:, 0] * size[0])
