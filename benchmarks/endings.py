"""Does every table get its answer in time? `select` and `compare` on a hundred generated tables.

python -m benchmarks.endings [--tables N] [--first SEED] [--limit SECONDS] [--output FILE.csv]

A table has 60 to 3,000 rows and 4 to 60 columns of the kinds that public tables have: numbers of any scale,
amounts with a long tail, codes, categories with few levels and with many, dummies, dates, columns that are
constant, repeated, mostly missing, or a function of the target; and a target of two classes that overlap, are
rare or separable, of several classes, of amounts or of counts. Each job runs in a process of its own, which
the system ends at the limit of CPU seconds.

Exit code 1 when a table gets no answer: at the limit, by an error, or with folds of a comparison that failed.
"""

from __future__ import annotations

import csv
import logging
import multiprocessing
import resource
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.command import command_parser, run
from benchmarks.tables import Row, format_table, versions, write_csv

OUTPUT = Path("benchmarks/results/endings.csv")
TABLES = 100
LIMIT = 60  # CPU seconds of one job on one table
JOBS = ("select", "compare")
METHODS = ("infused-lasso", "anova")
TARGETS = ("overlapping", "rare", "separable", "several", "amount", "count")
log = logging.getLogger(__name__)


def main() -> int:
    parser = command_parser(__doc__)
    parser.add_argument("--tables", type=int, default=TABLES, help=f"how many (default: {TABLES})")
    parser.add_argument("--first", type=int, default=0, metavar="SEED", help="seed of the first (default: 0)")
    parser.add_argument("--limit", type=int, default=LIMIT, help=f"CPU seconds of a job (default: {LIMIT})")
    parser.add_argument("--output", type=Path, help=f"CSV to write (default for a whole run: {OUTPUT})")
    options = parser.parse_args()
    rows = []
    for seed in range(options.first, options.first + options.tables):
        for job in JOBS:
            rows.append(outcome(seed, job, options.limit))
            log.info("%s", " ".join(str(value) for value in rows[-1].values()))
    print(summary(rows))
    whole = options.tables >= TABLES and options.limit == LIMIT
    rows = [{**row, **versions(METHODS[0])} for row in rows]
    write_csv(rows, options.output or (OUTPUT if whole else None))
    return int(any(row["ended"] != "answer" for row in rows))


def outcome(seed: int, job: str, limit: int) -> Row:
    """Run one job in a process that may use so many CPU seconds; say how it ended."""
    table, target = generated(seed)
    with TemporaryDirectory() as folder:
        said = Path(folder) / "said.csv"
        child = multiprocessing.get_context("fork").Process(target=_job, args=(table, job, limit, said))
        child.start()
        child.join()
        ended, seconds = "limit", float(limit)
        if said.exists():
            with said.open(newline="", encoding="utf-8") as file:
                ended, text = next(csv.reader(file))
                seconds = float(text)
    shape = {"rows": len(table), "columns": table.shape[1] - 1}
    return {"seed": seed, "target": target, **shape, "job": job, "ended": ended, "seconds": seconds}


def _job(table: pd.DataFrame, job: str, limit: int, said: Path) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (limit + 1, limit + 2))
    start, ended = time.process_time(), "answer"
    try:
        if (failed := answered(table, job)) > 0:
            ended = f"{failed} failed"
    except Exception as error:  # whatever it is, the table got no answer
        ended = f"{type(error).__name__}: {error}"
    with said.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerow([ended, f"{time.process_time() - start:.2f}"])


def answered(table: pd.DataFrame, job: str) -> int:
    """Select or compare; return how many cells failed."""
    import infused

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if job == "select":
            infused.select(table, "target")
            return 0
        return infused.compare(table, "target", methods=list(METHODS), folds=3).n_failed


def generated(seed: int) -> tuple[pd.DataFrame, str]:
    """Generate the table of this seed, and the kind of its target."""
    random = np.random.default_rng(seed)
    n, width = int(np.exp(random.uniform(np.log(60), np.log(3000)))), int(random.integers(4, 61))
    columns: dict[str, Any] = {}
    signal = np.zeros(n)
    for j in range(width):
        kind = list(COLUMNS)[int(random.integers(len(COLUMNS)))]
        values, effect = COLUMNS[kind](random, n)
        columns[f"{kind} {j}"] = values
        if j % 3 == 0:  # a third of the columns has an effect
            signal += random.choice([-1.0, 1.0]) * (effect - effect.mean()) / (effect.std() or 1.0)
    signal /= signal.std() or 1.0
    target = TARGETS[seed % len(TARGETS)]
    columns["target"] = _target(random, signal, target)
    table = pd.DataFrame(columns)
    if target == "separable":
        table.insert(0, "afterwards", 1e-9 * (table["target"] == "yes"))
    if seed % 4 == 0:
        table[table.columns[0] + " again"] = table.iloc[:, 0]
    return table, target


def _target(random: np.random.Generator, signal: Any, kind: str) -> Any:
    noisy = signal + random.logistic(scale=0.5, size=len(signal))
    if kind in ("overlapping", "rare", "separable"):
        share = {"overlapping": 0.5, "rare": random.uniform(0.02, 0.2), "separable": 0.4}[kind]
        yes = noisy > np.quantile(noisy, 1 - max(share, 6 / len(noisy)))
        return np.where(yes, "yes", "no")
    if kind == "several":
        return np.digitize(noisy, np.quantile(noisy, np.arange(1, 6) / 6))
    if kind == "amount":
        return np.exp(6 + noisy).round(2)
    return random.poisson(np.exp(np.clip(noisy, -3, 3)))


def _numbers(random: np.random.Generator, n: int) -> tuple[Any, Any]:
    values = random.normal(size=n)
    return values * 10.0 ** random.integers(-9, 10) + random.normal(), values


def _amounts(random: np.random.Generator, n: int) -> tuple[Any, Any]:
    values = random.normal(size=n)
    return np.exp(8 + 2 * values).round(2), values


def _codes(random: np.random.Generator, n: int) -> tuple[Any, Any]:
    values = random.integers(0, random.integers(2, 15), n)
    return values, values.astype(float)


def _levels(most: int) -> Any:
    def levels(random: np.random.Generator, n: int) -> tuple[Any, Any]:
        weights = 1 / np.arange(1, random.integers(2, most) + 1)
        codes = random.choice(len(weights), n, p=weights / weights.sum())
        return np.array([f"level {code}" for code in codes]), random.normal(size=len(weights))[codes]

    return levels


def _flags(random: np.random.Generator, n: int) -> tuple[Any, Any]:
    values = random.random(n) < random.choice([0.5, 0.1, 0.01])
    return values.astype(int), values.astype(float)


def _dates(random: np.random.Generator, n: int) -> tuple[Any, Any]:
    days = random.integers(0, 2000, n)
    return pd.Timestamp("2018-01-01") + pd.to_timedelta(days, unit="D"), (days % 365).astype(float)


def _gaps(random: np.random.Generator, n: int) -> tuple[Any, Any]:
    values = random.normal(size=n)
    return np.where(random.random(n) < 0.7, np.nan, values), values


def _constants(random: np.random.Generator, n: int) -> tuple[Any, Any]:
    return np.full(n, 3.0), np.zeros(n)


COLUMNS = {
    "number": _numbers,
    "amount": _amounts,
    "code": _codes,
    "category": _levels(8),
    "place": _levels(200),
    "flag": _flags,
    "day": _dates,
    "mostly missing": _gaps,
    "constant": _constants,
}


def summary(rows: list[Row]) -> str:
    """Make a line for each kind of target and job: how many ended, and the most CPU seconds."""
    return format_table(["target", "job", "tables", "answered", "median s", "most s"], list(_summaries(rows)))


def _summaries(rows: list[Row]) -> Iterator[list[str]]:
    for target in TARGETS:
        for job in JOBS:
            mine = [row for row in rows if (row["target"], row["job"]) == (target, job)]
            if mine:
                seconds = [row["seconds"] for row in mine]
                answers = sum(row["ended"] == "answer" for row in mine)
                figures = [f"{np.median(seconds):.1f}", f"{max(seconds):.1f}"]
                yield [target, job, str(len(mine)), str(answers), *figures]


if __name__ == "__main__":
    run(main)
