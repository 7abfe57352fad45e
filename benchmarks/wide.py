"""100,000 features of 500 samples: the lasso path, forward selection and F values beside peers, in one run.

python -m benchmarks.wide [--repeats 3] [--output FILE.csv]

Gaussian features, 200 of which make the target, with noise. The path has 30 lambdas from max|X'y| to 0.05 of
it, on columns of mean zero and length one that everybody gets as they are; infused and celer run until no
objective is more than 1e-6 above the smallest that anybody finds, relative to it, adelie with its default
tolerance, and infused once more at the precision that adelie reaches. GreedyForward and abess
(`LinearRegression`, which exchanges features as well) select 200; F values are those of scikit-learn's
`f_regression`. 1,440 pictures of 20 turning shapes (32 x 32, as COIL20 has) are for the choice of a solver.

abess and adelie are installed by hand: adelie asks for numpy 1, and runs with 2.

CPU seconds on one thread, best of several. Exit code 1 when infused is slower than celer, takes more than 1.5
times as long as adelie at its precision, or as abess.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from benchmarks.command import command_parser, run
from benchmarks.tables import Row, format_table, versions, write_csv
from infused import GreedyForward, Lasso, make_selector

Floats = NDArray[np.float64]

OUTPUT = Path("benchmarks/results/wide.csv")
N_SAMPLES, N_FEATURES, K = 500, 100_000, 200
N_LAMBDAS, SMALLEST, GAP = 30, 0.05, 1e-6
MOST_TIMES = 1.5
BY_VIOLATION = (1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 1e-5)
BY_GAP = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Problem:
    """Lasso problems that differ in lambda only."""

    X: Floats
    y: Floats
    lambdas: Floats

    def objectives(self, path: Floats) -> Floats:
        """Of one row of coefficients for each lambda."""
        left = [self.y - self.X[:, used] @ row[used] for row in path for used in [np.flatnonzero(row)]]
        return (np.array(left) ** 2).sum(axis=1) / 2 + self.lambdas * np.abs(path).sum(axis=1)


def main() -> int:
    parser = command_parser(__doc__)
    parser.add_argument("--repeats", type=int, default=3, help="take the best of this many runs")
    parser.add_argument("--output", type=Path, default=OUTPUT, help=f"CSV to write (default: {OUTPUT})")
    options = parser.parse_args()
    threadpool_limits(1)
    warnings.simplefilter("ignore")
    X, y = data()
    rows = [*paths(problem(X, y), options.repeats), *forward(X, y, options.repeats)]
    rows += [*f_values(X, y, options.repeats), *pictures(options.repeats)]
    rows = [{**row, **versions(row["method"])} for row in rows]
    print(format_table(["task and method", "CPU s", "times infused", "gap"], _cells(rows)))
    failed = [f"{row['task']}: {row['method']}" for row in rows if not row["passed"]]
    print("FAIL: " + "; ".join(failed) if failed else "pass")
    write_csv(rows, options.output)
    return int(bool(failed))


def data() -> tuple[Floats, Floats]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_SAMPLES, N_FEATURES))
    b = np.zeros(N_FEATURES)
    b[:: N_FEATURES // K] = rng.normal(size=K)
    return X, X @ b + 5 * rng.normal(size=N_SAMPLES)


def problem(X: Floats, y: Floats) -> Problem:
    F = np.asfortranarray(X - X.mean(axis=0))
    F /= np.linalg.norm(F, axis=0)
    target = (y - y.mean()) / np.linalg.norm(y - y.mean())
    largest = float(np.abs(F.T @ target).max())
    return Problem(F, target, largest * np.geomspace(1, SMALLEST, N_LAMBDAS))


def infused_path(problem: Problem, tol: float) -> Floats:
    lasso = Lasso(lambda_scale="absolute", target="real", standardize=False, tol=tol, n_jobs=1)
    return lasso.regularization_path(problem.X, problem.y, lambda1=problem.lambdas).coef[:, 0]


def by_celer(problem: Problem, tol: float) -> Floats:
    from celer import celer_path

    alphas = problem.lambdas / len(problem.y)
    return np.asarray(celer_path(problem.X, problem.y, "lasso", alphas=alphas, tol=tol, max_iter=100)[1].T)


def by_adelie(problem: Problem, tol: float | None) -> Floats:
    import adelie

    found = adelie.grpnet(
        adelie.matrix.dense(problem.X, n_threads=1),
        adelie.glm.gaussian(problem.y),
        lmda_path=problem.lambdas / len(problem.y),
        intercept=False,
        early_exit=False,
        progress_bar=False,
        n_threads=1,
        **({} if tol is None else {"tol": tol}),
    )
    return np.asarray(found.betas.toarray())


def paths(problem: Problem, repeats: int) -> list[Row]:
    """infused and celer at the gap, adelie as it comes, infused at adelie's gap."""
    log.info("path: reference")
    exact = [infused_path(problem, 1e-7), by_celer(problem, 1e-9)]
    best = np.min([problem.objectives(path) for path in exact], axis=0)

    def gap_of(path: Floats) -> float:
        return float(((problem.objectives(path) - best) / best).max())

    def to(gap: float, solve: Callable[..., Floats], tolerances: tuple[Any, ...]) -> tuple[float, float]:
        for tol in tolerances:
            reached = gap_of(solve(problem, tol))
            if reached <= gap:
                break
        return best_of(repeats, partial(solve, problem, tol)), reached

    task = f"lasso path of {N_LAMBDAS}"
    seconds, reached = to(GAP, infused_path, BY_VIOLATION)
    ours = row(task, "infused", seconds, 1.0, reached)
    seconds, reached = to(GAP, by_celer, BY_GAP)
    celer = row(task, "celer", seconds, seconds / ours["seconds"], reached)
    ours["passed"] = ours["gap"] <= GAP and ours["seconds"] <= seconds
    log.info("path: adelie")
    reached = gap_of(by_adelie(problem, None))
    adelie = row(
        f"{task}, adelie's gap", "adelie", best_of(repeats, partial(by_adelie, problem, None)), 0, reached
    )
    seconds, reached = to(max(reached, GAP), infused_path, BY_VIOLATION)
    there = row(f"{task}, adelie's gap", "infused", seconds, 1.0, reached)
    adelie["ratio"] = adelie["seconds"] / seconds
    there["passed"] = seconds <= MOST_TIMES * adelie["seconds"]
    return [ours, celer, there, adelie]


def forward(X: Floats, y: Floats, repeats: int) -> list[Row]:
    from abess import LinearRegression

    log.info("forward selection")
    task = f"{K} features, one after the other"
    seconds = best_of(repeats, lambda: GreedyForward(n_features_to_select=K, n_jobs=1).fit(X, y))
    theirs = best_of(repeats, lambda: LinearRegression(support_size=K, thread=1).fit(X, y))
    ours = row(task, "infused", seconds, 1.0, None)
    ours["passed"] = seconds <= MOST_TIMES * theirs
    return [ours, row(task, "abess", theirs, theirs / seconds, None)]


def f_values(X: Floats, y: Floats, repeats: int) -> list[Row]:
    from sklearn.feature_selection import SelectKBest, f_regression

    log.info("F values")
    seconds = best_of(repeats, lambda: make_selector("anova", n_features_to_select=K, n_jobs=1).fit(X, y))
    theirs = best_of(repeats, lambda: SelectKBest(f_regression, k=K).fit(X, y))
    return [
        row("F values", "infused", seconds, 1.0, None),
        row("F values", "scikit-learn", theirs, theirs / seconds, None),
    ]


def pictures(repeats: int) -> list[Row]:
    log.info("pictures")
    X, y = turning_shapes()
    rows = []
    for id in ("lasso", "infused-lasso"):
        selector = make_selector(id, n_features_to_select=100, target="onehot", n_jobs=1)
        rows.append(
            row(
                "pictures, 1,440 x 1,024",
                f"infused {id}",
                best_of(repeats, partial(selector.fit, X, y)),
                1,
                None,
            )
        )
    rows[1]["ratio"] = rows[1]["seconds"] / rows[0]["seconds"]
    return rows


def turning_shapes() -> tuple[Floats, NDArray[Any]]:
    """20 heaps of soft spots in 72 views each, 32 x 32 pixels of 256 grey levels."""
    rng = np.random.default_rng(0)
    down, right = np.mgrid[-1:1:32j, -1:1:32j]
    X = []
    for _ in range(20):
        places, widths = rng.uniform(-0.6, 0.6, (6, 2)), rng.uniform(0.05, 0.3, 6)
        heights, squeezed = rng.uniform(0.3, 1, 6), rng.uniform(0.5, 1.0, 2)
        for view in range(72):
            c, s = np.cos(2 * np.pi * view / 72), np.sin(2 * np.pi * view / 72)
            turned = places @ np.array([[c * squeezed[0], s], [-s, c * squeezed[1]]])
            spots = zip(turned, widths, heights, strict=True)
            picture = sum(
                h * np.exp(-((right - x) ** 2 + (down - y) ** 2) / (2 * w**2)) for (x, y), w, h in spots
            )
            X.append(np.round(255 * np.clip(picture, 0, 1)).ravel())
    return np.array(X), np.repeat(np.arange(20), 72)


def row(task: str, method: str, seconds: float, ratio: float, gap: float | None) -> Row:
    package = "scikit-learn" if method == "scikit-learn" else method.split()[0]
    known = {"task": task, "method": method, "solver_version": version(package)}
    return {**known, "seconds": seconds, "ratio": ratio, "gap": gap, "passed": True}


def best_of(repeats: int, call: Callable[[], Any]) -> float:
    seconds = []
    for _ in range(repeats):
        start = process_time()
        call()
        seconds.append(process_time() - start)
    return min(seconds)


def _cells(rows: list[Row]) -> list[list[str]]:
    return [
        [
            f"{row['task']}: {row['method']}",
            f"{row['seconds']:.2f}",
            f"{row['ratio']:.2f}",
            "-" if row["gap"] is None else f"{row['gap']:.0e}",
        ]
        for row in rows
    ]


if __name__ == "__main__":
    run(main)
