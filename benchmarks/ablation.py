"""What each part of InFusedLasso is worth: nested accuracy with one part changed, on the same folds.

python -m benchmarks.ablation [--datasets A,B] [--folds 5] [--output FILE.csv]

The protocol is that of benchmarks.accuracy. The difference from the default is paired over folds; the overlap
is the share of the default's features that the variant selects too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import sklearn

from benchmarks.accuracy import REFERENCES, Fold, Ints, Select, cross_validate, standard_error, store
from benchmarks.command import add_datasets_option, command_parser, run
from benchmarks.datasets import check_names
from benchmarks.tables import Row, format_table, versions
from benchmarks.threads import THREADS
from infused import InFusedLasso
from infused.penalties.quadratic import Ridge
from infused.selectors.model import SparseModel

OUTPUT = Path("benchmarks/results/ablation.csv")
DATASETS = ["Isolet1", "YaleB", "Lymphoma", "RELATHE"]
FOLDS = 5
DEFAULT = "default"


class WithRidge(InFusedLasso):
    """S = weight I in the place of weight (I - (U - m) / c): the same size, and no structure."""

    def _with_structure(self, model: SparseModel, X: Any, y: Any) -> SparseModel:
        weight = super()._with_structure(model, X, y).quadratic.weight
        return replace(model, quadratic=Ridge(weight))


class WithPermutedStructure(InFusedLasso):
    """U with its features in random order: the same eigenvalues, at the wrong features."""

    def _with_structure(self, model: SparseModel, X: Any, y: Any) -> SparseModel:
        model = super()._with_structure(model, X, y)
        order = np.random.default_rng(0).permutation(model.n_features)
        return replace(model, quadratic=replace(model.quadratic, U=model.quadratic.U[np.ix_(order, order)]))


VARIANTS: dict[str, Callable[..., InFusedLasso]] = {
    DEFAULT: InFusedLasso,
    "equal ridge": WithRidge,
    "U permuted": WithPermutedStructure,
    "lambda2 = 0": partial(InFusedLasso, lambda2=0.0),
    "labels": partial(InFusedLasso, target="label"),
}


def main() -> int:
    parser = command_parser(__doc__)
    add_datasets_option(parser)
    parser.set_defaults(datasets=DATASETS)
    parser.add_argument("--folds", type=int, default=FOLDS, help="the first N of ten (default: %(default)s)")
    parser.add_argument("--output", type=Path, help=f"CSV to write (default for a whole run: {OUTPUT})")
    options = parser.parse_args()

    rows: list[Row] = []
    for name in check_names(options.datasets):
        rows += benchmark(name, options.folds)
    print(table(rows))
    whole = set(options.datasets) >= set(DATASETS) and options.folds >= FOLDS
    store(rows, options.output or (OUTPUT if whole else None))
    return 0


def benchmark(name: str, n_folds: int) -> list[Row]:
    """One row for each variant."""
    methods = {variant: _selecting(make) for variant, make in VARIANTS.items()}
    parts = [outcomes for _, outcomes in cross_validate(name, n_folds, methods)]
    rows = []
    for variant in VARIANTS:
        accuracies = np.array([outcomes[variant].accuracy for outcomes in parts])
        differences = accuracies - [outcomes[DEFAULT].accuracy for outcomes in parts]
        overlaps = [overlap(outcomes[variant].features, outcomes[DEFAULT].features) for outcomes in parts]
        rows.append(
            {
                "dataset": name,
                "k": REFERENCES[name].k,
                "variant": variant,
                "folds": len(parts),
                "accuracy": float(accuracies.mean()),
                "standard_error": standard_error(accuracies),
                "difference": float(differences.mean()),
                "difference_standard_error": standard_error(differences),
                "overlap": float(np.mean(overlaps)),
                "selection_s": float(np.mean([outcomes[variant].selection_s for outcomes in parts])),
                "threads": THREADS,
                "sklearn_version": sklearn.__version__,
                **versions(),
            }
        )
    return rows


def overlap(features: Ints, others: Ints) -> float:
    """The share of the same features in two selections of one size."""
    return len(np.intersect1d(features, others)) / len(others)


def _selecting(make: Callable[..., InFusedLasso]) -> Select:
    def select(fold: Fold, k: int) -> Ints:
        # The number of threads does not change the result.
        selector = make(n_features_to_select=k, n_jobs=THREADS)
        return np.flatnonzero(selector.fit(fold.X, fold.y).support_)

    return select


def table(rows: list[Row]) -> str:
    header = ["data", "k", "variant", "folds", "accuracy %", "s.e.", "difference", "s.e.", "overlap"]
    header += ["selection s"]
    return format_table(header, [_cells(row) for row in rows])


def _cells(row: Row) -> list[str]:
    return [
        row["dataset"],
        str(row["k"]),
        row["variant"],
        str(row["folds"]),
        f"{row['accuracy']:.2f}",
        f"{row['standard_error']:.2f}",
        f"{row['difference']:+.2f}",
        f"{row['difference_standard_error']:.2f}",
        f"{row['overlap']:.1%}",
        f"{row['selection_s']:.2f}",
    ]


if __name__ == "__main__":
    run(main)
