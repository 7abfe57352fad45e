"""U straight from its equations: slow, obvious, and sharing no code with infused.

    U_ij = (I_S(G_i, G_j, T_i) + I_S(G_i, G_j, T_j)) / I_S(G_i, G_j),    I_S = exp(-JSD),

with JSD = H(mean) - mean(H), G_i the distribution of the kernel graph of feature i, and T_i that of the graph
of its class means.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from benchmarks.threads import THREADS

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SLAB = 2**17  # entries held at once by a thread: small enough to stay in cache


class Definition:
    """The plain definition for chosen columns of (X, y): distributions once, then any pairs of them."""

    def __init__(self, X: NDArray[Any], y: NDArray[Any], features: Ints) -> None:
        self._row = np.full(X.shape[1], -1)  # where a column of X stands in P and T
        self._row[features] = np.arange(len(features))
        columns = [np.asarray(X[:, feature], dtype=np.float64) for feature in features]
        self.P = np.array(_threaded(graph_distribution, columns))
        self.T = np.array(_threaded(lambda f: graph_distribution(class_means(f, y)), columns))
        self._h, self._ht = entropy(self.P), entropy(self.T)

    def pairs(self, pairs: Ints) -> Floats:
        """U_ij for every row (i, j) of `pairs`, which hold column numbers of X."""
        rows = self._row[pairs]
        size = max(1, SLAB // self.P.shape[1])
        chunks = [rows[start : start + size] for start in range(0, len(rows), size)]
        return np.concatenate(_threaded(self._chunk, chunks))

    def _chunk(self, rows: Ints) -> Floats:
        i, j = rows.T
        P_i, P_j, h_i, h_j = self.P[i], self.P[j], self._h[i], self._h[j]
        two = entropy((P_i + P_j) / 2) - (h_i + h_j) / 2
        three_i = entropy((P_i + P_j + self.T[i]) / 3) - (h_i + h_j + self._ht[i]) / 3
        three_j = entropy((P_i + P_j + self.T[j]) / 3) - (h_i + h_j + self._ht[j]) / 3
        return (np.exp(-three_i) + np.exp(-three_j)) / np.exp(-two)


def graph_distribution(f: Floats) -> Floats:
    """p_a = d_a / sum(d), d = w * (A @ (A @ w)), w_a = 1 / |A_a|, A_ab = |f_a - f_b|: the degrees of K.

    Every entry of the M x M matrix A is formed, a slab of rows at a time.
    """
    norm = np.sqrt(np.concatenate([np.einsum("ab,ab->a", A, A) for A in _distances(f)]))
    if not norm.any():
        return np.full(len(f), 1 / len(f))  # a constant feature
    w = 1 / norm
    s = np.concatenate([A @ w for A in _distances(f)])
    d = w * np.concatenate([A @ s for A in _distances(f)])
    return d / d.sum()


def class_means(f: Floats, y: NDArray[Any]) -> Floats:
    """f_a replaced by the mean of its class, less f_0: without the shift a large offset would cost digits."""
    shifted = f - f[0]
    means = np.empty_like(shifted)
    for label in np.unique(y):
        means[y == label] = shifted[y == label].mean()
    return means


def entropy(p: Floats) -> Floats:
    """H = -sum p log p along the last axis; p is positive in kernel graphs."""
    return -(p * np.log(p)).sum(axis=-1)  # summed pairwise: einsum or a plain loop loses two digits here


def _distances(f: Floats) -> Iterator[Floats]:
    size = max(1, SLAB // len(f))
    for start in range(0, len(f), size):
        yield np.abs(f[start : start + size, None] - f)


def _threaded(function: Callable[[Any], Floats], items: Iterable[Any]) -> list[Floats]:
    # BLAS on one thread inside: the threads here already fill the cores.
    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(function, items))
