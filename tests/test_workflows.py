"""What GitHub is told to run: every file and every target that a workflow names exists."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
TARGETS = set(re.findall(r"^([a-z][\w-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))

pytestmark = pytest.mark.skipif(not WORKFLOWS, reason="the workflows come with a checkout only")


def commands(workflow):
    """The lines that are run, of every job."""
    for job in workflow["jobs"].values():
        for step in job["steps"]:
            yield from step.get("run", "").splitlines()


def named(command):
    """(targets, files) that a command names."""
    words = shlex.split(command)
    if words[0] == "make":
        return [word for word in words[1:] if "=" not in word and not word.startswith("-")], []
    return [], [words[0], *(word for word in words[1:] if "/" in word or word.endswith(".py"))]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_what_a_workflow_names_exists(path):
    for line in commands(yaml.safe_load(path.read_text(encoding="utf-8"))):
        targets, files = named(line)
        assert targets or files, f"{line}: a workflow runs the Makefile's commands, or files of the project"
        assert set(targets) <= TARGETS, line
        for file in files:
            assert (ROOT / file).is_file(), line


def test_every_slow_job_is_in_a_workflow():
    """What a machine at home need not do before every change, others do after it."""
    files = [yaml.safe_load(path.read_text(encoding="utf-8")) for path in WORKFLOWS]
    run = {target for workflow in files for line in commands(workflow) for target in named(line)[0]}
    wanted = {"demo", "test", "test-lowest", "test-newest", "dist", "docs", "docs-links", "lint"}
    assert wanted <= run


def test_who_publishes_holds_no_secret():
    text = (WORKFLOWS[0].parent / "release.yml").read_text(encoding="utf-8")
    publish = yaml.safe_load(text)["jobs"]["publish"]
    assert publish["permissions"] == {"id-token": "write"} and publish["environment"] == "pypi"
    assert "secrets." not in text and "password" not in text


def test_the_check_runs_targets_that_exist():
    lines = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    targets = [line.split()[1] for line in lines if line.startswith("make ")]
    assert {"lint", "docs-quick", "demo", "test"} <= set(targets) <= TARGETS


def test_a_phony_target_is_a_target():
    phony = re.search(r"^\.PHONY: (.*)", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(phony[1].split()) == TARGETS


def test_a_wrong_command_would_be_found():
    assert named("make test-lowest LOWEST_PYTHON=3.11") == (["test-lowest"], [])
    assert named("python examples/demo.py") == ([], ["python", "examples/demo.py"])
