"""What the figures share: axes to draw on, heat maps, and labels that never run into each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis, XAxis
from matplotlib.image import AxesImage

from infused._typing import Array, Floats
from infused.exceptions import InputError
from infused.record.schema import SurvivalCurves

MOST_LABELS = 30  # along one side of a figure of usual size
MOST_CHARACTERS = 36  # side by side below an axis; names that need more stand upright
LONGEST_LABEL, LONGEST_LEVEL = 24, 18

Extend: TypeAlias = Literal["neither", "both", "min", "max"]


def one_axes(ax: Any, size: tuple[float, float] = (6.4, 4.8)) -> Axes:
    """Return the axes that were given, or those of a new figure."""
    if ax is None:
        return _new_axes(1, size)[0]  # type: ignore[no-any-return]  # an array of axes has no types
    if not isinstance(ax, Axes):
        raise InputError(
            f"ax must be one matplotlib Axes, got {type(ax).__name__}: pass one of its elements."
        )
    return ax


def axes_pair(ax: Any) -> Array:
    """Return two axes as an array: those that were given, or those of a new figure, side by side."""
    if ax is None:
        return _new_axes(2, (10.0, 4.6))
    pair = np.array(ax, dtype=object).ravel()
    if len(pair) != 2 or not all(isinstance(one, Axes) for one in pair):
        raise InputError("ax must be a pair of matplotlib Axes, as from plt.subplots(1, 2)[1].")
    return pair


def _new_axes(n_columns: int, size: tuple[float, float]) -> Array:
    # pyplot keeps the figure, so that notebooks and plt.show() find it; imported here, because importing it
    # may choose a backend.
    import matplotlib.pyplot as plt

    axes: Array = plt.subplots(1, n_columns, figsize=size, layout="constrained", squeeze=False)[1][0]
    return axes


def heat_map(ax: Axes, values: Floats, limits: tuple[float, float], meaning: str, **style: Any) -> AxesImage:
    """Draw a matrix, with a colour bar that says what the colours mean and which values lie beyond it."""
    low, high = limits
    image = ax.imshow(values, vmin=low, vmax=high, **{"cmap": "viridis", **style})
    below, above = bool(values.min() < low), bool(values.max() > high)
    extend: Extend = "both" if below and above else "min" if below else "max" if above else "neither"
    # Exactly as high as the image where the layout makes room beside it; otherwise room is taken from ax.
    beside = None if ax.figure.get_layout_engine() is None else ax.inset_axes((1.03, 0.0, 0.05, 1.0))
    ax.figure.colorbar(image, cax=beside, ax=ax, label=meaning, extend=extend)
    return image


def spread_limits(values: Floats, lowest: float = 0.0, highest: float = 100.0) -> tuple[float, float]:
    """Return two percentiles of the values for a colour scale, kept apart where all values are alike."""
    low, high = (float(limit) for limit in np.percentile(values, [lowest, highest]))
    least = 1e-6 * max(abs(low), abs(high)) or 1.0  # below this a colour bar has no readable numbers
    if high - low >= least:
        return low, high
    return low - least, high + least


def label_places(axis: Axis, names: Sequence[str], places: Any = None, *, most: int = MOST_LABELS) -> None:
    """Write names at 0, 1, 2, ... or at the given places; of more than the most, every second, third, ..."""
    spots = np.arange(len(names)) if places is None else np.asarray(places)
    step = -(-len(names) // most)
    labels = [_shortened(name) for name in names[::step]]
    upright = isinstance(axis, XAxis) and len(labels) * max(map(len, labels)) > MOST_CHARACTERS
    size = "small" if len(labels) > MOST_LABELS // 2 else "medium"
    # Names are not formulas, even if they hold dollar signs.
    axis.set_ticks(spots[::step], labels, rotation=90 if upright else 0, fontsize=size, parse_math=False)
    axis.set_tick_params(which="both", length=0)


def _shortened(name: str, longest: int = LONGEST_LABEL) -> str:
    """Cut the middle of a long name: columns of one table often differ in how they end."""
    half = longest // 2
    return name if len(name) <= longest else f"{name[:half]}…{name[-half:]}"


def plot_levels(
    name: str, levels: Sequence[str], counts: Mapping[str, Sequence[int]], *, ax: Any = None
) -> Array:
    """Plot how many samples have each level, and the shares of the classes in each."""
    table = np.array(list(counts.values()), dtype=np.float64)
    shares = table / np.maximum(1.0, table.sum(axis=0))
    places = np.arange(len(levels))
    pair = axes_pair(ax)
    for panel, parts, meaning in zip(pair, (table, shares), ("Samples", "Share of the level"), strict=True):
        below = np.zeros(len(levels))
        for label, row in zip(counts, parts, strict=True):
            panel.barh(places, row, left=below, label=_shortened(label, LONGEST_LEVEL))
            below = below + row
        panel.set_yticks(places, [_shortened(level, LONGEST_LEVEL) for level in levels], parse_math=False)
        panel.invert_yaxis()
        panel.set_xlabel(meaning)
    pair[0].set_title(f"Levels of {name!r}", parse_math=False)
    pair[1].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return pair


def plot_survival(curves: SurvivalCurves, *, ax: Any = None) -> Array:
    """Plot Kaplan-Meier curves of the parts of a feature, and their cumulative hazards.

    Where hazards are proportional, as Cox's model says, so are the cumulative hazards.
    """
    pair = axes_pair(ax)
    for part in curves.parts:
        shares = np.array(part.shares)
        with np.errstate(divide="ignore"):
            hazards = np.where(shares > 0, -np.log(shares), np.nan)
        name = _shortened(f"{part.name} ({part.n_events:,}/{part.count:,})", LONGEST_LEVEL)
        for panel, values in zip(pair, (shares, hazards), strict=True):
            panel.step(part.times, values, where="post", label=name)
    pair[0].set(xlabel="Time", ylabel="Share without an event", ylim=(0, 1.02))
    pair[1].set(xlabel="Time", ylabel="Cumulative hazard")
    words = "" if curves.p_value is None else f", log-rank p = {curves.p_value:.2g}"
    pair[0].set_title(f"Survival by {curves.name!r}{words}", parse_math=False)
    pair[1].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), title="events/samples")
    return pair
