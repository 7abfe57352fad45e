"""Shared fixtures."""

from __future__ import annotations

import os
import signal
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest
import scipy.io
from hypothesis import settings

from infused._cluster.session import local_cluster

settings.register_profile("infused", max_examples=60, deadline=None, derandomize=True)
settings.load_profile("infused")

DATA_SETS = ("USPS", "PIE", "YaleB", "Lymphoma", "Leukemia", "RELATHE", "BASEHOCK", "Isolet1")


@pytest.fixture(autouse=True, scope="session")
def interrupts():
    """Let Ctrl-C interrupt, also where the tests run in the background of a shell, which ignores it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


class Shared:
    """A cluster for all tests that ask for one, one after the other: it is closed after the last."""

    def __init__(self):
        self._open, self._client = ExitStack(), None

    def client(self, distributed):
        if self._client is None:
            local = self._open.enter_context(local_cluster(2))
            self._client = self._open.enter_context(distributed.Client(local, set_as_default=False))
        return self._client

    def close(self):
        self._open.close()
        self._client = None


SHARED = Shared()


def asks_for_a_cluster(item):
    return "client" in getattr(item, "fixturenames", ())


def pytest_collection_modifyitems(items):
    """Tests on a cluster come first, so that one process has them all, and one cluster."""
    items.sort(key=asks_for_a_cluster, reverse=True)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item, nextitem):
    """An idle cluster takes a twentieth of a core."""
    if nextitem is None or not asks_for_a_cluster(nextitem):
        SHARED.close()


@pytest.fixture
def client():
    """A Dask client of two worker processes on this machine; skips where Dask is not installed."""
    return SHARED.client(pytest.importorskip("distributed"))


@pytest.fixture(autouse=True)
def nobody_looks_again(monkeypatch):
    """Selections are not checked in halves of the samples unless a test asks for it."""
    monkeypatch.setattr("infused.workflow.trust.SECONDS", 0.0)


#: Tests that depend on the number of trees: recorded answers, and whether a relation is linear.
ALL_TREES = ("test_golden.py", "test_auto_selector.py", "test_relation.py")


@pytest.fixture(autouse=True)
def few_trees(request, monkeypatch):
    """Make forests small and boosting short where no test depends on their size."""
    if request.node.path.name not in ALL_TREES:
        monkeypatch.setattr("infused.selectors.scores.importances.TREES", 30)
        monkeypatch.setattr("infused.selectors.choose.number.ROUNDS", 6)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture(params=DATA_SETS)
def paper_data(request):
    """(name, X, y) of one of the paper's data sets; skips where they are absent."""
    folder = os.environ.get("INFUSED_DATA")
    path = Path(folder or ".") / f"{request.param}.mat"
    if folder is None or not path.exists():
        pytest.skip(f"{request.param}.mat is not there: set INFUSED_DATA to the folder that holds it")
    content = scipy.io.loadmat(path, spmatrix=True)
    X, y = (content["fea"], content["gnd"]) if "fea" in content else (content["X"], content["Y"])
    return request.param, X, y.ravel()
