"""A cluster for one command: one that is there, or processes that are started here."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from socket import create_connection
from typing import Any

from infused._runtime.cluster import cluster
from infused._runtime.extras import extra
from infused._runtime.interrupts import sheltered_from_interrupts
from infused.exceptions import InputError, Setting

__all__ = ["local_cluster", "on_cluster"]

PATIENCE_S = 10  # for a scheduler to answer


@contextmanager
def on_cluster(scheduler: str | None = None, workers: int | None = None) -> Iterator[None]:
    """What runs inside uses the cluster that was asked for, if one was.

    ``scheduler`` is the address of one that is there; ``workers`` is the number of processes of one that is
    started for this block, and ends with it.
    """
    if scheduler is None and workers is None:
        yield
        return
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
    """Processes with one thread each, for this machine alone, without a dashboard; Ctrl-C is for this one."""
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
    """Whether a scheduler can be ruled out before a client of Dask is made.

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
