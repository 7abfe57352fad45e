"""What a feature explains: alone, and beside the other selected ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg as sl
from scipy import sparse

from infused._runtime.threads import spans
from infused._typing import Array, Floats, Ints, TargetKind
from infused.coding import Coded
from infused.record.schema import ClassDistribution, TargetScatter
from infused.selectors.inputs.training import tame

COLUMNS_AT_ONCE = 256


def target_basis(target: Array, kind: TargetKind) -> Floats:
    """Orthonormal columns that span the centred target: of classes, or of real values."""
    if kind == "classes":
        basis = np.eye(target.max() + 1)[:, target].T
        basis /= np.sqrt(basis.sum(axis=0))
        return np.asarray(basis)
    columns = tame(target.reshape(len(target), -1))
    basis, sizes, _ = np.linalg.svd(columns - columns.mean(axis=0), full_matrices=False)
    return np.asarray(basis[:, sizes > 1e-12 * sizes[0]])


def explained_variance(X: Any, columns: Ints, target: Array, kind: TargetKind) -> tuple[Floats, int]:
    r"""Share of each column's variance that the target explains, between 0 and 1; and its degrees of freedom.

    :math:`\eta^2 = \sum_c n_c (\bar f_c - \bar f)^2 / \sum_a (f_a - \bar f)^2` for classes c, which are
    numbered from 0; for real targets the :math:`R^2` of the column regressed on them, which for one is the
    squared correlation. A constant column has 0.
    """
    basis = target_basis(target, kind)
    shares = np.zeros(len(columns))
    for part in spans(len(columns), COLUMNS_AT_ONCE):
        values = tame(dense_columns(X, columns[part]))
        spread = np.ptp(values, axis=0)
        centred = (values - values.mean(axis=0)) / np.where(spread == 0, 1.0, spread)
        total = np.where(spread == 0, 1.0, (centred**2).sum(axis=0))
        shares[part] = np.where(spread == 0, 0.0, ((basis.T @ centred) ** 2).sum(axis=0) / total)
    degrees = basis.shape[1] - 1 if kind == "classes" else basis.shape[1]
    return np.clip(shares, 0.0, 1.0), degrees


def explained_by_feature(coded: Coded, features: Ints, target: Array, kind: TargetKind) -> tuple[Floats, int]:
    r"""The same for features of one or several columns: :math:`\sum_j w_j \eta_j^2 / \sum_j w_j`.

    The columns of a category weigh by their variance, so that this is the variance between classes over the
    total one; a number and the indicator of its gaps, which have no unit in common, weigh the same.
    """
    columns, ends = coded.columns(features)
    shares, degrees = explained_variance(coded.F, columns, target, kind)
    if coded.groups is None:
        return shares, degrees
    F = dense_columns(coded.F, columns)
    starts = np.concatenate([[0], ends[:-1]])
    weights = tame(F).var(axis=0)
    numbers = np.zeros(len(columns), dtype=bool) if coded.numeric is None else coded.numeric[columns]
    for start, end in zip(starts, ends, strict=True):
        if coded.numeric is None or numbers[start:end].any():
            weights[start:end] = weights[start:end] > 0
    total = np.add.reduceat(weights, starts)
    return np.add.reduceat(weights * shares, starts) / np.where(total > 0, total, 1.0), degrees


def adjusted(shares: Floats, degrees: int, n_samples: int) -> Floats:
    r"""Shares corrected for chance: zero on average where there is nothing to explain.

    .. math:: 1 - (1 - \eta^2) \frac{M - 1}{M - 1 - q}

    with q degrees of freedom of the target (classes less one, or real targets). It can be a little below
    zero; where the target has a degree of freedom for every sample, nothing can be said, and it is zero.
    """
    left = n_samples - 1 - degrees
    return 1 - (1 - shares) * (n_samples - 1) / left if left > 0 else np.zeros_like(shares)


def lost_without(F: Floats, target: Array, kind: TargetKind, ends: Ints | None = None) -> Floats:
    r"""What a ridge regression of the target on some features loses without each of them.

    .. math:: \frac{L(S \setminus j) - L(S)}{|Y|^2}, \qquad
              L(S) = \min_B |Y - X_S B|^2 + |B|^2 = |Y|^2 - Y'X_S A^{-1} X_S'Y, \quad A = X_S'X_S + I

    on features of variance one. The numerator is :math:`|b_j|^2 / (A^{-1})_{jj}`, so that one inverse
    serves all features. Where these are more than the samples, it comes from the smaller
    :math:`K = X_S X_S' + I`: :math:`A^{-1} = I - X_S' K^{-1} X_S` and :math:`B = X_S' K^{-1} Y`.

    Where features have several columns, which end at ``ends``, a feature's loss is that of its block g:
    :math:`\mathrm{tr}(B_g' ((A^{-1})_{gg})^{-1} B_g)`.
    """
    if F.shape[1] == 0:
        return np.zeros(0)
    largest = np.abs(F).max(axis=0)
    F = F / np.where(largest > 0, largest, 1.0)  # so that no square overflows
    F = F - F.mean(axis=0)
    deviation = np.sqrt((F * F).mean(axis=0))
    F = F / np.where(deviation > 1e-12, deviation, np.inf)
    Y = target_basis(target, kind)
    Y = Y - Y.mean(axis=0)
    total = float((Y * Y).sum()) or 1.0
    n_samples, n_features = F.shape
    if n_features <= n_samples:
        inverse = sl.inv(F.T @ F + np.eye(n_features))
        B, diagonal = inverse @ (F.T @ Y), inverse.diagonal()
    else:
        solved = sl.solve(F @ F.T + np.eye(n_samples), np.hstack([F, Y]), assume_a="pos")
        B, diagonal = F.T @ solved[:, n_features:], 1 - (F * solved[:, :n_features]).sum(axis=0)
        inverse = None
    if ends is None or len(ends) == n_features:
        return np.asarray((B * B).sum(axis=1) / diagonal / total)
    lost = []
    for start, end in zip([0, *ends[:-1]], ends, strict=True):
        part = slice(start, end)
        own = (
            inverse[part, part]
            if inverse is not None
            else np.eye(end - start) - F[:, part].T @ solved[:, part]
        )
        lost.append(float((B[part] * sl.solve(own, B[part], assume_a="sym")).sum()) / total)
    return np.array(lost)


BINS = 24
MOST_SAMPLES = 500


def dense_columns(X: Any, columns: Any) -> Floats:
    """Some columns of a dense or sparse X as a dense array."""
    part = X[:, columns]
    return np.asarray(part.toarray() if sparse.issparse(part) else part, dtype=np.float64)


def class_distribution(
    name: str, values: Floats, labels: Ints, n_classes: int, levels: tuple[str, ...] | None = None
) -> ClassDistribution:
    """Counts of a feature's values on common bins, or by its levels, for each class (numbered from 0)."""
    known = ~np.isnan(values)
    values, labels = values[known], labels[known]
    edges = _bin_edges(values) if levels is None else np.arange(len(levels) + 1) - 0.5
    counts = [np.histogram(values[labels == c], edges)[0] for c in range(n_classes)]
    return ClassDistribution(
        name, tuple(edges.tolist()), tuple(tuple(row.tolist()) for row in counts), levels
    )


def _bin_edges(values: Floats) -> Floats:
    """One bin for each value of a short scale of equal steps (counts, grey levels), else 24 equal bins."""
    distinct = np.unique(values)
    if len(distinct) == 1:
        return np.asarray(distinct[0] + np.array([-0.5, 0.5]) * max(1.0, abs(distinct[0])))
    step = np.diff(distinct).min()
    n_steps = (distinct - distinct[0]) / step
    if n_steps[-1] < BINS and np.allclose(n_steps, n_steps.round(), rtol=0, atol=1e-6):
        return np.asarray(distinct[0] + step * (np.arange(round(n_steps[-1]) + 2) - 0.5))
    return np.linspace(distinct[0], distinct[-1], BINS + 1)


def target_scatter(
    name: str, values: Floats, target: Floats, levels: tuple[str, ...] | None = None
) -> TargetScatter:
    """A feature against the target; of many samples, those evenly spaced in the order of the target."""
    known = ~np.isnan(values)
    values, target = values[known], target[known]
    order = np.argsort(target, kind="stable")
    shown = order[np.linspace(0, len(order) - 1, min(len(order), MOST_SAMPLES)).round().astype(int)]
    return TargetScatter(name, tuple(values[shown].tolist()), tuple(target[shown].tolist()), levels)
