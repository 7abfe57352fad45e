"""The package as a whole: its names, its weight, its examples, its documents."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path
from types import ModuleType

import pytest
import yaml

import infused
from tests.cli.conftest import write_data

ROOT = Path(__file__).parents[1]
HEAVY = {
    *("numba", "numpy", "scipy", "sklearn", "joblib", "psutil", "threadpoolctl"),
    *("pandas", "pyarrow", "matplotlib", "jinja2", "typer", "rich", "filelock"),
}
MODULES = [module.name for module in pkgutil.walk_packages(infused.__path__, "infused.")]


def test_importing_loads_nothing_heavy():
    code = "import sys, infused; dir(infused); print(*{name.split('.')[0] for name in sys.modules})"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "infused" in loaded.split()
    assert not HEAVY & set(loaded.split())


def test_public_names():
    assert set(infused.__all__) <= set(dir(infused))
    for name in infused.__all__:
        assert getattr(infused, name).__doc__
    with pytest.raises(AttributeError, match="nothing"):
        infused.nothing  # noqa: B018 - the access is the test


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name):
    module = importlib.import_module(name)
    assert doctest.testmod(module).failed == 0


def test_public_functions_have_examples():
    for name in infused.__all__:
        public = getattr(infused, name)
        assert isinstance(public, ModuleType) or ">>>" in public.__doc__, name


def test_the_examples_of_the_readme_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_data(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, "README.md", "exec"), {"__name__": "__main__"})


def test_the_benchmark_page_shows_the_measured_tables(monkeypatch, capsys):
    from benchmarks import document

    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "argv", ["document", "--check"])
    assert document.main() == 0, capsys.readouterr().out


def test_the_version_is_the_same_everywhere():
    """It is written in infused/__init__.py; what cannot read it there is held to it here."""
    assert version("infused") == infused.__version__
    assert f"## [{infused.__version__}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert (
        yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["version"] == infused.__version__
    )
    assert recipe()["context"]["version"] == infused.__version__


def recipe():
    """The recipe for conda-forge."""
    return yaml.safe_load((ROOT / "packaging" / "conda-forge" / "recipe.yaml").read_text(encoding="utf-8"))


def test_the_recipe_asks_for_what_the_package_asks_for():
    """conda has no extras: the recipe has all that infused[all] brings."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    inside = re.findall(r"infused\[(.*)\]", extras["all"][0])[0].split(",")
    wanted = {*project["dependencies"], *(one for name in inside for one in extras[name])}
    asked = {line.replace(" ", "") for line in recipe()["requirements"]["run"]}
    conda = {"matplotlib": "matplotlib-base"}
    named = {re.sub(r"^[\w-]+", lambda name: conda.get(name[0], name[0]), one) for one in wanted}
    assert {one for one in asked if not one.startswith("python")} == named
    assert recipe()["context"]["python_min"] == project["requires-python"].removeprefix(">=")
