"""The program ``infused``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from infused import __version__
from infused.cli import terminal
from infused.cli.apply import APPLY_EXAMPLES, apply
from infused.cli.benchmark import benchmark
from infused.cli.benchmark_figures import FIGURES_EXAMPLES, figures
from infused.cli.benchmark_table import TABLE_EXAMPLES, table
from infused.cli.compare import COMPARE_EXAMPLES, compare
from infused.cli.datasets import DATASETS_EXAMPLES, datasets
from infused.cli.errors import STOPPED, tell
from infused.cli.explain import EXPLAIN_EXAMPLES, explain
from infused.cli.methods import METHODS_EXAMPLES, methods
from infused.cli.options import examples, paragraphs
from infused.cli.rerun import RERUN_EXAMPLES, rerun
from infused.cli.select import SELECT_EXAMPLES, select

__all__ = ["app", "main"]

app = typer.Typer(
    name="infused",
    rich_markup_mode="rich",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
    epilog=examples(
        "infused select digits -k 20",
        "infused select patients.csv --target diagnosis -k 10",
        "infused select --help",
    ),
)


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
    (datasets, DATASETS_EXAMPLES),
    (rerun, RERUN_EXAMPLES),
    (apply, APPLY_EXAMPLES),
):
    app.command(help=paragraphs(command.__doc__), epilog=shown)(command)
for command, shown in ((table, TABLE_EXAMPLES), (figures, FIGURES_EXAMPLES)):
    benchmark.command(help=paragraphs(command.__doc__), epilog=shown)(command)
app.add_typer(benchmark, name="benchmark")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code is 0 when done, 2 for bad input, 1 for our fault, 130 for Ctrl-C."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # where a character cannot be shown, another is
            stream.reconfigure(errors="replace")
    try:
        code = app(args=given, prog_name="infused", standalone_mode=False)
    except Exception as error:
        return tell(error, given)
    if code == STOPPED:
        terminal.stderr().print("Stopped; nothing was left half written.")
    return int(code or 0)
