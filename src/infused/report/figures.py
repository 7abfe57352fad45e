"""Figures as plain numbers and names: computed here, drawn by the page (html) and by matplotlib (plots)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from infused._runtime.checks import sound
from infused._typing import Array, Floats, Ints
from infused.bench.plan import REFERENCES
from infused.coding import transformed
from infused.exceptions import InputError
from infused.graphs.feature_graph import FeatureGraph
from infused.graphs.validation import Graph, Target, resolve_target
from infused.information.structural import structural_information
from infused.record.schema import ClassDistribution, SelectionRecord, TargetScatter
from infused.record.sentences import unit

if TYPE_CHECKING:
    from pandas import DataFrame

TOP = 30  # features of a figure
MOST_SAMPLES = 500  # more would be thinner than a pixel
SLACK = 1e-9


@dataclass(frozen=True)
class ScoreCurve:
    """Mean scores of a method against the number of features, in the unit in which people know them."""

    label: str
    is_reference: bool
    """Whether it is a level: all features, or none."""
    ks: list[int]
    means: Floats
    errors: Floats
    """Standard errors; zero where they are not known."""


def score_curves(summary: DataFrame, metric: str, labels: Sequence[str]) -> list[ScoreCurve]:
    """Return the curves of these methods, from a summary of scores by label and k."""
    factor, curves = unit(metric)[0], []
    for label in labels:
        mine = summary[summary["label"] == label]
        means, errors = factor * mine["mean"].to_numpy(), abs(factor) * mine["error"].fillna(0.0).to_numpy()
        is_reference = bool(mine["method"].isin(REFERENCES).any())
        curves.append(ScoreCurve(label, is_reference, mine["k"].tolist(), means, errors))
    return curves


def distances_to_last(objective: Any) -> Floats:
    """Return |F_t - F_last|; NaN where it is zero or infinite, which a logarithm could not show."""
    values = np.asarray(objective, dtype=np.float64)
    with np.errstate(invalid="ignore"):
        distance = np.abs(values - values[-1])
    distance[~np.isfinite(distance) | (distance == 0)] = np.nan
    return np.asarray(distance)


@dataclass(frozen=True)
class Coefficients:
    """Coefficients of the best selected features."""

    features: list[str]
    """Best first."""
    targets: list[str]
    values: Floats
    """targets x features; NaN where a method gives no finite number."""
    by_class: bool
    n_selected: int
    unit: str

    @property
    def largest(self) -> float:
        """Return the largest absolute value, one where all are zero: where a colour scale ends."""
        sizes = np.abs(self.values)
        return float(np.max(sizes, initial=0.0, where=np.isfinite(sizes))) or 1.0


def record_coefficients(record: SelectionRecord) -> Coefficients | None:
    """Return the coefficients in a record; None where the method has none.

    A category of two levels has the coefficient of the second, which it is named by; one of more has none.
    """
    best = [one for one in record.selected[:TOP] if any(b is not None for b in one.coefficients or ())]
    shown: Sequence[ClassDistribution | TargetScatter] = (*record.distributions, *record.scatters)
    parts = [(one.name, list(one.levels or ())) for one in shown]
    parts += [(one.name, one.hazard.unit.split(" against ")[::-1]) for one in best if one.hazard]
    called = {name: f"{name}={levels[1]}" for name, levels in parts if len(levels) == 2}
    if not best:
        return None
    rows = [[np.nan if b is None else b for b in feature.coefficients or ()] for feature in best]
    return Coefficients(
        features=[called.get(one.name, one.name) for one in best],
        targets=list(record.coefficient_names),
        values=np.array(rows, dtype=np.float64).T,
        by_class=record.data.classes is not None,
        n_selected=len(record.selected),
        unit=_coefficient_unit(record.standardized),
    )


def coefficients(given: Any, top: int | None = None) -> Coefficients:
    """Return the coefficients of the best features of a fitted selector or a selection."""
    fitted = Fitted.read(given, "coef_")
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
        unit=_coefficient_unit(getattr(fitted.selector, "standardize", False)),
    )


def _coefficient_unit(standardized: bool) -> str:
    return "Coefficient (standardised units)" if standardized else "Coefficient"


@dataclass(frozen=True)
class Frequencies:
    """Selection frequencies of the best features in half-samples."""

    features: list[str]
    """Best first."""
    shares: Floats
    threshold: float
    n_stable: int
    expected_false: float
    n_halves: int

    @property
    def stable(self) -> Array:
        """Return which features reach the threshold."""
        return np.asarray(self.shares >= self.threshold - SLACK)

    @property
    def bound(self) -> str:
        """Say how many features are stable, and how many of them may be false."""
        return f"{self.n_stable:,} stable, at most {self.expected_false:.2g} expected to be false selections"


def record_frequencies(record: SelectionRecord) -> Frequencies | None:
    """Return the selection frequencies in a record; None where there are none."""
    found, best = record.stability, record.selected[:TOP]
    if found is None or not best:
        return None
    return Frequencies(
        features=[feature.name for feature in best],
        shares=np.array([found.frequencies[feature.index] for feature in best]),
        threshold=found.threshold,
        n_stable=found.n_stable,
        expected_false=found.expected_false,
        n_halves=2 * found.n_pairs,
    )


def frequencies(selector: Any, order: Ints) -> Frequencies:
    """Return the selection frequencies of some features of a fitted StabilitySelection."""
    known = getattr(selector, "group_names_", getattr(selector, "feature_names_in_", None))
    return Frequencies(
        features=[f"feature {n}" if known is None else str(known[n]) for n in order],
        shares=selector.frequencies_[order],
        threshold=selector.threshold_,
        n_stable=selector.n_stable_,
        expected_false=selector.expected_false_,
        n_halves=2 * selector.n_pairs_,
    )


@dataclass(frozen=True)
class Explained:
    """Percentages that the best features explain: alone, and beyond the other selected ones."""

    features: list[str]
    """Best first."""
    alone: Floats
    unique: Floats | None
    """None where it was not computed for all of them."""


def record_explained(record: SelectionRecord) -> Explained | None:
    """Return what the best features in a record explain; None where nothing is selected."""
    best = record.selected[:TOP]
    if not best:
        return None
    known = [feature.unique for feature in best if feature.unique is not None]
    unique = 100 * np.array(known) if len(known) == len(best) else None
    alone = 100 * np.array([feature.alone for feature in best])
    return Explained([feature.name for feature in best], alone, unique)


@dataclass(frozen=True)
class Alike:
    """Correlations among the selected features, similar features side by side."""

    features: list[str]
    matrix: Floats
    """|r| of each two."""
    strongest: float
    """|r| of the two that are most alike."""


def record_alike(record: SelectionRecord) -> Alike | None:
    """Return the correlations in a record; None with fewer than two selected features."""
    if record.redundancy is None:
        return None
    matrix = np.array(record.redundancy.matrix)
    tree = linkage(squareform(1.0 - matrix, checks=False), method="average", optimal_ordering=True)
    order = leaves_list(tree)
    names = [record.selected[n].name for n in order]
    return Alike(names, matrix[np.ix_(order, order)], float((matrix - np.eye(len(matrix))).max()))


def shares_by_class(found: ClassDistribution) -> Floats:
    """Return the percentages of each class in each bin, so that large and small classes compare."""
    counts = np.array(found.counts, dtype=np.float64)
    return np.asarray(100.0 * counts / np.maximum(1.0, counts.sum(axis=1, keepdims=True)))


@dataclass(frozen=True)
class StructureMap:
    """U of some features."""

    features: list[str]
    values: Floats
    by_rank: bool
    """Whether these are the selected features, best first."""


@dataclass(frozen=True)
class GraphPair:
    """The graph of a feature and its target graph, of at most 500 samples sorted by the target."""

    adjacencies: tuple[Floats, Floats]
    labels: Array
    """The target of the samples that are shown."""
    n_samples: int
    """Of all, shown or not."""
    classes: bool

    @property
    def n_shown(self) -> int:
        """Count the samples that the adjacencies are of."""
        return len(self.labels)


@dataclass(frozen=True)
class Fitted:
    """A fitted selector and the names of its features."""

    selector: Any
    names: Sequence[str] | None

    @classmethod
    def read(cls, given: Any, attribute: str) -> Fitted:
        """Take a fitted selector or a selection that has what is to be shown."""
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
        """Return the positions of the selected features, the best first."""
        found = np.flatnonzero(self.selector.support_)
        if len(found) == 0:
            raise InputError(
                "no feature is selected: lower lambda1 or set n_features_to_select, and fit again"
            )
        return found[np.argsort(self.selector.ranking_[found], kind="stable")]

    @property
    def coded(self) -> Any:
        """Return what the columns of the coefficients are, where categories have several; else None."""
        return getattr(self.selector, "coef_names_", None)

    def by_length(self) -> Ints:
        """Return the positions of the coefficients that are not zero, the longest first."""
        lengths = np.linalg.norm(np.atleast_2d(self.selector.coef_), axis=0)
        order = np.argsort(-lengths, kind="stable")
        return np.asarray(order[lengths[order] > 0])

    def called(self, positions: Ints) -> list[str]:
        """Return names of features, or their positions where the data had no names."""
        return [str(n if self.names is None else self.names[n]) for n in positions]


def structure_map(given: Any, X: Any = None, y: Any = None, features: Any = None) -> StructureMap:
    """Compute U of the selected features of a fit, or of a given part; or take a U that was given."""
    if hasattr(given, "fit") or hasattr(given, "record"):
        return _structure_of_fit(given, X, y, features)
    if X is not None or y is not None:
        raise InputError("X and y go with a fitted selector: leave them out where U itself is given")
    U: Floats = check_array(given, dtype=np.float64, input_name="U")
    if U.shape[0] != U.shape[1]:
        raise InputError(f"U must be square, features x features; got an array of shape {U.shape}")
    chosen = np.arange(len(U)) if features is None else _positions(features, len(U), None)
    return StructureMap([str(n) for n in chosen], U[np.ix_(chosen, chosen)], by_rank=False)


def _structure_of_fit(given: Any, X: Any, y: Any, features: Any) -> StructureMap:
    fitted = Fitted.read(given, "ranking_")
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
    )
    return StructureMap(fitted.called(chosen), U, by_rank=features is None)


def _positions(features: Any, n_features: int, known: Sequence[str] | None) -> Ints:
    """Return the positions of features that are given by position, by name or by a mask."""
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


def graph_pair(f: Any, y: Any, graph: Graph = "kernel", target: Target = "auto") -> GraphPair:
    """Compute a feature's graph and its target graph, samples sorted by class or target, then by value."""
    feature = FeatureGraph(f, graph=graph).values
    labels, kind = resolve_target(feature, y, target)
    # The class means are those of all samples, also where only a part of them is shown.
    means = FeatureGraph.of_target(feature, labels, graph=graph, target=target).values
    order = np.lexsort((feature, np.unique(labels, return_inverse=True)[1]))
    shown = order[np.linspace(0, len(order) - 1, min(len(order), MOST_SAMPLES)).round().astype(int)]
    own, goal = (FeatureGraph(values[shown], graph=graph).adjacency() for values in (feature, means))
    return GraphPair((own, goal), labels[shown], len(order), kind == "classes")
