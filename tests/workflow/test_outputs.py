"""Files are whole or absent, also after a kill; names survive the CSV."""

from __future__ import annotations

import contextlib
import csv
import os
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from itertools import count
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import infused
from infused._runtime.files import GUARDED, csv_text, frame_csv, guarded
from infused.cli import main
from infused.exceptions import InputError
from infused.record.schema import SelectionRecord
from infused.workflow.selection import (
    FILES,
    check_folder,
    read_record,
    selected_csv,
    write_outputs,
)
from tests.record.records import cells_record


@pytest.fixture
def record():
    return cells_record()


def unguarded(cell):
    return cell[1:] if GUARDED.match(cell) else cell


def read_selected(path):
    with path.open(encoding="utf-8", newline="") as file:
        return [unguarded(row["feature"]) for row in csv.DictReader(file)]


@pytest.fixture
def other(record):
    """A selection each file of which differs."""
    return replace(record, selected=(replace(record.selected[0], score=9.0), *record.selected[1:]))


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
    assert list(rows[0]) == [
        "rank",
        "feature",
        "score",
        "alone",
        "unique",
        "coefficient",
        "redundancy_group",
        "direction",
    ]
    assert [float(row["score"]) for row in rows] == [feature.score for feature in record.selected]
    groups = ["" if feature.group is None else str(feature.group) for feature in record.selected]
    assert [row["redundancy_group"] for row in rows] == groups and "1" in groups
    first = replace(record.selected[0], coefficients=(0.1, None), score=None, unique=None, group=None)
    several = replace(record, coefficient_names=("a", "b,c"), selected=(first,))
    header, row = csv.reader(selected_csv(several).splitlines())
    assert header[5:] == ["coefficient_a", "coefficient_b,c", "redundancy_group", "direction"]
    assert row == ["1", first.name, "", repr(first.alone), "", "0.1", "", "", first.direction]


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


# Kills a writer before its first, second, third ... step on the disk, each in a folder of its own.
KILLED_AT_EVERY_STEP = """
import os, signal, sys
from dataclasses import replace
from pathlib import Path
import pyarrow as pa
from infused.record.schema import SelectionRecord
from infused.workflow.selection import write_outputs
old = SelectionRecord.from_json(open(sys.argv[1], encoding="utf-8").read())
new = replace(old, selected=(replace(old.selected[0], score=9.0), *old.selected[1:]))
table = pa.table({"a": [1.0]})
before = {"page": "old" * 20_000, "reduced": table}
left = 0

def count(event, arguments):
    global left
    if event in ("open", "os.rename", "os.remove", "os.mkdir", "sync"):
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

def kill_at_every_step(base, earlier, later):
    global left
    write_outputs(base / "new", new, **later)
    for step in range(1, 1000):
        folder = base / str(step)
        if earlier is not None:
            write_outputs(folder, old, **earlier)
        writer = os.fork()
        if writer == 0:
            left = step
            os.fsync = lambda _: count("sync", ())
            sys.addaudithook(count)
            write_outputs(folder, new, force=True, **later)
            os._exit(0)
        if os.waitpid(writer, 0)[1] == 0:
            return

base = Path(sys.argv[2])
kill_at_every_step(base / "fewer files", before, {"page": "new" * 20_000})
kill_at_every_step(base / "as many", before, {"page": "new", "reduced": table})
kill_at_every_step(base / "the first", None, {"page": "new"})
"""


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    place = tmp_path_factory.mktemp("killed")
    (place / "record.json").write_text(cells_record().to_json(), encoding="utf-8")
    subprocess.run([sys.executable, "-c", KILLED_AT_EVERY_STEP, place / "record.json", place], check=True)
    return place


def contents(folder):
    return {name: (folder / name).read_bytes() for name in FILES if (folder / name).exists()}


@pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")
@pytest.mark.parametrize("change", ["fewer files", "as many", "the first"])
def test_killed_at_every_step_the_old_selection_is_whole_or_the_new_one(killed, record, change):
    place, between = killed / change, 0
    new, old = contents(place / "new"), contents(place / "1")  # which was killed before its first step
    folders = [folder for folder in place.iterdir() if folder.name != "new"]
    assert len(folders) > 20 and old != new
    for folder in folders:
        found, journals = contents(folder), list(folder.glob(".*.replacing"))
        for name, content in found.items():
            assert content in (old.get(name), new.get(name)), f"{name} is not whole"
        assert found.keys() >= old.keys() & new.keys(), "what both have is never absent"
        if found not in (old, new):
            assert journals, "files of both, and nothing says so"
            between += 1
        if journals:  # the next command that reads the folder finishes what was begun
            read_record(folder)
            assert contents(folder) == new and not list(folder.glob(".*.replacing"))
        elif found:
            assert read_record(folder) == SelectionRecord.from_json(found["selection.json"].decode())
    assert between >= 2


@pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")
def test_what_a_kill_leaves_behind_is_removed(killed, record, tmp_path):
    halves = {path.parent for path in killed.rglob(".*.part")}
    assert len(halves) > 10
    for number, half in enumerate(halves):
        folder = tmp_path / str(number)
        shutil.copytree(half, folder)
        stranger = folder / ".film.mp4.part"
        stranger.touch()
        for path in folder.iterdir():
            os.utime(path, (0, 0))
        write_outputs(folder, record, force=True)
        assert {path.name for path in folder.iterdir()} == {"selected.csv", "selection.json", stranger.name}


@contextlib.contextmanager
def largest_file(size):
    """No file can grow beyond this size: a disk that is full."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("size", [0, 20, 100, 5000, 100_000])
def test_where_the_disk_is_full_the_earlier_results_stay(tmp_path, record, other, size):
    write_outputs(tmp_path, record, page="old", reduced=pa.table({"a": [1.0]}))
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    with largest_file(size), pytest.raises(OSError, match="too large"):
        write_outputs(tmp_path, other, force=True, page="new" * 100_000)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 300 KB."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", str(place)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("a file system cannot be mounted here")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_on_a_full_disk_the_command_ends_with_2_and_nothing_is_lost(small_disk, tmp_path, capsys):
    options = [
        "--method",
        "anova",
        "-k",
        "2",
        "--no-report",
        "--stability",
        "0",
        "-o",
        str(small_disk / "out"),
        "-q",
    ]
    assert main(["select", "wine", *options]) == 0
    before = {path: path.read_bytes() for path in (small_disk / "out").iterdir()}
    with contextlib.suppress(OSError), (small_disk / "filler").open("wb") as filler:
        while True:
            filler.write(b"x" * 4096)
            filler.flush()
    assert main(["select", "breast-cancer", *options, "--force", "--reduced"]) == 2
    assert "No space left on device" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in (small_disk / "out").iterdir()} == before


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, PermissionError])
@pytest.mark.parametrize("step", range(1, 5))
def test_stopped_between_two_renames(tmp_path, record, other, monkeypatch, error, step):
    """Ctrl-C waits for the rest; a file that another program keeps open (Windows) is replaced later."""
    write_outputs(tmp_path, record, page="old")
    old, moves, move = contents(tmp_path), count(1), Path.replace

    def broken(path, target):
        if next(moves) == step:
            raise error("stopped")
        return move(path, target)

    monkeypatch.setattr(Path, "replace", broken)
    with pytest.raises(error):
        write_outputs(tmp_path, other, force=True, page="new")
    monkeypatch.undo()
    found = contents(tmp_path)
    pending = list(tmp_path.glob(".*.replacing"))
    if error is PermissionError:
        assert bool(pending) == (step > 2), "the first file that could not be replaced leaves all as it was"
        assert (found == old) == (step <= 2)
        assert read_record(tmp_path) == (other if step > 2 else record)
    else:
        assert not pending and (found == old) == (step == 1)
    assert contents(tmp_path)["report.html"] == (b"old" if contents(tmp_path) == old else b"new")
    assert not list(tmp_path.glob(".*")), "nothing else is left"


@pytest.mark.parametrize(
    "journal",
    [
        b"",
        b"\xff\xfe",
        b"0123456789ab\n-../mine.txt",
        b"0123456789ab\n-mine.txt",
        b"0123456789ab\n+../mine.txt",
        b"../../x\n-selection.json",
        b"[" * 100_000,
    ],
)
def test_a_journal_that_somebody_sent_moves_nothing(tmp_path, record, journal):
    folder = tmp_path / "out"
    write_outputs(folder, record)
    (tmp_path / "mine.txt").write_text("mine")
    (folder / "mine.txt").write_text("mine")
    before = contents(folder)
    (folder / ".selection.json.replacing").write_bytes(journal)
    assert read_record(folder) == record and contents(folder) == before
    assert (tmp_path / "mine.txt").exists() and (folder / "mine.txt").exists()


def test_a_comparison_and_an_explanation_are_replaced_whole(tmp_path, monkeypatch):
    compared = infused.compare("wine", methods=["anova"], k=2, folds=2)
    explained = infused.explain("wine", "proline")
    for result, broken in ((compared, "report"), (explained, "to_json")):
        folder = tmp_path / broken
        written = result.save(folder, **({"force": True} if result is explained else {}))
        for path in written:
            path.write_bytes(b"old")
        with monkeypatch.context() as patch:
            patch.setattr(type(result), broken, lambda *_, **__: "x" * 1_000_000)
            with largest_file(500_000), pytest.raises(OSError, match="too large"):
                result.save(folder, **({"force": True} if result is explained else {}))
        assert {path.read_bytes() for path in folder.iterdir()} == {b"old"}


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
from dataclasses import replace
from pathlib import Path
from infused.record.schema import SelectionRecord
from infused.workflow import selection
record = SelectionRecord.from_json(open(sys.argv[1], encoding="utf-8").read())
move = Path.replace

def slowly(path, target):
    time.sleep(0.005)
    return move(path, target)

Path.replace = slowly
for n in range(8):
    name = f"{sys.argv[3]} {n}"
    selection.write_outputs(sys.argv[2], replace(record, method_name=name), force=True, page=name)
"""


@pytest.mark.skipif(os.name != "posix", reason="locks a folder")
def test_two_runs_into_one_folder_take_turns(tmp_path, record):
    """Every file is there at every moment; while none is being replaced, all are of one run."""
    source, folder = tmp_path / "record.json", tmp_path / "out"
    write_outputs(folder, replace(record, method_name="before"), page="before")
    source.write_text(record.to_json(), encoding="utf-8")
    command = [sys.executable, "-c", TURNS, str(source), str(folder)]
    runs = [subprocess.Popen([*command, name]) for name in ("first", "second")]
    journal, seen = folder / ".selection.json.replacing", set()
    while any(run.poll() is None for run in runs):
        before = (folder / "selection.json").read_text(encoding="utf-8")
        page = (folder / "report.html").read_text()
        replacing = (
            journal.exists()
        )  # from before the first rename until after the last, which is the record's
        after = (folder / "selection.json").read_text(encoding="utf-8")
        if not replacing and before == after:
            assert SelectionRecord.from_json(after).method_name == page
            seen.add(page)
        time.sleep(0.0005)  # the runs need the processor too
    assert [run.returncode for run in runs] == [0, 0] and len(seen) > 1
    assert sorted(path.name for path in folder.iterdir()) == ["report.html", "selected.csv", "selection.json"]
    assert (folder / "report.html").read_text() == read_record(folder).method_name
