"""A million features on one small machine: CPU and wall seconds, and peak memory, of data on disk.

python -m benchmarks.million [--sizes 1000x250000,1000x1000000] [--tasks path,dense] [--folder DIR]

Genotypes (0, 1, 2; int8, a feature after the other) are made in blocks and written to a .npy file: ten
neighbours share most of their calls, and 50 features, far apart, make the target. Each task runs in a process
of its own on the file: ``path`` is the lasso path of 20 values, down to the 200th largest correlation with
the target, the others rank by a selector. ``dense`` is InFusedLasso on 200 x 1,000,000 float64 in memory. The
file is deleted afterwards, and the CSV holds each task as soon as it is done.

Found is how many of the 50 have a selected feature among their ten neighbours. Slopes are those of the
logarithm of CPU seconds against that of the number of values.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.command import command_parser, run
from benchmarks.memory import measure_in_child, peak_bytes
from benchmarks.tables import Row, format_table, versions, write_csv
from infused import Lasso, make_selector, open_columns

OUTPUT = Path("benchmarks/results/million.csv")
SIZES, TASKS = "1000x250000,1000x1000000", "path,lasso,anova"
CAUSES, TOGETHER, K, N_LAMBDAS, DOWN_TO = 50, 10, 50, 20, 200
WIDTH = 20_000  # features that are made at a time


def main() -> int:
    parser = command_parser(__doc__)
    parser.add_argument("--sizes", default=SIZES, help=f"samples x features (default: {SIZES})")
    parser.add_argument("--tasks", default=TASKS, help=f"what to run (default: {TASKS}; also dense)")
    parser.add_argument("--folder", type=Path, help="where the data are written (default: a temporary one)")
    parser.add_argument("--output", type=Path, default=OUTPUT, help=f"CSV to write (default: {OUTPUT})")
    options = parser.parse_args()
    rows: list[Row] = []
    for row in every(options):
        rows.append(row)
        write_csv([{**row, **versions(row["task"])} for row in rows], options.output)
    print(format_table(["task", "size", "CPU s", "wall s", "peak GB", "data GB", "found"], cells(rows)))
    print(slopes(rows))
    return 0


def every(options: argparse.Namespace) -> Iterator[Row]:
    """Run every task on data of every size."""
    for size in filter(None, options.sizes.split(",")):
        yield from of_size(size, options)
    if "dense" in options.tasks.split(","):
        yield measured("dense", "200x1000000", "float64", dense, 200, 1_000_000)


def of_size(size: str, options: argparse.Namespace) -> Iterator[Row]:
    """Write data of this size, and run every task on them."""
    n_samples, n_features = map(int, size.split("x"))
    with TemporaryDirectory(prefix="infused-million-", dir=options.folder) as folder:
        write(Path(folder) / "x.npy", n_samples, n_features)
        tasks = [task for task in options.tasks.split(",") if task != "dense"]
        for task in tasks:
            yield measured(task, size, "int8", on_disk, folder, task)


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


def on_disk(folder: str, task: str) -> dict[str, Any]:
    target = np.load(Path(folder) / "x.npz")
    X, y, causes = open_columns(Path(folder) / "x.npy").X, target["y"], target["causes"]
    if task == "path":
        return path(X, y, causes)
    chosen = make_selector(task, n_features_to_select=K, n_jobs=1).fit(X, y).get_support()
    return {"found": found(chosen, causes), "selected": int(chosen.sum())}


def path(X: Any, y: Any, causes: Any) -> dict[str, Any]:
    """Follow the lasso down to the 200th largest correlation."""
    lasso = Lasso(target="real", lambda1=0.5, n_jobs=1)
    smallest = float(np.sort(np.abs(_correlations(X, y)))[-DOWN_TO])
    grid = np.geomspace(1.0, smallest, N_LAMBDAS)
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


def measured(task: str, size: str, dtype: str, call: Any, *arguments: Any) -> Row:
    """Run a task in a process of its own."""
    n_samples, n_features = map(int, size.split("x"))
    taken = measure_in_child(tuple_of, timed, call, arguments).result
    data = n_samples * n_features * np.dtype(dtype).itemsize / 1e9
    row = {
        "task": task,
        "samples": n_samples,
        "features": n_features,
        "dtype": dtype,
        "data_gb": data,
        **taken,
    }
    print(row, flush=True)
    return row


def tuple_of(*arguments: Any) -> tuple[Any, ...]:
    return arguments


def timed(call: Any, arguments: tuple[Any, ...]) -> dict[str, Any]:
    cpu, wall = process_time(), perf_counter()
    result = call(*arguments)
    cpu = result.pop("fit_cpu", process_time() - cpu)
    return {"cpu": cpu, "wall": perf_counter() - wall, "peak_gb": peak_bytes() / 1e9, **result}


def cells(rows: list[Row]) -> list[list[str]]:
    return [
        [
            str(row["task"]),
            f"{row['samples']:,} x {row['features']:,} {row['dtype']}",
            f"{row['cpu']:.1f}",
            f"{row['wall']:.1f}",
            f"{row['peak_gb']:.2f}",
            f"{row['data_gb']:.2f}",
            str(row.get("found", "-")),
        ]
        for row in rows
    ]


def slopes(rows: list[Row]) -> str:
    """Fit the logarithm of CPU seconds to that of the number of values, for each task with several sizes."""
    lines = []
    for task in dict.fromkeys(str(row["task"]) for row in rows):
        own = [row for row in rows if row["task"] == task]
        if len(own) > 1:
            values = np.log([float(row["samples"]) * float(row["features"]) for row in own])
            slope = np.polyfit(values, np.log([float(row["cpu"]) for row in own]), 1)[0]
            lines.append(f"{task}: CPU seconds grow with the number of values to the power of {slope:.2f}")
    return "\n".join(lines)


if __name__ == "__main__":
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    run(main)
