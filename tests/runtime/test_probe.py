"""Reading that crashes or hangs is found out by another process, and nothing else is taken for it."""

from __future__ import annotations

import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from infused._runtime import processes as probe
from infused._runtime.processes import read_tried, try_first
from infused.exceptions import InputError

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be copied")

LOCK = threading.Lock()


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "t.mat"
    path.write_bytes(b"x")
    return path


@pytest.fixture
def brief(monkeypatch):
    monkeypatch.setattr(probe, "BRIEF_S", 3.0)
    monkeypatch.setattr(probe, "PATIENCE_S", 10.0)


def with_lock():
    """Read with a lock that a library has for all of its readers."""
    with LOCK:
        time.sleep(0.01)
        return "content"


def test_a_crash_is_one_line(path):
    with pytest.raises(InputError, match=r"t.mat.*MATLAB.*crashes"):
        try_first(partial(signal.raise_signal, signal.SIGKILL), path, "MATLAB .mat")


def test_a_hang_is_one_line(path, brief, monkeypatch):
    monkeypatch.setattr(probe, "PATIENCE_S", 0.3)
    with pytest.raises(InputError, match="does not end"):
        try_first(partial(time.sleep, 60), path, "AnnData")


def test_errors_are_left_to_who_reads_it(path):
    try_first(partial(int, "x"), path, "MATLAB .mat")


def test_a_lock_of_another_thread_is_no_damage(path, brief):
    """A copy of this process has the lock, but not the thread that would let it go."""
    with LOCK, ThreadPoolExecutor(1) as pool:
        pool.submit(try_first, with_lock, path, "AnnData").result()


def test_threads_take_turns(path, brief, monkeypatch):
    """While one is inside the library, no other makes a copy of the process."""
    monkeypatch.setattr(probe, "_in_new", lambda *_: pytest.fail("a copy of this process failed"))
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: read_tried(with_lock, path, "AnnData"), range(40)))
    assert found == ["content"] * 40


def test_a_new_process_imports_nothing_from_the_working_folder(tmp_path, monkeypatch):
    (tmp_path / "pickle.py").write_text("open('PWNED', 'w').close()\n")
    monkeypatch.chdir(tmp_path)
    assert probe._in_new(partial(int, "3"), 30.0) is None
    assert not (tmp_path / "PWNED").exists()
