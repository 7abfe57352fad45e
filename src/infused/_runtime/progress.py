"""Progress through one callback, which can also cancel.

Functions take it as an argument. What has a fixed signature, such as a selector's ``fit``, reports to the
callback of the :func:`reporting` block that it runs in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import perf_counter

from infused.exceptions import OperationCancelledError

__all__ = ["Overall", "ProgressCallback", "Stage", "current", "reporting", "timed"]

SHARE = 0.5  # of what is left, for a stage: how many will follow is not known

#: Called as ``callback(fraction, message)`` with a fraction in [0, 1] that never decreases. Returning False
#: cancels; any other value goes on. It is always called from the thread that started the computation.
ProgressCallback = Callable[[float, str], bool | None]

_current: ContextVar[ProgressCallback | None] = ContextVar("infused_progress", default=None)


@contextmanager
def reporting(callback: ProgressCallback | None) -> Iterator[None]:
    """Let every stage that starts inside report to ``callback``, unless it was given one of its own."""
    token = _current.set(callback)
    try:
        yield
    finally:
        _current.reset(token)


def current() -> ProgressCallback | None:
    """The callback of the block that this runs in."""
    return _current.get()


class Overall:
    """Makes of the fractions of one stage after the other one fraction of the whole, which never falls."""

    def __init__(self, callback: ProgressCallback):
        self._callback = callback
        self._message, self._last = "", 0.0
        self._start = self._reached = 0.0

    def __call__(self, fraction: float, message: str) -> bool | None:
        """The fraction of a stage that the message names."""
        if message != self._message or fraction < self._last:  # another one, or the same anew
            self._message, self._start = message, self._reached
        self._last = fraction
        self._reached = max(self._reached, self._start + SHARE * (1.0 - self._start) * fraction)
        return self._callback(self._reached, message)

    def finish(self) -> None:
        """All is done."""
        self._reached = 1.0
        self._callback(1.0, "done")


class Stage:
    """One stage of a computation: ``total`` steps that fill the fractions from ``start`` to ``stop``.

    Without a callback it reports to that of :func:`reporting`, if there is one.
    """

    def __init__(
        self,
        callback: ProgressCallback | None,
        message: str,
        total: float,
        start: float = 0.0,
        stop: float = 1.0,
    ):
        self._callback = callback or _current.get()
        self._message = message
        self._total = max(total, 1)
        self._start, self._stop = start, stop
        self._done = 0.0
        self._report()

    def advance(self, steps: float = 1) -> None:
        """Tell the callback that ``steps`` more are done; raise if it cancels."""
        self._done += steps
        self._report()

    def _report(self) -> None:
        if self._callback is None:
            return
        share = min(self._done / self._total, 1.0)
        fraction = self._stop if share == 1.0 else self._start + share * (self._stop - self._start)
        if self._callback(fraction, self._message) is False:
            raise OperationCancelledError(f"cancelled while {self._message} ({fraction:.0%} done).")


@contextmanager
def timed(timings: dict[str, float], key: str, message: str) -> Iterator[None]:
    """Report ``message`` as a stage that starts, and add the seconds that the block took to ``timings[key]``.

    Seconds of the same key add up; those of a block that failed count too.
    """
    Stage(None, message, 1)
    start = perf_counter()
    try:
        yield
    finally:
        timings[key] = timings.get(key, 0.0) + perf_counter() - start
