"""Workers and schedulers that are lost: the same answers, or one line where none is left."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import numpy as np
import pytest

import infused
from infused._cluster import tasks as runtime
from infused._runtime.processes import each

pytest.importorskip("distributed")

from tests.fuzz import kills

PATIENCE_S = 60


@pytest.fixture(scope="module")
def cluster():
    """Processes of our own and their client: other tests need the workers that they share."""
    with kills.machines() as found:
        yield found


def test_a_worker_that_dies_while_data_are_handed_to_it_is_passed_over(cluster, monkeypatch):
    machines, client = cluster
    scatter, struck = client.scatter, []

    def strike(data, workers, **options):
        if not struck:
            pid = client.run(_pid, workers=workers)[workers[0]]
            struck.extend(one for one in machines.workers if one.pid == pid)
            assert machines.kill(struck) == 1
        return scatter(data, workers=workers, **options)

    monkeypatch.setattr(client, "scatter", strike)
    data = np.arange(5.0)
    with infused.cluster(client):
        assert list(each(kills.scaled_sum, range(8), data)) == [n * 10.0 for n in range(8)]
    assert struck
    machines.hire()


def _pid():
    return os.getpid()


def test_workers_killed_at_random_moments_change_no_bit():
    quick = kills.tasks, kills.passed  # workers that start anew load little for them
    assert kills.search(3, 3, quick, say=lambda _: None) == []


@pytest.mark.parametrize("who", ["workers", "scheduler"])
def test_where_none_is_left_one_line_says_so(who, monkeypatch):
    monkeypatch.setattr(runtime, "PATIENCE_S", 3.0)
    assert kills.ending(who) is None


def test_a_command_that_loses_its_scheduler_ends_with_one_line(cluster, tmp_path):
    machines, client = cluster
    many = ("--methods", "infused-lasso", "--folds", "5", "--repeats", "40", "-k", "5", "--quiet")
    where = ("--store", str(tmp_path / "store"), "--scheduler", client.scheduler.address)
    command = [sys.executable, "-m", "infused", "benchmark", "--datasets", "breast-cancer", *many, *where]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, text=True, **pipes) as process:
        try:
            end = time.monotonic() + PATIENCE_S
            while not client.run_on_scheduler(_n_tasks) and time.monotonic() < end:
                time.sleep(0.05)
            machines.kill([machines.scheduler])
            out, err = process.communicate(timeout=PATIENCE_S)
        finally:
            process.kill()
    assert (process.returncode, out) == (2, "")
    assert err.startswith("Error: the connection to the scheduler of the cluster is lost: see whether")
    assert err.count("\n") == 1


def _n_tasks(dask_scheduler):
    return len(dask_scheduler.tasks)
