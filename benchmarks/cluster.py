"""A cluster of processes on this machine: the same bits, its speed, and data larger than any worker.

python -m benchmarks.cluster bits|speed|larger [--features N] [--samples M] [--repeats R] [--output FILE.csv]

bits: U with 1, 2 and 4 workers is U here, to the last bit, also when a worker is killed in the middle.
speed: U with one worker over U with two, one thread each (by default 20,000 features of 2,000 samples).
larger: X of 8 GB, made in chunks by workers with 2 GB each, is ranked: the peak memory of every process, and
what passed through the scheduler.

The exit code is 1 when bits differ, when a process passed its limit, when X passed through the scheduler, or
when two workers are less than 1.6 times as fast as one.
"""

from __future__ import annotations

import logging
import os
import signal
import warnings
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import dask.array as da
import numpy as np
import psutil

import infused
from benchmarks.command import command_parser, run
from benchmarks.separate_cluster import bytes_passed, count_bytes, separate_cluster
from benchmarks.tables import Row, format_table, versions, write_csv
from infused.exceptions import ScreeningWarning

RESULTS = Path("benchmarks/results")
log = logging.getLogger(__name__)
LIMIT = 2 * 10**9
ENOUGH = 1.6
DEFAULTS = {"bits": (5_000, 100), "speed": (20_000, 2_000), "larger": (1_000_000, 1_000)}
CHUNK = 80 * 10**6  # bytes


def main() -> int:
    parser = command_parser(__doc__)
    parser.add_argument("what", choices=list(DEFAULTS))
    parser.add_argument("--features", type=int)
    parser.add_argument("--samples", type=int)
    parser.add_argument("--repeats", type=int, default=1, help="take the best of this many runs")
    parser.add_argument(
        "--output", type=Path, help="CSV to write (default: benchmarks/results/cluster_WHAT.csv)"
    )
    options = parser.parse_args()
    n_features, n_samples = DEFAULTS[options.what]
    shape = options.samples or n_samples, options.features or n_features
    rows, good = {"bits": bits, "speed": speed, "larger": larger}[options.what](*shape, options.repeats)
    print(format_table(list(rows[0]), [[str(value) for value in row.values()] for row in rows]))
    output = options.output or RESULTS / f"cluster_{options.what}.csv"
    write_csv([{**row, **versions()} for row in rows], output)
    return 0 if good else 1


def made(n_samples: int, n_features: int, start: int = 0, n_classes: int = 2) -> tuple[Any, Any]:
    """Gaussian features, the first of which tells something of the class; ``start`` tells chunks apart."""
    y = np.arange(n_samples) % n_classes
    X = np.random.default_rng(start).standard_normal((n_samples, n_features))
    X[:, 0] += 0.7 * (y == 1)
    return X, y


def lazily(n_samples: int, n_features: int, width: int) -> Any:
    """The same as an array of Dask, whose chunks the workers make."""

    def chunk(block_info: Any = None) -> Any:
        _, (start, stop) = block_info[None]["array-location"]
        return made(n_samples, stop - start, start)[0]

    widths = [min(width, n_features - start) for start in range(0, n_features, width)]
    return da.map_blocks(chunk, chunks=((n_samples,), tuple(widths)), dtype=np.float64)


def bits(n_samples: int, n_features: int, repeats: int) -> tuple[list[Row], bool]:
    X, y = made(n_samples, n_features, n_classes=3)
    U, rows = infused.structural_information(X, y), []
    for n_workers in (1, 2, 4):
        for kill in (False, True):
            with separate_cluster(n_workers) as client, infused.cluster(client):
                killed: list[int] = []

                def watch(
                    fraction: float, message: str, killed: list[int] = killed, client: Any = client
                ) -> None:
                    if kill and fraction > 0.5 and not killed:  # noqa: B023 - called inside this turn
                        killed.append(next(iter(client.run(os.getpid).values())))
                        os.kill(killed[0], signal.SIGKILL)

                start = perf_counter()
                V = infused.structural_information(X, y, progress=watch)
                seconds = perf_counter() - start
            rows.append(
                {
                    "features": n_features,
                    "samples": n_samples,
                    "workers": n_workers,
                    "killed": len(killed),
                    "bits differ": int((U != V).sum()),
                    "seconds": round(seconds, 1),
                }
            )
            log.info(rows[-1])
    return rows, not any(row["bits differ"] for row in rows)


def kill_one(client: Any, killed: list[int], fraction: float, message: str) -> None:
    """Kill a worker when half is done."""
    if fraction > 0.5 and not killed:
        killed.append(next(iter(client.run(os.getpid).values())))
        os.kill(killed[0], signal.SIGKILL)


def speed(n_samples: int, n_features: int, repeats: int) -> tuple[list[Row], bool]:
    """The best of the repeats, with one worker and with two in turns.

    Seconds by the clock need quiet cores. CPU seconds do not: those of one worker over those of the busier of
    two say how well the work is shared, and how much of it both do.
    """
    X, y = made(n_samples, n_features)
    out = np.empty((n_features, n_features))
    best: dict[int, tuple[float, list[float]]] = {}
    small = X[: n_samples // 20, : n_features // 4]
    for _ in range(repeats):
        for n_workers in (1, 2):
            with separate_cluster(n_workers, "8GB") as client, infused.cluster(client):
                infused.structural_information(small, y[: len(small)])  # what a first call loads and compiles
                before, start = client.run(process_time), perf_counter()
                infused.structural_information(X, y, out=out)
                seconds, after = perf_counter() - start, client.run(process_time)
                busy = sorted(after[worker] - before[worker] for worker in after)
                best[n_workers] = min(best.get(n_workers, (np.inf, [])), (seconds, busy))
    (one, alone), (two, both) = best[1], best[2]
    row = {
        "features": n_features,
        "samples": n_samples,
        "one worker (s)": round(one, 1),
        "two workers (s)": round(two, 1),
        "ratio": round(one / two, 2),
        "CPU seconds of one": round(alone[0], 1),
        "CPU seconds of two": ", ".join(f"{cpu:.1f}" for cpu in both),
        "CPU ratio": round(alone[0] / both[-1], 2),
        "best of": repeats,
        "load before": round(os.getloadavg()[2], 1),
    }
    return [row], one / two >= ENOUGH


def larger(n_samples: int, n_features: int, repeats: int) -> tuple[list[Row], bool]:
    y = made(n_samples, 1)[1]
    X = lazily(n_samples, n_features, max(1, CHUNK // (8 * n_samples)))
    with separate_cluster(2) as client, infused.cluster(client):
        first = sorted(client.run(os.getpid).values())
        client.run_on_scheduler(count_bytes)
        selector = infused.InFusedLasso(n_features_to_select=50)
        start, cpu = perf_counter(), process_time()
        with infused.config_context(memory_budget="500MB"), warnings.catch_warnings():
            warnings.simplefilter("ignore", ScreeningWarning)
            selector.fit(X, y)
        seconds, cpu = perf_counter() - start, process_time() - cpu
        passed = client.run_on_scheduler(bytes_passed)
        last = sorted(client.run(os.getpid).values())
        peaks = {pid: peak(pid) for pid in [os.getpid(), *last]}
    telling = range(0, n_features, X.chunks[1][0])
    found = len(set(np.flatnonzero(selector.support_).tolist()) & set(telling))
    row = {
        "features": n_features,
        "samples": n_samples,
        "X (GB)": round(X.nbytes / 1e9, 2),
        "limit of a worker (GB)": LIMIT / 1e9,
        "peak of the workers (GB)": ", ".join(f"{peaks[pid] / 1e9:.2f}" for pid in last),
        "peak of this process (GB)": round(peaks[os.getpid()] / 1e9, 2),
        "restarted": len(set(last) - set(first)),
        "through the scheduler (MB)": round(passed / 1e6, 2),
        "screened out": selector.n_features_screened_,
        "telling features among 50": f"{found} of {len(telling)}",
        "seconds": round(seconds),
        "CPU seconds here": round(cpu),
    }
    good = first == last and max(peaks.values()) < LIMIT and passed < 0.01 * X.nbytes
    return [row], good


def peak(pid: int) -> int:
    """The most memory that a process ever held, in bytes."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) * 1024
    return int(psutil.Process(pid).memory_info().rss)


if __name__ == "__main__":
    run(main)
