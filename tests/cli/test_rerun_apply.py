"""A record is enough to repeat a selection, and to apply it to new data."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from infused.record.schema import SelectionRecord
from tests.cli.conftest import patients
from tests.data.writers import NAMES, frame

RECORD = "out/selection.json"


def selected(folder="out"):
    text = Path(folder, "selection.json").read_text(encoding="utf-8")
    return [feature.name for feature in SelectionRecord.from_json(text).selected]


@pytest.mark.parametrize(
    "options",
    [
        ("-k", "auto", "--transform", "auto", "-m", "mrmr"),
        ("-k", "0.3", "--lambda2", "0.1", "--task", "classification", "--drop", "zinc"),
        ("-k", "3", "-m", "random", "--seed", "7"),
        ("-k", "4", "--grid", "2x5"),
    ],
    ids=["auto", "options", "random", "grid"],
)
def test_rerun_gives_the_same_features(folder, infused, options):
    assert (
        infused("select", "patients.csv", "-t", "diagnosis", *options, "-o", "out", "--no-report").code == 0
    )
    done = infused("rerun", RECORD, "-o", "again", "--no-report")
    assert done.code == 0, done.err
    assert done.out.startswith(f"The same {len(selected())} features came out, in the same order.")
    first, second = (json.loads((folder / name / "selection.json").read_text()) for name in ("out", "again"))
    for part in ("request", "selected", "features", "redundancy"):
        assert first[part] == second[part]
    assert first["data"]["fingerprint"] == second["data"]["fingerprint"]
    assert first["data"]["grid_shape"] == second["data"]["grid_shape"]


def test_rerun_writes_nothing_unless_asked(results, infused):
    before = sorted(results.rglob("*"))
    done = infused("rerun", "out")  # the folder will do
    assert (done.code, done.err) == (0, "")
    assert sorted(results.rglob("*")) == before


def test_rerun_with_changed_data(results, infused):
    changed = patients()
    changed["lead"] += 30 * (changed["diagnosis"] == "ill")
    changed.to_csv("patients.csv", index=False)
    done = infused("rerun", RECORD, "--force", "-o", "again", "--no-report")
    assert done.code == 0, "other features are to be expected"
    assert "Warning: 'patients.csv' changed since" in done.err
    assert "1 of 3 are no longer selected" in done.out
    assert "lead" in selected("again")


def test_rerun_with_moved_data(results, infused):
    (results / "patients.csv").rename(results / "moved.csv")
    assert infused("rerun", RECORD, "--data", "moved.csv").code == 0


def test_rerun_that_differs_is_our_fault(results, infused):
    path = results / "out" / "selection.json"
    record = json.loads(path.read_text())
    record["selected"].reverse()
    path.write_text(json.dumps(record))
    done = infused("rerun", RECORD)
    assert done.code == 1
    assert "but in another order (then infused" in done.out


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_apply_finds_columns_in_another_order(results, infused, suffix):
    done = infused("apply", RECORD, "new-patients.csv", "-o", f"reduced.{suffix}")
    assert done.code == 0, done.err
    assert done.out.startswith(f"20 rows x 3 features in reduced.{suffix}\n")
    reduced = pd.read_csv("reduced.csv") if suffix == "csv" else pd.read_parquet("reduced.parquet")
    assert list(reduced) == selected()
    pd.testing.assert_frame_equal(reduced, patients(20, seed=1)[selected()])


def test_apply_can_transform(folder, infused):
    infused(
        "select",
        "patients.csv",
        "-t",
        "diagnosis",
        "-k",
        "2",
        "-m",
        "anova",
        "--transform",
        "sqrt",
        "-o",
        "out",
    )
    infused("apply", RECORD, "patients.csv", "-o", "plain.parquet")
    infused("apply", RECORD, "patients.csv", "-o", "rooted.parquet", "--transformed")
    expected = patients()[selected()]
    pd.testing.assert_frame_equal(pd.read_parquet("plain.parquet"), expected)
    pd.testing.assert_frame_equal(pd.read_parquet("rooted.parquet"), np.sqrt(expected))


def test_apply_replaces_with_force_only(results, infused):
    (results / "x.csv").write_text("old")
    assert infused("apply", RECORD, "new-patients.csv", "-o", "x.csv", "--force", "--quiet").out == ""
    assert list(pd.read_csv("x.csv")) == selected()
    assert [path.name for path in results.iterdir() if path.name.startswith(".")] == []


def test_apply_with_hard_names(folder, infused):
    frame().to_parquet("hard.parquet")
    infused("select", "hard.parquet", "-t", "diagnosis", "-k", str(len(NAMES)), "-m", "random", "-o", "out")
    assert infused("apply", RECORD, "hard.parquet", "-o", "hard.csv").code == 0
    reduced = pd.read_csv("hard.csv")
    assert list(reduced) == selected() and set(reduced) == set(NAMES)
    pd.testing.assert_frame_equal(reduced, frame()[list(reduced)], check_dtype=False)


def test_apply_makes_one_hot_columns_again(folder, infused):
    data = patients()
    data["ward"] = np.where(data["diagnosis"] == "ill", "north", "south")
    data.to_csv("wards.csv", index=False)
    infused("select", "wards.csv", "-t", "diagnosis", "--one-hot", "-k", "1", "-m", "anova", "-o", "out")
    assert selected() == ["ward=north"]
    infused("apply", RECORD, "wards.csv", "-o", "x.csv")
    assert pd.read_csv("x.csv")["ward=north"].tolist() == (data["ward"] == "north").astype(int).tolist()
