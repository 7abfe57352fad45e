"""Threads, memory and progress."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier, Event, Thread
from time import monotonic, sleep

import pytest
from joblib import Parallel, delayed
from sklearn.datasets import load_wine
from threadpoolctl import threadpool_info, threadpool_limits

import infused
from infused import _kernels, config_context, get_config, make_selector, set_config
from infused._runtime.processes import each
from infused._runtime.progress import Stage, reporting, timed
from infused._runtime.threads import (
    blas_threads,
    format_bytes,
    in_bytes,
    memory_budget,
    one_blas_thread,
    require,
    spans,
    workers,
)
from infused.exceptions import InfusedError, InputError, MemoryBudgetError, OperationCancelledError


def blas_limits():
    """Threads of the BLAS that NumPy brings; other packages may load others, which are no concern of ours."""
    found = [library for library in threadpool_info() if library["user_api"] == "blas"]
    ours = [library["num_threads"] for library in found if "numpy" in library["filepath"]]
    if not ours:
        pytest.skip("NumPy's BLAS is not one that can be limited")
    return ours


@pytest.mark.parametrize("n_jobs", [1, 2, -1, None])
def test_results_come_in_order(n_jobs):
    with workers(n_jobs) as work:
        assert list(work.map(lambda n: n * n, range(50))) == [n * n for n in range(50)]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_first_error_stops_the_rest(n_jobs):
    done = []

    def task(n):
        if n == 3:
            raise RuntimeError("three")
        sleep(0.001)
        done.append(n)

    with workers(n_jobs) as work, pytest.raises(RuntimeError, match="three"):
        work.run(task, range(1000))
    assert len(done) < 1000


@pytest.fixture
def two_blas_threads():
    """Let BLAS start with two threads, on whatever number the tests run."""
    with threadpool_limits(2, user_api="blas"):
        yield


@pytest.mark.usefixtures("two_blas_threads")
def test_blas_runs_on_one_thread_inside_and_as_before_outside():
    before = blas_limits()
    with workers(2) as work:
        assert set(blas_limits()) == {1}
        assert list(work.map(lambda _: set(blas_limits()), range(4))) == [{1}] * 4
    assert blas_limits() == before != [1]


@pytest.mark.usefixtures("two_blas_threads")
def test_overlapping_computations_leave_blas_as_it_was():
    before = blas_limits()

    def compute(n):
        with workers(2) as work:
            return sum(work.map(lambda k: k + n, range(20)))

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(compute, range(12))) == [190 + 20 * n for n in range(12)]
    assert blas_limits() == before


@pytest.mark.usefixtures("two_blas_threads")
def test_limits_of_threads_that_overlap_are_restored_after_the_last():
    before = blas_limits()
    entered, may_leave = Event(), Event()

    def hold():
        with blas_threads(1):
            entered.set()
            may_leave.wait(10)

    thread = Thread(target=hold)
    thread.start()
    entered.wait(10)
    with blas_threads(1):  # begins inside the other, and ends after it
        may_leave.set()
        thread.join()
        assert set(blas_limits()) == {1}
    assert blas_limits() == before


def test_a_smaller_limit_inside_a_larger_one_ends_with_its_block():
    with blas_threads(2):
        larger = blas_limits()
        with one_blas_thread():
            assert set(blas_limits()) == {1}
        assert blas_limits() == larger


def test_kernels_work_without_a_folder_for_compiled_code():
    code = (
        "import numpy as np; from numba.core import caching\n"
        "kind = getattr(caching, 'CacheImpl', None) or caching._CacheImpl\n"
        "kind._locator_classes = []  # as in a container without a home\n"
        "from infused._kernels import total_variation_prox as prox\n"
        "print(prox(np.array([0.0, 1.0]), 10.0).tolist())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "[0.5, 0.5]", done.stderr


def test_spans_cover_everything_once():
    covered = [n for part in spans(10, 4) for n in range(10)[part]]
    assert covered == list(range(10))
    assert spans(0, 4) == []


@pytest.mark.parametrize(
    ("text", "n_bytes"),
    [
        ("4GB", 4e9),
        ("1.5 GiB", 1.5 * 2**30),
        ("100", 100),
        ("2kb", 2000),
        (" 3 MB ", 3e6),
        (7, 7),
        (2.5e9, 2.5e9),
    ],
)
def test_budgets(text, n_bytes):
    assert in_bytes(text) == n_bytes


def test_the_budget_comes_from_the_environment(monkeypatch):
    monkeypatch.setenv("INFUSED_MEMORY", "3MB")
    assert memory_budget() == 3_000_000
    with config_context(memory_budget="1MB"):
        assert memory_budget() == 1_000_000


def test_without_either_it_is_a_part_of_what_is_free(monkeypatch):
    import psutil

    monkeypatch.delenv("INFUSED_MEMORY", raising=False)
    assert 0 < memory_budget() <= psutil.virtual_memory().total / 2


@pytest.mark.parametrize(
    "budget", ["", "GB", "4 apples", "-3GB", 0, -1, float("nan"), float("inf"), True, []]
)
def test_bad_budgets_are_refused(budget):
    with pytest.raises(InputError, match="memory_budget must be"), config_context(memory_budget=budget):
        pass
    with pytest.raises(InputError, match="memory_budget must be"):
        set_config(memory_budget=budget)
    assert get_config() == {"memory_budget": None}


def budgets_of_threads():
    with workers(2) as pool:
        return list(pool.map(lambda _: memory_budget(), range(4)))


def test_threads_see_the_settings_of_the_call_that_started_them():
    """Two threads with budgets of their own, and one that somebody else started before."""
    entered, seen = Barrier(2), {}

    def one(name, budget):
        with config_context(memory_budget=budget):
            entered.wait(10)
            seen[name] = {memory_budget(), *budgets_of_threads()}
            entered.wait(10)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(one, "ab", (1000, "2KB")))
    assert seen == {"a": {1000}, "b": {2000}}
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(get_config).result() == {"memory_budget": None}
        with config_context(memory_budget="3KB"):
            assert pool.submit(memory_budget).result() == 3000
            jobs = Parallel(n_jobs=2, prefer="threads")
            assert jobs(delayed(memory_budget)() for _ in range(4)) == [3000] * 4
        assert pool.submit(get_config).result() == get_config() == {"memory_budget": None}


def test_contexts_nest_and_end_with_an_error():
    set_config(memory_budget="1MB")
    try:
        with pytest.raises(KeyError), config_context(memory_budget="2MB"):
            with config_context(memory_budget=None):
                assert get_config() == {"memory_budget": None}
            assert memory_budget() == 2_000_000
            raise KeyError
        assert memory_budget() == 1_000_000
    finally:
        set_config(memory_budget=None)


def budget_of(task):
    return memory_budget()


def test_processes_see_the_settings():
    with config_context(memory_budget="5MB"):
        assert list(each(budget_of, range(3), n_jobs=2)) == [5_000_000] * 3


def test_too_much_is_refused_with_both_sizes_and_a_way_out():
    with pytest.raises(
        MemoryBudgetError, match=r"It needs 80 GB, .* budget of 4 GB: do less, or raise memory_budget"
    ):
        require(80 * 10**9, 4 * 10**9, "It", "do less")
    require(5, 5, "It", "do less")


def test_errors_are_of_the_kinds_that_callers_expect():
    assert issubclass(MemoryBudgetError, (InfusedError, MemoryError))
    assert format_bytes(999) == "999 B"
    assert format_bytes(2.5e13) == "25 TB"


def test_stages_fill_their_part():
    seen = []
    stage = Stage(lambda fraction, message: seen.append(fraction), "working", 4, 0.2, 0.6)
    for _ in range(4):
        stage.advance()
    assert seen == pytest.approx([0.2, 0.3, 0.4, 0.5, 0.6])
    assert seen[-1] == 0.6


def test_returning_false_cancels_and_none_does_not():
    Stage(lambda fraction, message: None, "working", 2).advance()
    with pytest.raises(OperationCancelledError, match=r"cancelled while working \(0% done\)"):
        Stage(lambda fraction, message: False, "working", 2)


def test_what_has_no_callback_of_its_own_reports_to_the_block_it_runs_in():
    heard, own = [], []
    with reporting(lambda fraction, message: heard.append((fraction, message))):
        Stage(None, "inside", 2).advance()
        Stage(lambda fraction, message: own.append(message), "with its own", 1)
    Stage(None, "outside", 1)
    assert heard == [(0.0, "inside"), (0.5, "inside")]
    assert own == ["with its own"]


def test_times_are_told_and_add_up():
    heard, timings = [], {}
    with reporting(lambda fraction, message: heard.append((fraction, message))):
        for _ in range(2):
            with timed(timings, "wait_s", "waiting"):
                assert heard[-1] == (0.0, "waiting")
                sleep(0.01)
        with pytest.raises(KeyError), timed(timings, "fail_s", "failing"):
            raise KeyError
    assert len(heard) == 3
    assert 0.02 <= timings["wait_s"] < 10
    assert timings["fail_s"] >= 0


def test_cancelling_stops_before_the_block():
    with (
        reporting(lambda fraction, message: False),
        pytest.raises(OperationCancelledError, match="waiting"),
        timed({}, "wait_s", "waiting"),
    ):
        pytest.fail("the block ran")


def test_the_compiler_is_loaded_with_the_first_kernel():
    names = "infused.InFusedLasso, infused.MRMR, infused.structural_information"
    code = f"import sys, infused; {names}; print('numba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
    assert all(getattr(_kernels, name) is not None for name in _kernels.__all__)


@pytest.mark.parametrize("id", ["infused-lasso", "mrmr", "greedy-forward"])
def test_fits_report_their_stages_and_can_be_cancelled(id):
    X, y = load_wine(return_X_y=True)
    heard = []
    with reporting(lambda fraction, message: heard.append((message, fraction))):
        make_selector(id, n_features_to_select=4).fit(X, y)
    assert all(0 <= fraction <= 1 for _, fraction in heard)
    assert heard[-1][1] == 1.0
    with (
        reporting(lambda fraction, message: False),
        pytest.raises(OperationCancelledError, match="cancelled"),
    ):
        make_selector(id, n_features_to_select=4).fit(X, y)


def test_private_names_of_scikit_learn_are_used_in_one_file():
    private = re.compile(r"^\s*from sklearn(?:\.\w+)*(?:\._\w+ import| import (?:\w+, )*_)", re.MULTILINE)
    assert private.search("from sklearn.utils._x import A") and private.search(
        "from sklearn.base import a, _b"
    )
    files = Path(infused.__file__).parent.rglob("*.py")
    users = {path.name for path in files if private.search(path.read_text(encoding="utf-8"))}
    assert users == {"compat.py"}


FORKED = """
import os, signal, sys, threading, warnings
warnings.simplefilter("ignore")  # of forks of a process with threads
from infused._runtime import threads
held = threading.Event()
def hold():
    with threads._lock:
        held.set()
        threading.Event().wait(30)
threading.Thread(target=hold, daemon=True).start()
held.wait()
child = os.fork()
if child == 0:
    signal.alarm(20)
    with threads.one_blas_thread():
        os._exit(0)
os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) % 256)
"""


LOADING = """
import os, signal, sys, threading
from infused import _kernels
threading.Thread(target=lambda: _kernels.epochs, daemon=True).start()
while "infused._kernels.solvers" not in sys.modules:
    pass
child = os.fork()
if child == 0:
    signal.alarm(20)
    _kernels.epochs
    os._exit(0)
os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) % 256)
"""

IMPORTING = """
import os, signal, sys, threading
import infused
threading.Thread(target=lambda: infused.Lasso, daemon=True).start()
while "sklearn" not in sys.modules:
    pass
child = os.fork()
if child == 0:
    signal.alarm(20)
    os._exit(infused.Lasso().get_params()["n_features_to_select"] is not None)
os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) % 256)
"""

COMPUTING = """
import os, signal, threading
from infused._runtime.compat import cached_property
begun = threading.Event()
class Thing:
    @cached_property
    def value(self):
        if not begun.is_set():
            begun.set()
            threading.Event().wait(30)
        return 3
threading.Thread(target=lambda: Thing().value, daemon=True).start()
begun.wait()
child = os.fork()
if child == 0:
    signal.alarm(20)
    os._exit(Thing().value - 3)
os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) % 256)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="has no fork")
@pytest.mark.parametrize(
    "code",
    [FORKED, LOADING, IMPORTING, COMPUTING],
    ids=["limits", "loading", "importing", "computing"],
)
def test_a_fork_while_another_thread_is_at_work_does_not_hang(code, tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}  # so that loading takes a while
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], timeout=60, env=environment, capture_output=True
    )
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="has no fork")
def test_a_fork_does_not_wait_for_ever_for_an_import(monkeypatch):
    """Where another thread imports what needs a lock of the thread that forks, waiting ends."""
    monkeypatch.setattr(infused, "_PATIENCE_S", 0.2)
    monkeypatch.setattr(infused, "_others_import", lambda: True)
    start = monotonic()
    infused._finish_imports()
    assert 0.2 <= monotonic() - start < 5
