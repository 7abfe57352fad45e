"""The options of all commands, how their texts are read, and how parameters are spelled."""

from __future__ import annotations

import csv
import inspect
import math
import shlex
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import wraps
from io import StringIO
from pathlib import Path
from typing import Annotated, Any, NamedTuple, get_args

import typer

from infused._runtime.messages import quoted
from infused.exceptions import InputError, Setting

READING, RESULTS, MODEL, CLUSTER = "Reading the data", "Results", "Model", "Cluster"
MOST_CHARACTERS = 10**8  # of a file of names and numbers
OUR_FAULT, BAD_INPUT, STOPPED = 1, 2, 130  # exit codes


def option(spelling: str, help: str, panel: str | None = None, **more: Any) -> Any:
    """Make an option of its names and, behind them, the placeholder of its value: ``"--jobs N"``."""
    names = [word for word in spelling.split() if word.startswith("-")]
    values = [word for word in spelling.split() if not word.startswith("-")]
    return typer.Option(*names, metavar=" ".join(values) or None, help=help, rich_help_panel=panel, **more)


def _search_here(allowed: bool) -> bool:
    """Let Python find the modules of the working folder too, after all that are installed."""
    if allowed and str(Path.cwd()) not in sys.path:
        sys.path.append(str(Path.cwd()))
    return allowed


PROCESSES = option("--jobs N", "Processes; -1 for every core.")
#: Every argument and option but those of reading data, by the parameter of a command that it gives.
OPTIONS: dict[str, Any] = {
    "data": typer.Argument(
        metavar="DATA",
        help="A file, an http(s) address, - for standard input, or a name that infused datasets lists.",
    ),
    "feature": typer.Argument(metavar="FEATURE", help="A feature, by name or position from 0."),
    "record": typer.Argument(metavar="SELECTION.JSON", help="What infused select wrote, or its folder."),
    "features": option("-k --features K,K", "Numbers of features; by default even steps."),
    "method": option("--method -m ID", "Method, by its id: infused methods lists them."),
    "keep": option(
        "--keep FEATURE",
        "Always select this feature, such as a covariate: others are ranked given it (repeatable).",
    ),
    "transform": option("--transform HOW", "Transform the values first: none, sqrt, log1p or auto."),
    "stability": option(
        "--stability PAIRS",
        "Select again in this many pairs of half-samples, for the stability; 0 for none. By default 50 if "
        "that takes seconds.",
    ),
    "costs": option("--costs FILE", "What features cost: a file of two columns, name and cost."),
    "intervals": option(
        "--intervals", "Estimate effects with 90% intervals and p-values that allow for the selection."
    ),
    "max_cost": option("--max-cost COST", "Budget: select what predicts best and costs no more together."),
    "penalty_factors": option(
        "--penalty-factors FILE",
        "Factors of the penalty: a file of two columns, feature and factor; 0 always in, inf never, 2 twice "
        "the penalty.",
    ),
    "fdr": option("--fdr RATE", "Select by knockoffs at this false discovery rate, like 0.1."),
    "folds": option("--folds N", "Folds of the cross-validation."),
    "repeats": option("--repeats N", "Repeats of the cross-validation."),
    "protocol": option(
        "--protocol WHICH", "nested, or leaky: select on all samples, which makes scores too good."
    ),
    "classifier": option(
        "--classifier NAME",
        "Evaluation model: svm (linear, the default), logistic, knn, random-forest, ridge or cox; with "
        "--allow-imports, the dotted path of a class.",
    ),
    "scoring": option(
        "--scoring NAME",
        "Metric: accuracy, balanced_accuracy, roc_auc, average_precision, f1, r2, mae or another "
        "scorer of scikit-learn; for survival concordance, uno_concordance or integrated_brier. By "
        "default, what suits the target.",
    ),
    "neighbours": option("--neighbours N", "Number of neighbours to show.", min=1),
    "allow_imports": option(
        "--allow-imports",
        "Let dotted paths name classes of your own, like mine.MySelector, which are imported and run.",
        callback=_search_here,
    ),
    "seed": option("--seed N", "Random seed.", min=0, max=2**32 - 1),
    "jobs": option("--jobs N", "Threads; -1 for every core. The result does not depend on them."),
    "datasets": option(
        "--datasets A,B", "Names or files, separated by commas; by default the paper's eight."
    ),
    "ablate": option("--ablate", "Add infused-lasso and its variants, each with a part changed."),
    "timeout": option("--timeout SECONDS", "Time limit for one method on one fold."),
    "memory": option("--memory SIZE", "Memory limit of one process, like 4GB."),
    "retry": option("--retry", "Compute again what failed in an earlier run."),
    "recompute": option("--recompute", "Compute everything again, and replace what the store has."),
    "store": option("--store DIR", "Folder of the results; a run goes on from what it holds."),
    "methods": option("--methods a,b", "Show these alone."),
    "paper": option("--paper", "Tables 1 to 3 of the paper, measured and published."),
    "ablation": option("--ablation", "What each part of InFusedLasso is worth, after --ablate."),
    "dataset": option("--dataset NAME", "All about one data set: stability, seconds, p."),
    "format": option("--format FORMAT", "markdown, csv (its numbers alone) or latex."),
    "convergence": option("--convergence/--no-convergence", "Whether to fit USPS and YaleB for Figure 3."),
    "transformed": option("--transformed", "Write transformed values, as the selection saw them."),
    "id": option("--id COLUMN", "Keep this column in front, as it is."),
    "lambda1": option("--lambda1 X", "Strength of the L1 penalty.", MODEL),
    "lambda2": option("--lambda2 X", "Strength of the fusion penalty.", MODEL),
    "lambda3": option("--lambda3 X", "Strength of the structural term.", MODEL),
    "formulation": option("--formulation WHICH", "stable (always convex), or paper: as published.", MODEL),
    "fusion": option("--fusion HOW", "Features that are fused: chain, grid, none or auto.", MODEL),
    "settings": option("--set NAME=VALUE", "Another parameter of the method (repeatable).", MODEL),
    "scheduler": option(
        "--scheduler ADDRESS", "Run on the Dask cluster with this scheduler, like tcp://node1:8786.", CLUSTER
    ),
    "workers": option(
        "--workers N", "Run on a Dask cluster of N processes, started for this command.", CLUSTER
    ),
    "output": option("--output -o DIR", "Folder for the files.", RESULTS),
    "report": option("--report/--no-report", "Write the page, or do not.", RESULTS),
    "reduced": option(
        "--reduced", "Also write the data with the selected columns alone, as reduced.parquet.", RESULTS
    ),
    "json": option("--json", "Print JSON, and nothing else.", RESULTS),
    "quiet": option("--quiet -q", "Print warnings and errors only.", RESULTS),
    "force": option("--force", "Replace earlier results.", RESULTS),
}


def _switch(name: str, help: str) -> Any:
    return Annotated[bool, option(name, help, READING)]


def _text(metavar: str, help: str) -> Any:
    return Annotated[str | None, option(metavar, help, READING)]


def _texts(metavar: str, help: str) -> Any:
    return Annotated[list[str] | None, option(metavar, f"{help} (repeatable).", READING)]


#: Options of reading data, by the names of :class:`infused.data.ReadOptions`.
READ_OPTIONS: dict[str, Any] = {
    "target": Annotated[
        list[str] | None,
        option(
            "--target -t COLUMN",
            "Column to predict, by name or position from 0 (several columns of numbers: repeat it).",
            READING,
        ),
    ],
    "log_target": _switch("--log-target", "Predict log(1 + target), for amounts with few large ones."),
    "time": _text("COLUMN", "Column of survival times, in the place of a target."),
    "event": _text("COLUMN", "Column that says whether the event happened (1) or was not seen (0)."),
    "target_file": _text("FILE", "Second file, which holds the target."),
    "join": _text("COLUMN", "Column of both files that tells their rows apart; found by default."),
    "transpose": _switch("--transpose", "Features are the rows of the file, as genes often are."),
    "sheet": _text("NAME", "Sheet of an Excel file, by name or position from 0; the first by default."),
    "x_key": _text("KEY", "Array of features in a .mat or .npz file."),
    "y_key": _text("KEY", "Array of the target in a .mat or .npz file."),
    "drop": _texts("COLUMN", "Leave this column out"),
    "use": _texts(
        "COLUMN", "Use this column although it looks like an identifier, will be rounded or mixes units"
    ),
    "impute": _text(
        "HOW", "Fill missing numbers: median (the default), mean, most-frequent, zero; error refuses them."
    ),
    "one_hot": _switch("--one-hot", "Make a feature of each value of a text column."),
    "categories": _text("HOW", "Text columns: whole (one feature each, the default), or error."),
    "as_category": _texts("COLUMN", "Treat the numbers of this column as codes of categories"),
    "text": _texts("COLUMN", "Count the words of this column of free text, each a feature"),
    "missing": _texts("TEXT", "Treat this text or number as a missing value"),
    "dates": _text("ORDER", "Order of dates such as 01/02/2020: day-first or month-first."),
    "keep_duplicates": _switch("--keep-duplicates", "Let exact duplicates be selected beside each other."),
    "separator": _text("CHARACTER", "Separator of a text file; found by default."),
    "encoding": _text("NAME", "Encoding of a text file; UTF-8 by default."),
    "header": _switch("--no-header", "The first line holds values, not names."),
    "task": _text("TASK", "classification or regression; by default, the values of the target decide."),
    "grid": _text("ROWSxCOLUMNS", "The features are the pixels of an image, row by row."),
    "sample_groups": _text(
        "COLUMN", "Column of what rows belong to, such as a patient: folds keep its rows together."
    ),
    "order": _text("COLUMN", "Column by which rows follow one another, such as a time: test on later rows."),
    "blocks": _texts(
        "NAME=WHAT",
        "A kind of features: how their names begin (rna=rna_, or rna_ alone), or a file of their own "
        "(rna=rna.csv); each gets a penalty of its own",
    ),
}


class Command(NamedTuple):
    """A command and what ``--help`` shows of it; not its docstring, which ``python -OO`` drops."""

    run: Callable[..., None]
    help: str
    epilog: str


def command(
    text: str, *commands: str, reads: Iterable[str] = (), **own: Any
) -> Callable[[Callable[..., None]], Command]:
    """Make a command of a function, with its help and examples, and an option for each of its parameters.

    Options are those of ``OPTIONS``, or in their place ``own``, and those of reading data that ``reads``
    names: the function gets those that were given in a dict, ``reading``.
    """
    help = "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))  # a line for a paragraph
    options = {**OPTIONS, **own}

    def made(function: Callable[..., None]) -> Command:
        # An option that is needed comes before those that are not, so all are keywords.
        parameters = [
            p.replace(kind=p.KEYWORD_ONLY, annotation=_described(p, options))
            for p in inspect.signature(function, eval_str=True).parameters.values()
            if p.name != "reading"
        ]
        for name in reads:
            kind = READ_OPTIONS[name]
            default = False if get_args(kind)[0] is bool else None
            parameters.append(
                inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
            )

        @wraps(function)
        def parsed(**values: Any) -> None:
            given = {name: values.pop(name) for name in reads}
            function(**values, **({"reading": _reading(given)} if given else {}))

        parsed.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # functions may have one
        parsed.__annotations__ = {p.name: p.annotation for p in parameters}
        return Command(parsed, help, examples(*commands))

    return made


def _described(parameter: inspect.Parameter, options: dict[str, Any]) -> Any:
    kind = parameter.annotation
    return kind if kind is typer.Context else Annotated[kind, options[parameter.name]]


def _reading(given: dict[str, Any]) -> dict[str, Any]:
    """Return the options of reading that were given, as :func:`infused.load_data` takes them."""
    reading = {name: value for name, value in given.items() if value not in (None, False, [])}
    if "header" in reading:  # the switch says that there is none
        reading["header"] = False
    if "target" in reading:
        first, *others = reading["target"]
        reading["target"] = [first, *others] if others else first
    if "grid" in reading:
        reading["grid"] = parse_grid(reading["grid"])
    return reading


def running_on(scheduler: str | None, workers: int | None) -> AbstractContextManager[None]:
    """Make the block that runs on the cluster of ``--scheduler`` or ``--workers``, or here without them."""
    if scheduler is None and workers is None:
        return nullcontext()
    from infused._cluster.session import on_cluster

    return on_cluster(scheduler, workers)


def examples(*commands: str) -> str:
    """Return the end of a help page. The tests run these commands as they are printed."""
    return "\n".join(["[bold]Examples[/bold]", *(f"  {command}" for command in commands)])


def typed(*words: object, options: Mapping[str, Any] | None = None) -> str:
    """Write a command as it is typed in a shell, with the options of reading data.

    >>> typed("infused", "explain", "my data.csv", options={"target": "kind"})
    "infused explain 'my data.csv' --target kind"
    """
    spelt = [spelled(Setting(name, value)) for name, value in (options or {}).items()]
    return " ".join([*(shlex.quote(str(word)) for word in words), *spelt])


def read_numbers(option: str, path: Path | None) -> dict[str, float] | None:
    """Read a file of two columns, a name and a number in each line; the first line may be a heading."""
    if path is None:
        return None
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            text = file.read(MOST_CHARACTERS)  # a device has no end
        if len(text) == MOST_CHARACTERS:
            raise InputError(
                f"{option} {str(path)!r} has {MOST_CHARACTERS:,} characters or more: give fewer names"
            )
        separator = "\t" if "\t" in text.partition("\n")[0] else ","
        lines = csv.reader(StringIO(text, newline=""), delimiter=separator)
        rows = [[cell.strip() for cell in row] for row in lines if row]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{option} {str(path)!r}: {getattr(error, 'strerror', None) or error}") from error
    found: dict[str, float] = {}
    for n, row in enumerate(rows):
        number = _number(row[1]) if len(row) == 2 else None
        if number is None and n == 0 and len(row) == 2:
            continue  # a heading
        if number is None:
            line = quoted(",".join(row))
            raise InputError(f"{option} {str(path)!r} has {line}, not a name and a number, like age,2")
        if row[0] in found:
            raise InputError(f"{option} {str(path)!r} has {row[0]!r} twice")
        found[row[0]] = number
    if not found:
        raise InputError(f"{option} {str(path)!r} has no line with a name and a number, like age,2")
    return found


def _number(text: str) -> float | None:
    """Read a number as programs write it, or the word inf; None for anything else, and beyond float64."""
    from infused._runtime.checks import is_number  # with numpy, which help and completion do without

    if text.lower() == "inf":
        return math.inf
    return float(text) if is_number(text) and math.isfinite(float(text)) else None


def parse_number(text: str | None) -> int | float | str | None:
    """Read -k: a number where the text is one; what it may be is checked where it is used."""
    for kind in (int, float):
        try:
            return text if text is None else kind(text)
        except ValueError:
            continue
    return text


def parse_grid(text: str) -> tuple[int, int]:
    """Read --grid: "16x16" as rows and columns."""
    rows, _, columns = text.lower().partition("x")
    if not (rows.isdecimal() and columns.isdecimal() and int(rows) * int(columns) > 0):
        raise InputError(f"--grid {text!r}: give rows and columns, like 16x16")
    return int(rows), int(columns)


def parse_names(option: str, text: str | None) -> list[str] | None:
    """Read names with commas between; None where nothing was given."""
    if text is None:
        return None
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        raise InputError(f"{option} {text!r} has an empty entry: give names with commas between, like a,b")
    return names


def parse_numbers(option: str, text: str | None) -> list[int] | None:
    """Read whole numbers from 1 with commas between; None where nothing was given."""
    names = parse_names(option, text)
    if names is None:
        return None
    if not all(name.isdecimal() and int(name) > 0 for name in names):
        raise InputError(f"{option} {text!r}: give whole numbers with commas between, like 10,20,50")
    return [int(name) for name in names]


#: Parameters of Python's functions whose options have another name.
RENAMED = {
    "k": "-k",
    "feature": "FEATURE",
    "grid_shape": "--grid",
    "header": "--no-header",
    "n_features_to_select": "-k",
    "n_jobs": "--jobs",
    "random_state": "--seed",
}


def spelled(setting: Setting) -> str:
    """Write a parameter as it is typed in a shell.

    >>> spelled(Setting("drop", ["id", "row number"])), spelled(Setting("header", False))
    ("--drop id --drop 'row number'", '--no-header')
    >>> spelled(Setting("n_bins", 10)), spelled(Setting("grid", (3, 4)))
    ('--set n_bins=10', '--grid 3x4')
    """
    name, value = setting.name, setting.value
    if name not in RENAMED and name not in READ_OPTIONS and name not in OPTIONS:
        return f"--set {name}={'...' if value is None else shlex.quote(str(value))}"
    option = RENAMED.get(name, f"--{name.replace('_', '-')}")
    if value is None or isinstance(value, bool):
        return option
    if name in ("grid", "grid_shape"):
        return f"{option} {'x'.join(str(side) for side in value)}"
    if isinstance(value, Mapping):
        value = [f"{block}={one}" for block, entries in value.items() for one in entries]
    every = value if isinstance(value, list | tuple) else [value]
    return " ".join(f"{option} {shlex.quote(str(one))}" for one in every)
