r"""The non-negative lasso on graphs, along its path.

.. math::

    \min_{b \ge 0} \frac12 |L - \sum_i b_i K_i|_F^2 + \lambda \sum_i \pi_i b_i

Graphs are positive semidefinite, so no inner product of two is negative. What is left of the relevance of
feature i, :math:`\langle K_i, L - \sum_j b_j K_j \rangle`, is therefore at most its relevance less any of
these terms. A feature whose bound is below lambda cannot enter: its inner products with others are never
computed, and the duality gap is still that of the whole problem.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from infused._typing import Floats, Ints
from infused.graphs.inner_products import GraphBlock, GraphProducts
from infused.selectors.kernel.solve import ROUNDING, TIED, GraphLasso, duality_gap

COPY = 1e-9  # a graph of which less than this share is new does not enter
LOWER = 0.7  # of lambda: features whose bound is above it are looked at together
END = 1e-9  # of the largest lambda, where the path ends
EVENTS, FEWEST_EVENTS = 20, 1000  # that a path may have, for each feature and in all


@dataclass
class GraphPath:
    """The solution at one lambda, and how it changes as lambda falls."""

    graphs: GraphProducts
    penalty: Floats
    """What lambda is multiplied by: one, or zero for features that are kept."""
    coef: Floats = field(init=False)
    entered: list[int] = field(init=False, default_factory=list)
    """Features in the order in which they first entered."""
    n_events: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        n = len(self.penalty)
        self.coef, self._active = np.zeros(n), np.zeros(0, np.int64)
        self._loaded, self._barred = np.zeros(n, bool), np.zeros(n, bool)
        self._blocks: list[tuple[Ints, GraphBlock]] = []
        self._columns: dict[int, Floats] = {}
        self._left_last = -1
        kept = np.flatnonzero(self.penalty == 0)
        if len(kept):
            self._fit_kept(kept)
        penalised = self.penalty > 0
        self._floor = float(self.left()[penalised].max(initial=0.0))
        while True:
            self._lower_floor(self._floor)
            self.largest = float(self.left()[penalised & self._loaded].max(initial=0.0))
            if self.largest >= self._floor:
                break
        self.lambda_ = self.largest

    def left(self) -> Floats:
        """Return what is left of the relevance of each feature; a bound where it is not loaded."""
        left = self.graphs.relevance.copy()
        for j in np.flatnonzero(self.coef):
            left -= self.coef[j] * self.column(int(j))
        return left

    def column(self, j: int) -> Floats:
        """Return inner products with the graph of feature j; zero for features that are not loaded."""
        if j not in self._columns:
            column = self._columns[j] = np.zeros(len(self.penalty))
            for variables, block in self._blocks:
                column[variables] = block.products(j)
        return self._columns[j]

    def gram(self, features: Ints) -> Floats:
        """Return the inner products of some features with each other."""
        columns = [self.column(int(j))[features] for j in features]
        return np.array(columns).reshape(len(features), len(features))

    def load(self, features: Ints) -> None:
        """Compute the inner products of some features with those that entered."""
        features = features[~self._loaded[features]]
        if not len(features):
            return
        block = self.graphs.block(features)
        self._blocks.append((features, block))
        self._loaded[features] = True
        for j, column in self._columns.items():
            column[features] = block.products(j)

    def duality_gap(self) -> float:
        """Return by how much the objective may exceed its minimum, relative to its value at zero."""
        return duality_gap(self.left(), self.graphs.relevance, self.coef, self.penalty, self.lambda_)

    def follow(self, smallest: float) -> None:
        """Lower lambda to ``smallest``."""
        smallest = max(smallest, END * self.largest)
        limit = FEWEST_EVENTS + EVENTS * len(self.penalty)
        while self.lambda_ > smallest and self.n_events < limit:
            self.n_events += 1
            speed, rates = self._rates()
            entering, enters = self._next_entry(rates)
            leaving, leaves = self._next_exit(speed)
            ends = self.lambda_ - max(smallest, self._floor)
            step = min(enters, leaves, ends)
            self.coef[self._active] = np.maximum(self.coef[self._active] + step * speed, 0.0)
            self.lambda_ -= step
            if step == ends:
                if self._floor > smallest:
                    self._lower_floor(self.lambda_)
            elif step == leaves:
                self._leave(leaving)
            else:
                self._enter(entering)

    def _fit_kept(self, kept: Ints) -> None:
        """Fit the features without a penalty by themselves."""
        self.load(kept)
        self.entered += kept.tolist()
        for feature in kept.tolist():  # constants and copies of others stay out
            self._enter(feature)
        basis = self._active
        if not len(basis):
            return
        alone = GraphLasso(self.gram(basis), self.graphs.relevance[basis], self.penalty[basis], 0.0)
        self.coef[basis] = alone.solve()
        self._active = np.flatnonzero(self.coef)

    def _lower_floor(self, lambda_: float) -> None:
        """Load all features that may enter before lambda falls to a new floor."""
        if not self.graphs.lazy or lambda_ <= END:
            self._floor = 0.0
            self.load(np.arange(len(self.penalty)))
        else:
            self._floor = LOWER * lambda_
            self.load(np.flatnonzero(self.left() > self._floor))

    def _rates(self) -> tuple[Floats, Floats]:
        """Return how fast coefficients rise, and what is left falls, as lambda falls."""
        rates = np.zeros(len(self.coef))
        if not len(self._active):
            return np.zeros(0), rates
        speed = np.asarray(np.linalg.solve(self.gram(self._active), self.penalty[self._active]), np.float64)
        for j, own in zip(self._active, speed, strict=True):
            rates += own * self.column(int(j))
        return speed, rates

    def _next_entry(self, rates: Floats) -> tuple[int, float]:
        free = self._loaded & ~self._barred
        free[self._active] = False
        if self._left_last >= 0:  # it is still at lambda, and falls behind from here
            free[self._left_last], self._left_last = False, -1
        closing = self.penalty - rates
        free &= closing > ROUNDING
        distance = self.lambda_ * self.penalty - self.left()
        steps = np.divide(distance, closing, out=np.full(len(free), np.inf), where=free)
        first = int(np.argmax(steps <= steps.min() + TIED * self.lambda_))  # of ties, the first feature
        return first, max(0.0, float(steps[first]))

    def _next_exit(self, speed: Floats) -> tuple[int, float]:
        falling = speed < 0
        if not falling.any():
            return -1, np.inf
        steps = np.divide(-self.coef[self._active], speed, out=np.full(len(speed), np.inf), where=falling)
        first = int(np.argmin(steps))
        return int(self._active[first]), max(0.0, float(steps[first]))

    def _enter(self, feature: int) -> None:
        """Let a feature in, unless it is a copy of what is in."""
        own = self.column(feature)
        shared = own[self._active]
        new = own[feature] - shared @ np.linalg.solve(self.gram(self._active), shared)
        if new <= COPY * own[feature]:
            self._barred[feature] = True
            return
        if feature not in self.entered:
            self.entered.append(feature)
        self._active = np.append(self._active, feature)

    def _leave(self, feature: int) -> None:
        self.coef[feature] = 0.0
        self._active = self._active[self._active != feature]
        self._left_last, self._barred[:] = feature, False
