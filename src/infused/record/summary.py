"""From data and a fitted selector to the record of the selection."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import numpy as np

from infused import __version__
from infused._typing import Array, Floats, Ints
from infused.coding import Coded, Coding
from infused.data.dataset import Dataset
from infused.data.treatment import Treatment
from infused.exceptions import InputError
from infused.record.distributions import class_distribution, dense_columns, target_scatter
from infused.record.explained import adjusted, explained_by_feature, lost_without
from infused.record.fitted import FittedView, finite, view_of, widened
from infused.record.redundancy import THRESHOLD, redundancy_groups
from infused.record.schema import (
    ClassCount,
    DataFacts,
    FeatureScores,
    NumberCurve,
    Redundancy,
    Request,
    SelectedFeature,
    SelectionRecord,
    Versions,
)
from infused.record.stand_ins import stand_ins
from infused.record.trust import Shadows, stability_of, tried_methods
from infused.selectors.method import Method
from infused.selectors.registry import id_of

__all__ = ["summarize"]

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
    treatment = Treatment(target=dataset.target_name)
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
