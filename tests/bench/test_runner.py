"""The runner: what is killed resumes, what fails is a row, and every way to fill a store gives the same.

Processes take a second or two to start, so each run here shows several things.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import psutil
import pytest

from infused import available_selectors
from infused.bench import (
    Cell,
    Experiment,
    Outcome,
    Problem,
    Store,
    StoreError,
    rows_frame,
    run_cells,
    run_experiment,
    workers,
)
from infused.bench.runner import Waiting, place_of
from infused.bench.store import VOLATILE
from infused.cli import main
from infused.cli.benchmark import chosen_methods
from infused.data import load_data
from infused.exceptions import InputError
from infused.selectors.method import Method
from infused.selectors.registry import ABLATIONS, selector_info
from tests.bench.odd_selectors import MARK

ODD = "tests.bench.odd_selectors"
PATIENCE_S = 120
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def data_file(tmp_path_factory):
    """Forty samples, two classes, nine features, and a value that some selectors do not like."""
    y = np.arange(40) % 2
    X = np.random.default_rng(0).normal(size=(40, 9)) + y[:, None] * (np.arange(9) < 3)
    X[0, 0] = MARK
    path = tmp_path_factory.mktemp("data") / "tiny.npz"
    np.savez(path, X=X, y=y)
    return path


def start(store, data_file, *options):
    """``infused benchmark`` in a process of its own."""
    command = [
        sys.executable,
        "-m",
        "infused",
        "benchmark",
        "--store",
        str(store),
        "--datasets",
        str(data_file),
    ]
    pipe = subprocess.PIPE
    return subprocess.Popen([*command, *options], cwd=ROOT, stdout=pipe, stderr=pipe, text=True)


def finish(process):
    out, err = process.communicate(timeout=PATIENCE_S)
    return process.returncode, out, err


def lasting(store):
    """All that must not differ between two runs."""
    table = Store(store).table()
    return table.drop_columns(list(VOLATILE))


def n_cells(store):
    return len(list((store / "cells").glob("[!.]*.parquet")))


def wait_until(condition):
    end = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


SLOW = (
    *("--methods", f"{ODD}.Slow,{ODD}.AlsoSlow", "--allow-imports"),
    *("--repeats", "2", "--folds", "3", "-k", "2,4", "--quiet"),
)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory, data_file):
    store = tmp_path_factory.mktemp("undisturbed")
    assert complete(store, data_file) == 0
    return lasting(store)


def complete(store, data_file):
    """The same command in this process."""
    return main(["benchmark", "--store", str(store), "--datasets", str(data_file), *SLOW, "--jobs", "1"])


def test_killed_twice_the_store_is_that_of_an_undisturbed_run(tmp_path, data_file, undisturbed, capfd):
    store, draw = tmp_path / "store", random.Random(1)
    for kill, n_workers in enumerate((0, 2)):  # one job needs no process of its own
        process = start(store, data_file, *SLOW, "--jobs", str(max(1, n_workers)))
        before = n_cells(store)
        wait_until(lambda before=before: n_cells(store) > before)
        time.sleep(draw.uniform(0, 0.1))
        workers = psutil.Process(process.pid).children()
        process.kill()
        process.communicate()
        assert process.returncode == -signal.SIGKILL, f"finished before kill {kill + 1}"
        gone, alive = psutil.wait_procs(workers, timeout=PATIENCE_S)
        assert not alive and len(gone) >= n_workers  # nothing works on for nobody
        assert 0 < Store(store).table().num_rows < undisturbed.num_rows
    capfd.readouterr()
    assert (complete(store, data_file), *capfd.readouterr()) == (0, "", "")
    assert lasting(store).equals(undisturbed)


def test_two_processes_share_one_store(tmp_path, data_file, undisturbed):
    store = tmp_path / "store"
    both = [start(store, data_file, *SLOW, "--jobs", "1") for _ in range(2)]
    assert [finish(process) for process in both] == [(0, "", "")] * 2
    assert lasting(store).equals(undisturbed)
    assert n_cells(store) == 24, "two methods and two references"
    assert Store(store).compact() == undisturbed.num_rows
    # What is compacted counts as done.
    experiment = tiny(data_file, f"{ODD}.Slow", f"{ODD}.AlsoSlow", repeats=2, folds=3)
    assert run_experiment(experiment, Store(store)) == Outcome(computed=0, found=12, failed=0)
    assert lasting(store).equals(undisturbed) and n_cells(store) == 0


def test_ctrl_c_stops_with_130_and_an_intact_store(tmp_path, data_file):
    store = tmp_path / "store"
    process = start(store, data_file, *SLOW, "--jobs", "1")
    wait_until(lambda: n_cells(store) > 0)
    process.send_signal(signal.SIGINT)
    code, _, err = finish(process)
    assert code == 130 and "Traceback" not in err
    assert Store(store).frame()["cell"].nunique() == n_cells(store)
    assert not list((store / "cells").glob(".*"))


def tiny(data_file, *methods, **options):
    problem = Problem(load_data(data_file), (2, 4))
    own = tuple(Method(name, allow_imports=True) for name in methods)
    return Experiment((problem,), own, **{"folds": 2, **options})


def test_what_goes_wrong_is_a_row_and_the_rest_goes_on(tmp_path, data_file):
    store, reports = Store(tmp_path), []
    wrong = {
        "Failing": ("failed", "RuntimeError: this selector never works"),
        "Dying": ("failed", "its process ended with signal 6 (Aborted)"),
        "Endless": ("timeout", "took longer than 8 s"),
        "Hungry": ("memory", "took more than 500 MB"),
        "OutOfMemory": ("memory", "MemoryError: U of 9 features"),
    }
    experiment = tiny(data_file, *(f"{ODD}.{name}" for name in wrong))
    outcome = run_experiment(experiment, store, jobs=2, timeout=8, memory=500_000_000, report=reports.append)
    assert outcome == Outcome(computed=10, found=0, failed=5)
    assert [report.done for report in reports] == list(range(1, 11)) and reports[-1].seconds_left == 0
    frame = store.frame()
    assert len(frame) == 10 * 2 and (frame["status"] == "ok").sum() == 5 * 2
    failed = frame[frame["status"] != "ok"]
    assert failed["k"].tolist() == [2, 4] * 5 and failed["accuracy"].isna().all()
    for name, (status, reason) in wrong.items():
        for _, row in failed[failed["method"] == f"{ODD}.{name}"].iterrows():
            assert (row["status"], row["reason"]) == (status, reason)
    # What failed counts as done, until it is asked for again.
    experiment = tiny(data_file, f"{ODD}.Failing")
    assert run_experiment(experiment, store) == Outcome(computed=0, found=2, failed=1)
    assert run_experiment(experiment, store, retry=True) == Outcome(computed=1, found=1, failed=1)
    assert len(store.frame()) == 20


def test_the_command_tells_what_failed_by_its_exit_code(tmp_path, data_file):
    store = tmp_path / "store"
    methods = ("--methods", f"{ODD}.Failing,{ODD}.InOrder", "--allow-imports")
    options = (*methods, "--folds", "2", "-k", "2,4", "--jobs", "1")
    code, out, err = finish(start(store, data_file, *options))
    assert code == 1
    assert "RuntimeError: this selector never works" in err and "--retry" in err and "Traceback" not in err
    assert len([line for line in err.splitlines() if " of 8, " in line]) == 8
    assert f"tiny, {ODD}.InOrder, repeat 1, fold 1: " in err
    frame = Store(store).frame()
    mean = frame[frame["method"] == f"{ODD}.InOrder"].groupby("k")["accuracy"].mean()
    (shown,) = [line for line in out.splitlines() if line.startswith(f"{ODD}.InOrder")]
    words = shown.split()[1:]  # the best mean, its standard error, and k
    assert words[0] == f"{100 * mean.max():.1f}" and words[-1] == f"({mean.idxmax()})" and str(store) in out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--datasets", "no-such-data"), "'no-such-data' is neither a file nor named data"),
        (("--datasets", "wine,,digits"), "has an empty entry"),
        (("--methods", "laso"), "did you mean 'lasso'"),
        (("-k", "2,x"), "-k '2,x'"),
        (("-k", "99"), "-k 99 is more than the 13 features of wine"),
        (("--folds", "1"), "--folds 1"),
        (("--protocol", "loose"), "--protocol loose is not known; there are nested, leaky"),
        (("--classifier", "swm"), "--classifier swm is no classifier that is known; did you mean 'svm'"),
        (("--memory", "much"), "--memory 'much'"),
        (("--timeout", "0"), "--timeout 0"),
        (("--jobs", "0"), "--jobs 0"),
        (("--repeats", "0"), "--repeats 0"),
        (("--store", __file__), "is a file: give a folder"),
        (("compact", "--store", "no-such-folder"), "there is no store in 'no-such-folder'"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_written(tmp_path, monkeypatch, capsys, options, words):
    monkeypatch.chdir(tmp_path)
    wine = () if "--datasets" in options or options[0] == "compact" else ("--datasets", "wine")
    assert main(["benchmark", *wine, *options]) == 2
    err = capsys.readouterr().err
    assert words in err and len(err.splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_which_methods_are_run():
    def names(*given):
        return [method.id for method in chosen_methods(*given)]

    paper = {id for id in available_selectors() if selector_info(id).in_paper}
    assert len(paper) == 7 and set(names(None, False)) == {*paper, "greedy-forward", "anova", "random"}
    assert names(["all"], False) == available_selectors()
    assert names(["mrmr"], False) == ["mrmr"]
    assert names(None, True) == ["infused-lasso", *ABLATIONS]
    assert names(["infused-lasso", "anova"], True) == ["infused-lasso", "anova", *ABLATIONS]


def test_results_that_cannot_be_averaged_are_not_mixed(tmp_path, data_file):
    store = Store(tmp_path)
    run_experiment(tiny(data_file, f"{ODD}.InOrder"), store)
    other = Problem(load_data(data_file).take(range(8)), (2, 4))
    for experiment, words in (
        (tiny(data_file, "anova", folds=3), "holds results of tiny with folds=2:"),
        (tiny(data_file, "anova", seed=1), "with seed=0:"),
        (Experiment((Problem(load_data(data_file), (2, 5)),), (Method("anova"),), folds=2), "with k='2,4':"),
        (Experiment((other,), (Method("anova"),), folds=2), "with other data of this name:"),
    ):
        with pytest.raises(StoreError, match=words):
            run_experiment(experiment, store)
    # Another protocol is compared with nothing, and it selects once for all folds.
    run_experiment(tiny(data_file, f"{ODD}.InOrder", protocol="leaky", seed=1), store)
    frame = store.frame()
    leaky = frame[(frame["protocol"] == "leaky") & (frame["k"] == 4)]
    assert len({tuple(features) for features in leaky["selected"]}) == 1
    assert len(leaky) == 2 and leaky["select_seconds"].nunique() == 1


def test_the_time_left_is_that_of_each_method_on_each_data_set():
    def cell(method, fold):
        return Cell("wine", "d", method, "{}", "nested", "svm", (2,), 10, 0, 0, fold)

    todo = [cell(method, fold) for method in ("quick", "slow") for fold in range(4)]
    by_others = {todo[6].key}
    left = Waiting(todo, 2, by_others.__contains__, {})
    left.finished(todo[0], 1.0)
    assert (left.n_cells, left.seconds()) == (7, 3.5)  # slow is not known yet
    left.finished(todo[4], 100.0)
    left.finished(todo[5], 200.0)
    while left.take(None) is not None:
        pass
    assert (left.n_cells, left.seconds()) == (4, (3 * 1 + 150) / 2)


def test_a_worker_that_cannot_begin_is_not_the_fault_of_a_cell(tmp_path, data_file, monkeypatch):
    """As in a script that runs an experiment when it is imported."""
    monkeypatch.setattr(workers, "work", os.abort)
    with pytest.raises(InputError, match=r"ended with .* before it began: call this below if __name__"):
        run_experiment(tiny(data_file, f"{ODD}.InOrder"), Store(tmp_path), jobs=2)
    assert Store(tmp_path).frame().empty


def test_a_worker_gets_the_cells_of_one_fold_one_after_the_other():
    problem = Problem(load_data("wine"), (2,))
    methods = tuple(Method(name) for name in ("lasso", "anova", "random"))
    cells = Experiment((problem,), methods, repeats=2, folds=3).cells()
    waiting = Waiting(cells, 2, lambda key: False, {})
    had = {"first": [], "second": []}
    while True:
        for mine in had.values():
            cell = waiting.take(mine[-1] if mine else None)
            if cell is None:
                break
            mine.append(cell)
        else:
            continue
        break
    assert sorted(cell.key for mine in had.values() for cell in mine) == sorted(cell.key for cell in cells)
    for mine in had.values():
        places = [place_of(cell) for cell in mine]
        assert places == [place for place in dict.fromkeys(places) for _ in methods]


def test_when_one_fold_is_left_two_workers_share_it():
    problem = Problem(load_data("wine"), (2,))
    methods = tuple(Method(name) for name in ("lasso", "anova", "random"))
    cells = [cell for cell in Experiment((problem,), methods, folds=3).cells() if cell.fold == 1]
    waiting = Waiting(cells, 2, lambda key: False, {})
    first = waiting.take(None)
    assert [first, waiting.take(None), waiting.take(first), waiting.take(first)] == [*cells, None]


@pytest.mark.parametrize("limit", ["timeout", "memory"])
def test_a_limit_in_a_process_that_may_start_none_is_refused(data_file, tmp_path, monkeypatch, limit):
    monkeypatch.setitem(multiprocessing.current_process()._config, "daemon", True)
    experiment = Experiment((Problem(load_data(data_file), (2, 4)),), (Method("random"),), folds=2)
    with pytest.raises(InputError, match=f"{limit}=.* needs a process that can be stopped"):
        run_experiment(experiment, Store(tmp_path), **{limit: 10**9})


@pytest.mark.parametrize("protocol", ["nested", "leaky"])
@pytest.mark.parametrize("jobs", [1, 2])
def test_rows_without_a_store_are_those_of_a_store(data_file, tmp_path, monkeypatch, protocol, jobs):
    experiment = tiny(data_file, "anova", f"{ODD}.Failing", protocol=protocol, references=True)
    run_experiment(experiment, Store(tmp_path / "store"))
    kept = Store(tmp_path / "store").frame().drop(columns=list(VOLATILE))
    monkeypatch.chdir(tmp_path)
    rows = rows_frame(row for one in run_cells(experiment, jobs=jobs) for row in one.finished.rows)
    rows = rows.drop(columns=list(VOLATILE))
    assert set(rows["status"]) == {"ok", "failed"}
    assert [str(value) for value in rows.pop("selected")] == [
        str(None if value is None else value.tolist()) for value in kept.pop("selected")
    ]
    pd.testing.assert_frame_equal(rows, kept, check_dtype=False)
    assert [path.name for path in tmp_path.iterdir()] == ["store"]
