"""Run an experiment: yield its rows as they are computed, or fill a store with what is missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from multiprocessing import current_process
from random import Random
from typing import TYPE_CHECKING, Any

from infused._runtime.processes import Cluster, current_cluster
from infused.bench.plan import REFERENCES, Cell, Experiment
from infused.bench.store import Store, StoreError
from infused.bench.workers import Finished, Limits, evaluate_all, evaluate_here
from infused.exceptions import InputError, Setting

if TYPE_CHECKING:
    from pandas import DataFrame


Place = tuple[str, int, int]  # data set, repeat, fold
Kind = tuple[str, str]  # data set, method


@dataclass(frozen=True)
class Progress:
    """How far a run is.

    Parameters
    ----------
    finished : Finished
        The cell that was finished last, with its rows, status and seconds.
    done : int
        Cells of this experiment that are finished.
    total : int
        Cells of this experiment.
    seconds_left : float
        An estimate, from the cells so far.

    See Also
    --------
    run_experiment : Tells it after every cell.

    Examples
    --------
    >>> import infused
    >>> seen = []
    >>> found = infused.compare("wine", methods=["random"], k=2, folds=2, watch=seen.append)
    >>> seen[0].done, seen[-1].done, seen[-1].total
    (1, 6, 6)
    """

    finished: Finished
    done: int
    total: int
    seconds_left: float


@dataclass(frozen=True)
class Outcome:
    """What a run did.

    Parameters
    ----------
    computed : int
        Cells that this run computed.
    found : int
        Cells that were in the store before, or were put there by another process.
    failed : int
        Cells of the experiment without a result, whichever run computed them.

    See Also
    --------
    run_experiment : Returns one.

    Examples
    --------
    >>> from infused.bench import Outcome
    >>> Outcome(computed=9, found=1, failed=0).failed
    0
    """

    computed: int
    found: int
    failed: int


def run_cells(
    experiment: Experiment,
    cells: Sequence[Cell] | None = None,
    *,
    jobs: int = 1,
    timeout: float | None = None,
    memory: int | None = None,
    seconds: Mapping[Kind, float] | None = None,
    is_done: Callable[[str], bool] = lambda key: False,
) -> Generator[Progress]:
    """Compute cells of an experiment, and yield each with its rows as it is finished.

    Nothing is written: :func:`infused.bench.rows_frame` makes a data frame of the rows.

    Inside :func:`infused.cluster` the workers of that cluster compute, one cell each at a time. Otherwise
    one job without limits runs in this process, or workers are processes of their own, which import the main
    module afresh: in a script, call this below ``if __name__ == "__main__"``.

    Parameters
    ----------
    experiment : Experiment
        What to compute.
    cells : sequence of Cell, default=None
        Some cells of the experiment; by default all.
    jobs : int, default=1
        Workers; -1 for every core. The results do not depend on it. Without meaning on a cluster.
    timeout : float, default=None
        Most seconds for one cell.
    memory : int, default=None
        Most bytes for one worker.
    seconds : mapping, default=None
        Seconds for a cell by data set and method, where they are known, to estimate the time left.
    is_done : callable, default=None
        Takes the key of a cell; cells for which it is true when their turn comes are left out.

    Yields
    ------
    Progress
        In the order in which cells are finished.

    See Also
    --------
    run_experiment : Keep the rows in a store.

    Examples
    --------
    >>> from infused.bench import Experiment, Problem, rows_frame, run_cells
    >>> from infused.data import load_data
    >>> from infused.selectors.method import Method
    >>> wine = Problem(load_data("wine"), ks=(2, 4))
    >>> experiment = Experiment((wine,), (Method("random"),), folds=2)
    >>> rows_frame(row for one in run_cells(experiment) for row in one.finished.rows)["k"].tolist()
    [2, 4, 2, 4]
    """
    from joblib import effective_n_jobs

    if jobs == 0:
        raise InputError(Setting("jobs", 0), ": give a number, or -1 for every core")
    every = experiment.cells()
    cells = every if cells is None else cells
    cluster, limits = current_cluster(), Limits(timeout, memory)
    _check_limits(cluster, limits)
    n_workers = effective_n_jobs(jobs) if cluster is None else cluster.n_workers()
    waiting = Waiting(cells, min(n_workers, max(1, len(cells))), is_done, seconds or {})
    problems = {problem.name: problem for problem in experiment.problems}
    if cluster is not None:
        finishing = cluster.evaluate(waiting.take, problems)
    elif n_workers == 1 and limits == Limits():
        finishing = evaluate_here(waiting.take, problems)
    else:
        finishing = evaluate_all(waiting.take, problems, waiting.n_workers, limits)
    with closing(finishing) as stream:
        for finished in stream:
            waiting.finished(finished.cell, finished.seconds)
            yield Progress(finished, len(every) - waiting.n_cells, len(every), waiting.seconds())


def run_experiment(
    experiment: Experiment,
    store: Store,
    *,
    jobs: int = 1,
    timeout: float | None = None,
    memory: int | None = None,
    retry: bool = False,
    recompute: bool = False,
    report: Callable[[Progress], None] | None = None,
) -> Outcome:
    """Compute the cells of an experiment that the store does not have, and keep each as it is finished.

    A cell that an earlier version of its selector or of the protocol computed is another cell. Other
    processes may fill the same store at the same time. :func:`run_cells` says who computes.

    Parameters
    ----------
    experiment : Experiment
        What to compute.
    store : Store
        Where results are kept.
    jobs : int, default=1
        Workers; -1 for every core. The results do not depend on it. Without meaning on a cluster.
    timeout : float, default=None
        Most seconds for one cell.
    memory : int, default=None
        Most bytes for one worker.
    retry : bool, default=False
        Whether cells that failed before are computed again.
    recompute : bool, default=False
        Whether all cells are computed again, and replace those of the store.
    report : callable, default=None
        Called with a `Progress` after every cell. What it raises ends the run; what is finished is kept.

    Returns
    -------
    Outcome
        How many cells were computed, found and failed.

    Raises
    ------
    StoreError
        Where the store holds results that cannot be averaged with these.

    See Also
    --------
    compare_methods : What the results say.
    infused.compare : All in one call, for one data set.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from infused.bench import Experiment, Problem, Store, run_experiment
    >>> from infused.data import load_data
    >>> from infused.selectors.method import Method
    >>> wine = Problem(load_data("wine"), ks=(2, 4))
    >>> experiment = Experiment((wine,), (Method("random"),), folds=2)
    >>> with TemporaryDirectory() as folder:
    ...     run_experiment(experiment, Store(folder))
    Outcome(computed=2, found=0, failed=0)
    """
    store.check()
    rows = store.frame()
    check_same_design(rows, experiment, store)
    cells = experiment.cells()
    status = _status(rows)
    todo = [
        cell for cell in cells if recompute or cell.key not in status or (retry and status[cell.key] != "ok")
    ]
    stream = run_cells(
        experiment,
        todo,
        jobs=jobs,
        timeout=timeout,
        memory=memory,
        seconds=_seconds(rows),
        is_done=store.has if not (retry or recompute) else lambda key: False,
    )
    computed = 0
    with closing(stream):
        for progress in stream:
            store.write(progress.finished.rows)
            status[progress.finished.cell.key] = progress.finished.status
            computed += 1
            if report is not None:
                report(progress)
    if computed < len(todo):  # others computed the rest
        status = _status(store.frame())
    failed = sum(status[cell.key] != "ok" for cell in cells)
    return Outcome(computed, len(cells) - computed, failed)


def _status(rows: DataFrame) -> dict[str, str]:
    """Return how each cell ended."""
    return dict(zip(rows["cell"], rows["status"], strict=True))


def _seconds(rows: DataFrame) -> dict[Kind, float]:
    """Return the mean seconds of a cell by data set and method."""
    known = rows.dropna(subset="cell_seconds").drop_duplicates("cell")
    return dict(known.groupby(["dataset", "method"])["cell_seconds"].mean().items())


def _check_limits(cluster: Cluster | None, limits: Limits) -> None:
    """Refuse what cannot be held: workers of a cluster are not ours to stop, and some may start none."""
    for name, limit in (("timeout", limits.seconds), ("memory", limits.memory)):
        if cluster is not None and limit is not None:
            raise InputError(Setting(name, limit), " has no meaning on a cluster: its workers have their own")
        if limit is not None and current_process().daemon:
            raise InputError(
                Setting(name, limit),
                " needs a process that can be stopped, and a daemonic one may start none",
            )


class Waiting:
    """Cells that are left: data set by data set, and the folds of each at random; how long they will take.

    A worker gets the cells of one fold one after the other, so that they share what is computed from its
    training part. Folds are at random, because two processes on one store should not compute the same cells
    side by side. A cell that another process finished meanwhile is skipped.
    """

    def __init__(
        self,
        cells: Sequence[Cell],
        n_workers: int,
        is_done: Callable[[str], bool],
        seconds: Mapping[Kind, float],
    ):
        places = dict.fromkeys(place_of(cell) for cell in cells)
        order = {name: n for n, name in enumerate(dict.fromkeys(cell.dataset for cell in cells))}
        shuffled = sorted(Random().sample(list(places), len(places)), key=lambda place: order[place[0]])
        self._left: dict[Place, list[Cell]] = {place: [] for place in shuffled}
        for cell in reversed(cells):
            self._left[place_of(cell)].append(cell)
        self._begun: set[Place] = set()
        self.n_workers, self._is_done = n_workers, is_done
        self._unfinished = Counter((cell.dataset, cell.method) for cell in cells)
        self._sums = {kind: (mean, 1) for kind, mean in seconds.items()}

    @property
    def n_cells(self) -> int:
        """Count the cells that are not finished."""
        return self._unfinished.total()

    def take(self, before: Cell | None) -> Cell | None:
        """Return the next cell for a worker: of the fold that it had before, if there is one."""
        while self._left:
            place = self._next_place(before)
            self._begun.add(place)
            cell = self._left[place].pop()
            if not self._left[place]:
                del self._left[place]
            if not self._is_done(cell.key):
                return cell
            self._unfinished[cell.dataset, cell.method] -= 1
        return None

    def finished(self, cell: Cell, seconds: float) -> None:
        """Count a cell, and learn how long it took."""
        kind = cell.dataset, cell.method
        total, n = self._sums.get(kind, (0.0, 0))
        self._sums[kind] = (total + seconds, n + 1)
        self._unfinished[kind] -= 1

    def seconds(self) -> float:
        """Estimate the time left; a method without a finished cell takes the mean of the others."""
        means = {kind: total / n for kind, (total, n) in self._sums.items()}
        usual = sum(means.values()) / max(1, len(means))
        return sum(n * means.get(kind, usual) for kind, n in self._unfinished.items()) / self.n_workers

    def _next_place(self, before: Cell | None) -> Place:
        """Choose the same fold, else one that no worker has begun, else any."""
        if before is not None and place_of(before) in self._left:
            return place_of(before)
        untouched = (place for place in self._left if place not in self._begun)
        return next(untouched, next(iter(self._left)))


def place_of(cell: Cell) -> Place:
    """Return the fold that a cell is about."""
    return cell.dataset, cell.repeat, cell.fold


def check_same_design(rows: DataFrame, experiment: Experiment, store: Store) -> None:
    """Refuse to mix results that cannot be averaged: other data, folds, seeds or numbers of features."""
    for problem in experiment.problems:
        mine = (rows["dataset"] == problem.name) & (rows["protocol"] == experiment.protocol)
        earlier = rows[mine & ~rows["method"].isin(REFERENCES)]  # which have numbers of features of their own
        if earlier.empty:
            continue
        one = earlier[earlier["cell"] == earlier["cell"].iloc[0]]
        wanted: dict[str, Any] = {"folds": experiment.folds, "seed": experiment.seed}
        wanted |= {"scoring": experiment.scoring_of(problem), "k": _listed(problem.ks)}
        there = {name: one[name].tolist()[0] for name in ("folds", "seed", "scoring")} | {
            "k": _listed(one["k"])
        }
        other: list[Any] = [Setting(name, value) for name, value in there.items() if value != wanted[name]]
        if one["data"].iloc[0] != problem.data.fingerprint:
            other.append("other data of this name")
        if other:
            words = [part for one in other for part in (", ", one)][1:]
            raise StoreError(
                f"{str(store.folder)!r} holds results of {problem.name} with ",
                *words,
                ": ask for the same, or use another store",
            )


def _listed(ks: Iterable[int]) -> str:
    return ",".join(str(k) for k in sorted(ks))
