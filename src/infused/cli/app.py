"""The program ``infused``: its commands, and how each of them ends."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from infused import __version__
from infused.cli import terminal
from infused.cli.benchmark import BENCHMARK_HELP, COMPACT_HELP, benchmark, compact
from infused.cli.benchmark_tables import FIGURES_HELP, TABLE_HELP, figures, table
from infused.cli.catalogue import DATASETS_HELP, FETCH_HELP, METHODS_HELP, datasets, fetch, methods
from infused.cli.compare import COMPARE_HELP, compare
from infused.cli.errors import BAD_INPUT, STOPPED, tell
from infused.cli.explain import EXPLAIN_HELP, explain
from infused.cli.options import examples
from infused.cli.records import APPLY_HELP, RERUN_HELP, apply, rerun
from infused.cli.select import SELECT_HELP, select
from infused.exceptions import InputError

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
    version: Annotated[bool, typer.Option("--version", help="Show the version.", is_eager=True)] = False,
) -> None:
    """Show the version, or without a command the help."""
    if version:
        print(f"infused {__version__}")
    elif context.invoked_subcommand is None:
        print(context.get_help())
    else:
        return
    raise typer.Exit


for command, shown in (
    (select, SELECT_HELP),
    (compare, COMPARE_HELP),
    (explain, EXPLAIN_HELP),
    (methods, METHODS_HELP),
    (rerun, RERUN_HELP),
    (apply, APPLY_HELP),
):
    app.command(help=shown.text, epilog=shown.epilog)(command)
benchmarks.callback(invoke_without_command=True, help=BENCHMARK_HELP.text, epilog=BENCHMARK_HELP.epilog)(
    benchmark
)
for command, shown in (
    (table, TABLE_HELP),
    (figures, FIGURES_HELP),
    (compact, COMPACT_HELP),
):
    benchmarks.command(help=shown.text, epilog=shown.epilog)(command)
app.add_typer(benchmarks, name="benchmark")
named_data.callback(invoke_without_command=True, help=DATASETS_HELP.text, epilog=DATASETS_HELP.epilog)(
    datasets
)
named_data.command(help=FETCH_HELP.text, epilog=FETCH_HELP.epilog)(fetch)
app.add_typer(named_data, name="datasets")


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
