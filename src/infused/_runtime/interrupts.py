"""Ctrl-C reaches every process of a terminal; helpers leave it to the one that started them."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["sheltered_from_interrupts"]


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
