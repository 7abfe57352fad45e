"""``infused benchmark``: many methods on many data sets, into a store that resumes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from infused.cli import options as o
from infused.cli import terminal
from infused.cli.errors import OUR_FAULT
from infused.cli.terminal import Watch
from infused.exceptions import InputError

if TYPE_CHECKING:
    from pandas import DataFrame
    from rich.console import Console

    from infused.bench import Experiment, Problem
    from infused.selectors.method import Method


BENCHMARK_HELP = o.help_page(
    """Compare methods by repeated cross-validation.

    Every method selects on the training part of every fold, and a model with the selected features is
    scored on the test part, for every number of features. Each finished fold of a method is a file in the
    store: a run that was stopped goes on where it was, and a run with more repeats or methods computes what
    is missing. Results of an earlier version of a method or of the protocol are kept and shown as such, and
    computed again. The exit code is 1 when something failed; its reason is in the store.
    """,
    "infused benchmark --datasets wine,breast-cancer --methods lasso,mrmr,random --folds 5 -k 5,10",
    "infused benchmark compact",
)
COMPACT_HELP = o.help_page(
    "Put the results into one file, results.parquet in the store, that is small enough to commit.",
    "infused benchmark compact",
)

#: Beside those of the paper: a strong method that is not in it, and what a method must beat.
BASELINES = ("greedy-forward", "anova", "random")
FAILURES_SHOWN = 5

StoreFolder = Annotated[
    Path,
    typer.Option("--store", metavar="DIR", help="Folder of the results; a run goes on from what it holds."),
]
STORE = Path("infused-results")


@o.reads_data
def benchmark(
    context: typer.Context,
    reading: dict[str, Any],
    datasets: Annotated[
        str | None,
        typer.Option(
            "--datasets",
            metavar="A,B",
            help="Names or files, separated by commas; by default the paper's eight.",
        ),
    ] = None,
    methods: Annotated[
        str | None,
        typer.Option(
            "--methods",
            metavar="a,b",
            help="Ids, separated by commas, or all; by default the paper's and greedy-forward, anova, "
            "random. Parameters follow colons: lasso:lambda1=0.1.",
        ),
    ] = None,
    ablate: Annotated[
        bool, typer.Option("--ablate", help="Add infused-lasso and its variants, each with a part changed.")
    ] = False,
    features: Annotated[
        str | None,
        typer.Option("-k", "--features", metavar="K,K", help="Numbers of features; by default 10, 20, ..."),
    ] = None,
    repeats: Annotated[
        int, typer.Option("--repeats", metavar="N", help="Repeats of the cross-validation.")
    ] = 1,
    folds: Annotated[int, typer.Option("--folds", metavar="N", help="Folds of each repeat.")] = 10,
    protocol: o.ProtocolOption = "nested",
    classifier: o.CLASSIFIER = None,
    allow_imports: o.AllowImports = False,
    scoring: o.Scoring = None,
    seed: o.Seed = 0,
    store: StoreFolder = STORE,
    jobs: o.Processes = -1,
    timeout: o.Timeout = None,
    memory: Annotated[
        str | None, typer.Option("--memory", metavar="SIZE", help="Memory limit of one process, like 4GB.")
    ] = None,
    retry: Annotated[
        bool, typer.Option("--retry", help="Compute again what failed in an earlier run.")
    ] = False,
    recompute: Annotated[
        bool, typer.Option("--recompute", help="Compute everything again, and replace what the store has.")
    ] = False,
    scheduler: o.Scheduler = None,
    workers: o.Workers = None,
    quiet: o.Quiet = False,
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
        raise typer.Exit(OUR_FAULT)


def _reasons(experiment: Experiment) -> list[str]:
    """Say why another metric than accuracy is used, where nobody asked for it."""
    if experiment.scoring is not None:
        return []
    told = [(problem.name, problem.default_scoring[1]) for problem in experiment.problems]
    return [f"{name}: {why}" for name, why in told if why]


def compact(store: StoreFolder = STORE, quiet: o.Quiet = False) -> None:
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
    """Show every method at its best k, unless told to be quiet; and what failed, always."""
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
    from infused.bench.rows import metric_of, of_protocol
    from infused.bench.statistics import best_scores, score_summary
    from infused.bench.table_formats import in_order
    from infused.record.sentences import measure, score_number, unit

    entries: dict[str, dict[str, str]] = {}
    metrics = []
    for dataset, part in rows[rows["status"] == "ok"].groupby("dataset", sort=False):
        metric = metric_of(part)
        metrics.append(metric)
        for _, one in best_scores(score_summary(of_protocol(part, None), metric)).iterrows():
            value = f"{score_number(one['mean'], metric)}{unit(metric)[1]} ({one['k']})"
            entries.setdefault(one["label"], {})[str(dataset)] = value
    names = list(dict.fromkeys(name for found in entries.values() for name in found))
    table = terminal.plain_table("method", *(terminal.printable(name) for name in names))
    for label in in_order(entries, entries):
        found = entries[label]
        table.add_row(Text(label, "bold"), *(found.get(name, "-") for name in names))
    console.print(table)
    told = ", ".join(dict.fromkeys(f"{measure(metric).words}" for metric in metrics))
    console.print(f"Mean {told} over folds; the best number of features is in brackets.")
    if (rows["protocol"] == "leaky").any():
        console.print("Leaky: features were selected on all samples, so these figures are too good.")
