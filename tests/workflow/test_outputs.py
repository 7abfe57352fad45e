"""Files are whole or absent, also after a kill; names survive the CSV."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import time
from dataclasses import replace

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from infused._runtime.spreadsheets import csv_text, frame_csv, guarded, unguarded
from infused.exceptions import InputError
from infused.record.schema import SelectionRecord
from infused.workflow.outputs import FILES, check_folder, read_selected, selected_csv, write_outputs
from tests.record.records import cells_record

# One process that loads everything once and forks the writers, each of which is killed.
KILLED_WRITERS = """
import os, random, signal, sys, time
from infused._runtime.files import write_whole
from infused.record.schema import SelectionRecord
from infused.workflow import outputs
record = SelectionRecord.from_json(open(sys.argv[1], encoding="utf-8").read())

def write_slowly(path, content):
    def pour(file):
        for start in range(0, len(content), 1 + len(content) // 6):
            file.write(content[start : start + 1 + len(content) // 6])
            file.flush()
            time.sleep(0.004)
    write_whole(path, pour)

outputs.write_whole = write_slowly
moments = random.Random(0)
for folder in sys.argv[2:]:
    writer = os.fork()
    while writer == 0:
        outputs.write_outputs(folder, record, force=True, page="<p>" + "x" * 100_000 + "</p>")
    time.sleep(moments.uniform(0.005, 0.15))
    os.kill(writer, signal.SIGKILL)
    os.waitpid(writer, 0)
"""


@pytest.fixture
def record():
    return cells_record()


def test_what_is_written_reads_back(tmp_path, record):
    table = pa.table({"a": [1.0, 2.0]})
    written = write_outputs(tmp_path / "new" / "folder", record, reduced=table, page="<p>é</p>")
    folder = tmp_path / "new" / "folder"
    assert sorted(written) == sorted(folder.iterdir()), "and no temporary file is left"
    assert SelectionRecord.from_json((folder / "selection.json").read_text(encoding="utf-8")) == record
    assert read_selected(folder / "selected.csv") == [feature.name for feature in record.selected]
    assert pd.read_parquet(folder / "reduced.parquet").equals(table.to_pandas())
    assert (folder / "report.html").read_text(encoding="utf-8") == "<p>é</p>"


def test_the_csv_has_a_column_for_each_class(tmp_path, record):
    write_outputs(tmp_path, record)
    rows = list(csv.DictReader((tmp_path / "selected.csv").read_text(encoding="utf-8").splitlines()))
    assert list(rows[0]) == ["rank", "feature", "score", "alone", "unique", "coefficient", "redundancy_group"]
    assert [float(row["score"]) for row in rows] == [feature.score for feature in record.selected]
    groups = ["" if feature.group is None else str(feature.group) for feature in record.selected]
    assert [row["redundancy_group"] for row in rows] == groups and "1" in groups
    first = replace(record.selected[0], coefficients=(0.1, None), score=None, unique=None, group=None)
    several = replace(record, coefficient_names=("a", "b,c"), selected=(first,))
    header, row = csv.reader(selected_csv(several).splitlines())
    assert header[5:] == ["coefficient_a", "coefficient_b,c", "redundancy_group"]
    assert row == ["1", first.name, "", repr(first.alone), "", "0.1", "", ""]


def test_earlier_results_are_kept_without_force(tmp_path, record):
    (tmp_path / "selection.json").write_text("old")
    with pytest.raises(InputError, match=r"holds earlier results \(selection.json\)") as caught:
        write_outputs(tmp_path, record)
    assert "\n" not in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["selection.json"]
    assert (tmp_path / "selection.json").read_text() == "old"


def test_force_leaves_no_file_of_the_earlier_selection(tmp_path, record):
    write_outputs(tmp_path, record, page="old", reduced=pa.table({"a": [1]}))
    (tmp_path / "notes.txt").write_text("mine")
    write_outputs(tmp_path, record, force=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["notes.txt", "selected.csv", "selection.json"]


def test_a_file_is_no_folder(tmp_path, record):
    (tmp_path / "taken").write_text("")
    for force in (False, True):
        with pytest.raises(InputError, match="is a file, not a folder"):
            check_folder(tmp_path / "taken", force)


def test_what_cannot_be_written_replaces_nothing(tmp_path, record):
    write_outputs(tmp_path, record)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(AttributeError):
        write_outputs(tmp_path, record, reduced="no table", force=True)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("name", ["=cmd()", "+1+1", "-2-3", "@SUM(A1)", "\t=1", "\r=1", "'=1", "''@"])
def test_formulas_are_marked_as_text(name):
    assert guarded(name) == f"'{name}"


@pytest.mark.parametrize("name", ["x", "-1.5", "+3", "-.5e-3", "a=b", "'quoted'", "", "1-2"])
def test_other_names_stay_as_they_are(name):
    assert guarded(name) == name


@given(
    st.text(alphabet=st.one_of(st.sampled_from("'=+-@\t\r\n,\"1"), st.characters(exclude_categories=["Cs"])))
)
def test_every_name_survives_the_csv(name):
    assert unguarded(guarded(name)) == name


def test_hard_names_survive_the_file(tmp_path, record):
    names = ["=1", "'=1", 'a"b', "a,b", "a\nb", "a\r\nb", "é", "-1", " ", "\x00", "\u2028"]
    features = tuple(replace(record.selected[0], name=name, rank=n + 1) for n, name in enumerate(names))
    write_outputs(tmp_path, replace(record, selected=features))
    assert read_selected(tmp_path / "selected.csv") == names


@pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")
def test_a_kill_leaves_whole_files_only(tmp_path, record):
    source, folders = tmp_path / "record.json", [tmp_path / f"out{n}" for n in range(8)]
    source.write_text(record.to_json(), encoding="utf-8")
    subprocess.run([sys.executable, "-c", KILLED_WRITERS, source, *folders], check=True)
    found = {folder: {path.name for path in folder.iterdir()} for folder in folders if folder.exists()}
    for folder, names in found.items():
        for name in names & set(FILES):
            check_whole(folder / name, record)
        assert "selection.json" not in names or {"selected.csv", "report.html"} < names, "it comes last"
    cut = [folder for folder, names in found.items() if names - set(FILES)]
    assert cut, "no kill came while a file was being written"
    stranger = cut[0] / ".film.mp4.part"
    stranger.touch()
    for path in cut[0].iterdir():
        os.utime(path, (0, 0))
    write_outputs(cut[0], record, force=True)
    left = {path.name for path in cut[0].iterdir()}
    assert left == {"selected.csv", "selection.json", stranger.name}, "leftovers of ours are removed"


def check_whole(path, record):
    text = path.read_text(encoding="utf-8")
    if path.name == "selection.json":
        assert SelectionRecord.from_json(text) == record
        assert json.loads(text)
    elif path.name == "selected.csv":
        assert text == selected_csv(record)
    else:
        assert text.endswith("</p>")


def test_cells_are_whole_in_every_country():
    text = csv_text([["a;b", 'c"d', "=x", 1.5, None, "", "p\tq", "r,s"]])
    assert text == '"a;b","c""d",\'=x,1.5,,"","p\tq","r,s"\n'
    assert next(csv.reader([text])) == ["a;b", 'c"d', "'=x", "1.5", "", "", "p\tq", "r,s"]


def test_frames_are_guarded_from_head_to_foot():
    link = '=HYPERLINK("http://example.org";"x")'
    frame = pd.DataFrame({link: [1.5, float("nan")], "level": ["@SUM(A1)", None]})
    header, first, second = csv.reader(frame_csv(frame).splitlines())
    assert header == [f"'{link}", "level"]
    assert (first, second) == (["1.5", "'@SUM(A1)"], ["", ""])
    numbers = frame_csv(frame[[link]])
    assert numbers.startswith("\"'=HYPERLINK(") and numbers.splitlines()[1] == "1.5"


TURNS = """
import sys, time
from infused._runtime.files import write_whole
from infused.record.schema import SelectionRecord
from infused.workflow import outputs
from dataclasses import replace
record = SelectionRecord.from_json(open(sys.argv[1], encoding="utf-8").read())
record = replace(record, method_name=sys.argv[3])

def slowly(path, content):
    time.sleep(0.01)
    write_whole(path, content)

outputs.write_whole = slowly
for _ in range(8):
    outputs.write_outputs(sys.argv[2], record, force=True, page=sys.argv[3])
"""


@pytest.mark.skipif(os.name != "posix", reason="locks a folder")
def test_two_runs_into_one_folder_take_turns(tmp_path, record):
    source, folder = tmp_path / "record.json", tmp_path / "out"
    source.write_text(record.to_json(), encoding="utf-8")
    command = [sys.executable, "-c", TURNS, str(source), str(folder)]
    runs = [subprocess.Popen([*command, name]) for name in ("first", "second")]
    seen = 0
    while any(run.poll() is None for run in runs) or not seen:
        try:  # the record goes first and comes last: while it is there, all is of one run
            before = (folder / "selection.json").read_text(encoding="utf-8")
            page = (folder / "report.html").read_text()
            after = (folder / "selection.json").read_text(encoding="utf-8")
        except FileNotFoundError:
            time.sleep(0.001)
            continue
        if before == after:
            seen += 1
            assert SelectionRecord.from_json(before).method_name == page
    assert [run.returncode for run in runs] == [0, 0]
    assert sorted(path.name for path in folder.iterdir()) == ["report.html", "selected.csv", "selection.json"]
