"""``infused benchmark table`` and ``figures``: a store as tables and as pictures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from infused._runtime.messages import check_choice
from infused.cli import options as o
from infused.cli import terminal
from infused.cli.benchmark import STORE, StoreFolder
from infused.cli.terminal import Watch
from infused.exceptions import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

    from infused.bench.plan import ProtocolName
    from infused.bench.table_formats import ResultTable


TABLE_HELP = o.help_page(
    """Show the best mean of every method on every data set, with its number of features.

    Below it the mean ranks over data sets, where every method has results on two or more, and what each part
    of InFusedLasso is worth, where --ablate measured it (alone with --ablation). With --paper, the paper's
    three tables with ours beside the published, the difference, and whether it exceeds the standard error.
    With --dataset, every method on one data set beside the best of them: how good, with how many features,
    how steady, how fast, and whether the difference is real. CSV holds the figures of the accuracy table (or
    of the one that is asked for), one line for each method and data set.
    """,
    "infused benchmark table",
    "infused benchmark table --dataset wine",
    "infused benchmark table --format latex --output tables.tex",
)
FIGURES_HELP = o.help_page(
    """Draw what a benchmark found, each figure as PNG and as SVG.

    accuracy: accuracy against the number of features on every data set (Figure 2 of the paper), with bands of
    one standard error and the published result of InFusedLasso. ranks: the critical-difference diagram.
    convergence: the objective against the iteration (Figure 3). Variants of a method are drawn only where
    --methods names them. Leaky results have figures of their own.
    """,
    "infused benchmark figures --output docs/figures",
)

#: The data of Figure 3 of the paper.
CONVERGENCE = ("USPS", "YaleB")

MethodNames = Annotated[str | None, typer.Option("--methods", metavar="a,b", help="Show these alone.")]


def table(
    paper: Annotated[
        bool, typer.Option("--paper", help="Tables 1 to 3 of the paper: ours beside the published.")
    ] = False,
    ablation: Annotated[
        bool, typer.Option("--ablation", help="What each part of InFusedLasso is worth, after --ablate.")
    ] = False,
    methods: MethodNames = None,
    dataset: Annotated[
        str | None,
        typer.Option("--dataset", metavar="NAME", help="All about one data set: stability, seconds, p."),
    ] = None,
    format: Annotated[
        str, typer.Option("--format", metavar="FORMAT", help="markdown, csv (its numbers alone) or latex.")
    ] = "markdown",
    protocol: o.ProtocolOption = "nested",
    store: StoreFolder = STORE,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write to a file.", rich_help_panel=o.RESULTS),
    ] = None,
    force: o.Force = False,
) -> None:
    """Show or write the tables of a store."""
    from infused._runtime.files import check_place, write_whole
    from infused.bench.table_formats import FORMATS

    check_choice("format", format, FORMATS)
    if output is not None:
        check_place(output, force)
    asked = [("--paper", paper), ("--ablation", ablation), ("--dataset", dataset is not None)]
    options = [option for option, given in asked if given]
    if len(options) > 1:
        raise InputError(f"{' and '.join(options)} ask for different tables: give one of them")
    which: ProtocolName = protocol  # type: ignore[assignment]  # checked where rows are taken by it
    rows = _stored_rows(store, o.parse_names("--methods", methods))
    measured, tables = _chosen(rows, which, paper, ablation, dataset)
    text = _csv(measured) if format == "csv" else "\n".join(one.to(format) for one in tables)
    if output is None:
        print(text, end="")
    else:
        write_whole(output, text.encode())
        n_tables = 1 if format == "csv" else len(tables)
        what = "1 table" if n_tables == 1 else f"{n_tables} tables"
        terminal.results().print(f"{what} in {output}", soft_wrap=True)


def _stored_rows(folder: Path, methods: list[str] | None = None) -> DataFrame:
    """Read the rows of a store, or those of some methods."""
    from infused.bench import Store
    from infused.bench.rows import of_methods

    rows = Store(folder).frame()
    if rows.empty:
        raise InputError(f"there are no results in {str(folder)!r}: fill it with infused benchmark --store")
    return rows if methods is None else of_methods(rows, methods)


def _csv(tables: list[ResultTable]) -> str:
    import pandas as pd

    return replace(tables[0], data=pd.concat([one.data for one in tables])).to_csv()


def _chosen(
    rows: DataFrame, protocol: ProtocolName, paper: bool, ablation: bool, dataset: str | None
) -> tuple[list[ResultTable], list[ResultTable]]:
    """Return the tables whose numbers CSV holds, and all that are asked for."""
    from infused.bench.paper_tables import datasets_table, published_accuracy_table, structural_table
    from infused.bench.tables import ablation_table, accuracy_tables

    if dataset is not None:
        tables = [_one_dataset(rows, protocol, dataset)]
        return tables, tables
    if paper:
        beside = published_accuracy_table(rows, protocol=protocol)
        return [beside], [datasets_table(), beside, structural_table(rows, protocol=protocol)]
    variants = [one for one in [ablation_table(rows, protocol=protocol)] if one is not None]
    if ablation:
        if not variants:
            raise InputError("there are no variants of infused-lasso: run infused benchmark --ablate first")
        return variants, variants
    measured = accuracy_tables(rows, protocol=protocol)
    return measured, [*measured, *_ranks(rows, protocol), *variants]


def _one_dataset(rows: DataFrame, protocol: ProtocolName, name: str) -> ResultTable:
    """Return a table of every method beside the best."""
    from infused.bench.rows import of_protocol
    from infused.bench.standings import compare_methods
    from infused.bench.tables import standings_table

    mine = of_protocol(rows, protocol)
    check_choice("dataset", name, sorted(mine["dataset"].unique()))
    return standings_table(compare_methods(mine[mine["dataset"] == name]))


def _ranks(rows: DataFrame, protocol: ProtocolName) -> list[ResultTable]:
    """Return mean ranks, where there is enough to rank."""
    from infused.bench.ranks import TooFewToRankError
    from infused.bench.tables import rank_table

    try:
        return [rank_table(rows, protocol=protocol)]
    except TooFewToRankError as error:
        terminal.note(terminal.stderr(), f"no table of ranks: {error}")
        return []


def figures(
    store: StoreFolder = STORE,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Folder for the pictures.")
    ] = Path("figures"),
    methods: MethodNames = None,
    convergence: Annotated[
        bool,
        typer.Option("--convergence/--no-convergence", help="Whether to fit USPS and YaleB for Figure 3."),
    ] = True,
    quiet: o.Quiet = False,
) -> None:
    """Draw the figures of a store."""
    from infused._runtime.files import check_writable
    from infused._runtime.messages import extra
    from infused.bench.rows import labelled, plain_methods
    from infused.bench.table_formats import version_notes

    extra("matplotlib").use("Agg")
    check_writable(output)
    rows = labelled(_stored_rows(store, o.parse_names("--methods", methods)))
    rows = plain_methods(rows) if methods is None else rows
    notes = version_notes(rows)
    written = []
    with Watch(quiet) as watch:
        watch.notes(notes)
        for protocol in sorted(rows["protocol"].unique()):
            suffix = "-leaky" if protocol == "leaky" else ""
            for name, figure in _of_rows(rows, protocol, watch):
                written += _save(figure, output, f"{name}{suffix}")
        if convergence:
            written += _convergence(output, watch)
    if not quiet:
        for path in written:
            terminal.results().print(str(path), soft_wrap=True)


def _of_rows(rows: DataFrame, protocol: ProtocolName, watch: Watch) -> Iterator[tuple[str, Figure]]:
    from infused.bench.ranks import TooFewToRankError, rank_comparison
    from infused.report import plot_accuracy_grid, plot_critical_difference

    yield "accuracy", plot_accuracy_grid(rows, protocol=protocol, published=True)
    try:
        ranks = rank_comparison(rows, protocol=protocol)
    except TooFewToRankError as error:
        watch.notes([f"no figure of {protocol} ranks: {error}"])
        return
    figure: Any = plot_critical_difference(ranks).figure
    yield "ranks", figure


def _convergence(folder: Path, watch: Watch) -> list[Path]:
    """Draw Figure 3, where its data are on this machine."""
    import matplotlib.pyplot as plt

    from infused.data import load_data
    from infused.data.named import is_present
    from infused.report import plot_convergence
    from infused.selectors import make_selector

    absent = [name for name in CONVERGENCE if not is_present(name)]
    if absent:
        watch.notes([f"no figure of convergence: {' and '.join(absent)} not found (see infused datasets)"])
        return []
    figure, axes = plt.subplots(1, len(CONVERGENCE), figsize=(9.6, 3.8), layout="constrained")
    for ax, name in zip(axes, CONVERGENCE, strict=True):
        data = load_data(name)
        # The first round on all features is what the paper's figure shows.
        selector = make_selector("infused-lasso", ranking="coefficient").fit(data.X, data.y)
        plot_convergence(selector, ax=ax)
        ax.set_title(f"{name}: {ax.get_title()}", fontsize="medium")
    return _save(figure, folder, "convergence")


def _save(figure: Figure, folder: Path, name: str) -> list[Path]:
    """Write a figure as PNG and SVG; the same figure gives the same files."""
    import matplotlib
    import matplotlib.pyplot as plt

    from infused._runtime.files import write_together

    about: dict[str, dict[str, None]] = {"png": {}, "svg": {"Date": None}}
    draws = {
        f"{name}.{kind}": partial(figure.savefig, format=kind, dpi=150, metadata=metadata)
        for kind, metadata in about.items()
    }
    with matplotlib.rc_context({"svg.hashsalt": "infused"}):
        write_together(folder, list(draws), draws)
    plt.close(figure)
    return [folder / file for file in draws]
