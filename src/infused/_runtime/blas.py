"""One BLAS thread for each of our threads.

Libraries on OpenMP keep their number of threads per thread, the others per process. The first kind is limited
in every thread. For the second, when computations overlap, only the first may save the old limit and only the
last may restore it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

from joblib import effective_n_jobs
from threadpoolctl import OpenBLASController, ThreadpoolController, threadpool_limits

__all__ = ["blas_threads", "limit_this_thread", "one_blas_thread"]

_lock = Lock()
_users = 0
_limiter: Any = None


@contextmanager
def blas_threads(n_jobs: int | None) -> Iterator[None]:
    """At most ``n_jobs`` BLAS threads, as joblib counts them; None leaves BLAS as it is."""
    if n_jobs is None:
        yield
        return
    with threadpool_limits(limits=effective_n_jobs(n_jobs), user_api="blas"):
        yield


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS in this thread and in the process, as long as any computation runs."""
    with limit_this_thread():
        _enter()
        try:
            yield
        finally:
            _leave()


def limit_this_thread() -> Any:
    """Limit the libraries whose limit belongs to a thread; restored when used as a context."""
    per_thread, _ = _libraries()
    return per_thread.limit(limits=1)


def _enter() -> None:
    global _users, _limiter
    with _lock:
        if _users == 0:
            _limiter = _libraries()[1].limit(limits=1)
        _users += 1


def _leave() -> None:
    global _users
    with _lock:
        _users -= 1
        if _users == 0:
            _limiter.restore_original_limits()
        _give_up_control()


def _give_up_control() -> None:
    """Newer versions of threadpoolctl let only the thread that set a limit change it, until it lets go."""
    let_go = getattr(OpenBLASController, "clear_controlling_thread", None)
    if let_go is not None:
        let_go()


@cache
def _libraries() -> tuple[ThreadpoolController, ThreadpoolController]:
    """BLAS libraries that are limited per thread, and per process; looking for them takes milliseconds."""
    blas = ThreadpoolController().select(user_api="blas")
    per_thread = blas.select(threading_layer="openmp")
    known = per_thread.lib_controllers
    per_process = [library.filepath for library in blas.lib_controllers if library not in known]
    return per_thread, blas.select(filepath=per_process)
