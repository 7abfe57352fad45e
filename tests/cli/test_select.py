"""From a file to an answer: what is shown, what is written, what is recorded."""

from __future__ import annotations

import io
import json
import os
import shlex
import signal
import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from infused import make_selector, select
from infused.cli.options import READ_OPTIONS
from infused.cli.terminal import Watch
from infused.data import ReadOptions, load_data
from infused.record.schema import SelectionRecord
from tests.cli.conftest import patients

SELECT = ("select", "patients.csv", "-t", "diagnosis")


def record_in(folder):
    return SelectionRecord.from_json((folder / "selection.json").read_text(encoding="utf-8"))


def names(record):
    return [feature.name for feature in record.selected]


def test_the_answer_and_the_files(folder, infused):
    done = infused(*SELECT, "-k", "3")
    assert done.code == 0, done.err
    record = record_in(folder / "infused-patients")
    found = set(names(record))
    assert "glucose" in found and found & {"ferritin", "iron"}, "what was made to tell the diagnosis"
    assert "Top 3 of 10 features for predicting diagnosis (90 samples)" in done.out
    for path in ("selected.csv", "report.html", "selection.json"):
        assert (folder / "infused-patients" / path).exists()
        assert str(Path("infused-patients") / path) in done.out
    lines = done.out.splitlines()
    heading = next(n for n, line in enumerate(lines) if line.split()[:1] == ["rank"])
    shown = [line.split()[:2] for line in lines[heading + 2 : heading + 5]]
    assert shown == [[str(n + 1), name] for n, name in enumerate(names(record))]


def test_the_record_is_what_python_gives(folder, infused):
    infused(*SELECT, "-k", "4", "--lambda1", "0.1", "--set", "ranking=coefficient", "--no-report")
    record = record_in(folder / "infused-patients")
    data = load_data("patients.csv", target="diagnosis")
    selector = make_selector("infused-lasso", n_features_to_select=4, lambda1=0.1, ranking="coefficient")
    best = np.argsort(selector.fit(data.X, data.y).ranking_)[:4]
    assert names(record) == [data.feature_names[j] for j in best]
    request = record.request
    assert (request.source, request.reading.target, request.k) == ("patients.csv", "diagnosis", 4)
    assert request.method.parameters["lambda1"] == 0.1
    assert request.method.parameters["lambda2"] == 0.005, "defaults are recorded too"
    assert "n_jobs" not in request.method.parameters
    assert record.data.fingerprint == data.fingerprint
    assert set(record.timings) - {"score"} == {"read", "select"}


def test_json_and_nothing_else(folder, infused):
    before = sorted(folder.iterdir())
    command = ("select", "digits", "-k", "5", "-m", "anova", "--folds", "0", "--json")
    done = infused(*command)
    assert (done.code, done.err) == (0, ""), "notes on the data are in the JSON"
    record = SelectionRecord.from_json(done.out)
    assert record.data.notes[0].startswith("3 constant columns, selected only where")
    assert sorted(folder.iterdir()) == before
    again = infused(*command, "-o", "there", "--no-report")
    assert names(record_in(folder / "there")) == names(SelectionRecord.from_json(again.out)) == names(record)


def test_quiet_says_nothing(folder, infused):
    done = infused(*SELECT, "-k", "5", "-m", "anova", "--quiet", "--no-report")
    assert (done.code, done.out, done.err) == (0, "", "")
    assert (folder / "infused-patients" / "selection.json").exists()


def test_notes_go_to_stderr(folder, infused):
    done = infused("select", "digits", "-k", "5", "-m", "anova", "--folds", "0", "--no-report")
    names = "'pixel_0_0', 'pixel_4_0', 'pixel_4_7'"
    assert done.err == f"Note: 3 constant columns, selected only where nothing else is left: {names}\n"


def test_force_replaces_earlier_results(folder, infused):
    infused(*SELECT, "-k", "3", "-m", "anova")
    done = infused(*SELECT, "-k", "2", "-m", "anova", "--no-report", "--force")
    assert done.code == 0
    assert len(names(record_in(folder / "infused-patients"))) == 2
    assert not (folder / "infused-patients" / "report.html").exists(), "of the earlier selection"


def test_more_than_a_screen(folder, infused):
    done = infused("select", "digits", "-k", "25", "-m", "anova", "--folds", "0", "--no-report")
    assert "... and 5 more in infused-digits" in done.out
    assert len([line for line in done.out.splitlines() if "pixel_" in line and "%" in line]) == 20


def test_reduced_data(folder, infused):
    infused(*SELECT, "-k", "2", "-m", "anova", "--no-report", "--reduced", "-o", "out")
    reduced = pd.read_parquet(folder / "out" / "reduced.parquet")
    chosen = names(record_in(folder / "out"))
    assert list(reduced) == [*chosen, "diagnosis"]
    pd.testing.assert_frame_equal(reduced, patients()[list(reduced)], check_dtype=False)


def test_hostile_names_stay_text(folder, infused):
    frame = patients()
    hostile = "[red]\x1b[31m<img src=x onerror=alert(1)>\n=1+1"
    frame.rename(columns={"glucose": hostile}).to_parquet("patients.parquet")
    done = infused("select", "patients.parquet", "-t", "diagnosis", "-k", "2", "-m", "anova")
    assert done.code == 0
    assert "\x1b" not in done.out + done.err
    assert "[red]\\x1b[31m<img src=x onerror=alert(1)>\\n=1+1" in done.out
    assert hostile in names(record_in(folder / "infused-patients"))
    assert "<img src=x" not in (folder / "infused-patients" / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(("wanted", "found"), [("0.4", 4), ("1", 1), (None, 5)])
def test_how_many(folder, infused, wanted, found):
    asked = () if wanted is None else ("-k", wanted)
    done = infused(*SELECT, *asked, "-m", "anova", "--json")
    assert len(json.loads(done.out)["selected"]) == found, "without a number, a filter takes half"


def test_pictures(folder, infused):
    command = ("select", "digits", "-k", "5", "-m", "fused-lasso", "--folds", "0", "--json")
    grid = infused(*command, "--grid", "8x8")
    record = SelectionRecord.from_json(grid.out)
    assert record.data.grid_shape == (8, 8)
    assert record.request.method.parameters["fusion"] == "grid"
    assert record.request.method.parameters["grid_shape"] == [8, 8]
    chain = infused(*command)
    record = SelectionRecord.from_json(chain.out)
    assert record.data.grid_shape == (8, 8), "known of these data"
    usual = make_selector("fused-lasso").fusion
    assert record.request.method.parameters["fusion"] == usual, "as long as nobody asks for the grid"
    asked = infused(*command, "--fusion", "grid")
    assert SelectionRecord.from_json(asked.out).selected == SelectionRecord.from_json(grid.out).selected


def test_pictures_that_are_listed_by_columns(monkeypatch):
    """A picture of 2 x 5 pixels listed by columns is one of 5 x 2 listed by rows."""
    data = replace(load_data("wine").take(range(10)), grid_shape=(2, 5), grid_order="columns")
    # The module, whose name in its package is taken by the function.
    monkeypatch.setattr(sys.modules[select.__module__], "load_data", lambda source, options: data)
    record = select("wine", k=3, method="fused-lasso", fusion="grid").record
    assert record.request.method.parameters["grid_shape"] == [5, 2]


def test_pictures_for_methods_without_fusion(folder, infused):
    np.savez(
        "pixels.npz", X=patients()[list(patients())[:-1]].to_numpy(), y=patients()["diagnosis"].to_numpy(str)
    )
    done = infused("select", "pixels.npz", "-k", "2", "--grid", "2x5", "-m", "anova", "--json")
    assert SelectionRecord.from_json(done.out).data.grid_shape == (2, 5)


def test_transforms(folder, infused):
    done = infused(*SELECT, "-k", "3", "--transform", "log1p", "--json")
    record = SelectionRecord.from_json(done.out)
    data = load_data("patients.csv", target="diagnosis")
    selector = make_selector("infused-lasso", n_features_to_select=3).fit(np.log1p(data.X), data.y)
    assert sorted(f.index for f in record.selected) == np.flatnonzero(selector.support_).tolist()
    assert record.request.transform == record.transform == "log1p"
    best = np.log1p(data.X[:, record.selected[0].index])
    assert record.distributions[0].edges[-1] == pytest.approx(best.max()), "shown as they were selected"


@pytest.mark.parametrize("method", ["infused-lasso", "anova", "mrmr", "random-forest"])
def test_whole_numbers_as_real_targets(folder, infused, method):
    """The target of these data has whole numbers, which scikit-learn takes for classes."""
    done = infused("select", "diabetes", "-k", "2", "-m", method, "--json")
    record = SelectionRecord.from_json(done.out)
    assert record.data.classes is None
    assert "bmi" in names(record), "which a classification into 214 values does not find"


def test_choices_are_recorded(folder, infused):
    done = infused(*SELECT, "-k", "auto", "--transform", "auto", "-m", "anova", "--json", "--seed", "3")
    record = SelectionRecord.from_json(done.out)
    assert (record.request.k, record.request.transform) == ("auto", "auto")
    assert record.transform in ("none", "sqrt", "log1p")
    assert any("was chosen as the transform by 3-fold" in note for note in record.data.notes)
    assert record.number.chosen == len(record.selected) and record.number.n_folds == 5
    assert record.number.scoring == "accuracy" and record.number.ks == tuple(range(1, 11))
    assert record.request.seed == 3


def test_the_answer_says_how_the_number_was_chosen(folder, infused):
    done = infused(*SELECT, "-k", "auto", "-m", "anova", "--scoring", "roc_auc", "--no-report")
    words = " ".join(done.out.split())
    record = SelectionRecord.from_json((folder / "infused-patients" / "selection.json").read_text())
    assert record.request.scoring == record.number.scoring == "roc_auc"
    assert f"Number of features: {record.number.chosen} " in words
    assert "the best ROC AUC" in words and "the majority class 0.500)" in words
    assert infused(*SELECT, "-k", "3", "--scoring", "roc_auc", "--folds", "0", "-o", "x").err.startswith(
        "Error: --scoring roc_auc has no meaning where nothing is scored: leave it or --folds 0 out"
    )


def test_the_next_commands_can_be_typed(folder, infused):
    done = infused(*SELECT, "-k", "2", "-m", "anova", "--no-report")
    commands = [line.split(": ", 1)[1] for line in done.out.splitlines() if ": infused " in line]
    assert [command.split()[1] for command in commands] == ["explain", "compare", "apply"]
    for command in commands:
        words = shlex.split(command.replace("new-data.csv", "new-patients.csv"))[1:]
        more = ["--folds", "2", "--jobs", "1"] if words[0] == "compare" else []
        again = infused(*words, *more)
        assert again.code == 0, again.err
        assert ": infused " in again.out, "and that one tells the next"


def test_the_next_commands_have_the_transform_and_the_metric(folder, infused):
    how = ("--transform", "sqrt", "--scoring", "roc_auc")
    done = infused(
        "select", "breast-cancer", "-k", "2", "-m", "anova", "--no-report", "--stability", "0", *how
    )
    lines = done.out.splitlines()
    explained, compared = (next(x for x in lines if f"infused {y}" in x) for y in ("explain", "compare"))
    assert "--transform sqrt" in explained and "--scoring roc_auc --transform sqrt" in compared
    assert "values transformed by sqrt" in done.out


def test_standard_input(folder, infused, monkeypatch):
    content = (folder / "patients.csv").read_bytes()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
    done = infused("select", "-", "--target", "diagnosis", "-k", "2", "-m", "anova", "--no-report")
    assert done.code == 0 and (folder / "infused-stdin" / "selected.csv").exists()
    assert "infused explain data.csv glucose" in done.out
    assert infused("rerun", "infused-stdin").err.startswith("Error: '-', which the record names, is not here")


def test_compare_as_json(folder, infused):
    command = ("compare", "patients.csv", "--target", "diagnosis", "--methods", "anova", "-k", "2")
    done = infused(*command, "--folds", "2", "--jobs", "1", "--json")
    found = json.loads(done.out)
    assert found["metric"] == "accuracy" and "anova" in found["verdict"]
    assert [one["method"] for one in found["methods"]][2:] == ["all features", "majority class"]
    assert found["experiment"]["k"] == [2] and not list(folder.glob("infused-compare*"))


def test_benchmark_takes_the_options_that_its_messages_advise(folder, infused):
    table = pd.read_csv("patients.csv").assign(ward=["north", "south"] * 45)
    table.loc[3, "age"] = None
    table.to_csv("wards.csv", sep=";", index=False)
    command = ("benchmark", "--datasets", "wards.csv", "--methods", "anova", "-k", "2", "--folds", "2")
    command += ("--jobs", "1", "--target", "diagnosis")
    failed = infused(*command, "--impute", "error")
    assert failed.code == 2 and "--impute" in failed.err
    done = infused(*command, "--one-hot", "--impute", "median", "--separator", ";")
    assert done.code == 0 and "infused benchmark table --store infused-results" in done.out
    assert "all features" in done.out and "majority class" in done.out


def test_shell_completion(folder):
    for shell, words in {
        "bash": {"COMP_WORDS": "infused sel", "COMP_CWORD": "1"},
        "zsh": {"_TYPER_COMPLETE_ARGS": "infused sel"},
    }.items():
        environment = {**os.environ, **words, "_INFUSED_COMPLETE": f"complete_{shell}"}
        command = [sys.executable, "-m", "infused"]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120)
        assert "select" in done.stdout, (shell, done)


def test_seed(folder, infused):
    first, again, other = (
        names(
            SelectionRecord.from_json(
                infused(*SELECT, "-m", "random", "-k", "9", "--seed", seed, "--json").out
            )
        )
        for seed in (1, 1, 2)
    )
    assert first == again != other


def test_warnings_are_one_line(folder, infused):
    done = infused(*SELECT, "-k", "3", "--set", "max_iter=1", "--set", "tol=1e-12", "--json")
    assert done.code == 0
    assert done.err.startswith("Warning: InFusedLasso stopped because")
    assert done.err.count("\n") == 1
    assert json.loads(done.out)["convergence"]["converged"] is False


def test_every_option_of_reading_is_an_option_of_the_command_line():
    assert list(READ_OPTIONS) == [field.name for field in fields(ReadOptions)]


def test_other_files(folder, infused):
    """A second file for the target, text columns, missing values, columns to leave out."""
    frame = patients()
    frame["ward"] = np.where(np.arange(len(frame)) % 2, "north", "south")
    frame.loc[3, "age"] = np.nan
    frame.insert(0, "PatientID", np.arange(len(frame)) * 7)
    frame.pop("diagnosis").to_csv("labels.csv", index=False)
    frame.to_csv("features.tsv", sep="\t", index=False)
    done = infused(
        *("select", "features.tsv", "--target-file", "labels.csv", "--drop", "PatientID", "--one-hot"),
        *("--impute", "median", "-k", "3", "-m", "anova", "--json"),
    )
    record = SelectionRecord.from_json(done.out)
    assert {"ward=north", "ward=south"} < set(record.features.names)
    assert record.request.reading.given() == {
        "target_file": "labels.csv",
        "drop": ("PatientID",),
        "impute": "median",
        "one_hot": True,
    }


def test_ctrl_c(folder, infused, monkeypatch):
    monkeypatch.setattr(Watch, "report", lambda *_: signal.raise_signal(signal.SIGINT))
    before = sorted(folder.iterdir())
    done = infused(*SELECT, "-k", "3")
    assert (done.code, done.out) == (130, "")
    assert done.err == "Stopped; nothing was left half written.\n"
    assert sorted(folder.iterdir()) == before
