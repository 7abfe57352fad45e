"""Distributions of many graphs, in the two shapes that data takes.

Everything inside infused is features x samples and scaled so that a distribution has mean one: the numbers
then do not shrink as samples are added, and the uniform distribution is all ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from infused._typing import Floats, Ints

__all__ = ["DenseDistributions", "FeatureDistributions", "SparseDistributions", "TargetDistributions"]


@dataclass(frozen=True)
class DenseDistributions:
    """One row per feature."""

    values: Floats
    """features x samples."""

    @property
    def shape(self) -> tuple[int, int]:
        """(features, samples)."""
        n_features, n_samples = self.values.shape
        return n_features, n_samples

    def bounds(self) -> tuple[float, float]:
        """The smallest and the largest entry."""
        return float(self.values.min()), float(self.values.max())

    def dense(self) -> Floats:
        """features x samples."""
        return self.values


@dataclass(frozen=True)
class SparseDistributions:
    """One value that most samples of a feature share, and the samples that differ from it."""

    base: Floats
    """The shared value of each feature."""
    indptr: Ints
    """Where the samples of each feature start, as in CSC."""
    samples: Ints
    """The samples that differ."""
    values: Floats
    """Their entries."""
    n_samples: int

    @property
    def shape(self) -> tuple[int, int]:
        """(features, samples)."""
        return len(self.base), self.n_samples

    @property
    def owners(self) -> Ints:
        """The feature of each stored entry."""
        return np.repeat(np.arange(len(self.base), dtype=np.int64), np.diff(self.indptr))

    def bounds(self) -> tuple[float, float]:
        """The smallest and the largest entry; the base counts where at least one sample has it."""
        base = self.base[np.diff(self.indptr) < self.n_samples]
        parts = [part for part in (base, self.values) if len(part)]
        return float(min(part.min() for part in parts)), float(max(part.max() for part in parts))

    def stored_by_sample(self) -> Floats:
        """Of each sample, how many features have it off their base."""
        return np.bincount(self.samples, minlength=self.n_samples).astype(np.float64)

    def dense(self) -> Floats:
        """features x samples."""
        out = np.repeat(self.base[:, None], self.n_samples, axis=1)
        out[self.owners, self.samples] = self.values
        return out

    @classmethod
    def from_dense(cls, values: Floats) -> SparseDistributions:
        """Take each row's median as its base: where more than half of a row is equal, it is that value."""
        n_features, n_samples = values.shape
        middle = n_samples // 2
        base = np.array([np.partition(row, middle)[middle] for row in values])
        owners, samples = np.nonzero(values != base[:, None])
        indptr = np.zeros(n_features + 1, np.int64)
        np.cumsum(np.bincount(owners, minlength=n_features), out=indptr[1:])
        return cls(base, indptr, samples.astype(np.int64), values[owners, samples], n_samples)


FeatureDistributions = DenseDistributions | SparseDistributions


@dataclass(frozen=True)
class TargetDistributions:
    """Target graphs: samples of one group (a class, or a sample by itself) share one entry."""

    values: Floats
    """features x groups, or 1 x groups when every feature has the same target graph."""
    codes: Ints
    """The group of each sample."""

    @property
    def shared(self) -> bool:
        """Whether every feature has the same target graph."""
        return len(self.values) == 1

    def rows(self, features: slice | Ints) -> Floats:
        """Rows of some features; the one row there is, when shared."""
        return self.values if self.shared else self.values[features]

    def dense(self, n_features: int) -> Floats:
        """features x samples."""
        return np.broadcast_to(self.values, (n_features, self.values.shape[1]))[:, self.codes]

    @classmethod
    def compress(cls, values: Floats, codes: Ints) -> TargetDistributions:
        """Keep a single row when all are equal to the last bit."""
        return cls(values[:1].copy() if bool((values == values[0]).all()) else values, codes)

    @classmethod
    def from_dense(cls, values: Floats) -> TargetDistributions:
        """Find the groups: samples whose entries agree in every feature."""
        by_sample = np.ascontiguousarray(values.T)
        records = by_sample.view(np.dtype((np.void, by_sample.shape[1] * by_sample.itemsize))).ravel()
        _, first, codes = np.unique(records, return_index=True, return_inverse=True)
        return cls.compress(np.ascontiguousarray(values[:, first]), codes.ravel().astype(np.int64))
