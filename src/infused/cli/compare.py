"""``infused compare``: which selector is best for these data, with how many features, and is it real?"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from infused.cli import options as o
from infused.cli import terminal
from infused.cli.benchmark_progress import Watch
from infused.cli.benchmark_table import ProtocolName, check_protocol
from infused.cli.errors import OUR_FAULT, CommandError
from infused.cli.files import check_writable, write_whole
from infused.cli.lists import parse_names, parse_numbers
from infused.cli.reading import load_requested, reading_options

if TYPE_CHECKING:
    from pandas import DataFrame

    from infused.bench import Experiment
    from infused.bench.comparison import Comparison
    from infused.data import Dataset

__all__ = ["COMPARE_EXAMPLES", "compare"]

COMPARE_EXAMPLES = o.examples(
    "infused compare breast-cancer --folds 5 -k 5,10",
    "infused compare patients.csv --target diagnosis --methods lasso,mrmr -k 2,5",
)

#: Different ideas, all quick; and what each of them must beat.
METHODS = ("infused-lasso", "lasso", "greedy-forward", "mrmr", "anova")
BASELINE = "random"


def compare(
    data: o.Data,
    methods: Annotated[
        str | None,
        typer.Option(
            "--methods",
            metavar="a,b",
            help=f"Ids, commas between; by default {', '.join(METHODS)}. {BASELINE} is always added. "
            "Parameters after colons: lasso:lambda1=0.1.",
        ),
    ] = None,
    features: Annotated[
        str | None,
        typer.Option("-k", "--features", metavar="K,K", help="Numbers of features; by default even steps."),
    ] = None,
    folds: Annotated[int, typer.Option("--folds", metavar="N", help="Of the cross-validation.")] = 5,
    repeats: Annotated[
        int, typer.Option("--repeats", metavar="N", help="More show smaller differences.")
    ] = 1,
    protocol: ProtocolName = "nested",
    classifier: Annotated[
        str | None,
        typer.Option(
            "--classifier",
            metavar="NAME",
            help="svm (linear, the default), logistic, knn, random-forest, ridge, or a dotted path.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="For what is drawn at random.")] = 0,
    jobs: Annotated[int, typer.Option("--jobs", metavar="N", help="Processes; -1 for every core.")] = -1,
    timeout: Annotated[
        float | None, typer.Option("--timeout", metavar="SECONDS", help="Most for one method on one fold.")
    ] = None,
    target: o.Target = None,
    target_file: o.TargetFile = None,
    x_key: o.XKey = None,
    y_key: o.YKey = None,
    drop: o.Drop = None,
    keep: o.Keep = None,
    impute: o.Impute = None,
    one_hot: o.OneHot = False,
    separator: o.Separator = None,
    encoding: o.Encoding = None,
    no_header: o.NoHeader = False,
    task: o.TaskName = None,
    output: o.Output = None,
    report: o.Report = True,
    quiet: o.Quiet = False,
) -> None:
    """Compare selectors on DATA by cross-validation: which is best, with how many features, is it real?

    Every method selects on the training part of each fold, and a classifier with these features is scored on
    the test part. Shows the answer and a table, and writes comparison.csv and the page comparison.html to a
    folder (infused-compare- and the name of the data, unless --output says otherwise). Results are kept
    there: the same command again, with more methods or repeats, computes only what is missing.
    """
    from infused.bench import Experiment, Method, Problem, default_ks
    from infused.bench.cells import check_ks

    ks, ids = parse_numbers("-k", features), parse_names("--methods", methods) or list(METHODS)
    which = check_protocol(protocol)
    o.check_jobs(jobs)
    if timeout is not None and not timeout > 0:
        raise CommandError(f"--timeout {timeout:g}: give a number of seconds above zero")
    reading = reading_options(
        target_file=target_file,
        x_key=x_key,
        y_key=y_key,
        drop=drop,
        keep=keep,
        impute=impute,
        one_hot=one_hot,
        separator=separator,
        encoding=encoding,
        no_header=no_header,
        task=task,
    )
    dataset = load_requested(data, target, reading)
    wanted = check_ks(ks or default_ks(dataset.name, dataset.n_features), dataset.name, dataset.n_features)
    experiment = Experiment(
        problems=(Problem(dataset, wanted),),
        methods=tuple(dict.fromkeys(Method.parse(id) for id in [*ids, BASELINE])),
        repeats=repeats,
        folds=folds,
        protocol=which,
        classifier=classifier,
        seed=seed,
    )
    folder = Path(f"infused-compare-{dataset.name}") if output is None else output
    rows = _run(experiment, folder, jobs, timeout, quiet)
    again = _command(data, {"target": target, **reading}, experiment)
    failed = _conclude(rows, dataset, folder, again, report, quiet)
    if failed:
        raise typer.Exit(OUR_FAULT)


def _run(experiment: Experiment, folder: Path, jobs: int, timeout: float | None, quiet: bool) -> DataFrame:
    """The rows of the experiment, from its store or computed."""
    from infused.bench import Store, run_experiment

    check_writable(folder)
    store = Store(folder / "store" / _design(experiment))
    with Watch(quiet) as watch:
        run_experiment(experiment, store, jobs=jobs, timeout=timeout, report=watch.show)
    store.compact()
    rows = store.frame()
    return rows[rows["cell"].isin([cell.key for cell in experiment.cells()])]


def _design(experiment: Experiment) -> str:
    """A name for what results must share to be compared: another choice of k or folds starts anew."""
    from infused.bench.cells import content_key

    problem = experiment.problems[0]
    shared = {
        "data": problem.fingerprint,
        "ks": problem.ks,
        "folds": experiment.folds,
        "seed": experiment.seed,
    }
    return content_key(shared)[:8]


def _conclude(
    rows: DataFrame, dataset: Dataset, folder: Path, command: str, report: bool, quiet: bool
) -> int:
    """Files and the answer; the number of cells that failed."""
    from infused.bench.comparison import compare_methods
    from infused.bench.frames import failed_cells
    from infused.bench.tables import comparison_table

    comparison = compare_methods(rows)
    numbers = comparison_table(comparison).to_csv()
    written = [folder / "comparison.csv"]
    write_whole(written[0], lambda file: file.write(numbers.encode()))
    if report:
        from infused.report.compare_page import render_comparison

        page = render_comparison(rows, command=command, notes=list(dataset.notes))
        written.append(folder / "comparison.html")
        write_whole(written[1], lambda file: file.write(page.encode()))
    if not quiet:
        _show(comparison, written)
    return len(failed_cells(comparison.rows))


def _show(comparison: Comparison, written: list[Path]) -> None:
    """The answer, the table, what it means, and where the files are."""
    from infused.bench.tables import comparison_table
    from infused.report.compare_text import answer

    console = terminal.results()
    console.print(answer(comparison))
    made = comparison_table(comparison)
    names = list(made.cells.columns)
    shown = terminal.plain_table(*names, right=tuple(names[1:]))
    for n, row in enumerate(made.cells.itertuples(index=False)):
        cells = [terminal.printable(str(text)) for text in row]
        shown.add_row(Text(cells[0], "bold"), *cells[1:], style="bold" if n == 0 else None)
    console.print(shown)
    for words in (made.caption, *made.notes):
        console.print(words, style="dim")
    for path in written:
        console.print(f"  {path}", soft_wrap=True)


def _command(data: str, reading: Mapping[str, Any], experiment: Experiment) -> str:
    """What makes the same rows again; defaults that may change one day are spelled out."""
    words = ["infused", "compare", data]
    for name, value in reading.items():
        option = "--no-header" if name == "header" else f"--{name.replace('_', '-')}"
        for one in value if isinstance(value, list) else [value]:
            if one is not None:
                words += [option] if isinstance(one, bool) else [option, str(one)]
    words += ["--methods", ",".join(map(str, experiment.methods))]
    words += ["-k", ",".join(str(k) for k in experiment.problems[0].ks)]
    words += ["--folds", str(experiment.folds), "--repeats", str(experiment.repeats)]
    words += ["--protocol", experiment.protocol] if experiment.protocol != "nested" else []
    words += ["--classifier", experiment.classifier] if experiment.classifier else []
    words += ["--seed", str(experiment.seed)]
    return shlex.join(words)
