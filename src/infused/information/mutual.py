"""Mutual information of discrete features with a target and with each other, in nats.

I(a; b) = log M + (sum n_ab log n_ab - sum n_a log n_a - sum n_b log n_b) / M for counts n of M samples.
n log n comes from a table of integers, in units of a power of two, so that sums are exact: the same counts in
another order give the same information to the last bit, and threads change nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import xlogy

from infused._runtime.memory import memory_budget as in_bytes
from infused._runtime.memory import require
from infused._runtime.threads import Workers, spans, workers
from infused._typing import Floats, Ints
from infused.information.counting import Counter, make_counter, sums_of
from infused.information.discrete import Codes

__all__ = ["RESOLUTION", "MutualInformation", "joint_information"]

#: Rounding is well below this many nats, and what is smaller is taken for zero.
RESOLUTION = 1e-10
TABLE_BITS = 61  # the sum of two table entries is still an integer of 64 bits
ROWS, TILE = 32, 512  # rows of a matrix to a task; side of the tiles in which it is mirrored


@dataclass(frozen=True)
class MutualInformation:
    """Mutual information of many features with one target, and of one feature with all the others.

    Arrays have one entry for each of all the features; those that ``of`` left out have zero.
    """

    counter: Counter
    table: Ints
    unit: float
    """What one unit of the table is in nats."""
    n_features: int
    feature_sums: Ints
    """sum n log n over the codes of each feature."""
    target_sums: Ints
    """sum n log n over the codes of each feature and the classes."""
    classes_sum: int
    """sum n log n over the classes."""
    pool: Workers

    @classmethod
    def build(cls, codes: Codes, y: Ints, pool: Workers, weights: Ints | None = None) -> MutualInformation:
        """From the codes of the features and of the target; ``weights`` say how often each sample counts."""
        table, unit, counter, classes = _counted(codes, y, pool, weights)
        target_sums, feature_sums = counter.with_target()
        classes_sum = int(table[classes].sum())
        return cls(counter, table, unit, codes.shape[0], feature_sums, target_sums, classes_sum, pool)

    def restricted(self, features: Ints) -> MutualInformation:
        """The same for some of the features only."""
        kept = np.isin(self.counter.features, features)
        return replace(
            self,
            counter=self.counter.restricted(features),
            feature_sums=self.feature_sums[kept],
            target_sums=self.target_sums[kept],
        )

    def entropies(self) -> Floats:
        """H(f_j) for every feature j."""
        return self._nats(self.table[-1] - self.feature_sums)

    def with_target(self) -> Floats:
        """I(f_j; y) for every feature j."""
        return self._nats(self.target_sums - self.feature_sums + (self.table[-1] - self.classes_sum))

    def with_feature(self, s: int) -> Floats:
        """I(f_s; f_j) for every feature j."""
        place = int(np.searchsorted(self.counter.features, s))
        sums = self.counter.with_feature(s, self.pool)
        return self._nats(sums - self.feature_sums + (self.table[-1] - self.feature_sums[place]))

    def with_feature_and_target(self, s: int) -> Floats:
        """I({f_s, f_j}; y) for every feature j."""
        joint, pair = self.counter.with_feature_and_target(s, self.pool)
        return self._nats(joint - pair + (self.table[-1] - self.classes_sum))

    def symmetrical_relevance(self, s: int) -> Floats:
        """I({f_s, f_j}; y) / H(f_s, f_j, y) for every feature j."""
        joint, pair = self.counter.with_feature_and_target(s, self.pool)
        information = self._nats(joint - pair + (self.table[-1] - self.classes_sum))
        entropy = self._nats(self.table[-1] - joint)
        return np.divide(information, entropy, out=np.zeros_like(information), where=entropy > 0)

    def _nats(self, sums: Ints) -> Floats:
        result = np.zeros(self.n_features)
        result[self.counter.features] = _nats(sums, self.unit)
        return result


def joint_information(
    codes: Codes,
    y: Ints,
    *,
    weights: Ints | None = None,
    n_jobs: int | None = None,
    memory_budget: int | float | str | None = None,
) -> Floats:
    """W_ij = I({f_i, f_j}; y), features x features, symmetric; the diagonal is I(f_i; y).

    Parameters
    ----------
    codes : DenseCodes or SparseCodes
        See :func:`infused.information.discrete.discretize`.
    y : ndarray of int
        See :func:`infused.information.discrete.target_codes`.
    weights : ndarray of int, optional
        How often each sample counts.
    n_jobs : int, optional
        Threads; -1 for every core.
    memory_budget : int or str, optional
        See :class:`infused.StructuralInformation`.
    """
    n_features, _ = codes.shape
    what = f"The joint information of {n_features} features"
    require(8 * n_features**2, in_bytes(memory_budget), what, "take fewer features")
    W = np.empty((n_features, n_features))
    with workers(n_jobs) as pool:
        table, unit, counter, classes = _counted(codes, y, pool, weights)
        entropy = table[-1] - table[classes].sum()

        def fill(rows: slice) -> None:
            for i in range(rows.start, rows.stop):
                joint, pair = counter.with_feature_and_target(i, Workers(None), first=i)
                W[i, i:] = _nats(joint - pair + entropy, unit)

        def mirror(rows: slice) -> None:
            for columns in spans(rows.start, TILE):
                W[rows, columns] = W[columns, rows].T
            block = W[rows, rows]
            block[:] = np.triu(block) + np.triu(block, 1).T

        pool.run(fill, spans(n_features, ROWS))
        pool.run(mirror, spans(n_features, TILE))
    return W


def _counted(codes: Codes, y: Ints, pool: Workers, weights: Ints | None) -> tuple[Ints, float, Counter, Ints]:
    """n log n and its unit, what counts, and how many samples each class has."""
    classes = np.bincount(y) if weights is None else sums_of(weights, y)
    table, unit = _n_log_n(int(classes.sum()))
    return table, unit, make_counter(codes, y, table, pool, weights), classes


def _n_log_n(n_samples: int) -> tuple[Ints, float]:
    """n log n for n = 0 .. n_samples as integers, and what one of their units is in nats per sample."""
    n = np.arange(n_samples + 1, dtype=np.float64)
    values = xlogy(n, n)
    shift = TABLE_BITS - math.ceil(math.log2(max(values[-1], 1.0)))
    return np.rint(np.ldexp(values, shift)).astype(np.int64), math.ldexp(1.0, -shift) / n_samples


def _nats(sums: Ints, unit: float) -> Floats:
    nats = sums * unit
    return np.where(nats > RESOLUTION, nats, 0.0)
