"""Norms of the rows of a coefficient matrix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from infused._typing import Floats

__all__ = ["L1", "RowGroups"]


@dataclass(frozen=True)
class RowGroups:
    r"""One group per feature: :math:`\lambda \sum_i |b_i|_2` over the rows of B.

    With one target it is the l1 norm, and its proximal operator the soft threshold of Algorithm 1.
    """

    weight: float

    def value(self, B: Floats) -> float:
        """The penalty."""
        return self.weight * float(np.linalg.norm(B, axis=1).sum())

    def prox(self, B: Floats, step: float = 1.0) -> Floats:
        """argmin_P 1/2 |P - B|^2 + step weight sum_i |p_i|: rows shrink, and short ones vanish."""
        return B * shrinkage(np.linalg.norm(B, axis=1), step * self.weight)[:, None]

    def distance(self, B: Floats, G: Floats) -> Floats:
        """How far each row of -G is from the subdifferential at B; zero in every row at an optimum."""
        norm = np.linalg.norm(B, axis=1)
        direction = np.divide(B, norm[:, None], out=np.zeros_like(B), where=norm[:, None] > 0)
        at_zero = np.maximum(np.linalg.norm(G, axis=1) - self.weight, 0.0)
        return np.asarray(np.where(norm > 0, np.linalg.norm(G + self.weight * direction, axis=1), at_zero))


@dataclass(frozen=True)
class L1:
    r"""Every coefficient by itself: :math:`\lambda \sum_{ij} |b_{ij}|`."""

    weight: float

    def value(self, B: Floats) -> float:
        """The penalty."""
        return self.weight * float(np.abs(B).sum())

    def prox(self, B: Floats, step: float = 1.0) -> Floats:
        """The soft threshold of every entry."""
        return B * shrinkage(np.abs(B), step * self.weight)

    def distance(self, B: Floats, G: Floats) -> Floats:
        """How far each row of -G is from the subdifferential at B."""
        off = np.where(B != 0, np.abs(G + self.weight * np.sign(B)), np.maximum(np.abs(G) - self.weight, 0.0))
        return np.asarray(np.linalg.norm(off, axis=1))


def shrinkage(size: Floats, threshold: float) -> Floats:
    """The factor that takes ``threshold`` off a length, or the whole length where it is shorter."""
    left = np.maximum(size - threshold, 0.0)
    return np.divide(left, size, out=np.zeros_like(size), where=left > 0)
