"""Independent tasks: in this process, in others, or on the cluster whose block they are in."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import closing
from contextvars import ContextVar
from typing import Any, Protocol, TypeVar

from infused._runtime.threads import configured, get_config

Task = TypeVar("Task")
Result = TypeVar("Result")


class Cluster(Protocol):
    """The work that rooms hand to a cluster, so that none of them knows Dask."""

    def each(
        self, function: Callable[..., Result], tasks: Iterable[Task], data: tuple[Any, ...]
    ) -> Generator[Result]:
        """Compute ``function(*data, task)`` of every task, in their order."""

    def information(self, X: Any, y: Any, graph: Any, target: Any, options: Any) -> Any:
        """Return the structural information of X, whose tiles the workers compute."""

    def fit(self, selector: Any, X: Any, y: Any, **given: Any) -> None:
        """Fit a linear selector to an array of Dask."""

    def evaluate(self, take: Any, problems: Mapping[str, Any]) -> Generator[Any]:
        """Evaluate the cells of a benchmark, one at a time on every worker."""

    def n_workers(self) -> int:
        """Count the workers; wait for the first."""


current: ContextVar[Cluster | None] = ContextVar("infused_cluster", default=None)


def current_cluster() -> Cluster | None:
    """Return the cluster of the block that this runs in, if there is one."""
    return current.get()


def is_collection(value: Any) -> bool:
    """Return whether something is an array of Dask, or another of its collections; without loading Dask."""
    return hasattr(value, "__dask_graph__")


def each(
    function: Callable[..., Result], tasks: Iterable[Task], *data: Any, n_jobs: int | None = None
) -> Generator[Result]:
    """Compute ``function(*data, task)`` of every task, in their order.

    Inside ``infused.cluster(client)`` the tasks run there, on data that are sent once, to the workers
    directly. Else they run in ``n_jobs`` processes, as joblib counts them; one runs here. Leaving early stops
    what has not begun.
    """
    cluster = current_cluster()
    if cluster is not None:
        yield from cluster.each(function, tasks, data)
        return
    from joblib import Parallel, delayed, effective_n_jobs

    if effective_n_jobs(n_jobs) == 1:
        yield from (function(*data, task) for task in tasks)
        return
    jobs = (delayed(configured)(get_config(), function, *data, task) for task in tasks)
    with closing(Parallel(n_jobs=n_jobs, return_as="generator")(jobs)) as results:
        yield from results
