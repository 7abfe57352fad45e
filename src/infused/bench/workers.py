"""Who evaluates cells: this process, or others that can be stopped at any moment.

joblib's workers cannot be stopped one by one, and a cell that takes too long or too much memory must not take
the others with it. So each worker here is a process of its own with a pipe, and one loop hands out cells,
collects rows, and looks at clocks and memory. Workers are started afresh (spawn);
they end when the process that started them ends, whichever way.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing import connection as pipes
from multiprocessing import get_context, parent_process
from time import monotonic
from typing import Any

from infused._runtime.processes import sheltered_from_interrupts
from infused._runtime.progress import reporting
from infused._runtime.threads import format_bytes, get_config, set_config
from infused.bench.plan import Cell, Problem
from infused.bench.rows import Row, Status, failed_rows
from infused.exceptions import InputError
from infused.information.structural import sharing

#: Gives the next cell for a worker that is free, told which one it had before; None is the end.
Take = Callable[[Cell | None], Cell | None]

#: Values that cells of an experiment share, such as the transform of a fold, by what they are of.
Values = dict[tuple[Any, ...], Any]

TICK_S = 0.1  # between two looks at clocks and memory
LONGEST_REASON = 300


@dataclass(frozen=True)
class Limits:
    """What one cell may take; None is no limit."""

    seconds: float | None = None
    """For the transform of its fold, which is the work of all methods, and again for its own work."""
    memory: int | None = None
    """Bytes of the whole worker, its libraries and the data included."""


@dataclass(frozen=True)
class Finished:
    """A cell and its rows, whether they hold results or the reason why there are none."""

    cell: Cell
    rows: list[Row]
    seconds: float
    """By the clock on the wall."""

    @property
    def status(self) -> Status:
        """Return how it ended."""
        status: Status = self.rows[0]["status"]
        return status


class Memory:
    """Values that cells share: those known before, and new ones."""

    def __init__(self, known: Values):
        self._known = known
        self.new: Values = {}

    def remember(self, key: tuple[Any, ...], compute: Callable[[], Any]) -> Any:
        """Return the value for a key; compute it where it is not known."""
        if key in self._known:
            return self._known[key]
        if key not in self.new:
            self.new[key] = compute()
        return self.new[key]


class Worker:
    """One process, and the cell that it has."""

    def __init__(self, limits: Limits, shared: Values):
        self._limits, self._shared = limits, shared
        self._process: Any = None
        self._problem: Problem | None = None
        self._began = 0.0
        self._since: float | None = None  # when the present stage of the work began
        self.cell: Cell | None = None
        self.before: Cell | None = None
        """The cell that it had last, whose data and information it may still have at hand."""
        self.pipe: Any = None

    def give(self, cell: Cell, problem: Problem) -> None:
        """Let it begin; send the data where it does not have them."""
        if self._process is None or not self._process.is_alive():
            self.stop()
            self._start()
        new = None if problem is self._problem else problem
        self.cell, self._problem = cell, problem
        self._began, self._since = monotonic(), None
        with suppress(OSError):  # it has died: collect() says so
            self.pipe.send((cell, new, self._shared))

    @property
    def signs(self) -> list[Any]:
        """Return what to wait for: a message, or its end."""
        return [self.pipe, self._process.sentinel]

    def collect(self) -> Finished | None:
        """Return what came of its cell, or None while it works."""
        assert self.cell is not None
        rows = self._received()
        if rows is None:
            excess = self._excess()
            if excess is None:
                return None
            self.stop()
            rows = failed_rows(self.cell, *excess)
        finished = Finished(self.cell, rows, monotonic() - self._began)
        self.before, self.cell = self.cell, None
        return finished

    def stop(self) -> None:
        """End the process now, whatever it does."""
        if self._process is None:
            return
        self._process.kill()
        self._process.join()
        self.pipe.close()
        self._process = self._problem = None

    def _start(self) -> None:
        context = get_context("spawn")
        self.pipe, theirs = context.Pipe()
        process = context.Process(target=work, args=(theirs, get_config()), daemon=True)
        with sheltered_from_interrupts():
            process.start()
        self._process = process  # not before: one that could not start cannot be stopped
        theirs.close()

    def _received(self) -> list[Row] | None:
        try:
            while self.pipe.poll():
                rows, new = self.pipe.recv()
                self._shared.update(new)
                if rows is not None:
                    return list(rows)
                if self._since is None:
                    self._began = monotonic()
                self._since = monotonic()
        except (EOFError, OSError):
            return self._died()
        return None if self._process.is_alive() else self._died()

    def _died(self) -> list[Row]:
        assert self.cell is not None
        self._process.join()
        code = self._process.exitcode
        self.stop()
        how = f"exit code {code}" if code >= 0 else f"signal {-code} ({signal.strsignal(-code)})"
        if self._since is None:
            raise InputError(
                f"A worker ended with {how} before it began: call this below if __name__ == '__main__'"
            )
        hint = "; systems do that when memory runs out" if code == -9 else ""
        return failed_rows(self.cell, "failed", f"its process ended with {how}{hint}")

    def _excess(self) -> tuple[Status, str] | None:
        """Return the limit that the cell has passed, if any."""
        seconds, memory = self._limits.seconds, self._limits.memory
        if seconds is not None and self._since is not None and monotonic() - self._since > seconds:
            return "timeout", f"took longer than {seconds:g} s"
        if memory is not None and _memory_of(self._process.pid) > memory:
            return "memory", f"took more than {format_bytes(memory)}"
        return None


def evaluate_here(take: Take, problems: Mapping[str, Problem]) -> Generator[Finished]:
    """Yield every cell as it is finished, evaluated in this process as a worker would."""
    memory, cell = Memory({}), None
    with sharing():
        while (cell := take(cell)) is not None:
            began = monotonic()
            rows = rows_or_failure(problems[cell.dataset], cell, memory)
            yield Finished(cell, rows, monotonic() - began)


def evaluate_all(
    take: Take, problems: Mapping[str, Problem], n_workers: int, limits: Limits
) -> Generator[Finished]:
    """Yield every cell as it is finished, whichever comes first; leaving early stops the workers."""
    shared: Values = {}
    workers = [Worker(limits, shared) for _ in range(n_workers)]
    limited = limits != Limits()
    try:
        while True:
            for worker in workers:
                if worker.cell is None and (cell := take(worker.before)) is not None:
                    worker.give(cell, problems[cell.dataset])
            busy = [worker for worker in workers if worker.cell is not None]
            if not busy:
                return
            signs = [sign for worker in busy for sign in worker.signs]
            pipes.wait(signs, timeout=TICK_S if limited else 10 * TICK_S)
            for worker in busy:
                finished = worker.collect()
                if finished is not None:
                    yield finished
    finally:
        for worker in workers:
            worker.stop()


def work(pipe: Any, config: dict[str, Any]) -> None:
    """Live as a worker: receive a cell, say so, say when the work of its method begins, send its rows.

    Each message has the rows, or None before there are any, and what was computed for other cells too.
    """
    threading.Thread(target=_end_with_parent, daemon=True).start()
    set_config(**config)
    problem: Any = None
    with sharing(), suppress(EOFError):
        while True:
            cell, new, shared = pipe.recv()
            problem = problem if new is None else new
            memory = Memory(shared)
            pipe.send((None, {}))
            begins = partial(pipe.send, (None, memory.new))  # with what is new when its own work begins
            rows = rows_or_failure(problem, cell, memory, begins)
            pipe.send((rows, memory.new))


def rows_or_failure(
    problem: Problem, cell: Cell, memory: Memory, began: Callable[[], Any] = lambda: None
) -> list[Row]:
    """Compute the rows of a cell; rows with the reason where something goes wrong.

    Linear algebra has one thread: workers share the processors already. A cell is one step of a run: the
    steps inside it are not reported.
    """
    from threadpoolctl import threadpool_limits

    from infused.bench.protocol import evaluate

    try:
        with threadpool_limits(limits=1), reporting(None):
            return evaluate(problem, cell, memory.remember, began)
    except MemoryError as error:
        return failed_rows(cell, "memory", _reason(error))
    except Exception as error:
        return failed_rows(cell, "failed", _reason(error))


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:LONGEST_REASON]


def _end_with_parent() -> None:
    """End this worker with its parent: one that was killed would have cells finished for nobody."""
    parent = parent_process()
    assert parent is not None
    pipes.wait([parent.sentinel])
    os._exit(1)


def _memory_of(pid: int) -> int:
    """Count the bytes that a process and those that it started hold."""
    import psutil

    try:
        process = psutil.Process(pid)
        return sum(one.memory_info().rss for one in (process, *process.children(recursive=True)))
    except psutil.NoSuchProcess:
        return 0
