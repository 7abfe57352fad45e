"""What solvers return, and when they may stop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from infused._typing import Floats


@dataclass(frozen=True)
class SplitState:
    """Where a split Bregman iteration stands: enough to go on from there."""

    p: Floats
    """The sparse copy of the coefficients."""
    q: Floats
    """The sparse copy of their differences along the edges."""
    u: Floats
    """Multipliers of b = p."""
    v: Floats
    """Multipliers of C b = q."""
    mu: float
    """Weight of both constraints."""


@dataclass(frozen=True)
class SolverResult:
    """What a solver found, and how far it is to be trusted."""

    coef: Floats
    """Coefficients, features x targets, with exact zeros."""
    objective: Floats
    """The objective after each iteration."""
    primal_residuals: Floats
    """How far the copies were from what they copy, where the solver has copies."""
    dual_residuals: Floats
    """How far the copies moved."""
    n_iter: int
    converged: bool
    reason: str
    """Why it stopped, in words."""
    certificate: float
    """Largest violation of the optimality conditions, relative to lambda1; it proves optimality only where
    the objective is convex."""
    gradient: Floats
    """Of the smooth part of the objective, at the coefficients."""
    state: SplitState | None = None
    """For a warm start of a solver that has copies."""
    free: Floats | None = None
    """Coefficients of the columns without a penalty, intercepts first; None where the target was centred."""


LOOSER = 10.0  # a first look, to know by how much things still change
FINER = 0.1  # from one look to the next, so that what changed between two is more than what still will
FLOOR = 1e-9  # closer than this no solver is asked to come

#: Coefficients and gradient to whether what is made of them would stay as it is.
Settled: TypeAlias = Callable[[Floats, Floats], bool]


class Stopping:
    """The rule of one solution.

    Without ``settled`` it is the tolerance. With it, a solution that reaches the tolerance is shown to it, as
    one was that came within ten times of it; until it says yes, the tolerance shrinks and the solver goes on
    from where it is, down to 1e-9.
    """

    def __init__(self, tol: float, settled: Settled | None = None):
        self.tol, self.settled = tol, settled
        self.floor = min(FLOOR, tol)
        self.level = tol if settled is None else LOOSER * tol
        """What the solver should reach next."""

    def enough(self, certificate: float, coef: Floats, gradient: Floats) -> bool:
        """Tell whether this solution will do."""
        if certificate > self.level:
            return False
        if self.settled is None:
            return True
        settled = self.settled(coef, gradient)
        if certificate <= self.tol and (settled or certificate <= self.floor):
            return True
        self.level = max(FINER * certificate, self.floor)
        return False

    def end(self, certificate: float, max_iter: int) -> tuple[bool, str]:
        """Tell whether the tolerance that was asked for holds, and why the solver ended."""
        if certificate <= self.tol:
            return True, f"the optimality conditions hold to {certificate:.1e}"
        return False, f"the {max_iter} iterations ran out"
