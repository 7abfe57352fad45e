"""U against the plain definition: all pairs of four data sets, random and extreme pairs of the other four.

python -m benchmarks.validate [--datasets A,B]

Exit code 1 when an error passes 1e-10 or infused's own error estimate, when U is not symmetric to the last
bit, or when one thread and two give different bits.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import infused
from benchmarks.command import add_datasets_option, command_parser, run
from benchmarks.datasets import check_names, load, load_variant, variants
from benchmarks.definition import Definition
from benchmarks.extremes import extreme_features, extreme_pairs
from benchmarks.tables import format_table

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

TOLERANCE = 1e-10
ALL_PAIRS = ("Isolet1", "YaleB", "Lymphoma", "USPS")
RANDOM_PAIRS = 3000
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Verdict:
    """How one way of giving one data set to infused compares with the definition."""

    label: str
    pairs: int
    error: float
    estimate: float
    symmetric: bool
    same_for_any_threads: bool

    @property
    def passed(self) -> bool:
        # Written so that an error that is not a number fails.
        exact = self.error <= TOLERANCE and self.error <= self.estimate
        return exact and self.symmetric and self.same_for_any_threads


def main() -> int:
    parser = command_parser(__doc__)
    add_datasets_option(parser)
    verdicts = [verdict for name in check_names(parser.parse_args().datasets) for verdict in validate(name)]
    header = ["data", "pairs", "max error", "estimate", "symmetric", "1 = 2 threads", "verdict"]
    print(format_table(header, [_cells(verdict) for verdict in verdicts]))
    return 0 if all(verdict.passed for verdict in verdicts) else 1


def validate(name: str) -> list[Verdict]:
    """One verdict per way of giving the data; the definition is computed once, from the dense data."""
    X, y = load(name)
    log.info("%s: choosing pairs", name)
    pairs = all_pairs(X.shape[1]) if name in ALL_PAIRS else chosen_pairs(X, y)
    log.info("%s: %d pairs by the definition", name, len(pairs))
    expected = Definition(X, y, np.unique(pairs)).pairs(pairs)
    return [check(label, *load_variant(name, as_csr), pairs, expected) for label, as_csr in variants(name)]


def check(label: str, X: Any, y: NDArray[Any], pairs: Ints, expected: Floats) -> Verdict:
    log.info("%s: infused", label)
    information = infused.StructuralInformation.from_data(X, y, n_jobs=2)
    U = information.full()
    i, j = pairs.T
    return Verdict(
        label,
        pairs=len(pairs),
        error=float(np.abs(U[i, j] - expected).max()),
        estimate=information.error_estimate(),
        symmetric=np.array_equal(U, U.T),
        same_for_any_threads=np.array_equal(U, infused.structural_information(X, y, n_jobs=1)),
    )


def all_pairs(n_features: int) -> Ints:
    return np.column_stack(np.triu_indices(n_features))


def chosen_pairs(X: NDArray[Any], y: NDArray[Any]) -> Ints:
    """Random pairs; extreme features with each other and random partners; the smallest and largest U."""
    rng = np.random.default_rng(2)
    # One graph costs M x M: with many samples, draw the pairs among fewer features.
    pool = rng.permutation(X.shape[1])[: 150 if X.shape[0] > 5000 else None]
    random = rng.choice(pool, size=(RANDOM_PAIRS, 2))
    features = extreme_features(X, y)
    among = features[all_pairs(len(features))]
    partners = np.column_stack([np.repeat(features, 20), rng.choice(pool, size=20 * len(features))])
    extremes = extreme_pairs(infused.structural_information(X, y, n_jobs=2))
    pairs = np.concatenate([random, among, partners, extremes])
    return np.unique(np.sort(pairs, axis=1), axis=0)


def _cells(verdict: Verdict) -> list[str]:
    words = {True: "yes", False: "NO"}
    return [
        verdict.label,
        f"{verdict.pairs:,}",
        f"{verdict.error:.1e}",
        f"{verdict.estimate:.1e}",
        words[verdict.symmetric],
        words[verdict.same_for_any_threads],
        "pass" if verdict.passed else "FAIL",
    ]


if __name__ == "__main__":
    run(main)
