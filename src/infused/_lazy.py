"""Packages whose names are loaded when they are first used, so that importing them costs next to nothing."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

__all__ = ["lazy_names"]


def lazy_names(package: str, homes: dict[str, str]) -> Callable[[str], Any]:
    """A package's ``__getattr__``: ``homes`` says in which of its modules each name lives."""

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{homes[name]}"), name)

    return load
