"""Files are whole or absent, also after a kill; names survive the CSV."""

from __future__ import annotations

import csv
import json
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from infused.selection import OutputExistsError, SelectionRecord, write_outputs

from infused.exceptions import InfusedError
from infused.workflow.outputs import FILES, _guarded, _unguarded, check_folder, read_selected, selected_csv

SLOW_WRITER = """
import sys, time
from infused.selection import SelectionRecord, outputs
record = SelectionRecord.from_json(open(sys.argv[1], encoding="utf-8").read())

def slowly(file, text):
    content = text.encode()
    for start in range(0, len(content), 1 + len(content) // 6):
        file.write(content[start : start + 1 + len(content) // 6])
        file.flush()
        time.sleep(0.004)

outputs._pour = slowly
print("ready", flush=True)
while True:
    outputs.write_outputs(sys.argv[2], record, force=True, report_html="<p>" + "x" * 100_000 + "</p>")
"""


def test_what_is_written_reads_back(tmp_path, record):
    table = pa.table({"a": [1.0, 2.0]})
    written = write_outputs(tmp_path / "new" / "folder", record, reduced=table, report_html="<p>é</p>")
    folder = tmp_path / "new" / "folder"
    assert sorted(written) == sorted(folder.iterdir()), "and no temporary file is left"
    assert SelectionRecord.from_json((folder / "selection.json").read_text(encoding="utf-8")) == record
    assert read_selected(folder / "selected.csv") == [feature.name for feature in record.selected]
    assert pd.read_parquet(folder / "reduced.parquet").equals(table.to_pandas())
    assert (folder / "report.html").read_text(encoding="utf-8") == "<p>é</p>"


def test_the_csv_has_a_column_for_each_class(tmp_path, record):
    write_outputs(tmp_path, record)
    rows = list(csv.DictReader((tmp_path / "selected.csv").read_text(encoding="utf-8").splitlines()))
    assert list(rows[0]) == ["rank", "feature", "score", "coefficient", "redundancy_group"]
    assert [float(row["score"]) for row in rows] == [feature.score for feature in record.selected]
    assert [int(row["redundancy_group"]) for row in rows] == [feature.group for feature in record.selected]
    first = replace(record.selected[0], coefficients=(0.1, None), score=None, group=None)
    several = replace(record, coefficient_names=("a", "b,c"), selected=(first,))
    header, row = csv.reader(selected_csv(several).splitlines())
    assert header == ["rank", "feature", "score", "coefficient_a", "coefficient_b,c", "redundancy_group"]
    assert row == ["1", first.name, "", "0.1", "", ""]


def test_a_data_frame_can_be_the_reduced_data(tmp_path, record):
    frame = pd.DataFrame({"a": [1.5], "b": ["x"]}, index=[7])
    write_outputs(tmp_path, record, reduced=frame)
    assert pd.read_parquet(tmp_path / "reduced.parquet").equals(frame.reset_index(drop=True))


def test_earlier_results_are_kept_without_force(tmp_path, record):
    (tmp_path / "selection.json").write_text("old")
    with pytest.raises(OutputExistsError, match=r"holds earlier results \(selection.json\)") as caught:
        write_outputs(tmp_path, record)
    assert isinstance(caught.value, InfusedError)
    assert "\n" not in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["selection.json"]
    assert (tmp_path / "selection.json").read_text() == "old"


def test_force_leaves_no_file_of_the_earlier_selection(tmp_path, record):
    write_outputs(tmp_path, record, report_html="old", reduced=pa.table({"a": [1]}))
    (tmp_path / "notes.txt").write_text("mine")
    write_outputs(tmp_path, record, force=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["notes.txt", "selected.csv", "selection.json"]


def test_a_file_is_no_folder(tmp_path, record):
    (tmp_path / "taken").write_text("")
    for force in (False, True):
        with pytest.raises(OutputExistsError, match="is a file, not a folder"):
            check_folder(tmp_path / "taken", force)


def test_a_failed_write_leaves_nothing(tmp_path, record):
    with pytest.raises(AttributeError):
        write_outputs(tmp_path, record, reduced="no table")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["=cmd()", "+1+1", "-2-3", "@SUM(A1)", "\t=1", "\r=1", "'=1", "''@"])
def test_formulas_are_marked_as_text(name):
    assert _guarded(name) == f"'{name}"


@pytest.mark.parametrize("name", ["x", "-1.5", "+3", "-.5e-3", "a=b", "'quoted'", "", "1-2"])
def test_other_names_stay_as_they_are(name):
    assert _guarded(name) == name


@given(
    st.text(alphabet=st.one_of(st.sampled_from("'=+-@\t\r\n,\"1"), st.characters(exclude_categories=["Cs"])))
)
def test_every_name_survives_the_csv(name):
    assert _unguarded(_guarded(name)) == name


def test_hard_names_survive_the_file(tmp_path, record):
    names = ["=1", "'=1", 'a"b', "a,b", "a\nb", "a\r\nb", "é", "-1", " ", "\x00", "\u2028"]
    features = tuple(replace(record.selected[0], name=name, rank=n + 1) for n, name in enumerate(names))
    write_outputs(tmp_path, replace(record, selected=features))
    assert read_selected(tmp_path / "selected.csv") == names


@pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")
def test_a_kill_leaves_whole_files_only(tmp_path, record):
    source, folder = tmp_path / "record.json", tmp_path / "out"
    source.write_text(record.to_json(), encoding="utf-8")
    moments = random.Random(0)
    caught_in_the_middle = 0
    for _ in range(6):
        command = [sys.executable, "-c", SLOW_WRITER, str(source), str(folder)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as writer:
            writer.stdout.readline()
            time.sleep(moments.uniform(0.005, 0.15))
            writer.send_signal(signal.SIGKILL)
        found = {path.name for path in folder.iterdir()} if folder.exists() else set()
        caught_in_the_middle += bool(found - set(FILES))
        for name in found & set(FILES):
            check_whole(folder / name, record)
    assert caught_in_the_middle, "no kill came while a file was being written"
    write_outputs(folder, record, force=True)
    assert {path.name for path in folder.iterdir()} == {"selected.csv", "selection.json"}, (
        "leftovers are removed"
    )


def check_whole(path, record):
    text = path.read_text(encoding="utf-8")
    if path.name == "selection.json":
        assert SelectionRecord.from_json(text) == record
        assert json.loads(text)
    elif path.name == "selected.csv":
        assert text == selected_csv(record)
    else:
        assert text.endswith("</p>")
