"""Signals that end a program: helpers leave Ctrl-C to whoever started them, and an end is orderly."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["TerminatedError", "orderly_end", "sheltered_from_interrupts"]


class TerminatedError(SystemExit):
    """The process was told to end; temporary files are removed on the way."""

    code: int


@contextmanager
def orderly_end() -> Iterator[None]:
    """Raise `TerminatedError` where SIGTERM or SIGHUP would end the process at once."""
    known = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    here = threading.current_thread() is threading.main_thread()
    ours = [one for one in known if here and signal.getsignal(one) is signal.SIG_DFL]

    def end(number: int, frame: Any) -> None:
        for one in ours:  # whoever ends a process often says so twice
            signal.signal(one, signal.SIG_IGN)
        raise TerminatedError(128 + number)

    for one in ours:
        signal.signal(one, end)
    try:
        yield
    finally:
        for one in ours:
            signal.signal(one, signal.SIG_DFL)


@contextmanager
def sheltered_from_interrupts() -> Iterator[None]:
    """Processes and threads that are started inside do not see Ctrl-C, nor what they start in turn."""
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
