"""Arguments and options that several commands share, and how their texts are read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from infused.cli.errors import CommandError

__all__ = [
    "Data",
    "Drop",
    "Encoding",
    "Force",
    "Impute",
    "Jobs",
    "Json",
    "Keep",
    "NoHeader",
    "OneHot",
    "Output",
    "Quiet",
    "Report",
    "Separator",
    "Target",
    "TargetFile",
    "TaskName",
    "XKey",
    "YKey",
    "check_jobs",
    "examples",
    "one_of",
    "paragraphs",
    "parse_grid",
    "parse_number",
]

READING = "Reading the data"
RESULTS = "Results"

Data: TypeAlias = Annotated[
    str, typer.Argument(metavar="DATA", help="A file, or a name that infused datasets lists.")
]


def _reading(*names: str, help: str, **more: Any) -> Any:
    return typer.Option(*names, help=help, rich_help_panel=READING, **more)


Target: TypeAlias = Annotated[
    str | None,
    _reading("--target", "-t", metavar="COLUMN", help="The column to predict, by name or position from 0."),
]
TargetFile: TypeAlias = Annotated[
    Path | None, _reading("--target-file", metavar="FILE", help="A second file that holds the target.")
]
XKey: TypeAlias = Annotated[
    str | None, _reading("--x-key", metavar="KEY", help="The array of features in .mat and .npz files.")
]
YKey: TypeAlias = Annotated[
    str | None, _reading("--y-key", metavar="KEY", help="The array of the target in .mat and .npz files.")
]
Drop: TypeAlias = Annotated[
    list[str] | None, _reading("--drop", metavar="COLUMN", help="Leave this column out (repeatable).")
]
Keep: TypeAlias = Annotated[
    list[str] | None,
    _reading("--keep", metavar="COLUMN", help="Use this column although it looks like an id (repeatable)."),
]
Impute: TypeAlias = Annotated[
    str | None,
    _reading("--impute", metavar="HOW", help="Fill missing values: mean, median, most-frequent or zero."),
]
OneHot: TypeAlias = Annotated[
    bool, _reading("--one-hot", help="Make a 0/1 column of each value of a text column.")
]
Separator: TypeAlias = Annotated[
    str | None,
    _reading("--separator", metavar="CHARACTER", help="Between values of text files; found by default."),
]
Encoding: TypeAlias = Annotated[
    str | None, _reading("--encoding", metavar="NAME", help="Of text files; UTF-8 by default.")
]
NoHeader: TypeAlias = Annotated[bool, _reading("--no-header", help="The first line holds values, not names.")]
TaskName: TypeAlias = Annotated[
    str | None,
    _reading("--task", metavar="TASK", help="classification or regression; told by the target by default."),
]

Output: TypeAlias = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="DIR", help="Folder for the files.", rich_help_panel=RESULTS),
]
Report: TypeAlias = Annotated[
    bool, typer.Option("--report/--no-report", help="Whether to write the page.", rich_help_panel=RESULTS)
]
Json: TypeAlias = Annotated[
    bool,
    typer.Option("--json", help="Print JSON, and nothing else.", rich_help_panel=RESULTS),
]
Quiet: TypeAlias = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print warnings and errors only.", rich_help_panel=RESULTS)
]
Force: TypeAlias = Annotated[
    bool, typer.Option("--force", help="Replace earlier results.", rich_help_panel=RESULTS)
]
Jobs: TypeAlias = Annotated[
    int,
    typer.Option("--jobs", metavar="N", help="Threads; -1 for every core. They do not change the result."),
]


def paragraphs(text: str | None) -> str:
    """A docstring as help: each paragraph on one line, for the terminal to wrap."""
    return "\n\n".join(" ".join(part.split()) for part in (text or "").split("\n\n"))


def examples(*commands: str) -> str:
    """The end of a help page. The tests run these commands as they are printed."""
    return "\n".join(["[bold]Examples[/bold]", *(f"  {command}" for command in commands)])


def one_of(option: str, value: str, choices: Sequence[str]) -> str:
    """The value, or an error that lists what there is."""
    from infused.data.errors import quoted, suggestion

    if value not in choices:
        there = suggestion(value, choices) or f"; there are {', '.join(choices)}"
        raise CommandError(f"{option} {quoted(value)} is not known{there}")
    return value


def parse_number(text: str | None) -> int | float | str | None:
    """-k: a whole number from 1, a fraction between 0 and 1, "auto", or None."""
    if text is None or text == "auto":
        return text
    for kind in (int, float):
        try:
            number = kind(text)
        except ValueError:
            continue
        if (kind is int and number >= 1) or (kind is float and 0 < number < 1):
            return number
        break
    raise CommandError(f"-k {text!r}: give a whole number from 1, a fraction between 0 and 1, or auto")


def parse_grid(text: str | None) -> tuple[int, int] | None:
    """--grid: "16x16" as rows and columns."""
    if text is None:
        return None
    rows, _, columns = text.lower().partition("x")
    if not (rows.isdecimal() and columns.isdecimal() and int(rows) * int(columns) > 0):
        raise CommandError(f"--grid {text!r}: give rows and columns, like 16x16")
    return int(rows), int(columns)


def check_jobs(jobs: int) -> None:
    """Refuse no threads at all."""
    if jobs == 0:
        raise CommandError("--jobs 0: give a number of threads, or -1 for every core")
