"""What is drawn on a terminal of known width, and when a bar appears."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest
from rich.console import Console

from infused._runtime.progress import Stage, time_text
from infused.bench.standings import compare_methods
from infused.bench.tables import standings_table
from infused.cli import terminal
from infused.cli.select import show_files, show_selection
from infused.cli.terminal import Watch
from infused.workflow import Selection
from tests.bench.made_rows import make_rows
from tests.cli.conftest import patients


def console(width=80, **options):
    return Console(file=io.StringIO(), width=width, highlight=False, markup=False, emoji=False, **options)


def test_the_answer(finished):
    selection = Selection.load(finished / "out")
    best = selection.record.selected[0]
    narrow, wide = ["alone", "adds", "group"], ["alone", "others", "group"]
    for width, heading in ((60, narrow), (80, narrow), (120, wide)):
        screen = console(width)
        show_selection(screen, selection, [Path("out/selected.csv"), Path("out/report.html")])
        lines = [line.rstrip() for line in screen.file.getvalue().splitlines()]
        assert lines[0].startswith("3 of 10 features of patients ───")
        assert lines[1].startswith("Result: Top 3 of 10 features for predicting diagnosis")
        place = next(n for n, line in enumerate(lines) if line.split()[-3:] == heading)
        first, second, third = lines[place + 2 : place + 5]
        bar = [terminal.bar(best.alone).plain.strip()] * (width >= 100)
        figures = [f"{best.alone:.0%}", f"{best.unique:.1%}", "-"]
        assert first.split() == ["1", best.name, "higher", "in", "ill", *bar, *figures]
        assert second.split()[-1] == third.split()[-1] == "1", "ferritin and iron are one group"
        assert all(len(line) <= width for line in lines)
    assert lines[-2:] == [
        "out/selected.csv  the features by rank",
        "out/report.html   the page, to look at and to share",
    ]


@pytest.mark.parametrize(
    ("fraction", "expected"),
    [(0, "    "), (1, "━━━━"), (0.5, "━━  "), (1 / 8, "╸   "), (3 / 8, "━╸  "), (-1, "    "), (2, "━━━━")],
)
def test_bars(fraction, expected):
    assert terminal.bar(fraction, 4).plain == expected


def test_sparks():
    assert terminal.sparks([0, 1, 4, 8]) == " ▁▄█"
    assert terminal.sparks([3, 3]) == "██"
    assert terminal.sparks([1, 1000]) == "▁█"
    assert terminal.sparks([0, 0]) == "  "


def test_names_cannot_steer_the_terminal():
    assert terminal.printable("a\x1b[2Jb\r\nc\u202e") == "a\\x1b[2Jb\\r\\nc\\u202e"
    assert terminal.printable("x" * 99) == "x" * 47 + "…"
    assert terminal.printable("Größe 体重") == "Größe 体重"


def test_times():
    assert [time_text(seconds) for seconds in (0.2, 59.6, 185)] == ["0 s", "1 min 0 s", "3 min 5 s"]


def wait_for(screen, words):
    """The bar is drawn by another thread."""
    end = time.monotonic() + 10
    while words not in screen.file.getvalue():
        assert time.monotonic() < end, f"{words!r} did not appear"
        time.sleep(0.01)


def test_a_bar_with_the_stage_and_its_share():
    screen = console(force_terminal=True)
    with Watch(console=screen, patience=0.0) as watch:
        Stage(None, "reading [x].csv", 1)
        wait_for(screen, "reading [x].csv")
        for fraction, words in ((0.25, "25%"), (0.75, "75%")):
            watch.report(fraction, "computing U")
            wait_for(screen, words)
        for _ in range(2):
            warnings.warn("look\nhere", UserWarning, stacklevel=1)
    assert "computing U" in screen.file.getvalue()
    assert screen.file.getvalue().count("look here") == 1


def run_watched(screen, quiet=False, patience=0.0):
    with Watch(quiet=quiet, console=screen, patience=patience) as watch:
        watch.report(0.25, "computing U")
        time.sleep(0.3)
        warnings.warn("look\nhere", UserWarning, stacklevel=1)


def test_no_bar_before_its_time():
    screen = console(force_terminal=True)
    run_watched(screen, patience=60)
    assert "computing U" not in screen.file.getvalue()


@pytest.mark.parametrize(("terminal", "quiet"), [(False, False), (True, True)])
def test_no_bar_where_nobody_looks(terminal, quiet):
    screen = console(force_terminal=terminal)
    run_watched(screen, quiet)
    assert "computing U" not in screen.file.getvalue()
    assert "look here" in screen.file.getvalue()


def test_the_bar_is_gone_after_an_error():
    screen = console(force_terminal=True)
    with pytest.raises(KeyboardInterrupt), Watch(console=screen, patience=0.0) as watch:
        watch.report(0.5, "computing U")
        wait_for(screen, "computing U")
        raise KeyboardInterrupt
    assert screen.file.getvalue().endswith("\x1b[2K"), "the line was cleared"


@pytest.mark.parametrize(("columns", "width"), [("0", 80), ("20", 60), ("-5", 80), ("100", 100)])
def test_terminals_too_narrow_for_names_break_lines_themselves(monkeypatch, finished, capsys, columns, width):
    monkeypatch.setenv("COLUMNS", columns)
    screen = terminal.results()
    assert screen.width == width
    selection = Selection.load(finished / "out")
    show_selection(screen, selection, [])
    shown = capsys.readouterr().out
    assert all(feature.name in shown for feature in selection.record.selected)


def test_nothing_that_is_printed_can_steer_the_terminal(capsys):
    evil = "a\x1b]0;owned\x07\x1b[2Jb\u202e"
    terminal.note(terminal.results(), evil)
    terminal.warn(terminal.results(), evil)
    show_files(terminal.results(), [Path(f"{evil}/selected.csv")])
    shown = capsys.readouterr().out
    assert "\x1b" not in shown and "\x07" not in shown and "\u202e" not in shown
    assert shown.count("\\x1b[2Jb") == 3


STOPPED_AT_IMPORT = """
import sys
class Stop:
    def find_spec(self, name, path=None, target=None):
        if name == "infused.cli.app":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Stop())
from infused.cli import main
sys.exit(main(["methods"]))
"""


def test_ctrl_c_while_modules_are_loaded_is_no_traceback():
    done = subprocess.run([sys.executable, "-c", STOPPED_AT_IMPORT], capture_output=True, text=True)
    assert done.returncode == 130
    assert done.stderr.strip() == "Stopped; nothing was left half written."


HOSTILE_NAME = "a\x9b31m\x85b\x7f\u202ec\u2028\U000e0001"


def test_json_cannot_steer_the_terminal(folder, infused):
    """Escapes of one byte in Latin-1 and marks that turn a line around are written as JSON escapes."""
    data = patients().rename(columns={"glucose": HOSTILE_NAME})
    data.to_csv("odd.csv", index=False)
    for command in (
        ("select", "odd.csv", "-t", "diagnosis", "-k", "2", "-m", "anova", "--stability", "0"),
        ("explain", "odd.csv", HOSTILE_NAME, "-t", "diagnosis"),
    ):
        done = infused(*command, "--json")
        assert done.code == 0, done.err
        assert all(line.isprintable() for line in done.out.split("\n"))
        assert HOSTILE_NAME in str(list(json.loads(done.out).values())) or HOSTILE_NAME in texts(done.out)


def texts(text):
    found = []
    json.loads(text, object_pairs_hook=lambda pairs: found.extend(value for _, value in pairs))
    return found


def in_a_shell(command, folder):
    """Its exit code, and what it wrote to the streams that are left."""
    done = subprocess.run(
        ["bash", "-c", command.replace("infused", f"{sys.executable} -m infused", 1)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    return done.returncode, done.stdout, done.stderr


QUICK = "infused select wine -k 2 -m anova --stability 0"


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs a shell")
@pytest.mark.parametrize(
    "command", ["infused methods", "infused --help", "infused --version", f"{QUICK} --json"]
)
def test_nothing_is_said_where_nobody_reads_on(tmp_path, command):
    code, out, err = in_a_shell(f"{command} | true; echo ${{PIPESTATUS[0]}}", tmp_path)
    assert (code, out, err) == (0, "2\n", "")


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs a shell")
@pytest.mark.parametrize(
    ("command", "code", "told"),
    [
        (
            f"{QUICK} --json >&-",
            2,
            "Error: --json prints to standard output, which is closed: leave it open\n",
        ),
        ("infused select - -t y <&-", 2, "Error: standard input is closed: pipe a table into the program\n"),
        (f"{QUICK} -o out --no-report >&- 2>&- <&-", 0, ""),
        ("infused methods >&-", 0, ""),
        ("infused select nowhere 2>&-", 2, ""),
    ],
)
def test_streams_that_are_closed(tmp_path, command, code, told):
    assert in_a_shell(command, tmp_path) == (code, "", told)
    if "out" in command:
        assert len(Selection.load(tmp_path / "out")) == 2, "no stream wrote into its files"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("command", ["infused methods >/dev/full", "infused --version >/dev/full"])
def test_a_full_disk_behind_a_stream(tmp_path, command):
    assert in_a_shell(command, tmp_path) == (2, "", "Error: No space left on device\n")


@pytest.mark.parametrize(("width", "left_out"), [(60, 3), (72, 1), (100, 0)])
def test_a_narrow_terminal_shows_fewer_columns_and_cuts_none(width, left_out):
    standings = compare_methods(make_rows())
    made = standings_table(standings)
    screen = console(width=width)
    terminal.show_results(screen, made, len(standings.methods))
    shown = screen.file.getvalue()
    assert "…" not in shown and max(map(len, shown.splitlines())) <= width
    hidden = made.spare[:left_out]
    assert (f"No room for: {', '.join(hidden)}." in shown) == bool(hidden)
    for name in made.cells.columns.difference(hidden):
        assert name in shown and all(text in shown for text in made.cells[name])
