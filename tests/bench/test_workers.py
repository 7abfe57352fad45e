"""The processes of a benchmark, where they do not even start."""

from __future__ import annotations

import pytest

from infused.bench.workers import Limits, Worker


def test_a_process_that_cannot_start_tells_its_own_reason(monkeypatch):
    """As in a script that compares outside of ``if __name__ == "__main__"``."""

    def refused(self):
        raise RuntimeError("not now")

    monkeypatch.setattr("multiprocessing.context.SpawnProcess.start", refused)
    worker = Worker(Limits(), {})
    with pytest.raises(RuntimeError, match="not now"):
        worker._start()
    worker.stop()
