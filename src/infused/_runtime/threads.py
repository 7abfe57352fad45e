"""Threads, and the settings that all of them see."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from functools import cache, partial
from math import inf
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

import psutil
from joblib import effective_n_jobs
from threadpoolctl import OpenBLASController, ThreadpoolController

from infused.exceptions import InputError, MemoryBudgetError

Task = TypeVar("Task")
Result = TypeVar("Result")

_lock = Lock()
_active: list[int] = []  # limits of the computations that run now
_before: Any = None  # what restores the limits from before the first of them


def _after_fork() -> None:
    """Give a child a lock of its own: one that another thread held in the parent would never be free again.

    Limits stay as they were at that moment, so that results do, too.
    """
    global _lock
    _lock = Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property as cached_property
else:

    class cached_property(functools.cached_property):  # noqa: N801  # the name that everyone knows
        """Compute an attribute when first asked for, without the lock that Python 3.11 holds meanwhile."""

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            if instance is None:
                return self
            value = vars(instance)[self.attrname] = self.func(instance)
            return value


class Workers:
    """A fixed number of threads that apply one function to many tasks, in order."""

    def __init__(self, pool: ThreadPoolExecutor | None):
        self._pool = pool

    def map(self, function: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
        """Yield ``function(task)`` in the order of the tasks; the first error stops the rest."""
        if self._pool is None:
            yield from map(function, tasks)
            return
        futures: list[Future[Result]] = [self._pool.submit(function, task) for task in tasks]
        try:
            for future in futures:
                yield future.result()
        finally:
            for future in futures:
                future.cancel()

    def run(self, function: Callable[[Task], Any], tasks: Iterable[Task]) -> None:
        """Apply the function to every task and wait for all of them."""
        for _ in self.map(function, tasks):
            pass


@contextmanager
def workers(n_jobs: int | None) -> Iterator[Workers]:
    """Start threads for one computation; ``n_jobs`` as in joblib, -1 for every core."""
    n_threads = effective_n_jobs(n_jobs)
    with one_blas_thread():
        if n_threads == 1:
            yield Workers(None)
            return
        begin = partial(_begin_thread, _settings())
        with ThreadPoolExecutor(n_threads, "infused", initializer=begin) as pool:
            yield Workers(pool)


def spans(length: int, width: int) -> list[slice]:
    """Cut ``range(length)`` into slices of ``width``; the last may be shorter."""
    return [slice(start, min(start + width, length)) for start in range(0, length, width)]


@contextmanager
def blas_threads(n_jobs: int | None) -> Iterator[None]:
    """Limit BLAS to ``n_jobs`` threads, as joblib counts them; None leaves BLAS as it is."""
    if n_jobs is None:
        yield
        return
    with _limited(effective_n_jobs(n_jobs)):
        yield


def one_blas_thread() -> AbstractContextManager[None]:
    """Limit BLAS in this thread and in the process, as long as any computation runs."""
    return _limited(1)


@contextmanager
def _limited(n_threads: int) -> Iterator[None]:
    global _before
    per_thread, per_process = _libraries()
    with per_thread.limit(limits=n_threads):
        with _lock:
            _active.append(n_threads)
            limiter = per_process.limit(limits=min(_active))
            _before = limiter if len(_active) == 1 else _before
            _give_up_control()
        try:
            yield
        finally:
            with _lock:
                _active.remove(n_threads)
                if _active:
                    per_process.limit(limits=min(_active))
                else:
                    _before.restore_original_limits()
                _give_up_control()


def _begin_thread(settings: Settings) -> None:
    """Take over the settings, and limit the libraries whose limit belongs to a thread."""
    _own.set(settings)
    _libraries()[0].limit(limits=1)


def _give_up_control() -> None:
    """Give up control of the limit, which newer versions of threadpoolctl leave to the thread that set it."""
    let_go = getattr(OpenBLASController, "clear_controlling_thread", None)
    if let_go is not None:
        let_go()


@cache
def _libraries() -> tuple[ThreadpoolController, ThreadpoolController]:
    """Find BLAS libraries that are limited per thread, and per process, once: it takes milliseconds."""
    blas = ThreadpoolController().select(user_api="blas")
    per_thread = blas.select(threading_layer="openmp")
    known = per_thread.lib_controllers
    per_process = [library.filepath for library in blas.lib_controllers if library not in known]
    return per_thread, blas.select(filepath=per_process)


DEFAULT_FRACTION = 0.5
ENVIRONMENT_VARIABLE = "INFUSED_MEMORY"
_UNITS = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}


@dataclass(frozen=True)
class Settings:
    """Settings of the library; :func:`config_context` describes them."""

    memory_budget: int | float | str | None = None


# A context belongs to the thread that entered it, and to the threads and workers that are started for its
# calls. A thread that somebody else started has none of its own: it takes the last one that was entered.
_own: ContextVar[Settings] = ContextVar("infused_settings")
_entered: list[Settings] = [Settings()]


def _settings() -> Settings:
    return _own.get(_entered[-1])


@contextmanager
def config_context(*, memory_budget: int | float | str | None) -> Iterator[None]:
    """Set options of the library for the calls inside a block.

    Threads that are started inside see them, and so do the workers of a cluster.

    Parameters
    ----------
    memory_budget : int, float, str or None
        Bytes (or a text such as ``"4GB"``) that one array of a computation may take, beside the data that it
        is given. What would take more is done in tiles or without U where that is possible, and refused where
        it is not. None takes the environment variable ``INFUSED_MEMORY``, and without it half of the memory
        that is free.

    Yields
    ------
    None
        Calls inside the block use the options.

    See Also
    --------
    set_config : Sets them for good.
    get_config : Tells what they are.

    Examples
    --------
    >>> import infused
    >>> with infused.config_context(memory_budget="1GB"):
    ...     infused.get_config()
    {'memory_budget': '1GB'}
    """
    settings = _checked(memory_budget)
    token = _own.set(settings)
    _entered.append(settings)
    try:
        yield
    finally:
        # Contexts of other threads may have been entered since, so it need not be the last.
        del _entered[max(n for n, one in enumerate(_entered) if one is settings)]
        _own.reset(token)


def set_config(*, memory_budget: int | float | str | None) -> None:
    """Set options of the library for all calls from now on, outside of every :func:`config_context`.

    Parameters
    ----------
    memory_budget : int, float, str or None
        As :func:`config_context` takes it.

    See Also
    --------
    config_context : Sets them for some calls.

    Examples
    --------
    >>> import infused
    >>> infused.set_config(memory_budget=None)
    """
    _entered[0] = _checked(memory_budget)


def get_config() -> dict[str, Any]:
    """Return the options of the library.

    Returns
    -------
    dict of str to object
        The arguments that :func:`config_context` would have here.

    See Also
    --------
    config_context : Sets them for some calls.

    Examples
    --------
    >>> import infused
    >>> infused.get_config()
    {'memory_budget': None}
    """
    return asdict(_settings())


def configured(config: dict[str, Any], function: Callable[..., Result], *arguments: Any) -> Result:
    """Call a function with the options that another process or thread had."""
    with config_context(**config):
        return function(*arguments)


def _checked(memory_budget: int | float | str | None) -> Settings:
    if memory_budget is not None:
        in_bytes(memory_budget)
    return Settings(memory_budget)


def memory_budget() -> int:
    """Return the bytes that one array may take."""
    budget = _settings().memory_budget
    budget = os.environ.get(ENVIRONMENT_VARIABLE) if budget is None else budget
    return int(DEFAULT_FRACTION * psutil.virtual_memory().available) if budget is None else in_bytes(budget)


def in_bytes(budget: int | float | str) -> int:
    """Return a number of bytes, which may be written like ``"4GB"``."""
    size = _parse(budget) if isinstance(budget, str) else budget
    if isinstance(size, bool) or not isinstance(size, int | float) or not size > 0 or size == inf:
        raise InputError(f"memory_budget must be a positive number of bytes or like '4GB', got {budget!r}.")
    return int(size)


def require(n_bytes: int, budget: int, what: str, instead: str) -> None:
    """Raise before anything is allocated when ``what`` would pass the budget."""
    if n_bytes > budget:
        raise MemoryBudgetError(
            f"{what} needs {format_bytes(n_bytes)}, more than the memory budget of {format_bytes(budget)}: "
            f"{instead}, or raise memory_budget (or {ENVIRONMENT_VARIABLE})."
        )


def format_bytes(n_bytes: float) -> str:
    """Write bytes for people: ``format_bytes(80_000_000_000)`` is ``'80 GB'``."""
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
