"""Libraries that end the process, or never end, on damaged bytes: tried in a process of their own first."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path

from infused._runtime.messages import quoted
from infused.exceptions import InputError

__all__ = ["try_first"]

PATIENCE_S = 30.0
BYTES_PER_S = 10**6  # the slowest reading that is waited for


def try_first(read: Callable[[], object], path: Path, what: str) -> None:
    """Refuse a file on which reading it crashes or hangs, as a copy of this process finds out.

    Errors are left to who reads it next. Where processes cannot be copied (Windows), nothing is tried.
    """
    if not hasattr(os, "fork"):
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # other threads hold nothing that reading needs
        child = os.fork()
    if child == 0:
        _read_and_end(read)
    code = _waited(child, PATIENCE_S + path.stat().st_size / BYTES_PER_S)
    if code is None or os.WIFSIGNALED(code):
        why = "reading it does not end" if code is None else "reading it crashes"
        raise InputError(f"{quoted(path)} could not be read as {what}: it is damaged, and {why}")


def _read_and_end(read: Callable[[], object]) -> None:
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        read()
    finally:
        os._exit(0)


def _waited(child: int, seconds: float) -> int | None:
    """How a process ended; None where it had to be killed."""
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
