"""Stages of a long computation as a bar on the terminal, once two seconds have passed."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import Lock, Timer
from time import perf_counter
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from infused.cli import terminal

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, Task

__all__ = ["PATIENCE", "Stages", "time_text"]

#: Seconds before a bar appears.
PATIENCE = 2.0


class Stages:
    """Names the stage that runs, measures it, and shows it; used as a context.

    ``report`` is the callback of :func:`infused._runtime.progress.reporting`.
    """

    def __init__(self, quiet: bool = False, console: Console | None = None, patience: float = PATIENCE):
        self.console = terminal.stderr() if console is None else console
        self.quiet = quiet
        self.timings: dict[str, float] = {}
        self._lock = Lock()
        self._progress: Progress | None = None
        self._task: Any = None
        self._message = ""
        self._warned: set[str] = set()
        self._timer = Timer(patience, self._show)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        if self.console.is_terminal and not self.quiet:
            self._progress = _bar(self.console)
            self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        with self._lock:
            if self._progress is not None:
                self._progress.stop()
                self._progress = None

    @contextmanager
    def stage(self, key: str, message: str) -> Iterator[None]:
        """Time what runs inside as ``timings[key]``; until it reports, the bar shows that something runs."""
        self._turn_to(message)
        start = perf_counter()
        with self._warnings_as_lines():
            yield
        self.timings[key] = self.timings.get(key, 0.0) + perf_counter() - start

    def report(self, fraction: float, message: str) -> None:
        """Move the bar to a fraction of the stage that the message names."""
        if message != self._message:
            self._turn_to(message)
        if self._progress is not None:
            self._progress.update(self._task, total=1.0, completed=fraction)

    def notes(self, sentences: Iterable[str]) -> None:
        """What the user should know of a result, unless told to be quiet."""
        for sentence in () if self.quiet else sentences:
            terminal.note(self.console, sentence)

    def _turn_to(self, message: str) -> None:
        self._message = message
        if self._progress is None:
            return
        if self._task is not None:
            self._progress.remove_task(self._task)
        # A new task, so that the time left is that of this stage.
        self._task = self._progress.add_task(message, total=None)

    def _show(self) -> None:
        with self._lock:
            if self._progress is not None:
                self._progress.start()

    @contextmanager
    def _warnings_as_lines(self) -> Iterator[None]:
        """Each warning that a user can act on, once and in one line, above the bar."""

        def show(message: Warning | str, *_: Any, **__: Any) -> None:
            line = " ".join(str(message).split())
            if line not in self._warned:
                self._warned.add(line)
                terminal.warn(self.console, line)

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = show
            yield


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
            left = None if task.finished else task.time_remaining
            return Text(time_text(task.elapsed or 0.0) if left is None else f"{time_text(left)} left")

    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=30),
        TaskProgressColumn(),
        Time(),
        console=console,
        transient=True,
    )


def time_text(seconds: float) -> str:
    """``42 s`` or ``3 min 5 s``."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
