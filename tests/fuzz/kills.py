"""Workers killed at random moments of a computation: ``python -m tests.fuzz.kills --kills 50 --seed 0``.

Each computation runs on a cluster of processes on this machine while one worker, or all of them, are killed:
before it starts, while data are handed over, in a task or while results come back; others take their place.
It must give the bits that it gives here. At the end, workers are killed and none comes back, and then the
scheduler is: each ends a computation with one line.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import infused
from benchmarks.separate_cluster import PATIENCE_S, start, stop
from infused._cluster import information as distributed
from infused._cluster import tasks as runtime
from infused._cluster.tasks import ClusterError
from infused._runtime.processes import each
from infused.information import pair_sums as blocks
from infused.information import structural

WORKERS = 2
CONNECT_S = 10  # for a scheduler to answer, the first time and when it was lost
TILE = 64  # features: small tiles make many tasks
LATEST_S = 1.0  # moment of a kill, from the start of a computation
ALL = 0.3  # of the kills hit all workers


def scaled_sum(data: Any, n: int) -> float:
    """Sum the data, as a task that takes a moment."""
    time.sleep(0.01)
    return n * float(data.sum())


def tasks() -> Any:
    """Run small tasks on data that are sent once."""
    return list(each(scaled_sum, range(40), np.arange(1000.0)))


def passed() -> Any:
    """Run tasks each of which is sent data of its own."""
    return list(each(scaled_sum, [7] * 4, np.arange(9.0))) + [
        float(part.sum()) for part in each(np.negative, [np.full(5000, n) for n in range(40)])
    ]


def tiles() -> Any:
    """Compute U by tiles."""
    X = np.random.default_rng(0).normal(size=(60, 300))
    return infused.structural_information(X, np.arange(60) % 3)


def halves() -> Any:
    """Select in half-samples."""
    X = np.random.default_rng(1).normal(size=(80, 30))
    made = infused.StabilitySelection(infused.Lasso(n_features_to_select=4), n_pairs=8, random_state=0)
    return made.fit(X, X[:, 3] - X[:, 7]).frequencies_


COMPUTATIONS: tuple[Callable[[], Any], ...] = (tasks, passed, tiles, halves)


class Machines:
    """A scheduler and its workers, each a process of its own."""

    def __init__(self, folder: Path):
        self._file, self._folder = folder / "scheduler.json", folder
        options = ("--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(self._file))
        quiet = ("--no-dashboard", "--dashboard-address", "127.0.0.1:0")
        self.scheduler = start("dask_scheduler", *options, *quiet)
        self.workers: list[subprocess.Popen[bytes]] = []

    def hire(self) -> None:
        """Start as many workers as are missing."""
        self.workers = [one for one in self.workers if one.poll() is None]
        options = ("--host", "127.0.0.1", "--nthreads", "1", "--no-nanny", "--no-dashboard")
        where = ("--local-directory", str(self._folder), "--scheduler-file", str(self._file))
        while len(self.workers) < WORKERS:
            self.workers.append(start("dask_worker", *options, *where))

    def kill(self, workers: list[subprocess.Popen[bytes]]) -> int:
        """Kill some workers; return how many were there to be killed."""
        alive = [one for one in workers if one.poll() is None]
        for one in alive:
            one.kill()
            one.wait()
        return len(alive)

    def client(self) -> Any:
        """Connect to the scheduler."""
        from distributed import Client

        return Client(scheduler_file=str(self._file), timeout=CONNECT_S, set_as_default=False)

    def close(self) -> None:
        """End all processes."""
        for one in (*self.workers, self.scheduler):
            stop(one)


@contextmanager
def machines() -> Iterator[tuple[Machines, Any]]:
    """Yield a cluster with all of its workers, and its client."""
    with tempfile.TemporaryDirectory(prefix="infused-kills-") as folder:
        found = Machines(Path(folder))
        try:
            found.hire()
            with found.client() as client:
                client.wait_for_workers(WORKERS, timeout=PATIENCE_S)
                yield found, client
        finally:
            found.close()


@contextmanager
def later(seconds: float, act: Callable[[], None]) -> Iterator[None]:
    """Act so many seconds after the block has begun, whether it is done by then or not."""
    timer = threading.Timer(seconds, act)
    timer.start()
    try:
        yield
    finally:
        timer.join()


@contextmanager
def small_tiles() -> Iterator[None]:
    """Let U have many tiles."""
    modules: tuple[Any, ...] = (blocks, distributed, structural)
    before = [module.TILE for module in modules]
    for module in modules:
        module.TILE = TILE
    try:
        yield
    finally:
        for module, value in zip(modules, before, strict=True):
            module.TILE = value


def search(
    n_kills: int,
    seed: int,
    computations: tuple[Callable[[], Any], ...] = COMPUTATIONS,
    say: Callable[[str], None] = print,
) -> list[str]:
    """Kill so many workers at random moments of computations; return what went wrong."""
    random, wrong, killed = np.random.default_rng(seed), list[str](), 0
    with small_tiles(), machines() as (found, client):
        expected = {compute: compute() for compute in computations}
        while killed < n_kills:
            compute = computations[int(random.integers(len(computations)))]
            moment, everyone = float(random.uniform(0.0, LATEST_S)), random.random() < ALL
            chosen = found.workers if everyone else [found.workers[int(random.integers(WORKERS))]]

            def strike(chosen: list[subprocess.Popen[bytes]] = chosen) -> None:
                nonlocal killed
                killed += found.kill(chosen)
                found.hire()

            with later(moment, strike):
                problem = outcome(client, compute, expected[compute])
            told = f"{killed:3d} killed, {len(chosen)} at {moment:.2f} s of {compute.__name__}"
            say(f"{told}: {problem or 'the same bits'}")
            wrong += [f"{told}: {problem}"] if problem else []
    return wrong


def outcome(client: Any, compute: Callable[[], Any], expected: Any) -> str | None:
    """Compute it on the cluster until workers were killed; return what is wrong with it."""
    end = time.monotonic() + LATEST_S
    try:
        with infused.cluster(client):
            while True:
                if not np.array_equal(compute(), expected):
                    return "other bits"
                if time.monotonic() > end:
                    return None
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def ending(who: str, compute: Callable[[], Any] = tasks) -> str | None:
    """Kill all workers or the scheduler for good; return what is wrong with what is told of it."""
    with small_tiles(), machines() as (found, client):

        def strike() -> None:
            found.kill(found.workers if who == "workers" else [found.scheduler])

        try:
            with later(LATEST_S / 2, strike), infused.cluster(client):
                end = time.monotonic() + PATIENCE_S
                while time.monotonic() < end:
                    compute()
        except ClusterError as error:
            words = (
                "no worker of the cluster is left" if who == "workers" else "scheduler of the cluster is lost"
            )
            return None if words in str(error) and "\n" not in str(error) else f"{who}: {error}"
        except Exception as error:
            return f"{who}: {type(error).__name__}: {error}"
        return f"{who}: nothing was told, though all were killed"


def main() -> int:
    """Search as the options ask; the exit code tells whether anything was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.kills", description=__doc__)
    parser.add_argument("--kills", type=int, default=50, help="how many workers to kill")
    parser.add_argument("--seed", type=int, default=0, help="decides computations and moments")
    options = parser.parse_args()
    wrong = search(options.kills, options.seed)
    runtime.PATIENCE_S = 5.0
    for who in ("workers", "scheduler"):
        for compute in COMPUTATIONS:
            wrong += [told for told in [ending(who, compute)] if told]
    for one in wrong:
        print(f"FOUND {one}")
    print(f"{len(wrong)} findings in {options.kills} kills, seed {options.seed}")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
