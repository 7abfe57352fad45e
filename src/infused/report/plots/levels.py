"""The levels of a category by class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from infused._typing import Array
from infused.report.plots.axes import axes_pair

__all__ = ["plot_levels"]

LONGEST = 18


def plot_levels(
    name: str, levels: Sequence[str], counts: Mapping[str, Sequence[int]], *, ax: Any = None
) -> Array:
    """How many samples have each level, and the shares of the classes in each."""
    table = np.array(list(counts.values()), dtype=np.float64)
    shares = table / np.maximum(1.0, table.sum(axis=0))
    places = np.arange(len(levels))
    pair = axes_pair(ax)
    for panel, parts, meaning in zip(pair, (table, shares), ("Samples", "Share of the level"), strict=True):
        below = np.zeros(len(levels))
        for label, row in zip(counts, parts, strict=True):
            panel.barh(places, row, left=below, label=_short(label))
            below = below + row
        panel.set_yticks(places, [_short(level) for level in levels], parse_math=False)
        panel.invert_yaxis()
        panel.set_xlabel(meaning)
    pair[0].set_title(f"Levels of {name!r}", parse_math=False)
    pair[1].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return pair


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}\u2026"
