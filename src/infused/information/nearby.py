r"""U of the features that a sparse model comes near, and of no others.

In :math:`S = \lambda (I - (U - m)/c)`, with m the mean of U and c the largest eigenvalue of U - m, a feature
without coefficients feels U through one row of :math:`(U - m)B` alone, and few rows of B are not zero. So U
is formed for the features that are in the model or may enter it. What belongs to all features, m and c, is
taken from a sample of them: m is a mean of pairs, and c grows with the number of features, as what features
have by themselves makes it up.

For a feature beyond, the row is taken as zero. It is at most the length of B times the largest deviation of
an entry of U from m; that is measured on columns of the sample, and taken :data:`MARGIN` times as large.
Whoever solves with this asks for the features that could enter within that, and solves on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from infused._runtime.cached import cached_property
from infused._typing import Array, Floats, Ints
from infused.information.operator import InformationOperator

__all__ = ["MOST_KNOWN", "NearbyInformation", "Sampled"]

MARGIN = 4.0
MOST_KNOWN = 4000  # features of which U is formed; from there on its factors are faster
N_COLUMNS = 32  # of the sample, on which the largest deviation is measured


@dataclass(frozen=True)
class Sampled:
    """What a sample of features tells of U of all of them."""

    mean: float
    ends: tuple[float, float]
    """The smallest and the largest eigenvalue of U less its mean."""
    deviation: float
    """The largest of an entry from the mean, in some columns."""
    error_of_mean: float
    """By how much halves of the sample are off."""
    error_of_top: float
    """The same of the largest eigenvalue, as a share of it."""

    @classmethod
    def of(cls, operator: InformationOperator, n_features: int) -> Sampled:
        """From U of a sample, for so many features."""
        size = operator.shape[0]
        # The largest eigenvalues grow with the number of features.
        ends = operator.ends[0] / size * n_features, operator.ends[1] / size * n_features
        mean = _mean(operator, n_features)
        halves = [operator.restricted(np.arange(start, size, 2)) for start in (0, 1)]
        means = [_mean(half, n_features) for half in halves]
        tops = [half.ends[1] / half.shape[0] * n_features for half in halves]
        some = np.arange(0, size, max(1, size // N_COLUMNS))
        deviation = float(np.abs(operator.times(some, np.eye(len(some))) - mean).max())
        # A mean of two halves is off by half of what they differ by.
        return cls(mean, ends, deviation, abs(means[0] - means[1]) / 2, abs(tops[0] - tops[1]) / 2 / ends[1])


class _Known:
    """U of the features that were asked for so far."""

    def __init__(
        self,
        n_features: int,
        form: Callable[[Ints], Floats],
        operator: Callable[[], InformationOperator],
        most: int,
    ):
        self._form, self._operator, self._most = form, operator, most
        self.place = np.full(n_features, -1)
        """Where each feature is in U; -1 for those that are not."""
        self.U: Floats = np.empty((0, 0))
        self.whole: InformationOperator | None = None
        """In place of U, where too many were asked for."""

    def learn(self, features: Ints) -> None:
        """Form U of these too."""
        if self.whole is not None or not (self.place[features] < 0).any():
            return
        wanted = np.union1d(np.flatnonzero(self.place >= 0), features)
        if len(wanted) > self._most:
            self.whole = self._operator()
            return
        self.U = self._form(wanted)
        self.place[wanted] = np.arange(len(wanted))

    def block(self, rows: Ints, columns: Ints) -> Floats:
        """Of features that are known."""
        if self.whole is not None:
            return self.whole.block(rows, columns)
        return np.asarray(self.U[np.ix_(self.place[rows], self.place[columns])])


@dataclass(frozen=True)
class NearbyInformation:
    """U of some features, of which those are formed that are asked for: what a penalty needs of an operator.

    ``form`` gives U of some features, ``operator`` what multiplies with U of all of them, for when it is more
    than ``most`` that are asked for.
    """

    known: _Known
    sampled: Sampled
    features: Ints
    """Where its rows are among all features."""

    @classmethod
    def make(
        cls,
        n_features: int,
        form: Callable[[Ints], Floats],
        operator: Callable[[], InformationOperator],
        sampled: Sampled,
        most: int = MOST_KNOWN,
    ) -> NearbyInformation:
        """Of all features, none of them known; at most so many are formed."""
        return cls(_Known(n_features, form, operator, most), sampled, np.arange(n_features))

    @property
    def shape(self) -> tuple[int, int]:
        """Features x features."""
        return len(self.features), len(self.features)

    @property
    def ends(self) -> tuple[float, float]:
        """The smallest and the largest eigenvalue of U less its mean."""
        return self.sampled.ends

    def mean(self) -> float:
        """Mean of all entries."""
        return self.sampled.mean

    def error_on(self, features: Ints) -> float:
        """What the sample leaves open of (U - m)/c on some features, by its Frobenius norm."""
        size = self.sampled.error_of_top * float(np.linalg.norm(self.block(features, features) - self.mean()))
        own = 0.0 if self.known.whole is None else self.known.whole.error
        return own + (size + len(features) * self.sampled.error_of_mean) / self.ends[1]

    @property
    def beyond(self) -> Array:
        """The features that are not known."""
        if self.known.whole is not None:
            return np.zeros(len(self.features), dtype=bool)
        return np.asarray(self.known.place[self.features] < 0)

    @property
    def deviation(self) -> float:
        """At most how far an entry is from the mean."""
        return MARGIN * self.sampled.deviation

    def learn(self, features: Ints) -> None:
        """Form U of these features too."""
        self.known.learn(self.features[features])

    def block(self, rows: Ints, columns: Ints) -> Floats:
        """Some rows and columns of U."""
        rows, columns = self.features[rows], self.features[columns]
        self.known.learn(np.concatenate([rows, columns]))
        return self.known.block(rows, columns)

    def times(self, features: Ints, B: Floats) -> Floats:
        """The product with a B that is zero for all other features; with the mean of U for those beyond."""
        self.learn(features)
        if self.known.whole is not None:
            return self._own.times(features, B)
        inside = np.flatnonzero(~self.beyond)
        product = np.tile(self.sampled.mean * B.sum(axis=0), (len(self.features), 1))
        product[inside] = self.known.block(self.features[inside], self.features[features]) @ B
        return product

    def restricted(self, features: Ints) -> NearbyInformation:
        """The same of some of the features; what one learns, the other knows."""
        return NearbyInformation(self.known, self.sampled, self.features[features])

    @cached_property
    def _own(self) -> InformationOperator:
        """What multiplies with U of these features, once it stands for what was formed."""
        if self.known.whole is None:
            raise TypeError("U of all features is not asked for")
        return self.known.whole.restricted(self.features)


def _mean(operator: InformationOperator, n_features: int) -> float:
    """Of U of so many features, of which a sample has a larger share on the diagonal."""
    size = operator.shape[0]
    own = 2 * operator.near * operator.far + operator.diagonal
    own += 2 * np.einsum("ij,ij->i", operator.left, operator.right)
    apart = (size * operator.mean() - own.mean()) / (size - 1)
    return float(apart + (own.mean() - apart) / n_features)
