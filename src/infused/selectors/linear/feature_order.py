"""Does the order of the features mean something? Whether they are a signal, a picture, or just columns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from infused._columns import ColumnDesign
from infused._design import Design, column_squares, inner_products
from infused._runtime.compat import StrOptions
from infused._typing import Floats, Ints
from infused.penalties.norms import NO_EDGES, fusion_edges
from infused.selectors.base import WEIGHT
from infused.selectors.inputs.training import Weights, unit_columns

#: What the parameters of fusion may be, for scikit-learn's validation.
CONSTRAINTS: dict[str, list[Any]] = {
    "lambda2": WEIGHT,
    "fusion": [StrOptions({"auto", "chain", "grid", "none"}), "array-like", "sparse matrix"],
    "grid_shape": [tuple, list, None],
    "solver": [StrOptions({"auto", "split-bregman", "proximal", "coordinate-descent"})],
}

FEWEST = 16  # features: with fewer, the most alike of a feature is beside it by chance
SHARE = 0.6  # of the features whose most alike feature is a neighbour
# Or: neighbours are this correlated in the median, and among the closest tenth for most.
CLOSE, AMONG, OF_MOST = 0.7, 0.1, 0.85
MOST_ROWS, MOST_ASKED, MOST_OTHERS = 1000, 400, 2000
NARROWEST = 4  # rows and columns of a picture
ACROSS = 0.9  # neighbours across the rows of a picture are at least this much as alike as those within


@dataclass(frozen=True)
class Fusion:
    """Which features are fused, and why."""

    name: str
    """Either "chain", "grid", "none" or "edges"."""
    edges: Ints | None
    """None is the chain of whatever features are left."""
    reason: str
    grid_shape: tuple[int, int] | None = None

    @property
    def nothing(self) -> bool:
        """Tell whether no feature is fused with another."""
        return self.edges is not None and len(self.edges) == 0


def choose_fusion(
    fusion: Any,
    grid_shape: tuple[int, int] | None,
    F: Design,
    *,
    published: bool = False,
    grouped: bool = False,
    weights: Weights | None = None,
) -> Fusion:
    """Resolve the parameter ``fusion`` for these features; "auto" looks at the training data.

    Parameters
    ----------
    fusion : {"auto", "chain", "grid", "none"}, pairs of features or sparse adjacency
        As the estimators take it.
    grid_shape : tuple of int or None
        Rows and columns of a picture; given, "auto" is the grid.
    F : ndarray or SparseDesign of shape (n_samples, n_features)
        Columns of mean zero and length one, or constant.
    published : bool, default=False
        Whether the model is the paper's, for which "auto" is the chain.
    grouped : bool, default=False
        Whether several columns make one variable, for which "auto" is none: they have no order.
    weights : Weights or None, default=None
        Of the samples; the rows of F are multiplied by their roots.

    Returns
    -------
    Fusion
        The edges, and a sentence that says why.
    """
    if not (isinstance(fusion, str) and fusion == "auto"):
        name = fusion if isinstance(fusion, str) else "edges"
        edges = None if name == "chain" else fusion_edges(fusion, F.shape[1], grid_shape)
        return Fusion(name, edges, "as asked", grid_shape if name == "grid" else None)
    if published and not grouped:
        return Fusion("chain", None, "the paper's model fuses each feature with the next")
    if grid_shape is not None:
        edges = fusion_edges("grid", F.shape[1], grid_shape)
        return Fusion("grid", edges, "the features are the pixels of a picture", grid_shape)
    if grouped:
        return Fusion("none", NO_EDGES, "variables of several columns have no order")
    return order_of_features(F, weights)


def order_of_features(F: Design, weights: Weights | None = None) -> Fusion:
    """Find the chain or the grid where neighbours are far more alike than other pairs, else nothing.

    A feature votes for the chain when the feature most correlated with it is the one before or after it, and
    for a grid of width w when it is beside it or w places away. In a table without order the share of such
    votes is near 2 / N, or 4 / N; a signal or a picture has most of them.
    """
    F, weights = _sampled_rows(F, weights)
    n, varying = F.shape[1], _varying(F, weights)
    if n < FEWEST or len(varying) < FEWEST:
        return Fusion("none", NO_EDGES, f"fewer than {FEWEST} features show no order")
    alike = _Likeness(F, weights, varying)
    width = _width(alike, n)
    if width is not None:
        share, shape = alike.votes((1, width)), (n // width, width)
        if share >= SHARE:
            return Fusion("grid", fusion_edges("grid", n, shape), _reason(share, "images", shape), shape)
    share, (median, among) = alike.votes((1,)), alike.neighbours()
    if share >= SHARE:
        return Fusion("chain", None, _reason(share, "a signal"))
    if median >= CLOSE and among >= OF_MOST:
        close = f"|r| of neighbours is {median:.2f} in the median, and among the largest for {among:.0%}"
        return Fusion("chain", None, f"the features look like a signal: {close}")
    return Fusion("none", NO_EDGES, f"neighbours are no more alike than other features ({share:.0%} are)")


class _Likeness:
    """Absolute correlations of some features with their neighbours and with many others."""

    def __init__(self, F: Design, weights: Weights | None, varying: Ints):
        random = np.random.default_rng(0)
        self.F, self.weights, self.n = F, weights, F.shape[1]
        self.asked = np.sort(random.permutation(varying)[:MOST_ASKED])
        others = np.sort(random.permutation(varying)[:MOST_OTHERS])
        # The most alike of the others, with which neighbours must compete; a feature is none to itself.
        self.with_others = np.abs(self._unit(self.asked).T @ self._unit(others))
        self.distance = np.abs(self.asked[:, None] - others[None, :])
        self.with_others[self.distance == 0] = -1.0

    def at(self, lag: int) -> Floats:
        """Compute |r| of each feature with the closer of the two that are ``lag`` places away."""
        best = np.full(len(self.asked), -1.0)
        for step in (-lag, lag):
            there = (self.asked + step >= 0) & (self.asked + step < self.n)
            mine, other = self.asked[there], self.asked[there] + step
            best[there] = np.maximum(best[there], self._alike(mine, other))
        return best

    def mean_at(self, lag: int) -> float:
        """Average |r| over all pairs ``lag`` places apart."""
        first = self.asked[self.asked + lag < self.n]
        return float(self._alike(first, first + lag).mean())

    def neighbours(self) -> tuple[float, float]:
        """Return the median |r| with the closer neighbour, and how often it is among the largest tenth."""
        near = self.at(1)
        place = (self.with_others > near[:, None]).mean(axis=1)
        return float(np.median(near)), float((place <= AMONG).mean())

    def votes(self, lags: tuple[int, ...]) -> float:
        """Return the share of features of which a neighbour is the most alike."""
        near = np.max([self.at(lag) for lag in lags], axis=0)
        far = np.where(np.isin(self.distance, lags), -1.0, self.with_others).max(axis=1)
        return float((near > far).mean())

    def _unit(self, features: Ints) -> Design:
        """Scale some columns to mean zero and length one: of thousands, few are looked at."""
        return unit_columns(self.F[:, features], self.weights)

    def _alike(self, first: Ints, second: Ints) -> Floats:
        """Compute |r| of pairs."""
        every = np.arange(len(first) + len(second))
        pairs = self._unit(np.concatenate([first, second]))
        return np.abs(inner_products(pairs, every[: len(first)], every[len(first) :]))


def _varying(F: Design, weights: Weights | None) -> Ints:
    """Find the features that are not constant."""
    if isinstance(F, ColumnDesign):
        return np.flatnonzero(F.any(axis=0))
    if isinstance(F, np.ndarray) and weights is None:
        return np.flatnonzero(F.max(axis=0) > F.min(axis=0))
    return np.flatnonzero(column_squares(unit_columns(F, weights)) > 0)


def _width(alike: _Likeness, n: int) -> int | None:
    """Find the width of a picture: pixels that many places apart are alike, and more so than close by."""
    widths = [w for w in range(NARROWEST, n // NARROWEST + 1) if n % w == 0]
    if not widths:
        return None
    means = {w: alike.mean_at(w) for w in widths}
    width = max(widths, key=lambda w: means[w])
    beside = [alike.mean_at(width + step) for step in (-2, 2)]
    return width if means[width] > max(beside) and means[width] >= ACROSS * alike.mean_at(1) else None


def _sampled_rows(F: Design, weights: Weights | None) -> tuple[Design, Weights | None]:
    if len(F) <= MOST_ROWS:
        return F, weights
    rows = np.sort(np.random.default_rng(0).permutation(len(F))[:MOST_ROWS])
    return F[rows, :], None if weights is None else replace(weights, values=weights.values[rows])


def _reason(share: float, what: str, shape: tuple[int, int] | None = None) -> str:
    size = f"{shape[0]} x {shape[1]} " if shape else ""
    return f"features treated as {size}{what}; {share:.0%} of them are most correlated with a neighbour"
