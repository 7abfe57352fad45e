"""Errors and warnings that a user can act on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = [
    "InfusedError",
    "InputError",
    "MemoryBudgetError",
    "MissingExtraError",
    "OperationCancelledError",
    "PrecisionError",
    "ScreeningWarning",
    "Setting",
    "UnboundedObjectiveError",
    "UnboundedObjectiveWarning",
]


@dataclass(frozen=True)
class Setting:
    """A parameter that a message names, and the value that it has or should have.

    Messages hold settings as they are, not as text: Python spells ``impute='median'``, the command line
    ``--impute median``.

    >>> print(Setting("impute", "median"), Setting("target"))
    impute='median' target=
    """

    name: str
    value: Any = None
    """None where the name alone says it."""

    def __str__(self) -> str:
        return f"{self.name}={'' if self.value is None else repr(self.value)}"


class InfusedError(Exception):
    """Base of every error that infused raises on its own account."""


class InputError(InfusedError, ValueError):
    """What was given cannot be used as it is: one line that says what to change.

    Every error that a user can mend is one, and nothing else is: any other exception is a mistake of ours.

    Parameters
    ----------
    *parts : str or Setting
        The message, in pieces.

    Examples
    --------
    >>> from infused.exceptions import InputError, Setting
    >>> print(InputError("3 values are missing: fill them with ", Setting("impute", "median")))
    3 values are missing: fill them with impute='median'
    """

    def __init__(self, *parts: str | Setting):
        super().__init__(*parts)
        self.parts = parts

    def __str__(self) -> str:
        return self.told(str)

    def told(self, spell: Callable[[Setting], str]) -> str:
        """The message on one line, with settings as ``spell`` writes them."""
        text = "".join(part if isinstance(part, str) else spell(part) for part in self.parts)
        return " ".join(text.splitlines())


class MissingExtraError(InputError, ImportError):
    """A package that this needs is not installed; the message names the extra that brings it."""


class MemoryBudgetError(InputError, MemoryError):
    """The result would not fit in the memory budget; nothing was allocated."""


class OperationCancelledError(InfusedError):
    """The progress callback returned False, so the computation stopped."""


class PrecisionError(InputError):
    """A forced route cannot reach the requested tolerance on these distributions."""


class UnboundedObjectiveError(InputError):
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
