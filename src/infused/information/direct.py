"""Route: every logarithm, one by one. For small problems, and where nothing else is exact enough."""

from __future__ import annotations

import numpy as np

from infused._runtime.progress import Stage
from infused._runtime.threads import Workers, spans
from infused._typing import Floats
from infused.information.pair_sums import EPS, FeatureIndex, PairSumProblem, both_ways, phi

__all__ = ["DirectSums"]

ROWS_PER_TASK = 16
ENTRIES = 2**15  # logarithms at a time: they stay in the cache


class DirectSums:
    """Pair sums by their definition: N^2 M logarithms for each of the two terms."""

    name = "direct"
    rank: int | None = None

    def __init__(self, problem: PairSumProblem):
        self._problem = problem
        self._P = problem.features.dense()
        self.error = self.error_bound(self._P.shape[1], problem.total_weight)

    @staticmethod
    def error_bound(n_samples: int, total_weight: float) -> float:
        """Of rounding, which is all that there is."""
        return 16 * EPS * total_weight * float(np.sqrt(n_samples))

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
        target = self._problem.target
        P, T, Q = self._P[rows], target.rows(rows), self._P[columns]
        out = np.zeros((len(P), len(Q)))
        upper_only = rows is columns and self._problem.symmetric
        joint, pair = self._problem.weights
        chunks = spans(len(Q), max(1, ENTRIES // P.shape[1]))

        def compute(strip: slice) -> int:
            first = strip.start if upper_only else 0
            for i in range(strip.start, strip.stop):
                t = T[0 if target.shared else i, target.codes] if joint else 0.0
                for chunk in chunks:
                    if chunk.stop > first:
                        s = Q[chunk] + P[i]
                        out[i, chunk] = pair * phi(s).mean(axis=1)
                        if joint:
                            s += t
                            out[i, chunk] += joint * phi(s).mean(axis=1)
            return int(len(P[strip]) * len(Q) * P.shape[1])

        for done in work.map(compute, spans(len(P), ROWS_PER_TASK)):
            stage.advance(share * done)
        return out
