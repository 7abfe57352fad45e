"""From data and a fitted selector to the record of the selection."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Protocol

import numpy as np

from infused import __version__
from infused._typing import Array, Floats, Ints
from infused.selection.distributions import (
    class_distribution,
    dense_columns,
    explained_variance,
    target_scatter,
)
from infused.selection.fitted import FittedView, finite, view_of
from infused.selection.record import (
    ClassCount,
    DataFacts,
    FeatureScores,
    Redundancy,
    Request,
    SelectedFeature,
    SelectionRecord,
    Versions,
)
from infused.selection.redundancy import THRESHOLD, redundancy_groups

__all__ = ["DataLike", "summarize"]

MOST_GROUPED = 2000  # all pairs of them are compared
MOST_IN_MATRIX = 100
MOST_SHOWN = 24


class DataLike(Protocol):
    """What is asked of a data set: its values, its names and where it came from."""

    name: str
    X: Any
    """Array or sparse matrix, samples x features."""
    y: Any
    feature_names: Any
    target_name: Any
    task: str
    source: Any
    fingerprint: str
    grid_shape: Any
    notes: Any


def summarize(
    dataset: DataLike,
    selector: Any,
    request: Request | None = None,
    *,
    timings: Mapping[str, float] | None = None,
    reference: str | None = None,
) -> SelectionRecord:
    """The record of a selection: what was asked, of which data, and what came out.

    Parameters
    ----------
    dataset : DataLike
        The data that the selector was fitted on. Redundancy and distributions are those of its values as
        they are: pass them untransformed to show them in their own units.
    selector : fitted selector
        One of ours, or any scikit-learn selector; what it does not have (coefficients, an objective) the
        record leaves out.
    request : Request, optional
        What was asked; by default what the data and the selector's parameters tell.
    timings : mapping of str to float, optional
        Seconds by stage.
    reference : str, optional
        Where the method was published; by default what the docstring of our own selectors says.

    Returns
    -------
    SelectionRecord
    """
    n_samples, n_features = dataset.X.shape
    target = _Target.of(dataset)
    view = view_of(selector, n_features, target.name)
    best = view.order[: view.n_selected]
    names = [str(name) for name in dataset.feature_names]
    redundancy, groups = _redundancy(dataset.X, best)
    shown = best[:MOST_SHOWN]
    columns = dense_columns(dataset.X, shown).T
    by_class = target.classes is not None
    return SelectionRecord(
        request=_request_of(dataset, selector) if request is None else request,
        data=_facts(dataset, target, n_samples, n_features),
        versions=_versions(),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        timings={stage: float(seconds) for stage, seconds in (timings or {}).items()},
        method_name=view.method_name,
        reference=view.reference if reference is None else reference,
        standardized=view.standardized,
        coefficient_names=view.coefficient_names,
        selected=_selected(view, names, groups, explained_variance(dataset.X, best, target.values, by_class)),
        features=_all_features(view, names),
        redundancy=redundancy,
        distributions=tuple(
            class_distribution(names[n], values, target.values, len(target.classes or ()))
            for n, values in zip(shown, columns, strict=True)
            if by_class
        ),
        scatters=tuple(
            target_scatter(names[n], values, target.values)
            for n, values in zip(shown, columns, strict=True)
            if not by_class and target.values.ndim == 1
        ),
        convergence=view.convergence,
    )


class _Target:
    """The target as classes numbered from 0, or as real values (one column or several)."""

    def __init__(self, name: str, values: Array, classes: tuple[ClassCount, ...] | None):
        self.name = name
        self.values = values
        self.classes = classes

    @classmethod
    def of(cls, dataset: DataLike) -> _Target:
        y = np.asarray(dataset.y)
        name = "target" if dataset.target_name is None else str(dataset.target_name)
        if dataset.task == "regression":
            return cls(name, y.astype(np.float64), None)
        labels, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
        classes = tuple(
            ClassCount(str(label), int(count)) for label, count in zip(labels, counts, strict=True)
        )
        return cls(name, codes, classes)


def _facts(dataset: DataLike, target: _Target, n_samples: int, n_features: int) -> DataFacts:
    grid = None if dataset.grid_shape is None else tuple(int(side) for side in dataset.grid_shape)
    if grid is not None and (len(grid) != 2 or grid[0] * grid[1] != n_features):
        raise ValueError(f"A grid of {grid} does not have {n_features} features: correct grid_shape.")
    # A sparse mean is a matrix in SciPy's older classes, hence the ravel.
    mean = None if grid is None else np.asarray(dataset.X.mean(axis=0), dtype=np.float64).ravel()
    return DataFacts(
        name=str(dataset.name),
        n_samples=int(n_samples),
        n_features=int(n_features),
        fingerprint=str(dataset.fingerprint),
        target=target.name,
        classes=target.classes,
        notes=tuple(str(note) for note in dataset.notes),
        grid_shape=None if grid is None else (grid[0], grid[1]),
        grid_order=str(getattr(dataset, "grid_order", "rows")),
        mean_picture=None if mean is None else tuple(mean.tolist()),
    )


def _request_of(dataset: DataLike, selector: Any) -> Request:
    parameters = selector.get_params(deep=False)
    return Request(
        source=str(dataset.source),
        target=None if dataset.target_name is None else str(dataset.target_name),
        reading={},
        method=type(selector).__name__,
        parameters={key: value for key, value in parameters.items() if key != "n_features_to_select"},
        n_features=parameters.get("n_features_to_select", parameters.get("k")),
        transform="none",
        seed=None,
        task=dataset.task,
    )


def _versions() -> Versions:
    from importlib.metadata import version

    return Versions(
        infused=__version__,
        numpy=np.__version__,
        scikit_learn=version("scikit-learn"),
        python=platform.python_version(),
    )


def _redundancy(X: Any, best: Ints) -> tuple[Redundancy | None, list[int]]:
    if len(best) < 2:
        return None, [1] * len(best)
    matrix, groups = redundancy_groups(X[:, best[:MOST_GROUPED]])
    part = matrix[:MOST_IN_MATRIX, :MOST_IN_MATRIX]
    return Redundancy(THRESHOLD, tuple(tuple(row) for row in part.tolist())), groups.tolist()


def _selected(
    view: FittedView, names: list[str], groups: list[int], relevance: Floats
) -> tuple[SelectedFeature, ...]:
    return tuple(
        SelectedFeature(
            rank=place + 1,
            name=names[n],
            index=int(n),
            score=finite(view.scores[n]),
            coefficients=None if view.coef is None else tuple(finite(b) for b in view.coef[:, n]),
            group=groups[place] if place < len(groups) else None,
            relevance=float(relevance[place]),
        )
        for place, n in enumerate(view.order[: view.n_selected])
    )


def _all_features(view: FittedView, names: list[str]) -> FeatureScores:
    ranks = np.empty(len(names), dtype=np.int64)
    ranks[view.order] = np.arange(1, len(names) + 1)
    return FeatureScores(tuple(names), tuple(finite(score) for score in view.scores), tuple(ranks.tolist()))
