"""Reading that crashes or hangs is found out by a copy of the process."""

from __future__ import annotations

import os
import signal
import time

import pytest

from infused._runtime import probe
from infused._runtime.probe import try_first
from infused.exceptions import InputError

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be copied")


def test_a_crash_is_one_line(tmp_path):
    path = tmp_path / "t.mat"
    path.write_bytes(b"x")
    with pytest.raises(InputError, match=r"t.mat.*MATLAB.*crashes"):
        try_first(lambda: os.kill(os.getpid(), signal.SIGSEGV), path, "MATLAB .mat")


def test_a_hang_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr(probe, "PATIENCE_S", 0.3)
    path = tmp_path / "t.h5ad"
    path.write_bytes(b"x")
    with pytest.raises(InputError, match="does not end"):
        try_first(lambda: time.sleep(60), path, "AnnData")


def test_errors_are_left_to_who_reads_it(tmp_path):
    path = tmp_path / "t.mat"
    path.write_bytes(b"x")
    try_first(lambda: 1 / 0, path, "MATLAB .mat")
