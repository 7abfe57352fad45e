"""From data and a fitted selector to the record of the selection."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import numpy as np
from scipy.stats import f

from infused import __version__
from infused._runtime.messages import count, listed, quoted
from infused._typing import Array, Floats, Ints
from infused.coding import Coded, Coding, fewest_rows
from infused.data.dataset import Dataset
from infused.data.reading import ReadOptions
from infused.exceptions import InputError
from infused.record.explained import (
    adjusted,
    class_distribution,
    dense_columns,
    explained_by_feature,
    explained_variance,
    lost_without,
    target_scatter,
)
from infused.record.fitted import FittedView, finite, view_of, widened
from infused.record.redundancy import THRESHOLD, redundancy_groups, stand_ins
from infused.record.schema import (
    ClassCount,
    DataFacts,
    FeatureScores,
    Redundancy,
    Request,
    SelectedFeature,
    SelectionRecord,
    Versions,
)
from infused.record.trust import Shadows, stability_of, tried_methods
from infused.selectors.choose.number import NumberCurve
from infused.selectors.inputs.training import LARGEST, tame
from infused.selectors.method import Method
from infused.selectors.registry import id_of

MOST_COMPARED = 2000  # all pairs of them are compared
MOST_IN_MATRIX = 100
MOST_SHOWN = 24


def summarize(
    dataset: Dataset,
    selector: Any,
    request: Request | None = None,
    *,
    transform: str = "none",
    timings: Mapping[str, float] | None = None,
    notes: Sequence[str] = (),
    reference: str | None = None,
    number: NumberCurve | None = None,
    kept: Ints | None = None,
    rest: Ints | None = None,
    n_selected: int | None = None,
    stability: Any = None,
    shadows: Any = None,
) -> SelectionRecord:
    """The record of a selection: what was asked, of which data, and what came out.

    Parameters
    ----------
    dataset : Dataset
        The data that the selector was fitted on. Redundancy and distributions are those of its values as
        they are: pass them untransformed to show them in their own units.
    selector : fitted selector
        One of ours, or any scikit-learn selector; what it does not have (coefficients, an objective) the
        record leaves out.
    request : Request, optional
        What was asked; by default what the data and the selector's parameters tell.
    transform : str, default="none"
        What was done to the values before.
    timings : mapping of str to float, optional
        Seconds by stage.
    notes : sequence of str, default=()
        What is to be known beside the notes on the data.
    reference : str, optional
        Where the method was published; by default what the docstring of our own selectors says.
    number : NumberCurve, optional
        How the number of features was chosen.
    kept : ndarray of int, optional
        The features that the selector saw, where it did not see all.
    rest : ndarray of int, optional
        The others, the best first.
    n_selected : int, optional
        How many are selected, where these are more than the selector saw.
    stability : StabilitySelection, optional
        Fitted on what the selector saw.
    shadows : ShadowTest, optional
        Of the selector.

    Returns
    -------
    SelectionRecord
    """
    target = _Target.read(dataset)
    coded = dataset.coded()
    kept = np.arange(dataset.n_features) if kept is None else kept
    view = view_of(selector, len(kept), dataset.target_name, coded.taken(kept).groups)
    view = widened(view, kept, np.zeros(0, dtype=np.int64) if rest is None else rest, n_selected)
    best = view.order[: view.n_selected]
    coding = dataset.coder.take(best.tolist()).learn(dataset.X[:, best])
    columns = [_shown(dataset, coding, place, n) for place, n in enumerate(best[:MOST_SHOWN])]
    redundancy, groups = _redundancy(coded, best)
    return SelectionRecord(
        request=(request or _request_told_by(dataset, selector)).recorded(),
        transform=transform,
        data=_facts(dataset, target, notes),
        versions=Versions(__version__, np.__version__, version("scikit-learn"), platform.python_version()),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        timings={stage: float(seconds) for stage, seconds in (timings or {}).items()},
        method_name=view.method_name,
        reference=view.reference if reference is None else reference,
        standardized=view.standardized,
        coefficient_names=view.coefficient_names,
        selected=_selected(dataset, coded, target, view, groups, _wins(shadows, kept)),
        features=_all_features(view, dataset.feature_names),
        redundancy=redundancy,
        distributions=tuple(
            class_distribution(name, values, target.values, len(target.classes or ()), levels)
            for name, values, levels in columns
            if target.classes is not None
        ),
        scatters=tuple(
            target_scatter(name, values, target.values, levels)
            for name, values, levels in columns
            if target.classes is None and target.values.ndim == 1
        ),
        convergence=view.convergence,
        number=number,
        coding=coding.variables,
        stability=None if stability is None else stability_of(stability, kept, dataset.n_features),
        shadows=_shadows(shadows),
        tried=tried_methods(selector),
    )


def _shown(
    dataset: Dataset, coding: Coding, place: int, feature: int
) -> tuple[str, Floats, tuple[str, ...] | None]:
    """The values of a feature as they are shown: of a category, which of its outcomes each is."""
    name, values = dataset.feature_names[feature], dense_columns(dataset.X, [feature])[:, 0]
    one = coding.variables[place]
    if one.levels is None:
        return name, values, None
    outcome = coding.outcome(values, place).astype(np.float64)
    return name, np.where(outcome < 0, np.nan, outcome), one.outcomes


@dataclass(frozen=True)
class _Target:
    """The target as classes numbered from 0, or as real values (one column or several)."""

    values: Array
    classes: tuple[ClassCount, ...] | None

    @classmethod
    def read(cls, dataset: Dataset) -> _Target:
        if dataset.kind == "real":
            return cls(np.asarray(dataset.y, dtype=np.float64), None)
        labels, codes, counts = np.unique(dataset.y, return_inverse=True, return_counts=True)
        pairs = zip(labels, counts, strict=True)
        return cls(codes, tuple(ClassCount(str(label), int(count)) for label, count in pairs))


def _facts(dataset: Dataset, target: _Target, notes: Sequence[str]) -> DataFacts:
    grid = dataset.grid_shape
    if grid is not None and grid[0] * grid[1] != dataset.n_features:
        raise InputError(f"A grid of {grid} does not have {dataset.n_features} features: correct grid_shape.")
    # A sparse mean is a matrix in SciPy's older classes, hence the ravel.
    mean = None if grid is None else np.asarray(dataset.X.mean(axis=0), dtype=np.float64).ravel()
    return DataFacts(
        name=dataset.name,
        n_samples=dataset.n_samples,
        n_features=dataset.n_features,
        fingerprint=dataset.fingerprint,
        target=dataset.target_name,
        classes=target.classes,
        notes=(*dataset.notes, *notes),
        grid_shape=grid,
        grid_order=dataset.grid_order,
        mean_picture=None if mean is None else tuple(mean.tolist()),
    )


def _request_told_by(dataset: Dataset, selector: Any) -> Request:
    parameters = selector.get_params(deep=False)
    k = parameters.pop("n_features_to_select", parameters.get("k"))
    treatment = ReadOptions(target=dataset.target_name)
    return Request(dataset.source, treatment, Method(id_of(type(selector)), parameters), k, "none", 0)


def _redundancy(coded: Coded, best: Ints) -> tuple[Redundancy | None, list[int | None]]:
    """Correlations, and the group of each feature that shares one; a feature alone is no group."""
    if len(best) < 2:
        return None, [None] * len(best)
    columns, ends = coded.columns(best[:MOST_COMPARED])
    several = len(columns) > len(ends)
    matrix, groups = redundancy_groups(coded.F[:, columns], ends=ends if several else None)
    part = matrix[:MOST_IN_MATRIX, :MOST_IN_MATRIX]
    shared = np.bincount(groups) > 1
    numbers = np.cumsum(shared)  # from 1, in the order of their first features
    found = [int(numbers[group]) if shared[group] else None for group in groups]
    return Redundancy(THRESHOLD, tuple(tuple(row) for row in part.tolist())), found


def _shadows(test: Any) -> Shadows | None:
    if test is None or not len(test.features):
        return None
    return Shadows(test.n_repeats, test.n_shadows, len(test.features), test.n_beaten, float(test.by_chance))


def _wins(test: Any, kept: Ints) -> dict[int, float]:
    """By feature, the share of repeats in which it was ahead of all shadows."""
    if test is None:
        return {}
    return dict(zip(kept[test.features].tolist(), test.wins.tolist(), strict=True))


def _selected(
    dataset: Dataset,
    coded: Coded,
    target: _Target,
    view: FittedView,
    groups: list[int | None],
    wins: dict[int, float],
) -> tuple[SelectedFeature, ...]:
    best = view.order[: view.n_selected]
    alone = np.zeros(0)
    if len(best):
        alone = adjusted(*explained_by_feature(coded, best, target.values, dataset.kind), dataset.n_samples)
    others = stand_ins(coded, best, dataset.feature_names)
    columns, ends = coded.columns(best[:MOST_COMPARED])
    unique = lost_without(dense_columns(coded.F, columns), target.values, dataset.kind, ends).tolist()
    return tuple(
        SelectedFeature(
            rank=place + 1,
            name=dataset.feature_names[n],
            index=int(n),
            score=finite(view.scores[n]),
            coefficients=None if view.coef is None else tuple(finite(b) for b in view.coef[:, n]),
            group=groups[place] if place < len(groups) else None,
            alone=float(alone[place]),
            unique=unique[place] if place < len(unique) else None,
            stand_ins=others[place],
            wins=wins.get(int(n)),
        )
        for place, n in enumerate(best)
    )


def _all_features(view: FittedView, names: tuple[str, ...]) -> FeatureScores:
    ranks = np.empty(len(names), dtype=np.int64)
    ranks[view.order] = np.arange(1, len(names) + 1)
    return FeatureScores(names, tuple(finite(score) for score in view.scores), tuple(ranks.tolist()))


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
