"""A small table whose target two of its columns tell."""

from __future__ import annotations

import pytest

from tests.cli.conftest import patients


@pytest.fixture
def table():
    return patients()


@pytest.fixture
def file(tmp_path, table, monkeypatch):
    """The table as a file, in the current folder."""
    monkeypatch.chdir(tmp_path)
    table.to_csv("patients.csv", index=False)
    return "patients.csv"
