r"""The non-negative lasso on graphs, with or without fusion, its certificate, and its path.

.. math::

    \min_{b \ge 0} \frac12 b'Gb - c'b + \lambda_1 \pi'b + \lambda_2 \sum_i |b_{i+1} - b_i|

Along its path, without fusion,

.. math::

    \min_{b \ge 0} \frac12 |L - \sum_i b_i K_i|_F^2 + \lambda \sum_i \pi_i b_i

Graphs are positive semidefinite, so no inner product of two is negative. What is left of the relevance of
feature i, :math:`\langle K_i, L - \sum_j b_j K_j \rangle`, is therefore at most its relevance less any of
these terms. A feature whose bound is below lambda cannot enter: its inner products with others are never
computed, and the duality gap is still that of the whole problem.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from scipy.optimize import nnls

from infused import _kernels
from infused._typing import Floats, Ints
from infused.graphs.inner_products import GraphBlock, GraphProducts

ROUNDING = 1e-12
TIED = 1e-9  # coefficients and relevances that differ by less are ties
CHECK_EVERY = 20  # iterations
HALVINGS = 60


@dataclass(frozen=True)
class GraphLasso:
    """The problem on some features."""

    G: Floats
    """Inner products of the graphs with each other."""
    c: Floats
    """Inner products with the graph of the target."""
    penalty: Floats
    """What lambda1 is multiplied by: one, or zero for features that are kept."""
    lambda1: float
    lambda2: float = 0.0

    def restricted(self, features: Ints) -> GraphLasso:
        """Return the problem on fewer features; fusion joins those that become neighbours."""
        G = self.G[np.ix_(features, features)]
        return replace(self, G=G, c=self.c[features], penalty=self.penalty[features])

    def solve(self) -> Floats:
        """Return the coefficients without fusion, exactly, as non-negative least squares."""
        values, vectors = np.linalg.eigh(self.G)
        used = values > ROUNDING * values[-1]
        root = np.sqrt(values[used])
        pull = vectors[:, used].T @ (self.c - self.lambda1 * self.penalty)
        return np.asarray(nnls(root[:, None] * vectors[:, used].T, pull / root)[0])

    def solve_fused(self, tol: float, max_iter: int) -> tuple[Floats, int]:
        """Return the coefficients, by accelerated proximal gradients, and how many iterations they took.

        Momentum starts anew where it points uphill.
        """
        b = np.zeros(len(self.c))
        step = 1.0 / float(np.linalg.eigvalsh(self.G)[-1])
        pull = self.c - self.lambda1 * self.penalty
        ahead, speed = b, 1.0
        for iteration in range(1, max_iter + 1):
            moved = ahead + step * (pull - self.G @ ahead)
            # Zero is the prox of b >= 0 after that of total variation.
            after = np.maximum(_kernels.total_variation_prox(moved, step * self.lambda2), 0.0)
            if float((ahead - after) @ (after - b)) > 0:
                speed = 1.0
            faster = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * speed * speed))
            ahead = after + (speed - 1.0) / faster * (after - b)
            b, speed = after, faster
            if iteration % CHECK_EVERY == 0 and self.duality_gap(b) <= tol:
                break
        return b, iteration

    def duality_gap(self, b: Floats) -> float:
        """Return by how much the objective may exceed its minimum, relative to its value at zero."""
        return duality_gap(self.c - self.G @ b, self.c, b, self.penalty, self.lambda1, self.lambda2)


def duality_gap(
    left: Floats, c: Floats, b: Floats, penalty: Floats, lambda1: float, lambda2: float = 0.0
) -> float:
    """Return the gap from what is left of the relevance c, or bounds of it, where b is zero.

    The residual, scaled down until the penalties allow it, is feasible for the dual problem.
    """
    explained = float(c @ b)
    square = 1.0 - explained - float(left @ b)  # |L - sum b K|^2
    scale = 1.0
    if not _allowed(left, penalty, lambda1, lambda2):
        largest = np.where(penalty > 0, left, 0.0)  # what carries no penalty is fitted to rounding
        low, high = 0.0, 1.0
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            fits = _allowed(middle * largest, penalty, lambda1, lambda2)
            low, high = (middle, high) if fits else (low, middle)
        scale = low
    primal = 0.5 * square + lambda1 * float(penalty @ b) + lambda2 * float(np.abs(np.diff(b)).sum())
    return max(0.0, primal - scale * (1.0 - explained) + 0.5 * scale**2 * square) / 0.5


def _allowed(left: Floats, penalty: Floats, lambda1: float, lambda2: float) -> bool:
    """Return whether left_i <= lambda1 penalty_i + u_{i-1} - u_i for some |u| <= lambda2, u_0 = u_n = 0."""
    slack = lambda1 * penalty - left + ROUNDING
    if lambda2 == 0:
        return bool((slack >= 0).all())
    # The largest u_i that is allowed leaves most room for the next: u_i = min(lambda2, u_{i-1} + slack_i).
    total = np.cumsum(slack)
    ceiling = np.minimum.accumulate(np.concatenate([[0.0], lambda2 - total[:-1]]))
    u = total + ceiling
    return bool((u[:-1] >= -lambda2).all() and u[-1] >= 0)


KEPT = 0.8  # of the features of a round stay for the next


def recursive_order(problem: GraphLasso, features: Ints, tol: float, max_iter: int) -> list[int]:
    """Rank features by the model itself: fit, drop the fifth that has the least coefficients, fit again."""
    order: list[int] = []
    own = np.arange(len(features))
    while len(own) > 1:
        here = problem.restricted(own)
        b = here.solve_fused(tol, max_iter)[0] if here.lambda2 > 0 else here.solve()
        left = here.c - here.G @ b
        by_worth = np.lexsort((own, -np.round(left / TIED), -np.round(b / TIED)))
        n_stay = min(len(own) - 1, int(KEPT * len(own)))
        order = [*features[own[by_worth[n_stay:]]].tolist(), *order]
        own = own[np.sort(by_worth[:n_stay])]
    return [*features[own].tolist(), *order]


COPY = 1e-9  # a graph of which less than this share is new does not enter
LOWER = 0.7  # of lambda: features whose bound is above it are looked at together
END = 1e-9  # of the largest lambda, where the path ends
FIRST_COLUMNS = 32  # of inner products, for which there is room at first
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
        self._columns, self._n_columns = np.zeros((FIRST_COLUMNS, n)), 0
        self._place = np.full(n, -1)
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
        own = np.flatnonzero(self.coef)
        return np.asarray(self.graphs.relevance - self.coef[own] @ self.columns(own))

    def left_of_all(self) -> Floats:
        """Return what is left of each relevance, also of features that are not loaded where that is cheap."""
        left, others = self.left(), np.flatnonzero(~self._loaded)
        found = self.graphs.combined(self.coef, others) if len(others) else None
        if found is not None:
            left[others] = self.graphs.relevance[others] - found
        return left

    def columns(self, features: Ints) -> Floats:
        """Return inner products with the graphs of some features; zero for features that are not loaded."""
        for j in features[self._place[features] < 0].tolist():
            if self._n_columns == len(self._columns):
                self._columns = np.concatenate([self._columns, np.zeros_like(self._columns)])
            for variables, block in self._blocks:
                self._columns[self._n_columns, variables] = block.products(j)
            self._place[j] = self._n_columns
            self._n_columns += 1
        return np.asarray(self._columns[self._place[features]])

    def gram(self, features: Ints) -> Floats:
        """Return the inner products of some features with each other."""
        return np.asarray(self.columns(features)[:, features])

    def load(self, features: Ints) -> None:
        """Compute the inner products of some features with those that entered."""
        features = np.sort(features[~self._loaded[features]])
        if not len(features):
            return
        block = self.graphs.block(features)
        self._blocks.append((features, block))
        self._loaded[features] = True
        for j in np.flatnonzero(self._place >= 0):
            self._columns[self._place[j], features] = block.products(int(j))

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
                    self._lower_floor(self.lambda_, smallest)
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

    def _lower_floor(self, lambda_: float, smallest: float = 0.0) -> None:
        """Load all features that may enter before lambda falls to a new floor."""
        if lambda_ <= END:
            self._floor = 0.0
            self.load(np.arange(len(self.penalty)))
        else:
            self._floor = max(LOWER * lambda_, smallest if self.graphs.combines else 0.0)
            self.load(np.flatnonzero(self.left() > self._floor))

    def _rates(self) -> tuple[Floats, Floats]:
        """Return how fast coefficients rise, and what is left falls, as lambda falls."""
        if not len(self._active):
            return np.zeros(0), np.zeros(len(self.coef))
        speed = np.asarray(np.linalg.solve(self.gram(self._active), self.penalty[self._active]), np.float64)
        return speed, np.asarray(speed @ self.columns(self._active))

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
        own = self.columns(np.array([feature]))[0]
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
