"""Peak memory of a task, measured in a child process of its own, which can be stopped."""

from __future__ import annotations

import faulthandler
import os
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter
from typing import Any

import psutil
from joblib.externals.loky import get_reusable_executor

MIB = 2**20
Prepare = Callable[..., tuple[Any, ...]]
Task = Callable[..., Any]


@dataclass(frozen=True)
class Measured:
    """What a task returned, and the memory that its process took."""

    result: Any
    peak_mib: float
    """Peak of the whole process: interpreter, libraries, data and task."""
    added_mib: float
    """Peak above what was resident when the data had been loaded, just before the task began."""


def measure_in_child(prepare: Prepare, task: Task, *args: Any) -> Measured:
    """Run `task(*prepare(*args))` in a fresh process; both are functions of an importable module."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_measure, prepare, task, args).result()


def measure_within(limit: float, prepare: Prepare, task: Task, *args: Any) -> Measured:
    """`measure_in_child`, but a task that takes more than `limit` seconds is stopped: TimeoutError."""
    start = perf_counter()
    try:
        return measure_in_child(prepare, partial(stop_after, limit, task), *args)
    except BrokenProcessPool:
        if perf_counter() - start > limit:
            raise TimeoutError(f"stopped after {limit:,.0f} s") from None
        raise MemoryError("its process was killed, most likely for want of memory") from None


def stop_after(limit: float, task: Callable[..., Any], *data: Any) -> Any:
    """Run a task, or end this process when the time is up, be it in the middle of a compiled function."""
    with Path(os.devnull).open("w") as nowhere:
        faulthandler.dump_traceback_later(limit, exit=True, file=nowhere)
        try:
            return task(*data)
        finally:
            faulthandler.cancel_dump_traceback_later()
            # Processes that joblib has started would keep this one waiting for five minutes.
            get_reusable_executor().shutdown(kill_workers=True)


def _measure(prepare: Prepare, task: Task, args: tuple[Any, ...]) -> Measured:
    data = prepare(*args)
    before = psutil.Process().memory_info().rss
    result = task(*data)
    peak = peak_bytes()
    return Measured(result, peak / MIB, (peak - before) / MIB)


def peak_bytes() -> int:
    """Largest resident size that this process has had.

    On Linux from VmHWM, not from getrusage: there ru_maxrss survives exec, so that a child of a large process
    starts with its parent's peak.
    """
    if sys.platform == "win32":
        return int(psutil.Process().memory_info().peak_wset)
    if sys.platform == "linux":
        fields = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
        return int(fields["VmHWM"].split()[0]) * 1024
    import resource  # absent on Windows

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # bytes on macOS
