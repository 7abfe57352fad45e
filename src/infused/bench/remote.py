"""Cells on a cluster: rows and what cells share come back to this process, which alone writes the store."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import closing
from threading import Lock
from time import monotonic
from typing import Any

from infused._runtime.cluster import Cluster, ClusterError, Done, Held, Running
from infused._runtime.messages import reason
from infused.bench.plan import Cell, Problem, content_key
from infused.bench.store import Row, Store, failed_rows
from infused.bench.workers import Finished, Take, whatever_happens
from infused.information.sharing import Shared, sharing

__all__ = ["evaluate_on"]


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


class Memory:
    """What cells share, by key: what was known before, and what is new."""

    def __init__(self, known: Mapping[str, Any]):
        self._known = known
        self.new: dict[str, Any] = {}

    def remember(self, key: Mapping[str, Any], compute: Callable[[], Any]) -> Any:
        """See :meth:`infused.bench.Store.remember`."""
        name = content_key(key)
        if name in self._known:
            return self._known[name]
        self.new[name] = compute()
        return self.new[name]


def evaluate_on(
    cluster: Cluster, take: Take, problems: dict[str, Problem], store: Store
) -> Generator[Finished]:
    """Every cell as it is finished, one at a time on every worker; leaving early leaves no task behind."""
    before: dict[str, Cell] = {}
    busy: set[str] = set()
    places: dict[str, Held] = {}
    known, learnt = cluster.put(store.remembered()), dict[str, dict[str, Any]]()

    def hand_out(running: Running) -> None:
        for worker in cluster.addresses():
            if worker in busy or (cell := take(before.get(worker))) is None:
                continue
            if cell.dataset not in places:
                places[cell.dataset] = cluster.put(Workplace(problems[cell.dataset]))
            busy.add(worker)
            task = places[cell.dataset], cell, known, learnt.get(cell.dataset, {})
            running.add((cell, worker), evaluate_there, *task, worker=worker)

    with closing(Running(cluster)) as running:
        hand_out(running)
        for (cell, worker), done in running:
            rows, new, seconds = _outcome(cell, done)
            for key, value in new.items():
                store.keep(key, value)
            learnt.setdefault(cell.dataset, {}).update(new)
            busy.discard(worker)
            before[worker] = cell
            hand_out(running)
            yield Finished(cell, rows, seconds)


def evaluate_there(
    place: Workplace, cell: Cell, known: Mapping[str, Any], more: Mapping[str, Any]
) -> tuple[list[Row], dict[str, Any], float]:
    """On a worker: the rows of a cell, what other cells may use, and seconds."""
    from infused.bench.protocol import evaluate

    memory = Memory({**known, **more})

    def rows_of(cell: Cell, problem: Problem) -> list[Row]:
        return evaluate(problem, cell, memory.remember)

    with place.alone, sharing(place.shared):
        began = monotonic()
        rows = whatever_happens(rows_of, cell, place.problem)
        return rows, memory.new, monotonic() - began


def _outcome(cell: Cell, done: Done) -> tuple[list[Row], dict[str, Any], float]:
    """What came of a cell; where it cost workers their lives, that is its reason."""
    if isinstance(done.error, ClusterError):
        return failed_rows(cell, "failed", reason(done.error)), {}, 0.0
    found: tuple[list[Row], dict[str, Any], float] = done.value()
    return found
