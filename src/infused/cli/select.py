"""``infused select``: from a file to an answer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from infused._runtime.messages import extra
from infused.cli import options as o
from infused.cli import terminal
from infused.cli.terminal import Watch
from infused.exceptions import InputError

if TYPE_CHECKING:
    from rich.console import Console

    from infused.record.schema import SelectionRecord
    from infused.workflow import Selection


SELECT_HELP = o.help_page(
    """Select the features of DATA that predict a target best.

    Shows them, and writes selected.csv, selection.json and the page report.html to a folder
    (infused- and the name of the data, unless --output says otherwise). With --json nothing is written unless
    --output is given.
    """,
    "infused select digits -k 20",
    "infused select patients.csv --target diagnosis -k 10 --output out",
    "infused select patients.csv --target diagnosis -k auto --method mrmr -o mrmr",
    "infused select breast-cancer -k 0.2 --transform auto --json",
)
SHOWN = 20  # features on the terminal
STDIN_INSTEAD = "data.csv"  # standard input cannot be read twice
MEANINGS = {
    "selected.csv": "the features by rank",
    "reduced.parquet": "the data with these features alone",
    "report.html": "the page, to look at and to share",
    "selection.json": "the record, for infused rerun and infused apply",
}


def _model(*names: str, help: str, **more: Any) -> Any:
    return typer.Option(*names, help=help, rich_help_panel="Model", **more)


@o.reads_data
def select(
    data: o.Data,
    reading: dict[str, Any],
    features: Annotated[
        str | None,
        typer.Option(
            "-k",
            "--features",
            metavar="K",
            help="Number of features, a fraction like 0.1, or auto. By default, the method chooses.",
        ),
    ] = None,
    method: Annotated[
        str,
        typer.Option("--method", "-m", metavar="ID", help="Method, by its id: infused methods lists them."),
    ] = "infused-lasso",
    keep: Annotated[
        list[str] | None,
        typer.Option(
            "--keep",
            metavar="FEATURE",
            help="Always select this feature, such as a covariate: others are ranked given it (repeatable).",
        ),
    ] = None,
    transform: Annotated[
        str,
        typer.Option(
            "--transform", metavar="HOW", help="Transform the values first: none, sqrt, log1p or auto."
        ),
    ] = "none",
    scoring: o.Scoring = None,
    stability: Annotated[
        int | None,
        typer.Option(
            "--stability",
            metavar="PAIRS",
            help="Select again in this many pairs of half-samples, for the stability; 0 for none. By "
            "default 50 if that takes seconds.",
        ),
    ] = None,
    folds: Annotated[
        int | None,
        typer.Option(
            "--folds",
            metavar="N",
            help="Folds of the cross-validated score of the selection; 0 for none. By default 5 if that "
            "takes seconds.",
        ),
    ] = None,
    fdr: Annotated[
        float | None,
        typer.Option(
            "--fdr", metavar="RATE", help="Select by knockoffs at this false discovery rate, like 0.1."
        ),
    ] = None,
    seed: o.Seed = 0,
    jobs: o.Jobs = -1,
    lambda1: Annotated[
        float | None, _model("--lambda1", metavar="X", help="Strength of the L1 penalty.")
    ] = None,
    lambda2: Annotated[
        float | None, _model("--lambda2", metavar="X", help="Strength of the fusion penalty.")
    ] = None,
    lambda3: Annotated[
        float | None, _model("--lambda3", metavar="X", help="Strength of the structural term.")
    ] = None,
    formulation: Annotated[
        str | None,
        _model("--formulation", metavar="WHICH", help="stable (always convex), or paper: as published."),
    ] = None,
    fusion: Annotated[
        str | None,
        _model("--fusion", metavar="HOW", help="Features that are fused: chain, grid, none or auto."),
    ] = None,
    settings: Annotated[
        list[str] | None,
        _model("--set", metavar="NAME=VALUE", help="Another parameter of the method (repeatable)."),
    ] = None,
    allow_imports: o.AllowImports = False,
    scheduler: o.Scheduler = None,
    workers: o.Workers = None,
    output: o.Output = None,
    report: o.Report = True,
    reduced: Annotated[
        bool,
        typer.Option(
            "--reduced",
            help="Also write the data with the selected columns alone, as reduced.parquet.",
            rich_help_panel=o.RESULTS,
        ),
    ] = False,
    json: o.Json = False,
    quiet: o.Quiet = False,
    force: o.Force = False,
) -> None:
    """Select as the options say, show the best features and write the files."""
    from infused import workflow
    from infused.data.sources import find_source
    from infused.selectors.method import Method
    from infused.workflow.selection import check_folder

    if output is None and not json:
        output = Path(f"infused-{find_source(data).name}")
    if output is not None:
        check_folder(output, force)
        if report:
            extra("jinja2")  # before the work, not after it
    own = {
        "lambda1": lambda1,
        "lambda2": lambda2,
        "lambda3": lambda3,
        "formulation": formulation,
        "fusion": fusion,
    }
    given = {name: value for name, value in own.items() if value is not None}
    parameters = {**given, **_settings(settings or [])}
    with o.running_on(scheduler, workers), Watch(quiet=quiet or json) as watch:
        selection = workflow.select(
            data,
            k=o.parse_number(features),
            method=Method.parse(method, allow_imports=allow_imports).having(parameters),
            keep=keep or (),
            transform=transform,
            scoring=scoring,
            stability=stability,
            folds=folds,
            fdr=fdr,
            seed=seed,
            n_jobs=jobs,
            **reading,
        )
        written = (
            [] if output is None else selection.save(output, force=force, report=report, reduced=reduced)
        )
        watch.notes(selection.record.data.notes)
    if json:
        terminal.print_json(selection.record.to_json())
    elif not quiet:
        show_selection(terminal.results(), selection, written)
        terminal.next_commands(terminal.results(), *_next(data, reading, selection, written))


def _next(
    data: str, reading: dict[str, Any], selection: Selection, written: list[Path]
) -> list[tuple[str, str]]:
    """Return commands that people type after a selection, each with its purpose."""
    again = STDIN_INSTEAD if data == "-" else data
    ks = sorted({len(selection), max(1, len(selection) // 2)})
    used = selection.record.request.method.id
    methods = ",".join(dict.fromkeys([used, "lasso", "anova"]))
    own = ["--allow-imports"] if "." in used else []
    compared = ("infused", "compare", again, "--methods", methods, *own, "-k", ",".join(map(str, ks)))
    commands = [("Compare with other methods", o.typed(*compared, options=reading))] if len(selection) else []
    if len(selection):
        best = o.typed("infused", "explain", again, selection.features[0], options=reading)
        commands.insert(0, ("Explain the best feature", best))
    record = [path for path in written if path.name == "selection.json"]
    if record and len(selection):
        reduce = ("infused", "apply", record[0], "new-data.csv", "--output", "reduced.csv")
        commands.append(("Take the same columns of new data", o.typed(*reduce)))
    return commands


def _settings(texts: Sequence[str]) -> dict[str, Any]:
    """Read --set NAME=VALUE, each as a parameter of the method."""
    from infused.selectors.method import typed_value

    given = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise InputError(f"--set {text!r}: give a name and a value, like n_bins=10")
        if name in o.RENAMED:
            raise InputError(f"--set {text!r}: use {o.RENAMED[name]} instead")
        given[name] = typed_value(value)
    return given


def show_selection(console: Console, selection: Selection, written: list[Path]) -> None:
    """Show the answer, the best features, and where the rest is."""
    from infused.record.sentences import alone_words, answer_sentences, warning_sentences

    record = selection.record
    for warning in warning_sentences(record):
        terminal.warn(console, terminal.printable(warning, 10_000))
    for n, sentences in enumerate(answer_sentences(record)):
        console.print(Text(terminal.printable(sentences, 10_000), "bold" if n == 0 else ""))
    if record.tried:
        console.print()
        console.print(_tried_methods(record))
    if record.selected:
        console.print()
        console.print(_best_features(record))
        console.print(Text(f"explains alone: {terminal.printable(alone_words(record), 10_000)}", "dim"))
    beyond = len(record.selected) - SHOWN
    if beyond > 0:
        where = f"in {written[0]}" if written else "in the record (--json)"
        console.print(Text(f"... and {beyond:,} more {where}", "dim"), soft_wrap=True)
    show_files(console, written)


def _best_features(record: SelectionRecord) -> Any:
    from infused.record.sentences import shared_groups

    shared = shared_groups(record)
    again = ["frequency"] if record.stability is not None else []
    columns = ["rank", "feature", "explains alone", "lost without", *again, "group"]
    table = terminal.plain_table(*columns, right=("rank", "lost without", "frequency", "group"))
    for feature in record.selected[:SHOWN]:
        table.add_row(
            str(feature.rank),
            Text(terminal.printable(feature.name)),
            terminal.share(feature.alone),
            "" if feature.unique is None else f"{feature.unique:.1%}",
            *([] if record.stability is None else [f"{record.stability.frequencies[feature.index]:.0%}"]),
            str(feature.group) if feature.group in shared else "-",
        )
    return table


def _tried_methods(record: SelectionRecord) -> Any:
    """Return a table of the methods that were tried, with their scores."""
    from infused.record.sentences import measure, score_number, score_text

    name = "accuracy" if record.number is None else record.number.scoring
    title = measure(name).words
    columns = ("method", "features", title, "linear", "trees", "seconds", "")
    table = terminal.plain_table(*columns, right=("features", "linear", "trees", "seconds"))
    for one in record.tried:
        reached = "" if one.score is None else score_text(one.score, one.error or 0.0, name)
        told = "chosen" if one.chosen else "" if one.status == "tried" else one.status
        number = "" if one.n_features is None else f"{one.n_features:,}"
        both = (one.linear, one.boosted_trees)
        models = ["" if score is None else score_number(score, name) for score in both]
        table.add_row(Text(one.method), number, reached, *models, f"{one.seconds:.1f}", told)
    return table


def show_files(console: Console, written: list[Path]) -> None:
    """Show where the results are, and what each is for."""
    if not written:
        return
    widest = max(len(str(path)) for path in written)
    console.print()
    for path in written:
        style = "bold" if path.name == "report.html" else ""
        line = Text.assemble((f"{path!s:{widest}}", style), (f"  {MEANINGS[path.name]}", "dim"))
        console.print(line, soft_wrap=True)
