"""One seam for work that falls into independent tasks: processes of this machine, or a cluster."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from contextlib import closing
from functools import partial
from typing import Any, TypeVar

from infused._runtime.cluster import current_cluster

__all__ = ["each"]

SMALL = (int, float, str, bytes)  # what may pass through a scheduler

Task = TypeVar("Task")
Result = TypeVar("Result")


def each(
    function: Callable[..., Result], tasks: Iterable[Task], *data: Any, n_jobs: int | None = None
) -> Generator[Result]:
    """``function(*data, task)`` of every task, in their order.

    Inside ``infused.cluster(client)`` the tasks run there, on data that are sent once, to the workers
    directly. Else they run in ``n_jobs`` processes, as joblib counts them; one runs here. Leaving early stops
    what has not begun.
    """
    cluster = current_cluster()
    if cluster is not None:
        held = [cluster.put(one) for one in data]
        given = (task if isinstance(task, SMALL) else cluster.passing(partial(_same, task)) for task in tasks)
        with closing(cluster.in_order(function, ((*held, task) for task in given))) as results:
            yield from results
        return
    from joblib import Parallel, delayed, effective_n_jobs

    if effective_n_jobs(n_jobs) == 1:
        yield from (function(*data, task) for task in tasks)
        return
    jobs = (delayed(function)(*data, task) for task in tasks)
    with closing(Parallel(n_jobs=n_jobs, return_as="generator")(jobs)) as results:
        yield from results


def _same(value: Any) -> Any:
    return value
