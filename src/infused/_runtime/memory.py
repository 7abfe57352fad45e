"""The memory budget: how much one result may take."""

from __future__ import annotations

import os

import psutil

from infused.exceptions import InputError, MemoryBudgetError

__all__ = ["format_bytes", "memory_budget", "require"]

DEFAULT_FRACTION = 0.5
ENVIRONMENT_VARIABLE = "INFUSED_MEMORY"
_UNITS = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}


def memory_budget(budget: int | float | str | None = None) -> int:
    """Bytes that one result may take.

    ``budget`` is a number of bytes or a text such as ``"4GB"``; None reads the environment variable
    ``INFUSED_MEMORY``, and without it takes half of the memory that is free now.
    """
    if budget is None:
        budget = os.environ.get(ENVIRONMENT_VARIABLE)
    if budget is None:
        return int(DEFAULT_FRACTION * psutil.virtual_memory().available)
    size = _parse(budget) if isinstance(budget, str) else budget
    if not size > 0:
        raise InputError(f"memory_budget must be positive, got {budget!r}.")
    return int(size)


def require(n_bytes: int, budget: int, what: str, instead: str) -> None:
    """Raise before anything is allocated when ``what`` would pass the budget."""
    if n_bytes > budget:
        raise MemoryBudgetError(
            f"{what} needs {format_bytes(n_bytes)}, more than the memory budget of {format_bytes(budget)}: "
            f"{instead}, or raise memory_budget (or {ENVIRONMENT_VARIABLE})."
        )


def format_bytes(n_bytes: float) -> str:
    """Bytes for people: ``format_bytes(80_000_000_000)`` is ``'80 GB'``."""
    for unit in ("B", "KB", "MB", "GB"):
        if n_bytes < 1000:
            return f"{n_bytes:.3g} {unit}"
        n_bytes /= 1000
    return f"{n_bytes:.3g} TB"


def _parse(text: str) -> float:
    number = text.strip().upper().rstrip("BKMGTI ")
    unit = text.strip().upper()[len(number) :].strip() or "B"
    try:
        return float(number) * _UNITS[unit]
    except (ValueError, KeyError):
        raise InputError(f"memory_budget must be a number of bytes or like '4GB', got {text!r}.") from None
