"""What a fitted selector says of its features: ours, and scikit-learn's as far as they say it."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

import numpy as np

from infused._typing import Array, Floats, Ints
from infused.exceptions import InputError
from infused.record.schema import Convergence

MOST_POINTS = 500  # of the objective's path


@dataclass(frozen=True)
class FittedView:
    """A fitted selector, read once."""

    order: Ints
    """All features, best first; the selected come before the others."""
    n_selected: int
    scores: Floats
    """NaN where the method gives none."""
    coef: Floats | None
    """targets x features."""
    coefficient_names: tuple[str, ...]
    standardized: bool
    convergence: Convergence | None
    method_name: str
    reference: str | None


def view_of(selector: Any, n_features: int, target_name: str, groups: Ints | None = None) -> FittedView:
    """Read a fitted selector of ours or of scikit-learn; ``groups`` are the features of its columns."""
    support = _support(selector)
    n_columns = n_features if groups is None else len(groups)
    if support.shape != (n_columns,):
        raise InputError(
            f"The selector was fitted on {len(support)} features and the data has {n_columns}: "
            "pass the data that it was fitted on."
        )
    coef = _coefficients(selector, n_columns)
    if groups is not None:
        support = np.bincount(groups[support], minlength=n_features) > 0
        coef = None if coef is None else _by_feature(coef, groups, n_features)
    scores = _scores(selector, coef, n_features)
    ranking = np.asarray(getattr(selector, "ranking_", np.zeros(n_features)))
    with_last = np.where(np.isnan(scores), np.inf, -scores)
    return FittedView(
        order=np.lexsort((with_last, ranking, ~support)),
        n_selected=int(support.sum()),
        scores=scores,
        coef=coef,
        coefficient_names=_coefficient_names(selector, coef, target_name),
        standardized=bool(getattr(selector, "standardize", False)),
        convergence=_convergence(selector),
        method_name=type(selector).__name__,
        reference=_reference(selector),
    )


def widened(view: FittedView, kept: Ints, rest: Ints, n_selected: int | None = None) -> FittedView:
    """The view on all features, where the selector saw those that were kept: the rest come last."""
    n_features = len(kept) + len(rest)
    scores = np.full(n_features, np.nan)
    scores[kept] = view.scores
    coef = None
    if view.coef is not None:
        coef = np.full((len(view.coef), n_features), np.nan)
        coef[:, kept] = view.coef
    chosen = kept[view.order]
    n_selected = view.n_selected if n_selected is None else n_selected
    return replace(
        view, order=np.concatenate([chosen, rest]), n_selected=n_selected, scores=scores, coef=coef
    )


def _by_feature(coef: Floats, groups: Ints, n_features: int) -> Floats:
    """The coefficient of each feature with one column; NaN for others, which have several."""
    found = np.full((len(coef), n_features), np.nan)
    single = np.flatnonzero(np.bincount(groups, minlength=n_features)[groups] == 1)
    found[:, groups[single]] = coef[:, single]
    return found


def finite(value: Any) -> float | None:
    """A plain float, or None where the number is not finite."""
    number = float(value)
    return number if isfinite(number) else None


def _support(selector: Any) -> Array:
    known = selector.get_support() if hasattr(selector, "get_support") else selector.support_
    return np.asarray(known, dtype=bool)


def _coefficients(selector: Any, n_features: int) -> Floats | None:
    """Coefficients of all features, from the selector or from the model that it wraps (SelectFromModel)."""
    for owner in (selector, getattr(selector, "estimator_", None)):
        coef = getattr(owner, "coef_", None)
        if coef is not None and np.shape(coef)[-1] == n_features:
            return np.atleast_2d(np.asarray(coef, dtype=np.float64))
    return None


def _scores(selector: Any, coef: Floats | None, n_features: int) -> Floats:
    """The method's own scores, else importances, else the lengths of the coefficients."""
    wrapped = getattr(selector, "estimator_", None)
    known = (getattr(selector, "scores_", None), getattr(wrapped, "feature_importances_", None))
    for scores in known:
        if scores is not None and np.shape(scores) == (n_features,):
            return np.asarray(scores, dtype=np.float64)
    return np.full(n_features, np.nan) if coef is None else np.linalg.norm(coef, axis=0)


def _coefficient_names(selector: Any, coef: Floats | None, target_name: str) -> tuple[str, ...]:
    if coef is None:
        return ()
    classes = getattr(selector, "classes_", getattr(getattr(selector, "estimator_", None), "classes_", None))
    if classes is not None and len(coef) == len(classes):
        return tuple(str(name) for name in classes)
    if len(coef) == 1:
        # Of two classes there is one row, and a positive coefficient speaks for the second.
        return (str(classes[1]) if classes is not None and len(classes) == 2 else target_name,)
    return tuple(f"{target_name} {n + 1}" for n in range(len(coef)))


def _convergence(selector: Any) -> Convergence | None:
    known = [
        getattr(selector, name, None) for name in ("converged_", "n_iter_", "certificate_", "objective_path_")
    ]
    if all(value is None for value in known):
        return None
    converged, n_iter, certificate, path = known
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


def _reference(selector: Any) -> str | None:
    """The References section of one of our own selectors, as one line."""
    kind = type(selector)
    if not kind.__module__.startswith("infused."):
        return None
    _, found, rest = (inspect.getdoc(kind) or "").partition("References\n----------\n")
    return " ".join(rest.split("\n\n")[0].split()) if found else None
