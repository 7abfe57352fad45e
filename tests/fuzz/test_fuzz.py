"""A few cases of every kind, and the proof that a search finds what it looks for."""

from __future__ import annotations

import os
from itertools import count

import numpy as np
import pytest

from tests.fuzz import arrays, cases
from tests.fuzz.cases import KINDS, Finding, run_case
from tests.fuzz.pool import Child, _work


@pytest.mark.parametrize("kind", KINDS)
def test_some_cases(tmp_path, monkeypatch, kind):
    monkeypatch.setenv("INFUSED_MEMORY", "1GB")
    for number in range(12):
        found = run_case(11, kind, number, tmp_path)
        assert found is None, found.told(11)


def test_a_case_is_decided_by_its_number(tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr("tests.fuzz.files.load", lambda path, **_: seen.append(path.read_bytes()))
    monkeypatch.setattr("tests.fuzz.files.command", lambda arguments, _: seen.append(arguments))
    for number in (3, 3, 4):
        run_case(5, "file", number, tmp_path)
    assert seen[0] == seen[1] != seen[2]


@pytest.mark.parametrize("error", [KeyError("x"), RuntimeWarning("noise"), cases.UnsoundError("wrong")])
def test_what_goes_wrong_is_told_with_its_bytes(tmp_path, monkeypatch, error):
    def broken(*_, **__):
        raise error

    monkeypatch.setattr("tests.fuzz.files.load", broken)
    monkeypatch.setattr("tests.fuzz.files.command", broken)
    found = run_case(5, "file", 3, tmp_path)
    assert isinstance(found, Finding) and found.content
    assert "--seed 5 --case file:3" in found.told(5) and "base85" in found.told(5)


def test_a_process_that_ends_is_a_finding():
    child = Child(0)
    try:
        child.give(("crash", 1))
        while (found := child.result()) == "busy":
            child.process.join(0.1)
    finally:
        child.stop()
    assert isinstance(found, Finding) and "ended with -11" in found.reason


@pytest.mark.parametrize("limit", ["PATIENCE_S", "BUSY_S"])
def test_a_process_that_hangs_is_a_finding(monkeypatch, limit):
    clock = count()
    monkeypatch.setattr(f"tests.fuzz.pool.{limit}", 0.0)
    monkeypatch.setattr("tests.fuzz.pool._work", lambda _: float(next(clock)))
    child = Child(0)
    child.give(("estimator", 1))
    found = child.result()
    assert isinstance(found, Finding) and "hangs" in found.reason and not child.process.is_alive()


def test_work_is_told_from_waiting():
    before = _work(os.getpid())
    while _work(os.getpid()) < before + 0.05:
        pass
    assert _work(None) == 0.0


def test_a_frame_holds_what_its_library_takes(monkeypatch):
    monkeypatch.setattr(arrays, "ODD_COLUMNS", (["\udc80", "b"],))
    for seed in range(20):
        assert arrays._frame(np.random.default_rng(seed), np.zeros((3, 5))).shape == (3, 5)


def test_an_error_of_encoding_is_no_word_on_the_input(tmp_path, monkeypatch):
    monkeypatch.setattr("tests.fuzz.estimators.available_selectors", lambda: ["lasso"])
    monkeypatch.setattr("tests.fuzz.estimators.make_selector", lambda *_, **__: "\udc80".encode())
    found = [run_case(5, "estimator", number, tmp_path) for number in range(4)]
    assert any(one is not None and "UnicodeEncodeError" in one.reason for one in found)
