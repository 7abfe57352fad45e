"""A default fit of InFusedLasso: where the time goes, beside FusedLasso and an earlier version, in one run.

python -m benchmarks.fits [--datasets A,B] [--wide] [--before CHECKOUT] [--output FILE.csv]

The eight data sets at the paper's k, and with --wide synthetic ones of 20,000 to 100,000 features, k = 200.
Every fit has a process of its own on one thread; CPU seconds are the least of three fits, or of one where it
takes more than two seconds. --before is a checkout of an earlier version, which runs in the same environment
right after each fit.

Exit code 1 when a part of a fit is not found, and when a fit warns, does not converge, has a certificate of
1e-4 or more, screens features out or takes 8 GB or more, or when InFusedLasso takes more than a set multiple
of FusedLasso's time.
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.command import add_datasets_option, command_parser, run
from benchmarks.datasets import NAMES, check_names, load, paper_k
from benchmarks.scaling import synthetic
from benchmarks.tables import Row, format_table, versions, write_csv

OUTPUT = Path("benchmarks/results/fits.csv")
LARGEST_CERTIFICATE = 1e-4
MOST_MIB = 8e9 / 2**20
WIDE = ((200, 50_000), (500, 20_000), (500, 50_000), (500, 100_000), (1_000, 100_000))  # samples, features
WIDE_K = 200
#: InFusedLasso over FusedLasso, at most.
MOST_TIMES = {"Leukemia": 2.5, "Lymphoma": 1.5, "200 x 50000": 2.0, "500 x 100000": 2.0}
log = logging.getLogger(__name__)


def main() -> int:
    parser = command_parser(__doc__)
    add_datasets_option(parser)
    parser.add_argument("--wide", action="store_true", help="also synthetic data of up to 100,000 features")
    parser.add_argument("--before", type=Path, metavar="CHECKOUT", help="an earlier version to run as well")
    parser.add_argument("--output", type=Path, help=f"CSV to write (default for all of them: {OUTPUT})")
    options = parser.parse_args()
    jobs = [(name, paper_k(name)) for name in check_names(options.datasets)]
    jobs += [(f"{m} x {n}", WIDE_K) for m, n in WIDE] if options.wide else []
    rows = [
        {**measured(name, k, options.before), **versions("infused-lasso fused-lasso")} for name, k in jobs
    ]
    print(table(rows))
    for row in rows:
        if row["warnings"]:
            print(f"{row['dataset']} warned: {row['warnings']}")
    whole = set(options.datasets) == set(NAMES) and options.wide and options.before is not None
    write_csv(rows, options.output or (OUTPUT if whole else None))
    return 0 if all(row["passed"] for row in rows) else 1


def data_of(name: str) -> tuple[Any, Any]:
    if " x " not in name:
        return load(name)
    n_samples, n_features = map(int, name.split(" x "))
    return synthetic(n_samples, n_features)


def measured(name: str, k: int, before: Path | None) -> Row:
    """One fit of each, and one of the earlier version."""
    log.info("%s", name)
    X, y = data_of(name)
    X = X.toarray() if hasattr(X, "toarray") else X
    with TemporaryDirectory() as folder:
        path = Path(folder) / "data.npz"
        np.savez(path, X=X, y=y)
        now = fit(path, "InFusedLasso", k)
        fused = fit(path, "FusedLasso", k)
        earlier = None if before is None else fit(path, "InFusedLasso", k, before)
    row = {"dataset": name, "samples": X.shape[0], "features": X.shape[1], "k": k, "seconds": now["seconds"]}
    row |= {part: now[part] * now["seconds"] for part in ("distributions", "information", "solve")}
    row["ranking"] = row["seconds"] - row["distributions"] - row["information"] - row["solve"]
    row |= {"fused_lasso": fused["seconds"], "ratio": now["seconds"] / fused["seconds"]}
    if earlier is not None:
        row |= {"before": earlier["seconds"], "before_screened": earlier["screened"]}
        row |= {f"before_{part}": earlier[part] * earlier["seconds"] for part in ("information", "solve")}
    row |= {key: now[key] for key in ("certificate", "converged", "screened", "peak_mib")}
    row["warnings"] = "; ".join(now["warnings"])
    row["passed"] = passed(row)
    return row


def fit(path: Path, selector: str, k: int, checkout: Path | None = None) -> dict[str, Any]:
    """In a process of its own, with the package of a checkout."""
    source = str((Path() if checkout is None else checkout).resolve() / "src")
    command = [sys.executable, "-m", "benchmarks.fit_parts", str(path), selector, str(k)]
    done = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": source}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def passed(row: Row) -> bool:
    # Written so that a certificate that is not a number fails.
    certified = row["converged"] and row["certificate"] < LARGEST_CERTIFICATE
    quiet = not row["warnings"] and row["screened"] == 0
    quick = row["ratio"] <= MOST_TIMES.get(row["dataset"], np.inf)
    found = row["solve"] > 0  # nothing is solved in no time: its function has another name or place now
    return bool(certified and quiet and quick and found and row["peak_mib"] < MOST_MIB)


def table(rows: list[Row]) -> str:
    header = ["data", "k", "CPU s", "graphs", "U", "solve", "ranking", "FusedLasso", "ratio", "before"]
    return format_table([*header, "certificate", "peak MiB", "verdict"], [_cells(row) for row in rows])


def _cells(row: Row) -> list[str]:
    parts = ("seconds", "distributions", "information", "solve", "ranking", "fused_lasso")
    return [
        row["dataset"],
        str(row["k"]),
        *(f"{row[part]:.3f}" for part in parts),
        f"{row['ratio']:.2f}",
        f"{row['before']:.2f}" if "before" in row else "-",
        f"{row['certificate']:.1e}",
        f"{row['peak_mib']:,.0f}",
        "pass" if row["passed"] else "FAIL",
    ]


if __name__ == "__main__":
    run(main)
