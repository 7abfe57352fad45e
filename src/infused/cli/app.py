"""The program ``infused``: its commands, and how each of them ends."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from infused import __version__
from infused.cli import terminal
from infused.cli.apply import APPLY_EXAMPLES, apply
from infused.cli.benchmark import BENCHMARK_EXAMPLES, COMPACT_EXAMPLES, benchmark, compact
from infused.cli.benchmark_tables import FIGURES_EXAMPLES, TABLE_EXAMPLES, figures, table
from infused.cli.compare import COMPARE_EXAMPLES, compare
from infused.cli.datasets import DATASETS_EXAMPLES, FETCH_EXAMPLES, datasets, fetch
from infused.cli.errors import STOPPED, tell
from infused.cli.explain import EXPLAIN_EXAMPLES, explain
from infused.cli.methods import METHODS_EXAMPLES, methods
from infused.cli.options import examples, paragraphs
from infused.cli.rerun import RERUN_EXAMPLES, rerun
from infused.cli.select import SELECT_EXAMPLES, select
from infused.exceptions import InputError

__all__ = ["app", "benchmarks", "named_data", "run"]

app = typer.Typer(
    name="infused",
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
    epilog=examples(
        "infused select digits -k 20",
        "infused select patients.csv --target diagnosis -k 10",
        "infused select --help",
    ),
)
benchmarks = typer.Typer()
named_data = typer.Typer()


@app.callback(invoke_without_command=True)
def infused(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version.", is_eager=True)] = False,
) -> None:
    """Select features: which ones, how many, and how redundant they are."""
    if version:
        print(f"infused {__version__}")
    elif context.invoked_subcommand is None:
        print(context.get_help())
    else:
        return
    raise typer.Exit


for command, shown in (
    (select, SELECT_EXAMPLES),
    (compare, COMPARE_EXAMPLES),
    (explain, EXPLAIN_EXAMPLES),
    (methods, METHODS_EXAMPLES),
    (rerun, RERUN_EXAMPLES),
    (apply, APPLY_EXAMPLES),
):
    app.command(help=paragraphs(command.__doc__), epilog=shown)(command)
benchmarks.callback(
    invoke_without_command=True, help=paragraphs(benchmark.__doc__), epilog=BENCHMARK_EXAMPLES
)(benchmark)
for command, shown in (
    (table, TABLE_EXAMPLES),
    (figures, FIGURES_EXAMPLES),
    (compact, COMPACT_EXAMPLES),
):
    benchmarks.command(help=paragraphs(command.__doc__), epilog=shown)(command)
app.add_typer(benchmarks, name="benchmark")
named_data.callback(invoke_without_command=True, help=paragraphs(datasets.__doc__), epilog=DATASETS_EXAMPLES)(
    datasets
)
named_data.command(help=paragraphs(fetch.__doc__), epilog=FETCH_EXAMPLES)(fetch)
app.add_typer(named_data, name="datasets")


def _check_text(arguments: list[str]) -> None:
    """Refuse what no file of results could hold: bytes of a file name that are no text."""
    for argument in arguments:
        try:
            argument.encode()
        except UnicodeEncodeError:
            raise InputError(f"{argument!r} is no valid text: rename the file") from None


def run(arguments: list[str]) -> int:
    """Run one command and say what went wrong; the exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # where a character cannot be shown, another is
            stream.reconfigure(errors="replace")
    try:
        _check_text(arguments)
        code = app(args=arguments, prog_name="infused", standalone_mode=False)
    except Exception as error:
        return tell(error, arguments)
    if code == STOPPED:
        terminal.stderr().print("Stopped; nothing was left half written.")
    return int(code or 0)
