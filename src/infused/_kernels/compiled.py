"""How kernels are compiled: once, for one list of types, and kept on disk where there is a place for it.

A kernel says what it takes. Nothing is then compiled a second time because an array happens to be read-only,
as those of worker processes are, and a type that does not fit is an error rather than another wait.
"""

from __future__ import annotations

import atexit
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from tempfile import mkdtemp
from types import FunctionType
from typing import Any

from numba import config, njit, types

FOLDER = "INFUSED_KERNELS"  # names the folder of this process to its workers, where there is no other


def _given(dtype: Any, n_dimensions: int) -> Any:
    """Return the type of an array that is only read."""
    return types.Array(dtype, n_dimensions, "C", readonly=True)


def _filled(dtype: Any, n_dimensions: int) -> Any:
    """Return the type of an array that is written to."""
    return types.Array(dtype, n_dimensions, "C")


INTS, FLOATS, INT32S = _given(types.int64, 1), _given(types.float64, 1), _given(types.int32, 1)
INTS_2D, FLOATS_2D, WORDS_2D = _given(types.int64, 2), _given(types.float64, 2), _given(types.uint64, 2)
FLOATS_3D = _given(types.float64, 3)
INTS_OUT, FLOATS_OUT = _filled(types.int64, 1), _filled(types.float64, 1)
INTS_2D_OUT, FLOATS_2D_OUT = _filled(types.int64, 2), _filled(types.float64, 2)


def helper(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Mark a part of kernels: compiled with each, for the types that it is called with."""
    if function is None:
        return lambda function: helper(function, **options)
    return njit(nogil=True, error_model="numpy", **options)(function)


def compiled(*arguments: Any, returns: Any = types.void, **options: Any) -> Any:
    """Make a kernel of these arguments, compiled when its module is imported, or loaded from the disk.

    As a plain decorator, without arguments, it is compiled at its first call, for the types that it is given.

    The compiled code is kept beside the package, or in the user's cache folder. Where neither can be written,
    as in a container without a home, it is kept in a folder that lives as long as the process, for its
    workers; and without any place at all, not.
    """
    if len(arguments) == 1 and isinstance(arguments[0], FunctionType):
        return _kept(arguments[0], None, options)
    return lambda function: _kept(function, returns(*arguments), options)


def _kept(function: Callable[..., Any], signature: Any, options: dict[str, Any]) -> Any:
    def kernel(cache: bool) -> Any:
        return njit(signature, cache=cache, nogil=True, error_model="numpy", **options)(function)

    try:
        return kernel(cache=True)
    except RuntimeError:  # numba found no folder for its cache
        with suppress(OSError, RuntimeError), _folder_of_this_process():
            return kernel(cache=True)
        return kernel(cache=False)


@contextmanager
def _folder_of_this_process() -> Iterator[None]:
    """Let numba keep what it compiles in a folder of this process and its workers."""
    if FOLDER not in os.environ:
        os.environ[FOLDER] = mkdtemp(prefix="infused-")
        atexit.register(shutil.rmtree, os.environ[FOLDER], ignore_errors=True)
    before: Any = config.CACHE_DIR  # type: ignore[attr-defined]  # numba sets it from the environment
    vars(config)["CACHE_DIR"] = os.environ[FOLDER]
    try:
        yield
    finally:
        vars(config)["CACHE_DIR"] = before
