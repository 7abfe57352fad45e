r"""The non-negative lasso on a Gram matrix of graphs, with or without fusion, and its certificate.

.. math::

    \min_{b \ge 0} \frac12 b'Gb - c'b + \lambda_1 \pi'b + \lambda_2 \sum_i |b_{i+1} - b_i|
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import nnls

from infused import _kernels
from infused._typing import Floats, Ints

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
