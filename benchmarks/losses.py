"""Paths of losses beside glmnet, adelie, skglm and celer; the price of U; rare classes.

python -m benchmarks.losses paths|structure|rare [--problems "A;B"] [--solvers "A;B"] [--output FILE.csv]

paths: min_{b, c} f(Xb + c) + lambda |b|_1 for 100 lambdas, evenly in their logarithm, from where no feature
is needed to 0.01 of it; f is the negative log-likelihood of two classes, of counts, or Cox's partial one (no
ties, no c). Columns have mean zero and length one (those of sparse data keep their zeros: c takes the means).
Everybody starts each lambda where the last one ended, on one thread, and runs with a few tolerances, from the
loosest on, until no objective of the path is more than 1e-6 above the smallest that anybody finds with small
tolerances, relative to it. CPU seconds of the path alone. glmnet runs in R (Rscript must be there, with its
packages glmnet and survival). celer has no intercept: it solves its own problem without one, beside our
objectives of that problem. Exit code 1 where infused takes more than 1.5 times the fastest, or is behind two.

structure: InFusedLasso with each loss, with its U and without (lambda3=0), in CPU seconds on one thread.

rare: average precision of a logistic regression on the first 5, 10 and 20 features of Lasso and InFusedLasso
by the logistic and by the squared loss, in five folds, on data whose classes are far from equal.
"""

from __future__ import annotations

import logging
import subprocess
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_digits, make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from benchmarks.command import command_parser, run
from benchmarks.datasets import load
from benchmarks.tables import Row, format_table, versions, write_csv
from infused import InFusedLasso, Lasso
from infused.datafits import Cox, Datafit, Logistic, Poisson, survival_records

Floats = NDArray[np.float64]

GAP = 1e-6
N_LAMBDAS, SMALLEST = 100, 0.01
MOST_TIMES_THE_FASTEST = 1.5
TOO_LONG = 60.0  # seconds, after which no smaller tolerance is tried
REPEATED_BELOW, RUNS = 1.0, 3
TRUE = 20  # features that matter in made data
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Problem:
    """One path to solve."""

    name: str
    loss: str
    X: Any
    """Dense with columns that lie together, or sparse by columns."""
    y: Any
    """0 or 1, counts, or times and events."""
    lambdas: Floats

    @property
    def datafit(self) -> Datafit:
        """The loss as infused has it, which computes everybody's objectives."""
        if self.loss == "cox":
            return Cox(self.y["time"], self.y["event"])
        return Logistic(self.y) if self.loss == "logistic" else Poisson(self.y)

    def objectives(self, path: Path_) -> Floats:
        """Of coefficients and intercepts for each lambda, above what no predictions bring."""
        f, (coef, intercept) = self.datafit, path
        etas = self.X @ coef.T + intercept
        values = np.array([f.value(eta[:, None]) for eta in np.asarray(etas).T]) - f.smallest
        return values + self.lambdas * np.abs(coef).sum(axis=1)


Path_ = tuple[Floats, Floats]
Solve = Callable[[Problem, float], tuple[float, Path_]]


def main() -> int:
    parser = command_parser(__doc__)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--problems", help=f"some of {'; '.join(PROBLEMS)} (for paths)")
    parser.add_argument("--solvers", help=f"some of {'; '.join(SOLVERS)} (for paths), infused among them")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    rows: list[Row] = []
    for name in set(SOLVERS) - set((options.solvers or ";".join(SOLVERS)).split(";")):
        del SOLVERS[name]
    names = options.problems.split(";") if options.problems else list(PROBLEMS)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of convergence: the gap will tell
        for row in PARTS[options.part](names):
            rows.append(row)
            print(*(f"{name} {value}" for name, value in row.items()), flush=True)
    print(format_table(list(rows[0]), [[_short(value) for value in row.values()] for row in rows]))
    if options.output:
        measured = "lasso infused-lasso"
        write_csv([{**row, **versions(measured)} for row in rows], options.output)
    return 1 if options.part == "paths" and not all(_fast_enough(rows)) else 0


def _short(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


# Paths


def made(loss: str, n_features: int, n_samples: int) -> tuple[Floats, Any]:
    """Independent features of which the first matter, and a target of the loss."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_features, n_samples)).T
    eta = X[:, :TRUE] @ rng.choice([-0.5, 0.5], size=TRUE)
    if loss == "logistic":
        return X, (eta + rng.logistic(size=n_samples) > 0).astype(int)
    if loss == "poisson":
        return X, rng.poisson(np.exp(0.5 * eta))
    time, censored = rng.exponential(np.exp(-eta)), rng.exponential(2.0, size=n_samples)
    return X, survival_records(np.minimum(time, censored), time <= censored)


def classes_of(name: str) -> tuple[Any, Any]:
    """One of the paper's data sets of two classes; text as CSR."""
    X, y = load(name)
    codes = np.unique(y, return_inverse=True)[1]
    return (sp.csr_array(X, dtype=np.float64) if name == "RELATHE" else X.astype(np.float64)), codes


#: Loss, and what makes the data; sizes are features x samples.
PROBLEMS: dict[str, tuple[str, Callable[[], tuple[Any, Any]]]] = {
    "RELATHE (CSR)": ("logistic", partial(classes_of, "RELATHE")),
    "Leukemia": ("logistic", partial(classes_of, "Leukemia")),
    "20,000 x 500": ("logistic", partial(made, "logistic", 20_000, 500)),
    "100,000 x 500": ("logistic", partial(made, "logistic", 100_000, 500)),
    "Cox 20,000 x 200": ("cox", partial(made, "cox", 20_000, 200)),
    "Poisson 20,000 x 1,000": ("poisson", partial(made, "poisson", 20_000, 1000)),
}


def problem(name: str) -> Problem:
    loss, make = PROBLEMS[name]
    X, y = make()
    X, y = (X.tocsc() if sp.issparse(X) else X), y
    mean = np.asarray(X.mean(axis=0)).ravel()
    if sp.issparse(X):
        lengths = np.sqrt(np.asarray(X.power(2).sum(axis=0)).ravel() - X.shape[0] * mean**2)
        X = X[:, lengths > 1e-9]
        X = sp.csc_array(X @ sp.diags_array(1 / lengths[lengths > 1e-9]))
    else:
        X = X - mean
        lengths = np.linalg.norm(X, axis=0)
        X = np.asfortranarray(X[:, lengths > 1e-9] / lengths[lengths > 1e-9])
    null = np.zeros(X.shape[0])
    if loss != "cox":
        null += np.log(y.mean() / (1 - y.mean()) if loss == "logistic" else y.mean())
    one = Problem(name, loss, X, y, np.ones(1))
    largest = float(np.abs(X.T @ one.datafit.gradient(null[:, None])[:, 0]).max())
    return Problem(name, loss, X, y, largest * np.geomspace(1, SMALLEST, N_LAMBDAS))


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    start = process_time()
    result = call()
    return process_time() - start, result


def by_infused(problem: Problem, tol: float) -> tuple[float, Path_]:
    """tol: largest violation of the optimality conditions, relative to lambda."""
    lasso = Lasso(lambda_scale="absolute", loss=problem.loss, tol=tol, n_jobs=1)
    solve = partial(lasso.regularization_path, problem.X, problem.y, lambda1=problem.lambdas)
    seconds, path = timed(solve)
    return seconds, (path.data_coef[:, 0], path.intercept[:, 0])


def by_glmnet(problem: Problem, tol: float) -> tuple[float, Path_]:
    """tol: change of the objective by a pass, relative to that without features."""
    n, p = problem.X.shape
    with tempfile.TemporaryDirectory() as folder:
        inside = Path(folder)
        if sp.issparse(problem.X):
            problem.X.indices.astype(np.int32).tofile(inside / "i")
            problem.X.indptr.astype(np.int32).tofile(inside / "p")
            problem.X.data.tofile(inside / "X")
        else:
            problem.X.ravel(order="F").tofile(inside / "X")
        cox = problem.loss == "cox"
        y = np.concatenate([problem.y["time"], problem.y["event"]]) if cox else problem.y
        np.asarray(y, np.float64).tofile(inside / "y")
        (problem.lambdas / n).tofile(inside / "lambda")
        kind = "sparse" if sp.issparse(problem.X) else "dense"
        family = "binomial" if problem.loss == "logistic" else problem.loss
        command = ["Rscript", "-e", GLMNET, folder, str(n), str(p), family, kind, repr(tol)]
        out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        read = {name: np.fromfile(inside / f"b.{name}", np.int32) for name in "ip"}
        values, intercept = np.fromfile(inside / "b.x"), np.fromfile(inside / "b.0")
    coef = sp.csc_array((values, read["i"], read["p"]), shape=(p, len(read["p"]) - 1)).toarray().T
    missing = N_LAMBDAS - len(coef)  # it stops where it does not converge
    coef = np.vstack([coef, np.zeros((missing, p))])
    intercept = np.zeros(N_LAMBDAS) if cox else np.concatenate([intercept, np.zeros(missing)])
    return float(out.split()[-1]), (coef, intercept)


GLMNET = """
suppressMessages({library(glmnet); library(survival)})
a <- commandArgs(TRUE); n <- as.integer(a[2]); p <- as.integer(a[3])
get <- function(name, what, size) {
  path <- file.path(a[1], name); readBin(path, what, file.size(path) / size)
}
v <- get("X", "double", 8)
X <- if (a[5] == "dense") matrix(v, n, p) else
  sparseMatrix(i = get("i", "integer", 4), p = get("p", "integer", 4), x = v, dims = c(n, p), index1 = FALSE)
rm(v); y <- get("y", "double", 8)
if (a[4] == "cox") y <- Surv(y[1:n], y[(n + 1):(2 * n)])
glmnet.control(fdev = 0, devmax = 1)
lambda <- get("lambda", "double", 8)
took <- system.time(
  fit <- suppressWarnings(glmnet(X, y, family = a[4], lambda = lambda, standardize = FALSE,
    thresh = as.numeric(a[6]), maxit = 1e8)))
B <- as(fit$beta, "CsparseMatrix")
writeBin(B@i, file.path(a[1], "b.i")); writeBin(B@p, file.path(a[1], "b.p"))
writeBin(B@x, file.path(a[1], "b.x"))
writeBin(if (is.null(fit$a0)) numeric(0) else as.numeric(fit$a0), file.path(a[1], "b.0"))
cat(took[["user.self"]] + took[["sys.self"]])
"""


def by_adelie(problem: Problem, tol: float) -> tuple[float, Path_]:
    """tol: of both of its loops."""
    import adelie

    y = problem.y
    if problem.loss == "cox":
        event = y["event"].astype(np.float64)
        glm = adelie.glm.cox(np.full(len(y), -1.0), y["time"], event, tie_method="breslow")
    else:
        make = adelie.glm.binomial if problem.loss == "logistic" else adelie.glm.poisson
        glm = make(y.astype(np.float64))
    if sp.issparse(problem.X):
        X = adelie.matrix.sparse(sp.csc_matrix(problem.X), n_threads=1)
    else:
        X = adelie.matrix.dense(problem.X, n_threads=1)
    solve = partial(
        adelie.grpnet,
        X,
        glm,
        lmda_path=problem.lambdas / len(y),
        early_exit=False,
        progress_bar=False,
        n_threads=1,
        tol=tol,
        irls_tol=tol,
        intercept=problem.loss != "cox",
    )
    seconds, found = timed(solve)
    coef, intercept = np.asarray(found.betas.toarray()), np.asarray(found.intercepts)
    missing = N_LAMBDAS - len(coef)
    coef = np.vstack([coef, np.zeros((missing, coef.shape[1]))])
    return seconds, (coef, np.concatenate([intercept, np.zeros(missing)]))


def by_skglm(problem: Problem, tol: float) -> tuple[float, Path_]:
    """tol: largest violation of the optimality conditions, relative to the smallest lambda.

    By ProxNewton; its AndersonCD takes a hundred times as long where there is an intercept.
    """
    from skglm import datafits
    from skglm.penalties import L1
    from skglm.solvers import ProxNewton
    from skglm.utils.jit_compilation import compiled_clone

    n, p = problem.X.shape
    alphas, has_intercept = problem.lambdas / n, problem.loss != "cox"
    y = problem.y * 2.0 - 1 if problem.loss == "logistic" else problem.y
    if problem.loss == "cox":
        y = np.column_stack([problem.y["time"], problem.y["event"].astype(np.float64)])
    y = np.asarray(y, np.float64)
    f = compiled_clone(getattr(datafits, problem.loss.capitalize())())
    X = sp.csc_matrix(problem.X) if sp.issparse(problem.X) else problem.X
    solver = ProxNewton(tol=tol * alphas[-1], fit_intercept=has_intercept, max_iter=100)
    penalty = compiled_clone(L1(1.0))

    def path() -> Path_:
        w, Xw, found = np.zeros(p + has_intercept), np.zeros(n), []
        for alpha in alphas:
            penalty.alpha = alpha
            w = solver.solve(X, y, f, penalty, w, Xw, run_checks=False)[0]
            Xw = np.asarray(X @ w[:p]) + (w[p] if has_intercept else 0.0)
            found.append(w.copy())
        table = np.array(found)
        return table[:, :p], table[:, p] if has_intercept else np.zeros(len(table))

    return timed(path)


def by_celer(problem: Problem, tol: float) -> tuple[float, Path_]:
    """tol: duality gap, relative to the loss at zero."""
    from celer import celer_path

    y, alphas = problem.y * 2.0 - 1, problem.lambdas / problem.X.shape[0]
    X = sp.csc_matrix(problem.X) if sp.issparse(problem.X) else problem.X
    solve = partial(celer_path, X, y, "logreg", alphas=alphas, tol=tol, max_iter=100)
    seconds, found = timed(solve)
    return seconds, (np.asarray(found[1].T), np.zeros(len(alphas)))


BY_VIOLATION = (1e-2, 5e-3, 3e-3, 1e-3, 3e-4, 1e-4)
BY_CHANGE = (1e-7, 1e-8, 1e-9, 1e-10, 1e-12)
BY_GAP = (1e-5, 1e-6, 1e-7, 1e-8)
CLOSEST_GAP = 1e-9  # of what has no other reference


@dataclass(frozen=True)
class Solver:
    """One way to the path, and the tolerances to try, from the loosest on."""

    package: str
    solve: Solve
    tolerances: tuple[float, ...]
    losses: tuple[str, ...] = ("logistic", "cox", "poisson")


SOLVERS = {
    "infused": Solver("infused", by_infused, BY_VIOLATION),
    "glmnet": Solver("glmnet", by_glmnet, BY_CHANGE),
    "adelie": Solver("adelie", by_adelie, BY_CHANGE),
    "skglm": Solver("skglm", by_skglm, BY_VIOLATION),
    "celer, no intercept": Solver("celer", by_celer, BY_GAP, ("logistic",)),
}


def paths(names: list[str]) -> Iterator[Row]:
    """One row for each problem and solver."""
    for name in names:
        one = problem(name)
        log.info("%s: reference", name)
        best = one.objectives(by_infused(one, 1e-5)[1])
        found = {own: measure(one, own, s, best) for own, s in SOLVERS.items() if one.loss in s.losses}
        for own, (seconds, tol, gap, used) in found.items():
            yield {
                "problem": name,
                "loss": one.loss,
                "solver": own,
                "CPU s": round(seconds, 3),
                "times infused": round(seconds / found["infused"][0], 2),
                "gap": float(f"{gap:.1e}"),
                "reached": gap <= GAP,
                "tol": tol,
                "features at the end": used,
                "version": _version(SOLVERS[own].package),
            }


def measure(problem: Problem, name: str, solver: Solver, best: Floats) -> tuple[float, float, float, int]:
    """The seconds at the loosest tolerance that is precise enough; where none is, at the last one tried."""
    few = Problem(problem.name, problem.loss, problem.X, problem.y, problem.lambdas[:3])
    if solver.package != "glmnet":
        solver.solve(few, solver.tolerances[0])  # loads and compiles
    if "no intercept" in name:
        best = problem.objectives(solver.solve(problem, CLOSEST_GAP)[1])
    for tol in solver.tolerances:
        seconds, path = solver.solve(problem, tol)
        values = problem.objectives(path)
        gap = float(((values - best) / best).max())
        log.info("%s: %s: tol %g: gap %.1e in %.3f s", problem.name, name, tol, gap, seconds)
        if gap <= GAP or seconds > TOO_LONG:
            break
    runs = RUNS - 1 if seconds < REPEATED_BELOW else 0
    seconds = min([seconds, *(solver.solve(problem, tol)[0] for _ in range(runs))])
    return seconds, tol, gap, int(np.count_nonzero(path[0][-1]))


def _version(package: str) -> str:
    if package != "glmnet":
        return version(package)
    command = ["Rscript", "-e", 'cat(as.character(packageVersion("glmnet")))']
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def _fast_enough(rows: list[Row]) -> Iterator[bool]:
    """For each problem, whether infused is ahead of all but one, and not far behind that one."""
    for name in dict.fromkeys(row["problem"] for row in rows):
        mine = [row for row in rows if row["problem"] == name and row["reached"]]
        packages: dict[str, float] = {}
        for row in mine:
            package = SOLVERS[row["solver"]].package
            packages[package] = min(row["CPU s"], packages.get(package, np.inf))
        ours = packages.pop("infused", np.inf)
        ahead = sum(ours > other for other in packages.values())
        fine = ours <= MOST_TIMES_THE_FASTEST * min(packages.values()) and ahead <= 1
        times = ours / min(packages.values())
        print(f"{name}: {times:.2f} times the fastest peer: {'pass' if fine else 'FAIL'}")
        yield fine


# The price of U, and rare classes


STRUCTURE = (("100 x 2,000", 100, 2000), ("1,000 x 300", 1000, 300))


def structure(_: list[str]) -> Iterator[Row]:
    """InFusedLasso with each loss, with U and without it."""
    for size, n_samples, n_features in STRUCTURE:
        rng = np.random.default_rng(0)
        X = rng.standard_normal((n_samples, n_features))
        for loss in ("squared", "logistic", "multinomial", "poisson", "huber", "cox"):
            y = _target(loss, X, rng)
            spent = []
            for lambda3 in (0.01, 0.0):
                selector = InFusedLasso(
                    loss="logistic" if loss == "multinomial" else loss,
                    lambda3=lambda3,
                    fusion="none",
                    n_features_to_select=20,
                    n_jobs=1,
                )
                selector.fit(X[:, :30], y)  # loads and compiles
                runs = [timed(partial(selector.fit, X, y))[0] for _ in range(RUNS)]
                spent.append(min(runs))
            yield {
                "samples x features": size,
                "loss": loss,
                "with U": round(spent[0], 3),
                "without": round(spent[1], 3),
                "ratio": round(spent[0] / spent[1], 2),
            }


def _target(loss: str, X: Floats, rng: np.random.Generator) -> Any:
    eta = X[:, :TRUE] @ np.resize([0.5, -0.5], TRUE)
    if loss in ("squared", "huber"):
        return eta + rng.standard_t(3, size=len(X))
    if loss == "poisson":
        return rng.poisson(np.exp(0.5 * eta))
    if loss == "cox":
        return survival_records(rng.exponential(np.exp(-eta)), rng.random(len(X)) < 0.6)
    return np.digitize(eta + rng.logistic(size=len(X)), [0] if loss == "logistic" else [-1, 1])


KS = (5, 10, 20)


def rare_sets() -> Iterator[tuple[str, Any, Any]]:
    """Name, X, and 1 for the rare class."""
    yield ("digits, 8 against the rest", *_against_rest(*load_digits(return_X_y=True), 8))
    X, y = load("Isolet1")
    yield ("Isolet1, B against the rest", *_against_rest(X.astype(np.float64), y, 2))
    X, y = load_breast_cancer(return_X_y=True)
    kept = np.concatenate([np.flatnonzero(y == 1), np.flatnonzero(y == 0)[:20]])
    yield ("breast cancer, 20 malignant", *_against_rest(X[kept], y[kept], 0))
    X, y = make_classification(
        2000, 100, n_informative=10, n_redundant=10, weights=[0.97], flip_y=0.01, random_state=0
    )
    yield "made, 3%", X, y


def _against_rest(X: Any, y: Any, which: int) -> tuple[Any, Any]:
    return X, (y == which).astype(int)


def rare(_: list[str]) -> Iterator[Row]:
    """Average precision by the features of both losses."""
    for name, X, y in rare_sets():
        folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))
        for make in (Lasso, InFusedLasso):
            for loss in ("logistic", "squared"):
                reached = np.zeros((len(folds), len(KS)))
                for n, (train, test) in enumerate(folds):
                    scale = StandardScaler().fit(X[train])
                    F, G = scale.transform(X[train]), scale.transform(X[test])
                    ranking = (
                        make(loss=loss, n_features_to_select=max(KS), n_jobs=1).fit(F, y[train]).ranking_
                    )
                    for place, k in enumerate(KS):
                        chosen = ranking <= k
                        model = LogisticRegression(max_iter=1000).fit(F[:, chosen], y[train])
                        scores = model.decision_function(G[:, chosen])
                        reached[n, place] = average_precision_score(y[test], scores)
                yield {
                    "data": name,
                    "samples": len(y),
                    "features": X.shape[1],
                    "rare": f"{y.mean():.1%}",
                    "method": make.__name__,
                    "loss": loss,
                    **{f"k = {k}": round(float(reached[:, place].mean()), 3) for place, k in enumerate(KS)},
                    "standard error": round(float((reached.std(axis=0, ddof=1) / np.sqrt(5)).mean()), 3),
                }


PARTS: dict[str, Callable[[list[str]], Iterator[Row]]] = {
    "paths": paths,
    "structure": structure,
    "rare": rare,
}

if __name__ == "__main__":
    run(main)
