"""Figures of a benchmark: accuracy against the number of features, and the critical-difference diagram."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from infused.bench import paper
from infused.bench.plan import REFERENCES, ProtocolName
from infused.bench.rows import in_order, metric_of, of_protocol, only_dataset
from infused.bench.statistics import ALPHA, RankComparison, p_text, score_summary
from infused.bench.tables import metric_title
from infused.record.sentences import unit
from infused.report.figures import score_curves
from infused.report.plots.axes import one_axes

if TYPE_CHECKING:
    from pandas import DataFrame


#: Told apart by colour-blind readers (Okabe and Ito), and by marker and line where there are more methods.
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")
LINES = ("-", "--", "-.")
OURS = {"color": "#d55e00", "marker": "o", "linestyle": "-", "linewidth": 2.2, "zorder": 3.0}
RANDOM = {"color": "0.45", "marker": "", "linestyle": ":", "linewidth": 1.6}
REFERENCE = {"color": "0.25", "marker": "", "linewidth": 1.0}
ALL, CHANCE = (0, (6, 3)), "-."  # lines of all features, and of what predicts without any
TOP = 2.1  # of the diagram, above the line of ranks
LEAKY = "LEAKY: selected on all samples"

Style = dict[str, Any]


def plot_accuracy_curves(
    rows: DataFrame,
    *,
    protocol: ProtocolName | None = None,
    metric: str | None = None,
    published: bool = False,
    styles: Mapping[str, Style] | None = None,
    ax: Axes | None = None,
) -> Axes:
    r"""Plot mean accuracy against the number of features on one data set (a panel of Figure 2 of the paper).

    Shows :math:`\bar x_k` for every method, with a band of one standard error to both sides.

    Parameters
    ----------
    rows : DataFrame
        One row per k of a cell, of one data set.
    protocol : {"nested", "leaky"}, default=None
        Needed where the rows hold both.
    metric : str, default=None
        By default accuracy, or R² for a real target.
    published : bool, default=False
        Whether to mark what the paper reports for InFusedLasso.
    styles : mapping, default=None
        How to draw a label, so that several panels agree.
    ax : matplotlib Axes, default=None
        Where to draw; by default on a new figure, with a legend.

    Returns
    -------
    matplotlib Axes
        Where it was drawn.

    See Also
    --------
    plot_accuracy_grid : A panel for each of several data sets.
    infused.compare : Makes such rows.

    Examples
    --------
    >>> import infused
    >>> rows = infused.compare("wine", methods=["anova"], k=[2, 4], folds=2).rows
    >>> infused.report.plot_accuracy_curves(rows).get_xlabel()
    'Number of features'
    """
    mine = of_protocol(rows, protocol)
    dataset, metric = only_dataset(mine), metric_of(mine, metric)
    summary = score_summary(mine, metric)
    labels = in_order(summary["label"].unique())
    alone, styles = ax is None, method_styles(labels) if styles is None else styles
    ax = one_axes(ax, (7.2, 4.8))
    wash = 0.13 if len(labels) <= 6 else 0.07  # many bands would hide the lines
    for curve in score_curves(summary, metric, labels):
        style, means = styles[curve.label], curve.means
        if curve.is_reference:
            ax.axhline(means[0], label=curve.label, **style)
            continue
        ax.plot(curve.ks, means, label=curve.label, markersize=4, **style)
        low, high, above = means - curve.errors, means + curve.errors, style.get("zorder", 2.0) - 1
        ax.fill_between(curve.ks, low, high, color=style["color"], alpha=wash, linewidth=0, zorder=above)
    one = paper.published_score("infused-lasso", dataset) if published else None
    if one is not None:
        ax.plot(one.k, one.accuracy, "*", color=OURS["color"], markeredgecolor="black", markersize=13,
                label="infused-lasso, published", linestyle="none", zorder=4)  # fmt: skip
    ax.set_xlabel("Number of features")
    ax.set_ylabel(metric_title(metric))
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    if unit(metric)[1]:
        ax.set_ylim(top=min(ax.get_ylim()[1], 101.0))  # a band may reach beyond what there is
    ax.grid(color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)
    leaky = mine["protocol"].iloc[0] == "leaky"
    ax.set_title(f"{dataset}\n{LEAKY}" if leaky else dataset, parse_math=False)
    if alone:
        ax.legend(frameon=False, fontsize="small", loc="center left", bbox_to_anchor=(1.0, 0.5))
    return ax


def plot_accuracy_grid(
    rows: DataFrame,
    *,
    protocol: ProtocolName = "nested",
    metric: str | None = None,
    published: bool = False,
    columns: int = 4,
) -> Figure:
    """Plot accuracy against the number of features, a panel for each data set (Figure 2 of the paper).

    Parameters
    ----------
    rows : DataFrame
        One row per k of a cell.
    protocol : {"nested", "leaky"}, default="nested"
        Which rows to show.
    metric : str, default=None
        By default accuracy, or R² for a real target.
    published : bool, default=False
        Whether to mark what the paper reports for InFusedLasso.
    columns : int, default=4
        Panels side by side.

    Returns
    -------
    matplotlib Figure
        With one Axes for each data set.

    See Also
    --------
    plot_accuracy_curves : One of the panels.
    infused.bench.Store : Where the rows of a benchmark are.

    Examples
    --------
    >>> import infused
    >>> rows = infused.compare("wine", methods=["anova"], k=[2, 4], folds=2).rows
    >>> [ax.get_title() for ax in infused.report.plot_accuracy_grid(rows).axes]
    ['wine']
    """
    import matplotlib.pyplot as plt

    mine = of_protocol(rows, protocol)
    done = mine[mine["status"] == "ok"]
    datasets = in_order(done["dataset"].unique())
    styles = method_styles(in_order(done["label"].unique()))
    across = min(columns, len(datasets))
    down = -(-len(datasets) // across)
    size = (3.6 * max(across, 2), 3.1 * down + 0.25 * len(styles) / across + 0.6)
    figure, axes = plt.subplots(down, across, figsize=size, layout="constrained", squeeze=False)
    for ax, dataset in zip(axes.flat, datasets, strict=False):
        part = done[done["dataset"] == dataset]
        plot_accuracy_curves(part, metric=metric, published=published, styles=styles, ax=ax)
    for ax in axes.flat[len(datasets) :]:
        ax.set_axis_off()
    drawn = {
        name: line for ax in axes.flat for line, name in zip(*ax.get_legend_handles_labels(), strict=True)
    }
    order = [*styles, *(name for name in drawn if name not in styles)]
    figure.legend(
        [drawn[name] for name in order],
        order,
        loc="outside lower center",
        ncols=min(6, 2 * across),
        frameon=False,
    )
    return figure


def method_styles(labels: Sequence[str]) -> dict[str, Style]:
    """Choose colour, marker and line of each method: ours stands out, random stays behind."""
    styles: dict[str, Style] = {}
    for label in labels:
        n = len(styles.keys() - {"infused-lasso", "random", *REFERENCES})
        usual = {
            "color": COLOURS[n % len(COLOURS)],
            "marker": MARKERS[n % len(MARKERS)],
            "linestyle": LINES[n // len(COLOURS) % len(LINES)],
            "linewidth": 1.2,
        }
        reference = {
            id: {**REFERENCE, "linestyle": CHANCE if rank else ALL} for rank, id in enumerate(REFERENCES)
        }
        styles[label] = {"infused-lasso": OURS, "random": RANDOM, **reference}.get(label, usual)
    return styles


def plot_critical_difference(ranks: RankComparison, *, ax: Axes | None = None) -> Axes:
    """Draw the critical-difference diagram: mean ranks on a line, the best to the right.

    A bar joins methods whose mean ranks differ by less than the critical difference, which is drawn above the
    line: the data do not tell them apart.

    Parameters
    ----------
    ranks : RankComparison
        From :func:`infused.bench.statistics.rank_comparison`.
    ax : matplotlib Axes, default=None
        Where to draw; by default on a new figure.

    Returns
    -------
    matplotlib Axes
        Where it was drawn.

    See Also
    --------
    plot_accuracy_grid : The scores behind the ranks.

    References
    ----------
    J. Demsar, "Statistical Comparisons of Classifiers over Multiple Data Sets", JMLR 7, 2006, Section 3.2.4.

    Examples
    --------
    >>> import pandas as pd
    >>> from infused.bench.statistics import compare_ranks
    >>> from infused.report import plot_critical_difference
    >>> scores = pd.DataFrame({"lasso": [0.9, 0.8, 0.7], "random": [0.6, 0.7, 0.5]}, index=["a", "b", "c"])
    >>> ax = plot_critical_difference(compare_ranks(scores))
    >>> [text.get_text().strip() for text in ax.texts if "(" in text.get_text()]
    ['lasso (1.00)', 'random (2.00)']
    """
    n = len(ranks.labels)
    bars = 0.35 * len(ranks.groups)
    deepest = bars + 0.45 + 0.55 * ((n + 1) // 2)
    ax = one_axes(ax, (8.0, 0.6 + 0.34 * (TOP + deepest)))
    ax.set_ylim(-deepest, TOP)
    low, high = int(np.floor(min(ranks.mean_ranks))), int(np.ceil(max(ranks.mean_ranks)))
    ax.plot([low, high], [0, 0], color="black", linewidth=1.2)
    for tick in range(low, high + 1):
        ax.plot([tick, tick], [0, 0.2], color="black", linewidth=1.2)
        ax.text(tick, 0.3, str(tick), ha="center", va="bottom")
    _draw_labels(ax, ranks, low, high, bars)
    for level, (first, last) in enumerate(ranks.groups):
        ends = [ranks.mean_ranks[first] - 0.04, ranks.mean_ranks[last] + 0.04]
        ax.plot(ends, [-0.35 * (level + 1)] * 2, color=OURS["color"], linewidth=4, solid_capstyle="round")
    _draw_difference(ax, ranks.critical_difference, high)
    ax.set_title(
        f"{f'{LEAKY}. ' if ranks.protocol == 'leaky' else ''}Mean ranks over {len(ranks.datasets)} data sets "
        f"(Iman and Davenport: p {p_text(ranks.friedman.f_p_value)};\n"
        f"bars join what Nemenyi's test at {ALPHA:g} cannot tell apart)",
        fontsize="small",
    )
    ax.invert_xaxis()
    ax.set_axis_off()
    return ax


def _draw_labels(ax: Axes, ranks: RankComparison, low: int, high: int, bars: float) -> None:
    """Write names at the sides, the better half to the right, each tied to its place on the line."""
    n, span = len(ranks.labels), high - low
    better = (n + 1) // 2
    for place, (label, rank) in enumerate(zip(ranks.labels, ranks.mean_ranks, strict=True)):
        good = place < better
        depth = -(bars + 0.45 + 0.55 * (place if good else n - 1 - place))
        side = low - 0.06 * span if good else high + 0.06 * span
        ax.plot([rank, rank, side], [0, depth, depth], color="0.35", linewidth=0.8, zorder=1)
        ax.text(
            side,
            depth,
            f" {label} ({rank:.2f}) ",
            ha="left" if good else "right",
            va="center",
            parse_math=False,
        )


def _draw_difference(ax: Axes, width: float, high: int) -> None:
    ends, height = [high, high - width], 1.3
    ax.plot(ends, [height] * 2, color="black", linewidth=1.5)
    for end in ends:
        ax.plot([end] * 2, [height - 0.12, height + 0.12], color="black", linewidth=1.5)
    ax.text(high - width / 2, height + 0.2, f"critical difference {width:.2f}", ha="center", va="bottom")
