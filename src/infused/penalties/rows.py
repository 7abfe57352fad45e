"""Norms of the rows of a coefficient matrix, one by one or in groups."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from infused._typing import Array, Floats, Ints


@dataclass(frozen=True)
class RowGroups:
    r"""One group per feature: :math:`\lambda \sum_i |b_i|_2` over the rows of B.

    With one target it is the l1 norm, and its proximal operator the soft threshold of Algorithm 1.
    """

    weight: float

    def value(self, B: Floats) -> float:
        """Compute the penalty."""
        return self.weight * float(np.linalg.norm(B, axis=1).sum())

    def prox(self, B: Floats, step: float = 1.0) -> Floats:
        """Minimise 1/2 |P - B|^2 + step weight sum_i |p_i|: rows shrink, and short ones vanish."""
        return B * shrinkage(np.linalg.norm(B, axis=1), step * self.weight)[:, None]

    def distance(self, B: Floats, G: Floats) -> Floats:
        """Measure how far each row of -G is from the subdifferential at B; all zero at an optimum."""
        norm = np.linalg.norm(B, axis=1)
        direction = np.divide(B, norm[:, None], out=np.zeros_like(B), where=norm[:, None] > 0)
        at_zero = np.maximum(np.linalg.norm(G, axis=1) - self.weight, 0.0)
        return np.asarray(np.where(norm > 0, np.linalg.norm(G + self.weight * direction, axis=1), at_zero))

    def lengths(self, B: Floats) -> Floats:
        """Compute the length of each row."""
        return np.asarray(np.linalg.norm(B, axis=1))

    def members(self, groups: Ints) -> tuple[Ints, Ints]:
        """Return the feature of each group, and where each begins."""
        return groups, np.arange(len(groups) + 1)

    def thresholds(self, groups: Ints) -> Floats:
        """Return lambda for each row."""
        return np.full(len(groups), self.weight)


class GroupNorms:
    r"""Given groups of features: :math:`\lambda \sum_g \sqrt{p_g} |B_g|_F`, with p_g features in group g.

    ``labels`` holds one label of any kind for each feature. Groups of one feature make it :class:`RowGroups`.
    """

    def __init__(self, weight: float, labels: Array):
        _, self.codes, self.sizes = np.unique(labels, return_inverse=True, return_counts=True)
        self.weight = weight
        self._order = np.argsort(self.codes, kind="stable")
        self._starts = np.concatenate([[0], np.cumsum(self.sizes)])
        self._factors = np.sqrt(self.sizes)

    def value(self, B: Floats) -> float:
        """Compute the penalty."""
        return self.weight * float((self._factors * self.lengths(B)).sum())

    def prox(self, B: Floats, step: float = 1.0) -> Floats:
        """Shrink groups; short ones vanish."""
        keep = shrinkage(self.lengths(B), step * self.weight * self._factors)
        return B * keep[self.codes][:, None]

    def distance(self, B: Floats, G: Floats) -> Floats:
        """Measure how far each group of -G is from the subdifferential at B."""
        length, weight = self.lengths(B), self.weight * self._factors
        pull = np.divide(weight, length, out=np.zeros_like(length), where=length > 0)
        off = self.lengths(G + pull[self.codes][:, None] * B)
        return np.asarray(np.where(length > 0, off, np.maximum(off - weight, 0.0)))

    def lengths(self, B: Floats) -> Floats:
        """Compute the length of each group of rows."""
        squares = np.einsum("ij,ij->i", B, B)
        return np.asarray(np.sqrt(np.bincount(self.codes, weights=squares, minlength=len(self._factors))))

    def members(self, groups: Ints) -> tuple[Ints, Ints]:
        """Return the features of some groups, one group after the other, and where each begins."""
        parts = [self._order[self._starts[g] : self._starts[g + 1]] for g in groups]
        return np.concatenate(parts), np.concatenate([[0], np.cumsum([len(part) for part in parts])])

    def thresholds(self, groups: Ints) -> Floats:
        """Return lambda times the root of the size of some groups."""
        return np.asarray(self.weight * self._factors[groups])


@dataclass(frozen=True)
class L1:
    r"""Every coefficient by itself: :math:`\lambda \sum_{ij} |b_{ij}|`."""

    weight: float

    def value(self, B: Floats) -> float:
        """Compute the penalty."""
        return self.weight * float(np.abs(B).sum())

    def prox(self, B: Floats, step: float = 1.0) -> Floats:
        """Apply the soft threshold to every entry."""
        return B * shrinkage(np.abs(B), step * self.weight)


def shrinkage(size: Floats, threshold: float | Floats) -> Floats:
    """Return the factor that takes ``threshold`` off a length, or the whole length where it is shorter."""
    left = np.maximum(size - threshold, 0.0)
    return np.divide(left, size, out=np.zeros_like(size), where=left > 0)
