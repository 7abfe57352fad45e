"""How far it is from a command to the selector."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from sklearn.datasets import load_wine

import infused

ROOT = Path(__file__).parent.parent
SELECTOR = {
    f"selectors/{name}.py" for name in ("infused_lasso", "structural", "linear", "base")
}  # where the selector begins


@pytest.fixture(scope="module")
def crossed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("walk")
    load_wine(as_frame=True).frame.to_csv(folder / "file.csv", index=False)
    command = ["select", "file.csv", "--target", "target", "-k", "3", "--output", "out", "--quiet"]
    done = subprocess.run(
        [sys.executable, "-m", "tests.walks", *command],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    return [file for file in done.stdout.split() if file not in SELECTOR]


def test_the_first_walk_is_short(crossed):
    assert "cli/select.py" in crossed and "data/load.py" in crossed
    assert len(crossed) <= 25, crossed


def test_contributing_names_every_file_of_it(crossed):
    text = (ROOT / "CONTRIBUTING.md").read_text()
    walk = text[text.index("**`infused select file.csv`**") : text.index("**`InFusedLasso().fit`**")]
    named = set(re.findall(r"`([a-z_/]+)`", walk))
    stems = [file.removesuffix(".py") for file in crossed]
    assert [stem for stem in stems if not {stem, stem.removesuffix("/__init__")} & named] == []


def test_every_file_that_contributing_names_is_there():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    rooms = "cli|workflow|data|record|bench|report|selectors|solvers|penalties|information|graphs"
    for name in re.findall(rf"`((?:{rooms})/[a-z_/]+)`", text):
        path = Path(infused.__file__).parent / name
        assert path.is_dir() or path.with_suffix(".py").is_file(), name
