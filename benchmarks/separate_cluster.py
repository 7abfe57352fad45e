"""A Dask cluster whose scheduler is a process of its own, so that what passes through it can be counted."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
from distributed import Client

PATIENCE_S, STOPPING_S = 60, 10
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


@contextmanager
def separate_cluster(n_workers: int, memory_limit: str = "2GB") -> Iterator[Client]:
    """A client of a scheduler and of workers with one thread each, all on this machine alone."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scheduler.json"
        scheduler = ("dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
        workers = ("dask_worker", "--host", "127.0.0.1", "--nworkers", str(n_workers), "--nthreads", "1")
        limits = ("--memory-limit", memory_limit, "--no-dashboard", "--local-directory", folder)
        started = [start(*scheduler, "--dashboard-address", "127.0.0.1:0", "--scheduler-file", str(file))]
        try:
            started.append(start(*workers, *limits, "--scheduler-file", str(file)))
            with Client(scheduler_file=str(file), timeout=PATIENCE_S, set_as_default=False) as client:
                client.wait_for_workers(n_workers, timeout=PATIENCE_S)
                yield client
        finally:
            for process in reversed(started):
                stop(process)


def start(program: str, *options: str) -> subprocess.Popen[bytes]:
    """Start a scheduler or workers, quietly and with one thread for linear algebra."""
    command = [sys.executable, "-m", f"distributed.cli.{program}", *options]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen(command, env={**os.environ, **dict.fromkeys(ONE_THREAD, "1")}, **quiet)


def stop(process: subprocess.Popen[bytes]) -> None:
    """Ask it to end; what it started and left behind is ended in any case."""
    own = psutil.Process(process.pid).children(recursive=True) if process.poll() is None else []
    process.terminate()
    try:
        process.wait(STOPPING_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for one in psutil.wait_procs(own, timeout=1)[1]:
        one.kill()


def count_bytes(dask_scheduler: Any) -> None:
    """To be run on the scheduler: from now on, count what is read from and written to any connection."""
    from tornado.iostream import IOStream

    dask_scheduler.bytes_passed = 0
    if getattr(IOStream, "counted", False):
        return
    read, write = IOStream.read_from_fd, IOStream.write_to_fd

    def counted_read(self: Any, buffer: Any) -> Any:
        n = read(self, buffer)
        dask_scheduler.bytes_passed += n or 0
        return n

    def counted_write(self: Any, data: Any) -> Any:
        n = write(self, data)
        dask_scheduler.bytes_passed += n or 0
        return n

    IOStream.read_from_fd, IOStream.write_to_fd, IOStream.counted = counted_read, counted_write, True


def bytes_passed(dask_scheduler: Any) -> int:
    """To be run on the scheduler: the bytes since they are counted."""
    return int(dask_scheduler.bytes_passed)
