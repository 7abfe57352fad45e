"""What a plot reads from a selector: which features, their names, their part of U."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from infused._typing import Array, Floats, Ints
from infused.information.structural import structural_information

__all__ = [
    "feature_names",
    "feature_positions",
    "require_fitted",
    "selected_by_rank",
    "square",
    "structure_of",
]


def require_fitted(selector: Any, attribute: str) -> None:
    """Raise unless the selector is fitted and has what is to be shown."""
    check_is_fitted(selector)
    if not hasattr(selector, attribute):
        kind = type(selector).__name__
        raise ValueError(f"{kind} has no {attribute} to show: pass a selector that has, like InFusedLasso.")


def selected_by_rank(selector: Any) -> Ints:
    """Positions of the selected features, the best first."""
    found = np.flatnonzero(selector.support_)
    if len(found) == 0:
        raise ValueError("No feature is selected: lower lambda1 or set n_features_to_select, and fit again.")
    return found[np.argsort(selector.ranking_[found], kind="stable")]


def feature_names(selector: Any, positions: Ints) -> list[str]:
    """Names of features, or their positions where the data had no names."""
    known = getattr(selector, "feature_names_in_", None)
    return [str(n if known is None else known[n]) for n in positions]


def structure_of(selector: Any, X: Any, y: Any, features: Any) -> tuple[Floats, list[str]]:
    """U of some features of a fitted selector's data, and their names."""
    require_fitted(selector, "ranking_")
    if X is None or y is None:
        raise ValueError("U is not stored by a selector: pass the X and y that it was fitted on.")
    if np.ndim(y) == 2 and np.shape(y)[1] > 1:
        raise ValueError("y has several columns, and target graphs are of one: pass one column of y.")
    X = validate_data(selector, X, reset=False, accept_sparse=["csr", "csc"])
    known = getattr(selector, "feature_names_in_", None)
    chosen = (
        selected_by_rank(selector) if features is None else feature_positions(features, X.shape[1], known)
    )
    U = structural_information(
        X[:, chosen],
        y,
        graph=getattr(selector, "graph", "kernel"),
        n_jobs=getattr(selector, "n_jobs", None),
        memory_budget=getattr(selector, "memory_budget", None),
    )
    return U, feature_names(selector, chosen)


def square(U: Any) -> Floats:
    """A matrix that was given as U, checked."""
    values: Floats = check_array(U, dtype=np.float64, input_name="U")
    if values.shape[0] != values.shape[1]:
        raise ValueError(f"U must be square, features x features; got an array of shape {values.shape}.")
    return values


def feature_positions(features: Any, n_features: int, known: Array | None) -> Ints:
    """Positions of features that are given by position, by name or by a mask."""
    given = np.atleast_1d(np.asarray(features))
    if given.dtype == bool and given.shape == (n_features,):
        given = np.flatnonzero(given)
    elif given.dtype.kind in "OUST" and known is not None:
        place = {name: n for n, name in enumerate(known)}
        unknown = [name for name in given.tolist() if name not in place]
        if unknown:
            raise ValueError(f"features has {unknown[0]!r}, which is no column of the fitted X.")
        given = np.array([place[name] for name in given.tolist()])
    if given.ndim != 1 or given.size == 0 or given.dtype.kind not in "iu":
        raise ValueError("features must be positions, a mask with something in it, or names of columns.")
    if given.min() < 0 or given.max() >= n_features:
        raise ValueError(
            f"features must lie between 0 and {n_features - 1}: got {given.min()}, {given.max()}."
        )
    return given.astype(np.int64)
