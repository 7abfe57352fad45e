"""Forward selection by least squares: the search that greedy forward and the linear rankings share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from infused._design import Design, Transposed, column_squares
from infused._runtime.progress import Stage
from infused._typing import Floats, Ints

COLLINEAR = 1e-10  # a feature of which less than this share is new adds nothing
SAME = 1e-12  # gains that differ by less than this share of the largest are ties


@dataclass
class ForwardSearch:
    """The state of a forward selection: c_j = f_j'PY and d_j = ridge + f_j'Pf_j for all features.

    With ``blocks``, the number of each feature's block, a step adds all features of a block: the one with the
    largest gain, less what so many features more than one would gain by chance. Else a category of many
    levels would come before any number, whatever it says.
    """

    F: Design
    Y: Floats
    ridge: float
    k: int | None
    """How many features, or blocks; None for all."""
    blocks: Ints | None = None
    n_samples: float | None = None
    """How many samples the rows stand for, by their weights; None for one each."""
    c: Floats = field(init=False)
    d: Floats = field(init=False)
    relevance: Floats = field(init=False)
    free: Any = field(init=False)

    def __post_init__(self) -> None:
        self._rows: Floats | Transposed = self.F.T
        self._single: SinglePrecision | None = None
        if isinstance(self.F, np.ndarray):
            if self.blocks is None and SinglePrecision.worth_it(self.F):
                self._single = SinglePrecision(self.F, self.Y)
            else:
                self._rows = np.ascontiguousarray(self.F.T)  # one feature's values lie together
        self.c = self._rows @ self.Y
        self.square = column_squares(self.F)
        self.d = self.ridge + self.square
        self.relevance = np.linalg.norm(self.c, axis=1)
        self._stacks: list[_Stack] = []
        if self.blocks is None:
            sizes, constant = np.ones(len(self.d), np.int64), self.square == 0
        else:
            n_blocks = int(self.blocks.max(initial=-1)) + 1
            self._members = [np.flatnonzero(self.blocks == b) for b in range(n_blocks)]
            self.relevance = np.sqrt(np.bincount(self.blocks, weights=self.relevance**2))
            self._stacks = _stacked(self._members, self._rows, self.square)
            sizes = np.array([len(own) for own in self._members], np.int64)
            constant = np.array([not self.square[own].any() for own in self._members], bool)
        # A constant comes after all others, those that say nothing of Y among them.
        self.relevance[constant] = -1.0
        self.free = np.ones(len(sizes), dtype=bool)
        self._steps = len(sizes) if self.k is None else self.k
        most = int(np.sort(sizes)[::-1][: self._steps].sum())
        self._W = np.empty((most, len(self.Y)))  # P f_s of the features that were added
        self._sizes = np.empty(most)
        self._added = 0
        self._n_samples = len(self.Y) if self.n_samples is None else self.n_samples
        self._left, self._spent = float((self.Y * self.Y).sum()), 1.0  # the mean is a degree of freedom

    def gains(self) -> Floats:
        """Compute by how much each feature or block would lower the objective; zero for nothing new."""
        alone = self._alone(slice(None))
        if self.blocks is None:
            alone[~self.free] = 0.0
            return alone
        gains = np.zeros(len(self.free))
        gains[self.blocks] = alone  # right where a block is one feature; the others follow
        for stack in self._stacks:
            gains[stack.blocks] = stack.gains(self.c, self.ridge)
        gains[~self.free] = 0.0
        return gains

    def _alone(self, features: Ints | slice) -> Floats:
        """Compute the gains of single features."""
        c, d = self.c[features], self.d[features]
        new = d - self.ridge > COLLINEAR * self.square[features]
        squares = np.einsum("ij,ij->i", c, c)
        return np.asarray(np.divide(squares, d, out=np.zeros_like(squares), where=new))

    def run(self) -> tuple[Ints, Floats]:
        """Select k features or blocks; their order and the gain of each."""
        order, gains = np.empty(self._steps, dtype=np.int64), np.empty(self._steps)
        stage = Stage(None, "selecting features", self._steps)
        for step in range(self._steps):
            gain = self._certain(self.gains())
            best = self._best(self._less_chance(gain))
            order[step], gains[step] = best, gain[best]
            self._add(best, useful=gain[best] > 0)
            self._left -= gain[best]
            stage.advance()
        return order, gains

    def _certain(self, gain: Floats) -> Floats:
        """Compute the gains of single features that decide in double precision."""
        if self._single is None:
            return gain
        first = np.array([int(np.argmax(gain))])
        least = float(self._renewed(first)[0])  # the largest is no smaller
        doubtful = self._single.in_doubt(self.c, self.d, self.ridge, self.square, least)
        doubtful = doubtful[self.free[doubtful]]
        if len(doubtful) > MOST_IN_DOUBT:  # from here on all of them
            self._renewed(np.arange(len(self.d)))
            self._single = None
            return self.gains()
        gain[doubtful] = self._renewed(doubtful)
        return gain

    def _renewed(self, features: Ints) -> Floats:
        """Compute the gains of some features that are free, with their c and d in double precision."""
        if self._single is not None:
            W, sizes = self._W[: self._added], self._sizes[: self._added]
            self.c[features], fallen = self._single.exact(features, W, sizes)
            self.d[features] = np.maximum(self.ridge + self.square[features] - fallen, self.ridge)
        return self._alone(features)

    def _less_chance(self, gain: Floats) -> Floats:
        """Take off gains what further features of a block explain of noise: equal shares of the rest."""
        if not self._stacks:
            return gain
        worth, share = gain.copy(), self._left / max(self._n_samples - self._spent, 1.0)
        for stack in self._stacks:
            worth[stack.blocks] -= share * np.maximum(stack.freedom - 1, 0.0)
        worth[gain == 0] = worth.min() - 1  # nothing new comes after what is no better than chance
        return worth

    def _best(self, gain: Floats) -> int:
        """Find the largest gain; among ties the more relevant feature, then the first."""
        largest = gain[self.free].max()
        tied = np.flatnonzero(self.free & (gain >= largest - SAME * abs(largest)))
        return int(tied[np.argmax(self.relevance[tied])])

    def _add(self, chosen: int, useful: bool) -> None:
        self.free[chosen] = False
        if not useful:
            return
        members = np.array([chosen]) if self.blocks is None else self._members[chosen]
        for s in members:
            if len(members) == 1 or self.d[s] - self.ridge > COLLINEAR * self.square[s]:
                self._add_feature(int(s))

    def _add_feature(self, s: int) -> None:
        self._spent += 1 - self.ridge / self.d[s]
        f = self._rows[s]
        w = self._project(f)
        size = self.ridge + float(f @ w)
        if self._single is None:
            pull = self._rows @ w  # f_j'Pf_s for all j
        else:
            pull = self._single.products(w)
            self._single.added(w, self.c[s], size)
        self.c -= np.outer(pull, self.c[s] / size)
        self.d -= pull * pull / size
        np.maximum(self.d, self.ridge, out=self.d)
        for stack in self._stacks:
            stack.update(pull, size)
        self._W[self._added], self._sizes[self._added] = w, size
        self._added += 1

    def _project(self, f: Floats) -> Floats:
        """Compute P f. Without a ridge P is a projection; applied twice it takes off what rounding left."""
        W, sizes = self._W[: self._added], self._sizes[: self._added]
        for _ in range(1 if self.ridge > 0 else 2):
            f = f - (W @ f / sizes) @ W
        return f


@dataclass
class _Stack:
    """All blocks of one size, with G = F_b'PF_b of each."""

    blocks: Ints
    features: Ints
    """blocks x size."""
    G: Floats
    """blocks x size x size."""
    square: Floats
    """The largest squared length in each block, before anything was added."""
    freedom: Floats
    """How many features' worth of noise each block would fit; known with the gains."""

    def update(self, pull: Floats, size: float) -> None:
        """Update the products after a feature was added."""
        own = pull[self.features]
        self.G -= own[:, :, None] * own[:, None, :] / size

    def gains(self, c: Floats, ridge: float) -> Floats:
        """Compute tr C_b'(ridge + G_b)^-1 C_b, over the directions that are new."""
        values, vectors = np.linalg.eigh(self.G)
        new = values > COLLINEAR * self.square[:, None]
        along = np.einsum("bij,bit->bjt", vectors, c[self.features])
        squares = np.einsum("bjt,bjt->bj", along, along)
        self.freedom = np.divide(values, values + ridge, out=np.zeros_like(values), where=new).sum(axis=1)
        gains = np.divide(squares, values + ridge, out=np.zeros_like(squares), where=new)
        return np.asarray(gains.sum(axis=1))


def _stacked(members: list[Ints], rows: Floats | Transposed, square: Floats) -> list[_Stack]:
    """Stack the blocks of more than one feature by size."""
    sizes = np.array([len(own) for own in members])
    stacks = []
    for size in np.unique(sizes[sizes > 1]):
        blocks = np.flatnonzero(sizes == size)
        features = np.array([members[b] for b in blocks])
        G = np.array([rows[own] @ rows[own].T for own in features])
        stacks.append(
            _Stack(blocks, features, G, square[features].max(axis=1), np.full(len(blocks), float(size)))
        )
    return stacks


WORTH_IT = 10**7  # entries of X
ERROR = 32 * float(np.finfo(np.float32).eps)  # of a product of two vectors, relative to their lengths
MOST_IN_DOUBT = 200  # features; with more, single precision decides too little


class SinglePrecision:
    """The features in single precision, and what the products with them leave open."""

    def __init__(self, F: Floats, Y: Floats):
        self._F = F
        self._rows = np.ascontiguousarray(F.T, dtype=np.float32)
        self._PY = Y.copy()
        self._c, self._d = 0.0, 0.0  # bounds on the errors of c and d, for a feature of length one

    @staticmethod
    def worth_it(F: Floats) -> bool:
        """Return whether reading the features takes most of the time."""
        return F.size >= WORTH_IT

    def products(self, w: Floats) -> Floats:
        """Compute f_j'w of all features."""
        return np.asarray(self._rows @ w.astype(np.float32), dtype=np.float64)

    def added(self, w: Floats, c: Floats, size: float) -> None:
        """Update the bounds after a step along w = Pf_s, with c = c_s and d_s = size."""
        self._PY -= np.outer(w, c / size)
        length = float(np.linalg.norm(w))
        self._c += ERROR * length * float(np.linalg.norm(c)) / size
        self._d += ERROR * (2 + ERROR) * length**2 / size  # |f_j'w| is at most the length of w

    def in_doubt(self, c: Floats, d: Floats, ridge: float, square: Floats, least: float) -> Ints:
        """Find the features whose gain may be as large as ``least``."""
        most = np.linalg.norm(c, axis=1) + self._c * np.sqrt(square)
        smallest = np.maximum(d - self._d * square, np.maximum(ridge, np.finfo(float).tiny))
        return np.flatnonzero(most * most >= least * (1 - ERROR) * smallest)

    def exact(self, features: Ints, W: Floats, sizes: Floats) -> tuple[Floats, Floats]:
        """Compute c_j, and by how much d_j has fallen, of some features."""
        f = np.ascontiguousarray(self._F[:, features].T)
        pulls = f @ W.T
        return f @ self._PY, (pulls * pulls / sizes).sum(axis=1)
