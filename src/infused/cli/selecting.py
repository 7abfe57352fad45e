"""From a request to the record of a selection: what ``select`` and ``rerun`` share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from infused.cli.errors import CommandError
from infused.cli.parameters import defaults_of, recorded_parameters

if TYPE_CHECKING:
    from infused.cli.progress import Stages
    from infused.data import Dataset
    from infused.selection import Request, SelectionRecord

__all__ = ["check_request", "select_features"]

ENOUGH_FOR_TRANSFORM = 100  # features to choose the transform with, where their number is not given


def check_request(request: Request) -> None:
    """Refuse what can be refused before the data are read."""
    from infused.selectors import make_selector

    selector = make_selector(request.method, **request.parameters)
    validate = getattr(selector, "_validate_params", None)  # of scikit-learn's estimators
    if validate is not None:
        validate()


def select_features(dataset: Dataset, request: Request, stages: Stages, n_jobs: int) -> SelectionRecord:
    """Transform, choose what is left to choose, fit, and summarise."""
    from infused._runtime.progress import reporting
    from infused.selectors import make_selector

    _check_number(dataset, request.n_features)
    takes, parameters = defaults_of(request.method), _settled_parameters(dataset, request)
    threads = {"n_jobs": n_jobs} if "n_jobs" in takes else {}

    def make(k: int | float | None) -> Any:
        return make_selector(request.method, n_features_to_select=k, **parameters, **threads)

    with reporting(stages.report):
        chosen = _choose(dataset, request, make, stages)
        with stages.stage("select", "selecting features"):
            selector = make(chosen.k).fit(chosen.X, dataset.y)
    return _summary(dataset, selector, request, parameters, chosen, stages)


@dataclass(frozen=True)
class _Chosen:
    """The data to select from and how many features, after what was left to choose."""

    X: Any
    transform: str
    k: int | float | None
    reasons: tuple[str, ...]


def _choose(dataset: Dataset, request: Request, make: Callable[[int], Any], stages: Stages) -> _Chosen:
    from infused.selection.choices import choose_number, choose_transform, transformed

    seed, transform, k = request.seed or 0, request.transform, request.n_features
    reasons = []
    if transform == "auto":
        with stages.stage("choose the transform", "choosing the transform"):
            how = choose_transform(dataset.X, dataset.y, dataset.task, _about(k, dataset), seed)
        transform = how.value
        reasons.append(how.reason)
    X = transformed(dataset.X, transform, dataset.feature_names)
    if isinstance(k, str):
        with stages.stage("choose the number", "choosing the number of features"):
            many = choose_number(make, X, dataset.y, dataset.task, seed)
        k = many.value
        reasons.append(many.reason)
    return _Chosen(X, transform, k, tuple(reasons))


def _summary(
    dataset: Dataset,
    selector: Any,
    request: Request,
    parameters: dict[str, Any],
    chosen: _Chosen,
    stages: Stages,
) -> SelectionRecord:
    from infused.selection import summarize
    from infused.selectors.registry import selector_info

    done = replace(
        request,
        source=dataset.source,
        parameters=recorded_parameters(request.method, parameters),
        transform=chosen.transform,
        task=dataset.task,
    )
    with stages.stage("summarise", "summarising"):
        noted: Any = replace(dataset, notes=(*dataset.notes, *chosen.reasons))
        record = summarize(noted, selector, done, timings=stages.timings)
    known = selector_info(request.method).reference
    return replace(record, reference=known) if known and record.reference is None else record


def _settled_parameters(dataset: Dataset, request: Request) -> dict[str, Any]:
    """The parameters, with what follows from the data."""
    from infused.selectors.registry import selector_info

    takes, parameters = defaults_of(request.method), dict(request.parameters)
    if dataset.task == "regression":
        if not selector_info(request.method).regression:
            raise CommandError(
                f"{request.method} needs classes, but the target {dataset.target_name!r} holds real numbers: "
                "take another method, such as lasso"
            )
        if "target" in takes and parameters.get("target", "auto") == "auto":
            parameters["target"] = "real"
    if "fusion" in takes:
        if "grid" in request.reading:
            parameters.setdefault("fusion", "grid")
        if parameters.get("fusion") == "grid":
            parameters["grid_shape"] = _grid_of(dataset)
    if "random_state" in takes:
        parameters["random_state"] = request.seed
    return parameters


def _grid_of(dataset: Dataset) -> tuple[int, int]:
    if dataset.grid_shape is None:
        raise CommandError(
            f"--fusion grid needs the shape of the pictures in {dataset.name!r}: give --grid, like 16x16"
        )
    rows, columns = dataset.grid_shape
    # Pixels that are listed by columns are those of the turned picture listed by rows.
    return (rows, columns) if dataset.grid_order == "rows" else (columns, rows)


def _check_number(dataset: Dataset, k: int | float | str | None) -> None:
    if isinstance(k, int) and k > dataset.n_features:
        raise CommandError(f"-k {k} is more than the {dataset.n_features:,} features of {dataset.name!r}")


def _about(k: int | float | str | None, dataset: Dataset) -> int:
    """How many features will be selected, as far as it is known."""
    if isinstance(k, float):
        return max(1, round(k * dataset.n_features))
    return k if isinstance(k, int) else min(ENOUGH_FOR_TRANSFORM, dataset.n_features)
