"""Errors and warnings that a user can act on."""

from __future__ import annotations

__all__ = ["InfusedError", "MemoryBudgetError", "OperationCancelledError", "PrecisionError"]


class InfusedError(Exception):
    """Base of every error that infused raises on its own account."""


class MemoryBudgetError(InfusedError, MemoryError):
    """The result would not fit in the memory budget; nothing was allocated."""


class OperationCancelledError(InfusedError):
    """The progress callback returned False, so the computation stopped."""


class PrecisionError(InfusedError, ValueError):
    """A forced route cannot reach the requested tolerance on these distributions."""
