"""What features explain of the target, how they are distributed, and what looks wrong with the data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg as sl
from scipy import sparse
from scipy.special import logsumexp
from scipy.stats import f
from sklearn.metrics import mutual_info_score
from sklearn.metrics.cluster import contingency_matrix, expected_mutual_information

from infused._runtime.messages import count, listed, quoted
from infused._runtime.threads import spans
from infused._typing import Array, Floats, Ints, TargetKind
from infused.coding import TRANSFORMS, Coded, fewest_rows
from infused.data.dataset import Dataset
from infused.record.schema import ClassDistribution, TargetScatter
from infused.selectors.inputs.training import LARGEST, tame

COLUMNS_AT_ONCE = 256
MOST_PRODUCTS, FEWEST_ROWS = 2_000_000, 2000  # of a logistic regression: samples x classes², and samples
NEWTON_STEPS, HALVINGS, RIDGE, DEVIANCE_TOLERANCE = 30, 30, 1e-10, 1e-4


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


def explained_alone(dataset: Dataset, features: Iterable[int], transform: str = "none") -> Floats:
    r"""Compute what each feature explains of the target by itself, corrected for chance.

    For a continuous target the adjusted :math:`R^2` of the regression on the feature: a number, or the levels
    of a category. For classes the share of the log loss that the feature explains, McFadden's :math:`R^2` of
    a logistic regression, from which its expectation under independence is taken,

    .. math:: \frac{D_0 - D - E}{D_0 - E}

    with deviances :math:`D_0` without and :math:`D` with the feature. For numbers
    :math:`E = q M / (M - 1 - q)` with q degrees of freedom of the likelihood ratio and M samples; for a
    category :math:`D_0 - D` is proportional to the mutual information, whose expectation under permutations
    is exact. Both are zero on average for noise, and 1 where the feature determines the target. Numbers count
    on the rows where they are known, after ``transform``; a missing value of a category is a level.
    """
    codes = np.unique(dataset.y, return_inverse=True)[1] if dataset.kind == "classes" else None
    target = np.zeros((dataset.n_samples, 0)) if codes is not None else _standardised(dataset.y)
    found = []
    for j in features:
        values, levels = shown_values(dataset, j, transform)
        known = ~np.isnan(values) if levels is None else np.ones(len(values), dtype=bool)
        own: Any = tame(values[known]) if levels is None else np.nan_to_num(values, nan=-1.0).astype(np.int64)
        if codes is None:
            found.append(_variance_share(own, target[known]))
        elif levels is None:
            found.append(_log_loss_share(own, codes[known]))
        else:
            found.append(_information_share(own, codes))
    return np.array(found)


def shown_values(
    dataset: Dataset, feature: int, transform: str = "none"
) -> tuple[Floats, tuple[str, ...] | None]:
    """Return a feature's values, NaN where they are missing, and its levels if it is a category.

    A category holds the positions of its levels, a missing value and pooled levels among them.
    """
    values, variables = dense_columns(dataset.X, [feature])[:, 0], dataset.coding.variables
    if not variables or variables[feature].levels is None:
        return np.asarray(TRANSFORMS[transform](values)), None
    outcome = dataset.coding.outcome(values, feature).astype(np.float64)
    return np.where(outcome < 0, np.nan, outcome), variables[feature].outcomes


def _standardised(y: Array) -> Floats:
    """Return targets as columns of mean zero and length one, so that each counts the same."""
    columns = tame(np.asarray(y, dtype=np.float64).reshape(len(y), -1))
    columns = columns - columns.min(axis=0)  # exactly zero where it is constant
    columns = columns - columns.mean(axis=0)
    length = np.linalg.norm(columns, axis=0)
    return np.asarray(columns / np.where(length > 0, length, 1.0))


def _variance_share(own: Array, target: Floats) -> float:
    """Compute the adjusted R² of targets on a number, or on levels (whole numbers)."""
    n = len(own)
    if n < 2:
        return 0.0
    centred = target - target.mean(axis=0)
    total = (centred**2).sum()
    if own.dtype.kind == "f":
        direction = _standardised(own)
        degrees, explained = int(direction.any()), ((direction.T @ centred) ** 2).sum()
    else:
        _, member, sizes = np.unique(own, return_inverse=True, return_counts=True)
        sums = np.zeros((len(sizes), centred.shape[1]))
        np.add.at(sums, member, centred)
        degrees, explained = len(sizes) - 1, (sums**2 / sizes[:, None]).sum()
    left = n - 1 - degrees
    if total <= 0 or degrees == 0 or left < 1:
        return 0.0
    return float(1 - (1 - min(1.0, explained / total)) * (n - 1) / left)


def _information_share(own: Ints, codes: Ints) -> float:
    """Compute the share of the target's entropy that levels explain, beyond permutations of them."""
    table = contingency_matrix(codes, own, sparse=True)
    entropy = float(multinomial_entropy(np.bincount(codes)))
    information = float(mutual_info_score(None, None, contingency=table))
    by_chance = float(expected_mutual_information(table, len(own)))
    return _beyond_chance(information, by_chance, entropy)


def _log_loss_share(own: Floats, codes: Ints) -> float:
    """Compute the share of the deviance that a logistic regression on a number explains, beyond chance."""
    _, codes, sizes = np.unique(codes, return_inverse=True, return_counts=True)
    x = _standardised(own)[:, 0]
    if len(sizes) < 2 or not x.any():
        return 0.0
    rows = np.arange(len(x))
    most = max(FEWEST_ROWS, MOST_PRODUCTS // len(sizes) ** 2)
    if len(x) > most:  # evenly spaced in every class
        rows = np.argsort(codes, kind="stable")[np.linspace(0, len(x) - 1, most).round().astype(int)]
    codes, x, degrees = codes[rows], x[rows] * np.sqrt(len(x)), len(sizes) - 1
    left = len(rows) - 1 - degrees
    if left < 1:
        return 0.0
    none = 2 * len(rows) * float(multinomial_entropy(np.bincount(codes, minlength=len(sizes))))
    # Of few samples the likelihood ratio of noise is larger than its degrees of freedom.
    return _beyond_chance(none - _deviance(x, codes, len(sizes)), degrees * len(rows) / left, none)


def _beyond_chance(explained: float, by_chance: float, most: float) -> float:
    """Rescale what is explained so that chance is 0 and all there is to explain is 1."""
    return (explained - by_chance) / (most - by_chance) if most > by_chance else 0.0


def multinomial_entropy(counts: Ints) -> float:
    """Compute the entropy of classes from their sizes, in nats."""
    shares = counts[counts > 0] / counts.sum()
    return float(-(shares * np.log(shares)).sum())


def _deviance(x: Floats, codes: Ints, n_classes: int) -> float:
    """Fit a logistic regression of classes on one number by Newton's method, and return its deviance.

    Where the number separates classes, the coefficients grow without end and the deviance falls to zero: then
    a part in a thousand is as good as none.
    """
    Z = np.column_stack([np.ones(len(x)), x])
    member = np.eye(n_classes)[codes][:, 1:]
    coefficients = np.zeros((n_classes - 1, 2))
    coefficients[:, 0] = np.log(np.maximum(member.sum(axis=0), 0.5) / max(0.5, (codes == 0).sum()))

    def fitted(coefficients: Floats) -> tuple[Floats, float]:
        scores = np.column_stack([np.zeros(len(x)), Z @ coefficients.T])
        scores -= logsumexp(scores, axis=1, keepdims=True)
        return np.exp(scores[:, 1:]), float(-2 * scores[np.arange(len(x)), codes].sum())

    shares, deviance = fitted(coefficients)
    tolerance = DEVIANCE_TOLERANCE * deviance
    for _ in range(NEWTON_STEPS):
        gradient = (member - shares).T @ Z
        curvature = np.zeros((n_classes - 1, 2, n_classes - 1, 2))
        for a, b in ((0, 0), (0, 1), (1, 1)):
            weighted = shares * (Z[:, a] * Z[:, b])[:, None]
            part = np.diag(weighted.sum(axis=0)) - weighted.T @ shares
            curvature[:, a, :, b] = curvature[:, b, :, a] = part
        square = curvature.reshape(gradient.size, gradient.size)
        square.flat[:: len(square) + 1] += RIDGE * len(x)
        step = np.linalg.solve(square, gradient.ravel()).reshape(gradient.shape)
        before = deviance
        for _ in range(HALVINGS):
            shares, deviance = fitted(coefficients + step)
            if deviance <= before:
                break
            step /= 2
        else:
            return before
        coefficients += step
        if before - deviance <= tolerance:
            break
    return deviance


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


@dataclass(frozen=True)
class Findings:
    """What may be wrong with the data."""

    leaks: tuple[str, ...] = ()
    """Features that alone predict the target almost perfectly."""
    chance: float | None = None
    """p of the best single feature, after Bonferroni's correction; None where it cannot be computed."""
    warnings: tuple[str, ...] = ()
    """What may make the result misleading, in sentences, the gravest first."""
    notes: tuple[str, ...] = ()
    """Further observations, in sentences."""


def inspect_data(dataset: Dataset, coded: Coded, pixels: bool = False, transform: str = "none") -> Findings:
    """Find what may be wrong with the data.

    ``pixels`` are often nearly constant, which is not reported.
    """
    dataset = dataset.with_numbers()
    labels, target, sizes = np.unique(dataset.y, return_inverse=True, return_counts=True)
    classes = dataset.kind == "classes"
    leaks = _leaks(dataset, coded, target if classes else dataset.y, transform) if dataset.y.ndim == 1 else []
    warnings = [_leak_sentence(leaks, dataset.target_name)] if leaks else []
    chance = _chance(dataset, coded, target if classes else dataset.y)
    if chance is not None and chance > SURPRISING:
        warnings.append(
            f"no single feature predicts {quoted(dataset.target_name)} better than chance: the best of "
            f"{dataset.n_features:,} has p = {chance:.2f} after Bonferroni's correction, so any selection "
            "may be noise"
        )
    if classes:
        warnings += _classes(labels, sizes)
    notes = []
    if dataset.n_features <= MOST_FEATURES:
        notes = [*_mostly_missing(dataset), *_rare_levels(dataset)]
        notes += [] if pixels else _nearly_constant(dataset)
    return Findings(tuple(leaks), chance, tuple(warnings), tuple(notes))


def _chance(dataset: Dataset, coded: Coded, target: Array) -> float | None:
    """Return the p of the best column among as many of noise, by F values; None without enough samples."""
    n_columns = coded.F.shape[1]
    shares, degrees = explained_variance(coded.F, np.arange(n_columns), target, dataset.predicted_kind)
    left = dataset.n_samples - 1 - degrees
    largest = float(shares.max(initial=0.0))
    if left < 1:
        return None
    if largest >= 1:
        return 0.0
    p = float(f.sf(largest / degrees / ((1 - largest) / left), degrees, left))
    return float(min(1.0, n_columns * p))


def _leaks(dataset: Dataset, coded: Coded, target: Array, transform: str) -> list[str]:
    """Return the features that alone predict the target almost perfectly."""
    shares, _ = explained_variance(coded.F, np.arange(coded.F.shape[1]), target, dataset.predicted_kind)
    worth = np.zeros(dataset.n_features)
    np.maximum.at(worth, coded.variables, shares)
    categories = [j for j, own in enumerate(dataset.levels or ()) if own is not None]
    worth[categories] = np.maximum(worth[categories], explained_alone(dataset, categories, transform))
    order = np.argsort(-worth, kind="stable")[:MOST_LOOKED_AT]
    return [
        dataset.feature_names[j]
        for j in order[worth[order] >= WORTH_A_LOOK].tolist()
        if _predicts(coded, j, target, dataset.kind == "classes")
    ]


def _leak_sentence(names: list[str], target: str) -> str:
    one = len(names) == 1
    predict, they = ("predicts", "it is") if one else ("each predict", "they are")
    return (
        f"possible leakage: {listed(names)} alone {predict} {quoted(target)} almost perfectly; "
        f"if {they} known only afterwards, drop {'it' if one else 'them'}"
    )


def _predicts(coded: Coded, feature: int, target: Array, classes: bool) -> bool:
    """Return whether a small tree on one feature predicts the target almost perfectly on unseen samples."""
    from sklearn.model_selection import KFold, cross_val_score
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    columns, _ = coded.columns(np.array([feature]))
    F = tame(dense_columns(coded.F, columns), LARGEST[4])  # a tree computes in float32
    if not classes:
        tree = DecisionTreeRegressor(min_samples_leaf=2, random_state=0)
        folds = min(3, len(target))
        cv = KFold(folds, shuffle=True, random_state=0)  # rows may be sorted by the target
        return len(target) >= 6 and float(np.mean(cross_val_score(tree, F, tame(target), cv=cv))) >= LEAK
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
