"""Progress through one callback, which can also cancel.

Functions take it as an argument. What has a fixed signature, such as a selector's ``fit``, reports to the
callback of the :func:`reporting` block that it runs in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock, Timer
from time import perf_counter
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from infused._runtime.messages import extra
from infused.exceptions import OperationCancelledError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, Task
    from rich.text import Text

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
    """Return the callback of the block that this runs in."""
    return _current.get()


class Overall:
    """Makes of the fractions of one stage after the other one fraction of the whole, which never falls."""

    def __init__(self, callback: ProgressCallback):
        self._callback = callback
        self._message, self._last = "", 0.0
        self._start = self._reached = 0.0

    def __call__(self, fraction: float, message: str) -> bool | None:
        """Report the fraction of a stage that the message names."""
        if message != self._message or fraction < self._last:  # another one, or the same anew
            self._message, self._start = message, self._reached
        self._last = fraction
        self._reached = max(self._reached, self._start + SHARE * (1.0 - self._start) * fraction)
        return self._callback(self._reached, message)

    def finish(self) -> None:
        """Report that all is done."""
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


#: Seconds before a bar appears.
PATIENCE = 2.0


@contextmanager
def progress(callback: ProgressCallback | None = None, *, patience: float = 0.5) -> Iterator[None]:
    """Show how far whatever runs inside is.

    Parameters
    ----------
    callback : callable or None, default=None
        Called as ``callback(fraction, message)`` with a fraction from 0 to 1 that never falls: what is known
        beforehand of all stages inside, and 1 at the end. Return False to cancel. None draws a bar, for one
        stage after the other: in a terminal, or in a notebook.
    patience : float, default=0.5
        Seconds before the bar appears.

    Yields
    ------
    None
        Everything inside that takes long reports: fits, :func:`select`, :func:`compare`, U.

    Raises
    ------
    OperationCancelledError
        Where the callback returns False.

    See Also
    --------
    select : From data to selected features in one call.

    Notes
    -----
    Selectors also take scikit-learn's callbacks where the installed version has them (1.9 and newer), such as
    ``InFusedLasso().set_callbacks(sklearn.callback.ProgressBar())``.

    Examples
    --------
    >>> import infused
    >>> from sklearn.datasets import load_wine
    >>> seen = []
    >>> with infused.progress(lambda fraction, message: seen.append(fraction)):
    ...     selector = infused.InFusedLasso(n_features_to_select=3).fit(*load_wine(return_X_y=True))
    >>> seen == sorted(seen), seen[-1]
    (True, 1.0)
    """
    if callback is None:
        console = extra("rich.console").Console(stderr=True, highlight=False, markup=False, emoji=False)
        with StageBar(console, patience) as bar, reporting(bar.report):
            yield
        return
    overall = Overall(callback)
    with reporting(overall):
        yield
    overall.finish()


class StageBar:
    """The bar, as a context; drawn where somebody looks, after some seconds."""

    def __init__(self, console: Console, patience: float = PATIENCE):
        self._console = console
        self._lock = Lock()
        self._bar: Progress | None = None
        self._task: Any = None
        self._message = ""
        self._timer = Timer(patience, self._show)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        if self._console.is_terminal or self._console.is_jupyter:
            self._bar = _bar(self._console)
            self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        with self._lock:
            if self._bar is not None:
                self._bar.stop()
                self._bar = None

    @property
    def drawn(self) -> bool:
        """Return whether there is a bar, or will be."""
        return self._bar is not None

    def report(self, fraction: float, message: str) -> None:
        """Move the bar to a fraction of the stage that the message names."""
        if self._bar is None:
            return
        if message != self._message:
            self._message = message
            if self._task is not None:
                self._bar.remove_task(self._task)
            # A new task, so that the time left is that of this stage.
            self._task = self._bar.add_task(message, total=None)
        self._bar.update(self._task, total=1.0 if fraction > 0 else None, completed=fraction)

    def _show(self) -> None:
        with self._lock:
            if self._bar is not None:
                self._bar.start()


def _bar(console: Console) -> Progress:
    from rich.progress import (
        BarColumn,
        Progress,
        ProgressColumn,
        SpinnerColumn,
        TaskProgressColumn,
        TextColumn,
    )
    from rich.text import Text

    class Time(ProgressColumn):
        """The time left, or as long as it is not known the time that has passed."""

        max_refresh = 0.5  # seconds, so that the figure can be read

        def render(self, task: Task) -> Text:
            elapsed, done = task.elapsed or 0.0, task.completed
            if task.finished or not task.total or done <= 0:
                return Text(time_text(elapsed))
            return Text(f"{time_text(seconds_left(elapsed, done / task.total))} left")

    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=30),
        TaskProgressColumn(),
        Time(),
        console=console,
        transient=True,
    )


def seconds_left(elapsed: float, fraction: float) -> float:
    """Estimate the time left from the mean pace so far; it grows while a step takes longer than others.

    >>> from infused._runtime.progress import seconds_left
    >>> seconds_left(30.0, 0.75), seconds_left(600.0, 0.75)
    (10.0, 200.0)
    """
    return elapsed * (1.0 - fraction) / fraction


def time_text(seconds: float) -> str:
    """Write a time span for people.

    >>> from infused._runtime.progress import time_text
    >>> time_text(42), time_text(185), time_text(90_000)
    ('42 s', '3 min 5 s', '25 h')
    """
    if seconds >= 6000:
        return f"{seconds / 3600:.0f} h"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
