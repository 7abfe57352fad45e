"""What is printed about infused: every command in the help and in the README runs as it stands there."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.io

from infused import __version__, available_selectors
from infused.cli.app import app, benchmarks
from infused.data import available_datasets
from infused.data.named import SETS

README = Path(__file__).parents[2] / "README.md"
COMMANDS = [command.callback.__name__ for command in app.registered_commands]
HEAVY = ("numpy", "scipy", "sklearn", "pandas", "pyarrow", "jinja2", "matplotlib", "numba", "joblib")


def commands_in(text):
    return [line.strip() for line in text.splitlines() if line.strip().startswith("infused ")]


@pytest.fixture
def run_all(folder, infused, monkeypatch):
    """Run commands as they stand there, on a machine of one core: there, nothing starts other processes."""
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "1")

    def run(commands):
        for command in commands:
            done = infused(*shlex.split(command)[1:])
            assert done.code == 0, f"{command}: {done.err}"

    return run


def test_the_commands_of_the_help_and_the_readme_run(folder, infused, run_all):
    shown = {}
    for name in ("", *COMMANDS):
        done = infused(*name.split(), "--help")
        assert done.code == 0
        examples = commands_in(done.out.partition("Examples")[2])
        assert examples, f"infused {name} --help shows no example"
        shown |= dict.fromkeys(examples)
    blocks = re.findall(r"^```\w*\n(.*?)^```$", README.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    typed = commands_in("".join(blocks))
    assert typed
    run_all(shown | dict.fromkeys(typed))
    assert (folder / "infused-digits" / "report.html").exists()


@pytest.fixture
def small_pictures(tmp_path_factory, monkeypatch):
    """Something small in place of the data of Figure 3, so that it is drawn on every machine."""
    place = tmp_path_factory.mktemp("pictures")
    monkeypatch.setenv("INFUSED_DATA", str(place))
    size = {"n_samples": 60, "n_features": 16, "n_classes": 3, "grid_shape": (4, 4)}
    y = np.arange(60) % 3
    for seed, name in enumerate(("USPS", "YaleB")):
        X = np.random.default_rng(seed).normal(size=(60, 16)) + y[:, None] * (np.arange(16) < 3)
        scipy.io.savemat(place / f"{name}.mat", {"fea": X, "gnd": y[:, None]})
        monkeypatch.setitem(SETS, name, replace(SETS[name], sha256=None, **size))


@pytest.mark.usefixtures("small_pictures")
def test_the_examples_of_benchmark_run(folder, infused, run_all):
    """In the order in which one would type them: the first fills the store that the others read."""
    shown = {}
    for name in ("", *(command.callback.__name__ for command in benchmarks.registered_commands)):
        done = infused("benchmark", *name.split(), "--help")
        assert done.code == 0
        shown |= dict.fromkeys(commands_in(done.out.partition("Examples")[2]))
    assert len(shown) >= 5
    run_all(shown)
    assert (folder / "tables.tex").exists()
    assert {path.stem for path in folder.rglob("*.svg")} == {"accuracy", "ranks", "convergence"}


def test_version_and_help_without_a_command(infused):
    assert infused("--version").out == f"infused {__version__}\n"
    bare = infused()
    assert bare.code == 0
    assert bare.out.strip() == infused("--help").out.strip()
    for name in COMMANDS:
        assert name in bare.out


def test_all_methods_are_listed(infused):
    done = infused("methods")
    listed = {line.split(" ")[0] for line in done.out.splitlines()}
    assert set(available_selectors()) <= listed
    assert "Peng, Long, Ding 2005" in done.out
    row = next(line for line in done.out.splitlines() if line.startswith("l1-logistic"))
    assert "no" in row.split()


@pytest.mark.parametrize(
    ("method", "rows"),
    [
        ("infused-lasso", [["lambda2", "0.005", "--lambda2"], ["tol", "0.0001", "--set", "tol=..."]]),
        ("mrmr", [["scheme", "difference", "--set", "scheme=..."]]),
    ],
)
def test_one_method(infused, method, rows):
    shown = [line.split() for line in infused("methods", method).out.splitlines()]
    assert all(row in shown for row in rows)


def test_all_data_are_listed(infused, monkeypatch, tmp_path):
    monkeypatch.setenv("INFUSED_DATA", str(tmp_path))
    (tmp_path / "USPS.mat").write_bytes(b"")
    done = infused("datasets")
    rows = {line.split()[0]: line.split()[-1] for line in done.out.splitlines() if line.strip()}
    assert set(available_datasets()) <= set(rows)
    assert (rows["digits"], rows["USPS"], rows["PIE"]) == ("yes", "yes", "no")
    assert "PIE.mat, YaleB.mat: from Deng Cai's page" in done.out
    assert str(tmp_path) in done.out and "INFUSED_DATA" in done.out


def seconds(*arguments):
    start = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def test_help_is_quick():
    """In one turn of three, as the machine may have other things to do."""
    for _ in range(3):
        ours, sklearn = seconds("-m", "infused", "--help"), seconds("-c", "import sklearn")
        if ours < 0.4 * sklearn + 0.3:
            return
    pytest.fail(f"infused --help takes {ours:.2f} s, and import sklearn {sklearn:.2f} s")


@pytest.mark.parametrize("command", ["--help", "methods"])
def test_nothing_that_computes_is_loaded(command):
    """scikit-learn is heavy for more than itself: it loads pandas, where that is installed."""
    code = f"import sys; from infused.cli import main; main([{command!r}]); print('loaded', *sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in done.stdout.rpartition("loaded")[2].split()}
    assert "typer" in loaded
    assert not set(HEAVY) & loaded


@pytest.mark.parametrize("command", [(), ("rerun",), ("benchmark", "table"), ("datasets", "fetch")])
def test_help_does_not_depend_on_docstrings(command):
    """``python -OO`` drops them."""
    plain, without = (
        subprocess.run(
            [sys.executable, *flags, "-m", "infused", *command, "--help"],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "COLUMNS": "100", "TERM": "dumb"},
        ).stdout
        for flags in ((), ("-OO",))
    )
    assert plain == without
