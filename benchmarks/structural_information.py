"""U on the eight data sets: infused against three peers in one run, as ratios of wall-clock time.

python -m benchmarks.structural_information [--datasets A,B] [--repeats 3] [--output FILE.csv]
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

import infused
from benchmarks import peers
from benchmarks.command import add_datasets_option, command_parser, run
from benchmarks.datasets import NAMES, check_names, load, load_variant, variants
from benchmarks.definition import Definition
from benchmarks.memory import measure_in_child
from benchmarks.tables import Row, format_table, versions, write_csv
from benchmarks.threads import THREADS

OUTPUT = Path("benchmarks/results/structural_information.csv")
PEERS: dict[str, Callable[..., peers.PeerRun]] = {
    "numba": peers.numba_loop,
    "numpy": peers.numpy_vectorised,
    "literal": peers.literal,
}
log = logging.getLogger(__name__)


def main() -> int:
    parser = command_parser(__doc__)
    add_datasets_option(parser)
    parser.add_argument("--repeats", type=int, default=3, help="take the best of this many runs")
    parser.add_argument("--output", type=Path, help=f"CSV to write (default for all eight: {OUTPUT})")
    options = parser.parse_args()

    rows: list[Row] = []
    for name in check_names(options.datasets):
        rows += benchmark(name, options.repeats)
    print(table(rows))
    write_csv(rows, options.output or (OUTPUT if set(options.datasets) == set(NAMES) else None))
    return 0


def benchmark(name: str, repeats: int) -> list[Row]:
    """One row per way of giving the data to infused; the peers run once, on dense data."""
    X, y = load(name)
    common = {"samples": X.shape[0], "features": X.shape[1], "classes": len(np.unique(y))}
    rows = []
    for label, as_csr in variants(name):
        log.info("%s: infused", label)
        row, U = measure_ours(name, as_csr, repeats)
        rows.append({"dataset": label, **common, **row})
    runs: Row = {}
    for peer in PEERS:
        log.info("%s: %s", name, peer)
        runs |= measure_peer(peer, X, y, U, repeats)
    for row in rows:
        row |= runs
        row |= {f"{peer}_ratio": runs[f"{peer}_s"] / row["infused_s"] for peer in PEERS}
        row |= {"threads": THREADS, "repeats": repeats, **versions()}
    return rows


def measure_ours(name: str, as_csr: bool, repeats: int) -> tuple[Row, NDArray[np.float64]]:
    """From (X, y) to the full U, distributions and set-up included: time, memory, and error."""
    memory = measure_in_child(load_variant, compute, name, as_csr)
    X, y = load_variant(name, as_csr)
    compute(X, y)  # loads or compiles the kernels
    seconds = np.inf
    for _ in range(repeats):
        start = perf_counter()
        information = infused.StructuralInformation.from_data(X, y, n_jobs=THREADS)
        U = information.full()
        seconds = min(seconds, perf_counter() - start)
    row = {
        "infused_s": seconds,
        "route": information.route,
        "rank": information.rank,
        "error_estimate": information.error_estimate(),
        "true_error": true_error(*load(name), U),
        "peak_added_mib": memory.added_mib,
        "peak_process_mib": memory.peak_mib,
    }
    return row, U


def compute(X: Any, y: NDArray[Any]) -> None:
    infused.StructuralInformation.from_data(X, y, n_jobs=THREADS).full()


def true_error(X: NDArray[Any], y: NDArray[Any], U: NDArray[np.float64], n_pairs: int = 200) -> float:
    """Largest difference from the definition on random pairs of 40 random features."""
    rng = np.random.default_rng(1)
    features = rng.permutation(X.shape[1])[:40]
    pairs = rng.choice(features, size=(n_pairs, 2))
    return float(np.abs(U[tuple(pairs.T)] - Definition(X, y, features).pairs(pairs)).max())


def measure_peer(
    peer: str, X: NDArray[Any], y: NDArray[Any], U: NDArray[np.float64], repeats: int
) -> dict[str, Any]:
    given = {} if peer == "literal" else {"repeats": repeats}
    result = PEERS[peer](X, y, **given)
    return {
        f"{peer}_s": result.seconds,
        f"{peer}_extrapolated": result.extrapolated,
        f"{peer}_difference": float(np.nanmax(np.abs(result.U - U))),
    }


def table(rows: list[Row]) -> str:
    """The message of the rows: ratios first; ~ marks a peer's time that was scaled up from a sample."""
    header = ["data", "M x N", "infused s"]
    header += [f"{peer} s" for peer in PEERS] + [f"{peer} / infused" for peer in PEERS]
    header += ["route", "rank", "estimate", "true error", "peak MiB"]
    return format_table(header, [_cells(row) for row in rows])


def _cells(row: Row) -> list[str]:
    mark = {peer: "~" if row[f"{peer}_extrapolated"] else "" for peer in PEERS}
    return [
        row["dataset"],
        f"{row['samples']} x {row['features']}",
        f"{row['infused_s']:.2f}",
        *(f"{mark[peer]}{row[f'{peer}_s']:,.1f}" for peer in PEERS),
        *(f"{mark[peer]}{row[f'{peer}_ratio']:,.1f}" for peer in PEERS),
        row["route"],
        "-" if row["rank"] is None else str(row["rank"]),
        f"{row['error_estimate']:.0e}",
        f"{row['true_error']:.0e}",
        f"{row['peak_added_mib']:,.0f}",
    ]


if __name__ == "__main__":
    run(main)
