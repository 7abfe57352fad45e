"""From data and a fitted selector, ours or scikit-learn's, to the record of the selection."""

from __future__ import annotations

import inspect
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from math import isfinite
from typing import Any

import numpy as np

from infused import __version__
from infused._typing import Array, Floats, Ints
from infused.coding import Coded, transformed
from infused.data.dataset import Dataset
from infused.exceptions import InputError
from infused.record.explained import (
    Findings,
    class_distribution,
    dense_columns,
    direction,
    explained_alone,
    hazard_ratio,
    lost_without,
    relation_line,
    shown_values,
    survival_curves,
    target_scatter,
)
from infused.record.redundancy import THRESHOLD, redundancy_groups, stand_ins
from infused.record.schema import (
    ClassCount,
    Convergence,
    DataFacts,
    Effect,
    FeatureBlock,
    FeatureScores,
    Intervals,
    Redundancy,
    RelationLine,
    Request,
    SelectedFeature,
    SelectionRecord,
    SelectionStability,
    Shadows,
    TriedMethod,
    Versions,
)
from infused.record.sentences import not_linear
from infused.selectors.choose.budget import CostCurve
from infused.selectors.choose.number import NumberCurve

MOST_COMPARED = 2000  # all pairs of them are compared
MOST_IN_MATRIX = 100
MOST_SHOWN = 24
REDUNDANT, MOST_REDUNDANT = 0.3, 3  # inner products of graphs that are shown with a relation
MOST_POINTS = 500  # of the objective's path
NO_FINDINGS = Findings()


def summarize(
    dataset: Dataset,
    selector: Any,
    request: Request,
    *,
    transform: str = "none",
    timings: Mapping[str, float] | None = None,
    notes: Sequence[str] = (),
    findings: Findings = NO_FINDINGS,
    number: NumberCurve | None = None,
    score: NumberCurve | None = None,
    budget: CostCurve | None = None,
    kept: Ints | None = None,
    rest: Ints | None = None,
    n_selected: int | None = None,
    stability: Any = None,
    shadows: Any = None,
    inference: Any = None,
) -> SelectionRecord:
    """Return the record of a selection: the request, facts on the data, and the result.

    Parameters
    ----------
    dataset : Dataset
        The data that the selector was fitted on, before any transform.
    selector : fitted selector
        One of ours, or any scikit-learn selector; what it does not have (coefficients, an objective) the
        record leaves out.
    request : Request
        What was asked.
    transform : str, default="none"
        What was done to the values before: figures and distributions are those of the transformed values.
    timings : mapping of str to float, optional
        Seconds by stage.
    notes : sequence of str, default=()
        Added to the notes on the data.
    findings : Findings, optional
        What may be wrong with the data.
    number : NumberCurve, optional
        How the number of features was chosen.
    score : NumberCurve, optional
        Cross-validated score of a number of features that was given.
    budget : CostCurve, optional
        How the features were chosen for a budget.
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
    inference : SelectionInference, optional
        Fitted on what the selector saw.

    Returns
    -------
    SelectionRecord
    """
    own = selector
    if hasattr(selector, "block_factors_"):
        own = selector.selector_  # with the penalties that were chosen
    target, classes = _target(dataset.with_numbers())
    coded = dataset.coded()
    kept = np.arange(dataset.n_features) if kept is None else kept
    rest = np.zeros(0, dtype=np.int64) if rest is None else rest
    found = _read(own, coded.taken(kept).groups, kept, rest)
    best = found.order[: found.n_selected if n_selected is None else n_selected]
    coding = dataset.coder.take(best.tolist()).learn(dataset.X[:, best])
    shown = [(dataset.feature_names[n], *shown_values(dataset, n, transform)) for n in best[:MOST_SHOWN]]
    F = transformed(coded.F, transform, [dataset.feature_names[j] for j in coded.variables], coded.numeric)
    coded = coded._replace(F=F)
    labels = [one.name for one in classes or ()]
    redundancy, groups = _redundancy(coded, best)
    ahead = (
        () if shadows is None else zip(kept[shadows.features].tolist(), shadows.wins.tolist(), strict=True)
    )
    known = (found, best, groups, dict(ahead), request.costs)
    ranks = np.argsort(found.order) + 1
    names = () if found.coef is None else _coefficient_names(own, len(found.coef), dataset.target_name)
    record = SelectionRecord(
        request=request.recorded(),
        transform=transform,
        data=_facts(dataset, classes, notes, findings),
        versions=Versions(__version__, np.__version__, version("scikit-learn"), platform.python_version()),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        timings={stage: float(seconds) for stage, seconds in (timings or {}).items()},
        method_name=type(own).__name__,
        reference=_reference(type(own)),
        standardized=bool(getattr(own, "standardize", False)),
        coefficient_names=names,
        selected=_with_effects(
            tuple(_selected(dataset, transform, coded, labels, target, *known)), inference, coded, kept
        ),
        features=FeatureScores(
            dataset.feature_names, tuple(map(finite, found.scores)), tuple(ranks.tolist())
        ),
        redundancy=redundancy,
        distributions=tuple(
            class_distribution(name, values, target, len(classes), levels)
            for name, values, levels in shown
            if classes is not None
        ),
        scatters=tuple(
            target_scatter(name, values, target, levels)
            for name, values, levels in shown
            if dataset.kind == "real" and target.ndim == 1
        ),
        survival=tuple(
            survival_curves(name, values, dataset.y, levels)
            for name, values, levels in shown
            if dataset.kind == "survival"
        ),
        convergence=_convergence(own),
        number=number,
        score=score,
        budget=budget,
        coding=coding.variables,
        stability=None if stability is None else _stability(stability, kept, dataset.n_features),
        shadows=_shadows(shadows),
        tried=_tried_methods(selector),
        intervals=None
        if inference is None
        else Intervals(float(inference.level), int(inference.n_splits_), str(inference.loss_)),
        blocks=_blocks(dataset, coded, target, best, getattr(selector, "block_factors_", None)),
    )
    whole = target.ndim == 1 and dataset.kind != "survival"
    if whole and (not_linear(record) or hasattr(_graphs(selector), "relevance_")):
        lines = _relations(selector, shown, best, target, classes is not None, kept)
        record = replace(record, relations=tuple(lines))
    return record


def _graphs(selector: Any) -> Any:
    """Return the selector that has the graphs of features, where one was chosen."""
    return getattr(selector, "selector_", selector)


def _relations(
    selector: Any,
    shown: Sequence[tuple[str, Floats, tuple[str, ...] | None]],
    best: Ints,
    target: Array,
    classes: bool,
    kept: Ints,
) -> Iterator[RelationLine]:
    """Yield the curve of each of the best features, with the relevance and redundancy of its graph."""
    graphs = _graphs(selector)
    relevance = dict(zip(kept.tolist(), getattr(graphs, "relevance_", ()), strict=False))
    products = getattr(graphs, "redundancy_", np.zeros((0, 0)))[:MOST_SHOWN, :MOST_SHOWN]
    for place, (name, values, levels) in enumerate(shown):
        if np.isnan(values).all():
            continue
        own = products[place] if place < len(products) else np.zeros(0)
        others = [n for n in np.argsort(-own, kind="stable") if n != place and own[n] >= REDUNDANT]
        redundant = [(shown[n][0], float(min(own[n], 1.0))) for n in others[:MOST_REDUNDANT]]
        alike = relevance.get(int(best[place]))
        share = None if alike is None else float(np.clip(alike, 0.0, 1.0))
        yield relation_line(name, values, target, classes, levels, share, redundant)


def _target(dataset: Dataset) -> tuple[Array, tuple[ClassCount, ...] | None]:
    """Return the target as classes numbered from 0, with their sizes, or as continuous values."""
    if dataset.kind == "real":
        return np.asarray(dataset.y, dtype=np.float64), None
    labels, codes, counts = np.unique(dataset.y, return_inverse=True, return_counts=True)
    return codes, tuple(ClassCount(str(label), int(n)) for label, n in zip(labels, counts, strict=True))


def _facts(
    dataset: Dataset, classes: tuple[ClassCount, ...] | None, notes: Sequence[str], findings: Findings
) -> DataFacts:
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
        classes=classes,
        notes=(*dataset.notes, *notes, *findings.notes),
        warnings=findings.warnings,
        leaks=findings.leaks,
        chance=findings.chance,
        grid_shape=grid,
        grid_order=dataset.grid_order,
        mean_picture=None if mean is None else tuple(mean.tolist()),
        events=int(dataset.y["event"].sum()) if dataset.kind == "survival" else None,
    )


def _redundancy(coded: Coded, best: Ints) -> tuple[Redundancy | None, list[int | None]]:
    """Return correlations, and the group of each feature; None for a feature alone."""
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


def _selected(
    dataset: Dataset,
    transform: str,
    coded: Coded,
    classes: Sequence[str],
    target: Array,
    found: _Fitted,
    best: Ints,
    groups: list[int | None],
    wins: Mapping[int, float],  # the share of repeats in which a feature was ahead of all shadows
    costs: Mapping[str, float] | None,
) -> Iterator[SelectedFeature]:
    """Yield the selected features, the best first, with all that is known of each."""
    others = stand_ins(coded, best, dataset.feature_names)
    columns, ends = coded.columns(best[:MOST_COMPARED])
    kind, followed = dataset.with_numbers().kind, dataset.kind == "survival"
    unique = lost_without(dense_columns(coded.F, columns), target, kind, ends).tolist()
    alone = explained_alone(dataset.with_numbers(), best, transform)
    goal = "risk" if followed else dataset.target_name
    for place, n in enumerate(best.tolist()):
        name, (values, levels) = dataset.feature_names[n], shown_values(dataset, n, transform)
        yield SelectedFeature(
            rank=place + 1,
            name=name,
            index=n,
            score=finite(found.scores[n]),
            coefficients=None if found.coef is None else tuple(map(finite, found.coef[:, n])),
            group=groups[place] if place < len(groups) else None,
            alone=float(alone[place]),
            unique=unique[place] if place < len(unique) else None,
            stand_ins=others[place],
            wins=wins.get(n),
            hazard=hazard_ratio(values, dataset.y, levels) if followed and place < MOST_COMPARED else None,
            direction=direction(values, levels, target, classes, goal),
            cost=None if costs is None else costs.get(name, 0.0),
            block="" if dataset.blocks is None else dataset.blocks[n],
        )


def _blocks(
    dataset: Dataset, coded: Coded, target: Array, best: Ints, factors: Mapping[str, float] | None
) -> tuple[FeatureBlock, ...]:
    """Count the selected features of each block, and compute what is lost without them."""
    if dataset.blocks is None:
        return ()
    names = list(dict.fromkeys(dataset.blocks))
    chosen = {name: [int(n) for n in best if dataset.blocks[n] == name] for name in names}
    there = [name for name in names if chosen[name]]
    lost: dict[str, float] = {}
    if 0 < len(best) <= MOST_COMPARED:
        columns, ends = coded.columns(np.array([n for name in there for n in chosen[name]]))
        last = np.cumsum([len(chosen[name]) for name in there]) - 1
        kind = dataset.with_numbers().kind
        values = lost_without(dense_columns(coded.F, columns), target, kind, np.asarray(ends)[last])
        lost = dict(zip(there, values.tolist(), strict=True))
    return tuple(
        FeatureBlock(
            name,
            dataset.blocks.count(name),
            len(chosen[name]),
            None if factors is None or name not in factors else float(factors[name]),
            lost.get(name, None if len(best) > MOST_COMPARED else 0.0),
        )
        for name in names
    )


def _with_effects(
    selected: tuple[SelectedFeature, ...], inference: Any, coded: Coded, kept: Ints
) -> tuple[SelectedFeature, ...]:
    """Add effects of a fitted SelectionInference that saw the features ``kept``."""
    if inference is None:
        return selected
    places = dict(zip(kept.tolist(), range(len(kept)), strict=True))
    found = []
    for one in selected:
        if one.index in places:
            j = places[one.index]
            column = dense_columns(coded.F, coded.columns(np.array([one.index]))[0])
            effect, low, high = (finite(one) for one in (inference.coef_[j], *inference.conf_int_[j]))
            deviation = float(column.std(axis=0).max())
            one = replace(one, effect=Effect(effect, low, high, float(inference.p_values_[j]), deviation))
        found.append(one)
    return tuple(found)


def _shadows(test: Any) -> Shadows | None:
    if test is None or not len(test.features):
        return None
    return Shadows(test.n_repeats, test.n_shadows, len(test.features), test.n_beaten, float(test.by_chance))


def _stability(fitted: Any, kept: Ints, n_features: int) -> SelectionStability:
    """Read a fitted StabilitySelection that saw the features ``kept``."""
    frequencies = np.zeros(n_features)
    frequencies[kept] = fitted.frequencies_
    return SelectionStability(
        n_pairs=int(fitted.n_pairs_),
        n_failed=int(fitted.n_pairs - fitted.n_pairs_),
        per_half=float(fitted.n_features_per_half_),
        threshold=float(fitted.threshold_),
        n_stable=int(fitted.n_stable_),
        expected_false=float(fitted.expected_false_),
        bound=str(fitted.bound),
        frequencies=tuple(frequencies.tolist()),
    )


def _tried_methods(selector: Any) -> tuple[TriedMethod, ...]:
    """Return the table of a fitted AutoSelector; empty for all others."""
    table = getattr(selector, "candidates_", None)
    if not isinstance(table, dict):
        return ()
    rows = zip(*table.values(), strict=True)
    return tuple(TriedMethod(**dict(zip(table, row, strict=True))) for row in rows)


@dataclass(frozen=True)
class _Fitted:
    """Ranking, scores and coefficients of a fitted selector, for all features of the data."""

    order: Ints
    """Best first; the selected come before the others, and last those that the selector did not see."""
    n_selected: int
    scores: Floats
    """NaN where the method gives none."""
    coef: Floats | None
    """targets x features."""


def _read(selector: Any, groups: Ints | None, kept: Ints, rest: Ints) -> _Fitted:
    """Read a fitted selector that saw the features ``kept``; ``groups`` are the features of its columns."""
    n_seen = len(kept)
    n_columns = n_seen if groups is None else len(groups)
    known = selector.get_support() if hasattr(selector, "get_support") else selector.support_
    support = np.asarray(known, dtype=bool)
    if support.shape != (n_columns,):
        raise InputError(
            f"The selector was fitted on {len(support)} features and the data has {n_columns}: "
            "pass the data that it was fitted on."
        )
    seen_coef = _coefficients(selector, n_columns)
    if groups is not None:
        support = np.bincount(groups[support], minlength=n_seen) > 0
        seen_coef = None if seen_coef is None else _by_feature(seen_coef, groups, n_seen)
    seen_scores = _scores(selector, seen_coef, n_seen)
    ranking = np.asarray(getattr(selector, "ranking_", np.zeros(n_seen)))
    order = np.lexsort((np.where(np.isnan(seen_scores), np.inf, -seen_scores), ranking, ~support))
    scores = np.full(n_seen + len(rest), np.nan)
    scores[kept] = seen_scores
    coef = None
    if seen_coef is not None:
        coef = np.full((len(seen_coef), len(scores)), np.nan)
        coef[:, kept] = seen_coef
    return _Fitted(np.concatenate([kept[order], rest]), int(support.sum()), scores, coef)


def _by_feature(coef: Floats, groups: Ints, n_features: int) -> Floats:
    """Return the coefficient of each feature with one column; NaN for features with several."""
    found = np.full((len(coef), n_features), np.nan)
    single = np.flatnonzero(np.bincount(groups, minlength=n_features)[groups] == 1)
    found[:, groups[single]] = coef[:, single]
    return found


def finite(value: Any) -> float | None:
    """Return a plain float, or None where the number is not finite."""
    number = float(value)
    return number if isfinite(number) else None


def _coefficients(selector: Any, n_features: int) -> Floats | None:
    """Return coefficients of the selector, or of the model that it wraps (SelectFromModel)."""
    for owner in (selector, getattr(selector, "estimator_", None)):
        coef = getattr(owner, "coef_", None)
        if coef is not None and np.shape(coef)[-1] == n_features:
            return np.atleast_2d(np.asarray(coef, dtype=np.float64))
    return None


def _scores(selector: Any, coef: Floats | None, n_features: int) -> Floats:
    """Return the method's own scores, else importances, else the lengths of the coefficients."""
    wrapped = getattr(selector, "estimator_", None)
    known = (getattr(selector, "scores_", None), getattr(wrapped, "feature_importances_", None))
    for scores in known:
        if scores is not None and np.shape(scores) == (n_features,):
            return np.asarray(scores, dtype=np.float64)
    return np.full(n_features, np.nan) if coef is None else np.linalg.norm(coef, axis=0)


def _coefficient_names(selector: Any, n_rows: int, target_name: str) -> tuple[str, ...]:
    classes = getattr(selector, "classes_", getattr(getattr(selector, "estimator_", None), "classes_", None))
    if classes is not None and n_rows == len(classes):
        return tuple(str(name) for name in classes)
    if n_rows == 1:
        # Of two classes there is one row, and a positive coefficient speaks for the second.
        return (str(classes[1]) if classes is not None and len(classes) == 2 else target_name,)
    return tuple(f"{target_name} {n + 1}" for n in range(n_rows))


def _convergence(selector: Any) -> Convergence | None:
    names = ("converged_", "n_iter_", "certificate_", "objective_path_")
    converged, n_iter, certificate, path = known = [getattr(selector, name, None) for name in names]
    if all(value is None for value in known):
        return None
    objective = np.asarray([] if path is None else path, dtype=np.float64)
    # The objective falls fastest at first, so the points that are kept lie closest there.
    places = np.arange(len(objective))
    if len(places) > MOST_POINTS:
        places = np.unique(np.geomspace(1, len(objective), MOST_POINTS).round().astype(int)) - 1
    places = places[np.isfinite(objective[places])]
    return Convergence(
        converged=None if converged is None else bool(converged),
        iterations=None if n_iter is None else int(np.max(n_iter)),
        certificate=None if certificate is None else finite(certificate),
        path_iterations=tuple((places + 1).tolist()),
        path_objective=tuple(objective[places].tolist()),
    )


def _reference(kind: type) -> str | None:
    """Return the References section of one of our own selectors, as one line."""
    if not kind.__module__.startswith("infused."):
        return None
    _, found, rest = (inspect.getdoc(kind) or "").partition("References\n----------\n")
    return " ".join(rest.split("\n\n")[0].split()) if found else None
