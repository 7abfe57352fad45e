"""Slow, obvious twins, written from the equations; and where figures of other programs are."""

from __future__ import annotations

import os
from fractions import Fraction
from pathlib import Path

import mpmath
import numpy as np
from scipy.special import entr

EPS = Fraction(1, 2**52)
REFERENCE = Path(
    os.environ.get("INFUSED_REFERENCE")
    or (
        Path(os.environ["INFUSED_DATA"]).parent / "reference" if os.environ.get("INFUSED_DATA") else "nowhere"
    )
)


def precise_distribution(f, graph="kernel"):
    """p_a = d_a / sum(d), d_a = sum_b K_ab, from the M x M matrices, with 60 digits."""
    return _distribution([Fraction(float(v)) for v in f], graph)


def precise_target_distribution(f, y, graph="kernel"):
    """The same for class means; gaps up to 4 M eps (max f - min f) count as zero."""
    f = [Fraction(float(v)) for v in f]
    y = np.asarray(y)
    members = {c: [v for v, label in zip(f, y, strict=True) if label == c] for c in np.unique(y)}
    means = {c: sum(values) / len(values) for c, values in members.items()}
    noise = 4 * len(f) * EPS * (max(f) - min(f))
    position, place, before = {}, Fraction(0), None
    for c in sorted(means, key=means.__getitem__):
        if before is not None and means[c] - before > noise:
            place += means[c] - before
        position[c], before = place, means[c]
    return _distribution([position[c] for c in y], graph)


def _distribution(f, graph):
    m = len(f)
    with mpmath.workdps(60):
        away = {d: mpmath.mpf(d.numerator) / d.denominator for d in {a - b for a in f for b in f if a >= b}}
        A = [[away[abs(a - b)] for b in f] for a in f]
        if not any(map(any, A)):
            return np.full(m, 1 / m)
        if graph == "kernel":  # sum_b <A_a, A_b> / (|A_a| |A_b|), the sum taken first
            norm = [mpmath.sqrt(mpmath.fdot(row, row)) for row in A]
            total = [mpmath.fsum(x / n for x, n in zip(column, norm, strict=True)) for column in A]
            degree = [mpmath.fdot(row, total) / n for row, n in zip(A, norm, strict=True)]
        else:
            degree = [mpmath.fsum(row) for row in A]
        total = mpmath.fsum(degree)
        return np.array([float(d / total) for d in degree])


def entropy(p):
    return entr(p).sum(axis=0)


def jsd(*distributions):
    """H(mean) - mean(H)."""
    mean = sum(distributions) / len(distributions)
    return entropy(mean) - sum(map(entropy, distributions)) / len(distributions)


def definition(P, T, criterion="three-way"):
    """U of all pairs, from samples x features distributions, one pair at a time."""

    def similar(*distributions):
        return np.exp(-jsd(*distributions))

    n = P.shape[1]
    U = np.empty((n, n))
    for i in range(n):
        for j in range(i, n):
            p, q, t, s = P[:, i], P[:, j], T[:, i], T[:, j]
            if criterion == "three-way":
                relevance = similar(p, q, t) + similar(p, q, s)
            else:
                relevance = similar(p, t) + similar(q, s)
            U[i, j] = U[j, i] = relevance / similar(p, q)
    return U


def centred_graph(f, graph, weights, K=None):
    """One feature's graph (or K), centred and of norm one, with weights as if samples were repeated."""
    if K is None:
        f = f - np.average(f, weights=weights)
        deviation = np.sqrt(np.average(f * f, weights=weights))
        A = np.abs(f[:, None] - f) / (deviation if deviation > 1e-12 else 1.0)
        lengths = np.sqrt((A * A) @ weights)
        K = {
            "gaussian": np.exp(-0.5 * A * A),
            "laplacian": np.exp(-A),
            "distance": -A,
            "kernel": (A * weights) @ A / np.maximum(np.outer(lengths, lengths), 1e-300),
        }[graph]
    H = np.eye(len(weights)) - weights / weights.sum()
    K = np.sqrt(np.outer(weights, weights)) * (H @ K @ H.T)
    norm = np.linalg.norm(K)
    return K / norm if norm > 1e-9 else np.zeros_like(K)


def stored_products(A, W, missing, fill):
    """A'W, where a missing value counts as the fill of its column."""
    values = np.asarray(A, dtype=float)
    if missing is not None:
        values = np.where(missing == A, fill, values)
    return np.array(
        [[sum(a * w for a, w in zip(column, row, strict=True)) for row in W.T] for column in values.T]
    )


def stored_sums(A, missing):
    """How many values of each column are not missing, their sum and that of their squares."""
    columns = [[int(a) for a in column if a != missing] for column in A.T]
    return [[len(own), sum(own), sum(a * a for a in own)] for own in columns]
