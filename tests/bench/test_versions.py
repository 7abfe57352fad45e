"""A store knows the code: results of an earlier version are shown as such, and stand for nothing else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from infused.bench import Cell, Experiment, Outcome, Problem, Store, plan, run_experiment
from infused.bench.rows import older
from infused.bench.tables import accuracy_table
from infused.cli import main
from infused.data import load_data
from infused.selectors import registry as versions
from infused.selectors.method import Method
from infused.selectors.registry import ABLATIONS, SelectorInfo, selector_version

CELL = Cell("wine", "d" * 64, "lasso", "{}", "nested", "svm", (2, 4), 5, 0, 0, 0)


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    return Problem(load_data((rng.normal(size=(40, 5)) + y[:, None], y)), ks=(2, 3))


@pytest.fixture
def experiment(problem):
    return Experiment((problem,), (Method("random"), Method("anova")), folds=2)


@pytest.fixture
def raised(monkeypatch):
    """A change of what the random selector answers."""
    monkeypatch.setitem(versions.CHANGED, "random", "2")


def test_a_key_covers_the_versions_and_the_first_have_the_keys_of_before():
    assert CELL.key == "ce16717a8bf64d7dbb7e70d5671d97af"  # as it was before there were versions
    others = [replace(CELL, selector_version="2"), replace(CELL, protocol_version="2")]
    assert len({CELL.key, *(cell.key for cell in others)}) == 3


def test_every_ablation_has_the_version_of_what_it_changes():
    assert {selector_version(id) for id in ABLATIONS} == {selector_version("infused-lasso")}
    assert selector_version("some.module.Class") == versions.FIRST


def test_a_selector_of_another_package_has_the_version_of_its_package(monkeypatch):
    theirs = SelectorInfo("theirs", "a:B", "", package_version="3.1")
    monkeypatch.setattr(versions, "available_selectors", lambda: ["theirs"])
    monkeypatch.setattr(versions, "selector_info", lambda id: theirs)
    assert selector_version("theirs") == "3.1"


def test_an_earlier_version_is_computed_again_and_kept_apart(tmp_path, experiment, monkeypatch):
    store = Store(tmp_path)
    assert run_experiment(experiment, store) == Outcome(computed=4, found=0, failed=0)
    assert not older(store.frame()).any()
    monkeypatch.setitem(versions.CHANGED, "random", "2")
    assert set(store.frame()[older(store.frame())]["method"]) == {"random"}
    only = accuracy_table(store.frame())  # nothing newer to confuse it with: a note
    assert only.cells["Method"].tolist() == ["anova", "random"]
    assert any("earlier version" in note and note.endswith(": random.") for note in only.notes)
    assert run_experiment(experiment, store) == Outcome(computed=2, found=2, failed=0)
    both = accuracy_table(store.frame())
    assert set(both.cells["Method"]) == {"anova", "random", "random (version 1)"}
    assert any(note.endswith(": random (version 1).") for note in both.notes)
    assert (both.data["folds"] == 2).all()  # never four
    store.compact()
    assert accuracy_table(store.frame()).to_markdown() == both.to_markdown()


def test_another_protocol_stands_for_nothing_of_before(tmp_path, experiment, monkeypatch):
    store = Store(tmp_path)
    run_experiment(experiment, store)
    for module in (plan, versions_of_rows()):
        monkeypatch.setattr(module, "PROTOCOL_VERSION", "2")
    assert older(store.frame()).all()
    assert run_experiment(experiment, store).computed == 4
    lines = accuracy_table(store.frame()).cells["Method"].tolist()
    assert "anova" in lines and "anova (version 1, protocol 1)" in lines


def versions_of_rows():
    from infused.bench import rows as versions

    return versions


def test_recompute_replaces_what_is_there(tmp_path, experiment):
    store = Store(tmp_path)
    run_experiment(experiment, store)
    store.compact()
    key = experiment.cells()[0].key
    wrong = store.frame()[lambda rows: rows["cell"] == key].assign(accuracy=0.123)
    store.write([{**row, "selected": None} for row in wrong.to_dict("records")])
    assert run_experiment(experiment, store).computed == 0
    assert (store.frame()["accuracy"] == 0.123).sum() == 2
    assert run_experiment(experiment, store, recompute=True) == Outcome(computed=4, found=0, failed=0)
    assert not (store.frame()["accuracy"] == 0.123).any() and len(store.frame()) == 8


def test_the_command_recomputes_and_its_store_is_not_that_of_a_checkout(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results").mkdir()
    options = ["--datasets", "wine", "--methods", "random", "--folds", "2", "-k", "2", "--jobs", "1", "-q"]
    for more in ([], ["--recompute"]):
        assert main(["benchmark", *options, *more]) == 0
    assert not list((tmp_path / "results").iterdir())
    assert list((tmp_path / "infused-results" / "cells").iterdir())
    capsys.readouterr()
