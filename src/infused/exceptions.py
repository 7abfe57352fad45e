"""Errors and warnings that a user can act on."""

from __future__ import annotations

__all__ = [
    "InfusedError",
    "MemoryBudgetError",
    "OperationCancelledError",
    "PrecisionError",
    "ScreeningWarning",
    "UnboundedObjectiveError",
    "UnboundedObjectiveWarning",
]


class InfusedError(Exception):
    """Base of every error that infused raises on its own account."""


class MemoryBudgetError(InfusedError, MemoryError):
    """The result would not fit in the memory budget; nothing was allocated."""


class OperationCancelledError(InfusedError):
    """The progress callback returned False, so the computation stopped."""


class PrecisionError(InfusedError, ValueError):
    """A forced route cannot reach the requested tolerance on these distributions."""


class UnboundedObjectiveError(InfusedError, ValueError):
    """The published objective has no minimum for this lambda3; ``limit`` is the largest that has one."""

    def __init__(self, message: str, limit: float):
        super().__init__(message)
        self.limit = limit

    def __reduce__(self) -> tuple[type[UnboundedObjectiveError], tuple[str, float]]:
        return type(self), (str(self), self.limit)


class UnboundedObjectiveWarning(UserWarning):
    """Algorithm 1 was run on an objective that has no minimum, as asked."""


class ScreeningWarning(UserWarning):
    """U of all features would not fit in the memory budget, so the first rounds ran without it."""
