"""Times and events: what is found, false discoveries, stability, and filters by residuals, on made data.

python -m benchmarks.survival [--parts found,knockoffs,stability] [--draws 20] [--output FILE.csv]

Features are autoregressive (correlation 0.5 of neighbours); ten of them, spread out, change the logarithm of
the hazard by 0.5 each, up or down. Survival is exponential, and censoring is exponential at the rate that
leaves the share of events that is wanted: 20%, 50% or 80% are censored. One shape has more samples than
features (300 x 60), one fewer (150 x 400).

found: the share of the ten among the first ten of a ranking: Lasso and InFusedLasso by Cox's loss (recursive
elimination), GreedyForward, the score test of each feature (`anova`), Cox's regression of each feature by its
likelihood ratio, skglm's Cox lasso (features in the order in which they enter its path), and three scores of
the martingale residuals of a model without features: their F test, and mutual information and MRMR with the
residuals cut into bins as `mutual-info` does with a continuous target.

knockoffs: the mean share of false ones among the discoveries at q = 0.1 and 0.2, its standard error, and the
share of the ten found. stability: how many false ones StabilitySelection's stable set has, beside its bound.
Exit code 1 where a promise is broken: a rate more than two standard errors above q, or a mean number of false
ones above the bound.
"""

from __future__ import annotations

import csv
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from threadpoolctl import threadpool_limits

from benchmarks.command import command_parser, run
from benchmarks.tables import Row, format_table, versions, write_csv
from infused import KnockoffSelector, StabilitySelection, make_selector
from infused.datafits import Cox, martingale_residuals, survival_records
from infused.selectors.control.knockoffs import discoveries

Floats = NDArray[np.float64]
Array = NDArray[Any]

SHAPES, CENSORED = ((300, 60), (150, 400)), (0.2, 0.5, 0.8)
TRUE, EFFECT, CORRELATION = 10, 0.5, 0.5
RATES = (0.1, 0.2)
PARTS = ("found", "knockoffs", "stability")
N_PAIRS = 25
OUTPUT = Path("benchmarks/results/survival.csv")


def main() -> int:
    parser = command_parser(__doc__)
    parser.add_argument("--draws", type=int, default=20, help="data sets of each design")
    parser.add_argument("--parts", default=",".join(PARTS), help="others stay as they are in the output")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    options = parser.parse_args()
    rows, parts = list[Row](), options.parts.split(",")
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for shape in SHAPES:
            for censored in CENSORED:
                for row in measured(shape, censored, options.draws, parts):
                    rows.append(row)
                    print(*row.values(), flush=True)
    print(format_table(list(rows[0]), [[str(value) for value in row.values()] for row in rows]))
    measure = versions("lasso infused-lasso greedy-forward anova mutual-info mrmr knockoffs stability")
    made_now = [{**row, **measure} for row in rows]
    if options.output.exists():
        with options.output.open(newline="", encoding="utf-8") as file:
            made_now += [row for row in csv.DictReader(file) if row["part"] not in parts]
    write_csv(sorted(made_now, key=lambda row: PARTS.index(row["part"])), options.output)
    return int(any(row["broken"] for row in rows))


def measured(shape: tuple[int, int], censored: float, n_draws: int, parts: Sequence[str]) -> Iterator[Row]:
    """Rows of one design."""
    found: dict[tuple[str, str], list[tuple[float, float]]] = {}
    spent: dict[tuple[str, str], float] = {}
    for draw in range(n_draws):
        X, y, true = made(*shape, censored, draw)
        for part, method, figures, seconds in everything(X, y, true, draw, parts):
            found.setdefault((part, method), []).append(figures)
            spent[part, method] = spent.get((part, method), 0.0) + seconds
    for (part, method), figures in found.items():
        share, false = np.array(figures).T
        row = {
            "samples": shape[0],
            "features": shape[1],
            "censored": censored,
            "part": part,
            "method": method,
            "found": round(float(share.mean()), 3),
            "false": round(float(false.mean()), 3),
            "error": round(float(false.std(ddof=1) / np.sqrt(len(false))), 3),
            "CPU s": round(spent[part, method] / n_draws, 3),
            "draws": n_draws,
        }
        promise = float(method.split()[-1]) if part in ("knockoffs", "stability") else np.inf
        yield {**row, "broken": bool(row["false"] > promise + 2 * row["error"])}


def made(n_samples: int, n_features: int, censored: float, seed: int) -> tuple[Floats, Array, Array]:
    """Features, times and events, and which features matter."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_samples, n_features))
    for j in range(1, n_features):
        X[:, j] = CORRELATION * X[:, j - 1] + np.sqrt(1 - CORRELATION**2) * X[:, j]
    true = np.linspace(0, n_features - 1, TRUE).astype(int)
    hazard = np.exp(X[:, true] @ (EFFECT * rng.choice([-1.0, 1.0], size=TRUE)))

    def excess(rate: float) -> float:
        """Of exponential times, the censored one is the first with probability rate / (rate + hazard)."""
        return float((np.exp(rate) / (np.exp(rate) + hazard)).mean()) - censored

    time = rng.exponential(1 / hazard)
    until = rng.exponential(np.exp(-brentq(excess, -20, 20)), size=n_samples)
    return X, survival_records(np.minimum(time, until), time <= until), true


Outcome = tuple[str, str, tuple[float, float], float]


def everything(X: Floats, y: Array, true: Array, seed: int, parts: Sequence[str]) -> Iterator[Outcome]:
    """Part, method, the shares that are found and false, and CPU seconds."""
    if "found" in parts:
        for name, order in orders(X, y):
            start = process_time()
            first = order()[:TRUE]
            share = float(np.isin(first, true).mean())
            yield "found", name, (share, 1 - share), process_time() - start
    if "knockoffs" in parts:
        yield from by_knockoffs(X, y, true, seed)
    if "stability" in parts:
        yield by_stability(X, y, true, seed)


def by_knockoffs(X: Floats, y: Array, true: Array, seed: int) -> Iterator[Outcome]:
    """Discoveries at each rate."""
    start = process_time()
    fitted = KnockoffSelector(RATES[0], n_copies=2, random_state=seed).fit(X, y)
    spent = process_time() - start
    tested = np.setdiff1d(fitted.representatives_, [-1])
    for q in RATES:
        chosen = tested[discoveries(fitted.statistics_[:, tested], q, fitted.n_copies_).selected]
        if len(tested) < X.shape[1]:  # clusters: a discovery is false where none of its features matters
            owners = np.unique(fitted.representatives_[true])
            share, false = np.isin(owners, chosen).mean(), (~np.isin(chosen, owners)).sum()
        else:
            share, false = np.isin(true, chosen).mean(), (~np.isin(chosen, true)).sum()
        yield "knockoffs", f"q = {q}", (float(share), float(false) / max(len(chosen), 1)), spent


def by_stability(X: Floats, y: Array, true: Array, seed: int) -> Outcome:
    """The stable set, and how many of it are false."""
    start = process_time()
    stable = StabilitySelection("lasso", n_pairs=N_PAIRS, max_false=1.0, random_state=seed).fit(X, y)
    support = stable.get_support(indices=True)
    figures = float(np.isin(true, support).mean()), float((~np.isin(support, true)).sum())
    return "stability", "expected false at most 1", figures, process_time() - start


def orders(X: Floats, y: Array) -> Iterator[tuple[str, Any]]:
    """Each method, and what gives its order of the features."""
    residuals = martingale_residuals(y)

    def by(id: str, target: Array = y, **options: Any) -> Any:
        return lambda: np.argsort(
            make_selector(id, n_features_to_select=TRUE, **options).fit(X, target).ranking_
        )

    yield "Lasso", by("lasso")
    yield "InFusedLasso, not fused", by("infused-lasso", fusion="none")
    yield "GreedyForward", by("greedy-forward")
    yield "score test (anova)", by("anova")
    yield "Cox, one feature", lambda: np.argsort(-univariate(X, y), kind="stable")
    yield "skglm Cox path", lambda: skglm_order(X, y)
    yield "F test of residuals", by("anova", residuals)
    yield "mutual-info of residuals", by("mutual-info", residuals)
    yield "mrmr of residuals", by("mrmr", residuals)


def univariate(X: Floats, y: Array) -> Floats:
    """The likelihood ratio of each feature alone, by Newton's method."""
    f = Cox(y["time"], y["event"])
    null = f.value(np.zeros((len(X), 1)))
    gains = np.empty(X.shape[1])
    for j in range(X.shape[1]):
        column, b = X[:, [j]] - X[:, j].mean(), 0.0
        for _ in range(20):
            eta = column * b
            step = float((column.T @ f.gradient(eta))[0, 0] / f.curvature(eta).gram(column)[0, 0])
            b -= step
            if abs(step) < 1e-8:
                break
        gains[j] = null - f.value(column * b)
    return gains


def skglm_order(X: Floats, y: Array) -> Array:
    """Features in the order in which they enter the path of skglm's Cox lasso."""
    from skglm.datafits import Cox as CoxOfSkglm
    from skglm.penalties import L1
    from skglm.solvers import ProxNewton
    from skglm.utils.jit_compilation import compiled_clone

    F = np.asfortranarray((X - X.mean(axis=0)) / X.std(axis=0))
    target = np.column_stack([y["time"], y["event"].astype(np.float64)])
    f, penalty = compiled_clone(CoxOfSkglm()), compiled_clone(L1(1.0))
    f.initialize(F, target)
    slope = np.abs(F.T @ f.raw_grad(target, np.zeros(len(F))))
    solver, w, Xw = (
        ProxNewton(tol=1e-5, fit_intercept=False, max_iter=50),
        np.zeros(F.shape[1]),
        np.zeros(len(F)),
    )
    order = list[int]()
    for alpha in slope.max() * np.geomspace(0.99, 0.05, 40):
        penalty.alpha = alpha
        w = solver.solve(F, target, f, penalty, w, Xw, run_checks=False)[0]
        Xw = F @ w
        new = [j for j in np.argsort(-np.abs(w)) if w[j] != 0 and j not in order]
        order += [int(j) for j in new]
        if len(order) >= TRUE:
            break
    return np.array(order)


if __name__ == "__main__":
    run(main)
