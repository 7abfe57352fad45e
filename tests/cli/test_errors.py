"""Whose fault it was: exit codes, and the report of a mistake of ours."""

from __future__ import annotations

import errno
import os
import subprocess
import sys

import numpy as np
import pytest

from infused import InFusedLasso
from infused.cli.app import BAD_INPUT, COMMANDS, OUR_FAULT, bug_report, tell
from infused.exceptions import InputError, Setting

SECRET = (
    "select",
    "/home/ann/secret.csv",
    "--target",
    "hiv status",
    "-k",
    "3",
    "--drop=name",
    "--lambda1=0.1",
    "-q",
    "-thiv",
    "-m",
    "lasso",
)


def raised(function, *arguments):
    with pytest.raises(Exception) as caught:
        function(*arguments)
    return caught.value


def failing_fit(error):
    def fit(self, X, y):
        raise error

    return fit


def test_a_mistake_of_ours(folder, infused, monkeypatch):
    monkeypatch.setattr(InFusedLasso, "fit", failing_fit(ZeroDivisionError("division by zero")))
    done = infused("select", "patients.csv", "--target", "diagnosis", "-k", "3")
    assert (done.code, done.out) == (OUR_FAULT, "")
    assert "Traceback" not in done.err
    for words in (
        "Please report it",
        "infused 0.",
        "Python 3.",
        "command: infused select ... --target ... -k 3",
        "  ZeroDivisionError\n",
        "at infused/workflow/select.py:",
    ):
        assert words in done.err, done.err
    assert "patients" not in done.err
    assert not (folder / "infused-patients").exists()


def test_the_report_hides_what_comes_from_the_data():
    text = bug_report(raised(int, "x"), SECRET)
    assert "command: infused select ... --target ... -k 3 --drop... --lambda1=0.1 -q -t... -m lasso" in text
    for word in ("ann", "secret", "hiv", "name"):
        assert word not in text


class PrivateError(ValueError):
    """One whose message is the content of an object."""


@pytest.mark.parametrize(
    "error",
    [
        PrivateError({"patient": "Ann Smith"}),
        KeyError("Ann Smith"),
        ValueError("could not convert string to float: 'Ann Smith'"),
        RuntimeError("/home/Ann Smith/secret.csv is gone"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_the_report_hides_what_an_error_says(folder, infused, monkeypatch, error):
    monkeypatch.setattr(InFusedLasso, "fit", failing_fit(error))
    done = infused("select", "patients.csv", "--target", "diagnosis", "-k", "3")
    assert done.code == OUR_FAULT and type(error).__name__ in done.err
    assert "Ann" not in done.err and "secret" not in done.err and "at infused/workflow" in done.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("/home/ann/secret.csv",),
        ("select", "x.csv", "-m", "ann.secret.Selector"),
        ("select", "x.csv", "--method=lasso:keep=secret"),
        ("select", "x.csv", "--set", "keep=secret"),
        ("select", "x.csv", "--set=keep=secret"),
        ("select", "x.csv", "-msecret"),
        ("select", "x.csv", "--scoring", "secret", "--grid", "secret"),
        ("benchmark", "secret", "-k", "secret"),
        ("methods", "ann.secret"),
        ("--quiet", "secret.csv"),
    ],
    ids=" ".join,
)
def test_the_report_hides_every_text_that_was_typed(arguments):
    text = bug_report(raised(int, "x"), arguments)
    assert "secret" not in text and "ann" not in text


def test_the_report_hides_where_the_code_of_others_is(tmp_path):
    """Also below a folder that is called as one of ours."""
    file = tmp_path / "src" / "secret" / "plan.py"
    code = compile("def f(): raise ValueError\nf()", str(file), "exec")
    assert "secret" not in bug_report(raised(exec, code), ["select"])


def test_the_report_knows_every_command():
    from infused.cli.app import app, benchmarks, named_data

    groups = (app, benchmarks, named_data)
    own = {one.name or one.callback.__name__ for group in groups for one in group.registered_commands}
    assert own | {one.name for one in app.registered_groups} == COMMANDS


def multiply(a, b):
    return np.array(a) @ np.array(b)


def test_numpy_inside_our_code_is_our_fault(capsys):
    error = raised(multiply, [1, 2], [1, 2, 3])
    assert isinstance(error, ValueError)
    assert tell(error, ["select"]) == OUR_FAULT


def test_a_check_of_ours_is_about_the_input(capsys):
    error = raised(InFusedLasso(n_features_to_select=9).fit, np.eye(4), [0, 1, 0, 1])
    assert isinstance(error, ValueError)
    assert tell(error, ["select"]) == BAD_INPUT
    assert capsys.readouterr().err == "Error: -k 9 is more than the 4 features of X.\n"


def test_a_full_disk_is_no_mistake_of_ours(capsys):
    error = OSError(errno.ENOSPC, "No space left on device", "out/report.html")
    assert tell(error, ["select"]) == BAD_INPUT
    assert capsys.readouterr().err == "Error: 'out/report.html': No space left on device\n"


def test_a_lost_connection_to_a_worker_is_no_mistake_of_ours(capsys):
    lost = pytest.importorskip("distributed.comm").CommClosedError("in <TCP (closed)>:\nStream is closed")
    assert tell(lost, ["compare"]) == BAD_INPUT
    told = "Error: the Dask cluster failed: CommClosedError: in <TCP (closed)>: Stream is closed\n"
    assert capsys.readouterr().err == told


def test_too_little_memory(capsys):
    assert tell(MemoryError(), ["select"]) == BAD_INPUT
    assert "not enough memory" in capsys.readouterr().err


def test_parameters_are_spelled_as_options(capsys):
    tell(InputError("fill with ", Setting("impute", "mean"), " or ", Setting("drop", ["a b", "c"])), [])
    assert capsys.readouterr().err == "Error: fill with --impute mean or --drop 'a b' --drop c\n"


def test_no_colours_where_nobody_looks(capsys):
    tell(InputError("a [red] herring"), [])
    assert capsys.readouterr().err == "Error: a [red] herring\n"


def test_the_exit_code_of_the_process():
    done = subprocess.run(
        [sys.executable, "-m", "infused", "selct"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (BAD_INPUT, "")
    assert done.stderr == "Error: No such command 'selct'. Did you mean 'select'? (see infused --help)\n"


def test_a_folder_that_may_not_be_written_to(folder, infused, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write anywhere
    done = infused("select", "patients.csv", "-t", "diagnosis", "-k", "3", "-o", "there/out")
    assert done.code == BAD_INPUT
    assert "cannot be written to" in done.err and str(folder) in done.err
    assert not (folder / "there").exists()


@pytest.mark.parametrize(
    ("command", "missing", "job"),
    [
        (("select", "patients.csv", "-t", "diagnosis", "-o", "new"), "jinja2", "select"),
        (("compare", "patients.csv", "-t", "diagnosis", "-o", "new"), "jinja2", "compare"),
        (("rerun", "out", "-o", "new"), "jinja2", "rerun"),
        (("explain", "patients.csv", "glucose", "-t", "diagnosis", "-o", "new"), "matplotlib", "explain"),
    ],
    ids=["select", "compare", "rerun", "explain"],
)
def test_a_package_for_the_results_is_missed_before_the_work(
    results, infused, monkeypatch, command, missing, job
):
    monkeypatch.setitem(sys.modules, missing, None)
    monkeypatch.setattr(f"infused.workflow.{job}", lambda *args, **kwargs: pytest.fail("it worked in vain"))
    done = infused(*command)
    assert done.code == BAD_INPUT and f"needs the package {missing}" in done.err and done.err.count("\n") == 1
    assert not (results / "new").exists()
