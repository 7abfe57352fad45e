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
from functools import partial
from tempfile import mkdtemp
from typing import Annotated, Any, get_type_hints

from numba import config, njit, types

from infused._typing import Array, Floats, Ints

FOLDER = "INFUSED_KERNELS"  # names the folder of this process to its workers, where there is no other


def _given(dtype: Any, n_dimensions: int) -> Any:
    """Return the type of an array that is only read."""
    return types.Array(dtype, n_dimensions, "C", readonly=True)


def _filled(dtype: Any, n_dimensions: int) -> Any:
    """Return the type of an array that is written to."""
    return types.Array(dtype, n_dimensions, "C")


INTS = Annotated[Ints, _given(types.int64, 1)]
FLOATS = Annotated[Floats, _given(types.float64, 1)]
INT32S = Annotated[Array, _given(types.int32, 1)]
INTS_2D = Annotated[Ints, _given(types.int64, 2)]
FLOATS_2D = Annotated[Floats, _given(types.float64, 2)]
WORDS_2D = Annotated[Array, _given(types.uint64, 2)]
FLOATS_3D = Annotated[Floats, _given(types.float64, 3)]
INTS_OUT = Annotated[Ints, _filled(types.int64, 1)]
FLOATS_OUT = Annotated[Floats, _filled(types.float64, 1)]
INTS_2D_OUT = Annotated[Ints, _filled(types.int64, 2)]
FLOATS_2D_OUT = Annotated[Floats, _filled(types.float64, 2)]
FLOATS_3D_OUT = Annotated[Floats, _filled(types.float64, 3)]

SCALARS = {int: types.int64, float: types.float64, bool: types.boolean, type(None): types.void}


def helper(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Mark a part of kernels: compiled with each, for the types that it is called with."""
    if function is None:
        return lambda function: helper(function, **options)
    return njit(nogil=True, error_model="numpy", **options)(function)


def compiled(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Make a kernel of the types that its annotations name, compiled when its module is imported, or loaded.

    Where an annotation names none, it is compiled at its first call, for the types that it is given.

    The compiled code is kept beside the package, or in the user's cache folder. Where neither can be written,
    as in a container without a home, it is kept in a folder that lives as long as the process, for its
    workers; and without any place at all, not.
    """
    if function is None:
        return partial(compiled, **options)
    return _kept(function, _signature(function), options)


def _signature(function: Callable[..., Any]) -> Any:
    """Read the types of a kernel from its annotations; None where one names no type of numba."""
    hints = get_type_hints(function, {**function.__globals__, **globals()}, include_extras=True)
    kinds: list[Any] = [
        SCALARS.get(hint) or getattr(hint, "__metadata__", (None,))[0] for hint in hints.values()
    ]
    return None if None in kinds else kinds[-1](*kinds[:-1])


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
