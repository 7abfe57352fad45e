"""Work on a Dask cluster: what is held there, the tasks that run, and nothing left behind.

Dask forgets scattered data when the worker that has them is lost (distributed 3149), and cancels whatever
depends on them. So everything that is put on a cluster here is :class:`Held`: it knows how to be put there
again, and a task whose inputs were lost is run again on new ones. Data go between this process and the
workers directly: through the scheduler pass names and figures alone. A worker that dies while data are handed
to it is passed over for another. Where no worker comes back, or the scheduler is lost, whatever waits ends
with a :class:`ClusterError`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import CancelledError, wait
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from itertools import count, islice
from queue import Empty, SimpleQueue
from time import monotonic, sleep
from typing import Any
from weakref import WeakSet

from infused._runtime.processes import is_collection
from infused._runtime.threads import configured, get_config, one_blas_thread
from infused.exceptions import InfusedError

GONE = ("cancelled", "lost")
CLOSED = ("closed", "closing")
LOST = "the connection to the scheduler of the cluster is lost: see whether it runs, and start again"
AHEAD = 2  # tasks for each thread of the cluster that wait behind the one that runs
MOST_LOSSES = 20  # of the inputs of one task, before we give up
PATIENCE_S = 120.0  # for a worker, where there is none
LOOK_S = 2.0  # from one look at the cluster to the next, while we wait
PAUSE_S = 0.1  # before something is tried again
HAND_OVER_S = 2.0  # for the scheduler to know a worker that data are meant for


class ClusterError(InfusedError):
    """A cluster could not finish a task."""


class Held:
    """Something on the cluster, and how to put it there again when it was lost."""

    def __init__(self, make: Callable[[], Any]):
        self._make = make
        self._future: Any = None

    def future(self) -> Any:
        """Return where it is, or will be."""
        if self._future is None or self._future.status in GONE:
            self._future = self._make()
        return self._future

    def release(self) -> None:
        """Let the cluster forget it, until it is asked for again."""
        self._future = None


class Passing(Held):
    """Something that goes to the cluster for one task, and is forgotten when that is done."""

    def future(self) -> Any:
        """Make a new one each time."""
        return self._make()


@dataclass(frozen=True)
class Done:
    """How a task ended."""

    _value: Any
    error: BaseException | None = None

    def value(self) -> Any:
        """Return what it returned, or raise what it raised."""
        if self.error is not None:
            raise self.error
        return self._value


class DaskCluster:
    """The workers of a Dask client."""

    def __init__(self, client: Any):
        self.client = client
        self._turn = count()
        self._held: WeakSet[Held] = WeakSet()
        self._alone_since: float | None = None

    def addresses(self) -> list[str]:
        """List the workers that are there; wait for the first."""
        while not (found := self._workers()):
            sleep(PAUSE_S)
        return sorted(found)

    def n_workers(self) -> int:
        """Count the workers; wait for the first."""
        return len(self.addresses())

    def n_threads(self) -> int:
        """Count the tasks that can run at once."""
        return max(1, int(sum(self._workers().values())))

    def check(self) -> None:
        """Raise where waiting is in vain: the scheduler is lost, or no worker came back in time."""
        self._workers()

    def _workers(self) -> dict[str, int]:
        """Ask for the threads of every worker; give up where there was none for long."""
        found: dict[str, int] = self._asked(self.client.nthreads)
        if found:
            self._alone_since = None
        elif self._alone_since is None:
            self._alone_since = monotonic()
        elif monotonic() > self._alone_since + PATIENCE_S:
            raise ClusterError(f"no worker of the cluster is left, and none came back in {PATIENCE_S:.0f} s")
        return found

    def _asked(self, question: Callable[[], Any]) -> Any:
        """Ask the scheduler, again where the connection was lost and Dask made a new one."""
        for _ in range(MOST_LOSSES):
            while self.client.status == "connecting":
                sleep(PAUSE_S)
            if self.client.status in CLOSED:
                break
            with self._lost_is_told(), suppress(OSError):  # that the connection was lost
                return question()
            sleep(PAUSE_S)
        raise ClusterError(LOST)

    @contextmanager
    def _lost_is_told(self) -> Iterator[None]:
        """Turn whatever a client raises that lost its scheduler into one line."""
        try:
            yield
        except Exception as error:
            if self.client.status in CLOSED:
                raise ClusterError(LOST) from error
            raise

    def put(self, value: Any) -> Held:
        """Send something to one worker, to each in turn; others fetch it when they need it."""
        return self._remembered(Held(lambda: self._scattered(value)))

    def passing(self, make: Callable[[], Any]) -> Held:
        """Send what ``make`` returns, or compute it there where it is a collection of Dask, for one task."""

        def future() -> Any:
            value = make()
            if not is_collection(value):
                return self._scattered(value)
            with self._lost_is_told():
                return self.client.compute(value)

        return Passing(future)

    def defer(self, function: Callable[..., Any], *arguments: Any) -> Held:
        """Keep a result on the workers, computed when a task first needs it."""
        return self._remembered(Held(lambda: self.submit(function, *arguments)))

    def submit(self, function: Callable[..., Any], *arguments: Any, worker: str | None = None) -> Any:
        """Start a task; on the worker that is named, if it is still there when its turn comes."""
        given = [one.future() if isinstance(one, Held) else one for one in arguments]
        where = {} if worker is None else {"workers": [worker], "allow_other_workers": True}
        with self._lost_is_told():
            future = self.client.submit(_run, get_config(), function, *given, pure=False, **where)
        if any(isinstance(one, Passing) for one in arguments):
            # Until then it must be kept from here: the scheduler may hear of our leaving before it has
            # looked at the task.
            future.add_done_callback(lambda _: given.clear())
        return future

    def _scattered(self, value: Any) -> Any:
        """Hand something over to a worker, or to another where that one dies meanwhile."""
        dead: set[str] = set()
        failure: Exception | None = None
        end = monotonic() + PATIENCE_S
        while failure is None or monotonic() < end:
            addresses = self.addresses()
            alive = [one for one in addresses if one not in dead] or addresses
            chosen = alive[next(self._turn) % len(alive)]
            try:
                with self._lost_is_told():
                    # A list, because the entries of collections are sent one by one.
                    return self.client.scatter(
                        [value], workers=[chosen], direct=True, hash=False, timeout=HAND_OVER_S
                    )[0]
            except (OSError, KeyError) as error:  # it is gone, or the scheduler knows it no more
                failure = error
                dead.add(chosen)
                if dead.issuperset(addresses):
                    sleep(PAUSE_S)
        self.addresses()  # which says so where there is none
        raise ClusterError(f"data could not be handed to any worker: {failure}") from failure

    def gathered(self, future: Any) -> Any:
        """Bring a result here, as long as it can come."""
        with self._lost_is_told():
            coming = asyncio.run_coroutine_threadsafe(self._gather(future), self.client.loop.asyncio_loop)
            try:
                while not wait([coming], timeout=LOOK_S).done:
                    self.check()
                return coming.result()
            finally:
                coming.cancel()

    async def _gather(self, future: Any) -> Any:
        return (await self.client.gather([future], direct=True, asynchronous=True))[0]

    def finished(
        self, function: Callable[..., Any], tasks: Iterable[tuple[Any, ...]]
    ) -> Generator[tuple[int, Any]]:
        """Compute ``function(*task)`` of every task, with its place, as they finish; few wait at a time.

        What is held here among the arguments is there in the task. Leaving early leaves no task behind.
        """
        todo = enumerate(tasks)
        with closing(Running(self)) as running:
            for place, task in islice(todo, (1 + AHEAD) * self.n_threads()):
                running.add(place, function, *task)
            for place, done in running:
                for following, task in islice(todo, 1):
                    running.add(following, function, *task)
                yield place, done.value()

    def in_order(
        self, function: Callable[..., Any], tasks: Iterable[tuple[Any, ...]]
    ) -> Generator[tuple[int, Any]]:
        """Compute ``function(*task)`` of every task, with its place, in their order."""
        early: dict[int, Any] = {}
        due = 0
        with closing(self.finished(function, tasks)) as stream:
            for place, value in stream:
                early[place] = value
                while due in early:
                    yield due, early.pop(due)
                    due += 1

    def release(self) -> None:
        """Let the cluster forget all that was put on it."""
        for held in self._held:
            held.release()

    def _remembered(self, held: Held) -> Held:
        self._held.add(held)
        return held


class Running:
    """Tasks that run on a cluster: what is added comes back when it is done, whichever comes first."""

    def __init__(self, cluster: DaskCluster):
        self._cluster = cluster
        self._done: SimpleQueue[str] = SimpleQueue()
        self._tasks: dict[str, tuple[Any, _Task]] = {}

    def add(
        self, label: Any, function: Callable[..., Any], *arguments: Any, worker: str | None = None
    ) -> None:
        """Let a task run; ``label`` comes back with its end."""
        self._submit(_Task(label, function, arguments, worker))

    def __iter__(self) -> Iterator[tuple[Any, Done]]:
        while self._tasks:
            future, task = self._tasks.pop(self._next())
            done = self._outcome(future)
            future.release()
            if done is not None:
                yield task.label, done
            elif task.losses < MOST_LOSSES:
                self._submit(_Task(task.label, task.function, task.arguments, None, task.losses + 1))
            else:
                raise ClusterError(
                    f"workers that held its data were lost {MOST_LOSSES} times during one task"
                )

    def close(self) -> None:
        """Stop what waits; what runs ends by itself, and nobody keeps its result."""
        futures = [future for future, _ in self._tasks.values()]
        self._tasks = {}
        if futures and self._cluster.client.status == "running":
            with suppress(OSError):  # a scheduler that is lost knows of no task
                self._cluster.client.cancel(futures, force=True)

    def _next(self) -> str:
        """Wait for a task that is done, as long as one can be."""
        while True:
            with suppress(Empty):
                return self._done.get(timeout=LOOK_S)
            self._cluster.check()

    def _submit(self, task: _Task) -> None:
        future = self._cluster.submit(task.function, *task.arguments, worker=task.worker)
        self._tasks[future.key] = future, task
        future.add_done_callback(lambda done: self._done.put(done.key))

    def _outcome(self, future: Any) -> Done | None:
        """Return how a task ended; None where its inputs or its result were lost."""
        if future.status in GONE:
            return None
        if future.status == "error":
            return Done(None, _told(future.exception()))
        try:
            return Done(self._cluster.gathered(future))
        except (CancelledError, OSError):
            return None


@dataclass(frozen=True)
class _Task:
    label: Any
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    worker: str | None
    losses: int = 0


def _run(config: dict[str, Any], function: Callable[..., Any], *arguments: Any) -> Any:
    """Run a task on a worker, whose processors are shared: each task has one thread for linear algebra."""
    import scipy.linalg  # noqa: F401 - with it comes the last of the libraries whose threads are limited

    with one_blas_thread():
        return configured(config, function, *arguments)


def _told(error: BaseException) -> BaseException:
    """Return what a task raised; where it cost several workers their lives, what to do."""
    if type(error).__name__ != "KilledWorker":
        return error
    return ClusterError(
        "several workers died of one task, as they do when memory runs out: give them more memory, or take "
        "smaller chunks"
    )
