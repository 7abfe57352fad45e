r"""What the routes compute: weighted pair sums.

.. math::

    Q_{ij} = \big\langle w_3\, \varphi(p_i + t_i + p_j) + w_2\, \varphi(p_i + p_j) \big\rangle

with :math:`\langle\cdot\rangle` the mean over samples, p and t scaled to mean one, and
:math:`\varphi(s) = s \log s`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from infused._runtime.progress import Stage
from infused._runtime.threads import Workers, spans
from infused._typing import Floats, Ints
from infused.graphs.storage import FeatureDistributions, SparseDistributions, TargetDistributions

__all__ = [
    "EPS",
    "LONGEST_STRIP",
    "FeatureIndex",
    "PairSumProblem",
    "PairSums",
    "both_ways",
    "mean_phi",
    "phi",
    "strips",
    "transposed",
]

EPS = float(np.finfo(np.float64).eps)
ENTRIES_PER_TASK = 2**17
SHORTEST_STRIP, LONGEST_STRIP = 128, 256

#: Some of the features, by a slice or by their positions.
FeatureIndex = slice | Ints


@dataclass(frozen=True)
class PairSumProblem:
    """What weighted pair sums are taken of: the distributions and the two weights."""

    features: FeatureDistributions
    target: TargetDistributions
    joint_weight: float
    pair_weight: float

    @property
    def weights(self) -> tuple[float, float]:
        """(joint_weight, pair_weight)."""
        return self.joint_weight, self.pair_weight

    @property
    def weights_of_means(self) -> tuple[float, float]:
        """The weights divided by the number of samples: sums of so weighted terms are means."""
        n_samples = self.features.shape[1]
        return self.joint_weight / n_samples, self.pair_weight / n_samples

    @property
    def total_weight(self) -> float:
        """Sum of the absolute weights: an error of phi counts this often."""
        return abs(self.joint_weight) + abs(self.pair_weight)

    @property
    def symmetric(self) -> bool:
        """Whether Q_ij = Q_ji: every feature has the same target graph, or none enters."""
        return self.joint_weight == 0.0 or self.target.shared


class PairSums(Protocol):
    """A route: one way to compute Q."""

    name: str
    rank: int | None
    """Terms of the factorisation, where there is one."""
    error: float
    """A bound on the error of every Q_ij."""

    def pair(
        self, rows: slice, columns: FeatureIndex, work: Workers, stage: Stage
    ) -> tuple[Floats, Floats | None]:
        """Q_ij and Q_ji as two blocks with i in rows and j in columns; None for the second when symmetric.

        When rows and columns are the same slice and Q is symmetric, only the upper triangle is right.
        """
        ...


def strips(n_rows: int) -> list[slice]:
    """Cut the rows of a block for the threads: enough pieces for many of them, each long enough for BLAS."""
    return spans(n_rows, min(max(SHORTEST_STRIP, n_rows // 8), LONGEST_STRIP))


def both_ways(
    sums: Callable[[FeatureIndex, FeatureIndex, float], Floats],
    rows: FeatureIndex,
    columns: FeatureIndex,
    symmetric: bool,
    work: Workers,
) -> tuple[Floats, Floats | None]:
    """What :meth:`PairSums.pair` returns, from a function that gives Q of any rows and columns.

    Its third argument is its share of the work on the block.
    """
    if symmetric:
        return sums(rows, columns, 1.0), None
    if rows is columns:
        forward = sums(rows, columns, 1.0)
        return forward, transposed(forward, work)
    return sums(rows, columns, 0.5), sums(columns, rows, 0.5).T


def transposed(block: Floats, work: Workers) -> Floats:
    """A copy of the transpose, in strips."""
    out = np.empty(block.shape[::-1])

    def copy(strip: slice) -> None:
        out[strip] = block[:, strip].T

    work.run(copy, strips(len(out)))
    return out


def phi(s: Floats) -> Floats:
    """s log s, with 0 log 0 = 0."""
    if s.min() > 0:
        result: Floats = np.log(s)
        result *= s
        return result
    return np.where(s > 0, s * np.log(np.where(s > 0, s, 1.0)), 0.0)


def mean_phi(
    features: FeatureDistributions, target: TargetDistributions | None, offset: float, work: Workers
) -> Floats:
    """Mean over samples of phi(p + t + offset), one number per feature; without t when target is None."""
    if isinstance(features, SparseDistributions):
        return _sparse_mean_phi(features, target, offset)
    P = features.values
    out = np.empty(len(P))

    def compute(rows: slice) -> None:
        s = P[rows] + offset
        if target is not None:
            s += target.rows(rows)[:, target.codes]
        out[rows] = phi(s).mean(axis=1)

    work.run(compute, spans(len(P), max(1, ENTRIES_PER_TASK // P.shape[1])))
    return out


def _sparse_mean_phi(
    features: SparseDistributions, target: TargetDistributions | None, offset: float
) -> Floats:
    n_features, n_samples = features.shape
    owners = features.owners
    if target is None:
        target = TargetDistributions(np.zeros((1, 1)), np.zeros(n_samples, np.int64))
    n_groups = target.values.shape[1]
    groups = target.codes[features.samples]
    t = np.broadcast_to(target.values, (n_features, n_groups))
    stored = np.bincount(owners * n_groups + groups, minlength=n_features * n_groups)
    at_base = np.bincount(target.codes, minlength=n_groups) - stored.reshape(n_features, n_groups)
    total: Floats = (at_base * phi(features.base[:, None] + t + offset)).sum(axis=1)
    if len(owners):
        total += np.bincount(owners, phi(features.values + t[owners, groups] + offset), minlength=n_features)
    total /= n_samples
    return total
