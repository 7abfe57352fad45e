"""Threads over compiled kernels and single-threaded BLAS calls.

The kernels release the interpreter lock, so plain threads run them side by side. Work is always cut in the
same pieces, whatever the number of threads, and each piece makes its BLAS calls on one thread: the result is
the same to the last bit for any ``n_jobs``, and nothing is oversubscribed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

from joblib import effective_n_jobs

from infused._runtime.blas import limit_this_thread, one_blas_thread

__all__ = ["Workers", "spans", "workers"]

Task = TypeVar("Task")
Result = TypeVar("Result")


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
    """Threads for one computation; ``n_jobs`` as in joblib, -1 for every core."""
    n_threads = effective_n_jobs(n_jobs)
    with one_blas_thread():
        if n_threads == 1:
            yield Workers(None)
            return
        with ThreadPoolExecutor(n_threads, "infused", initializer=limit_this_thread) as pool:
            yield Workers(pool)


def spans(length: int, width: int) -> list[slice]:
    """Cut ``range(length)`` into slices of ``width``; the last may be shorter."""
    return [slice(start, min(start + width, length)) for start in range(0, length, width)]
