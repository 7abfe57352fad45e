"""Plots of a fitted selector or a selection."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from infused._runtime.messages import count
from infused._typing import Array, Floats
from infused.exceptions import InputError, Setting
from infused.graphs.validation import Graph, Target
from infused.record.schema import ClassDistribution, SelectionRecord, SurvivalCurves, TargetScatter
from infused.record.sentences import COLUMNS, measure
from infused.report.figures import (
    TOP,
    Fitted,
    Frequencies,
    coefficients,
    distances_to_last,
    frequencies,
    graph_pair,
    record_alike,
    record_explained,
    record_frequencies,
    shares_by_class,
    structure_map,
)
from infused.report.plots.axes import axes_pair, heat_map, label_places, one_axes, spread_limits

MOST_STEMS = 200  # more would run into each other
LINE, MARK, QUIET = "#0072b2", "#d55e00", "#999999"  # blue, vermilion, grey: safe for colour-blind readers


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
    ax.set_title(f"Coefficients of the {part}{count(found.n_selected, 'selected feature')}")
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
    ax.set_title(f"Structural information of {count(len(U), whose)}")
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
    if not path:
        return draw_frequencies(found, ax)
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
    ax.set_title(f"{found.bound}\n({found.n_halves} half-samples)", fontsize="medium")
    return ax


def draw_frequencies(found: Frequencies, ax: Axes) -> Axes:
    """Draw selection frequencies as bars, those that reach the threshold in colour."""
    colours = [LINE if stable else QUIET for stable in found.stable]
    ax.barh(np.arange(len(found.features)), found.shares, color=colours, height=0.7)
    ax.axvline(found.threshold, color=MARK, linestyle="--", linewidth=1.2)
    label_places(ax.yaxis, found.features, most=len(found.features))  # as high as needed
    ax.set(xlabel="Selection frequency", xlim=(0, 1.02), ylim=(len(found.features) - 0.4, -0.6))
    ax.set_title(f"{found.bound}\n({found.n_halves} half-samples)", fontsize="medium")
    return ax


def plot_effects(inference: Any, *, top: int | None = None, ax: Axes | None = None) -> Axes:
    """Plot effects with their intervals, the smallest p-value on top (a forest plot).

    Features with an adjusted p-value of one less the level of the intervals, or below, are in colour.

    Parameters
    ----------
    inference : SelectionInference
        Fitted.
    top : int, default=None
        How many features; by default at most 30 of those with a finite interval.
    ax : matplotlib Axes, default=None
        Where to draw; by default on a new figure.

    Returns
    -------
    matplotlib Axes
        Where it was drawn.

    See Also
    --------
    infused.SelectionInference : What it shows.

    Examples
    --------
    >>> from sklearn.datasets import make_regression
    >>> from infused import SelectionInference
    >>> from infused.report import plot_effects
    >>> X, y = make_regression(n_features=10, n_informative=3, noise=20, random_state=0)
    >>> found = SelectionInference(n_splits=10, random_state=0).fit(X, y)
    >>> plot_effects(found).get_xlabel()
    'Effect of one unit, 90% intervals'
    """
    if not hasattr(inference, "conf_int_"):
        raise InputError(f"{type(inference).__name__} is no fitted SelectionInference")
    finite = np.flatnonzero(np.isfinite(inference.conf_int_).all(axis=1))
    order = finite[np.lexsort((-inference.frequencies_[finite], inference.p_values_[finite]))]
    order = order[: TOP if top is None else top]
    known = getattr(inference, "feature_names_in_", None)
    names = [f"feature {j}" if known is None else str(known[j]) for j in order]
    ax = one_axes(ax, (6.4, 1.2 + 0.22 * len(order)))
    clear = inference.p_values_[order] <= 1 - inference.level
    for place, j in enumerate(order):
        colour = LINE if clear[place] else QUIET
        ax.plot(inference.conf_int_[j], [place, place], color=colour, linewidth=1.6)
        ax.plot(inference.coef_[j], place, "o", color=colour, markersize=4)
    ax.axvline(0.0, color=MARK, linestyle="--", linewidth=1.2)
    label_places(ax.yaxis, names, most=len(names))
    ax.set(xlabel=f"Effect of one unit, {inference.level:.0%} intervals", ylim=(len(order) - 0.4, -0.6))
    return ax


def _apart(ends: Floats, gap: float) -> Floats:
    """Return heights for names near the ends of lines, of which no two are closer than the gap."""
    heights = np.array(ends, dtype=np.float64)
    order = np.argsort(-heights, kind="stable")
    for above, below in pairwise(order):
        heights[below] = min(heights[below], heights[above] - gap)
    return heights


PANELS = ("ranking", "values", "redundancy", "stability")
GREEN = "#009e73"
FEW_CLASSES = 6


def plot_selection(selection: Any, *, axes: Any = None) -> Array:
    """Plot the main result of a selection: ranking, values of the best feature, redundancy, stability.

    The ranking shows what each feature explains alone and adds to the others; of times and events, hazard
    ratios with their 95% intervals. The values are those of the best feature, by class or against the target.
    Where stability was not measured, the last panel has the score against the number of features with one
    standard error to both sides, or says that nothing was measured. The numbers are those of the page.

    Parameters
    ----------
    selection : Selection
        What :func:`infused.select` returns.
    axes : array of four matplotlib Axes, default=None
        Where to draw; by default on a new figure.

    Returns
    -------
    ndarray of four matplotlib Axes
        Ranking, values, redundancy and stability.

    See Also
    --------
    plot_coefficients : Coefficients of the selected features.
    infused.Selection.report : The page, which shows the same and more.

    Examples
    --------
    >>> import infused
    >>> axes = infused.report.plot_selection(infused.select("wine", k=4, stability=5))
    >>> [ax.get_xlabel() for ax in axes][::3]
    ['Percent explained', 'Selection frequency']
    """
    record = getattr(selection, "record", None)
    if not isinstance(record, SelectionRecord):
        raise InputError(f"{type(selection).__name__} is no Selection: pass what infused.select returns")
    if not record.selected:
        raise InputError("nothing is selected: ask for a number of features, k")
    if axes is None:
        import matplotlib.pyplot as plt

        axes = plt.subplots(2, 2, figsize=(11.0, 8.0), layout="constrained")[1]
    drawn = np.array(axes, dtype=object).ravel()
    if len(drawn) != len(PANELS) or not all(isinstance(one, Axes) for one in drawn):
        raise InputError("axes must be four matplotlib Axes, as from plt.subplots(2, 2)[1]")
    for draw, ax in zip((_ranking, _values, _redundancy, _stability), drawn, strict=True):
        draw(record, ax)
    return drawn


def _ranking(record: SelectionRecord, ax: Axes) -> None:
    """Draw both shares as bars; of times and events hazard ratios with their intervals."""
    found = record_explained(record)
    hazards = [one.hazard for one in record.selected[: len(found.features)]] if found else []
    if found is None:
        return
    places = np.arange(len(found.features))
    if any(hazards):
        for place, one in zip(places, hazards, strict=True):
            if one is not None:
                ax.plot([one.low, one.high], [place, place], color=LINE, linewidth=1.6)
                ax.plot(one.ratio, place, "o", color=LINE)
        ax.axvline(1.0, color=MARK, linestyle="--", linewidth=1.2)
        ax.set(xscale="log", xlabel="Hazard ratio, 95% interval", title="Ranked features")
    else:
        ax.barh(places - 0.19, found.alone, 0.38, color=LINE, label=COLUMNS["alone"])
        if found.unique is not None:
            ax.barh(places + 0.19, found.unique, 0.38, color=GREEN, label=COLUMNS["unique"])
        ax.set(xlabel="Percent explained", xlim=(min(0.0, found.alone.min()), 100), title="Ranked features")
        ax.legend(loc="lower right", fontsize="small")
    label_places(ax.yaxis, found.features)
    ax.set_ylim(len(places) - 0.4, -0.6)


def _values(record: SelectionRecord, ax: Axes) -> None:
    """Draw the values of the best feature, as the page does."""
    every: tuple[SurvivalCurves | TargetScatter | ClassDistribution, ...] = (
        *record.survival,
        *record.scatters,
        *record.distributions,
    )
    found = next(iter(every), None)
    if found is None:
        ax.set_axis_off()
        return
    if isinstance(found, SurvivalCurves):
        for part in found.parts:
            ax.step(part.times, part.shares, where="post", label=part.name)
        ax.set(xlabel="Time", ylabel="Share without an event", ylim=(0, 1.02))
        ax.legend(fontsize="small")
    elif isinstance(found, TargetScatter):
        ax.plot(found.values, found.target, ".", color=LINE, alpha=0.5)
        ax.set_ylabel(record.data.target, parse_math=False)
        if found.levels is not None:
            label_places(ax.xaxis, found.levels)
    else:
        _by_class(record, found, ax)
    ax.set_title(f"Values of {found.name}", parse_math=False)


def _by_class(record: SelectionRecord, found: ClassDistribution, ax: Axes) -> None:
    names, shares = [one.name for one in record.data.classes or ()], shares_by_class(found)
    if len(names) > FEW_CLASSES:
        heat_map(ax, shares, (0.0, float(shares.max())), "Percent of the class", aspect="auto", cmap="Blues")
        label_places(ax.yaxis, names)
        ax.set_xticks([-0.5, shares.shape[1] - 0.5], [f"{found.edges[0]:.3g}", f"{found.edges[-1]:.3g}"])
        return
    for name, row in zip(names, shares, strict=True):
        ax.stairs(row, found.edges, fill=True, alpha=0.25)
        ax.stairs(row, found.edges, label=name, color=ax.patches[-1].get_facecolor()[:3], linewidth=1.6)
    if found.levels is not None:
        label_places(ax.xaxis, found.levels)
    ax.set_ylabel("Percent of the class")
    ax.legend(fontsize="small", title=record.data.target).get_title().set_parse_math(False)


def _redundancy(record: SelectionRecord, ax: Axes) -> None:
    """Draw |r| of each two selected features."""
    found = record_alike(record)
    if found is None:
        ax.set_axis_off()
        return
    heat_map(ax, found.matrix, (0.0, 1.0), "|r|", cmap="Blues")
    label_places(ax.yaxis, found.features)
    label_places(ax.xaxis, found.features)
    ax.set_title(f"Redundancy: the largest |r| of two is {found.strongest:.2f}")


def _stability(record: SelectionRecord, ax: Axes) -> None:
    """Draw selection frequencies; without them, the score against the number of features."""
    found, curve = record_frequencies(record), record.number
    if found is not None:
        draw_frequencies(found, ax)
    elif curve is not None:
        factor = measure(curve.scoring).factor
        errors = np.abs(factor * np.array(curve.errors))
        ax.errorbar(curve.ks, factor * np.array(curve.means), errors, color=LINE, marker="o", capsize=3)
        ax.axvline(curve.chosen, color=MARK, linestyle="--", linewidth=1.2)
        ax.set(xlabel="Number of features", ylabel=measure(curve.scoring).words, title="How many features")
    else:
        ax.set_axis_off()
        ax.text(0.5, 0.5, "Stability was not measured:\nuse stability=50", ha="center", va="center")
