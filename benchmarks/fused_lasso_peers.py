"""The solvers of the fused lasso that are compared: infused, and each peer in its best ways.

A method is a list of ways, and a way a list of settings from the loosest to the tightest; the cheapest way
counts, at the loosest setting that reaches the gap.

* infused, and cvxpy's solvers, stop by their own tolerance. cvxpy is given the residual y - Xb as the formula
  reads and, as rows of their own and where features are not more than samples, X'X ("from X'X", its forming
  timed): a user who knows that the solvers then see a much smaller problem gains an order of magnitude.
* copt and pyproximal have no tolerance on the objective. Their iterations are counted in a run that looks at
  the objective after every fifth, and then that many are timed without looking: the best any rule could do.
  Their proximal gradients go through X'X where features are not more than samples, as those of infused do.

copt 0.9's `penalty.FusedLasso` is the total variation alone; its exact operator followed by that of
`penalty.L1Norm` is the operator of the sum. pyproximal has no exact operator for total variation (its `TV`
iterates), so beside accelerated gradients with that one there is its primal-dual method, whose operators are
all exact.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import copt
import copt.penalty
import cvxpy as cp
import numpy as np
import pylops
import pyproximal
from numpy.typing import NDArray
from scipy.sparse.linalg import svds

from infused.selectors.linear.model import SparseModel

Floats = NDArray[np.float64]
TIME_LIMIT = 120.0
MOST_ITERATIONS = 200_000  # pyproximal allocates room for all of them
LOOK_EVERY = 5
STEP_RATIOS = (1.0, 3.0, 10.0)  # primal to dual
TOLERANCES = (1e-1, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 1e-5, 1e-6)
SETTINGS: dict[str, list[dict[str, Any]]] = {
    "CLARABEL": [
        {"tol_gap_abs": tol, "tol_gap_rel": tol, "tol_feas": tol} for tol in (1e-5, 1e-6, 1e-7, 1e-8)
    ],
    "OSQP": [
        {"eps_abs": tol, "eps_rel": tol, "max_iter": 1_000_000, "time_limit": TIME_LIMIT}
        for tol in (1e-5, 1e-6, 1e-7, 1e-8, 1e-9)
    ],
    "SCS": [
        {"eps_abs": tol, "eps_rel": tol, "max_iters": 1_000_000, "time_limit_secs": TIME_LIMIT}
        for tol in (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)
    ],
}


@dataclass(frozen=True)
class Problem:
    """min_b 1/2 |y - Xb|^2 + lambda1 |b|_1 + lambda2 sum_i |b_{i+1} - b_i|."""

    name: str
    X: Floats
    y: Floats
    lambda1: float
    lambda2: float

    def objective(self, b: Floats) -> float:
        residual = self.y - self.X @ b
        penalty = self.lambda1 * np.abs(b).sum() + self.lambda2 * np.abs(np.diff(b)).sum()
        return float(residual @ residual / 2 + penalty)

    @property
    def tall(self) -> bool:
        """Whether features are not more than samples, so that X'X is the smaller matrix."""
        return self.X.shape[1] <= self.X.shape[0]


@dataclass(frozen=True)
class Run:
    """One run of one method with one setting."""

    b: Floats
    seconds: float
    """Everything from X and y to b."""
    solver_seconds: float | None = None
    """Of these, what cvxpy's solver reports for itself."""


Setting = tuple[str, Callable[[], Run]]
Way = Iterator[Setting]


def methods(problem: Problem, target: float) -> dict[str, list[Way]]:
    """Each method's ways to bring the objective to the target."""
    forms = {"": False} | ({" from X'X": True} if problem.tall else {})
    return {
        "infused auto": [infused_way(problem, "auto")],
        "infused split Bregman": [infused_way(problem, "split-bregman")],
        **{
            f"cvxpy {solver}{form}": [cvxpy_way(problem, solver, gram)]
            for form, gram in forms.items()
            for solver in SETTINGS
        },
        "copt": [
            counted_way(problem, target, copt_gradients, "step 1/L", "largest"),
            counted_way(problem, target, copt_gradients, "backtracking", "backtracking"),
        ],
        "pyproximal": [
            *(
                counted_way(problem, target, pyproximal_primal_dual, f"primal-dual, steps {ratio:g}", ratio)
                for ratio in STEP_RATIOS
            ),
            counted_way(problem, target, pyproximal_gradients, "FISTA, TV of 20 iterations", 20),
        ],
    }


def infused_way(problem: Problem, solver: str) -> Way:
    """The model that the estimator fits, with nothing structural in it."""

    def solve(tol: float) -> Run:
        start = perf_counter()
        model = SparseModel(
            X=problem.X,
            Y=problem.y[:, None],
            lambda1=problem.lambda1,
            lambda2=problem.lambda2,
            edges=None,
            solver=solver,
            max_iter=20_000,
            tol=tol,
        )
        fit = model.fit()
        return Run(fit.result.coef[:, 0], perf_counter() - start)

    for tol in TOLERANCES:
        yield f"tol={tol:g}", lambda tol=tol: solve(tol)


def cvxpy_way(problem: Problem, solver: str, gram: bool) -> Way:
    for setting in SETTINGS[solver]:
        tol = next(iter(setting.values()))
        yield f"tol={tol:g}", lambda setting=setting: solve_cvxpy(problem, solver, gram, setting)


def solve_cvxpy(problem: Problem, solver: str, gram: bool, setting: dict[str, Any]) -> Run:
    start = perf_counter()
    X, y = problem.X, problem.y
    b = cp.Variable(X.shape[1])
    if gram:
        smooth = cp.quad_form(b, cp.psd_wrap(X.T @ X)) / 2 - (X.T @ y) @ b
    else:
        smooth = cp.sum_squares(y - X @ b) / 2
    penalty = problem.lambda1 * cp.norm1(b) + problem.lambda2 * cp.norm1(cp.diff(b))
    whole = cp.Problem(cp.Minimize(smooth + penalty))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # "solution may be inaccurate": the gap will tell
        whole.solve(solver=solver, **setting)
    seconds = perf_counter() - start
    if b.value is None:
        raise RuntimeError(f"no solution: {whole.status}")
    stats = whole.solver_stats
    return Run(np.asarray(b.value), seconds, (stats.setup_time or 0.0) + stats.solve_time)


class _EnoughError(Exception):
    """The target, or the time limit, is reached."""


Look = Callable[[Floats], None] | None
Iterations = Callable[[Problem, Any, int, Look], Floats]


def counted_way(problem: Problem, target: float, iterate: Iterations, label: str, choice: Any) -> Way:
    """Count the iterations to the target, then time that many."""
    count = 0
    last = np.zeros(problem.X.shape[1])
    start = perf_counter()

    def look(b: Floats) -> None:
        nonlocal count, last
        count += 1
        if count % LOOK_EVERY:
            return
        last = b.copy()
        if problem.objective(b) <= target or perf_counter() - start > TIME_LIMIT:
            raise _EnoughError

    def timed() -> Run:
        start = perf_counter()
        b = iterate(problem, choice, count, None)
        return Run(b, perf_counter() - start)

    with suppress(_EnoughError):
        iterate(problem, choice, MOST_ITERATIONS, look)
    within = problem.objective(last) <= target
    stuck = Run(last, perf_counter() - start)
    yield f"{label}, {count} iterations", timed if within else lambda: stuck


def copt_gradients(problem: Problem, choice: str, n_iter: int, look: Look) -> Floats:
    """Accelerated proximal gradients, with steps of one over the largest curvature or by backtracking."""
    X, y = problem.X, problem.y
    correlation, H = X.T @ y, X.T @ X if problem.tall else None
    half_norm = y @ y / 2

    def value_and_gradient(b: Floats) -> tuple[float, Floats]:
        Hb = H @ b if H is not None else X.T @ (X @ b)
        return half_norm + b @ (Hb / 2 - correlation), Hb - correlation

    total_variation = copt.penalty.FusedLasso(problem.lambda2)
    l1 = copt.penalty.L1Norm(problem.lambda1)
    step: Any = choice
    if choice == "largest":
        largest_step = 1 / _largest_curvature(X, H)
        step = lambda _: largest_step  # noqa: E731 (copt calls it with its variables)
    started = False

    def after_iteration(variables: dict[str, Any]) -> None:
        nonlocal started
        if started and look is not None:
            look(variables["x"])
        started = True  # the first call comes before the first iteration

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # the iterations run out: they are meant to
        result = copt.minimize_proximal_gradient(
            value_and_gradient,
            np.zeros(X.shape[1]),
            prox=lambda b, size: l1.prox(total_variation.prox(b, size), size),
            jac=True,  # copt then remembers the last value and gradient
            tol=0.0,
            max_iter=n_iter - 1,
            callback=after_iteration if look is not None else None,
            step=step,
            accelerated=True,
        )
    return np.asarray(result.x)


def pyproximal_gradients(problem: Problem, inner: int, n_iter: int, look: Look) -> Floats:
    """FISTA; the operator of the penalty is pyproximal's iterative TV followed by its L1."""
    n = problem.X.shape[1]
    H = problem.X.T @ problem.X if problem.tall else None
    step = 1 / _largest_curvature(problem.X, H)
    if H is not None:
        smooth = pyproximal.Quadratic(Op=pylops.MatrixMult(H), b=-problem.X.T @ problem.y)
    else:
        smooth = pyproximal.L2(Op=pylops.MatrixMult(problem.X), b=problem.y)
    penalty = _TotalVariationThenL1(
        pyproximal.TV(dims=(n,), sigma=problem.lambda2, niter=inner, rtol=1e-12),
        pyproximal.L1(sigma=problem.lambda1),
    )
    return np.asarray(
        pyproximal.optimization.primal.ProximalGradient(
            smooth, penalty, np.zeros(n), tau=step, niter=n_iter, acceleration="fista", callback=look
        )
    )


class _TotalVariationThenL1(pyproximal.ProxOperator):
    """The operator of the sum is the one of total variation and then the one of l1."""

    def __init__(self, total_variation: Any, l1: Any):
        super().__init__(None, False)
        self.total_variation, self.l1 = total_variation, l1

    def __call__(self, x: Floats) -> float:
        return float(self.total_variation(x) + self.l1(x))

    def prox(self, x: Floats, tau: float, **_: Any) -> Floats:
        return np.asarray(self.l1.prox(self.total_variation.prox(x, tau), tau))


def pyproximal_primal_dual(problem: Problem, ratio: float, n_iter: int, look: Look) -> Floats:
    """Chambolle and Pock's method: f is the l1 norm, g the loss at Xb and the l1 norm of differences."""
    m, n = problem.X.shape
    differences = pylops.FirstDerivative(n, kind="forward")  # its last entry is zero
    A = pylops.VStack([pylops.MatrixMult(problem.X), differences])
    g = pyproximal.VStack([pyproximal.L2(b=problem.y), pyproximal.L1(sigma=problem.lambda2)], nn=[m, n])
    norm = np.sqrt(_largest_curvature(problem.X, None) + 4.0)
    return np.asarray(
        pyproximal.optimization.primaldual.PrimalDual(
            pyproximal.L1(sigma=problem.lambda1),
            g,
            A,
            np.zeros(n),
            tau=ratio / norm * 0.99,
            mu=1 / ratio / norm * 0.99,
            niter=n_iter,
            callback=look,
        )
    )


def _largest_curvature(X: Floats, H: Floats | None) -> float:
    """The largest eigenvalue of X'X, with a margin."""
    top = svds(X if H is None else H, k=1, return_singular_vectors=False, tol=1e-3, random_state=0)[0]
    return 1.01 * float(top) ** (2 if H is None else 1)
