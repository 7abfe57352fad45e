"""Forward selection by least squares: the search that greedy forward and the linear rankings share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from infused._runtime.progress import Stage
from infused._typing import Floats, Ints

__all__ = ["ForwardSearch"]

COLLINEAR = 1e-10  # a feature of which less than this share is new adds nothing
SAME = 1e-12  # gains that differ by less than this share of the largest are ties


@dataclass
class ForwardSearch:
    """The state of a forward selection: c_j = f_j'PY and d_j = ridge + f_j'Pf_j for all features."""

    F: Floats
    Y: Floats
    ridge: float
    k: int
    c: Floats = field(init=False)
    d: Floats = field(init=False)
    relevance: Floats = field(init=False)
    free: Any = field(init=False)

    def __post_init__(self) -> None:
        self._rows = np.ascontiguousarray(self.F.T)  # one feature's values lie together
        self.c = self._rows @ self.Y
        self.square = np.einsum("ij,ij->i", self._rows, self._rows)
        self.d = self.ridge + self.square
        self.relevance = np.linalg.norm(self.c, axis=1)
        self.free = np.ones(len(self.d), dtype=bool)
        self._W = np.empty((self.k, len(self.Y)))  # P f_s of the features that were added
        self._sizes = np.empty(self.k)
        self._added = 0

    def gains(self) -> Floats:
        """By how much each feature would lower the objective; zero for those that are nothing new."""
        new = self.free & (self.d - self.ridge > COLLINEAR * self.square)
        squares = np.einsum("ij,ij->i", self.c, self.c)
        return np.asarray(np.divide(squares, self.d, out=np.zeros_like(squares), where=new))

    def run(self) -> tuple[Ints, Floats]:
        """Select k features; their order and the gain of each."""
        order, gains = np.empty(self.k, dtype=np.int64), np.empty(self.k)
        stage = Stage(None, "selecting features", self.k)
        for step in range(self.k):
            gain = self.gains()
            best = self._best(gain)
            order[step], gains[step] = best, gain[best]
            self._add(best, useful=gain[best] > 0)
            stage.advance()
        return order, gains

    def _best(self, gain: Floats) -> int:
        """The largest gain; among ties the more relevant feature, then the first."""
        largest = gain.max()
        tied = np.flatnonzero(self.free & (gain >= largest * (1 - SAME)))
        return int(tied[np.argmax(self.relevance[tied])])

    def _add(self, s: int, useful: bool) -> None:
        self.free[s] = False
        if not useful:
            return
        w = self._project(self._rows[s])
        size = self.ridge + float(self._rows[s] @ w)
        pull = self._rows @ w  # f_j'Pf_s for all j
        self.c -= np.outer(pull, self.c[s] / size)
        self.d -= pull * pull / size
        np.maximum(self.d, self.ridge, out=self.d)
        self._W[self._added], self._sizes[self._added] = w, size
        self._added += 1

    def _project(self, f: Floats) -> Floats:
        """P f. Without a ridge P is a projection, so applying it twice takes off what rounding left."""
        W, sizes = self._W[: self._added], self._sizes[: self._added]
        for _ in range(1 if self.ridge > 0 else 2):
            f = f - (W @ f / sizes) @ W
        return f
