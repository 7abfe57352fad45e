"""``infused compare``: which selector is best for these data, with how many features, and is it real?"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from infused._runtime.messages import extra
from infused.cli import options as o
from infused.cli import terminal
from infused.cli.terminal import Watch
from infused.exceptions import Setting

if TYPE_CHECKING:
    from rich.console import Console

    from infused.workflow import Comparison


@o.command(
    """Compare selectors on DATA by cross-validation: which is best, and with how many features?

    Every method selects on the training part of each fold, and a model with these features is scored on the
    test part. Shows the answer and a table, and writes comparison.csv and the page comparison.html to a
    folder (infused-compare- and the name of the data, unless --output says otherwise). With --json nothing is
    written unless --output is given. With --store, results are kept: the same command again, with more
    methods or repeats, computes only what is missing.
    """,
    "infused compare breast-cancer --folds 5 -k 5,10",
    "infused compare patients.csv --target diagnosis --methods lasso,mrmr -k 2,5",
    reads=o.READ_OPTIONS,
    methods=o.option(
        "--methods a,b",
        "Ids, separated by commas; by default infused-lasso, lasso, greedy-forward, mrmr, anova. Random "
        "features are always added. Parameters follow colons: lasso:lambda1=0.1.",
    ),
    repeats=o.option("--repeats N", "Repeats of the cross-validation: more show smaller differences."),
    jobs=o.PROCESSES,
    store=o.option("--store DIR", "Keep every result in this folder."),
)
def compare(
    data: str,
    reading: dict[str, Any],
    methods: str | None = None,
    features: str | None = None,
    folds: int = 5,
    repeats: int = 1,
    scoring: str | None = None,
    transform: str = "auto",
    protocol: str = "nested",
    classifier: str | None = None,
    allow_imports: bool = False,
    seed: int = 0,
    jobs: int = -1,
    timeout: float | None = None,
    store: Path | None = None,
    scheduler: str | None = None,
    workers: int | None = None,
    output: Path | None = None,
    report: bool = True,
    json: bool = False,
    quiet: bool = False,
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
            transform=transform,
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
        watch.notes(found.data.notes)
    if json:
        terminal.print_json(found.to_json())
    elif not quiet:
        show_comparison(terminal.results(), found, written)
        terminal.next_commands(terminal.results(), *_next(data, reading, found))
    if found.n_failed:
        raise typer.Exit(o.OUR_FAULT)


def show_comparison(console: Console, found: Comparison, written: list[Path]) -> None:
    """Show the answer, the table, what it means, and where the files are."""
    from infused.bench.tables import standings_table

    console.print(found.verdict)
    made = standings_table(found.standings)
    terminal.show_results(console, made, len(found.standings.methods))
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
    fixed = found.experiment.transform
    words += ["--transform", fixed] if fixed not in ("auto", "none") else []
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
    words += ["--transform", experiment.transform] if experiment.transform != "auto" else []
    words += ["--protocol", experiment.protocol] if experiment.protocol != "nested" else []
    words += ["--classifier", shlex.quote(experiment.classifier)] if experiment.classifier else []
    words += ["--allow-imports"] if experiment.allow_imports else []
    words += ["--seed", str(experiment.seed)]
    return " ".join(words)
