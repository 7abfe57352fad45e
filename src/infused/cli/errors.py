"""Errors as one line and an exit code, which tells whose fault it was."""

from __future__ import annotations

import platform
import re
import sys
import sysconfig
import traceback
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from rich.text import Text

from infused import __version__
from infused.cli import terminal
from infused.cli.options import spelled
from infused.exceptions import InfusedError, InputError

OUR_FAULT, BAD_INPUT, STOPPED = 1, 2, 130
FRAMES = 5
NUMBERS = re.compile(r"[-+0-9.,xeE]+")
LONGEST = 4000  # characters of a message

#: Options whose values say nothing about the data, so that a report may show them: numbers, and these words.
HARMLESS = frozenset(
    (
        *("-k", "--features", "-m", "--method", "--transform", "--seed", "--jobs", "--task", "--impute"),
        *("--categories", "--keep-duplicates"),
        *("--lambda1", "--lambda2", "--lambda3", "--formulation", "--fusion", "--grid"),
        *("--neighbours", "--folds", "--repeats", "--protocol", "--scoring"),
        *("--stability", "--fdr"),
    )
)
WORDS = frozenset(
    (
        *("auto", "none", "sqrt", "log1p", "classification", "regression", "median", "mean", "most-frequent"),
        *("zero", "error", "whole", "stable", "paper", "chain", "grid", "nested", "leaky", "accuracy"),
        *("balanced_accuracy", "roc_auc", "average_precision", "f1", "r2", "mae"),
    )
)
COMMANDS = frozenset(
    (
        *("select", "compare", "explain", "methods", "rerun", "apply", "benchmark", "datasets"),
        *("table", "figures", "compact", "fetch"),
    )
)


def tell(error: Exception, arguments: Sequence[str]) -> int:
    """Say on stderr what went wrong; the exit code tells whether the input or infused is to blame."""
    words = _words(error)
    with suppress(OSError):  # where nobody listens, the exit code has to do
        if words is None:
            lines = bug_report(error, arguments).splitlines()
            print("\n".join(terminal.printable(line, LONGEST) for line in lines), file=sys.stderr)
        else:
            text = Text.assemble(("Error: ", "bold red"), terminal.printable(_one_line(words), LONGEST))
            terminal.stderr().print(text, soft_wrap=True)
    return OUR_FAULT if words is None else BAD_INPUT


def _words(error: Exception) -> str | None:
    """Return the words on what a user can mend; None for a mistake of ours."""
    usage = getattr(error, "format_message", None)  # of typer's own errors
    if usage is not None:
        return f"{usage()} (see {_help_command(error)})"
    if isinstance(error, InputError):
        return error.told(spelled)
    if isinstance(error, InfusedError):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        where = f"{str(error.filename)!r}: " if error.filename is not None else ""
        return f"{where}{error.strerror}"
    if type(error).__module__.partition(".")[0] == "distributed":  # of machines and connections
        return f"the Dask cluster failed: {type(error).__name__}: {error}"
    if isinstance(error, MemoryError):
        return f"there is not enough memory: take fewer features or samples ({error or 'no size given'})"
    return None


def bug_report(error: BaseException, arguments: Sequence[str]) -> str:
    """Tell what a maintainer needs to know; column names, file names and values stay out.

    So does the message of the error, which may quote anything that the code had in its hands; where it was
    raised says more.
    """
    frames = traceback.extract_tb(error.__traceback__)[-FRAMES:]
    lines = [
        "infused failed, and not because of what it was given. Please report it with these lines:",
        "",
        f"  infused {__version__}, Python {platform.python_version()}, {platform.platform()}",
        f"  command: infused {' '.join(_without_values(arguments))}",
        f"  {type(error).__name__}",
        *(f"    at {_place(frame)}" for frame in frames),
    ]
    return "\n".join(lines)


def _one_line(text: str) -> str:
    return " ".join(line.strip() for line in text.splitlines())


def _help_command(error: Any) -> str:
    context = getattr(error, "ctx", None)
    return f"{'infused' if context is None else context.command_path} --help"


def _without_values(arguments: Sequence[str]) -> list[str]:
    """Return the arguments without texts that may come from the data."""
    shown: list[str] = []
    before = ""
    for n, argument in enumerate(arguments):
        option = argument.partition("=")[0] if argument.startswith("--") else argument[:2]
        if option.startswith("-") and not _is_number(argument):
            value = argument[len(option) :].removeprefix("=")
            harmless = option in HARMLESS and _says_nothing(value)
            shown.append(argument if option == argument or harmless else f"{option}...")
            before = option
            continue
        known = argument in COMMANDS if n < 2 and not before else before in HARMLESS
        shown.append(argument if known and (not before or _says_nothing(argument)) else "...")
        before = ""
    return shown


def _says_nothing(value: str) -> bool:
    """Return whether a value can be shown: a number, or a word of ours."""
    from infused.selectors.registry import available_selectors

    return value in WORDS or value in available_selectors() or NUMBERS.fullmatch(value) is not None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _place(frame: traceback.FrameSummary) -> str:
    """Return where a frame is inside an installed package; code of others has no name here."""
    path = Path(frame.filename)
    for folder in (Path(__file__).parents[2], *map(Path, sysconfig.get_paths().values())):
        if path.is_relative_to(folder):
            return f"{path.relative_to(folder).as_posix()}:{frame.lineno}, in {frame.name}"
    return "..."
