"""What the plots of a selector show, as plain numbers and names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from infused._runtime.sparse import sound
from infused._typing import Array, Floats, Ints
from infused.bench.tuning import transformed
from infused.exceptions import InputError, Setting
from infused.graphs.feature_graph import FeatureGraph
from infused.graphs.validation import Graph, Target, resolve_target
from infused.information.structural import structural_information

__all__ = [
    "Coefficients",
    "FeatureGraphs",
    "ObjectivePath",
    "Structure",
    "coefficients",
    "feature_graphs",
    "objective_path",
    "structure",
]

TOP = 30
MOST_SAMPLES = 500  # more would be thinner than a pixel


@dataclass(frozen=True)
class ObjectivePath:
    """The objective after each iteration, and how far its end is to be trusted."""

    method: str
    objective: Floats
    outcome: str

    @property
    def distance(self) -> Floats:
        """To the last objective; NaN where there is none, which a logarithm could not show."""
        with np.errstate(invalid="ignore"):
            distance = np.abs(self.objective - self.objective[-1])
        distance[~np.isfinite(distance) | (distance == 0)] = np.nan
        if np.isnan(distance).all():
            raise InputError(
                Setting("gap", True), " needs an objective that changes and stays finite: use gap=False"
            )
        return np.asarray(distance)


@dataclass(frozen=True)
class Coefficients:
    """Coefficients of the best selected features."""

    features: list[str]
    """Best first."""
    targets: list[str]
    values: Floats
    """targets x features."""
    by_class: bool
    n_selected: int
    standardized: bool


@dataclass(frozen=True)
class Structure:
    """U of some features."""

    features: list[str]
    values: Floats
    by_rank: bool
    """Whether these are the selected features, best first."""


@dataclass(frozen=True)
class FeatureGraphs:
    """The graph of a feature and its target graph, of at most 500 samples sorted by the target."""

    adjacencies: tuple[Floats, Floats]
    labels: Array
    """The target of the samples that are shown."""
    n_samples: int
    """Of all, shown or not."""
    classes: bool

    @property
    def n_shown(self) -> int:
        """How many samples the adjacencies are of."""
        return len(self.labels)


@dataclass(frozen=True)
class _Fitted:
    """A fitted selector and the names of its features."""

    selector: Any
    names: Sequence[str] | None

    @classmethod
    def read(cls, given: Any, attribute: str) -> _Fitted:
        """From a fitted selector or a selection that has what is to be shown."""
        record = getattr(given, "record", None)
        selector = given if record is None else given.selector
        if selector is None:
            raise InputError(
                "this selection was read from a file, which does not hold the fitted selector: select again, "
                "or pass infused.rerun(...).again"
            )
        check_is_fitted(selector)
        if not hasattr(selector, attribute):
            kind = type(selector).__name__
            raise InputError(
                f"{kind} has no {attribute} to show: pass a selector that has, like InFusedLasso"
            )
        known = getattr(selector, "feature_names_in_", None)
        return cls(selector, known if record is None else record.features.names)

    def by_rank(self) -> Ints:
        """Positions of the selected features, the best first."""
        found = np.flatnonzero(self.selector.support_)
        if len(found) == 0:
            raise InputError(
                "no feature is selected: lower lambda1 or set n_features_to_select, and fit again"
            )
        return found[np.argsort(self.selector.ranking_[found], kind="stable")]

    @property
    def coded(self) -> Any:
        """What the columns of the coefficients are, where categories have several; else None."""
        return getattr(self.selector, "coef_names_", None)

    def by_length(self) -> Ints:
        """Positions of the coefficients that are not zero, the longest first."""
        lengths = np.linalg.norm(np.atleast_2d(self.selector.coef_), axis=0)
        order = np.argsort(-lengths, kind="stable")
        return np.asarray(order[lengths[order] > 0])

    def called(self, positions: Ints) -> list[str]:
        """Names of features, or their positions where the data had no names."""
        return [str(n if self.names is None else self.names[n]) for n in positions]


def objective_path(given: Any) -> ObjectivePath:
    """The objective of a fit, iteration by iteration."""
    selector = _Fitted.read(given, "objective_path_").selector
    objective = np.asarray(selector.objective_path_, dtype=np.float64)
    return ObjectivePath(type(selector).__name__, objective, _outcome(selector))


def _outcome(selector: Any) -> str:
    """How far the end of a run is to be trusted, in words."""
    if getattr(selector, "unbounded_", False):
        return "ran on an objective that has no minimum"
    verb = "converged" if selector.converged_ else "did not converge"
    if not selector.certificate_ < 1:  # as large as lambda1 itself, or lambda1 is zero: it certifies nothing
        return f"{verb}, no certificate"
    return f"{verb}, certificate {selector.certificate_:.1e} of $\\lambda_1$"


def coefficients(given: Any, top: int | None = None) -> Coefficients:
    """The coefficients of the best selected features."""
    fitted = _Fitted.read(given, "coef_")
    if top is not None and (not isinstance(top, Integral) or top < 1):
        raise InputError(f"top must be a positive whole number or None, got {top!r}")
    selected = fitted.by_rank() if fitted.coded is None else fitted.by_length()
    best = selected[: TOP if top is None else top]
    values = np.atleast_2d(fitted.selector.coef_)[:, best]
    classes = getattr(fitted.selector, "classes_", None)
    return Coefficients(
        features=fitted.called(best) if fitted.coded is None else [str(fitted.coded[n]) for n in best],
        targets=[str(name) for name in (range(len(values)) if classes is None else classes)],
        values=values,
        by_class=classes is not None,
        n_selected=len(selected),
        standardized=bool(getattr(fitted.selector, "standardize", False)),
    )


def structure(given: Any, X: Any = None, y: Any = None, features: Any = None) -> Structure:
    """U of the selected features of a fit, or of a given part; or of a U that was given."""
    if hasattr(given, "fit") or hasattr(given, "record"):
        return _structure_of_fit(given, X, y, features)
    if X is not None or y is not None:
        raise InputError("X and y go with a fitted selector: leave them out where U itself is given")
    U: Floats = check_array(given, dtype=np.float64, input_name="U")
    if U.shape[0] != U.shape[1]:
        raise InputError(f"U must be square, features x features; got an array of shape {U.shape}")
    chosen = np.arange(len(U)) if features is None else _positions(features, len(U), None)
    return Structure([str(n) for n in chosen], U[np.ix_(chosen, chosen)], by_rank=False)


def _structure_of_fit(given: Any, X: Any, y: Any, features: Any) -> Structure:
    fitted = _Fitted.read(given, "ranking_")
    data = getattr(given, "data", None)
    if X is None and y is None and data is not None:
        X, y = transformed(data.X, given.record.transform, data.feature_names), data.y
    if X is None or y is None:
        raise InputError("U is not stored by a selector: pass the X and y that it was fitted on")
    if np.ndim(y) == 2 and np.shape(y)[1] > 1:
        raise InputError("y has several columns, and target graphs are of one: pass one column of y")
    selector = fitted.selector
    X = validate_data(selector, sound(X), reset=False, accept_sparse=["csr", "csc"])
    chosen = fitted.by_rank() if features is None else _positions(features, X.shape[1], fitted.names)
    U = structural_information(
        X[:, chosen],
        y,
        graph=getattr(selector, "graph", "kernel"),
        n_jobs=getattr(selector, "n_jobs", None),
        memory_budget=getattr(selector, "memory_budget", None),
    )
    return Structure(fitted.called(chosen), U, by_rank=features is None)


def _positions(features: Any, n_features: int, known: Sequence[str] | None) -> Ints:
    """Positions of features that are given by position, by name or by a mask."""
    given = np.atleast_1d(np.asarray(features))
    if given.dtype == bool and given.shape == (n_features,):
        given = np.flatnonzero(given)
    elif given.dtype.kind in "OUST" and known is not None:
        place = {name: n for n, name in enumerate(known)}
        unknown = [name for name in given.tolist() if name not in place]
        if unknown:
            raise InputError(f"features has {unknown[0]!r}, which is no column of the fitted X")
        given = np.array([place[name] for name in given.tolist()])
    if given.ndim != 1 or given.size == 0 or given.dtype.kind not in "iu":
        raise InputError("features must be positions, a mask with something in it, or names of columns")
    if given.min() < 0 or given.max() >= n_features:
        raise InputError(
            f"features must lie between 0 and {n_features - 1}: got {given.min()}, {given.max()}"
        )
    return given.astype(np.int64)


def feature_graphs(f: Any, y: Any, graph: Graph = "kernel", target: Target = "auto") -> FeatureGraphs:
    """A feature's graph and its target graph, samples sorted by class or target, then by value."""
    feature = FeatureGraph(f, graph=graph).values
    labels, kind = resolve_target(feature, y, target)
    # The class means are those of all samples, also where only a part of them is shown.
    means = FeatureGraph.of_target(feature, labels, graph=graph, target=target).values
    order = np.lexsort((feature, np.unique(labels, return_inverse=True)[1]))
    shown = order[np.linspace(0, len(order) - 1, min(len(order), MOST_SAMPLES)).round().astype(int)]
    own, goal = (FeatureGraph(values[shown], graph=graph).adjacency() for values in (feature, means))
    return FeatureGraphs((own, goal), labels[shown], len(order), kind == "classes")
