"""A million features on one small machine: CPU and wall seconds, and peak memory, of data on disk.

python -m benchmarks.million [--sizes 1000x100000,1000x1000000] [--tasks path,anova] [--limit S]
python -m benchmarks.million --picture

Genotypes (0, 1, 2; int8, a feature after the other) are made in blocks and written to a .npy file: ten
neighbours share most of their calls, and 50 features, far apart, make the target. Each task runs in a process
of its own on the file: ``path`` is the lasso path of 20 values, down to 0.6 of the 200th largest correlation
with the target (neighbours counted once), ``stability`` is StabilitySelection with ten pairs of halves, the
others rank by a selector. ``dense`` is InFusedLasso on 200 x 1,000,000 float64 in memory. The file is deleted
afterwards, unless a folder is given to keep it in. The CSV holds each task as soon as it is done, beside the
rows that it had before of other tasks and sizes; a task that takes longer than the limit is stopped, and a
row says so.

Found is how many of the 50 have a selected feature among their ten neighbours. Slopes are those of the
logarithm of CPU seconds against that of the number of values. ``--picture`` draws the growth of all rows.
"""

from __future__ import annotations

import argparse
import csv
import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.command import command_parser, run
from benchmarks.memory import measure_within, peak_bytes
from benchmarks.tables import Row, format_table, versions, write_csv
from infused import Lasso, StabilitySelection, make_selector, open_columns

OUTPUT = Path("benchmarks/results/million.csv")
PICTURE = Path("docs/figures/million.svg")
SIZES = "1000x100000,1000x1000000"
#: The number of features that each selects.
NUMBERS = {"infused-lasso": 100, "fused-lasso": 100, "greedy-forward": 50, "anova": 50, "mrmr": 20}
TASKS = ("path", *NUMBERS, "stability", "dense")
CAUSES, TOGETHER, N_LAMBDAS, DOWN_TO, END, N_PAIRS = 50, 10, 20, 200, 0.6, 10
LIMIT = 300
HEADER = ["task", "size", "CPU s", "wall s", "data GB", "peak GB", "selected", "found"]
WIDTH = 20_000  # features that are made at a time


def main() -> int:
    parser = command_parser(__doc__)
    parser.add_argument("--sizes", default=SIZES, help=f"samples x features (default: {SIZES})")
    parser.add_argument("--tasks", default=",".join(TASKS), help="what to run (default: all)")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds for a task (default: 300)")
    parser.add_argument("--keep", type=Path, help="leave the data in this folder, for another run")
    parser.add_argument("--output", type=Path, default=OUTPUT, help=f"CSV to write (default: {OUTPUT})")
    parser.add_argument("--picture", action="store_true", help=f"only draw {PICTURE} from the CSV")
    options = parser.parse_args()
    rows = before(options.output)
    if options.picture:
        draw(rows)
        return 0
    for row in every(options):
        rows = [one for one in rows if of(one) != of(row)]
        rows = sorted([*rows, row | versions(row["task"])], key=of)
        write_csv(rows, options.output)
    print(format_table(HEADER, cells(rows)))
    print(slopes(rows))
    return 0


def before(path: Path) -> list[Row]:
    """Read the rows that were measured before."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return [dict(row) for row in csv.DictReader(file)]


def of(row: Row) -> tuple[int, int, int]:
    """Return what a row is of, in the order of the table."""
    return TASKS.index(row["task"]), int(row["samples"]), int(row["features"])


def every(options: argparse.Namespace) -> Iterator[Row]:
    """Run every task on data of every size."""
    tasks = [task for task in options.tasks.split(",") if task]
    for size in filter(None, options.sizes.split(",")):
        n_samples, n_features = map(int, size.split("x"))
        with TemporaryDirectory(prefix="infused-million-") as temporary:
            path = Path(options.keep or temporary) / f"{size}.npy"
            if not path.with_suffix(".npz").exists():
                write(path, n_samples, n_features)
            for task in tasks:
                if task != "dense":
                    yield measured(task, n_samples, n_features, 1, options.limit, on_disk, str(path), task)
    if "dense" in tasks:
        yield measured("dense", 200, 1_000_000, 8, options.limit, dense, 200, 1_000_000)


def write(path: Path, n_samples: int, n_features: int, seed: int = 0) -> None:
    """Write genotypes, some features at a time, and the target beside them."""
    rng = np.random.default_rng(seed)
    made = np.lib.format.open_memmap(path, "w+", np.int8, (n_samples, n_features), fortran_order=True)
    causes = np.linspace(0, n_features - TOGETHER, CAUSES).astype(int) // TOGETHER * TOGETHER + TOGETHER // 2
    effects, y = rng.choice([-1.0, 1.0], CAUSES), rng.normal(size=n_samples) * 3
    for start in range(0, n_features, WIDTH):
        stop = min(start + WIDTH, n_features)
        shared = np.repeat(calls(rng, (stop - start) // TOGETHER + 1, n_samples), TOGETHER, axis=0)
        own = calls(rng, stop - start, n_samples)
        block = np.where(rng.integers(0, 256, own.shape, np.uint8) < 200, shared[: stop - start], own)
        made[:, start:stop] = block.T
        for cause, effect in zip(causes, effects, strict=True):
            if start <= cause < stop:
                y += effect * block[cause - start]
    made.flush()
    np.savez(path.with_suffix(".npz"), y=y, causes=causes)


def calls(rng: np.random.Generator, n_features: int, n_samples: int) -> NDArray[np.int8]:
    """Draw 0, 1 or 2, each feature with a frequency of its own."""
    frequency = rng.integers(30, 128, (n_features, 1), np.uint8)
    both = rng.integers(0, 256, (2, n_features, n_samples), np.uint8) < frequency
    return both[0].view(np.int8) + both[1].view(np.int8)


def on_disk(path: str, task: str) -> dict[str, Any]:
    target = np.load(Path(path).with_suffix(".npz"))
    X, y, causes = open_columns(path).X, target["y"], target["causes"]
    if task == "path":
        return lasso_path(X, y, causes)
    if task == "stability":
        selector = StabilitySelection(n_pairs=N_PAIRS, random_state=0)
    else:
        selector = make_selector(task, n_features_to_select=NUMBERS[task], n_jobs=1)
    chosen = selector.fit(X, y).get_support()
    return {"found": found(chosen, causes), "selected": int(chosen.sum())}


def lasso_path(X: Any, y: Any, causes: Any) -> dict[str, Any]:
    """Follow the lasso down to 0.6 of the 200th largest correlation of ten neighbours."""
    lasso = Lasso(target="real", lambda1=0.5, n_jobs=1)
    largest = np.abs(_correlations(X, y)).reshape(-1, TOGETHER).max(axis=1)
    grid = np.geomspace(1.0, END * float(np.sort(largest)[-DOWN_TO]), N_LAMBDAS)
    solved = lasso.regularization_path(X, y, lambda1=grid)
    chosen = solved.coef[-1].any(axis=0)
    return {
        "found": found(chosen, causes),
        "selected": int(chosen.sum()),
        "certificate": float(solved.certificate.max()),
    }


def _correlations(X: Any, y: Any) -> Any:
    """Correlate each feature with y, relative to the largest."""
    F = make_selector("anova", n_features_to_select=1).fit(X, y).scores_
    r = np.sqrt(F / (F + len(y) - 2))
    return r / r.max()


def found(chosen: Any, causes: Any) -> int:
    """Count the causes of which a neighbour was selected."""
    near = np.unique(np.flatnonzero(chosen) // TOGETHER)
    return int(np.isin(causes // TOGETHER, near).sum())


def dense(n_samples: int, n_features: int) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    X = np.empty((n_samples, n_features))
    for start in range(0, n_features, WIDTH):
        X[:, start : start + WIDTH] = rng.normal(size=(n_samples, min(WIDTH, n_features - start)))
    y = X[:, :: n_features // 20][:, :20] @ rng.normal(size=20) + rng.normal(size=n_samples)
    start_cpu = process_time()
    make_selector("infused-lasso", n_features_to_select=100, n_jobs=1).fit(X, y)
    return {"fit_cpu": process_time() - start_cpu}


def measured(
    task: str, n_samples: int, n_features: int, n_bytes: int, limit: float, call: Any, *arguments: Any
) -> Row:
    """Run a task in a process of its own."""
    try:
        taken = measure_within(limit, tuple_of, timed, call, arguments).result
    except TimeoutError:
        taken = {"stopped": limit}
    dtype = "float64" if n_bytes == 8 else "int8"
    known = {"task": task, "samples": n_samples, "features": n_features, "dtype": dtype}
    row = {**known, "data_gb": n_samples * n_features * n_bytes / 1e9, **dict.fromkeys(MEASURED, ""), **taken}
    print(row, flush=True)
    return row


MEASURED = ("cpu", "wall", "peak_gb", "found", "selected", "certificate", "stopped")


def tuple_of(*arguments: Any) -> tuple[Any, ...]:
    return arguments


def timed(call: Any, arguments: tuple[Any, ...]) -> dict[str, Any]:
    cpu, wall = process_time(), perf_counter()
    result = call(*arguments)
    cpu = result.pop("fit_cpu", process_time() - cpu)
    return {"cpu": cpu, "wall": perf_counter() - wall, "peak_gb": peak_bytes() / 1e9, **result}


def cells(rows: list[Row]) -> list[list[str]]:
    """Return the rows of the table; of a task that was stopped, after how long."""
    table = []
    for row in rows:
        size = f"{int(row['samples']):,} x {int(row['features']):,} {row['dtype']}"
        cost = [f"{float(row['cpu']):.1f}", f"{float(row['wall']):.1f}"] if row["cpu"] else ["-", "-"]
        if row["stopped"]:
            cost = ["-", f"> {float(row['stopped']):.0f}"]
        peak = f"{float(row['peak_gb']):.2f}" if row["peak_gb"] else "-"
        chosen = str(row["selected"] or "-"), str(row["found"] or "-")
        table.append([row["task"], size, *cost, f"{float(row['data_gb']):.2f}", peak, *chosen])
    return table


def grown(rows: list[Row]) -> dict[str, list[tuple[float, float, float]]]:
    """Return values, CPU seconds and peak of each task that was measured on disk at several sizes."""
    points: dict[str, list[tuple[float, float, float]]] = {}
    for row in rows:
        if row["cpu"] and row["task"] != "dense":
            size = float(row["samples"]) * float(row["features"])
            points.setdefault(row["task"], []).append((size, float(row["cpu"]), float(row["peak_gb"])))
    return {task: sorted(own) for task, own in points.items() if len(own) > 1}


def slopes(rows: list[Row]) -> str:
    """Fit the logarithm of CPU seconds to that of the number of values, for each task with several sizes."""
    lines = []
    for task, own in grown(rows).items():
        slope = np.polyfit(np.log([one[0] for one in own]), np.log([one[1] for one in own]), 1)[0]
        lines.append(f"- {task}: CPU seconds grow with the number of values to the power of {slope:.2f}")
    return "\n".join(lines)


def draw(rows: list[Row]) -> None:
    """Draw CPU seconds and peak memory against the number of values, on logarithmic axes."""
    from matplotlib import pyplot as plt

    plt.rcParams["svg.hashsalt"] = "infused"
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for task, own in grown(rows).items():
        values, seconds, peaks = zip(*own, strict=True)
        left.loglog(values, seconds, "o-", label=task)
        right.loglog(values, peaks, "o-", label=task)
    for axes, what in ((left, "CPU seconds"), (right, "Peak memory (GB)")):
        axes.set_xlabel("Values (samples x features, one byte each)")
        axes.set_ylabel(what)
    left.legend(frameon=False)
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, metadata={"Date": None})


if __name__ == "__main__":
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    run(main)
