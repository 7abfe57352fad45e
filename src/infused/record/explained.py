"""What features explain of the target, their distributions and survival by them, and what looks wrong."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg as sl
from scipy.special import chdtrc, logsumexp
from scipy.stats import chi2, f, rankdata, skew
from sklearn.metrics import mutual_info_score
from sklearn.metrics.cluster import contingency_matrix, expected_mutual_information

from infused._design import dense
from infused._runtime.messages import count, listed, quoted
from infused._runtime.threads import spans
from infused._typing import Array, Floats, Ints, TargetKind
from infused.coding import TRANSFORMS, Coded, fewest_rows
from infused.data.dataset import Dataset
from infused.graphs import relation_curve
from infused.record.schema import (
    ClassDistribution,
    HazardRatio,
    RelationLine,
    SurvivalCurve,
    SurvivalCurves,
    TargetScatter,
)
from infused.selectors.choose.cox import CoxRegression
from infused.selectors.inputs.training import LARGEST, tame, unit_columns

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
    target = np.zeros((dataset.n_samples, 0)) if codes is not None else standardised(dataset.y)
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


def direction(
    values: Floats, levels: tuple[str, ...] | None, target: Array, classes: Sequence[str], name: str
) -> str:
    """Say in words for which values of a feature the target is higher, or which class is more frequent.

    Of a number by ranks: "higher in malignant", "highest in red, lowest in white", "rises with price". Of a
    category by its levels, and of a number by its values if there are two: "malignant most often when it is
    female", "price highest when it is 1". Empty where chance explains the difference at the level of 5%, and
    for several targets.
    """
    if target.ndim > 1:
        return ""
    known = ~np.isnan(values)
    own, goal = values[known], target[known]
    if levels is None and len(both := np.unique(own)) == 2:
        own, levels = (own == both[1]).astype(np.float64), tuple(f"{one:g}" for one in both)
    if levels is not None:
        return _level_direction(own.astype(np.int64), levels, goal, classes, name)
    ranks = rankdata(own)
    outcome = goal if classes else rankdata(goal)
    if len(own) < 3 or not _beyond_rank_chance(ranks, outcome, bool(classes)):
        return ""
    if not classes:
        rises = np.corrcoef(ranks, outcome)[0, 1] > 0
        return f"{'rises' if rises else 'falls'} with {name}"
    means = [ranks[goal == c].mean() if (goal == c).any() else np.nan for c in range(len(classes))]
    highest, lowest = classes[int(np.nanargmax(means))], classes[int(np.nanargmin(means))]
    return f"higher in {highest}" if len(classes) == 2 else f"highest in {highest}, lowest in {lowest}"


def _level_direction(
    own: Ints, levels: tuple[str, ...], goal: Array, classes: Sequence[str], name: str
) -> str:
    """Name the level that has most of a class, or the highest values of the target."""
    present, member, sizes = np.unique(own, return_inverse=True, return_counts=True)
    if not classes:
        ranks = rankdata(goal)
        if not _beyond_rank_chance(ranks, member, True):
            return ""
        means = np.bincount(member, weights=ranks) / sizes
        return f"{name} highest when it is {levels[present[means.argmax()]]}"
    table = np.zeros((len(classes), len(present)))
    np.add.at(table, (goal, member), 1)
    expected = np.outer(table.sum(axis=1), sizes) / len(own)
    degrees = (len(np.unique(goal)) - 1) * (len(present) - 1)
    gain = (table - expected) / np.sqrt(np.where(expected > 0, expected, np.inf))
    if not degrees or chdtrc(degrees, (gain**2).sum()) > SURPRISING:
        return ""
    c, level = divmod(int(gain.argmax()), len(present))
    return f"{classes[c]} most often when it is {levels[present[level]]}"


def _beyond_rank_chance(ranks: Floats, outcome: Array, by_class: bool) -> bool:
    """Return whether ranks depend on classes (Kruskal and Wallis) or on other ranks (Spearman)."""
    if np.ptp(ranks) == 0 or np.ptp(outcome) == 0:
        return False
    codes = np.unique(outcome, return_inverse=True)[1] if by_class else outcome
    kind: TargetKind = "classes" if by_class else "real"
    shares, degrees = explained_variance(ranks[:, None], np.array([0]), codes, kind)
    return bool(chdtrc(degrees, (len(ranks) - 1) * shares[0]) <= SURPRISING)


def standardised(values: Array) -> Floats:
    """Return columns of mean zero and length one, so that each counts the same; constant ones are zero."""
    columns = tame(np.asarray(values, dtype=np.float64).reshape(len(values), -1))
    return np.asarray(unit_columns(columns - columns.min(axis=0)))


def _variance_share(own: Array, target: Floats) -> float:
    """Compute the adjusted R² of targets on a number, or on levels (whole numbers)."""
    n = len(own)
    if n < 2:
        return 0.0
    centred = target - target.mean(axis=0)
    total = (centred**2).sum()
    if own.dtype.kind == "f":
        direction = standardised(own)
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
    x = standardised(own)[:, 0]
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
    F = np.sqrt(len(F)) * unit_columns(tame(F))
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
    return dense(X[:, columns])


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


FEWEST_NEAR = 5  # samples near a value, or a mean there is not drawn


def relation_line(
    name: str,
    values: Floats,
    target: Array,
    classes: bool,
    levels: tuple[str, ...] | None,
    relevance: float | None = None,
    redundant: Sequence[tuple[str, float]] = (),
) -> RelationLine:
    """Return the mean of the target along a feature, or the share of each class (numbered from 0)."""
    curve = relation_curve(values, target, target="classes" if classes else "real")
    drawn = curve.samples >= FEWEST_NEAR
    if levels is not None or drawn.sum() < FEWEST_NEAR:
        drawn[:] = True
    means, found = (
        np.zeros((int(target.max()) + 1 if classes else 1, int(drawn.sum()))),
        curve.target[drawn].T,
    )
    # A class may have no sample where the feature is known.
    means[np.unique(target[~np.isnan(values)]) if classes else [0]] = found
    rows = tuple(tuple(row) for row in means.tolist())
    return RelationLine(name, tuple(curve.values[drawn].tolist()), rows, levels, relevance, tuple(redundant))


NEARLY = 0.99  # of the samples with one value: nothing to learn from
HALF = 0.5
FEW_SAMPLES = 10  # of a class
LEAK = 0.98  # score of one feature alone
WORTH_A_LOOK = 0.5  # explained share from which on a feature is tried
LEAST = 0.02  # the same, of classes
MOST_LOOKED_AT = 20
SKEWED = 1.0  # of residuals: a few samples have most of the weight
TINY = 1e-300
SURPRISING = 0.05  # p below which chance is no explanation
PERMUTATIONS = 199  # of samples that are related
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
    correction = "permutations" if dataset.samples else "Bonferroni's correction"
    if chance is not None and chance > SURPRISING:
        best = f"the best of {dataset.n_features:,}" if dataset.n_features > 1 else "the only one"
        warnings.append(
            f"no single feature predicts {quoted(dataset.target_name)} better than chance: {best} "
            f"has p = {chance:.2f} after {correction}, so any selection may be noise"
        )
    warnings += dataset.hints
    if classes:
        warnings += _classes(labels, sizes)
    notes = _skewed_target(dataset, coded)
    if dataset.n_features <= MOST_FEATURES:
        notes += [*_mostly_missing(dataset), *_rare_levels(dataset)]
        notes += [] if pixels else _nearly_constant(dataset)
    return Findings(tuple(leaks), chance, tuple(warnings), tuple(notes))


def _skewed_target(dataset: Dataset, coded: Coded) -> list[str]:
    """Offer the logarithm of an amount whose residuals in a linear model are far less skewed with it."""
    y = dataset.y
    if dataset.kind != "real" or y.ndim > 1 or dataset.options.log_target or y.min() < 0 or skew(y) < SKEWED:
        return []
    shares, _ = explained_variance(coded.F, np.arange(coded.F.shape[1]), y, "real")
    best = np.argsort(-shares, kind="stable")[: min(MOST_LOOKED_AT, len(y) // 10)]
    F = tame(dense_columns(coded.F, best))
    F = np.column_stack([np.ones(len(F)), (F - F.mean(axis=0)) / np.maximum(F.std(axis=0), TINY)])

    def residual_skew(target: Floats) -> float:
        return abs(float(skew(target - F @ np.linalg.lstsq(F, target)[0])))

    plain, logarithmic = residual_skew(tame(y)), residual_skew(np.log1p(y))
    if plain < SKEWED or logarithmic > plain / 2:
        return []
    return [
        f"{quoted(dataset.target_name)} is skewed, and so are the residuals of a linear model (skewness "
        f"{plain:.1f}, of its logarithm {logarithmic:.1f}). To predict its logarithm, use --log-target "
        "(log_target=True)"
    ]


def _chance(dataset: Dataset, coded: Coded, target: Array) -> float | None:
    """Return the p of the best column among as many of noise, by F values; None without enough samples.

    Of samples that are related, by permutations that keep them so.
    """
    n_columns = coded.F.shape[1]
    shares, degrees = explained_variance(coded.F, np.arange(n_columns), target, dataset.kind)
    left = dataset.n_samples - 1 - degrees
    largest = float(shares.max(initial=0.0))
    if left < 1:
        return None
    if dataset.samples:
        return permutation_p(dataset, coded, np.arange(n_columns), target)
    if largest >= 1:
        return 0.0
    p = float(f.sf(largest / degrees / ((1 - largest) / left), degrees, left))
    return float(min(1.0, n_columns * p))


def permutation_p(dataset: Dataset, coded: Coded, columns: Ints, target: Array) -> float:
    """Return the p of the best of some columns by permutations that keep related samples together."""
    random, kind = np.random.default_rng(0), dataset.with_numbers().kind
    largest = explained_variance(coded.F, columns, target, kind)[0].max()
    n_as_large = 0
    for _ in range(PERMUTATIONS):
        shuffled = target[dataset.samples.shuffled(len(target), random)]
        n_as_large += bool(explained_variance(coded.F, columns, shuffled, kind)[0].max() >= largest)
    return (1 + n_as_large) / (1 + PERMUTATIONS)


def _leaks(dataset: Dataset, coded: Coded, target: Array, transform: str) -> list[str]:
    """Return the features that alone predict the target almost perfectly."""
    shares, _ = explained_variance(coded.F, np.arange(coded.F.shape[1]), target, dataset.kind)
    worth = np.zeros(dataset.n_features)
    np.maximum.at(worth, coded.variables, shares)
    categories = [j for j, own in enumerate(dataset.levels or ()) if own is not None]
    worth[categories] = np.maximum(worth[categories], explained_alone(dataset, categories, transform))
    best = np.argsort(-worth, kind="stable")[:MOST_LOOKED_AT]
    # Ranks, too: values may be skewed, and a curve is no line. Of unequal classes both shares are small.
    worth[best] = np.maximum(worth[best], [_rank_share(dataset, j, target) for j in best.tolist()])
    likely = worth[best] >= (LEAST if dataset.kind == "classes" else WORTH_A_LOOK)
    return [dataset.feature_names[j] for j in best[likely].tolist() if _predicts(dataset, coded, j, target)]


def _rank_share(dataset: Dataset, feature: int, target: Array) -> float:
    """Return what the ranks of a number share with classes, or with the ranks of a continuous target."""
    values = dense_columns(dataset.X, [feature])[:, 0]
    known = ~np.isnan(values)
    if not known.any():
        return 0.0
    classes = dataset.kind == "classes"
    goal = np.unique(target[known], return_inverse=True)[1] if classes else rankdata(target[known])
    ranks = rankdata(values[known])[:, None]
    return float(explained_variance(ranks, np.array([0]), goal, dataset.kind)[0][0])


def leak_warning(dataset: Dataset, feature: int) -> list[str]:
    """Warn of a feature that alone predicts the target almost perfectly."""
    dataset = dataset.with_numbers()
    target = np.unique(dataset.y, return_inverse=True)[1] if dataset.kind == "classes" else dataset.y
    if not _predicts(dataset, dataset.coded(), feature, target):
        return []
    return [_leak_sentence([dataset.feature_names[feature]], dataset.target_name)]


def _leak_sentence(names: list[str], target: str) -> str:
    one = len(names) == 1
    predict, they = ("predicts", "it is") if one else ("each predict", "they are")
    return (
        f"possible leakage: {listed(names)} alone {predict} {quoted(target)} almost perfectly. "
        f"If {they} known only afterwards, use {' '.join(f'--drop {shlex.quote(name)}' for name in names)}"
    )


def _predicts(dataset: Dataset, coded: Coded, feature: int, target: Array) -> bool:
    """Return whether a small tree on one feature predicts the target almost perfectly on unseen samples.

    A number counts on the samples where it is known, and classes of three samples or more, unless that
    leaves too few.
    """
    from sklearn.metrics import balanced_accuracy_score, r2_score
    from sklearn.model_selection import KFold, StratifiedKFold
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    columns, _ = coded.columns(np.array([feature]))
    F = tame(dense_columns(coded.F, columns), LARGEST[4])  # a tree computes in float32
    known = ~np.isnan(dense_columns(dataset.X, [feature])[:, 0])
    if 2 * known.sum() >= len(known):
        F, target = F[known], target[known]
    folds: Any = KFold  # shuffled: rows may be sorted by the target, or by the feature
    if dataset.kind != "classes":
        tree: Any = DecisionTreeRegressor(min_samples_leaf=2, random_state=0)
        # The largest of skewed values cannot be predicted, but where they rank can.
        score, goals = r2_score, [tame(target), rankdata(target)]
        if len(target) < 6:
            return False
    else:
        enough = np.bincount(target)[target] >= 3
        F, target = F[enough], target[enough]
        n_classes = len(np.unique(target))
        if n_classes < 2 or 2 * len(target) < dataset.n_samples:
            return False
        tree = DecisionTreeClassifier(max_leaf_nodes=2 * n_classes, class_weight="balanced", random_state=0)
        folds, score, goals = StratifiedKFold, balanced_accuracy_score, [target]
    parts = list(folds(3, shuffle=True, random_state=0).split(F, target))

    def missed(goal: Array) -> float:
        """Return what the folds miss, together; no more of them than it takes to be too much."""
        found = 0.0
        for train, test in parts:
            found += 1 - score(goal[test], tree.fit(F[train], goal[train]).predict(F[test]))
            if found > len(parts) * (1 - LEAK):
                break
        return found

    return any(missed(goal) <= len(parts) * (1 - LEAK) for goal in goals)


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


PARTS = 3  # of a number
MOST_LEVELS = 6  # of a category; more curves in one small chart cannot be told apart
MOST_STEPS = 60  # of a curve
NORMAL = 1.959964  # standard errors on either side of a 95% interval
WIDEST = 20.0  # of the logarithm of an interval: beyond, the data do not determine the ratio


def survival_curves(
    name: str, values: Floats, y: Array, levels: tuple[str, ...] | None = None
) -> SurvivalCurves:
    """Estimate survival in each third of a feature's values, or at each of its most frequent levels."""
    labels, names = feature_parts(values, levels)
    own = [y[labels == n] for n in range(len(names))]
    parts = [
        SurvivalCurve(part, len(mine), int(mine["event"].sum()), *kaplan_meier(mine))
        for part, mine in zip(names, own, strict=True)
    ]
    return SurvivalCurves(name, tuple(parts), log_rank(y[labels >= 0], labels[labels >= 0]))


def feature_parts(values: Floats, levels: tuple[str, ...] | None = None) -> tuple[Ints, list[str]]:
    """Return the part of each sample, -1 for none, and what the parts are called."""
    known = ~np.isnan(values)
    labels = np.full(len(values), -1, dtype=np.int64)
    if levels is not None or len(np.unique(values[known])) <= PARTS:
        found, counts = np.unique(values[known], return_counts=True)
        shown = np.sort(found[np.argsort(-counts, kind="stable")[:MOST_LEVELS]])
        for n, value in enumerate(shown):
            labels[values == value] = n
        return labels, [f"{value:.4g}" if levels is None else levels[int(value)] for value in shown]
    inner = np.unique(np.quantile(values[known], np.arange(1, PARTS) / PARTS))
    present, own = np.unique(np.searchsorted(inner, values[known]), return_inverse=True)
    labels[known] = own
    limits = [(values[labels == n].min(), values[labels == n].max()) for n in range(len(present))]
    return labels, [f"{low:.4g} to {high:.4g}" for low, high in limits]


def kaplan_meier(y: Array) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return times, from zero to the last, and the share of samples without an event up to each."""
    time, event = np.sort(y["time"]), y["event"]
    moments, deaths = np.unique(y["time"][event], return_counts=True)
    at_risk = len(time) - np.searchsorted(time, moments, side="left")
    shares = np.cumprod(1 - deaths / at_risk)
    if len(moments) > MOST_STEPS:
        shown = np.linspace(0, len(moments) - 1, MOST_STEPS).round().astype(int)
        moments, shares = moments[shown], shares[shown]
    last = float(time[-1]) if len(time) else 0.0
    end = (float(shares[-1]) if len(shares) else 1.0,)
    return (0.0, *moments.tolist(), last), (1.0, *shares.tolist(), *end)


def log_rank(y: Array, labels: Ints) -> float | None:
    r"""Return the p-value of the log-rank test that all parts have the same survival; None for one part.

    .. math:: (O - E)' V^{-} (O - E), \qquad
              V = \sum_t d_t \frac{n_t - d_t}{n_t - 1} (\mathrm{diag}(p_t) - p_t p_t')

    with :math:`d_t` events among :math:`n_t` samples at risk at t, of which the parts have the shares p_t.
    """
    groups, labels = np.unique(labels, return_inverse=True)
    if len(groups) < 2:
        return None
    member = np.eye(len(groups))[labels]
    moments = np.unique(y["time"][y["event"]])
    order = np.argsort(y["time"])
    at_risk = np.cumsum(member[order][::-1], axis=0)[::-1]
    at_risk = at_risk[np.searchsorted(y["time"][order], moments, side="left")]
    n = at_risk.sum(axis=1)
    d = np.bincount(np.searchsorted(moments, y["time"][y["event"]]), minlength=len(moments))
    p = at_risk / n[:, None]
    excess = member[y["event"]].sum(axis=0) - d @ p
    spread = d * (n - d) / np.maximum(n - 1, 1)
    V = np.diag(spread @ p) - (p * spread[:, None]).T @ p
    statistic = float(excess[1:] @ np.linalg.pinv(V[1:, 1:], hermitian=True) @ excess[1:])
    return float(chi2.sf(statistic, len(groups) - 1))


def hazard_ratio(values: Floats, y: Array, levels: tuple[str, ...] | None = None) -> HazardRatio | None:
    """Estimate the hazard ratio of one standard deviation of a number, or of the second of two levels.

    By Cox's regression on the feature alone, with its 95% interval. None for categories of more levels, and
    where the data do not determine it.
    """
    known = ~np.isnan(values)
    found = np.unique(values[known])
    if len(found) < 2 or not y["event"][known].any() or (levels is not None and len(found) > 2):
        return None
    x, unit = values[known], "standard deviation"
    if len(found) == 2:
        first, second = (f"{one:g}" if levels is None else levels[int(one)] for one in found)
        x, unit = (x == found[1]).astype(np.float64), f"{second} against {first}"
    else:
        x = (x - x.mean()) / x.std()
    model = CoxRegression(alpha=0.0).fit(x[:, None], y[known])
    b, half = float(model.coef_[0]), NORMAL * float(np.sqrt(model.variance_[0]))
    if not model.converged_ or not 0 < half < WIDEST:
        return None
    ratio, low, high = np.exp([b, b - half, b + half]).tolist()
    return HazardRatio(ratio, low, high, unit)
