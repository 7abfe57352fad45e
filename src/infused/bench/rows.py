"""The rows of a benchmark: how they are made, what they hold, what failed, what methods are called.

One row is one k of one cell (data set, method, parameters, repeat, fold). Rows of the leaky protocol, where
the test part was seen by the selection, never meet rows of the nested one: every table and figure takes the
rows of one protocol.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Iterable
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from infused import __version__
from infused._runtime.messages import check_choice, extra, listed
from infused.bench.plan import PAPER_KS, PROTOCOL_VERSION, REFERENCES, SCHEMA, Cell, ProtocolName
from infused.exceptions import InputError, Setting
from infused.record.sentences import MEASURES
from infused.selectors.method import Method
from infused.selectors.registry import FIRST, IN_PAPER, selector_version

if TYPE_CHECKING:
    from pandas import DataFrame, Series

Row = dict[str, Any]
Status = Literal["ok", "failed", "timeout", "memory"]

#: Every column and its type; what does not apply is null.
COLUMNS = {
    "schema": "int32",
    "cell": "string",
    "dataset": "string",
    "data": "string",
    "method": "string",
    "parameters": "string",
    "selector_version": "string",
    "protocol": "string",
    "protocol_version": "string",
    "classifier": "string",
    "folds": "int32",
    "seed": "int64",
    "repeat": "int32",
    "fold": "int32",
    "k": "int32",
    "status": "string",
    "reason": "string",
    "accuracy": "float64",
    "balanced_accuracy": "float64",
    "f1": "float64",
    "r2": "float64",
    "scoring": "string",
    "score": "float64",
    "transform": "string",
    "C": "float64",
    "tuned": "string",
    "n_train": "int32",
    "n_test": "int32",
    "n_features": "int32",
    "select_seconds": "float64",
    "fit_seconds": "float64",
    "cell_seconds": "float64",
    "selected": "list",
    "warnings": "string",
    "infused_version": "string",
    "sklearn_version": "string",
    "numpy_version": "string",
    "python_version": "string",
    "machine": "string",
}

#: The order of rows in a table; nothing else decides it.
ORDER = ("dataset", "protocol", "classifier", "method", "parameters", "repeat", "fold", "k", "cell")

#: What tells one cell from another, once methods are labelled.
CELL = ["dataset", "label", "repeat", "fold"]

_VERSIONS = ("selector_version", "protocol_version")
_NEEDED = (
    *("dataset", "method", "parameters", "protocol", "repeat", "fold", "k", "status", "reason"),
    *_VERSIONS,
)
_SETTINGS = {
    "seed": "seeds",
    "folds": "numbers of folds",
    "data": "versions of the data",
    "scoring": "scores that models were tuned for",
}


def cell_rows(cell: Cell, shared: Row, by_k: dict[int, Row]) -> list[Row]:
    """Make the rows of a cell from what all k share and what each has of its own."""
    own = {name: value for name, value in vars(cell).items() if name in COLUMNS}
    own |= {"schema": SCHEMA, "cell": cell.key, "transform": None, **_environment()}
    empty = dict.fromkeys(COLUMNS)
    return [{**empty, **own, **shared, "k": k, **by_k[k]} for k in cell.ks]


def failed_rows(cell: Cell, status: Status, reason: str) -> list[Row]:
    """Make rows that say why there are no results, one for each k."""
    shared = {"status": status, "reason": reason, "warnings": ""}
    return cell_rows(cell, shared, {k: {} for k in cell.ks})


@cache
def _environment() -> Row:
    return {
        "infused_version": __version__,
        "sklearn_version": version("scikit-learn"),
        "numpy_version": version("numpy"),
        "python_version": platform.python_version(),
        "machine": machine(),
    }


@cache
def machine() -> str:
    """Name the model and the number of its processors; not the machine."""
    import psutil

    return f"{_processor()}, {psutil.cpu_count()} CPUs"


def _processor() -> str:
    facts = Path("/proc/cpuinfo")
    if facts.is_file():
        for line in facts.read_text(errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def rows_frame(rows: Iterable[Row]) -> DataFrame:
    """Make a data frame of rows, in an order that depends on nothing but their content.

    Parameters
    ----------
    rows : iterable of dict
        One for each k of a cell.

    Returns
    -------
    DataFrame
        ``selected`` holds a list on the row of a cell's largest k. The score that counted has a column of
        its own name.

    See Also
    --------
    run_cells : Yields rows.

    Examples
    --------
    >>> from infused.bench import rows_frame
    >>> rows_frame([]).empty
    True
    """
    numbers = {name: "float64" for name, kind in COLUMNS.items() if kind == "float64"}
    frame = extra("pandas").DataFrame(list(rows), columns=list(COLUMNS)).astype(numbers)
    return with_scores(frame.sort_values(list(ORDER), ignore_index=True))


def with_scores(rows: DataFrame) -> DataFrame:
    """Fill in what earlier versions lack, and give the score that counted a column of its own name."""
    usual = rows["r2"].notna().map({True: "r2", False: "accuracy"})
    rows["scoring"] = rows["scoring"].fillna(usual)
    for name in _VERSIONS:
        rows[name] = rows[name].fillna(FIRST)
    for name in rows["scoring"].unique():
        if name not in rows.columns:
            rows[name] = rows["score"].where(rows["scoring"] == name)
    return rows


def of_protocol(rows: DataFrame, protocol: ProtocolName | None = "nested") -> DataFrame:
    """Return the labelled rows of one protocol; None takes the only one that there is.

    Parameters
    ----------
    rows : DataFrame
        One row per k of a cell.
    protocol : {"nested", "leaky"} or None

    Returns
    -------
    DataFrame
        With a column ``label``: what a method is called where it is compared.
    """
    missing = [name for name in _NEEDED if name not in rows.columns]
    if missing:
        raise InputError(f"these are no rows of a benchmark: the column {missing[0]!r} is missing")
    if protocol is not None:
        check_choice("protocol", protocol, get_args(ProtocolName))
    there = sorted(rows["protocol"].unique())
    if not there:
        raise InputError("there are no rows: run the benchmark first")
    if protocol is None and len(there) > 1:
        raise InputError("leaky and nested results cannot be mixed: pass the rows of one protocol")
    protocol = protocol or there[0]
    if protocol not in there:
        raise InputError(
            f"there are no rows of the {protocol} protocol: run the benchmark with ",
            Setting("protocol", protocol),
        )
    return labelled(rows[rows["protocol"] == protocol])


def labelled(rows: DataFrame) -> DataFrame:
    """Label the rows: the method, and its parameters, version or classifier where these differ.

    Rows that have labels keep them, so that a method is called the same in every part of a table.
    """
    if "label" in rows.columns:
        return rows
    labels = rows["method"].astype(str) + rows["parameters"].map(_own_words) + superseded(rows)
    if "classifier" in rows.columns and (rows.groupby("dataset")["classifier"].nunique() > 1).any():
        labels = labels + " with " + rows["classifier"].astype(str)
    return rows.assign(label=labels)


def _own_words(parameters: object) -> str:
    """Write parameters in brackets, or nothing where a method ran with its defaults.

    >>> _own_words('{"fusion": "none", "lambda3": 0.0}')
    ' (fusion=none, lambda3=0.0)'
    """
    if not isinstance(parameters, str) or parameters.strip() in ("", "{}"):
        return ""
    pairs = json.loads(parameters).items()
    words = (f"{name}={value if isinstance(value, str) else json.dumps(value)}" for name, value in pairs)
    return f" ({', '.join(words)})"


def of_methods(rows: DataFrame, methods: Iterable[str]) -> DataFrame:
    """Return the rows of these methods, as a benchmark takes them, and of the references."""
    pairs = list(zip(rows["method"], rows["parameters"], strict=True))
    names = {pair: str(Method(pair[0], json.loads(pair[1]))) for pair in set(pairs)}
    wanted = [str(Method.parse(method)) for method in methods]
    for method in wanted:
        check_choice("methods", method, sorted(set(names.values()) - set(REFERENCES)))
    return rows[[names[pair] in (*wanted, *REFERENCES) for pair in pairs]]


def plain_methods(rows: DataFrame) -> DataFrame:
    """Return the rows of methods with their defaults: those that can stand beside published figures."""
    return rows[~_is_variant(rows)]


def without_references(rows: DataFrame) -> DataFrame:
    """Return the rows of methods alone."""
    return rows[~rows["method"].isin(REFERENCES)]


def other_variants(rows: DataFrame) -> list[str]:
    """List the labels of the others: own parameters, ablations, superseded versions."""
    return sorted(rows.loc[_is_variant(rows), "label"].unique())


def _is_variant(rows: DataFrame) -> Series:
    # Ablations are called after the method that they change: infused-lasso[no-fusion].
    own = rows["parameters"].map(_own_words) + superseded(rows)
    return (own != "") | rows["method"].str.endswith("]")


def only_dataset(rows: DataFrame) -> str:
    """Return the name of the one data set that the rows are about."""
    names = rows["dataset"].unique()
    if len(names) != 1:
        raise InputError(f"rows of one data set are needed, got those of {listed(sorted(names)) or 'none'}")
    return str(names[0])


def metric_of(rows: DataFrame, metric: str | None = None) -> str:
    """Return the metric to report: the one that was asked for, else what counted, else accuracy, or R²."""
    counted = list(rows["scoring"].dropna().unique()) if "scoring" in rows.columns else []
    known = dict.fromkeys([*MEASURES, *counted])
    measured = [name for name in known if name in rows.columns and rows[name].notna().any()]
    if metric is not None:
        check_choice("scoring", metric, measured or MEASURES)
        return metric
    if len(counted) == 1:
        return str(counted[0])
    return "r2" if measured == ["r2"] else "accuracy"


def scored(rows: DataFrame, metric: str) -> DataFrame:
    """Return finished rows that have this metric, from runs whose folds are the same.

    Runs of one data set with other seeds, numbers of folds or data have other folds, and cannot be paired; a
    cell and k with two results comes from runs with other lists of k.
    """
    done = rows[(rows["status"] == "ok") & rows[metric].notna()]
    for setting in (name for name in _SETTINGS if name in done.columns):
        for dataset, found in done.groupby("dataset")[setting].unique().items():
            if len(found) > 1:
                values = ", ".join(str(value) for value in sorted(found))
                raise InputError(
                    f"{dataset} was run with several {_SETTINGS[setting]} ({values}): pass the rows of one"
                )
    twice = done[done.duplicated([*CELL, "k"])]
    if len(twice):
        one = twice.iloc[0]
        raise InputError(
            f"{one['label']} on {one['dataset']} has two results for repeat {one['repeat']}, "
            f"fold {one['fold']}, k = {one['k']}: pass the rows of one run, with one list of k"
        )
    return done.astype({"k": int})


def failed_cells(rows: DataFrame) -> DataFrame:
    """Return the cells without any result: one row each, with its status and reason."""
    done = rows.loc[rows["status"] == "ok", CELL].drop_duplicates()
    others = rows[rows["status"] != "ok"].drop_duplicates(CELL)
    kept = others.merge(done, on=CELL, how="left", indicator=True)
    return kept.loc[kept["_merge"] == "left_only", [*CELL, "status", "reason"]].reset_index(drop=True)


def older(rows: DataFrame) -> Series:
    """Return whether each row was measured by another version than today's.

    Parameters
    ----------
    rows : DataFrame
        One row per k of a cell; without columns of versions, all are today's.

    Returns
    -------
    Series of bool
    """
    todays = rows["method"].map({id: _todays(id) for id in rows["method"].unique()})
    return (rows["selector_version"] != todays) | (rows["protocol_version"] != PROTOCOL_VERSION)


def superseded(rows: DataFrame) -> Series:
    """Return what labels add where a method was measured in several versions: the one, if not today's.

    So no line of a table mixes two versions. A method that was measured in one version only keeps its name,
    and a note says so where that is not today's.
    """
    versions = rows["selector_version"] + "/" + rows["protocol_version"]
    several = versions.groupby([rows["method"], rows["parameters"]]).transform("nunique") > 1
    words = " (version " + rows["selector_version"]
    other = rows["protocol_version"] != PROTOCOL_VERSION
    words = words + (", protocol " + rows["protocol_version"]).where(other, "") + ")"
    return words.where(several & older(rows), "")


def _todays(id: str) -> str:
    try:
        return selector_version(id)
    except InputError:  # of a package that is not installed
        return FIRST


def in_order(names: Iterable[str], first: Iterable[str] = (*PAPER_KS, *IN_PAPER)) -> list[str]:
    """Sort by the order of ``first``, the others by name behind them, random and references last."""
    last = ("random", *REFERENCES)
    places = {name: n for n, name in enumerate((*first, *last))}
    return sorted(names, key=lambda name: (name in last, places.get(name, len(places)), name))
