"""The program ``infused``: its commands, and how each of them ends."""

from __future__ import annotations

import os
import platform
import re
import sys
import sysconfig
import traceback
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from infused import __version__
from infused.cli import terminal
from infused.cli.benchmark import benchmark, compact, figures, table
from infused.cli.catalogue import datasets, fetch, methods
from infused.cli.compare import compare
from infused.cli.explain import explain
from infused.cli.options import BAD_INPUT, OUR_FAULT, STOPPED, examples, option, spelled
from infused.cli.records import apply, rerun
from infused.cli.select import select
from infused.exceptions import InfusedError, InputError

app = typer.Typer(
    name="infused",
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
    help="Select features: which ones, how many, how stable and how redundant they are.",
    epilog=examples(
        "infused select digits -k 20",
        "infused select patients.csv --target diagnosis -k 10",
        "infused select --help",
    ),
)
benchmarks = typer.Typer()
named_data = typer.Typer()


@app.callback(invoke_without_command=True, help=app.info.help)
def infused(
    context: typer.Context,
    version: Annotated[bool, option("--version", "Show the version.", is_eager=True)] = False,
) -> None:
    """Show the version, or without a command the help."""
    if version:
        print(f"infused {__version__}")
    elif context.invoked_subcommand is None:
        print(context.get_help())
    else:
        return
    raise typer.Exit


for one in (select, compare, explain, methods, rerun, apply):
    app.command(help=one.help, epilog=one.epilog)(one.run)
for group, name, first, others in (
    (benchmarks, "benchmark", benchmark, (table, figures, compact)),
    (named_data, "datasets", datasets, (fetch,)),
):
    group.callback(invoke_without_command=True, help=first.help, epilog=first.epilog)(first.run)
    for one in others:
        group.command(help=one.help, epilog=one.epilog)(one.run)
    app.add_typer(group, name=name)


def _check_text(arguments: list[str]) -> None:
    """Refuse what no file of results could hold: bytes of a file name that are no text."""
    for argument in arguments:
        try:
            argument.encode()
        except UnicodeEncodeError:
            raise InputError(f"{argument!r} is no valid text: rename the file") from None


def run(arguments: list[str]) -> int:
    """Run one command and say what went wrong; the exit code.

    Where nobody reads on, as behind ``| head``, the command ends without a word.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # where a character cannot be shown, another is
            stream.reconfigure(errors="replace")
    try:
        return _run(arguments)
    except BrokenPipeError:
        _drop_output()
        return BAD_INPUT


def _drop_output() -> None:
    """Let what is still to be written vanish, so that Python does not complain when it ends."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _run(arguments: list[str]) -> int:
    try:
        _check_text(arguments)
        if "--json" in arguments and sys.stdout is None:
            raise InputError("--json prints to standard output, which is closed: leave it open")
        code = app(args=arguments, prog_name="infused", standalone_mode=False)
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        raise
    except SystemExit as error:
        if isinstance(error.__context__, OSError):  # typer ends the process where nobody reads on
            raise BrokenPipeError from error
        raise
    except Exception as error:
        return tell(error, arguments)
    if code == STOPPED:
        terminal.stderr().print("Stopped; nothing was left half written.")
    return int(code or 0)


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
