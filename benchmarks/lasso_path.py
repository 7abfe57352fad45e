"""The lasso path by infused, celer, skglm and scikit-learn in one run: seconds at the same precision.

python -m benchmarks.lasso_path [--datasets A,B] [--repeats 5] [--output FILE.csv]

min_b 1/2 |y - Xb|^2 + lambda |b|_1 for 100 lambdas, evenly in their logarithm, from max|X'y|, where no
feature is needed, to 0.01 of it. Features and labels (as one real target) have mean zero and length one.

Everybody gets the same problem and starts each lambda where the last one ended: infused by the public
`Lasso.regularization_path`, celer by `celer_path`, skglm by `AndersonCD.path`, scikit-learn by `lasso_path`.
Each runs with a few tolerances, from the loosest on, until no objective of its path is more than 1e-6 above
the smallest that anybody finds, relative to it; the best of several runs at that tolerance counts. To find
the smallest objectives infused and celer run once with very small tolerances, and must agree.

Exit code 1 when infused takes more than 1.5 times as long as the faster of celer and skglm on a data set, or
does not reach the precision.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from celer import celer_path
from numpy.typing import NDArray
from skglm.datafits import Quadratic
from skglm.penalties import L1
from skglm.solvers import AndersonCD
from sklearn.linear_model import lasso_path

from benchmarks.command import add_datasets_option, command_parser, run
from benchmarks.datasets import check_names, load
from benchmarks.tables import Row, format_table, versions, write_csv
from benchmarks.threads import THREADS
from infused import Lasso
from infused._runtime.threads import memory_budget
from infused.selectors.inputs.training import design_matrix, target_matrix

Floats = NDArray[np.float64]

OUTPUT = Path("benchmarks/results/lasso_path.csv")
DATASETS = ("Isolet1", "Leukemia", "RELATHE")
GAP = 1e-6
N_LAMBDAS, SMALLEST = 100, 0.01
MOST_TIMES_THE_FASTEST = 1.5
RIVALS = ("celer", "skglm")
BY_VIOLATION = (1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 1e-5)  # tolerances to try
BY_GAP = (1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 3e-6, 1e-6, 3e-7, 1e-7, 1e-8, 1e-9)
REPEATED_BELOW = 10.0  # seconds: a longer run is not repeated
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Problem:
    """Lasso problems that differ in lambda only."""

    name: str
    X: Floats
    """Columns contiguous in memory, as every peer wants them."""
    y: Floats
    lambdas: Floats

    @property
    def alphas(self) -> Floats:
        """The lambdas of those who divide the loss by the number of samples."""
        return self.lambdas / len(self.X)

    def objectives(self, path: Floats) -> Floats:
        """Of one row of coefficients for each lambda."""
        residuals = self.y - path @ self.X.T
        return (residuals**2).sum(axis=1) / 2 + self.lambdas * np.abs(path).sum(axis=1)


Solve = Callable[[Problem, float], Floats]


@dataclass(frozen=True)
class Solver:
    """One way to the path, and the tolerances to try, from the loosest on."""

    package: str
    solve: Solve
    tolerances: tuple[float, ...]


def main() -> int:
    parser = command_parser(__doc__)
    add_datasets_option(parser, DATASETS)
    parser.add_argument("--repeats", type=int, default=5, help="take the best of this many runs")
    parser.add_argument("--output", type=Path, help=f"CSV to write (default for a whole run: {OUTPUT})")
    options = parser.parse_args()

    names = check_names(options.datasets)
    rows = [row for name in names for row in benchmark(problem(name), options.repeats)]
    print(table(rows))
    verdicts = {name: verdict([row for row in rows if row["dataset"] == name]) for name in names}
    for name, (passed, words) in verdicts.items():
        print(f"{name}: {words}: {'pass' if passed else 'FAIL'}")
    whole = set(names) >= set(DATASETS)
    write_csv(rows, options.output or (OUTPUT if whole else None))
    return 0 if all(passed for passed, _ in verdicts.values()) else 1


def problem(name: str) -> Problem:
    X, y = load(name)
    F = np.asfortranarray(design_matrix(X, True, memory_budget()))
    target = target_matrix(y, "label", True)[:, 0]
    largest = float(np.abs(F.T @ target).max())
    return Problem(name, F, target, largest * np.geomspace(1, SMALLEST, N_LAMBDAS))


def infused_path(problem: Problem, tol: float) -> Floats:
    """tol: largest violation of the optimality conditions, relative to lambda."""
    lasso = Lasso(lambda_scale="absolute", target="real", standardize=False, tol=tol)
    return lasso.regularization_path(problem.X, problem.y, lambda1=problem.lambdas).coef[:, 0]


def by_celer(problem: Problem, tol: float, max_iter: int = 20) -> Floats:
    """tol: duality gap, relative to the loss at zero."""
    found = celer_path(problem.X, problem.y, "lasso", alphas=problem.alphas, tol=tol, max_iter=max_iter)
    return np.asarray(found[1].T)


def by_skglm(problem: Problem, tol: float) -> Floats:
    """tol: largest violation of the optimality conditions, here relative to the smallest lambda."""
    solver = AndersonCD(tol=tol * problem.alphas[-1], fit_intercept=False, max_iter=200)
    return np.asarray(solver.path(problem.X, problem.y, Quadratic(), L1(1.0), alphas=problem.alphas)[1].T)


def by_sklearn(problem: Problem, tol: float) -> Floats:
    """tol: duality gap, relative to the loss at zero."""
    found = lasso_path(problem.X, problem.y, alphas=problem.alphas, tol=tol, max_iter=100_000)
    return np.asarray(found[1].T)


SOLVERS = {
    "infused": Solver("infused", infused_path, BY_VIOLATION),
    "celer": Solver("celer", by_celer, BY_GAP),
    "skglm": Solver("skglm", by_skglm, BY_VIOLATION),
    "scikit-learn": Solver("scikit-learn", by_sklearn, BY_GAP),
}


def benchmark(problem: Problem, repeats: int) -> list[Row]:
    """One row for each solver."""
    best = reference(problem)
    rows = [measure(problem, name, solver, best, repeats) for name, solver in SOLVERS.items()]
    return [{**row, "ratio": row["seconds"] / rows[0]["seconds"]} for row in rows]


def reference(problem: Problem) -> Floats:
    """The smallest objectives of two accurate runs of different solvers, which must agree."""
    log.info("%s: reference", problem.name)
    ours = problem.objectives(infused_path(problem, 1e-7))
    theirs = problem.objectives(by_celer(problem, 1e-10, max_iter=200))
    apart = float((np.abs(ours - theirs) / np.minimum(ours, theirs)).max())
    if apart > GAP / 10:
        raise RuntimeError(f"{problem.name}: infused and celer disagree about the optimum by {apart:.1e}")
    return np.minimum(ours, theirs)


def measure(problem: Problem, name: str, solver: Solver, best: Floats, repeats: int) -> Row:
    """The seconds at the loosest tolerance that is precise enough; where none is, at the tightest."""
    log.info("%s: %s", problem.name, name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of convergence: the gap will tell
        solver.solve(problem, solver.tolerances[0])  # loads and compiles
        for tol in solver.tolerances:
            seconds, path = timed(partial(solver.solve, problem, tol))
            gap = float(((problem.objectives(path) - best) / best).max())
            log.info("%s: %s: tol %g: gap %.0e in %.3f s", problem.name, name, tol, gap, seconds)
            if gap <= GAP:
                break
        runs = repeats if seconds < REPEATED_BELOW else 1
        seconds = min([seconds, *(timed(partial(solver.solve, problem, tol))[0] for _ in range(runs - 1))])
    return {
        "dataset": problem.name,
        "samples": problem.X.shape[0],
        "features": problem.X.shape[1],
        "solver": name,
        "seconds": seconds,
        "runs": runs,
        "tol": tol,
        "gap": gap,
        "reached": gap <= GAP,
        "features_at_the_end": int(np.count_nonzero(path[-1])),
        "threads": THREADS,
        "solver_version": version(solver.package),
        **versions(),
    }


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    start = perf_counter()
    result = call()
    return perf_counter() - start, result


def verdict(rows: list[Row]) -> tuple[bool, str]:
    """Whether infused is fast enough on one data set, and by how much."""
    by_name = {row["solver"]: row for row in rows}
    ours = by_name["infused"]
    if not ours["reached"]:
        return False, f"infused comes no closer than {ours['gap']:.1e}"
    rivals = [by_name[name] for name in RIVALS if by_name[name]["reached"]]
    if not rivals:
        return True, "neither celer nor skglm reaches the precision"
    fastest = min(rivals, key=lambda row: row["seconds"])
    times = ours["seconds"] / fastest["seconds"]
    words = f"infused takes {times:.2f} times as long as {fastest['solver']}, the faster of the two"
    return times <= MOST_TIMES_THE_FASTEST, words


def table(rows: list[Row]) -> str:
    header = ["data and solver", "M x N", "seconds", "/ infused", "largest gap", "tol", "features at the end"]
    return format_table(header, [_cells(row) for row in rows])


def _cells(row: Row) -> list[str]:
    mark = "" if row["reached"] else ">"
    return [
        f"{row['dataset']}: {row['solver']}",
        f"{row['samples']} x {row['features']}",
        f"{mark}{row['seconds']:.3f}",
        f"{mark}{row['ratio']:.2f}",
        f"{row['gap']:.0e}",
        f"{row['tol']:g}",
        str(row["features_at_the_end"]),
    ]


if __name__ == "__main__":
    run(main)
