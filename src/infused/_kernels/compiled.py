"""How kernels are compiled: without the interpreter lock, and kept on disk where there is a place for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit

__all__ = ["compiled"]


def compiled(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """numba's ``njit``; used as it is, or with further options of ``njit``.

    The compiled code is kept beside the package, or in the user's cache folder. Where neither can be written,
    as in a container without a home, it is compiled anew in every process.
    """
    if function is None:
        return lambda function: compiled(function, **options)
    try:
        return njit(cache=True, nogil=True, **options)(function)
    except RuntimeError:  # numba found no folder for its cache
        return njit(nogil=True, **options)(function)
