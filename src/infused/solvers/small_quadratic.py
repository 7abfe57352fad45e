r"""Block coordinate descent on a small quadratic problem:

.. math::

    \min_B \tfrac12 \operatorname{tr} B H B' - \operatorname{tr} B C' + \sum_g \theta_g |B_g|

with B targets x coordinates, and blocks g of coordinates. The first updates of a process are plain NumPy:
those of a small fit take less time than loading the compiler.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt

import numpy as np
from scipy.linalg.lapack import dposv

from infused import _kernels
from infused._typing import Floats, Ints

__all__ = ["descend", "plain_epochs"]

MEMORY = 5  # epochs between extrapolations, and iterates that one combines
RIDGE = 1e-12  # of the trace, when the differences of iterates are nearly dependent
ONES = np.ones(MEMORY)
FEW_UPDATES = 10_000  # of blocks, that plain NumPy makes in a fraction of the time of loading a kernel


class _Updates:
    """How many of this process were plain so far."""

    plain = 0

    def epochs(self, n_updates: int) -> Callable[..., int]:
        """What makes so many more of them."""
        if self.plain > FEW_UPDATES:
            compiled: Callable[..., int] = _kernels.epochs
            return compiled
        self.plain += n_updates
        return plain_epochs


UPDATES = _Updates()


def descend(
    H: Floats,
    C: Floats,
    B: Floats,
    starts: Ints,
    curvature: Floats,
    thresholds: Floats,
    tol: float,
    max_epochs: int,
) -> int:
    """Minimise over B in place, until no block wants to move by more than tol; returns the epochs taken.

    Every few epochs the last iterates are combined as Anderson (1965) does, and the combination is kept if it
    lowers the objective. G is affine in B, so the gradient of a combination is the combination of gradients:
    extrapolating costs no product with H (Bertrand and Massias 2021 use the same idea on residuals).
    """
    G = B @ H - C
    past_B, past_G = np.empty((2, MEMORY + 1, B.size))
    taken = 0
    while taken < max_epochs:
        room = min(MEMORY + 1, max_epochs - taken)
        epochs = UPDATES.epochs(room * len(curvature))
        k = epochs(H, starts, curvature, thresholds, tol, B, G, past_B[:room], past_G[:room])
        if k < room:
            return int(taken + k + 1)
        taken += room
        if room > MEMORY:
            _extrapolate(past_B, past_G, C, B, G, starts, thresholds)
    return max_epochs


def plain_epochs(
    H: Floats,
    starts: Ints,
    curvature: Floats,
    thresholds: Floats,
    tol: float,
    B: Floats,
    G: Floats,
    past_B: Floats,
    past_G: Floats,
) -> int:
    """What the kernel ``epochs`` does, to the last bit."""
    for k in range(len(past_B)):
        largest = 0.0
        for g in np.flatnonzero(~(curvature <= 0.0)).tolist():
            bend, block = float(curvature[g]), slice(starts[g], starts[g + 1])
            z = B[:, block] - G[:, block] / bend
            length = bend * _norm(z)
            keep = 1.0 - thresholds[g] / length if length > thresholds[g] else 0.0
            steps = keep * z - B[:, block]
            moved = _norm(steps)
            if moved == 0.0:
                continue
            largest = max(largest, bend * moved)
            B[:, block] += steps
            for step, row in zip(steps.T, H[block], strict=True):
                G += step[:, None] * row
        if largest <= tol:
            return k
        past_B[k], past_G[k] = B.ravel(), G.ravel()
    return len(past_B)


def _norm(A: Floats) -> float:
    """Its length, with squares added one after the other, coordinate by coordinate."""
    total = 0.0
    for value in A.ravel(order="F").tolist():  # sum() adds in another way from Python 3.12 on
        total += value * value
    return sqrt(total)


def _extrapolate(
    past_B: Floats, past_G: Floats, C: Floats, B: Floats, G: Floats, starts: Ints, thresholds: Floats
) -> None:
    """Put the best combination of the past iterates in the place of B and G, if it is better."""
    steps = past_B[1:] - past_B[:-1]
    A = steps @ steps.T
    trace = A.trace()
    if not trace > 0.0:
        return
    A.flat[:: MEMORY + 1] += RIDGE * trace
    weights, failed = dposv(A, ONES)[1:]
    total = weights.sum()
    if failed or not abs(total) > 0.0:
        return
    weights /= total
    ahead_B, ahead_G = (weights @ past_B[1:]).reshape(B.shape), (weights @ past_G[1:]).reshape(B.shape)
    if _objective(ahead_B, ahead_G, C, starts, thresholds) < _objective(B, G, C, starts, thresholds):
        B[:], G[:] = ahead_B, ahead_G


def _objective(B: Floats, G: Floats, C: Floats, starts: Ints, thresholds: Floats) -> float:
    """1/2 tr B(G - C)' + sum_g threshold_g |B_g|."""
    squares = np.einsum("ti,ti->i", B, B)
    if len(starts) <= len(squares):
        squares = np.add.reduceat(squares, starts[:-1])
    return float(0.5 * np.vdot(B, G - C) + thresholds @ np.sqrt(squares))
