"""When a solver may stop: its conditions hold, and whoever uses the solution has no objection."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from infused._typing import Floats

__all__ = ["Settled", "Stopping"]

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
        """Whether this solution will do."""
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
        """Whether the tolerance that was asked for holds, and why the solver ended."""
        if certificate <= self.tol:
            return True, f"the optimality conditions hold to {certificate:.1e}"
        return False, f"the {max_iter} iterations ran out"
