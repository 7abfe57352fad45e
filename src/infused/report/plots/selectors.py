"""Plots of a fitted selector or a selection."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from infused._typing import Array, Floats
from infused.exceptions import InputError, Setting
from infused.graphs.validation import Graph, Target
from infused.report.figures import (
    TOP,
    Fitted,
    coefficients,
    distances_to_last,
    frequencies,
    graph_pair,
    structure_map,
)
from infused.report.plots.axes import axes_pair, heat_map, label_places, one_axes, spread_limits

MOST_STEMS = 200  # more would run into each other
LINE, MARK, QUIET = (
    "#0072b2",
    "#d55e00",
    "#999999",
)  # blue, vermilion, grey: safe for colour-blind readers


def plot_convergence(selector: Any, *, gap: bool = False, ax: Axes | None = None) -> Axes:
    r"""Plot the objective against the iteration (Figure 3 of the paper), and where it stopped.

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
    fitted = Fitted.read(selector, "objective_path_").selector
    objective = np.asarray(fitted.objective_path_, dtype=np.float64)
    iteration = np.arange(1, len(objective) + 1)
    shown = distances_to_last(objective) if gap else objective
    if np.isnan(shown).all():
        raise InputError(
            Setting("gap", True), " needs an objective that changes and stays finite: use gap=False"
        )
    ax = one_axes(ax)
    ax.plot(iteration, shown, color=LINE, marker="." if len(shown) <= 60 else "")
    stopped = f"stopped at iteration {len(shown)}: {objective[-1]:.6g}"
    if gap:  # the last distance is zero, which a logarithm cannot show
        ax.axvline(iteration[-1], color=MARK, linestyle="--", label=stopped)
    else:
        ax.plot(iteration[-1:], objective[-1:], "o", color=MARK, label=stopped)
    ax.set_xlabel("Iteration")
    ax.set_ylabel("Distance to the last objective" if gap else "Objective")
    ax.set_yscale("log" if gap else "linear")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
    ax.set_title(f"{type(fitted).__name__} {_outcome(fitted)}")
    ax.legend(frameon=False)
    return ax


def _outcome(selector: Any) -> str:
    """Say how far the end of a run is to be trusted."""
    if getattr(selector, "unbounded_", False):
        return "ran on an objective that has no minimum"
    verb = "converged" if selector.converged_ else "did not converge"
    if not selector.certificate_ < 1:  # as large as lambda1 itself, or lambda1 is zero: it certifies nothing
        return f"{verb}, no certificate"
    return f"{verb}, certificate {selector.certificate_:.1e} of $\\lambda_1$"


def plot_coefficients(selector: Any, *, top: int | None = None, ax: Axes | None = None) -> Axes:
    r"""Plot the coefficients of the selected features, the best feature first.

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
    ax = one_axes(ax)
    if len(found.values) == 1:
        _draw_stems(ax, found.values[0], found.unit)
    else:
        # Signs matter here: a diverging scale with white for zero, blue and red for colour-blind readers.
        limits = (-found.largest, found.largest)
        heat_map(ax, found.values, limits, found.unit, cmap="RdBu_r", aspect="auto")
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
    r"""Plot the structural information U of the selected features as a heat map, the best feature first.

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
    found = structure_map(selector_or_U, X, y, features)
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
    r"""Plot one feature's graph beside its target graph (Figure 1 of the paper), as adjacency matrices.

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
    found = graph_pair(f, y, graph, target)
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
    """Draw lines between classes, names beside them; for a continuous target, say how samples are sorted."""
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


def plot_stability(
    selector: Any, *, path: bool = False, top: int | None = None, ax: Axes | None = None
) -> Axes:
    r"""Plot the selection frequencies of the most frequent features in half-samples.

    Shows :math:`\hat\Pi_i` as bars, the best first, or with ``path=True`` the stability path: the share of
    half-samples in which a feature is among the first 1, 2, ... q. Features that reach the threshold are
    in colour.

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
    'Selection frequency'
    """
    if not hasattr(selector, "path_"):
        raise InputError(f"{type(selector).__name__} is no fitted StabilitySelection")
    order = np.argsort(selector.ranking_)[: TOP if top is None else top]
    found = frequencies(selector, order)
    ax = one_axes(ax, (6.4, 4.8 if path else 1.2 + 0.22 * len(found.features)))
    colours = [LINE if stable else QUIET for stable in found.stable]
    if path:
        lines = selector.path_[:, order]
        heights = _apart(lines[-1], GAP)
        last = float(selector.path_numbers_[-1])
        for n, name in reversed(list(enumerate(found.features))):
            ax.plot(selector.path_numbers_, lines[:, n], color=colours[n], marker=".", linewidth=1.2)
            if found.stable[n]:
                ax.annotate(
                    name,
                    (last, float(heights[n])),
                    xytext=(6, 0),
                    textcoords="offset points",
                    fontsize="x-small",
                    color=colours[n],
                    va="center",
                    annotation_clip=False,
                )
        ax.axhline(found.threshold, color=MARK, linestyle="--", linewidth=1.2)
        ax.set(xlabel="Features per half-sample", ylabel="Selection frequency", ylim=(-0.02, 1.02))
    else:
        ax.barh(np.arange(len(found.features)), found.shares, color=colours, height=0.7)
        ax.axvline(found.threshold, color=MARK, linestyle="--", linewidth=1.2)
        label_places(ax.yaxis, found.features, most=len(found.features))  # as high as needed
        ax.set(xlabel="Selection frequency", xlim=(0, 1.02), ylim=(len(found.features) - 0.4, -0.6))
    ax.set_title(f"{found.bound} ({found.n_halves} half-samples)", fontsize="medium")
    return ax


def _apart(ends: Floats, gap: float) -> Floats:
    """Return heights for names near the ends of lines, of which no two are closer than the gap."""
    heights = np.array(ends, dtype=np.float64)
    order = np.argsort(-heights, kind="stable")
    for above, below in pairwise(order):
        heights[below] = min(heights[below], heights[above] - gap)
    return heights
