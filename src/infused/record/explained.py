"""What features explain of the target, how they are distributed, and what looks wrong with the data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.linalg as sl
from scipy import sparse
from scipy.stats import f

from infused._runtime.messages import count, listed, quoted
from infused._runtime.threads import spans
from infused._typing import Array, Floats, Ints, TargetKind
from infused.coding import Coded, fewest_rows
from infused.data.dataset import Dataset
from infused.record.schema import ClassDistribution, TargetScatter
from infused.selectors.inputs.training import LARGEST, tame

COLUMNS_AT_ONCE = 256


def target_basis(target: Array, kind: TargetKind) -> Floats:
    """Return orthonormal columns that span the centred target: of classes, or of continuous values."""
    if kind == "classes":
        basis = np.eye(target.max() + 1)[:, target].T
        basis /= np.sqrt(basis.sum(axis=0))
        return np.asarray(basis)
    columns = tame(target.reshape(len(target), -1))
    basis, sizes, _ = np.linalg.svd(columns - columns.mean(axis=0), full_matrices=False)
    return np.asarray(basis[:, sizes > 1e-12 * sizes[0]])


def explained_variance(X: Any, columns: Ints, target: Array, kind: TargetKind) -> tuple[Floats, int]:
    r"""Compute the share of each column's variance that the target explains, and its degrees of freedom.

    :math:`\eta^2 = \sum_c n_c (\bar f_c - \bar f)^2 / \sum_a (f_a - \bar f)^2` for classes c, which are
    numbered from 0; for continuous targets the :math:`R^2` of the column regressed on them, which for one
    target is the squared correlation. A constant column has 0.
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
    r"""Compute the explained share of features of several columns, :math:`\sum_j w_j \eta_j^2 / \sum_j w_j`.

    The columns of a category weigh by their variance, so that this is the variance between classes over the
    total one; a number and the indicator of its missing values, which share no unit, weigh the same.
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
    r"""Correct shares for chance: zero on average where there is nothing to explain.

    .. math:: 1 - (1 - \eta^2) \frac{M - 1}{M - 1 - q}

    with q degrees of freedom of the target (classes less one, or continuous targets). It can be a little
    below zero; where the target has a degree of freedom for every sample, it is zero.
    """
    left = n_samples - 1 - degrees
    return 1 - (1 - shares) * (n_samples - 1) / left if left > 0 else np.zeros_like(shares)


def lost_without(F: Floats, target: Array, kind: TargetKind, ends: Ints | None = None) -> Floats:
    r"""Compute what a ridge regression of the target on some features loses without each of them.

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
    """Return some columns of a dense or sparse X as a dense array."""
    part = X[:, columns]
    return np.asarray(part.toarray() if sparse.issparse(part) else part, dtype=np.float64)


def class_distribution(
    name: str, values: Floats, labels: Ints, n_classes: int, levels: tuple[str, ...] | None = None
) -> ClassDistribution:
    """Count a feature's values on common bins, or by its levels, for each class (numbered from 0)."""
    known = ~np.isnan(values)
    values, labels = values[known], labels[known]
    edges = _bin_edges(values) if levels is None else np.arange(len(levels) + 1) - 0.5
    counts = [np.histogram(values[labels == c], edges)[0] for c in range(n_classes)]
    return ClassDistribution(
        name, tuple(edges.tolist()), tuple(tuple(row.tolist()) for row in counts), levels
    )


def _bin_edges(values: Floats) -> Floats:
    """Return one bin for each value of a short scale of equal steps (counts, grey levels), else 24 bins."""
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
    """Return a feature against the target; of many samples, those evenly spaced in the target's order."""
    known = ~np.isnan(values)
    values, target = values[known], target[known]
    order = np.argsort(target, kind="stable")
    shown = order[np.linspace(0, len(order) - 1, min(len(order), MOST_SAMPLES)).round().astype(int)]
    return TargetScatter(name, tuple(values[shown].tolist()), tuple(target[shown].tolist()), levels)


NEARLY = 0.99  # of the samples with one value: nothing to learn from
HALF = 0.5
FEW_SAMPLES = 10  # of a class
LEAK = 0.98  # score of one feature alone
WORTH_A_LOOK = 0.5  # explained share from which on a feature is tried
MOST_LOOKED_AT = 20
SURPRISING = 0.05  # p below which chance is no explanation
LARGE_SHARE = 0.7  # of the largest class
MOST_FEATURES = 5000  # a look at the values of each feature takes too long beyond


def inspect_data(dataset: Dataset, coded: Coded, pixels: bool = False) -> list[str]:
    """Return findings on what may be wrong with the data, a sentence each, the gravest first.

    ``pixels`` are often nearly constant, which is not reported.
    """
    labels, target, sizes = np.unique(dataset.y, return_inverse=True, return_counts=True)
    classes = dataset.kind == "classes"
    found = _chance(dataset, coded, target if classes else dataset.y)
    if dataset.y.ndim == 1:
        found += _leaks(dataset, coded, target if classes else dataset.y)
    if classes:
        found += _classes(labels, sizes)
    if dataset.n_features <= MOST_FEATURES:
        found += [*_mostly_missing(dataset), *_rare_levels(dataset)]
        found += [] if pixels else _nearly_constant(dataset)
    return found


def _chance(dataset: Dataset, coded: Coded, target: Array) -> list[str]:
    """Report when the best feature explains no more than the best of as many random ones, by F values."""
    n_columns = coded.F.shape[1]
    shares, degrees = explained_variance(coded.F, np.arange(n_columns), target, dataset.kind)
    left = dataset.n_samples - 1 - degrees
    largest = float(shares.max(initial=0.0))
    if left < 1 or largest >= 1:
        return []
    p = min(1.0, n_columns * float(f.sf(largest / degrees / ((1 - largest) / left), degrees, left)))
    if p <= SURPRISING:
        return []
    return [
        f"no single feature predicts {quoted(dataset.target_name)} better than chance: the best of "
        f"{dataset.n_features:,} has p = {p:.2f} after Bonferroni's correction, so any selection may be noise"
    ]


def _leaks(dataset: Dataset, coded: Coded, target: Array) -> list[str]:
    """Report features that alone predict the target almost perfectly."""
    shares, _ = explained_by_feature(coded, np.arange(dataset.n_features), target, dataset.kind)
    order = np.argsort(-shares, kind="stable")[:MOST_LOOKED_AT]
    names = [
        dataset.feature_names[j]
        for j in order[shares[order] >= WORTH_A_LOOK].tolist()
        if _predicts(coded, j, target, dataset.kind == "classes")
    ]
    if not names:
        return []
    one = len(names) == 1
    predict, they = ("predicts", "it is") if one else ("each predict", "they are")
    return [
        f"possible leakage: {listed(names)} alone {predict} {quoted(dataset.target_name)} almost perfectly; "
        f"if {they} known only afterwards, drop {'it' if one else 'them'}"
    ]


def _predicts(coded: Coded, feature: int, target: Array, classes: bool) -> bool:
    """Return whether a small tree on one feature predicts the target almost perfectly on unseen samples."""
    from sklearn.model_selection import cross_val_score
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    columns, _ = coded.columns(np.array([feature]))
    F = tame(dense_columns(coded.F, columns), LARGEST[4])  # a tree computes in float32
    if not classes:
        tree = DecisionTreeRegressor(min_samples_leaf=2, random_state=0)
        folds = min(3, len(target))
        return len(target) >= 6 and float(np.mean(cross_val_score(tree, F, tame(target), cv=folds))) >= LEAK
    times = np.bincount(target)
    if times.min() < 3:
        return False
    tree = DecisionTreeClassifier(max_leaf_nodes=2 * len(times), class_weight="balanced", random_state=0)
    reached = cross_val_score(tree, F, target, cv=3, scoring="balanced_accuracy")
    return float(np.mean(reached)) >= LEAK


def _classes(labels: Array, sizes: Ints) -> list[str]:
    """Report small classes, and one that most samples belong to."""
    found = []
    few = [f"{quoted(str(label))} ({n})" for label, n in zip(labels, sizes, strict=True) if n < FEW_SAMPLES]
    if few:
        more = f" and {len(few) - 5} more" if len(few) > 5 else ""
        found.append(
            f"fewer than {FEW_SAMPLES} samples in {count(len(few), 'class')}: {', '.join(few[:5])}{more}"
        )
    share = sizes.max() / sizes.sum()
    if share >= LARGE_SHARE:
        most = quoted(str(labels[sizes.argmax()]))
        found.append(f"{share:.1%} of the samples are {most}: always guessing it is right that often")
    return found


def _columns(dataset: Dataset) -> Iterator[tuple[str, Floats]]:
    """Yield the name and the values of each feature."""
    for j, name in enumerate(dataset.feature_names):
        yield name, dense_columns(dataset.X, [j])[:, 0]


def _mostly_missing(dataset: Dataset) -> list[str]:
    if not dataset.coder.gaps:
        return []
    shares = {name: float(np.isnan(values).mean()) for name, values in _columns(dataset)}
    most = [f"{quoted(name)} ({share:.0%})" for name, share in shares.items() if share > HALF]
    return [f"more than half of the values are missing in {', '.join(most)}"] if most else []


def _nearly_constant(dataset: Dataset) -> list[str]:
    names = []
    for name, values in _columns(dataset):
        half = len(values) // 2
        middle = np.partition(values, half)[half]  # a value that nearly all have is the median
        if NEARLY <= (values == middle).mean() < 1:
            names.append(name)
    if not names or len(names) > dataset.n_features // 2:  # counts and pictures are mostly zero
        return []
    return [f"nearly constant (one value in {NEARLY:.0%} of the samples or more): {listed(names)}"]


def _rare_levels(dataset: Dataset) -> list[str]:
    if dataset.levels is None:
        return []
    least, found = fewest_rows(dataset.n_samples), []
    for (name, values), levels in zip(_columns(dataset), dataset.levels, strict=True):
        if levels is not None:
            times = np.bincount(values[~np.isnan(values)].astype(np.int64), minlength=len(levels))
            rare = int(((times > 0) & (times < least)).sum())
            if rare:
                found.append(f"{quoted(name)} ({rare:,})")
    return [f"levels with fewer than {least} samples are pooled: {', '.join(found)}"] if found else []
