"""Three other ways to compute U, each as good as its kind allows: what infused is measured against.

* `literal`: the paper's formulas as printed, M x M matrices, and Python loops over pairs that call SciPy's
  `scipy.stats.entropy`: what a reader of the paper would write first.
* `numpy_vectorised`: U row by row with NumPy's vectorised logarithm, rows shared by two threads.
* `numba_loop`: a compiled loop over pairs with the library's logarithm, on two threads.

The last two are given infused's own distributions, O(M log M) per feature, and their time includes computing
them, as the time of infused does: the comparison is about U. Every unordered pair is computed once.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy
from scipy.stats import entropy

import infused
from benchmarks.threads import THREADS

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
LOG_2_3 = np.log(2 / 3)


@dataclass(frozen=True)
class PeerRun:
    """One peer on one data set."""

    U: Floats
    """What was computed, in the upper triangle; NaN elsewhere."""
    seconds: float
    """Wall clock from (X, y) to the whole of U."""
    extrapolated: bool
    """Whether `seconds` was scaled up from a sample."""


def literal(X: NDArray[Any], y: NDArray[Any], *, graph_seconds: float = 10.0, n_pairs: int = 2000) -> PeerRun:
    """The formulas as printed, on a sample of features and pairs of them; always extrapolated.

    seconds = 2 N (cost of a graph) + N (N + 1) / 2 (cost of a pair).
    """
    n = X.shape[1]
    rng = np.random.default_rng(0)
    P: dict[int, Floats] = {}
    T: dict[int, Floats] = {}
    start = perf_counter()
    for i in map(int, rng.permutation(n)):  # as many features as fit in the time, at least one
        f = np.asarray(X[:, i], dtype=np.float64)
        P[i] = literal_distribution(f)
        T[i] = literal_distribution(_class_means(f, y))
        if perf_counter() - start > graph_seconds:
            break
    per_graph = (perf_counter() - start) / (2 * len(P))

    U = np.full((n, n), np.nan)
    pairs = np.sort(rng.choice(list(P), size=(n_pairs, 2)), axis=1)
    start = perf_counter()
    for i, j in pairs.tolist():
        U[i, j] = literal_pair(P[i], P[j], T[i], T[j])
    per_pair = (perf_counter() - start) / n_pairs
    return PeerRun(U, 2 * n * per_graph + n * (n + 1) / 2 * per_pair, extrapolated=True)


def literal_distribution(f: Floats) -> Floats:
    """Steady state of the kernel graph from its M x M matrices, Eq. (1)."""
    A = np.abs(f[:, None] - f[None, :])
    norm = np.linalg.norm(A, axis=1)
    if not norm.any():
        return np.full(len(f), 1 / len(f))
    K = A @ A.T
    K /= norm[:, None]
    K /= norm[None, :]
    degree = K.sum(axis=1)
    return degree / degree.sum()


def literal_pair(P_i: Floats, P_j: Floats, T_i: Floats, T_j: Floats) -> float:
    similarity_i = np.exp(-_jensen_shannon(P_i, P_j, T_i))
    similarity_j = np.exp(-_jensen_shannon(P_i, P_j, T_j))
    return float((similarity_i + similarity_j) / np.exp(-_jensen_shannon(P_i, P_j)))


def _jensen_shannon(*distributions: Floats) -> float:
    mean = sum(distributions) / len(distributions)
    return float(entropy(mean) - sum(entropy(p) for p in distributions) / len(distributions))


def _class_means(f: Floats, y: NDArray[Any]) -> Floats:
    _, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    return (np.bincount(codes, weights=f - f[0]) / counts)[codes]


@dataclass(frozen=True)
class _Sums:
    """Distributions (features x samples) and their sums of p log p: all that a pair needs."""

    P: Floats
    T: Floats
    p_log_p: Floats
    t_log_t: Floats
    seconds: float

    @classmethod
    def of(cls, X: NDArray[Any], y: NDArray[Any]) -> _Sums:
        start = perf_counter()
        P = np.ascontiguousarray(infused.feature_distributions(X, n_jobs=THREADS).T)
        T = np.ascontiguousarray(infused.target_distributions(X, y, n_jobs=THREADS).T)
        p_log_p, t_log_t = xlogy(P, P).sum(axis=1), xlogy(T, T).sum(axis=1)
        return cls(P, T, p_log_p, t_log_t, perf_counter() - start)


def numpy_vectorised(
    X: NDArray[Any], y: NDArray[Any], *, full_limit: float = 20.0, repeats: int = 1
) -> PeerRun:
    """U row by row with vectorised logarithms; extrapolated from random rows when all would take too long."""
    sums = _Sums.of(X, y)

    def compute(rows: Ints, U: Floats) -> None:
        with ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(lambda i: _numpy_row(int(i), sums, U), rows))

    return _timed_rows(compute, sums, full_limit, repeats)


def _numpy_row(i: int, sums: _Sums, U: Floats) -> None:
    P, T, h, g = sums.P, sums.T, sums.p_log_p, sums.t_log_t
    n, m = P.shape
    step = max(1, 2**16 // m)  # temporaries stay in cache: measurably faster than a whole row at once
    for start in range(i, n, step):
        j = slice(start, start + step)
        pair = P[i] + P[j]
        base = LOG_2_3 - _sum_x_log_x(pair) / 2 + (h[i] + h[j]) / 6
        with_own = (_sum_x_log_x(pair + T[i]) - g[i]) / 3
        with_other = (_sum_x_log_x(pair + T[j]) - g[j]) / 3
        U[i, j] = np.exp(base + with_own) + np.exp(base + with_other)


def _sum_x_log_x(x: Floats) -> Floats:
    return np.einsum("ja,ja->j", x, np.log(x))


def numba_loop(X: NDArray[Any], y: NDArray[Any], *, full_limit: float = 60.0, repeats: int = 1) -> PeerRun:
    """A compiled loop over pairs; timed on random rows and scaled by the number of pairs when too long."""
    sums = _Sums.of(X, y)

    def compute(rows: Ints, U: Floats) -> None:
        # Row i has N - i pairs and threads take contiguous halves: deal the rows out, for equal work.
        dealt = np.concatenate([rows[::2], rows[1::2]])
        _pair_loop(dealt, sums.P, sums.T, sums.p_log_p, sums.t_log_t, U)

    compute(np.arange(0), np.empty((0, 0)))  # compile
    return _timed_rows(compute, sums, full_limit, repeats)


@numba.njit(parallel=True)
def _pair_loop(rows: Ints, P: Floats, T: Floats, h: Floats, g: Floats, U: Floats) -> None:
    n, m = P.shape
    for r in numba.prange(len(rows)):
        i = rows[r]
        for j in range(i, n):
            two = with_own = with_other = 0.0
            for a in range(m):
                pair = P[i, a] + P[j, a]
                own, other = pair + T[i, a], pair + T[j, a]
                two += pair * np.log(pair)
                with_own += own * np.log(own)
                with_other += other * np.log(other)
            base = LOG_2_3 - two / 2 + (h[i] + h[j]) / 6
            U[i, j] = np.exp(base + (with_own - g[i]) / 3) + np.exp(base + (with_other - g[j]) / 3)


def _timed_rows(
    compute: Callable[[Ints, Floats], None], sums: _Sums, full_limit: float, repeats: int
) -> PeerRun:
    """Time all rows, best of the repeats that fit in `full_limit`; or random rows, scaled by their pairs."""
    n = len(sums.P)
    U = np.full((n, n), np.nan)
    pairs_of_row = n - np.arange(n)
    shuffled = np.random.default_rng(0).permutation(n)

    def seconds(rows: Ints) -> float:
        start = perf_counter()
        compute(np.sort(rows), U)
        return perf_counter() - start

    probe = shuffled[:8]
    per_pair = seconds(probe) / pairs_of_row[probe].sum()
    expected = per_pair * pairs_of_row.sum()
    if expected <= full_limit:
        runs = [seconds(np.arange(n)) for _ in range(max(1, min(repeats, int(full_limit / expected))))]
        return PeerRun(U, sums.seconds + min(runs), extrapolated=False)
    sample = shuffled[: max(len(probe), int(n * full_limit / 3 / expected))]
    scale = pairs_of_row.sum() / pairs_of_row[sample].sum()
    return PeerRun(U, sums.seconds + scale * seconds(sample), extrapolated=True)
