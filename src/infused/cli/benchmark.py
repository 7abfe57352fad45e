"""``infused benchmark``: many methods on many data sets, into a store that resumes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from infused.cli import options as o
from infused.cli import terminal
from infused.cli.benchmark_progress import Watch
from infused.cli.benchmark_summary import show_summary
from infused.cli.errors import OUR_FAULT, CommandError
from infused.cli.lists import parse_names, parse_numbers

if TYPE_CHECKING:
    from infused.bench import Experiment, Method, Problem, Store

__all__ = ["BENCHMARK_EXAMPLES", "benchmark", "compact", "run"]

BENCHMARK_EXAMPLES = o.examples(
    "infused benchmark --datasets wine,breast-cancer --methods lasso,mrmr,random --folds 5 -k 5,10",
    "infused benchmark compact",
)

#: Beside those of the paper: a strong method that is not in it, and what a method must beat.
BASELINES = ("greedy-forward", "anova", "random")

Folder = Annotated[
    Path,
    typer.Option("--store", metavar="DIR", help="Folder for the results; a run goes on from what it holds."),
]
STORE = Path("results")


def run(
    context: typer.Context,
    datasets: Annotated[
        str | None,
        typer.Option(
            "--datasets",
            metavar="A,B",
            help="Names or files, commas between; by default the paper's eight.",
        ),
    ] = None,
    methods: Annotated[
        str | None,
        typer.Option(
            "--methods",
            metavar="a,b",
            help="Ids, commas between, or all; by default the paper's and greedy-forward, anova, random. "
            "Parameters after colons: lasso:lambda1=0.1.",
        ),
    ] = None,
    ablate: Annotated[
        bool, typer.Option("--ablate", help="Add infused-lasso and its variants, each with a part changed.")
    ] = False,
    features: Annotated[
        str | None,
        typer.Option("-k", "--features", metavar="K,K", help="Numbers of features; by default 10, 20, ..."),
    ] = None,
    repeats: Annotated[int, typer.Option("--repeats", metavar="N", help="Of the cross-validation.")] = 1,
    folds: Annotated[int, typer.Option("--folds", metavar="N", help="Of each repeat.")] = 10,
    protocol: Annotated[
        str,
        typer.Option(
            "--protocol", metavar="WHICH", help="nested, or leaky: select on all samples, as some do."
        ),
    ] = "nested",
    classifier: Annotated[
        str | None,
        typer.Option(
            "--classifier",
            metavar="NAME",
            help="svm (linear, the default), logistic, knn, random-forest, ridge, or a dotted path.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="For what is drawn at random.")] = 0,
    target: o.Target = None,
    store: Folder = STORE,
    jobs: Annotated[int, typer.Option("--jobs", metavar="N", help="Processes; -1 for every core.")] = -1,
    timeout: Annotated[
        float | None, typer.Option("--timeout", metavar="SECONDS", help="Most for one method on one fold.")
    ] = None,
    memory: Annotated[
        str | None, typer.Option("--memory", metavar="SIZE", help="Most for one process, like 4GB.")
    ] = None,
    retry: Annotated[
        bool, typer.Option("--retry", help="Compute again what failed in an earlier run.")
    ] = False,
    quiet: o.Quiet = False,
) -> None:
    """Compare methods by repeated cross-validation.

    Every method selects on the training part of every fold, and a classifier with the selected features is
    scored on the test part, for every number of features. Each finished fold of a method is a file in the
    store: a run that was stopped goes on where it was, and a run with more repeats or methods computes what
    is missing. The exit code is 1 when something failed; its reason is in the store.
    """
    if context.invoked_subcommand is not None:
        return
    from infused.bench import Experiment, Store, run_experiment

    o.check_jobs(jobs)
    place, limit = Store(store), _bytes(memory)
    if timeout is not None and not timeout > 0:
        raise CommandError(f"--timeout {timeout:g}: give a number of seconds above zero")
    experiment = Experiment(
        problems=tuple(_problems(parse_names("--datasets", datasets), parse_numbers("-k", features), target)),
        methods=tuple(chosen_methods(parse_names("--methods", methods), ablate)),
        repeats=repeats,
        folds=folds,
        protocol=protocol,  # type: ignore[arg-type]  # an experiment checks it
        classifier=classifier,
        seed=seed,
    )
    with Watch(quiet) as watch:
        outcome = run_experiment(
            experiment, place, jobs=jobs, timeout=timeout, memory=limit, retry=retry, report=watch.show
        )
    _conclude(experiment, place, quiet)
    if outcome.failed:
        raise typer.Exit(OUR_FAULT)


def compact(store: Folder = STORE, quiet: o.Quiet = False) -> None:
    """Put the results into one file, results.parquet in the store, that is small enough to commit."""
    from infused.bench import Store

    place = Store(store)
    n_rows = place.compact()
    if not quiet:
        terminal.results().print(f"{n_rows:,} rows in {place.results}", soft_wrap=True)


def _problems(
    sources: Sequence[str] | None, ks: Sequence[int] | None, target: str | None
) -> Iterable[Problem]:
    from infused.bench import Problem, default_ks
    from infused.bench.cells import check_ks
    from infused.data import load_data
    from infused.data.named import find_named
    from infused.data.paper import PAPER

    for source in sources or tuple(PAPER):
        data = load_data(source, target=None if find_named(source) else target)
        wanted = default_ks(data.name, data.n_features) if ks is None else ks
        yield Problem(data, check_ks(wanted, data.name, data.n_features))


def chosen_methods(ids: Sequence[str] | None, ablate: bool) -> list[Method]:
    """What --methods and --ablate ask for."""
    from infused.bench import ABLATIONS, Method

    if ids is None:
        ids = [] if ablate else _usual_ids()
    elif list(ids) == ["all"]:
        from infused.selectors import available_selectors

        ids = available_selectors()
    variants = ["infused-lasso", *ABLATIONS] if ablate else []
    return list(dict.fromkeys(Method.parse(name) for name in [*ids, *variants]))


def _usual_ids() -> list[str]:
    from infused.selectors.registry import available_selectors, selector_info

    return [id for id in available_selectors() if selector_info(id).in_paper or id in BASELINES]


def _conclude(experiment: Experiment, store: Store, quiet: bool) -> None:
    """What failed, always; what was found and where it is, unless told to be quiet."""
    rows = store.frame()
    rows = rows[rows["cell"].isin([cell.key for cell in experiment.cells()])]
    show_summary(rows, quiet)
    if not quiet:
        terminal.results().print(f"Results are in {store.folder}", soft_wrap=True)


def _bytes(text: str | None) -> int | None:
    from infused._runtime.memory import memory_budget

    if text is None:
        return None
    try:
        return memory_budget(text)
    except ValueError:
        raise CommandError(f"--memory {text!r}: give a size like 4GB or 500MB") from None


benchmark = typer.Typer()
benchmark.callback(invoke_without_command=True, help=o.paragraphs(run.__doc__), epilog=BENCHMARK_EXAMPLES)(
    run
)
benchmark.command(epilog=o.examples("infused benchmark compact"))(compact)
