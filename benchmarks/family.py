"""Every selector on every data set at the paper's k: seconds, memory, and whether it does what it must.

python -m benchmarks.family [--datasets A,B] [--methods a,b] [--output FILE.csv]

Each selector is fitted once on each data set with its defaults, on the data as they are stored, in a process
of its own: there its peak memory is measured, and there it is stopped after 30 minutes. A fit on a few
features first loads or compiles the kernels.

Exit code 1 when a fit fails, warns, is stopped, or does not select exactly k features.
"""

from __future__ import annotations

import logging
import warnings
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import psutil
import sklearn
from numpy.typing import NDArray

from benchmarks.command import add_datasets_option, command_parser, run
from benchmarks.datasets import NAMES, check_names, load, paper_k
from benchmarks.memory import MIB, measure_within
from benchmarks.tables import Row, format_table, versions, write_csv
from benchmarks.threads import THREADS, limit_threads
from infused import available_selectors, make_selector
from infused.selectors.linear.estimator import LinearSelector

OUTPUT = Path("benchmarks/results/family.csv")
LIMIT_S = 30 * 60
FEW_FEATURES, FEW_TO_SELECT = 50, 5
log = logging.getLogger(__name__)

Labels = NDArray[Any]


def main() -> int:
    parser = command_parser(__doc__)
    add_datasets_option(parser)
    ids = available_selectors()
    parser.add_argument(
        "--methods",
        type=lambda text: text.split(","),
        default=ids,
        metavar="a,b",
        help=f"some of {','.join(ids)} (default: all)",
    )
    parser.add_argument("--output", type=Path, help=f"CSV to write (default for a whole run: {OUTPUT})")
    options = parser.parse_args()
    unknown = set(options.methods) - set(ids)
    if unknown:
        parser.error(f"unknown method {', '.join(sorted(unknown))}")

    names = check_names(options.datasets)
    rows = [benchmark(method, name) for name in names for method in options.methods]
    print(table(rows))
    for row in rows:
        if not row["passed"]:
            print(f"{row['method']} on {row['dataset']}: {row['reason']}")
    whole = set(names) == set(NAMES) and set(options.methods) == set(ids)
    write_csv(rows, options.output or (OUTPUT if whole else None))
    return 0 if all(row["passed"] for row in rows) else 1


def benchmark(method: str, name: str) -> Row:
    """One selector on one data set; a failure is a row with its reason."""
    log.info("%s: %s", name, method)
    row: Row = {"method": method, "dataset": name, "k": paper_k(name)}
    try:
        measured = measure_within(LIMIT_S, prepare, timed_fit, method, name)
        row |= {
            **measured.result,
            "peak_process_mib": measured.peak_mib,
            "peak_added_mib": measured.added_mib,
        }
        row["reason"] = complaint(row)
    except Exception as error:
        row["reason"] = one_line(error)
    machine = psutil.virtual_memory().total / MIB
    row |= {"passed": not row["reason"], "threads": THREADS, "machine_mib": machine}
    return {**row, "sklearn_version": sklearn.__version__, **versions(method)}


def prepare(method: str, name: str) -> tuple[Any, ...]:
    return method, *load(name), paper_k(name)


def timed_fit(method: str, X: NDArray[Any], y: Labels, k: int) -> Row:
    """Fit once, after a fit on a few features."""
    limit_threads()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a few features are not the data: what they warn of is no matter
        few = X[:, np.linspace(0, X.shape[1] - 1, FEW_FEATURES).astype(int)]
        default_selector(method, FEW_TO_SELECT).fit(few, y)
    selector = default_selector(method, k)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        start = perf_counter()
        selector.fit(X, y)
        seconds = perf_counter() - start
    return {
        "samples": X.shape[0],
        "features": X.shape[1],
        "classes": len(np.unique(y)),
        "seconds": seconds,
        "selected": int(selector.get_support().sum()),
        "n_warnings": len(caught),
        "warnings": "; ".join({f"{w.category.__name__}: {w.message}" for w in caught}),
    }


def default_selector(method: str, k: int) -> Any:
    """On THREADS threads, and else with its defaults; linear models share BLAS's, which are limited."""
    selector = make_selector(method, n_features_to_select=k)
    return selector if isinstance(selector, LinearSelector) else selector.set_params(n_jobs=THREADS)


def complaint(row: Row) -> str:
    """What is wrong with a fit, if anything."""
    if row["selected"] != row["k"]:
        return f"selected {row['selected']} features, not {row['k']}"
    return row["warnings"]


def one_line(error: Exception) -> str:
    """An error as a reason in a table."""
    return f"{type(error).__name__}: {error}".splitlines()[0]


def table(rows: list[Row]) -> str:
    """Seconds, methods by data sets, and the largest peak of each method and of each data set."""
    names = list(dict.fromkeys(row["dataset"] for row in rows))
    methods = list(dict.fromkeys(row["method"] for row in rows))
    found = {(row["method"], row["dataset"]): row for row in rows}
    cells = []
    for method in methods:
        own = [found[method, name] for name in names]
        cells.append([method, *map(_cell, own), _largest_peak(own)])
    by_name = [[row for row in rows if row["dataset"] == name] for name in names]
    cells.append(["largest peak MiB", *map(_largest_peak, by_name), _largest_peak(rows)])
    return format_table(["seconds of", *names, "largest peak MiB"], cells)


def _cell(row: Row) -> str:
    seconds = f"{row['seconds']:.2f}" if "seconds" in row else "-"
    return seconds if row["passed"] else f"{seconds} FAIL"


def _largest_peak(rows: list[Row]) -> str:
    peaks = [row["peak_process_mib"] for row in rows if "peak_process_mib" in row]
    return f"{max(peaks):,.0f}" if peaks else "-"


if __name__ == "__main__":
    run(main)
