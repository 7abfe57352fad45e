"""A default fit of InFusedLasso on the eight data sets: where the time goes, and whether it can be trusted.

python -m benchmarks.fits [--datasets A,B] [--huge] [--output FILE.csv]

Each fit is timed once, after one on a few features that loads or compiles the kernels. On Leukemia and
BASEHOCK mrmr_selection selects as many features in the same run, with its own defaults; after ten minutes it
is stopped and its time scaled up by the features that it had selected (marked ~: a low estimate, since its
later features take longer). --huge adds a fit on 50,000 synthetic features of 500 samples in a process of its
own.

Exit code 1 when a fit warns, does not converge or has a certificate of 1e-4 or more, when mrmr_selection is
faster, or when the huge fit takes 8 GB or more.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

import infused
from benchmarks.command import add_datasets_option, command_parser, run
from benchmarks.datasets import NAMES, check_names, load, paper_k
from benchmarks.memory import MIB, measure_in_child, measure_within
from benchmarks.scaling import synthetic
from benchmarks.tables import Row, format_table, versions, write_csv
from benchmarks.threads import THREADS, limit_threads
from infused.information import structural
from infused.selectors import infused_lasso
from infused.selectors.model import SparseModel

OUTPUT = Path("benchmarks/results/fits.csv")
LARGEST_CERTIFICATE = 1e-4
AGAINST_MRMR = ("Leukemia", "BASEHOCK")
MRMR_LIMIT_S = 600
HUGE_SAMPLES, HUGE_FEATURES, HUGE_K = 500, 50_000, 100
HUGE_LIMIT_MIB = 8e9 / MIB
# The default, half of the free memory, would let a larger computer use more than the limit.
HUGE_BUDGET = "6GB"
log = logging.getLogger(__name__)

Floats = NDArray[np.float64]
Labels = NDArray[Any]
Seconds = dict[str, list[float]]


def main() -> int:
    parser = command_parser(__doc__)
    add_datasets_option(parser)
    parser.add_argument("--huge", action="store_true", help=f"also {HUGE_FEATURES:,} synthetic features")
    parser.add_argument("--output", type=Path, help=f"CSV to write (default for all eight: {OUTPUT})")
    options = parser.parse_args()

    rows = [benchmark(name) for name in check_names(options.datasets)]
    rows += [huge(HUGE_SAMPLES, HUGE_FEATURES, HUGE_K)] if options.huge else []
    rows = [{**row, "passed": passed(row), "threads": THREADS, **versions()} for row in rows]
    print(table(rows))
    for row in rows:
        if row["warnings"]:
            print(f"{row['dataset']} warned: {row['warnings']}")
    write_csv(rows, options.output or (OUTPUT if set(options.datasets) == set(NAMES) else None))
    return 0 if all(row["passed"] for row in rows) else 1


def benchmark(name: str) -> Row:
    """One default fit, and mrmr_selection where it is compared."""
    X, y = load(name)
    k = paper_k(name)
    log.info("%s: InFusedLasso", name)
    row = {"dataset": name, "samples": X.shape[0], "features": X.shape[1], "k": k}
    row |= timed_fit(X, y, infused.InFusedLasso(n_features_to_select=k))
    if name in AGAINST_MRMR:
        log.info("%s: mrmr_selection", name)
        # In a child: to import it is to silence every warning of the process.
        seconds, extrapolated = measure_within(2 * MRMR_LIMIT_S, prepare_mrmr, time_mrmr, name, k).result
        row |= {
            "mrmr_version": version("mrmr_selection"),
            "mrmr_s": seconds,
            "mrmr_extrapolated": extrapolated,
            "mrmr_ratio": seconds / row["total_s"],
        }
    return row


def timed_fit(X: Any, y: Labels, selector: infused.InFusedLasso) -> Row:
    """Fit once, and say where the time went."""
    warm_up(X, y)
    with warnings.catch_warnings(record=True) as caught, stopwatches() as seconds:
        warnings.simplefilter("always")
        start = perf_counter()
        selector.fit(X, y)
        total = perf_counter() - start
    distributions, information = sum(seconds["distributions"]), sum(seconds["information"])
    first, rest = seconds["solve"][0], sum(seconds["solve"][1:])
    return {
        "total_s": total,
        "distributions_s": distributions,
        "U_s": information - distributions,
        "first_solve_s": first,
        "ranking_s": rest,
        "other_s": total - information - first - rest,
        "rounds": len(seconds["solve"]),
        "iterations": selector.n_iter_,
        "certificate": selector.certificate_,
        "converged": selector.converged_,
        "n_warnings": len(caught),
        "warnings": "; ".join(f"{w.category.__name__}: {w.message}" for w in caught),
        "screened": selector.n_features_screened_,
    }


def warm_up(X: Any, y: Labels) -> None:
    """The same path on a few features: loads or compiles the kernels."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        infused.InFusedLasso(n_features_to_select=10).fit(X[:, :300], y)


@contextmanager
def stopwatches() -> Iterator[Seconds]:
    """The seconds of every call of the parts of a fit, measured where `fit` calls them."""
    seconds: Seconds = {"distributions": [], "information": [], "solve": []}
    parts: list[tuple[str, Any, str]] = [
        ("distributions", structural, "target_graphs"),
        ("distributions", structural, "feature_graphs"),
        ("information", infused_lasso, "structural_information"),
        ("solve", SparseModel, "fit"),
    ]
    with ExitStack() as stack:
        for part, owner, name in parts:
            timed = _timed(getattr(owner, name), seconds[part])
            stack.enter_context(patch.object(owner, name, timed))
        yield seconds


def _timed(function: Callable[..., Any], seconds: list[float]) -> Callable[..., Any]:
    def call(*args: Any, **options: Any) -> Any:
        start = perf_counter()
        try:
            return function(*args, **options)
        finally:
            seconds.append(perf_counter() - start)

    return call


def prepare_mrmr(name: str, k: int) -> tuple[Any, Any, int]:
    import pandas as pd

    X, y = load(name)
    return pd.DataFrame(X, columns=[f"f{i}" for i in range(X.shape[1])]), pd.Series(y), k


class _TimeIsUpError(Exception):
    """mrmr_selection has had its time."""


def time_mrmr(X: Any, y: Any, k: int, limit: float = MRMR_LIMIT_S) -> tuple[float, bool]:
    """Seconds of mrmr_selection, and whether they were scaled up from a run that was stopped."""
    import mrmr

    limit_threads()
    mrmr.mrmr_classif(X.iloc[:, :100], y, K=2, show_progress=False)  # starts its workers
    original = mrmr.pandas.correlation
    selected = 1  # it asks for correlations from the second feature on

    def until_the_limit(*args: Any, **options: Any) -> Any:
        nonlocal selected
        if perf_counter() - start > limit:
            raise _TimeIsUpError
        selected += 1
        return original(*args, **options)

    with patch.object(mrmr.pandas, "correlation", until_the_limit):
        start = perf_counter()
        try:
            mrmr.mrmr_classif(X, y, K=k, show_progress=False)
        except _TimeIsUpError:
            return (perf_counter() - start) * k / selected, True
        return perf_counter() - start, False


def huge(n_samples: int, n_features: int, k: int) -> Row:
    """A fit in which U of all features would not fit in memory."""
    log.info("synthetic: %d x %d", n_samples, n_features)
    measured = measure_in_child(prepare_huge, fit_huge, n_samples, n_features, k)
    row = {"dataset": "synthetic", "samples": n_samples, "features": n_features, "k": k}
    return {**row, **measured.result, "peak_process_mib": measured.peak_mib}


def prepare_huge(n_samples: int, n_features: int, k: int) -> tuple[Floats, Labels, int]:
    return (*synthetic(n_samples, n_features), k)


def fit_huge(X: Floats, y: Labels, k: int) -> Row:
    limit_threads()
    return timed_fit(X, y, infused.InFusedLasso(n_features_to_select=k, memory_budget=HUGE_BUDGET))


def passed(row: Row) -> bool:
    """Whether a fit is what it must be; where features are screened out, that must be said, and only that."""
    # Written so that a certificate that is not a number fails.
    certified = row["converged"] and row["certificate"] < LARGEST_CERTIFICATE
    quiet = row["n_warnings"] == (row["screened"] > 0)
    faster = row.get("mrmr_ratio", np.inf) > 1
    small = row.get("peak_process_mib", 0.0) < HUGE_LIMIT_MIB
    return bool(certified and quiet and faster and small)


def table(rows: list[Row]) -> str:
    header = ["data", "M x N", "k", "total s", "distributions", "U", "first solve", "ranking", "other"]
    header += ["rounds", "certificate", "converged", "warnings", "screened"]
    header += ["mrmr s", "mrmr / infused", "peak MiB", "verdict"]
    return format_table(header, [_cells(row) for row in rows])


def _cells(row: Row) -> list[str]:
    mark = "~" if row.get("mrmr_extrapolated") else ""
    parts = ("total_s", "distributions_s", "U_s", "first_solve_s", "ranking_s", "other_s")
    return [
        row["dataset"],
        f"{row['samples']} x {row['features']}",
        str(row["k"]),
        *(f"{row[part]:.2f}" for part in parts),
        str(row["rounds"]),
        f"{row['certificate']:.1e}",
        "yes" if row["converged"] else "NO",
        str(row["n_warnings"]),
        str(row["screened"]),
        f"{mark}{row['mrmr_s']:,.0f}" if "mrmr_s" in row else "-",
        f"{mark}{row['mrmr_ratio']:,.1f}" if "mrmr_s" in row else "-",
        f"{row['peak_process_mib']:,.0f}" if "peak_process_mib" in row else "-",
        "pass" if row["passed"] else "FAIL",
    ]


if __name__ == "__main__":
    run(main)
