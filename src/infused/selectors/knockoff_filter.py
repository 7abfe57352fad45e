r"""From statistics of features against their copies to a selection with few false discoveries.

A statistic :math:`W_j` is positive where a feature did better than its copy, and for a feature that says
nothing its sign is that of a fair coin. So the negative ones below :math:`-t` tell how many of the positive
ones above t are false.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from infused._typing import Array, Floats

__all__ = ["Discoveries", "discoveries", "e_benjamini_hochberg", "e_values", "knockoff_threshold"]

SHARE = 0.5  # of the rate, for the e-values of one of several draws (Ren and Barber 2024)
ROUNDING = 1e-9  # e-values that are equal but for rounding


@dataclass(frozen=True)
class Discoveries:
    """What several draws of copies agree on."""

    selected: Array
    e_values: Floats
    """Their mean over the draws."""
    threshold: float
    """The smallest e-value that is selected; infinite where none is."""
    frequencies: Floats
    """The share of draws in which each passed the threshold of that draw."""


def discoveries(W: Floats, fdr: float) -> Discoveries:
    """From statistics, draws x variables.

    With one draw this is the knockoff filter itself. With several, e-values are averaged: an average is one
    again, whatever the draws have in common, so the rate holds, and the more draws, the less hangs on them.
    """
    level = fdr if len(W) == 1 else SHARE * fdr
    each = np.array([e_values(draw, level) for draw in W])
    e = each.mean(axis=0)
    selected, threshold = e_benjamini_hochberg(e, fdr)
    return Discoveries(selected, e, threshold, np.asarray((each > 0).mean(axis=0)))


def knockoff_threshold(W: Floats, level: float) -> float:
    r"""The smallest t > 0 at which :math:`(1 + \#\{W \le -t\}) / \#\{W \ge t\}` is at most the level.

    Or at which no negative one is left: to go on would lose features and gain nothing. Both are stopping
    times of the same martingale, so e-values at either are sound; at the second, few but clear features count
    although they are fewer than 1 / level.
    """
    sizes = np.unique(np.abs(W[W != 0]))  # ascending
    negative, positive = np.sort(-W[W < 0]), np.sort(W[W > 0])
    below = len(negative) - np.searchsorted(negative, sizes)
    above = len(positive) - np.searchsorted(positive, sizes)
    stops = (1 + below <= level * above) | ((below == 0) & (above > 0))
    return float(sizes[np.argmax(stops)]) if stops.any() else np.inf


def e_values(W: Floats, level: float) -> Floats:
    r""":math:`n 1\{W_j \ge t\} / (1 + \#\{W \le -t\})`.

    Over features that say nothing they sum to n at most, in expectation (Ren and Barber 2024).
    """
    t = knockoff_threshold(W, level)
    return np.asarray(len(W) * (t <= W) / (1 + (t <= -W).sum()))


def e_benjamini_hochberg(e: Floats, fdr: float) -> tuple[Array, float]:
    """The most features of which the least e-value is n / (fdr k), k being their number (Wang, Ramdas 2022).

    Returns the mask, and the least e-value.
    """
    ordered = np.sort(e)[::-1]
    enough = ordered * fdr * np.arange(1, len(e) + 1) >= len(e) * (1 - ROUNDING)
    if not enough.any():
        return np.zeros(len(e), dtype=bool), np.inf
    threshold = float(ordered[np.flatnonzero(enough)[-1]])
    return np.asarray(e >= threshold), threshold
