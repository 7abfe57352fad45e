"""``infused benchmark``: many methods on many data sets, into a store that resumes; tables and pictures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from infused._runtime.messages import check_choice
from infused.cli import options as o
from infused.cli import terminal
from infused.cli.terminal import Watch
from infused.exceptions import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame
    from rich.console import Console

    from infused.bench import Experiment, Problem
    from infused.bench.plan import ProtocolName
    from infused.bench.tables import ResultTable
    from infused.selectors.method import Method


#: Beside those of the paper: a strong method that is not in it, and what a method must beat.
BASELINES = ("greedy-forward", "anova", "random")
FAILURES_SHOWN = 5
STORE = Path("infused-results")
#: The data of Figure 3 of the paper.
CONVERGENCE = ("USPS", "YaleB")


@o.command(
    """Compare methods by repeated cross-validation.

    Every method selects on the training part of every fold, and a model with the selected features is
    scored on the test part, for every number of features. Each finished fold of a method is a file in the
    store. A run that was stopped goes on where it was, and a run with more repeats or methods computes what
    is missing. Results of an earlier version of a method or of the protocol are kept and shown as such, and
    computed again. The exit code is 1 when something failed; its reason is in the store.
    """,
    "infused benchmark --datasets wine,breast-cancer --methods lasso,mrmr,random --folds 5 -k 5,10",
    "infused benchmark compact",
    reads=o.READ_OPTIONS,
    methods=o.option(
        "--methods a,b",
        "Ids, separated by commas, or all; by default the paper's and greedy-forward, anova, random. "
        "Parameters follow colons: lasso:lambda1=0.1.",
    ),
    features=o.option("-k --features K,K", "Numbers of features; by default 10, 20, ..."),
    folds=o.option("--folds N", "Folds of each repeat."),
    jobs=o.PROCESSES,
)
def benchmark(
    context: typer.Context,
    reading: dict[str, Any],
    datasets: str | None = None,
    methods: str | None = None,
    ablate: bool = False,
    features: str | None = None,
    repeats: int = 1,
    folds: int = 10,
    protocol: str = "nested",
    classifier: str | None = None,
    allow_imports: bool = False,
    scoring: str | None = None,
    seed: int = 0,
    store: Path = STORE,
    jobs: int = -1,
    timeout: float | None = None,
    memory: str | None = None,
    retry: bool = False,
    recompute: bool = False,
    scheduler: str | None = None,
    workers: int | None = None,
    quiet: bool = False,
) -> None:
    """Run or resume a benchmark, and show the best of each method."""
    if context.invoked_subcommand is not None:
        return
    from infused.bench import Experiment, Store, run_experiment
    from infused.workflow.compare import check_timeout
    from infused.workflow.select import check_jobs

    check_jobs(jobs)
    check_timeout(timeout)
    place, limit = Store(store), _bytes(memory)
    experiment = Experiment(
        problems=tuple(
            _problems(o.parse_names("--datasets", datasets), o.parse_numbers("-k", features), reading)
        ),
        methods=tuple(chosen_methods(o.parse_names("--methods", methods), ablate, allow_imports)),
        repeats=repeats,
        folds=folds,
        protocol=protocol,  # type: ignore[arg-type]  # an experiment checks it
        classifier=classifier,
        seed=seed,
        scoring=scoring,
        references=True,
        allow_imports=allow_imports,
    )
    with o.running_on(scheduler, workers), Watch(quiet) as watch:
        watch.notes(_reasons(experiment))
        outcome = run_experiment(
            experiment,
            place,
            jobs=jobs,
            timeout=timeout,
            memory=limit,
            retry=retry,
            recompute=recompute,
            report=watch.cell,
        )
    rows = place.frame()
    _show(rows[rows["cell"].isin([cell.key for cell in experiment.cells()])], quiet)
    if not quiet:
        terminal.results().print(f"Results are in {place.folder}", soft_wrap=True)
        where = ("--store", place.folder)
        terminal.next_commands(
            terminal.results(),
            ("Tables with standard errors and ranks", o.typed("infused", "benchmark", "table", *where)),
            ("Pictures", o.typed("infused", "benchmark", "figures", *where)),
        )
    if outcome.failed:
        raise typer.Exit(o.OUR_FAULT)


def _reasons(experiment: Experiment) -> list[str]:
    """Say why another metric than accuracy is used, where nobody asked for it."""
    if experiment.scoring is not None:
        return []
    told = [(problem.name, problem.default_scoring[1]) for problem in experiment.problems]
    return [f"{name}: {why}" for name, why in told if why]


@o.command(
    "Put the results into one file, results.parquet in the store, that is small enough to commit.",
    "infused benchmark compact",
)
def compact(store: Path = STORE, quiet: bool = False) -> None:
    """Put the cells of a store into one file."""
    from infused.bench import Store

    place = Store(store)
    n_rows = place.compact()
    if not quiet:
        terminal.results().print(f"{n_rows:,} rows in {place.compacted}", soft_wrap=True)


def _problems(
    sources: Sequence[str] | None, ks: Sequence[int] | None, reading: dict[str, Any]
) -> Iterable[Problem]:
    """Read the data sets; every file gets all options of reading."""
    from infused.bench import Problem, default_ks
    from infused.bench.plan import check_ks
    from infused.data import load_data
    from infused.data.named import PAPER, find_named

    for source in sources or tuple(PAPER):
        data = load_data(source, **({} if find_named(source) else reading))
        wanted = default_ks(data.name, data.n_features) if ks is None else ks
        yield Problem(data, check_ks(wanted, data.name, data.n_features))


def chosen_methods(ids: Sequence[str] | None, ablate: bool, allow_imports: bool = False) -> list[Method]:
    """Return the methods that --methods and --ablate ask for."""
    from infused.selectors.method import Method
    from infused.selectors.registry import ABLATIONS, available_selectors, selector_info

    every = available_selectors()
    usual = [id for id in every if selector_info(id).in_paper or id in BASELINES]
    if ids is None:
        ids = [] if ablate else usual
    elif list(ids) == ["all"]:
        ids = every
    variants = ["infused-lasso", *ABLATIONS] if ablate else []
    methods = (Method.parse(name, allow_imports=allow_imports) for name in [*ids, *variants])
    return list(dict.fromkeys(methods))


def _bytes(text: str | None) -> int | None:
    from infused._runtime.threads import in_bytes

    try:
        return None if text is None else in_bytes(text)
    except ValueError:
        raise InputError(f"--memory {text!r}: give a size like 4GB or 500MB") from None


def _show(rows: DataFrame, quiet: bool) -> None:
    """Show every method at its best k, unless it should be quiet; and what failed, always."""
    if not quiet and (rows["status"] == "ok").any():
        _show_best(terminal.results(), rows)
    failed = rows[rows["status"] != "ok"].drop_duplicates("cell")
    console = terminal.stderr()
    for _, row in failed.iloc[:FAILURES_SHOWN].iterrows():
        where = f"{row['method']} on {row['dataset']}, repeat {row['repeat'] + 1}, fold {row['fold'] + 1}"
        terminal.warn(console, f"{where}: {row['status']}, {row['reason']}")
    if len(failed) > FAILURES_SHOWN:
        terminal.warn(console, f"{len(failed) - FAILURES_SHOWN:,} more cells failed")
    if len(failed):
        terminal.note(console, "what failed counts as done; --retry computes it again")


def _show_best(console: Console, rows: DataFrame) -> None:
    from infused.bench.tables import accuracy_tables

    for made in accuracy_tables(rows, protocol=rows["protocol"].iloc[0]):
        terminal.show_results(console, made)
        console.print(made.caption, style="dim")


@o.command(
    """Show the best mean of every method on every data set, with its number of features.

    Below it are the mean ranks over data sets, where every method has results on two or more. What each part
    of InFusedLasso is worth follows where --ablate measured it (alone with --ablation). With --paper, the
    paper's three tables, measured and published, and whether the difference exceeds the standard error.
    With --dataset, every method on one data set beside the best of them: how good, with how many features,
    how steady, how fast, and whether the difference is real. CSV holds the figures of the accuracy table (or
    of the one that is asked for), one line for each method and data set.
    """,
    "infused benchmark table",
    "infused benchmark table --dataset wine",
    "infused benchmark table --format latex --output tables.tex",
    output=o.option("--output -o FILE", "Write to a file.", o.RESULTS),
)
def table(
    paper: bool = False,
    ablation: bool = False,
    methods: str | None = None,
    dataset: str | None = None,
    format: str = "markdown",
    protocol: str = "nested",
    store: Path = STORE,
    output: Path | None = None,
    force: bool = False,
) -> None:
    """Show or write the tables of a store."""
    from infused._runtime.files import check_place, write_whole
    from infused.bench.tables import FORMATS

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
    from infused.bench.paper import datasets_table, published_accuracy_table, structural_table
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
    from infused.bench.statistics import TooFewToRankError
    from infused.bench.tables import rank_table

    try:
        return [rank_table(rows, protocol=protocol)]
    except TooFewToRankError as error:
        terminal.note(terminal.stderr(), f"no table of ranks: {error}")
        return []


@o.command(
    """Draw what a benchmark found, each figure as PNG and as SVG.

    accuracy: accuracy against the number of features on every data set (Figure 2 of the paper), with bands of
    one standard error and the published result of InFusedLasso. ranks: the critical-difference diagram.
    convergence: the objective against the iteration (Figure 3). Variants of a method are drawn only where
    --methods names them. Leaky results have figures of their own.
    """,
    "infused benchmark figures --output docs/figures",
    output=o.option("--output -o DIR", "Folder for the pictures."),
)
def figures(
    store: Path = STORE,
    output: Path = Path("figures"),
    methods: str | None = None,
    convergence: bool = True,
    quiet: bool = False,
) -> None:
    """Draw the figures of a store."""
    from infused._runtime.files import check_writable
    from infused._runtime.messages import extra
    from infused.bench.rows import labelled, plain_methods
    from infused.bench.tables import version_notes

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
    from infused.bench.statistics import TooFewToRankError, rank_comparison
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
