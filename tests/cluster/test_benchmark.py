"""A benchmark on a cluster fills the store as any other run does, however often it is stopped."""

from __future__ import annotations

import signal

import numpy as np
import psutil
import pytest

import infused
from infused.bench import Experiment, Outcome, Problem, Store, run_experiment
from infused.cli import main
from infused.data import load_data
from infused.exceptions import InputError
from infused.selectors.method import Method
from tests.bench.odd_selectors import MARK
from tests.bench.test_runner import ODD, PATIENCE_S, finish, lasting, n_cells, start, wait_until
from tests.cluster.test_tasks import tasks_of

pytest.importorskip("distributed")

SLOW = ("--methods", f"{ODD}.Slow,{ODD}.Failing", "--allow-imports", "--folds", "6", "-k", "2,4", "--quiet")


@pytest.fixture(scope="module")
def data_file(tmp_path_factory):
    y = np.arange(40) % 2
    X = np.random.default_rng(0).normal(size=(40, 9)) + y[:, None] * (np.arange(9) < 3)
    X[0, 0] = MARK
    path = tmp_path_factory.mktemp("data") / "tiny.npz"
    np.savez(path, X=X, y=y)
    return path


def test_stopped_and_killed_the_store_is_that_of_a_run_without_a_cluster(tmp_path, data_file, client):
    store = tmp_path / "store"
    there = ("--scheduler", client.scheduler.address)
    for how, code, where, n_own in (
        (signal.SIGINT, 130, there, 0),
        (signal.SIGKILL, -signal.SIGKILL, ("--workers", "2"), 2),
    ):
        process = start(store, data_file, *SLOW, *where)
        before = n_cells(store)
        wait_until(lambda before=before: n_cells(store) > before)
        workers = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(how)
        assert finish(process)[0] == code
        gone, alive = psutil.wait_procs(workers, timeout=PATIENCE_S)
        assert not alive and len(gone) >= n_own  # nothing works on for nobody
        assert tasks_of(client) == []
    stopped = n_cells(store)
    other = tmp_path / "other"
    for folder, where in ((store, there), (other, ("--jobs", "1"))):
        options = ("--store", str(folder), "--datasets", str(data_file), *SLOW, *where)
        assert main(["benchmark", *options]) == 1, "as one method fails"
    assert 0 < stopped < n_cells(store) == 4 * 6
    assert lasting(store).equals(lasting(other))


@pytest.mark.parametrize("protocol", ["nested", "leaky"])
def test_cells_on_a_cluster_are_those_of_this_process(tmp_path, data_file, client, protocol):
    problem = Problem(load_data(data_file), (2, 4))
    methods = Method("infused-lasso"), Method("anova")
    experiment = Experiment((problem,), methods, folds=2, protocol=protocol, references=True)
    here, there = Store(tmp_path / "here"), Store(tmp_path / "there")
    run_experiment(experiment, here)
    with infused.cluster(client):
        assert run_experiment(experiment, there) == Outcome(computed=8, found=0, failed=0)
        with pytest.raises(InputError, match=r"timeout=3\.0 has no meaning on a cluster"):
            run_experiment(experiment, there, timeout=3.0)
    assert lasting(here.folder).equals(lasting(there.folder))
