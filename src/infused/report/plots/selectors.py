"""What the plots of a selector show, as plain numbers and names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from numbers import Integral
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from infused._runtime.checks import sound
from infused._typing import Array, Floats, Ints
from infused.bench.tuning import transformed
from infused.exceptions import InputError, Setting
from infused.graphs.feature_graph import FeatureGraph
from infused.graphs.validation import Graph, Target, resolve_target
from infused.information.structural import structural_information
from infused.report.plots.axes import axes_pair, heat_map, label_places, one_axes, spread_limits

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


MOST_STEMS = 200  # more would run into each other
LINE, MARK, QUIET = (
    "#0072b2",
    "#d55e00",
    "#999999",
)  # blue, vermilion, grey: safe for colour-blind readers


def plot_convergence(selector: Any, *, gap: bool = False, ax: Axes | None = None) -> Axes:
    r"""The objective against the iteration (Figure 3 of the paper), and where it stopped.

    Shows :math:`F_t` for :math:`t = 1, 2, \ldots`, or with ``gap=True`` the distance
    :math:`|F_t - F_{\mathrm{last}}|` on a logarithmic scale: the objective falls so fast that it soon looks
    flat. The title gives the certificate, the largest violation of the optimality conditions.

    Parameters
    ----------
    selector : fitted selector or Selection
        One that iterates, such as InFusedLasso.
    gap : bool, default=False
        Whether to show the distance to the last objective instead of the objective.
    ax : matplotlib Axes, default=None
        Where to draw; by default on a new figure.

    Returns
    -------
    matplotlib Axes
        Where it was drawn.

    See Also
    --------
    plot_coefficients : What the fit found.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from infused import InFusedLasso
    >>> from infused.report import plot_convergence
    >>> selector = InFusedLasso().fit(*load_wine(return_X_y=True))
    >>> plot_convergence(selector).get_xlabel()
    'Iteration'
    """
    path = objective_path(selector)
    iteration = np.arange(1, len(path.objective) + 1)
    shown = path.distance if gap else path.objective
    ax = one_axes(ax)
    ax.plot(iteration, shown, color=LINE, marker="." if len(shown) <= 60 else "")
    stopped = f"stopped at iteration {len(shown)}: {path.objective[-1]:.6g}"
    if gap:  # the last distance is zero, which a logarithm cannot show
        ax.axvline(iteration[-1], color=MARK, linestyle="--", label=stopped)
    else:
        ax.plot(iteration[-1:], path.objective[-1:], "o", color=MARK, label=stopped)
    ax.set_xlabel("Iteration")
    ax.set_ylabel("Distance to the last objective" if gap else "Objective")
    ax.set_yscale("log" if gap else "linear")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
    ax.set_title(f"{path.method} {path.outcome}")
    ax.legend(frameon=False)
    return ax


def plot_coefficients(selector: Any, *, top: int | None = None, ax: Axes | None = None) -> Axes:
    r"""The coefficients of the selected features, the best feature first.

    One target gives one stem :math:`b_i` for each feature i; of two classes, a positive one speaks for the
    second. Several targets or classes c give a heat map of :math:`b_{ic}`, where a column that is coloured in
    one row only is a feature that speaks for one class.

    Parameters
    ----------
    selector : fitted selector or Selection
        One that has coefficients, such as InFusedLasso.
    top : int, default=None
        Show this many of the selected features, the best ones; by default 30.
    ax : matplotlib Axes, default=None
        Where to draw; by default on a new figure.

    Returns
    -------
    matplotlib Axes
        Where it was drawn.

    See Also
    --------
    plot_structure : How the selected features go together.
    plot_convergence : How the fit went.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from infused import InFusedLasso
    >>> from infused.report import plot_coefficients
    >>> X, y = load_wine(return_X_y=True)
    >>> ax = plot_coefficients(InFusedLasso(n_features_to_select=4).fit(X, y))
    >>> ax.images[0].get_array().shape  # classes x features
    (3, 4)
    """
    found = coefficients(selector, top)
    meaning = "Coefficient (standardised units)" if found.standardized else "Coefficient"
    ax = one_axes(ax)
    if len(found.values) == 1:
        _draw_stems(ax, found.values[0], meaning)
    else:
        largest = float(np.abs(found.values).max()) or 1.0
        # Signs matter here: a diverging scale with white for zero, blue and red for colour-blind readers.
        heat_map(ax, found.values, (-largest, largest), meaning, cmap="RdBu_r", aspect="auto")
        label_places(ax.yaxis, found.targets)
        ax.set_ylabel("Class" if found.by_class else "Column of y, by position")
    label_places(ax.xaxis, found.features)
    ax.set_xlabel("Feature, best first")
    part = f"{len(found.features)} best of " if len(found.features) < found.n_selected else ""
    ax.set_title(f"Coefficients of the {part}{_count(found.n_selected, 'selected feature')}")
    return ax


def plot_structure(
    selector_or_U: Any, X: Any = None, y: Any = None, *, features: Any = None, ax: Axes | None = None
) -> Axes:
    r"""The structural information U of the selected features as a heat map, the best feature first.

    A bright entry :math:`U_{ij}` means that i and j are jointly relevant to the target and not redundant.
    Entries hardly differ, so the colours run from the 1st to the 99th percentile of those off the diagonal.

    Parameters
    ----------
    selector_or_U : fitted selector, Selection, or array of shape (n_features, n_features)
        Whose features, or U itself.
    X, y : data and target, default=None
        Needed with a selector; a selection has its own. Only the part of U that is shown is computed.
    features : sequence of positions or names, or a mask, default=None
        What to show, in this order; by default the selected features by rank, or all of a given U.
    ax : matplotlib Axes, default=None
        Where to draw; by default on a new figure.

    Returns
    -------
    matplotlib Axes
        Where it was drawn.

    See Also
    --------
    infused.structural_information : The matrix U.
    plot_feature_graph : One of the graphs behind it.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from infused import InFusedLasso
    >>> from infused.report import plot_structure
    >>> X, y = load_wine(return_X_y=True)
    >>> ax = plot_structure(InFusedLasso(n_features_to_select=4).fit(X, y), X, y)
    >>> ax.images[0].get_array().shape
    (4, 4)
    """
    found = structure(selector_or_U, X, y, features)
    U = found.values
    others = U[~np.eye(len(U), dtype=bool)] if len(U) > 1 else U.ravel()
    ax = one_axes(ax, (7.2, 6.0))
    heat_map(ax, U, spread_limits(others, 1.0, 99.0), "Structural information U")
    label_places(ax.xaxis, found.features)
    label_places(ax.yaxis, found.features)
    ax.set_xlabel("Feature, best first" if found.by_rank else "Feature")
    ax.set_ylabel("Feature, best first" if found.by_rank else "Feature")
    whose = "selected feature" if found.by_rank else "feature"
    ax.set_title(f"Structural information of {_count(len(U), whose)}")
    return ax


def plot_feature_graph(
    f: Any,
    y: Any,
    *,
    graph: Graph = "kernel",
    target: Target = "auto",
    name: str | None = None,
    ax: Any = None,
) -> Array:
    r"""One feature's graph beside its target graph (Figure 1 of the paper), as adjacency matrices.

    Samples are sorted by class (or by a real target), then by the feature. The target graph is that of the
    class means (or of y itself, where y is real): the more the left panel shows the blocks of the right one,
    the more the feature says about the target. Of more than 500 samples an evenly spaced part is shown.

    Parameters
    ----------
    f : array of shape (n_samples,)
        The feature.
    y : array of shape (n_samples,)
        Class labels of any kind, or real values.
    graph : {"kernel", "euclidean"}, default="kernel"
        See :class:`infused.FeatureGraph`.
    target : {"auto", "classes", "real"}, default="auto"
        What y holds; "auto" decides by its type.
    name : str, default=None
        What the title calls the feature; by default the name of a pandas or polars series.
    ax : pair of matplotlib Axes, default=None
        Where to draw; by default on a new figure.

    Returns
    -------
    ndarray of two matplotlib Axes
        Where they were drawn.

    See Also
    --------
    infused.FeatureGraph : The graph itself.
    infused.explain : More about one feature.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from infused.report import plot_feature_graph
    >>> X, y = load_wine(return_X_y=True)
    >>> [ax.images[0].get_array().shape for ax in plot_feature_graph(X[:, 6], y)]
    [(178, 178), (178, 178)]
    """
    found = feature_graphs(f, y, graph, target)
    limits = [spread_limits(matrix) for matrix in found.adjacencies]
    if graph == "kernel" or found.classes:  # both panels are in the same units
        limits = [(min(low for low, _ in limits), max(high for _, high in limits))] * 2
    name = getattr(f, "name", None) if name is None else name
    titles = (f"Graph of feature {name!r}" if name else "Graph of the feature", "Its target graph")
    few = found.n_shown < found.n_samples
    part = f"\n{found.n_shown} of {found.n_samples} samples, evenly spaced" if few else ""
    units = ("the feature", "the feature" if found.classes else "y")
    pair = axes_pair(ax)
    for panel, matrix, limit, title, unit in zip(pair, found.adjacencies, limits, titles, units, strict=True):
        distance = f"Distance of two samples (units of {unit})"
        heat_map(panel, matrix, limit, "Similarity of two samples" if graph == "kernel" else distance)
        panel.set_title(title + part, parse_math=False)  # a name may hold dollar signs
        _label_samples(panel, found.labels, found.classes)
    return pair


def _draw_stems(ax: Axes, heights: Floats, meaning: str) -> None:
    ax.axhline(0.0, color="0.6", linewidth=0.8)
    places = np.arange(len(heights))
    ax.vlines(places, 0.0, heights, color=LINE, linewidth=1.5 if len(heights) <= MOST_STEMS else 0.5)
    ax.plot(places, heights, "o" if len(heights) <= MOST_STEMS else ",", color=LINE)
    ax.set_ylabel(meaning)


def _label_samples(ax: Axes, labels: Array, classes: bool) -> None:
    """Lines between the classes and their names beside them; real targets only say how samples are sorted."""
    if not classes:
        ax.set_xlabel("Sample, sorted by target")
        ax.set_ylabel("Sample, sorted by target")
        return
    names, starts = np.unique(labels, return_index=True)
    middles = (starts + np.append(starts[1:], len(labels)) - 1) / 2
    for axis, draw in ((ax.xaxis, ax.axvline), (ax.yaxis, ax.axhline)):
        for start in starts[1:]:
            draw(start - 0.5, color="white", linewidth=0.6)
        label_places(axis, [str(name) for name in names], middles)
        axis.set_label_text("Sample, sorted by class, then by value")


def _count(n: int, thing: str) -> str:
    return f"{n} {thing}" if n == 1 else f"{n} {thing}s"


GAP = 0.045  # between names, of the height


@dataclass(frozen=True)
class _Frequencies:
    """What is drawn: the most frequent features, best first."""

    names: list[str]
    shares: Floats
    path: Floats
    """numbers x features."""
    numbers: Ints
    stable: Array
    threshold: float
    title: str


def plot_stability(
    selector: Any, *, path: bool = False, top: int | None = None, ax: Axes | None = None
) -> Axes:
    r"""How often the most frequent features were chosen in halves of the samples.

    Shows :math:`\hat\Pi_i` as bars, the best first, or with ``path=True`` the stability path: the share of
    the halves in which a feature is among the first 1, 2, ... q. What reaches the threshold is in colour.

    Parameters
    ----------
    selector : StabilitySelection
        Fitted.
    path : bool, default=False
        Whether to draw the stability path in the place of bars.
    top : int, default=None
        How many features; by default 30.
    ax : matplotlib Axes, default=None
        Where to draw; by default on a new figure.

    Returns
    -------
    matplotlib Axes
        Where it was drawn.

    See Also
    --------
    infused.StabilitySelection : What it shows.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from infused import StabilitySelection
    >>> from infused.report import plot_stability
    >>> selector = StabilitySelection("anova", n_pairs=5, random_state=0).fit(*load_wine(return_X_y=True))
    >>> plot_stability(selector).get_xlabel()
    'Share of the halves'
    """
    found = _frequencies(selector, 30 if top is None else top)
    height = 4.8 if path else 1.2 + 0.22 * len(found.names)
    ax = one_axes(ax, (6.4, height))
    colours = [LINE if stable else QUIET for stable in found.stable]
    if path:
        heights = _apart(found.path[-1], GAP)
        for n, name in reversed(list(enumerate(found.names))):
            (line,) = ax.plot(found.numbers, found.path[:, n], color=colours[n], marker=".", linewidth=1.2)
            if found.stable[n]:
                ax.annotate(
                    name,
                    (float(found.numbers[-1]), float(heights[n])),
                    xytext=(6, 0),
                    textcoords="offset points",
                    fontsize="x-small",
                    color=line.get_color(),
                    va="center",
                    annotation_clip=False,
                )
        ax.axhline(found.threshold, color=MARK, linestyle="--", linewidth=1.2)
        ax.set_xlabel("Features per half")
        ax.set_ylabel("Share of the halves")
        ax.set_ylim(-0.02, 1.02)
    else:
        ax.barh(np.arange(len(found.names)), found.shares, color=colours, height=0.7)
        ax.axvline(found.threshold, color=MARK, linestyle="--", linewidth=1.2)
        label_places(ax.yaxis, found.names)
        ax.set_ylim(len(found.names) - 0.4, -0.6)
        ax.set_xlim(0, 1.02)
        ax.set_xlabel("Share of the halves")
    ax.set_title(found.title, fontsize="medium")
    return ax


def _apart(ends: Floats, gap: float) -> Floats:
    """Heights for names near the ends of lines, of which no two are closer than the gap."""
    heights = np.array(ends, dtype=np.float64)
    order = np.argsort(-heights, kind="stable")
    for above, below in pairwise(order):
        heights[below] = min(heights[below], heights[above] - gap)
    return heights


def _frequencies(selector: Any, top: int) -> _Frequencies:
    if not hasattr(selector, "path_"):
        raise InputError(f"{type(selector).__name__} is no fitted StabilitySelection")
    order = np.argsort(selector.ranking_)[:top]
    known = getattr(selector, "group_names_", getattr(selector, "feature_names_in_", None))
    names = [f"feature {n}" if known is None else str(known[n]) for n in order]
    shares = selector.frequencies_[order]
    title = (
        f"{selector.n_stable_} stable, at most {selector.expected_false_:.2g} expected by chance "
        f"({2 * selector.n_pairs_} halves)"
    )
    stable = shares >= selector.threshold_ - 1e-9
    return _Frequencies(
        names, shares, selector.path_[:, order], selector.path_numbers_, stable, selector.threshold_, title
    )
