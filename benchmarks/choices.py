"""What choosing a method by cross-validation gains, and what averaging halves of the samples does.

python -m benchmarks.choices --tables FOLDER [--store DIR] [--output FILE.csv]

Nested 5-fold cross-validation on eleven data sets: every method selects 20 features (at most half of them) on
the training part alone, and a linear SVM with these is scored on the test part, as `infused benchmark` does
it. "auto" is AutoSelector with its defaults, which chooses among the other methods by 5 folds of the training
part; "stability" takes what 100 halves of the training part choose most often. How stable a selection is, is
Nogueira's index over the five folds.

The paper's data sets are read from INFUSED_DATA, sonar, ionosphere and german from FOLDER; of more than 400
samples, 400 are taken, with equal shares of every class. --store names a folder that keeps each result as it
comes: a run that was stopped goes on where it stopped. Exit code 1 where a method failed.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from benchmarks.command import command_parser, run
from benchmarks.datasets import DatasetError, check_names
from benchmarks.tables import Row, format_table, markdown_table, versions, write_csv
from infused.bench import Experiment, Problem, Progress, Store, run_experiment
from infused.bench.statistics import score_summary, stability_at
from infused.data import Dataset, load_data
from infused.selectors.choose.auto import METHODS as SINGLE
from infused.selectors.method import Method

if TYPE_CHECKING:
    from pandas import DataFrame

OUTPUT = Path("benchmarks/results/choices.csv")
PAPER = ("Leukemia", "Lymphoma", "Isolet1", "USPS", "RELATHE")
WITH_SKLEARN = ("breast-cancer", "digits", "wine")
TABLES = ("sonar", "ionosphere", "german")
MOST_SAMPLES, MOST_FEATURES, FOLDS = 400, 20, 5
#: A method, and the same in halves of the samples.
AVERAGED = {one: f"stability:selector={one}" for one in ("lasso", "greedy-forward")}
METHODS = tuple(map(Method.parse, (*SINGLE, "auto", *AVERAGED.values())))
log = logging.getLogger(__name__)


def main() -> int:
    parser = command_parser(__doc__)
    parser.add_argument("--tables", type=Path, default=Path("tables"), help="folder of the public tables")
    parser.add_argument("--store", type=Path, help="folder of single results, to go on with and to add to")
    parser.add_argument("--output", type=Path, default=OUTPUT, help="CSV to write (default: %(default)s)")
    options = parser.parse_args()

    problems = tuple(Problem(data, (numbers(data),)) for data in all_data(options.tables))
    experiment = Experiment(problems, METHODS, folds=FOLDS, scoring="accuracy")
    with TemporaryDirectory() as folder:
        store = Store(options.store or folder)
        outcome = run_experiment(experiment, store, report=tell)
        rows = [{**row, **versions(row["method"])} for row in summaries(problems, named(store.frame()))]
    print(format_table(list(rows[0])[:9], [[_cell(value) for value in row.values()][:9] for row in rows]))
    write_csv(rows, options.output)
    return int(outcome.failed > 0)


def all_data(folder: Path) -> Iterator[Dataset]:
    check_names(list(PAPER))
    for name in TABLES:
        if not (folder / f"{name}.csv").is_file():
            raise DatasetError(f"{name}.csv is not in {folder}: give the folder of the tables with --tables")
    for name in (*PAPER, *WITH_SKLEARN):
        yield some_samples(load_data(name))
    for name in TABLES:
        yield some_samples(load_data(folder / f"{name}.csv", target=-1, header=False))


def some_samples(data: Dataset) -> Dataset:
    """At most 400 samples, in their order."""
    if data.n_samples <= MOST_SAMPLES:
        return data
    places = np.arange(data.n_samples)
    few, _ = train_test_split(places, train_size=MOST_SAMPLES, stratify=data.y, random_state=0)
    few.sort()
    return replace(data, X=data.X[few], y=data.y[few])


def numbers(data: Dataset) -> int:
    """How many features are selected."""
    return min(MOST_FEATURES, data.n_features // 2)


def tell(progress: Progress) -> None:
    done = progress.finished
    log.info("%d of %d: %s (%.1f s)", progress.done, progress.total, done.cell.describe(), done.seconds)


def named(results: DataFrame) -> DataFrame:
    """With each method as it is asked for."""
    pairs = zip(results["method"], results["parameters"], strict=True)
    return results.assign(label=[str(Method(id, json.loads(parameters))) for id, parameters in pairs])


def summaries(problems: Sequence[Problem], results: DataFrame) -> Iterator[Row]:
    """One line for each data set and method."""
    for problem in problems:
        mine = results[results["dataset"] == problem.name]
        scores = score_summary(mine, "accuracy").set_index("label")
        for method in map(str, METHODS):
            if method not in scores.index:
                continue
            own = mine[(mine["label"] == method) & (mine["status"] == "ok")]
            stability = stability_at(mine, method, problem.ks[0])
            yield {
                "dataset": problem.name,
                "samples": problem.data.n_samples,
                "features": problem.data.n_features,
                "k": problem.ks[0],
                "method": method,
                "folds": len(own),
                "accuracy": float(scores.loc[method, "mean"]),
                "error": float(scores.loc[method, "error"]),
                "stability": None if stability is None else stability.index,
                "select_seconds": float(own["select_seconds"].mean()),
            }


def accuracy(rows: Sequence[dict[str, str]]) -> str:
    """Accuracy of the choice beside each method alone, the means, and what the choice gains on each."""
    found = by_method(rows, "accuracy")
    single = [one for one in SINGLE if len(found[one])]
    methods = ["auto", *single]
    sizes = {row["dataset"]: [f"{row['samples']} x {row['features']}", row["k"]] for row in rows}
    cells = [
        [name, *size, *(f"{100 * found[one][n]:.1f}" for one in methods)]
        for n, (name, size) in enumerate(sizes.items())
    ]
    cells.append(["mean", "", "", *(f"{100 * found[one].mean():.1f}" for one in methods)])
    gains = [_mean_and_error(100 * (found["auto"] - found[one])) for one in single]
    cells.append(["auto minus it", "", "", "", *(f"{mean:.1f} ± {error:.1f}" for mean, error in gains)])
    return markdown_table(["data", "M x N", "k", *methods], cells)


def stability(rows: Sequence[dict[str, str]]) -> str:
    """Stability, and accuracy in brackets, alone and in halves, the means, and what halves change."""
    stable, right = by_method(rows, "stability"), by_method(rows, "accuracy")
    methods = [one for pair in AVERAGED.items() for one in pair]
    ks = {row["dataset"]: row["k"] for row in rows}
    cells = [
        [name, k, *(f"{stable[one][n]:.2f} ({100 * right[one][n]:.1f})" for one in methods)]
        for n, (name, k) in enumerate(ks.items())
    ]
    means = [f"{stable[one].mean():.2f} ({100 * right[one].mean():.1f})" for one in methods]
    changes = ["change", ""]
    for alone, halved in AVERAGED.items():
        more, more_error = _mean_and_error(stable[halved] - stable[alone])
        gain, gain_error = _mean_and_error(100 * (right[halved] - right[alone]))
        changes += ["", f"{more:+.2f} ± {more_error:.2f} ({gain:+.1f} ± {gain_error:.1f})"]
    header = [word for one in AVERAGED for word in (one, f"{one}, in halves")]
    return markdown_table(["stability (accuracy)", "k", *header], [*cells, ["mean", "", *means], changes])


def by_method(rows: Sequence[dict[str, str]], column: str) -> dict[str, NDArray[np.float64]]:
    """A column of each method, one number for each data set."""
    return {
        one: np.array([float(row[column]) for row in rows if row["method"] == one])
        for one in map(str, METHODS)
    }


def _mean_and_error(values: NDArray[np.float64]) -> tuple[float, float]:
    """Over the data sets."""
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))


def _cell(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    run(main)
