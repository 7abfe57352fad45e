"""Plots of stability selection: how often features were chosen, and along how many."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from infused._typing import Array, Floats, Ints
from infused.exceptions import InputError
from infused.report.plots.axes import label_places, one_axes

__all__ = ["plot_stability"]

GAP = 0.045  # between names, of the height
LINE, MARK, QUIET = "#0072b2", "#d55e00", "#999999"


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
