"""No record, text, store or file of the working folder runs code, whatever it names: see docs/security.md."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import infused
from infused import AutoSelector, StabilitySelection, make_selector
from infused.cli import SHELTERED, main
from infused.exceptions import InputError
from infused.record.schema import SCHEMA, SelectionRecord
from infused.selectors import registry
from infused.selectors.method import Method
from infused.workflow import Selection
from tests.hostile_methods import CANARY, IDS, MODULE, NAMES, VALUES, named, plant

ROOT = Path(__file__).parents[1]
RECORD = "selection.json"


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """The record of a small selection, and the data."""
    folder = tmp_path_factory.mktemp("original")
    rng = np.random.default_rng(0)
    y = np.arange(24) % 2
    table = np.column_stack([rng.normal(size=(24, 4)) + y[:, None] * [2, 0, 1, 0], y])
    data = folder / "t.csv"
    np.savetxt(data, table, "%.4f", delimiter=",", header="a,b,c,d,y", comments="")
    selection = infused.select(data, "y", k=2, method="anova", stability=0, task="classification")
    return json.loads(selection.record.to_json()), data.read_bytes()


@pytest.fixture
def here(tmp_path, monkeypatch, original):
    """A working folder with the data and with code that waits for its moment, which Python would find."""
    (tmp_path / "t.csv").write_bytes(original[1])
    plant(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, MODULE, raising=False)
    yield tmp_path
    assert not (tmp_path / CANARY).exists(), "code ran"
    assert MODULE not in sys.modules, "a module of the working folder was imported"


def write(record, **request):
    changed = {**record, "request": {**record["request"], "source": "t.csv", **request}}
    Path(RECORD).write_text(json.dumps(changed))
    return changed


def told(capfd):
    """The one line of an error."""
    (line,) = capfd.readouterr().err.splitlines()
    assert line.startswith("Error: ")
    return line


@pytest.mark.parametrize("id", IDS)
def test_a_record_names_no_code(here, original, capfd, id):
    for method in named(id):
        write(original[0], method=method)
        assert main(["rerun", RECORD]) == 2, method
        told(capfd)
    with pytest.raises(InputError):
        infused.rerun(RECORD)


@pytest.mark.parametrize("id", [f"{MODULE}.Thing", "subprocess.Popen"])
def test_what_shows_a_record_makes_nothing_of_it(here, original, id):
    for method in named(id):
        write(original[0], method=method)
        assert Selection.load(RECORD).apply("t.csv").shape == (24, 2)
    assert "<html" in Selection.load(RECORD).report()
    assert main(["apply", RECORD, "t.csv", "-o", "new.csv", "-q"]) == 0


def test_the_error_says_what_to_change(here, original, capfd):
    write(original[0], method={"id": f"{MODULE}.Thing", "parameters": {}})
    assert main(["rerun", RECORD]) == 2
    line = told(capfd)
    assert (
        "'canary.Thing' is not a registered method but a path to code" in line and "--allow-imports" in line
    )
    with pytest.raises(InputError, match="allow_imports=True"):
        infused.rerun(RECORD)


def test_the_method_is_looked_at_before_the_data(here, original, capfd):
    Path("t.csv").write_text("not, even\ndata")
    write(original[0], method={"id": f"{MODULE}.Thing", "parameters": {}})
    assert main(["rerun", RECORD]) == 2 and "path to code" in told(capfd)


@pytest.mark.parametrize("id", ["lasso", "stability", "auto", "anova", "random-forest"])
@pytest.mark.parametrize("name", NAMES)
def test_no_parameter_of_a_record_is_code(here, original, monkeypatch, id, name):
    def refuse(*_, **__):
        raise InputError("the data are not looked at here")

    monkeypatch.setattr(sys.modules["infused.workflow.select"], "load_data", refuse)
    record = SelectionRecord.from_json(json.dumps({**original[0], "schema": SCHEMA}))
    for value in VALUES:
        method = Method(id, {name: value})
        with pytest.raises(InputError) as error:
            infused.rerun(Selection(replace(record, request=replace(record.request, method=method))))
        assert len(str(error.value).splitlines()) == 1


@pytest.mark.parametrize("value", VALUES, ids=repr)
@pytest.mark.parametrize(
    ("id", "name"), [("stability", "selector"), ("auto", "methods"), ("auto", "scoring")]
)
def test_no_value_is_code_once_the_data_are_there(here, original, capfd, id, name, value):
    write(original[0], method={"id": id, "parameters": {name: value}})
    harmless = "scoring" in str(value)  # of a lasso that chooses no number
    assert main(["rerun", RECORD]) in ((1, 2) if harmless else (2,))
    assert "Please report" not in capfd.readouterr().err


@pytest.mark.parametrize(
    "more",
    [
        {"allow_imports": True},
        {"imports": True},
        {"__class__": "canary.Thing"},
        {"py/object": "canary.Thing"},
    ],
)
def test_a_record_cannot_allow_imports(here, original, capfd, more):
    for method in ({"id": f"{MODULE}.Thing", "parameters": {}, **more}, {"id": "anova", "parameters": more}):
        write(original[0], method=method)
        assert main(["rerun", RECORD]) == 2
        told(capfd)
    write(original[0], method={"id": f"{MODULE}.Thing", "parameters": {}}, **more)
    assert main(["rerun", RECORD]) == 2
    told(capfd)


def places(tree, at=()):
    """Where a record holds a text, or nothing."""
    if isinstance(tree, dict | list):
        for key, item in tree.items() if isinstance(tree, dict) else enumerate(tree[:2]):
            yield from places(item, (*at, key))
    elif tree is None or isinstance(tree, str):
        yield at


@pytest.mark.parametrize("text", [f"{MODULE}.Thing", f"{MODULE}.pkl", f"$(touch {CANARY})", "os.system"])
def test_no_text_of_a_record_is_code(here, original, capfd, text):
    for at in places(original[0]):
        changed = json.loads(json.dumps(original[0]))
        changed["request"]["source"] = "t.csv"
        inner = changed
        for key in at[:-1]:
            inner = inner[key]
        inner[at[-1]] = text
        Path(RECORD).write_text(json.dumps(changed))
        for command in (
            ["rerun", RECORD, "-q"],
            ["apply", RECORD, "t.csv", "-o", "new.csv", "-q", "--force"],
        ):
            assert main(command) in (0, 1, 2)
            assert "Please report" not in capfd.readouterr().err, (at, command)


@pytest.mark.parametrize("id", IDS)
def test_a_text_in_python_names_no_code(here, id):
    X, y = np.random.default_rng(0).normal(size=(12, 3)), np.arange(12) % 2
    for text in (id, f"{id}:allow_imports=True"):
        for made in (
            lambda text=text: make_selector(text),
            lambda text=text: StabilitySelection(text, n_pairs=1).fit(X, y),
            lambda text=text: make_selector("stability", selector=text).fit(X, y),
            lambda text=text: make_selector("auto", methods=[text]).fit(X, y),
            lambda text=text: AutoSelector({text: {}}).fit(X, y),
            lambda text=text: infused.select((X, y), method=text),
            lambda text=text: infused.select((X, y), method="stability", selector=text),
            lambda text=text: infused.compare((X, y), methods=[text], k=1, folds=2),
            lambda text=text: infused.compare((X, y), methods=["anova"], classifier=text, k=1, folds=2),
            lambda text=text: Method.parse(text).check(),
        ):
            with pytest.raises(InputError):
                made()


@pytest.mark.parametrize("id", IDS)
def test_a_command_line_names_no_code(here, id):
    if "\x00" in id:
        pytest.skip("no command line holds it")
    given = ["t.csv", "-t", "y", "--task", "classification"]
    for command in (
        ["select", *given, "-m", id, "--json"],
        ["select", *given, "-m", f"stability:selector={id}", "--json"],
        ["select", *given, "-m", "stability", "--set", f"selector={id}", "--json"],
        ["select", *given, "-m", "auto", "--set", f"methods={id}", "--json"],
        ["methods", id],
    ):
        assert main(command) == 2, command


@pytest.mark.parametrize("id", [f"{MODULE}.Thing", f"{MODULE}:Thing", "subprocess.Popen", "sklearn.svm.SVC"])
def test_a_comparison_names_no_code(here, id):
    given = ["t.csv", "-t", "y", "--task", "classification"]
    for command in (
        ["compare", *given, "--methods", id, "--json"],
        ["compare", *given, "--methods", f"anova,stability:selector={id}", "--json"],
        ["compare", *given, "--classifier", id, "--json"],
        ["benchmark", "--datasets", *given, "--methods", id],
        ["benchmark", "--datasets", *given, "--methods", "anova", "--classifier", id],
    ):
        assert main(command) == 2, command


def test_a_store_names_no_code(here, capfd):
    """Tables and figures show what a store says of its methods; they make none of them."""
    data = ["--datasets", "t.csv", "-t", "y", "--task", "classification", "-k", "1,2", "--folds", "2", "-q"]
    assert main(["benchmark", *data, "--methods", "anova,random", "--jobs", "1"]) == 0
    store = infused.bench.Store("infused-results")
    rows = store.table().to_pylist()
    for row in rows:
        row |= {"method": f"{MODULE}.Thing", "classifier": f"{MODULE}.Thing", "scoring": "accuracy"}
        row |= {"parameters": json.dumps({"selector": f"{MODULE}.Thing", "allow_imports": True})}
    hostile = infused.bench.Store("hostile")
    for cell in {row["cell"] for row in rows}:
        hostile.write([row for row in rows if row["cell"] == cell])
    for command in (["table"], ["compact"]):
        capfd.readouterr()
        assert main(["benchmark", *command, "--store", "hostile"]) in (0, 2)
        assert "Please report" not in capfd.readouterr().err


def installed(*arguments, cwd, **environment):
    """Run Python as a user does; the folder of the sources is the one that infused is installed in."""
    usual = {name: value for name, value in os.environ.items() if name not in SHELTERED}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env={**usual, "PYTHONPATH": str(ROOT / "src"), **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )


#: What is imported first of all, what processes import, and what libraries try to import.
# fmt: off
SHADOWED = (
    "ast", "inspect", "json", "typing", "dataclasses", "pickle", "socket", "signal", "lazy_loader", "numpy",
    "scipy", "sklearn", "numba", "typer", "click", "rich", "pandas", "pyarrow", "joblib", "threadpoolctl",
    "psutil", "filelock", "jinja2", "matplotlib", "yaml", "cupy", "torch", "uvloop", "multiprocessing",
    "subprocess", "tempfile", "usercustomize", "sitecustomize", "tests", "conftest",
)
# fmt: on


@pytest.mark.parametrize(
    "command",
    [
        ["rerun", RECORD],
        ["methods", "lasso"],
        ["compare", "t.csv", "-t", "y", "--methods", "lasso", "-k", "1", "--folds", "2", "--jobs", "2"],
        ["explain", "t.csv", "a", "-t", "y", "-o", "out"],
        ["select", "t.csv", "-t", "y", "-m", "planted", "--json"],
    ],
    ids=lambda command: command[0],
)
def test_modules_and_settings_of_the_working_folder_are_left_alone(tmp_path, original, command):
    """Neither modules nor packages, nor what tells numba and matplotlib what to load."""
    (tmp_path / "t.csv").write_bytes(original[1])
    text = f"open({str(tmp_path / CANARY)!r}, 'a').write(__name__ + ' ')\n"
    for name in SHADOWED:
        (tmp_path / f"{name}.py").write_text(text)
    (tmp_path / "planted.py").write_text(text)
    package = tmp_path / "planted-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: planted\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text("[infused.selectors]\nplanted = planted:Selector\n")
    (tmp_path / ".numba_config.yaml").write_text(
        "cache_dir: kernels\ncache_locator_classes: planted.Locator\n"
    )
    (tmp_path / "matplotlibrc").write_text("backend: module://planted\n")
    record = {**original[0], "request": {**original[0]["request"], "source": "t.csv"}}
    (tmp_path / RECORD).write_text(json.dumps(record))
    done = installed("-m", "infused", *command, cwd=tmp_path)
    assert done.returncode == (2 if "planted" in command else 0), done.stderr
    assert not (tmp_path / CANARY).exists(), (tmp_path / CANARY).read_text()
    assert not (tmp_path / "kernels").exists()


def test_what_lies_in_the_working_folder_is_not_installed(tmp_path, monkeypatch):
    """Python finds packages there in a notebook: a method that they register is not one of the registry."""
    for place in (tmp_path / "work", tmp_path / "site"):
        package = place / f"{place.name}-1.0.dist-info"
        package.mkdir(parents=True)
        (package / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {place.name}\nVersion: 1.0\n")
        (package / "entry_points.txt").write_text(f"[infused.selectors]\n{place.name} = {MODULE}:Thing\n")
        monkeypatch.syspath_prepend(place)
    monkeypatch.chdir(tmp_path / "work")
    registry._registry.cache_clear()
    try:
        known = infused.available_selectors()
    finally:
        registry._registry.cache_clear()
    assert "site" in known and "work" not in known


#: Calls that make objects, paths or processes of texts.
TURNING = frozenset(
    (
        *(
            "import_module",
            "__import__",
            "find_class",
            "eval",
            "exec",
            "literal_eval",
            "loads",
            "entry_points",
        ),
        *("loadmat", "whosmat", "read_h5ad", "ParquetFile", "read_table", "read_csv", "load_workbook"),
        *("load_svmlight_file", "ZipFile", "strptime", "get_scorer", "get_template", "fork", "get_context"),
        *("Popen", "system", "spawnv", "execv", "LocalCluster", "Client", "mkdtemp", "TemporaryDirectory"),
        *("expanduser", "write_whole", "open_group", "memmap", "lookup", "reader", "DictReader", "dump"),
    )
)


#: The same under names that mean something else elsewhere.
FROM_FILES = frozenset(("subprocess.run", "np.load", "h5py.File", "zarr.open", "path.open", "place.open"))


def turning_points():
    """The modules in which a text may become something else, and how."""
    for path in sorted((ROOT / "src" / "infused").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            called = node.func if isinstance(node, ast.Call) else None
            name = getattr(called, "attr", getattr(called, "id", None))
            library = getattr(getattr(called, "value", None), "id", None)
            if f"{library}.{name}" in FROM_FILES:
                name = f"{library}.{name}"
            if name in TURNING | FROM_FILES or getattr(node, "attr", None) == "environ":
                yield path.relative_to(ROOT / "src" / "infused").as_posix(), name or "environ"


def test_every_place_where_text_becomes_something_else_is_listed():
    page = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    found = set(turning_points())
    assert len(found) > 40
    assert not {(path, name) for path, name in found if f"`{path}`" not in page}
    listed = set(re.findall(r"`([a-z_]+/[a-z_/]+\.py)`", page))
    assert not {path for path in listed if not (ROOT / "src" / "infused" / path).is_file()}


OWN = """
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin

class First(SelectorMixin, BaseEstimator):
    def __init__(self, *, n_features_to_select=2):
        self.n_features_to_select = n_features_to_select

    def fit(self, X, y):
        self.n_features_in_ = X.shape[1]
        self.ranking_ = np.arange(1, X.shape[1] + 1)
        return self

    def _get_support_mask(self):
        return self.ranking_ <= self.n_features_to_select
"""


def test_who_types_it_runs_a_selector_of_the_working_folder(tmp_path, original):
    (tmp_path / "t.csv").write_bytes(original[1])
    (tmp_path / "mine.py").write_text(OWN)
    select = ["select", "t.csv", "-t", "y", "-k", "2", "-m", "mine.First", "--stability", "0", "-o", "out"]
    done = installed("-m", "infused", *select, cwd=tmp_path)
    assert done.returncode == 2 and "--allow-imports" in done.stderr and not (tmp_path / "out").exists()
    done = installed("-m", "infused", *select, "--allow-imports", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert Selection.load(tmp_path / "out").features == ["a", "b"]
    done = installed("-m", "infused", "rerun", "out", cwd=tmp_path)
    assert done.returncode == 2 and "--allow-imports" in done.stderr
    done = installed("-m", "infused", "rerun", "out", "--allow-imports", cwd=tmp_path)
    assert done.returncode == 0 and "in the same order" in done.stdout, done.stderr
    compare = ["compare", "t.csv", "-t", "y", "-k", "1", "--folds", "2", "--methods", "mine.First", "--json"]
    done = installed("-m", "infused", *compare, "--jobs", "2", "--allow-imports", cwd=tmp_path)
    assert done.returncode == 0 and json.loads(done.stdout)["n_failed"] == 0, done.stderr
