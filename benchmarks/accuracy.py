"""Nested accuracy of a linear SVM on the selected features, beside random features, ANOVA F and the paper.

python -m benchmarks.accuracy [--datasets A,B] [--folds N] [--output FILE.csv]

Stratified 10-fold, seed 0, at the paper's k; the first five folds of USPS and PIE, all ten of the others.
Whatever is chosen is chosen on the training part of the fold, in this order:

1. the transform (none; sqrt and log1p where no value is negative), by inner 3-fold cross-validation of an SVM
   on ANOVA-selected features, on at most 3,000 samples: it costs no fit of the slower selectors, and all
   methods get the same;
2. the k features of each method, on the transformed training part;
3. the SVM's C, for each method, by inner 3-fold cross-validation on its features.

The SVM is scikit-learn's SVC(kernel="linear") (libsvm, one against one). LinearSVC (one against the rest)
takes about as long at these sizes, and is less accurate where there are many classes: 94 against 98% on PIE.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.model_selection import GridSearchCV, StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import infused
from benchmarks.command import add_datasets_option, command_parser, run
from benchmarks.datasets import NAMES, check_names, load
from benchmarks.tables import Row, format_table, versions, write_csv
from benchmarks.threads import THREADS

Floats = NDArray[np.float64]
Labels = NDArray[Any]
Ints = NDArray[np.int64]
Select = Callable[["Fold", int], Ints]

OUTPUT = Path("benchmarks/results/accuracy.csv")
FOLDS, INNER_FOLDS, SEED = 10, 3, 0
FEWER_FOLDS = {"USPS": 5, "PIE": 5}
GRID = (0.01, 0.1, 1.0, 10.0)
ENOUGH_FOR_TRANSFORM = 3000
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Reference:
    """What others reached on a data set, and with how many features."""

    k: int
    paper: float
    """Accuracy of InFusedLasso (%): L. Bai et al., "Fused Lasso for Feature Selection using Structural
    Information", Table 2."""
    prototype: float
    """What a prototype of this package reached on a few folds (%)."""


REFERENCES = {
    "USPS": Reference(50, 93.67, 93.4),
    "PIE": Reference(70, 96.90, 97.2),
    "YaleB": Reference(50, 94.87, 98.9),
    "Lymphoma": Reference(120, 95.55, 93.8),
    "Leukemia": Reference(200, 98.57, 97.2),
    "RELATHE": Reference(200, 84.50, 89.0),
    "BASEHOCK": Reference(200, 92.85, 95.1),
    "Isolet1": Reference(100, 93.01, 95.0),
}

TRANSFORMS: dict[str, Callable[[Floats], Floats]] = {
    "none": lambda X: X,
    # A test sample may be negative where no training sample is.
    "sqrt": lambda X: np.sqrt(np.maximum(X, 0)),
    "log1p": lambda X: np.log1p(np.maximum(X, 0)),
}


@dataclass(frozen=True)
class Fold:
    """One training and test part, transformed."""

    number: int
    X: Floats
    y: Labels
    X_test: Floats
    y_test: Labels
    transform: str


@dataclass(frozen=True)
class Outcome:
    """What one method did on one fold."""

    features: Ints
    accuracy: float
    """On the test part, in percent."""
    C: float
    selection_s: float


def main() -> int:
    parser = command_parser(__doc__)
    add_datasets_option(parser)
    parser.add_argument("--folds", type=int, help="the first N of ten (default: 5 for USPS and PIE, else 10)")
    parser.add_argument("--output", type=Path, help=f"CSV to write (default for a whole run: {OUTPUT})")
    options = parser.parse_args()

    rows: list[Row] = []
    for name in check_names(options.datasets):
        rows += benchmark(name, options.folds or FEWER_FOLDS.get(name, FOLDS))
    print(table(rows))
    whole = set(options.datasets) == set(NAMES) and options.folds is None
    store(rows, options.output or (OUTPUT if whole else None))
    return 0


def benchmark(name: str, n_folds: int) -> list[Row]:
    """One row for each method."""
    reference = REFERENCES[name]
    parts = list(cross_validate(name, n_folds, METHODS))
    rows = []
    for method in METHODS:
        outcomes = [outcome[method] for _, outcome in parts]
        accuracies = np.array([outcome.accuracy for outcome in outcomes])
        rows.append(
            {
                "dataset": name,
                "k": reference.k,
                "method": method,
                "folds": len(parts),
                "accuracy": float(accuracies.mean()),
                "standard_error": standard_error(accuracies),
                "paper": reference.paper,
                "prototype": reference.prototype,
                "selection_s": float(np.mean([outcome.selection_s for outcome in outcomes])),
                "transforms": tally([fold.transform for fold, _ in parts]),
                "C": tally([f"{outcome.C:g}" for outcome in outcomes]),
                "threads": THREADS,
                "sklearn_version": sklearn.__version__,
                **versions(),
            }
        )
    return rows


def cross_validate(
    name: str, n_folds: int, methods: dict[str, Select]
) -> Iterator[tuple[Fold, dict[str, Outcome]]]:
    """Every method on the first folds of a data set."""
    k = REFERENCES[name].k
    X, y = load(name)
    for fold in folds(X.astype(np.float64), y, n_folds, k):
        outcomes = {method: evaluate(fold, select, k) for method, select in methods.items()}
        found = ", ".join(f"{method} {outcome.accuracy:.1f}" for method, outcome in outcomes.items())
        log.info("%s: fold %d of %d (%s): %s", name, fold.number + 1, n_folds, fold.transform, found)
        yield fold, outcomes


def folds(X: Floats, y: Labels, n_folds: int, k: int) -> Iterator[Fold]:
    """The first folds, each with the transform that its training part chooses."""
    for number, (train, test) in enumerate(splits(X, y, FOLDS)[:n_folds]):
        name = choose_transform(X[train], y[train], k)
        transform = TRANSFORMS[name]
        yield Fold(number, transform(X[train]), y[train], transform(X[test]), y[test], name)


def splits(X: Floats, y: Labels, n: int) -> list[tuple[Ints, Ints]]:
    """Stratified as well as may be: a class of Lymphoma has two samples, of which scikit-learn warns."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        return list(StratifiedKFold(n, shuffle=True, random_state=SEED).split(X, y))


def choose_transform(X: Floats, y: Labels, k: int) -> str:
    """The transform under which ANOVA-selected features do best, at the best C for each."""
    if X.min() < 0:
        return "none"
    if len(X) > ENOUGH_FOR_TRANSFORM:
        X, _, y, _ = train_test_split(X, y, train_size=ENOUGH_FOR_TRANSFORM, stratify=y, random_state=SEED)
    scores = {}
    for name, transform in TRANSFORMS.items():
        scores[name] = search_C(transform(X), y, SelectKBest(anova, k=k)).best_score_
    return max(scores, key=lambda name: scores[name])


def search_C(X: Floats, y: Labels, *first: Any) -> GridSearchCV:
    """Scaling and the SVM, after what comes first, at the best C of the grid."""
    model = make_pipeline(*first, StandardScaler(), SVC(kernel="linear"))
    return GridSearchCV(model, {"svc__C": GRID}, cv=splits(X, y, INNER_FOLDS)).fit(X, y)


def evaluate(fold: Fold, select: Select, k: int) -> Outcome:
    """Select and choose C on the training part; accuracy on the test part."""
    start = perf_counter()
    features = select(fold, k)
    seconds = perf_counter() - start
    search = search_C(fold.X[:, features], fold.y)
    accuracy = 100 * search.score(fold.X_test[:, features], fold.y_test)
    return Outcome(features, accuracy, search.best_params_["svc__C"], seconds)


def by_infused_lasso(fold: Fold, k: int) -> Ints:
    # The number of threads does not change the result.
    selector = infused.InFusedLasso(n_features_to_select=k, n_jobs=THREADS)
    return np.flatnonzero(selector.fit(fold.X, fold.y).support_)


def by_anova(fold: Fold, k: int) -> Ints:
    return np.flatnonzero(SelectKBest(anova, k=k).fit(fold.X, fold.y).get_support())


def at_random(fold: Fold, k: int) -> Ints:
    return np.sort(np.random.default_rng([SEED, fold.number]).permutation(fold.X.shape[1])[:k])


METHODS: dict[str, Select] = {"InFusedLasso": by_infused_lasso, "ANOVA F": by_anova, "random": at_random}


def anova(X: Floats, y: Labels) -> tuple[Floats, Floats]:
    """f_classif, silent about features that are constant in a fold: SelectKBest puts them last."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.filterwarnings("ignore", r"Features \[", UserWarning)
        return f_classif(X, y)


def standard_error(values: Floats) -> float:
    """Of the mean over folds; not a number for one fold."""
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")


def tally(names: list[str]) -> str:
    """What was chosen how often: "log1p x9, sqrt x1"."""
    return ", ".join(f"{name} x{names.count(name)}" for name in sorted(set(names)))


def store(rows: list[Row], output: Path | None) -> None:
    if output is None:
        print("Not a whole run: nothing written; name a file with --output.")
    else:
        write_csv(rows, output)
        print(f"Written to {output}")


def table(rows: list[Row]) -> str:
    header = ["data", "k", "method", "folds", "accuracy %", "s.e.", "paper", "prototype", "selection s"]
    header += ["transform", "C"]
    return format_table(header, [_cells(row) for row in rows])


def _cells(row: Row) -> list[str]:
    ours = row["method"] == "InFusedLasso"
    return [
        row["dataset"],
        str(row["k"]),
        row["method"],
        str(row["folds"]),
        f"{row['accuracy']:.2f}",
        f"{row['standard_error']:.2f}",
        f"{row['paper']:.2f}" if ours else "",
        f"{row['prototype']:.1f}" if ours else "",
        f"{row['selection_s']:.2f}",
        row["transforms"],
        row["C"],
    ]


if __name__ == "__main__":
    run(main)
