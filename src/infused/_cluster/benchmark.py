"""Cells of a benchmark on a cluster: one at a time on every worker."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import closing
from threading import Lock
from time import monotonic

from infused._cluster.tasks import ClusterError, DaskCluster, Done, Held, Running
from infused._runtime.messages import reason
from infused.bench.plan import Cell, Problem
from infused.bench.rows import Row, failed_rows
from infused.bench.workers import Finished, Memory, Take, Values, rows_or_failure
from infused.information.structural import Shared, sharing


class Workplace:
    """A problem on a worker, with what was computed from its last fold; one cell at a time.

    Methods that need the same information of a fold share it as long as the worker holds the problem. Clocks
    of CPU seconds and recorded warnings belong to a process, so its threads take turns.
    """

    def __init__(self, problem: Problem):
        self.problem = problem
        self._arrive()

    def __getstate__(self) -> Problem:
        return self.problem

    def __setstate__(self, problem: Problem) -> None:
        self.problem = problem
        self._arrive()

    def _arrive(self) -> None:
        self.shared, self.alone = Shared(), Lock()


def evaluate_on(cluster: DaskCluster, take: Take, problems: Mapping[str, Problem]) -> Generator[Finished]:
    """Yield every cell as it is finished, one at a time on each worker; leaving early leaves no task."""
    before: dict[str, Cell] = {}
    busy: set[str] = set()
    places: dict[str, Held] = {}
    shared: dict[str, Values] = {}

    def hand_out(running: Running) -> None:
        for worker in cluster.addresses():
            if worker in busy or (cell := take(before.get(worker))) is None:
                continue
            if cell.dataset not in places:
                places[cell.dataset] = cluster.put(Workplace(problems[cell.dataset]))
                shared[cell.dataset] = {}
            busy.add(worker)
            task = places[cell.dataset], cell, dict(shared[cell.dataset])
            running.add((cell, worker), evaluate_there, *task, worker=worker)

    with closing(Running(cluster)) as running:
        hand_out(running)
        for (cell, worker), done in running:
            rows, new, seconds = _outcome(cell, done)
            shared[cell.dataset].update(new)
            busy.discard(worker)
            before[worker] = cell
            hand_out(running)
            yield Finished(cell, rows, seconds)


def evaluate_there(place: Workplace, cell: Cell, shared: Values) -> tuple[list[Row], Values, float]:
    """Compute on a worker the rows of a cell, what other cells may use, and seconds."""
    memory = Memory(shared)
    with place.alone, sharing(place.shared):
        began = monotonic()
        rows = rows_or_failure(place.problem, cell, memory)
        return rows, memory.new, monotonic() - began


def _outcome(cell: Cell, done: Done) -> tuple[list[Row], Values, float]:
    """Return what came of a cell; where it cost workers their lives, that is its reason."""
    if isinstance(done.error, ClusterError):
        return failed_rows(cell, "failed", reason(done.error)), {}, 0.0
    found: tuple[list[Row], Values, float] = done.value()
    return found
