"""How the cost of U grows with features and samples, and what 200 columns of a large U cost.

python -m benchmarks.scaling [--huge] [--repeats 3] [--output FILE.csv]

Gaussian data with three classes. --huge adds 200 columns of 100,000 features.
"""

from __future__ import annotations

import logging
from pathlib import Path
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

import infused
from benchmarks.command import command_parser, run
from benchmarks.memory import measure_in_child
from benchmarks.tables import Row, format_table, versions, write_csv
from benchmarks.threads import THREADS, limit_threads

OUTPUT = Path("benchmarks/results/scaling.csv")
FIXED = 1000
SIZES = (500, 1000, 2000, 4000, 8000)
LARGE, HUGE, SAMPLES = 20_000, 100_000, 1000
COLUMNS = 200
log = logging.getLogger(__name__)

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]


def main() -> int:
    parser = command_parser(__doc__)
    parser.add_argument("--huge", action="store_true", help=f"also {COLUMNS} columns of {HUGE:,} features")
    parser.add_argument("--repeats", type=int, default=3, help="take the best of this many runs")
    parser.add_argument("--output", type=Path, default=OUTPUT, help="CSV to write (default: %(default)s)")
    options = parser.parse_args()

    rows = growth("features", [(FIXED, n) for n in SIZES], options.repeats)
    rows += growth("samples", [(m, FIXED) for m in SIZES], options.repeats)
    rows += [columns_against_full(SAMPLES, LARGE, options.repeats)]
    rows += [columns_only(SAMPLES, HUGE, 1)] if options.huge else []
    print(table(rows))
    write_csv([{**row, "threads": THREADS, **versions()} for row in rows], options.output)
    return 0


def synthetic(n_samples: int, n_features: int) -> tuple[Floats, Labels]:
    """Gaussian features, the means of three classes half a standard deviation apart on average."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_samples, n_features))
    y = np.arange(n_samples) % 3
    for label in range(3):
        X[y == label] += 0.5 * rng.standard_normal(n_features)
    return X, y


def growth(experiment: str, shapes: list[tuple[int, int]], repeats: int) -> list[Row]:
    """The full U for each shape, and the exponent of a power law by least squares in log-log."""
    rows = []
    for n_samples, n_features in shapes:
        log.info("growth in %s: %d x %d", experiment, n_samples, n_features)
        X, y = synthetic(n_samples, n_features)
        row = {"experiment": experiment, "samples": n_samples, "features": n_features}
        rows.append({**row, "seconds": best_seconds(X, y, repeats)})
    sizes, seconds = [row[experiment] for row in rows], [row["seconds"] for row in rows]
    slope = np.polyfit(np.log(sizes), np.log(seconds), 1)[0]
    return [{**row, "exponent": float(slope)} for row in rows]


def best_seconds(X: Floats, y: Labels, repeats: int) -> float:
    """From (X, y) to the full U, best of the repeats after one run that loads or compiles the kernels."""
    seconds = []
    for _ in range(repeats + 1):
        start = perf_counter()
        infused.structural_information(X, y, n_jobs=THREADS)
        seconds.append(perf_counter() - start)
    return min(seconds[1:])


def columns_only(n_samples: int, n_features: int, repeats: int) -> Row:
    """Some columns of U in a process of their own: seconds from (X, y), and peak memory."""
    log.info("%d columns: %d x %d", COLUMNS, n_samples, n_features)
    measured = measure_in_child(generate, time_columns, n_samples, n_features, repeats)
    setup, columns = measured.result
    return {
        "experiment": "columns",
        "samples": n_samples,
        "features": n_features,
        "columns": COLUMNS,
        "setup_s": setup,
        "columns_s": columns,
        "seconds": setup + columns,
        "peak_added_mib": measured.added_mib,
        "peak_process_mib": measured.peak_mib,
    }


def columns_against_full(n_samples: int, n_features: int, repeats: int) -> Row:
    """Columns as a share of the full matrix, both from (X, y), and both once the set-up is done."""
    row = columns_only(n_samples, n_features, repeats)
    log.info("full matrix: %d x %d", n_samples, n_features)
    measured = measure_in_child(synthetic, time_full, n_samples, n_features)
    setup, full = measured.result
    return {
        **row,
        "full_s": setup + full,
        "share_of_full": row["seconds"] / (setup + full),
        "share_after_setup": row["columns_s"] / full,
        "full_peak_process_mib": measured.peak_mib,
    }


def generate(n_samples: int, n_features: int, repeats: int) -> tuple[Floats, Labels, int]:
    return (*synthetic(n_samples, n_features), repeats)


def time_columns(X: Floats, y: Labels, repeats: int) -> tuple[float, float]:
    """Seconds for the set-up, and for COLUMNS random columns, the best of the repeats."""
    limit_threads()
    information, setup = _set_up(X, y)
    indices = np.random.default_rng(1).permutation(X.shape[1])[:COLUMNS]
    seconds = []
    for _ in range(repeats):
        start = perf_counter()
        information.columns(indices)
        seconds.append(perf_counter() - start)
    return setup, min(seconds)


def time_full(X: Floats, y: Labels) -> tuple[float, float]:
    """Seconds for the set-up, and for the whole matrix."""
    limit_threads()
    information, setup = _set_up(X, y)
    start = perf_counter()
    information.full()
    return setup, perf_counter() - start


def _set_up(X: Floats, y: Labels) -> tuple[infused.StructuralInformation, float]:
    """Distributions and factorisation, timed after a run on a few features that compiles the kernels."""
    infused.structural_information(X[:, :300], y, n_jobs=THREADS)
    start = perf_counter()
    information = infused.StructuralInformation.from_data(X, y, n_jobs=THREADS)
    return information, perf_counter() - start


def table(rows: list[Row]) -> str:
    header = ["experiment", "samples", "features", "seconds", "exponent"]
    header += ["full s", "share", "share after set-up", "peak MiB"]
    return format_table(header, [_cells(row) for row in rows])


def _cells(row: Row) -> list[str]:
    def show(name: str, spec: str) -> str:
        return format(row[name], spec) if name in row else "-"

    return [
        f"growth in {row['experiment']}" if "exponent" in row else f"{COLUMNS} columns",
        f"{row['samples']:,}",
        f"{row['features']:,}",
        f"{row['seconds']:.2f}",
        show("exponent", ".2f"),
        show("full_s", ",.0f"),
        show("share_of_full", ".2%"),
        show("share_after_setup", ".2%"),
        show("peak_process_mib", ",.0f"),
    ]


if __name__ == "__main__":
    run(main)
