"""Does a selection hang on the solver or its tolerance? All of them on the same data, in one run.

python -m benchmarks.certainty [--datasets A,B] [--output FILE.csv]

lasso, fused-lasso and infused-lasso (on the chain) select the paper's number of features on its eight data
sets, and as many as there are samples, or half of the features, on ten synthetic ones that are mostly noise;
with tolerances of 1e-3, 1e-4 and 1e-6, and with every solver that can: split Bregman, and on one target the
proximal one. `alike` is how many features all of them select. CPU seconds of one fit with the default, on one
thread, and with solvers that stop at the tolerance, whatever may still change.

Exit code 1 when two selections differ.
"""

from __future__ import annotations

import logging
import warnings
from pathlib import Path
from time import process_time
from typing import Any
from unittest.mock import patch

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.command import add_datasets_option, command_parser, run
from benchmarks.datasets import NAMES, check_names, load, paper_k
from benchmarks.tables import Row, format_table, versions, write_csv
from infused import make_selector
from infused.selectors.linear.certainty import CertainOrder

OUTPUT = Path("benchmarks/results/certainty.csv")
METHODS = ("lasso", "fused-lasso", "infused-lasso")
MOST_WITH_U = 1_500
TOLERANCES = (1e-3, 1e-4, 1e-6)
#: samples, features, classes (None: a real target)
SYNTHETIC = (
    (200, 10_000, None),
    (200, 5_000, None),
    (100, 3_000, None),
    (100, 3_000, 2),
    (150, 2_000, 3),
    (300, 1_500, 5),
    (60, 1_000, 4),
    (500, 800, None),
    (1_000, 400, 3),
    (2_000, 300, 2),
)
log = logging.getLogger(__name__)


def main() -> int:
    parser = command_parser(__doc__)
    add_datasets_option(parser)
    parser.add_argument("--output", type=Path, help=f"CSV to write (default for all eight: {OUTPUT})")
    options = parser.parse_args()
    threadpool_limits(1)
    warnings.simplefilter("ignore")  # of targets that could be numbers, and of what did not converge
    rows = [compared(f"noise {seed + 1}", *noise(seed), id) for seed in range(10) for id in _methods(seed)]
    for name in check_names(options.datasets):
        rows += [compared(name, *load(name), paper_k(name), id) for id in METHODS]
    rows = [{**row, **versions(row["method"])} for row in rows]
    print(
        format_table(["data and method", "M x N", "k", "settings", "alike", "CPU s", "at tol"], _cells(rows))
    )
    write_csv(rows, options.output or (OUTPUT if set(options.datasets) == set(NAMES) else None))
    return int(any(row["alike"] < row["k"] for row in rows))


def noise(seed: int) -> tuple[Any, Any, int]:
    """Three features matter a little; most of what is selected was close to not being so."""
    n_samples, n_features, n_classes = SYNTHETIC[seed]
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_features))
    signal = X[:, :3].sum(axis=1) + 3 * rng.normal(size=n_samples)
    if n_classes is not None:
        signal = np.digitize(signal, np.quantile(signal, np.arange(1, n_classes) / n_classes))
    return X, signal, min(n_samples, n_features // 2)


def _methods(seed: int) -> tuple[str, ...]:
    """Without U where it would take most of the time: it has no part in what is measured."""
    return METHODS if SYNTHETIC[seed][1] <= MOST_WITH_U else METHODS[:2]


def compared(name: str, X: Any, y: Any, k: int, id: str) -> Row:
    log.info("%s: %s", name, id)
    real = y.dtype.kind == "f"
    target = "real" if real else "onehot"
    settings: list[dict[str, Any]] = [{}]
    if id != "lasso":
        one = real or len(np.unique(y)) == 2
        settings = [{"solver": solver} for solver in ("split-bregman", *(["proximal"] if one else []))]
        settings = [{**setting, "fusion": "chain"} for setting in settings]
    make = {"n_features_to_select": k, "n_jobs": 1, "target": target}
    every = [{**make, **setting, "tol": tol} for setting in settings for tol in TOLERANCES]
    support = np.all([make_selector(id, **options).fit(X, y).support_ for options in every], axis=0)
    default = {**make, **({} if id == "lasso" else {"fusion": "chain"})}
    seconds = cpu_seconds(id, default, X, y)
    with patch.object(CertainOrder, "__call__", lambda *_: True):
        at_tol = cpu_seconds(id, default, X, y)
    size = {"dataset": name, "samples": X.shape[0], "features": X.shape[1], "method": id, "k": k}
    found = {"settings": len(every), "alike": int(support.sum())}
    return {**size, **found, "seconds": seconds, "seconds_at_tol": at_tol}


def cpu_seconds(id: str, options: dict[str, Any], X: Any, y: Any) -> float:
    start = process_time()
    make_selector(id, **options).fit(X, y)
    return process_time() - start


def _cells(rows: list[Row]) -> list[list[str]]:
    return [
        [
            f"{row['dataset']}: {row['method']}",
            f"{row['samples']} x {row['features']}",
            *(str(row[name]) for name in ("k", "settings", "alike")),
            *(f"{row[name]:.2f}" for name in ("seconds", "seconds_at_tol")),
        ]
        for row in rows
    ]


if __name__ == "__main__":
    run(main)
