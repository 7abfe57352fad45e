"""Options that several commands share, how their texts are read, and how parameters are spelled."""

from __future__ import annotations

import inspect
import shlex
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeAlias, get_args

import typer

from infused.exceptions import InputError, Setting

READING = "Reading the data"
RESULTS = "Results"
CLUSTER = "Cluster"


def _reading(*names: str, help: str, **more: Any) -> Any:
    return typer.Option(*names, help=help, rich_help_panel=READING, **more)


def _result(*names: str, help: str, **more: Any) -> Any:
    return typer.Option(*names, help=help, rich_help_panel=RESULTS, **more)


Data: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A file, an http(s) address, - for standard input, or a name that infused datasets lists.",
    ),
]
RecordFile: TypeAlias = Annotated[
    Path, typer.Argument(metavar="SELECTION.JSON", help="What infused select wrote, or its folder.")
]
Output: TypeAlias = Annotated[
    Path | None, _result("--output", "-o", metavar="DIR", help="Folder for the files.")
]
Report: TypeAlias = Annotated[bool, _result("--report/--no-report", help="Write the page, or do not.")]
Json: TypeAlias = Annotated[bool, _result("--json", help="Print JSON, and nothing else.")]
Quiet: TypeAlias = Annotated[bool, _result("--quiet", "-q", help="Print warnings and errors only.")]
Force: TypeAlias = Annotated[bool, _result("--force", help="Replace earlier results.")]
Seed: TypeAlias = Annotated[
    int, typer.Option("--seed", min=0, max=2**32 - 1, metavar="N", help="Random seed.")
]
Jobs: TypeAlias = Annotated[
    int,
    typer.Option(
        "--jobs", metavar="N", help="Threads; -1 for every core. The result does not depend on them."
    ),
]
Processes: TypeAlias = Annotated[
    int, typer.Option("--jobs", metavar="N", help="Processes; -1 for every core.")
]
Timeout: TypeAlias = Annotated[
    float | None, typer.Option("--timeout", metavar="SECONDS", help="Time limit for one method on one fold.")
]
Scheduler: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        metavar="ADDRESS",
        help="Run on the Dask cluster with this scheduler, like tcp://node1:8786.",
        rich_help_panel=CLUSTER,
    ),
]
Workers: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--workers",
        metavar="N",
        help="Run on a Dask cluster of N processes, started for this command.",
        rich_help_panel=CLUSTER,
    ),
]
ProtocolOption: TypeAlias = Annotated[
    str,
    typer.Option(
        "--protocol",
        metavar="WHICH",
        help="nested, or leaky: select on all samples, which makes scores too good.",
    ),
]
CLASSIFIER: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--classifier",
        metavar="NAME",
        help="Evaluation model: svm (linear, the default), logistic, knn, random-forest or ridge; with "
        "--allow-imports, the dotted path of a class.",
    ),
]


def _search_here(allowed: bool) -> bool:
    """Let Python find the modules of the working folder too, after all that are installed."""
    if allowed and str(Path.cwd()) not in sys.path:
        sys.path.append(str(Path.cwd()))
    return allowed


AllowImports: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--allow-imports",
        help="Let dotted paths name classes of your own, like mine.MySelector, which are imported and run.",
        callback=_search_here,
    ),
]


Scoring: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--scoring",
        metavar="NAME",
        help="Metric: accuracy, balanced_accuracy, roc_auc, average_precision, f1, r2, mae or another "
        "scorer of scikit-learn. By default, what suits the target.",
    ),
]


def _switch(name: str, help: str) -> Any:
    return Annotated[bool, _reading(name, help=help)]


def _text(metavar: str, help: str) -> Any:
    return Annotated[str | None, _reading(metavar=metavar, help=help)]


def _texts(metavar: str, help: str) -> Any:
    return Annotated[list[str] | None, _reading(metavar=metavar, help=f"{help} (repeatable).")]


#: Options of reading data, by the names of :class:`infused.data.ReadOptions`.
READ_OPTIONS: dict[str, Any] = {
    "target": Annotated[
        list[str] | None,
        _reading("--target", "-t", metavar="COLUMN", help="Column to predict, by name or position from 0."),
    ],
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
    "missing": _texts("TEXT", "Treat this text or number as a missing value"),
    "dates": _text("ORDER", "Order of dates such as 01/02/2020: day-first or month-first."),
    "keep_duplicates": _switch("--keep-duplicates", "Let exact duplicates be selected beside each other."),
    "separator": _text("CHARACTER", "Separator of a text file; found by default."),
    "encoding": _text("NAME", "Encoding of a text file; UTF-8 by default."),
    "header": _switch("--no-header", "The first line holds values, not names."),
    "task": _text("TASK", "classification or regression; by default, the values of the target decide."),
    "grid": _text("ROWSxCOLUMNS", "The features are the pixels of an image, row by row."),
}


def reads_data(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of reading data; it gets those that were given in a dict, ``reading``."""
    return _with_options(command, READ_OPTIONS)


def reads_features(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of reading data without a target."""
    return _with_options(command, ("x_key", "sheet", "missing", "separator", "encoding", "header"))


def _with_options(command: Callable[..., None], names: Iterable[str]) -> Callable[..., None]:
    own = [p for p in inspect.signature(command, eval_str=True).parameters.values() if p.name != "reading"]
    # An option that is needed comes before those that are not, so all are keywords.
    parameters = [p.replace(kind=p.KEYWORD_ONLY) for p in own]
    for name in names:
        kind = READ_OPTIONS[name]
        default = False if get_args(kind)[0] is bool else None
        parameters.append(inspect.Parameter(name, parameters[0].kind, default=default, annotation=kind))

    @wraps(command)
    def parsed(**values: Any) -> None:
        given = {name: values.pop(name) for name in names}
        reading = {name: value for name, value in given.items() if value not in (None, False, [])}
        if "header" in reading:  # the switch says that there is none
            reading["header"] = False
        if "target" in reading:
            reading["target"] = _one_target(reading["target"])
        if "grid" in reading:
            reading["grid"] = parse_grid(reading["grid"])
        command(reading=reading, **values)

    parsed.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # functions may have one
    parsed.__annotations__ = {p.name: p.annotation for p in parameters}
    return parsed


def _one_target(targets: list[str]) -> str:
    """Refuse several targets: the last would win, and the first become a feature."""
    if len(targets) > 1:
        raise InputError(
            f"--target is given {len(targets)} times: give one, and leave the others out with --drop, "
            "or take each in a run of its own"
        )
    return targets[0]


class HelpPage(NamedTuple):
    """What ``--help`` shows of a command; not its docstring, which ``python -OO`` drops."""

    text: str
    epilog: str


def running_on(scheduler: str | None, workers: int | None) -> AbstractContextManager[None]:
    """Make the block that runs on the cluster of ``--scheduler`` or ``--workers``, or here without them."""
    if scheduler is None and workers is None:
        return nullcontext()
    from infused._cluster.session import on_cluster

    return on_cluster(scheduler, workers)


def help_page(text: str, *commands: str) -> HelpPage:
    """Make the help of a command from a text, each paragraph on one line for the terminal, and examples."""
    paragraphs = (" ".join(part.split()) for part in text.split("\n\n"))
    return HelpPage("\n\n".join(paragraphs), examples(*commands))


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


def parse_number(text: str | None) -> int | float | str | None:
    """Read -k: a number where the text is one; what it may be is checked where it is used."""
    for kind in (int, float):
        try:
            return text if text is None else kind(text)
        except ValueError:
            continue
    return text


def parse_grid(text: str | None) -> tuple[int, int] | None:
    """Read --grid: "16x16" as rows and columns."""
    if text is None:
        return None
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
#: Parameters with an option of the same name, in any command.
OPTIONS = (
    *READ_OPTIONS,
    *("keep", "transform", "seed", "method", "methods", "lambda1", "lambda2", "lambda3"),
    *("formulation", "fusion", "force", "data", "output", "neighbours", "folds", "repeats", "protocol"),
    *("stability", "fdr", "allow_imports", "id"),
    *("classifier", "scoring", "timeout", "memory", "retry", "store", "datasets", "dataset", "format"),
    *("scheduler", "workers"),
)


def spelled(setting: Setting) -> str:
    """Write a parameter as it is typed in a shell.

    >>> spelled(Setting("drop", ["id", "row number"])), spelled(Setting("header", False))
    ("--drop id --drop 'row number'", '--no-header')
    >>> spelled(Setting("n_bins", 10)), spelled(Setting("grid", (3, 4)))
    ('--set n_bins=10', '--grid 3x4')
    """
    name, value = setting.name, setting.value
    if name not in RENAMED and name not in OPTIONS:
        return f"--set {name}={'...' if value is None else shlex.quote(str(value))}"
    option = RENAMED.get(name, f"--{name.replace('_', '-')}")
    if value is None or isinstance(value, bool):
        return option
    if name in ("grid", "grid_shape"):
        return f"{option} {'x'.join(str(side) for side in value)}"
    return " ".join(f"{option} {shlex.quote(str(one))}" for one in _each(value))


def _each(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else [value]
