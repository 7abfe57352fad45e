r"""Route: pair sums of sparse distributions, without making them dense.

Where a sample has the value that most samples of feature i share, its factors are known from its group
alone. With a and b for the factors L and R, their base values, and d for what a stored entry adds,

.. math::

    \sum_s (a_{ig} + d_{is}) (b_j + d'_{js})
    = \Big(\sum_g n_g a_{ig} + \sum_s d_{is}\Big) b_j + \sum_g a_{ig} \sum_{s \in g} d'_{js}
    + \sum_s d_{is} d'_{js}

The first two terms are one small matrix product; the last runs only over samples where both features are off
their base.
"""

from __future__ import annotations

import numpy as np

from infused import _kernels
from infused._runtime.progress import Stage
from infused._runtime.threads import Workers
from infused._typing import Floats, Ints
from infused.graphs.storage import SparseDistributions
from infused.information.pair_sums import FeatureIndex, PairSumProblem, both_ways, strips
from infused.information.products import SingleTerms, error_bound
from infused.information.separable import PhiFactors

__all__ = ["GroupedSums"]


class GroupedSums:
    """Q for sparse distributions: cost N^2 r (1 + groups) and r for each sample that two features store."""

    name = "grouped"

    def __init__(self, problem: PairSumProblem, factors: PhiFactors, work: Workers):
        if not isinstance(problem.features, SparseDistributions):
            raise TypeError("the grouped route needs sparse distributions")
        self._problem = problem
        self._features = problem.features
        self._single = SingleTerms.computed(problem, work)
        self.rank: int | None = factors.rank
        n_products = self.n_products(problem.target.values.shape[1], problem.features.n_samples)
        self.error = error_bound(factors, n_products, problem.total_weight)
        self._factorise(factors)
        self._list_by_sample()

    @staticmethod
    def n_products(n_groups: int, n_samples: int) -> int:
        """Products of factors that an entry of Q is made of."""
        return (1 + n_groups) * n_samples

    @staticmethod
    def bytes_needed(problem: PairSumProblem, rank: int) -> int:
        """What the factors take: of every feature and group, and of every stored entry."""
        assert isinstance(problem.features, SparseDistributions)
        n_features, n_groups = len(problem.features.base), int(problem.target.values.shape[1])
        return 16 * rank * (n_features * (1 + 2 * n_groups) + 2 * len(problem.features.values))

    def pair(
        self, rows: slice, columns: FeatureIndex, work: Workers, stage: Stage
    ) -> tuple[Floats, Floats | None]:
        """See :class:`~infused.information.pair_sums.PairSums`."""

        def sums(rows: FeatureIndex, columns: FeatureIndex, share: float) -> Floats:
            return self._sums(rows, columns, work, stage, share)

        return both_ways(sums, rows, columns, self._problem.symmetric, work)

    def _sums(
        self, rows: FeatureIndex, columns: FeatureIndex, work: Workers, stage: Stage, share: float
    ) -> Floats:
        n_features, n_samples = self._features.shape
        row_features, column_features = (
            np.arange(n_features, dtype=np.int64)[chosen] for chosen in (rows, columns)
        )
        position = np.full(n_features, -1, dtype=np.int64)
        position[column_features] = np.arange(len(column_features))
        right = self._dense_right[column_features]
        out = np.empty((len(row_features), len(column_features)))
        by_feature = self._features.indptr, self._features.samples, self._left
        by_sample = self._sample_indptr, self._sample_features, self._right
        add_common_samples = _kernels.add_common_samples

        def compute(strip: slice) -> int:
            features, block = row_features[strip], out[strip]
            np.matmul(self._dense_left[features], right.T, out=block)
            add_common_samples(features, *by_feature, *by_sample, position, block)
            block += self._single.block(features, column_features)
            return block.size * n_samples

        for done in work.map(compute, strips(len(row_features))):
            stage.advance(share * done)
        return out

    def _factorise(self, factors: PhiFactors) -> None:
        """The factors at the base values, what the stored entries add, and their sums over groups."""
        n_features, rank = len(self._features.base), factors.rank
        target, owners = self._problem.target, self._features.owners
        n_groups, weights = target.values.shape[1], self._problem.weights_of_means
        groups = target.codes[self._features.samples]
        T = np.broadcast_to(target.values, (n_features, n_groups))

        base = np.repeat(self._features.base[:, None], n_groups, axis=1)
        a, b = np.empty((n_features, n_groups * rank)), np.empty((n_features, n_groups * rank))
        factors.fill(base, np.ascontiguousarray(T), np.arange(n_groups, dtype=np.int64), weights, a, b)
        a, b = a.reshape(n_features, n_groups, rank), b[:, :rank]

        self._left, self._right = np.empty((len(owners), rank)), np.empty((len(owners), rank))
        t = T[owners, groups][:, None]
        entry = np.zeros(1, np.int64)
        factors.fill(self._features.values[:, None], t, entry, weights, self._left, self._right)
        self._left -= a[owners, groups]
        self._right -= b[owners]

        sizes = np.bincount(target.codes, minlength=n_groups).astype(np.float64)
        total = np.einsum("g,igk->ik", sizes, a) + _sums_by(owners, self._left, n_features)
        by_group = _sums_by(owners * n_groups + groups, self._right, n_features * n_groups)
        self._dense_left = np.hstack([total, a.reshape(n_features, -1)])
        self._dense_right = np.hstack([b, by_group.reshape(n_features, -1)])

    def _list_by_sample(self) -> None:
        """The stored entries again, sample by sample."""
        order = np.argsort(self._features.samples, kind="stable")
        self._sample_features = self._features.owners[order]
        self._right = self._right[order]
        self._sample_indptr = np.zeros(self._features.n_samples + 1, np.int64)
        counts = np.bincount(self._features.samples, minlength=self._features.n_samples)
        np.cumsum(counts, out=self._sample_indptr[1:])


def _sums_by(key: Ints, rows: Floats, n_keys: int) -> Floats:
    """Sum the rows that share a key, n_keys x columns."""
    return np.stack([np.bincount(key, column, minlength=n_keys) for column in rows.T], axis=1)
