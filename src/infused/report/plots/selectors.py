"""Plots of a fitted selector and of the graphs behind it."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from infused._typing import Array, Floats
from infused.graphs.feature_graph import FeatureGraph
from infused.graphs.validation import Graph, Target, resolve_target
from infused.report.plots.axes import axes_pair, heat_map, label_places, one_axes, spread_limits
from infused.report.plots.fitted import (
    feature_names,
    feature_positions,
    require_fitted,
    selected_by_rank,
    square,
    structure_of,
)

__all__ = ["plot_coefficients", "plot_convergence", "plot_feature_graph", "plot_structure"]

TOP = 30
MOST_SAMPLES = 500  # more would be thinner than a pixel
MOST_STEMS = 200  # more would run into each other
LINE, MARK = "#0072b2", "#d55e00"  # blue and vermilion, told apart by colour-blind readers


def plot_convergence(selector: Any, *, gap: bool = False, ax: Axes | None = None) -> Axes:
    r"""The objective against the iteration (Figure 3 of the paper), and where it stopped.

    Shows :math:`F_t` for :math:`t = 1, 2, \ldots`, or with ``gap=True`` the distance
    :math:`|F_t - F_{\mathrm{last}}|` on a logarithmic scale: the objective falls so fast that it soon looks
    flat. The title gives the certificate, the largest violation of the optimality conditions.

    Parameters
    ----------
    selector : fitted InFusedLasso
    gap : bool
        Whether to show the distance to the last objective instead of the objective.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from infused import InFusedLasso
    >>> from infused.report import plot_convergence
    >>> selector = InFusedLasso().fit(*load_wine(return_X_y=True))
    >>> plot_convergence(selector).get_xlabel()
    'Iteration'
    """
    require_fitted(selector, "objective_path_")
    objective = np.asarray(selector.objective_path_, dtype=np.float64)
    iteration = np.arange(1, len(objective) + 1)
    shown = _distance_to_last(objective) if gap else objective
    ax = one_axes(ax)
    ax.plot(iteration, shown, color=LINE, marker="." if len(shown) <= 60 else "")
    stopped = f"stopped at iteration {len(objective)}: {objective[-1]:.6g}"
    if gap:  # the last distance is zero, which a logarithm cannot show
        ax.axvline(iteration[-1], color=MARK, linestyle="--", label=stopped)
    else:
        ax.plot(iteration[-1:], objective[-1:], "o", color=MARK, label=stopped)
    ax.set_xlabel("Iteration")
    ax.set_ylabel("Distance to the last objective" if gap else "Objective")
    ax.set_yscale("log" if gap else "linear")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
    ax.set_title(f"{type(selector).__name__} {_outcome(selector)}")
    ax.legend(frameon=False)
    return ax


def plot_coefficients(selector: Any, *, top: int | None = None, ax: Axes | None = None) -> Axes:
    r"""The coefficients of the selected features, the best feature first.

    One target gives one stem :math:`b_i` for each feature i; of two classes, a positive one speaks for the
    second. Several targets or classes c give a heat map of :math:`b_{ic}`, where a column that is coloured in
    one row only is a feature that speaks for one class.

    Parameters
    ----------
    selector : fitted InFusedLasso
    top : int, optional
        Show this many of the selected features, the best ones; by default 30.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    matplotlib Axes

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
    require_fitted(selector, "coef_")
    if top is not None and (not isinstance(top, Integral) or top < 1):
        raise ValueError(f"top must be a positive whole number or None, got {top!r}.")
    selected = selected_by_rank(selector)
    best = selected[: TOP if top is None else top]
    coef = np.atleast_2d(selector.coef_)[:, best]
    meaning = "Coefficient (standardised units)" if getattr(selector, "standardize", False) else "Coefficient"
    ax = one_axes(ax)
    if len(coef) == 1:
        _draw_stems(ax, coef[0], meaning)
    else:
        largest = float(np.abs(coef).max()) or 1.0
        # Signs matter here: a diverging scale with white for zero, blue and red for colour-blind readers.
        heat_map(ax, coef, (-largest, largest), meaning, cmap="RdBu_r", aspect="auto")
        classes = getattr(selector, "classes_", None)
        label_places(ax.yaxis, [str(name) for name in (range(len(coef)) if classes is None else classes)])
        ax.set_ylabel("Column of y, by position" if classes is None else "Class")
    label_places(ax.xaxis, feature_names(selector, best))
    ax.set_xlabel("Feature, best first")
    part = f"{len(best)} best of " if len(best) < len(selected) else ""
    ax.set_title(f"Coefficients of the {part}{_count(len(selected), 'selected feature')}")
    return ax


def plot_structure(
    selector_or_U: Any, X: Any = None, y: Any = None, *, features: Any = None, ax: Axes | None = None
) -> Axes:
    r"""The structural information U of the selected features as a heat map, the best feature first.

    A bright entry :math:`U_{ij}` means that i and j are jointly relevant to the target and not redundant.
    Entries hardly differ, so the colours run from the 1st to the 99th percentile of those off the diagonal.

    Parameters
    ----------
    selector_or_U : fitted selector, or array of shape (n_features, n_features)
    X, y : data and target
        Needed with a selector; only the part of U that is shown is computed from them.
    features : sequence of positions or names, or a mask, optional
        What to show, in this order; by default the selected features by rank, or all of a given U.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    matplotlib Axes

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
    if hasattr(selector_or_U, "fit"):
        U, names = structure_of(selector_or_U, X, y, features)
    else:
        if X is not None or y is not None:
            raise ValueError("X and y go with a fitted selector: leave them out where U itself is given.")
        U = square(selector_or_U)
        chosen = np.arange(len(U)) if features is None else feature_positions(features, len(U), None)
        U, names = U[np.ix_(chosen, chosen)], [str(n) for n in chosen]
    others = U[~np.eye(len(U), dtype=bool)] if len(U) > 1 else U.ravel()
    ax = one_axes(ax, (7.2, 6.0))
    heat_map(ax, U, spread_limits(others, 1.0, 99.0), "Structural information U")
    label_places(ax.xaxis, names)
    label_places(ax.yaxis, names)
    by_rank = features is None and hasattr(selector_or_U, "fit")
    ax.set_xlabel("Feature, best first" if by_rank else "Feature")
    ax.set_ylabel("Feature, best first" if by_rank else "Feature")
    whose = "selected feature" if by_rank else "feature"
    ax.set_title(f"Structural information of {_count(len(U), whose)}")
    return ax


def plot_feature_graph(
    f: Any, y: Any, *, graph: Graph = "kernel", target: Target = "auto", ax: Any = None
) -> Array:
    r"""One feature's graph beside its target graph (Figure 1 of the paper), as adjacency matrices.

    Samples are sorted by class (or by a real target), then by the feature. The target graph is that of the
    class means (or of y itself, where y is real): the more the left panel shows the blocks of the right one,
    the more the feature says about the target. Of more than 500 samples an evenly spaced part is shown.

    Parameters
    ----------
    f : array of shape (n_samples,)
        The feature; the name of a pandas or polars series appears in the title.
    y : array of shape (n_samples,)
        Class labels of any kind, or real values.
    graph : {"kernel", "euclidean"}
        See :class:`infused.FeatureGraph`.
    target : {"auto", "classes", "real"}
        What y holds; "auto" decides by its type.
    ax : pair of matplotlib Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    ndarray of two matplotlib Axes

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from infused.report import plot_feature_graph
    >>> X, y = load_wine(return_X_y=True)
    >>> [ax.images[0].get_array().shape for ax in plot_feature_graph(X[:, 6], y)]
    [(178, 178), (178, 178)]
    """
    feature = FeatureGraph(f, graph=graph).values
    labels, kind = resolve_target(feature, y, target)
    classes = kind == "classes"
    # The class means are those of all samples, also where only a part of them is shown.
    means = FeatureGraph.of_target(feature, labels, graph=graph, target=target).values
    order = np.lexsort((feature, np.unique(labels, return_inverse=True)[1]))
    shown = order[np.linspace(0, len(order) - 1, min(len(order), MOST_SAMPLES)).round().astype(int)]
    matrices = [FeatureGraph(values[shown], graph=graph).adjacency() for values in (feature, means)]
    limits = [spread_limits(matrix) for matrix in matrices]
    if graph == "kernel" or classes:  # both panels are in the same units
        limits = [(min(low for low, _ in limits), max(high for _, high in limits))] * 2
    name = getattr(f, "name", None)
    titles = (f"Graph of feature {name!r}" if name else "Graph of the feature", "Its target graph")
    part = f"\n{len(shown)} of {len(order)} samples, evenly spaced" if len(shown) < len(order) else ""
    units = ("the feature", "the feature" if classes else "y")
    pair = axes_pair(ax)
    for panel, matrix, limit, title, unit in zip(pair, matrices, limits, titles, units, strict=True):
        distance = f"Distance of two samples (units of {unit})"
        heat_map(panel, matrix, limit, "Similarity of two samples" if graph == "kernel" else distance)
        panel.set_title(title + part, parse_math=False)  # a name may hold dollar signs
        _label_samples(panel, labels[shown], classes)
    return pair


def _distance_to_last(objective: Floats) -> Floats:
    """NaN where there is no distance, which a logarithm could not show."""
    with np.errstate(invalid="ignore"):
        distance = np.abs(objective - objective[-1])
    distance[~np.isfinite(distance) | (distance == 0)] = np.nan
    if np.isnan(distance).all():
        raise ValueError("gap=True needs an objective that changes and stays finite: use gap=False.")
    return np.asarray(distance)


def _outcome(selector: Any) -> str:
    """How far the end of a run is to be trusted, in words."""
    if getattr(selector, "unbounded_", False):
        return "ran on an objective that has no minimum"
    verb = "converged" if selector.converged_ else "did not converge"
    if not selector.certificate_ < 1:  # as large as lambda1 itself, or lambda1 is zero: it certifies nothing
        return f"{verb}, no certificate"
    return f"{verb}, certificate {selector.certificate_:.1e} of $\\lambda_1$"


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
