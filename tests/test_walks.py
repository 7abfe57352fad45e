"""How many files of the package a call crosses."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from sklearn.datasets import load_wine

import infused
from tests.walks import SELECTOR, Walk

ROOT = Path(__file__).parent.parent


def crossed(folder, *command):
    """Follow a command, but not its worker processes: files before the selector, and all."""
    load_wine(as_frame=True).frame.to_csv(folder / "file.csv", index=False)
    done = subprocess.run(
        [sys.executable, "-m", "tests.walks", *command],
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(Path(infused.__file__).parent.parent), str(ROOT)]),
        },
        capture_output=True,
        text=True,
        check=True,
    )
    files = done.stdout.splitlines()
    place = files.index(SELECTOR)
    return files[:place], files[:place] + files[place + 1 :]


@pytest.fixture(scope="module")
def select(tmp_path_factory):
    options = ["--target", "target", "-k", "3", "--output", "out", "--quiet"]
    return crossed(tmp_path_factory.mktemp("select"), "select", "file.csv", *options)


def test_select_crosses_few_files(select):
    before, files = select
    print(len(before), *before, "then", len(files), *files[len(before) :])
    assert "cli/select.py" in before and "data/load.py" in before
    assert len(before) <= 28
    assert len(files) <= 73


def test_compare_crosses_few_files(tmp_path):
    options = ["--target", "target", "-k", "3", "--repeats", "1", "--quiet", "--jobs", "2"]
    _, files = crossed(tmp_path, "compare", "file.csv", *options)
    print(len(files), *files)
    assert "workflow/compare.py" in files
    assert len(files) <= 40


@pytest.mark.parametrize(("name", "most"), [("InFusedLasso", 32), ("Lasso", 24)])
def test_a_fit_crosses_few_files(name, most):
    X, y = load_wine(return_X_y=True)
    with Walk() as walk:
        getattr(infused, name)(n_features_to_select=5).fit(X, y)
    print(len(walk.files), *walk.files)
    assert "solvers/least_squares.py" in walk.files
    assert len(walk.files) <= most


def test_contributing_names_every_file_of_it(select):
    text = (ROOT / "CONTRIBUTING.md").read_text()
    walk = text[text.index("**`infused select file.csv`**") : text.index("**`InFusedLasso().fit`**")]
    named = set(re.findall(r"`([a-z_/]+)`", walk))
    stems = [file.removesuffix(".py") for file in select[0]]
    assert [stem for stem in stems if not {stem, stem.removesuffix("/__init__")} & named] == []


def test_every_file_that_contributing_names_is_there():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    rooms = "cli|workflow|data|record|bench|report|selectors|solvers|penalties|information|graphs"
    for name in re.findall(rf"`((?:{rooms})/[a-z_/]+)`", text):
        path = Path(infused.__file__).parent / name
        assert path.is_dir() or path.with_suffix(".py").is_file(), name
