"""``infused benchmark table``: the store as tables, ours beside the published."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from infused.cli import options as o
from infused.cli import terminal
from infused.cli.errors import CommandError
from infused.cli.files import check_place, write_whole
from infused.cli.lists import parse_names

if TYPE_CHECKING:
    from pandas import DataFrame

    from infused.bench.cells import Protocol
    from infused.bench.table_formats import Table

__all__ = [
    "TABLE_EXAMPLES",
    "MethodNames",
    "ProtocolName",
    "StoreFolder",
    "check_protocol",
    "stored_rows",
    "table",
]

TABLE_EXAMPLES = o.examples(
    "infused benchmark table",
    "infused benchmark table --dataset wine",
    "infused benchmark table --format latex --output tables.tex",
)

StoreFolder = Annotated[
    Path, typer.Option("--store", metavar="DIR", help="The folder that infused benchmark filled.")
]
ProtocolName = Annotated[
    str, typer.Option("--protocol", metavar="WHICH", help="nested or leaky: the two are never mixed.")
]

MethodNames = Annotated[str | None, typer.Option("--methods", metavar="a,b", help="Show these alone.")]


def table(
    paper: Annotated[
        bool, typer.Option("--paper", help="Tables 1 to 3 of the paper: ours beside the published.")
    ] = False,
    methods: MethodNames = None,
    dataset: Annotated[
        str | None,
        typer.Option("--dataset", metavar="NAME", help="All about one data set: stability, seconds, p."),
    ] = None,
    format: Annotated[
        str, typer.Option("--format", metavar="FORMAT", help="markdown, csv (its numbers alone) or latex.")
    ] = "markdown",
    protocol: ProtocolName = "nested",
    store: StoreFolder = Path("results"),
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write to a file.", rich_help_panel=o.RESULTS),
    ] = None,
    force: o.Force = False,
) -> None:
    """Show the best mean of every method on every data set, with its number of features.

    Below it the mean ranks over data sets, where every method has results on two or more, and what each part
    of InFusedLasso is worth, where --ablate measured it. With --paper, the
    paper's three tables with ours beside the published, the difference, and whether it exceeds the standard
    error. With --dataset, every method on one data set beside the best of them: how good, with how many
    features, how steady, how fast, and whether the difference is real. CSV holds the figures of the accuracy
    table, one line for each method and data set.
    """
    from infused.bench.table_formats import FORMATS

    o.one_of("--format", format, FORMATS)
    which = check_protocol(protocol)
    if output is not None:
        check_place(output, force)
    if paper and dataset is not None:
        raise CommandError("--paper and --dataset ask for different tables: give one of them")
    rows = stored_rows(store, parse_names("--methods", methods))
    if dataset is None:
        text, n_tables = _text(rows, which, paper, format)
    else:
        text, n_tables = _one_dataset(rows, which, dataset).to(format), 1
    if output is None:
        print(text, end="")
    else:
        write_whole(output, lambda file: file.write(text.encode()))
        what = "1 table" if n_tables == 1 else f"{n_tables} tables"
        terminal.results().print(f"{what} in {output}", soft_wrap=True)


def check_protocol(name: str) -> Protocol:
    """The protocol, or an error that lists what there is."""
    from infused.bench.cells import Protocol

    return o.one_of("--protocol", name, get_args(Protocol))  # type: ignore[return-value]  # just checked


def stored_rows(folder: Path, methods: list[str] | None = None) -> DataFrame:
    """The rows of a store, or those of some methods, each as `infused benchmark` takes it."""
    from infused.bench import Method, Store

    rows = Store(folder).frame()
    if rows.empty:
        raise CommandError(f"there are no results in {str(folder)!r}: fill it with infused benchmark --store")
    if methods is None:
        return rows
    typed = [str(Method(*pair)) for pair in zip(rows["method"], rows["parameters"], strict=True)]
    wanted = [str(Method.parse(method)) for method in methods]
    for method in wanted:
        o.one_of("--methods", method, sorted(set(typed)))
    return rows[[name in wanted for name in typed]]


def _text(rows: DataFrame, protocol: Protocol, paper: bool, format: str) -> tuple[str, int]:
    """The tables in one text, and how many they are."""
    from infused.bench.paper_tables import datasets_table, published_accuracy_table, structural_table

    if paper:
        figures = [published_accuracy_table(rows, protocol=protocol)]
        tables = [datasets_table(), *figures, structural_table(rows, protocol=protocol)]
    else:
        figures = _accuracy(rows, protocol)
        tables = [*figures, *_ranks(rows, protocol), *_ablation(rows, protocol)]
    if format == "csv":
        import pandas as pd

        return replace(figures[0], data=pd.concat([one.data for one in figures])).to_csv(), 1
    return "\n".join(one.to(format) for one in tables), len(tables)


def _one_dataset(rows: DataFrame, protocol: Protocol, name: str) -> Table:
    """Every method beside the best."""
    from infused.bench.comparison import compare_methods
    from infused.bench.frames import of_protocol
    from infused.bench.tables import comparison_table

    mine = of_protocol(rows, protocol)
    o.one_of("--dataset", name, sorted(mine["dataset"].unique()))
    return comparison_table(compare_methods(mine[mine["dataset"] == name]))


def _accuracy(rows: DataFrame, protocol: Protocol) -> list[Table]:
    """One table for classes, and one for real targets."""
    from infused.bench.frames import metric_of, of_protocol
    from infused.bench.tables import accuracy_table

    mine = of_protocol(rows, protocol)
    metrics = mine["dataset"].map({name: metric_of(part) for name, part in mine.groupby("dataset")})
    return [
        accuracy_table(mine[metrics == metric], protocol=protocol, metric=metric)
        for metric in metrics.unique()
    ]


def _ranks(rows: DataFrame, protocol: Protocol) -> list[Table]:
    """Mean ranks, where there is enough to rank."""
    from infused.bench.ranks import TooFewToRankError
    from infused.bench.tables import rank_table

    try:
        return [rank_table(rows, protocol=protocol)]
    except TooFewToRankError as error:
        terminal.note(terminal.stderr(), f"no table of ranks: {error}")
        return []


def _ablation(rows: DataFrame, protocol: Protocol) -> list[Table]:
    """What each part of InFusedLasso is worth, where it was measured."""
    from infused.bench.ablation_table import ablation_table

    found = ablation_table(rows, protocol=protocol)
    return [] if found is None else [found]
