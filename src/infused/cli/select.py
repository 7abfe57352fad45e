"""``infused select``: from a file to an answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.text import Text

from infused._runtime.messages import extra
from infused.cli import options as o
from infused.cli import terminal
from infused.cli.terminal import Watch
from infused.exceptions import InputError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from infused.record.schema import SelectedFeature, SelectionRecord
    from infused.workflow import Selection


SHOWN = 20  # features on the terminal
STDIN_INSTEAD = "data.csv"  # standard input cannot be read twice
MEANINGS = {
    "selected.csv": "the features by rank",
    "reduced.parquet": "the data with these features alone",
    "report.html": "the page, to look at and to share",
    "selection.json": "the record, for infused rerun and infused apply",
}


@o.command(
    """Select the features of DATA that predict a target best.

    Shows them, and writes selected.csv, selection.json and the page report.html to a folder
    (infused- and the name of the data, unless --output says otherwise). With --json nothing is written unless
    --output is given.
    """,
    "infused select digits -k 20",
    "infused select patients.csv --target diagnosis -k 10 --output out",
    "infused select patients.csv --target diagnosis -k auto --method mrmr -o mrmr",
    "infused select breast-cancer -k 0.2 --transform auto --json",
    reads=o.READ_OPTIONS,
    features=o.option(
        "-k --features K", "Number of features, a fraction like 0.1, or auto. By default, the method chooses."
    ),
    folds=o.option(
        "--folds N",
        "Folds of the cross-validated score of the selection; 0 for none. By default 5 if that takes "
        "seconds.",
    ),
)
def select(
    data: str,
    reading: dict[str, Any],
    features: str | None = None,
    method: str = "infused-lasso",
    keep: list[str] | None = None,
    transform: str = "none",
    scoring: str | None = None,
    stability: int | None = None,
    folds: int | None = None,
    fdr: float | None = None,
    costs: Path | None = None,
    max_cost: float | None = None,
    intervals: bool = False,
    penalty_factors: Path | None = None,
    seed: int = 0,
    jobs: int = -1,
    lambda1: float | None = None,
    lambda2: float | None = None,
    lambda3: float | None = None,
    formulation: str | None = None,
    fusion: str | None = None,
    settings: list[str] | None = None,
    allow_imports: bool = False,
    scheduler: str | None = None,
    workers: int | None = None,
    output: Path | None = None,
    report: bool = True,
    reduced: bool = False,
    json: bool = False,
    quiet: bool = False,
    force: bool = False,
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
        "penalty_factors": o.read_numbers("--penalty-factors", penalty_factors),
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
            costs=o.read_numbers("--costs", costs),
            max_cost=max_cost,
            intervals=intervals,
            seed=seed,
            n_jobs=jobs,
            **reading,
        )
        written = (
            [] if output is None else selection.save(output, force=force, report=report, reduced=reduced)
        )
    if json:
        terminal.print_json(selection.record.to_json())
    elif not quiet:
        show_selection(terminal.results(), selection, written)
        watch.notes(selection.record.data.notes)  # after the verdict, which is what a reader needs first
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
    request, transform = selection.record.request, selection.record.transform
    own += ["--scoring", request.scoring] if request.scoring else []
    own += ["--transform", transform] if request.transform not in ("none", "auto") else []
    compared = ("infused", "compare", again, "--methods", methods, *own, "-k", ",".join(map(str, ks)))
    commands = [("Compare with other methods", o.typed(*compared, options=reading))] if len(selection) else []
    if isinstance(reading.get("target"), list):  # the other commands take one
        commands = []
    elif len(selection):
        how = ["--transform", transform] if transform != "none" else []
        best = o.typed("infused", "explain", again, selection.features[0], *how, options=reading)
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
    from infused.record.sentences import title, verdict

    record = selection.record
    terminal.box(console, title(record), verdict(record))
    if record.tried:
        console.print()
        terminal.show_fitting(
            console, lambda less: _tried_methods(record, less), ("seconds", "linear", "trees")
        )
    if record.selected:
        console.print()
        _show_best_features(console, record, f"in {written[0]}" if written else "in the record (--json)")
    show_files(console, written)


#: Short names of columns, for terminals where the whole ones find no room.
SHORT = {"alone": "alone", "unique": "adds", "frequency": "freq.", "p_value": "p", "group": "group"}
WIDE = 100  # characters, from which on there are whole names and bars
#: Columns that a narrow terminal leaves out, the first ones first.
SPARE = ("group", "cost", "unique", "alone", "hazard", "frequency", "direction", "block")


def _show_best_features(console: Console, record: SelectionRecord, where: str) -> None:
    """Print the table of the best features, below it where the others are, and what its columns mean."""
    from infused.record.sentences import COLUMNS, OTHER_CELLS, column_meanings, shared_groups

    shared, stability, wide = shared_groups(record), record.stability, console.width >= WIDE
    best, meanings = record.selected[:SHOWN], column_meanings(record)
    titles = {
        key: "\n".join(COLUMNS[key].lower().rsplit(" ", 1)) if wide else SHORT.get(key, key)
        for key in meanings
    }
    share = terminal.share if wide else lambda value: Text(f"{round(value, 2) + 0.0:.0%}")
    cells: dict[str, Callable[[SelectedFeature], Any]] = {
        "direction": lambda one: Text(terminal.printable(one.direction)),
        "alone": lambda one: share(one.alone),
        "unique": lambda one: "" if one.unique is None else f"{one.unique:.1%}",
        "frequency": lambda one: "" if stability is None else f"{stability.frequencies[one.index]:.0%}",
        "group": lambda one: str(one.group) if one.group in shared else "-",
    }
    right = tuple(title for key, title in titles.items() if key not in ("block", "direction"))

    def table(left_out: Sequence[str]) -> Table:
        shown = [key for key in titles if key not in left_out]
        made = terminal.plain_table(
            "rank", "feature", *(titles[key] for key in shown), right=("rank", *right)
        )
        for one in best:
            texts: list[Any] = [
                cells[key](one) if key in cells else terminal.printable(OTHER_CELLS[key](one))
                for key in shown
            ]
            made.add_row(str(one.rank), Text(terminal.printable(one.name)), *texts)
        return made

    left_out = [key for key in terminal.show_fitting(console, table, SPARE) if titles.pop(key, None)]
    if (beyond := len(record.selected) - SHOWN) > 0:
        console.print(Text(f"... and {beyond:,} more {where}\n"), soft_wrap=True)
    if left_out:
        console.print(f"No room for: {', '.join(COLUMNS[key].lower() for key in left_out)}.", style="dim")
    for key, title in titles.items():
        whole = COLUMNS[key].lower()
        called = whole if wide or key == "direction" else f"{title} ({whole})"
        console.print(Text(f"{called}: {terminal.printable(meanings[key], 10_000)}", "dim"))


def _tried_methods(record: SelectionRecord, left_out: Sequence[str]) -> Table:
    """Return a table of the methods that were tried, with their scores."""
    from infused.record.sentences import measure, score_number, score_text

    name = "accuracy" if record.number is None else record.number.scoring
    title = measure(name).words
    columns = ("method", "features", title, "linear", "trees", "seconds", "")
    shown = [n for n, column in enumerate(columns) if column not in left_out]
    right = ("features", title, "linear", "trees", "seconds")
    table = terminal.plain_table(*(columns[n] for n in shown), right=right)
    for one in record.tried:
        reached = "" if one.score is None else score_text(one.score, one.error or 0.0, name)
        told = "chosen" if one.chosen else "" if one.status == "tried" else one.status
        number = "" if one.n_features is None else f"{one.n_features:,}"
        both = (one.linear, one.boosted_trees)
        models = ["" if score is None else score_number(score, name) for score in both]
        cells: list[Any] = [Text(one.method), number, reached, *models, f"{one.seconds:.1f}", told]
        table.add_row(*(cells[n] for n in shown))
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
