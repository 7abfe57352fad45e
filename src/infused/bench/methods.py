"""The selectors of a benchmark by name: ids of the registry, ablations of InFusedLasso, dotted paths."""

from __future__ import annotations

import json
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from infused._typing import Array, Data, Ints
from infused.bench.cells import BenchmarkError, Method
from infused.bench.models import find_class

if TYPE_CHECKING:
    from infused.data.content import Task

__all__ = ["ABLATIONS", "check_method", "make_method", "rank", "warm_up"]

#: Variants of InFusedLasso with one part changed: the class, and the parameters that make them.
ABLATIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "infused-lasso[equal-ridge]": ("infused.bench.ablation:EqualRidge", {}),
    "infused-lasso[permuted-U]": ("infused.bench.ablation:PermutedStructure", {}),
    "infused-lasso[no-fusion]": ("infused.selectors.infused_lasso:InFusedLasso", {"lambda2": 0.0}),
    "infused-lasso[labels]": ("infused.selectors.infused_lasso:InFusedLasso", {"target": "label"}),
}


def make_method(method: Method, k: int, task: Task = "classification", seed: int = 0) -> Any:
    """A selector of k features; what it draws at random comes from the seed, unless its parameters say."""
    parameters = {"n_features_to_select": k, **json.loads(method.parameters)}
    if method.name in ABLATIONS:
        where, own = ABLATIONS[method.name]
        selector = find_class(where)(**parameters, **own)
    elif "." in method.name:
        selector = find_class(method.name)(**parameters)
    else:
        from infused.selectors import make_selector

        selector = make_selector(method.name, **parameters)
    takes = selector.get_params()
    if "random_state" in takes and "random_state" not in parameters:
        selector.set_params(random_state=seed)
    if task == "regression" and takes.get("target") == "auto":
        selector.set_params(target="real")
    return selector


def check_method(method: Method, task: Task) -> None:
    """Raise unless there is such a method, and it takes this kind of target."""
    if "n_features_to_select" in json.loads(method.parameters):
        raise BenchmarkError(f"{method.name} cannot have n_features_to_select of its own: -k gives it.")
    try:
        selector = make_method(method, 1, task)
        if hasattr(selector, "_validate_params"):
            selector._validate_params()
    except (TypeError, ValueError) as error:
        raise BenchmarkError(str(error)) from error
    if task == "regression" and method.name not in ABLATIONS and "." not in method.name:
        from infused.selectors.registry import selector_info

        if not selector_info(method.name).regression:
            raise BenchmarkError(f"{method.name} needs classes: leave it out, or take another data set.")


@cache
def warm_up(method: Method, task: Task) -> None:
    """Fit once on next to nothing: what a first fit loads or compiles is not the time of a selection.

    What goes wrong here goes wrong again, and is told, when the method is run.
    """
    if "." in method.name:
        return
    X = np.random.default_rng(0).normal(size=(40, 8))
    y = np.arange(40) % 2 if task == "classification" else X[:, 0] + X[:, 1]
    with suppress(Exception):
        make_method(method, 4, task).fit(X, y)


def rank(selector: Any, X: Data, y: Array, ks: tuple[int, ...], task: Task) -> Ints:
    """The best features in rank order, as many as the largest k.

    A ranking that is made for one number of features, as ``ranking="recursive"`` makes it, is that for the
    largest k: the features for a smaller one are its first, not those of a run of their own.
    """
    if task == "regression" and "target" not in selector.get_params() and (y == np.round(y)).all():
        y = y + 0.5  # scikit-learn takes whole numbers for classes, and no selector minds where zero is
    name = type(selector).__name__
    selector.fit(X, y)
    if not hasattr(selector, "ranking_"):
        raise BenchmarkError(f"{name} sets no ranking_, which tells the best k for every k.")
    ranking = np.asarray(selector.ranking_)
    for k in ks:
        found = np.count_nonzero(ranking <= k)
        if found != k:
            raise BenchmarkError(f"The ranking_ of {name} puts {found} features first, not {k}.")
    return np.argsort(ranking, kind="stable")[: ks[-1]]
