"""A folder with data in it, and a way to run commands there."""

from __future__ import annotations

import shutil
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

from infused.cli import main

FEATURES = ("age", "weight", "glucose", "pressure", "insulin", "ferritin", "sodium", "iron", "zinc", "lead")


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str


def patients(n_samples: int = 90, seed: int = 0) -> pd.DataFrame:
    """Ten measurements, of which glucose and ferritin tell the diagnosis, and iron repeats ferritin."""
    rng = np.random.default_rng(seed)
    ill = np.arange(n_samples) % 3 == 0
    X = rng.gamma(4.0, 2.0, (n_samples, len(FEATURES)))
    data = pd.DataFrame(X.round(3), columns=list(FEATURES))
    data["glucose"] += 9 * ill
    data["ferritin"] += 5 * ill
    data["iron"] = (2 * data["ferritin"] + 0.1 * rng.standard_normal(n_samples)).round(3)
    data["diagnosis"] = np.where(ill, "ill", "well")
    return data


def write_data(folder):
    """The files that the examples of the documents name."""
    patients().to_csv(folder / "patients.csv", index=False)
    shuffled = patients(20, seed=1).drop(columns="diagnosis")[list(reversed(FEATURES))]
    shuffled.to_csv(folder / "new-patients.csv", index=False)


@pytest.fixture
def infused(capfd, monkeypatch):
    """Run a command in this process, with a terminal of 100 columns that is none."""

    def run(*arguments):
        capfd.readouterr()
        code = main([str(argument) for argument in arguments])
        out, err = capfd.readouterr()
        return Done(code, out, err)

    monkeypatch.setenv("COLUMNS", "100")
    return run


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, with data."""
    write_data(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """A folder with data and with the results of a selection in ``out``."""
    place = tmp_path_factory.mktemp("finished")
    write_data(place)
    command = ["select", "patients.csv", "--target", "diagnosis", "-k", "3", "--method", "anova"]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        patch.setattr("infused.workflow.trust.SECONDS", 0.0)  # nobody looks again
        assert main([*command, "--output", "out", "--no-report", "--quiet"]) == 0
    return place


@pytest.fixture
def results(finished, tmp_path, monkeypatch):
    """A copy of it, as the current folder."""
    place = tmp_path / "results"
    shutil.copytree(finished, place)
    monkeypatch.chdir(place)
    return place
