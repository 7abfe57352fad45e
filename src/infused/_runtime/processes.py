"""Other processes: independent tasks, shelter from Ctrl-C, files tried where a crash does no harm."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from contextvars import ContextVar
from pathlib import Path
from threading import Lock
from typing import Any, Protocol, TypeVar

from infused._runtime.messages import quoted
from infused.exceptions import InputError

Task = TypeVar("Task")
Result = TypeVar("Result")


class Cluster(Protocol):
    """The work that rooms hand to a cluster, so that none of them knows Dask."""

    def each(
        self, function: Callable[..., Result], tasks: Iterable[Task], data: tuple[Any, ...]
    ) -> Generator[Result]:
        """Compute ``function(*data, task)`` of every task, in their order."""

    def information(self, X: Any, y: Any, graph: Any, target: Any, options: Any) -> Any:
        """Return the structural information of X, whose tiles the workers compute."""

    def fit(self, selector: Any, X: Any, y: Any, **given: Any) -> None:
        """Fit a linear selector to an array of Dask."""

    def evaluate(self, take: Any, problems: Mapping[str, Any]) -> Generator[Any]:
        """Evaluate the cells of a benchmark, one at a time on every worker."""

    def n_workers(self) -> int:
        """Count the workers; wait for the first."""


current: ContextVar[Cluster | None] = ContextVar("infused_cluster", default=None)


def current_cluster() -> Cluster | None:
    """Return the cluster of the block that this runs in, if there is one."""
    return current.get()


def is_collection(value: Any) -> bool:
    """Return whether something is an array of Dask, or another of its collections; without loading Dask."""
    return hasattr(value, "__dask_graph__")


def each(
    function: Callable[..., Result], tasks: Iterable[Task], *data: Any, n_jobs: int | None = None
) -> Generator[Result]:
    """Compute ``function(*data, task)`` of every task, in their order.

    Inside ``infused.cluster(client)`` the tasks run there, on data that are sent once, to the workers
    directly. Else they run in ``n_jobs`` processes, as joblib counts them; one runs here. Leaving early stops
    what has not begun.
    """
    cluster = current_cluster()
    if cluster is not None:
        yield from cluster.each(function, tasks, data)
        return
    from joblib import Parallel, delayed, effective_n_jobs

    from infused._runtime.threads import configured, get_config

    if effective_n_jobs(n_jobs) == 1:
        yield from (function(*data, task) for task in tasks)
        return
    jobs = (delayed(configured)(get_config(), function, *data, task) for task in tasks)
    with closing(Parallel(n_jobs=n_jobs, return_as="generator")(jobs)) as results:
        yield from results


@contextmanager
def sheltered_from_interrupts() -> Iterator[None]:
    """Shelter processes and threads that are started inside from Ctrl-C, and what they start in turn."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    # Its start, on the way to the first process, would let the signal through again.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


Content = TypeVar("Content")

BRIEF_S, PATIENCE_S = 5.0, 30.0  # for a copy of this process, and for a new one
BYTES_PER_S = 10**6  # the slowest reading that is waited for
CRASHES, HANGS = "reading it crashes", "reading it does not end"
READ = "import pickle, sys; sys.path[:] = pickle.load(sys.stdin.buffer); pickle.load(sys.stdin.buffer)()"

_turn = Lock()


def _after_fork() -> None:
    """Give a child a lock of its own: the thread that held this one stayed behind."""
    global _turn
    _turn = Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def read_tried(read: Callable[[], Content], path: Path, what: str) -> Content:
    """Read a file after another process has tried to; one thread at a time.

    A copy of this process would wait for ever for a lock of the library that another reading thread held.
    """
    with _turn:
        try_first(read, path, what)
        return read()


def try_first(read: Callable[[], object], path: Path, what: str) -> None:
    """Refuse a file on which ``read``, which can be pickled, crashes or hangs in another process.

    A copy of this process is quick to make, but lacks the threads that may hold locks: where it fails, a new
    one decides. Errors are left to who reads the file next. Where processes cannot be copied (Windows),
    nothing is tried.
    """
    if not hasattr(os, "fork"):
        return
    longest = path.stat().st_size / BYTES_PER_S
    failed = _in_copy(read, BRIEF_S + longest)
    if failed is not None and sys.executable:
        failed = _in_new(read, PATIENCE_S + longest)
    if failed is not None:
        raise InputError(f"{quoted(path)} could not be read as {what}: it is damaged, and {failed}")


def _in_copy(read: Callable[[], object], seconds: float) -> str | None:
    """Return how a copy of this process fails; None where it does not."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks of processes with threads
        child = os.fork()
    if child == 0:
        _read_and_end(read)
    code = _waited(child, seconds)
    if code is None:
        return HANGS
    return CRASHES if os.WIFSIGNALED(code) else None


def _in_new(read: Callable[[], object], seconds: float) -> str | None:
    """Return how a new process fails; None where it does not."""
    given, nowhere = pickle.dumps(sys.path) + pickle.dumps(read), subprocess.DEVNULL
    command = [sys.executable, "-P", "-c", READ]  # -P: no module of the working folder
    try:
        ended = subprocess.run(command, input=given, stdout=nowhere, stderr=nowhere, timeout=seconds)
    except subprocess.TimeoutExpired:
        return HANGS
    return CRASHES if ended.returncode < 0 else None


def _read_and_end(read: Callable[[], object]) -> None:
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        read()
    finally:
        os._exit(0)


def _waited(child: int, seconds: float) -> int | None:
    """Wait for a process; return how it ended, or None where it had to be killed."""
    end, pause = time.monotonic() + seconds, 0.001
    while time.monotonic() < end:
        found, code = os.waitpid(child, os.WNOHANG)
        if found:
            return code
        time.sleep(pause)
        pause = min(2 * pause, 0.05)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return None
