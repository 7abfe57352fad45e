"""The block that uses a Dask cluster, and the work that other rooms hand to it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from socket import create_connection
from threading import Lock
from time import monotonic
from typing import Any

from infused._cluster.tasks import ClusterError, DaskCluster, Done, Held, Running
from infused._runtime.messages import extra, reason
from infused._runtime.processes import Result, Task, current, sheltered_from_interrupts
from infused.bench.plan import Cell, Problem
from infused.bench.rows import Row, failed_rows
from infused.bench.workers import Finished, Memory, Take, Values, rows_or_failure
from infused.exceptions import InputError, Setting
from infused.information.structural import Shared, sharing

PATIENCE_S = 10  # for a scheduler to answer
SMALL = (int, float, str, bytes)  # what may pass through a scheduler


class Jobs(DaskCluster):
    """A cluster that does the work of other rooms: see :class:`infused._runtime.processes.Cluster`."""

    def each(
        self, function: Callable[..., Result], tasks: Iterable[Task], data: tuple[Any, ...]
    ) -> Generator[Result]:
        """Compute ``function(*data, task)`` of every task, in their order."""
        held = [self.put(one) for one in data]
        given = (task if isinstance(task, SMALL) else self.passing(partial(_same, task)) for task in tasks)
        with closing(self.in_order(function, ((*held, task) for task in given))) as results:
            yield from (result for _, result in results)

    def information(self, X: Any, y: Any, graph: Any, target: Any, options: Any) -> Any:
        """Return the structural information of X, whose tiles the workers compute."""
        from infused._cluster.information import DistributedInformation

        return DistributedInformation(X, y, graph, target, options, self)

    def fit(self, selector: Any, X: Any, y: Any, **given: Any) -> None:
        """Fit a linear selector to an array of Dask."""
        from infused._cluster.screening import fit_on_cluster

        fit_on_cluster(self, selector, X, y, **given)

    def evaluate(self, take: Any, problems: Mapping[str, Any]) -> Generator[Any]:
        """Evaluate the cells of a benchmark, one at a time on every worker."""
        return evaluate_on(self, take, problems)


def _same(value: Any) -> Any:
    return value


@contextmanager
def cluster(client: Any) -> Iterator[None]:
    """Run what is called inside on a Dask cluster, with the same answers.

    The cells of :func:`infused.compare` and of benchmarks, the half-samples of a stability selection, the
    folds of an automatic choice and the tiles of U become tasks of its workers. Data that are arrays of Dask,
    chunked by features, are read where the workers are, and never pass through this process or through the
    scheduler.

    Parameters
    ----------
    client : distributed.Client
        Connected to the cluster. It must be able to reach the workers, which must have infused installed.

    Yields
    ------
    None
        Calls inside the block use the cluster.

    See Also
    --------
    structural_information : U, by tiles.
    compare : Many fits.

    Examples
    --------
    >>> import infused
    >>> from distributed import Client, LocalCluster
    >>> local = LocalCluster(n_workers=1, processes=False, dashboard_address="127.0.0.1:0")
    >>> with local, Client(local) as client, infused.cluster(client):
    ...     found = infused.compare("wine", methods=["anova"], k=[2, 4], folds=3)
    >>> found.table["method"].tolist()
    ['anova', 'random', 'all features', 'majority class']
    """
    Client = extra("distributed").Client
    if not isinstance(client, Client) or client.asynchronous:
        raise InputError(f"cluster() takes a distributed.Client that is not asynchronous, got {client!r}")
    place = Jobs(client)
    token = current.set(place)
    try:
        yield
    finally:
        current.reset(token)
        place.release()


@contextmanager
def on_cluster(scheduler: str | None = None, workers: int | None = None) -> Iterator[None]:
    """Run what is inside on the cluster that was asked for.

    ``scheduler`` is the address of one that is there; ``workers`` is the number of processes of one that is
    started for this block, and ends with it.
    """
    if scheduler is not None and workers is not None:
        raise InputError(
            Setting("workers"), " starts a cluster and ", Setting("scheduler"), " uses one: give one of them"
        )
    if workers is not None and workers < 1:
        raise InputError(Setting("workers", workers), ": give a whole number from 1")
    extra("dask")
    extra("distributed")
    for handler in logging.getLogger("distributed").handlers:
        handler.setLevel(logging.CRITICAL)  # a command says itself what is lost, in one line
    with ExitStack() as stack:
        place = scheduler if workers is None else stack.enter_context(local_cluster(workers))
        stack.enter_context(cluster(stack.enter_context(_client(place, scheduler))))
        yield


@contextmanager
def local_cluster(n_workers: int, **more: Any) -> Iterator[Any]:
    """Start processes of one thread each on this machine, without a dashboard; Ctrl-C is for this one."""
    with sheltered_from_interrupts():
        local = extra("distributed").LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            scheduler_kwargs={"dashboard": False},
            silence_logs=logging.CRITICAL,
            **more,
        )
    with local:
        yield local


def _nothing_listens(address: str) -> bool:
    """Return whether a scheduler can be ruled out before a client of Dask is made.

    A client that could not connect waits for the garbage collector, which may come while the next one starts:
    then both wait for one lock, forever.
    """
    try:
        host, port = extra("distributed.comm").get_address_host_port(address)
        create_connection((host, port), PATIENCE_S).close()
    except (OSError, ValueError):
        return True
    return False


@contextmanager
def _client(place: Any, scheduler: str | None) -> Iterator[Any]:
    try:
        if scheduler is not None and _nothing_listens(scheduler):
            raise TimeoutError(scheduler)
        with sheltered_from_interrupts():
            client = extra("distributed").Client(place, timeout=PATIENCE_S, set_as_default=False)
    except (OSError, TimeoutError, ValueError):
        raise InputError(
            Setting("scheduler", scheduler),
            ": no scheduler of Dask answers there; give an address like tcp://node1:8786",
        ) from None
    with client:
        yield client


class Workplace:
    """A problem on a worker, with what was computed from its last fold; one cell at a time.

    Methods that need the same information of a fold share it as long as the worker holds the problem. Clocks
    of CPU seconds and recorded warnings belong to a process, so its threads take turns.
    """

    def __init__(self, problem: Problem):
        self.problem = problem
        self.shared, self.alone = Shared(), Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        return Workplace, (self.problem,)


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
