"""Generated tables: every kind is there, each gets its answer in time, and one that does not is reported."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

from benchmarks import endings


def test_tables_are_of_every_kind_and_the_same_each_time():
    tables = [endings.generated(seed) for seed in range(24)]
    assert {kind for _, kind in tables} == set(endings.TARGETS)
    names = set(itertools.chain.from_iterable(table.columns for table, _ in tables))
    for kind in endings.COLUMNS:
        assert any(name.startswith(kind) for name in names), kind
    shares = [(table["target"] == "yes").mean() for table, kind in tables if kind == "rare"]
    assert 0 < min(shares) <= max(shares) < 0.25
    pd.testing.assert_frame_equal(endings.generated(7)[0], tables[7][0])
    assert not np.array_equal(tables[6][0]["target"][:60], tables[12][0]["target"][:60])


@pytest.mark.parametrize("job", endings.JOBS)
@pytest.mark.parametrize("seed", [2, 3])
def test_every_table_gets_its_answer_in_time(seed, job):
    assert endings.outcome(seed, job, limit=20)["ended"] == "answer"


def endless(table, job):
    while True:
        pass


def broken(table, job):
    raise ValueError("no answer")


@pytest.mark.parametrize(
    ("answered", "ended"), [(endless, "limit"), (broken, "ValueError: no answer"), (lambda *_: 3, "3 failed")]
)
def test_what_gets_no_answer_is_reported(monkeypatch, capsys, answered, ended):
    monkeypatch.setattr(endings, "answered", answered)
    assert endings.outcome(3, "select", limit=1)["ended"] == ended
    monkeypatch.setattr("sys.argv", ["endings", "--tables", "1", "--limit", "1"])
    assert endings.main() == 1
    assert "Not a whole run" in capsys.readouterr().out
