"""A look at the data before anything is selected: what a careful person would want to be told."""

from __future__ import annotations

import numpy as np
from scipy.stats import f

from infused._runtime.messages import count, listed, quoted
from infused._typing import Array, Floats
from infused.coding import Coded, fewest_rows
from infused.data.dataset import Dataset
from infused.record.distributions import dense_columns
from infused.record.explained import explained_by_feature, explained_variance
from infused.selectors.extremes import LARGEST, tame

__all__ = ["inspect_data"]

NEARLY = 0.99  # of the samples with one value: nothing to learn from
HALF = 0.5
FEW_SAMPLES = 10  # of a class
LEAK = 0.98  # of the target told by one feature
WORTH_A_LOOK = 0.5  # explained share from which on a feature may tell all
MOST_LOOKED_AT = 20
SURPRISING = 0.05  # p below which chance is no explanation
LARGE_SHARE = 0.7  # of the largest class
MOST_FEATURES = 5000  # a look at the values of each feature takes too long beyond


def inspect_data(dataset: Dataset, coded: Coded, pixels: bool = False) -> list[str]:
    """Findings, a sentence each: what may be wrong with the data, the gravest first.

    ``pixels`` are often nearly constant, and that is not worth a word.
    """
    found = [*_chance(dataset, coded), *_leaks(dataset, coded), *_classes(dataset)]
    if dataset.n_features <= MOST_FEATURES:
        found += [*_mostly_missing(dataset), *_rare_levels(dataset)]
        found += [] if pixels else _nearly_constant(dataset)
    return found


def _chance(dataset: Dataset, coded: Coded) -> list[str]:
    """Whether the best feature tells no more than the best of as many random ones would, by F values."""
    target = np.unique(dataset.y, return_inverse=True)[1] if dataset.kind == "classes" else dataset.y
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
        f"no feature alone tells more about {quoted(dataset.target_name)} than chance would: the best of "
        f"{dataset.n_features:,} has p = {p:.2f} after Bonferroni's correction, so any selection may be noise"
    ]


def _leaks(dataset: Dataset, coded: Coded) -> list[str]:
    if dataset.y.ndim > 1:
        return []
    target = np.unique(dataset.y, return_inverse=True)[1] if dataset.kind == "classes" else dataset.y
    shares, _ = explained_by_feature(coded, np.arange(dataset.n_features), target, dataset.kind)
    order = np.argsort(-shares, kind="stable")[:MOST_LOOKED_AT]
    likely = [int(j) for j in order if shares[j] >= WORTH_A_LOOK]
    names = [dataset.feature_names[j] for j in likely if _tells(coded, j, target, dataset.kind == "classes")]
    if not names:
        return []
    each = "predicts" if len(names) == 1 else "each predict"
    return [
        f"{listed(names)} alone {each} {quoted(dataset.target_name)} almost perfectly: a leak? what is known "
        "only together with the target should be left out"
    ]


def _tells(coded: Coded, feature: int, target: Array, classes: bool) -> bool:
    """Whether a small tree on one feature predicts the target almost perfectly on samples it has not seen."""
    from sklearn.model_selection import cross_val_score
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    columns, _ = coded.columns(np.array([feature]))
    F = tame(dense_columns(coded.F, columns), LARGEST[4])  # a tree computes in float32
    target = target if classes else tame(target)
    if not classes:
        tree = DecisionTreeRegressor(min_samples_leaf=2, random_state=0)
        folds = min(3, len(target))
        return len(target) >= 6 and float(np.mean(cross_val_score(tree, F, target, cv=folds))) >= LEAK
    times = np.bincount(target)
    if times.min() < 3:
        return False
    tree = DecisionTreeClassifier(max_leaf_nodes=2 * len(times), class_weight="balanced", random_state=0)
    reached = cross_val_score(tree, F, target, cv=3, scoring="balanced_accuracy")
    return float(np.mean(reached)) >= LEAK


def _classes(dataset: Dataset) -> list[str]:
    if dataset.kind != "classes":
        return []
    labels, times = np.unique(dataset.y, return_counts=True)
    found = []
    few = [f"{quoted(str(label))} ({n})" for label, n in zip(labels, times, strict=True) if n < FEW_SAMPLES]
    if few:
        more = f" and {len(few) - 5} more" if len(few) > 5 else ""
        found.append(
            f"fewer than {FEW_SAMPLES} samples in {count(len(few), 'class')}: {', '.join(few[:5])}{more}"
        )
    share = times.max() / times.sum()
    if share >= LARGE_SHARE:
        most = quoted(str(labels[times.argmax()]))
        found.append(f"{share:.1%} of the samples are {most}: always to guess it is right that often")
    return found


def _values(dataset: Dataset, j: int) -> Floats:
    values: Floats = dense_columns(dataset.X, [j])[:, 0]
    return values


def _mostly_missing(dataset: Dataset) -> list[str]:
    if not dataset.coder.gaps:
        return []
    shares = {
        name: float(np.isnan(_values(dataset, j)).mean()) for j, name in enumerate(dataset.feature_names)
    }
    most = [f"{quoted(name)} ({share:.0%})" for name, share in shares.items() if share > HALF]
    return [f"more than half of the values are missing in {', '.join(most)}"] if most else []


def _nearly_constant(dataset: Dataset) -> list[str]:
    names = []
    for j, name in enumerate(dataset.feature_names):
        values = _values(dataset, j)
        half = len(values) // 2
        middle = np.partition(values, half)[half]  # a value that nearly all have is the median
        share = float((values == middle).mean())
        if NEARLY <= share < 1:
            names.append(name)
    if not names or len(names) > dataset.n_features // 2:  # counts and pictures are mostly zero
        return []
    return [f"nearly constant (one value in {NEARLY:.0%} of the samples or more): {listed(names)}"]


def _rare_levels(dataset: Dataset) -> list[str]:
    least, found = fewest_rows(dataset.n_samples), []
    for j, levels in enumerate(dataset.levels or ()):
        if levels is not None:
            values = _values(dataset, j)
            times = np.bincount(values[~np.isnan(values)].astype(np.int64), minlength=len(levels))
            rare = int(((times > 0) & (times < least)).sum())
            if rare:
                found.append(f"{quoted(dataset.feature_names[j])} ({rare:,})")
    if not found:
        return []
    return [f"levels with fewer than {least} samples are pooled: {', '.join(found)}"]
