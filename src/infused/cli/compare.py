"""``infused compare``: which selector is best for these data, with how many features, and is it real?"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from infused._runtime.messages import extra
from infused.cli import options as o
from infused.cli import terminal
from infused.cli.errors import OUR_FAULT
from infused.cli.terminal import Watch
from infused.exceptions import Setting

if TYPE_CHECKING:
    from rich.console import Console

    from infused.workflow import Comparison


COMPARE_HELP = o.help_page(
    """Compare selectors on DATA by cross-validation: which is best, and with how many features?

    Every method selects on the training part of each fold, and a model with these features is scored on the
    test part. Shows the answer and a table, and writes comparison.csv and the page comparison.html to a
    folder (infused-compare- and the name of the data, unless --output says otherwise). With --json nothing is
    written unless --output is given. With --store, results are kept: the same command again, with more
    methods or repeats, computes only what is missing.
    """,
    "infused compare breast-cancer --folds 5 -k 5,10",
    "infused compare patients.csv --target diagnosis --methods lasso,mrmr -k 2,5",
)


@o.reads_data
def compare(
    data: o.Data,
    reading: dict[str, Any],
    methods: Annotated[
        str | None,
        typer.Option(
            "--methods",
            metavar="a,b",
            help="Ids, separated by commas; by default infused-lasso, lasso, greedy-forward, mrmr, anova. "
            "Random features are always added. Parameters follow colons: lasso:lambda1=0.1.",
        ),
    ] = None,
    features: Annotated[
        str | None,
        typer.Option("-k", "--features", metavar="K,K", help="Numbers of features; by default even steps."),
    ] = None,
    folds: Annotated[int, typer.Option("--folds", metavar="N", help="Folds of the cross-validation.")] = 5,
    repeats: Annotated[
        int,
        typer.Option(
            "--repeats", metavar="N", help="Repeats of the cross-validation: more show smaller differences."
        ),
    ] = 1,
    scoring: o.Scoring = None,
    protocol: o.ProtocolOption = "nested",
    classifier: o.CLASSIFIER = None,
    allow_imports: o.AllowImports = False,
    seed: o.Seed = 0,
    jobs: o.Processes = -1,
    timeout: o.Timeout = None,
    store: Annotated[
        Path | None, typer.Option("--store", metavar="DIR", help="Keep every result in this folder.")
    ] = None,
    scheduler: o.Scheduler = None,
    workers: o.Workers = None,
    output: o.Output = None,
    report: o.Report = True,
    json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Compare as the options say, show the answer and write the files."""
    from infused import workflow
    from infused.data.sources import find_source

    if output is None and not json:
        output = Path(f"infused-compare-{find_source(data).name}")
    if output is not None and report:
        extra("jinja2")  # before the work, not after it
    with o.running_on(scheduler, workers), Watch(quiet or json) as watch:
        found = workflow.compare(
            data,
            methods=o.parse_names("--methods", methods),
            k=o.parse_numbers("-k", features),
            folds=folds,
            repeats=repeats,
            scoring=scoring,
            protocol=protocol,
            classifier=classifier,
            seed=seed,
            n_jobs=jobs,
            timeout=timeout,
            store=store,
            watch=watch.cell,
            allow_imports=allow_imports,
            **reading,
        )
        again = command_again(data, reading, found, scoring)
        written = [] if output is None else found.save(output, report=report, command=again)
    if json:
        terminal.print_json(found.to_json())
    elif not quiet:
        show_comparison(terminal.results(), found, written)
        terminal.next_commands(terminal.results(), *_next(data, reading, found))
    if found.n_failed:
        raise typer.Exit(OUR_FAULT)


def show_comparison(console: Console, found: Comparison, written: list[Path]) -> None:
    """Show the answer, the table, what it means, and where the files are."""
    from infused.bench.tables import standings_table

    console.print(found.verdict)
    made = standings_table(found.standings)
    names = list(made.cells.columns)
    shown = terminal.plain_table(*names, right=tuple(names[1:]))
    n_methods, n_best = len(found.standings.methods), len(found.standings.tied)
    for n, row in enumerate(made.cells.itertuples(index=False)):
        cells = [terminal.printable(str(text)) for text in row]
        name = Text(cells[0], "bold" if n < n_methods else "")
        shown.add_row(name, *cells[1:], style="bold" if n < n_best else None, end_section=n + 1 == n_methods)
    console.print(shown)
    for words in (made.caption, *made.notes):
        console.print(words, style="dim")
    for path in written:
        console.print(f"  {path}", soft_wrap=True)


def _next(data: str, reading: dict[str, Any], found: Comparison) -> list[tuple[str, str]]:
    """Suggest a selection by the best method with its smallest k; nothing where no method beats chance."""
    import json as texts

    best = found.standings.recommended
    if best is None:
        return []
    rows = found.rows[found.rows["label"] == best["label"]]
    parameters = texts.loads(rows["parameters"].iloc[0])
    words = ["infused", "select", data, "-k", int(best["smallest_k"]), "--method", rows["method"].iloc[0]]
    for name, value in parameters.items():
        words += ["--set", f"{name}={value}"]
    words += ["--allow-imports"] if found.experiment.allow_imports else []
    return [("Use it", o.typed(*words, options=reading))]


def command_again(data: str, reading: dict[str, Any], found: Comparison, scoring: str | None) -> str:
    """Return the command that makes the same rows again, with defaults that may change spelled out."""
    experiment = found.experiment
    words = ["infused", "compare", shlex.quote(data)]
    words += [o.spelled(Setting(name, value)) for name, value in reading.items()]
    words += ["--methods", shlex.quote(",".join(map(str, experiment.methods)))]
    words += ["-k", ",".join(str(k) for k in experiment.problems[0].ks)]
    words += ["--folds", str(experiment.folds), "--repeats", str(experiment.repeats)]
    words += ["--scoring", scoring] if scoring else []
    words += ["--protocol", experiment.protocol] if experiment.protocol != "nested" else []
    words += ["--classifier", shlex.quote(experiment.classifier)] if experiment.classifier else []
    words += ["--allow-imports"] if experiment.allow_imports else []
    words += ["--seed", str(experiment.seed)]
    return " ".join(words)
