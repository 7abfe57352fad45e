"""How far a benchmark is: a bar with the time left on a terminal, else a line for every finished cell."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from infused.cli import terminal

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

    from infused.bench import Progress

__all__ = ["Watch", "duration"]


class Watch:
    """Shows progress on stderr; used as a context. ``show`` is the callback of `run_experiment`."""

    def __init__(self, quiet: bool = False):
        self._quiet = quiet
        self._console = terminal.stderr()
        self._bar: Bar | None = None
        self._task: Any = None

    def __enter__(self) -> Self:
        if self._console.is_terminal and not self._quiet:
            self._bar = _bar(self._console)
            self._task = self._bar.add_task("benchmark", total=None, left="")
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def show(self, progress: Progress) -> None:
        """One more cell is finished."""
        cell, status = progress.finished.cell, progress.finished.status
        if self._bar is not None:
            self._bar.update(
                self._task,
                total=progress.total,
                completed=progress.done,
                description=f"{terminal.printable(cell.dataset)}, {cell.method}",
                left=f"{duration(progress.seconds_left)} left",
            )
        if self._quiet or (self._bar is not None and status == "ok"):
            return
        line = f"{cell.describe()}: {_result(progress)} ({progress.finished.seconds:.1f} s); "
        line += f"{progress.done:,} of {progress.total:,}, {duration(progress.seconds_left)} left"
        self._console.print(line, soft_wrap=True, style=None if status == "ok" else "yellow")


def duration(seconds: float) -> str:
    """A time span for people.

    >>> duration(50), duration(700), duration(90000)
    ('50 s', '12 min', '25 h')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.0f} h"


def _result(progress: Progress) -> str:
    rows = progress.finished.rows
    if progress.finished.status != "ok":
        return f"{progress.finished.status}, {rows[0]['reason']}"
    metric = "accuracy" if rows[0]["accuracy"] is not None else "r2"
    best = max(rows, key=lambda row: row[metric])
    value = f"{best[metric]:.1%}" if metric == "accuracy" else f"R² {best[metric]:.3f}"
    return f"{value} at k = {best['k']}"


def _bar(console: Any) -> Bar:
    from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TextColumn
    from rich.progress import Progress as Bar

    return Bar(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TextColumn("{task.fields[left]}", markup=False),
        console=console,
        transient=True,
    )
