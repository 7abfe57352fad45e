"""Whatever is wrong with a command or its data: exit code 2, one line that names it, nothing written."""

from __future__ import annotations

import ast
import re

import pytest

from infused.cli.options import spelled
from infused.exceptions import Setting
from tests.cli.bad_commands import CASES
from tests.data.bad_inputs import CASES as DATA_CASES

NAMES = {"header": "--no-header"}


def contents(folder):
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def check(done, before, folder, expected):
    assert done.code == 2, done
    assert done.out == ""
    assert done.err.startswith("Error: ")
    assert done.err.count("\n") == 1 and done.err.endswith("\n"), done.err
    assert "Traceback" not in done.err
    for words in expected:
        assert words in done.err, done.err
    assert contents(folder) == before, "something was written"


@pytest.mark.parametrize(("build", "expected"), CASES.values(), ids=CASES.keys())
def test_commands(results, infused, build, expected):
    arguments = build(results)
    before = contents(results)
    check(infused(*arguments), before, results, expected)


@pytest.mark.parametrize(("build", "expected"), DATA_CASES.values(), ids=DATA_CASES.keys())
def test_data(tmp_path, monkeypatch, infused, build, expected):
    monkeypatch.chdir(tmp_path)
    source, options = build(tmp_path)
    before = contents(tmp_path)
    done = infused("select", source, "-k", "1", *as_arguments(options))
    check(done, before, tmp_path, map(as_typed, expected))
    assert not re.search(r"\b(drop|keep|impute|target|one_hot|header|encoding)=", done.err), (
        "Python's spelling"
    )


def as_typed(words):
    """Words of a message in Python as the command line has them: settings as options, values bare."""
    setting = re.fullmatch(r"(\w+)=(.*)", words)
    if setting:
        return spelled(Setting(setting[1], ast.literal_eval(setting[2]) if setting[2] else None))
    return words.strip("'")


def as_arguments(options):
    """The options of load_data as the command line spells them."""
    arguments = []
    for name, value in options.items():
        option = NAMES.get(name, f"--{name.replace('_', '-')}")
        if isinstance(value, bool):
            arguments += [option]
        elif isinstance(value, list):
            arguments += [word for item in value for word in (option, item)]
        elif value is not None:
            arguments += [option, value]
    return arguments
