"""Methods on tables whose relation is not linear, and on real ones with added noise features.

python -m benchmarks.relations --rows FILE.jsonl [--part simulated|real] [--seeds 1] [--output FILE.csv]

Ten simulated tables of 300 samples and 40 features (Friedman's three, U shapes, products, gates, radial, xor,
parity of three, madelon) and nine real ones: those of scikit-learn and of the package ISLP, at most 400
samples, with as many noise features as it takes to have 40: one half Gaussian, the other permuted copies of
the own features. Each method selects k on a training part, k being the number of features that matter (at
most 10 of a real table); a linear model (ridge, logistic regression) and boosted trees with these are scored
on the test part by R2 or accuracy: of a simulated table 1,000 new samples, of a real one the other of two
halves, both ways. Recall is the share of the k that matter, or that are the table's own. "gain" and "SHAP"
are LightGBM's (importance, and its exact TreeSHAP values), "Boruta" is boruta_py on forests of 50 trees in 50
rounds, "RFE" scikit-learn's with forests of 50 trees, three features a step; "the features that matter" are
given them. CPU seconds are of one thread. --rows keeps each result as it comes: a run that was stopped goes
on where it stopped. About 5 CPU minutes a seed.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import files
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_wine,
    make_classification,
    make_friedman1,
    make_friedman2,
    make_friedman3,
)
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.feature_selection import RFE
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from benchmarks.command import command_parser, run
from benchmarks.tables import Row, markdown_table, versions, write_csv
from infused import make_selector

Array = NDArray[Any]
Table = tuple[str, Array, Array, int]

OUTPUT = Path("benchmarks/results/relations.csv")
N_TRAIN, N_TEST, N_FEATURES, MOST_REAL, MOST_K = 300, 1000, 40, 400, 10
OURS = ("infused-lasso", "lasso", "greedy-forward", "mrmr", "jmi", "mutual-info", "random-forest")
OURS = (*OURS, "hsic-lasso", "boosted-trees", "auto")
ISLP = {
    "Boston": "medv",
    "Carseats": "Sales",
    "Hitters": "Salary",
    "College": "Outstate",
    "OJ": "Purchase",
    "Auto": "mpg",
}
ALL = "the features that matter"


def main() -> int:
    parser = command_parser(__doc__)
    parser.add_argument("--rows", type=Path, required=True, help="file of single results, added to")
    parser.add_argument("--part", choices=("simulated", "real"), action="append")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--output", type=Path, default=OUTPUT, help="CSV to write (default: %(default)s)")
    options = parser.parse_args()
    parts = options.part or ["simulated", "real"]
    known = _rows(options.rows)
    done = {(row["table"], row["seed"], row["fold"], row["method"]) for row in known}
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        for part in parts:
            for seed in range(options.seeds):
                for table in (simulated if part == "simulated" else real)(seed):
                    for row in _evaluated(part, seed, table, done):
                        known.append(row)
                        with options.rows.open("a") as file:
                            file.write(json.dumps(row) + "\n")
    rows = [{**row, **versions(row["method"])} for row in _rows(options.rows)]
    write_csv(rows, options.output)
    for part in parts:
        print(f"\n{part}\n{summary(rows, part)}")
    return 0


def simulated(seed: int) -> Iterator[Table]:
    """Make training and test samples together; the first k features matter."""
    rng, n = np.random.default_rng(seed), N_TRAIN + N_TEST
    X, noise = rng.normal(size=(n, N_FEATURES)), 0.3 * rng.normal(size=n)
    yield "Friedman 1", *make_friedman1(n, N_FEATURES, noise=1.0, random_state=seed), 5
    for name, make, error in (("Friedman 2", make_friedman2, 100.0), ("Friedman 3", make_friedman3, 0.1)):
        F, y = make(n, noise=error, random_state=seed)
        yield name, np.hstack([F, X[:, 4:] * F.std() + F.mean()]), y, 4
    yield "U shapes", X, (X[:, :4] ** 2).sum(axis=1) + noise, 4
    yield "products", X, X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3] + noise, 4
    yield "gates", X, _and(X[:, 0], X[:, 1]) | _and(X[:, 2] - 0.5, X[:, 3]), 4
    yield "radial", X, ((X[:, :3] ** 2).sum(axis=1) > 2.4).astype(int), 3
    yield "xor", X, ((X[:, 0] > 0) ^ (X[:, 1] > 0)).astype(int), 2
    yield "parity of 3", X, ((X[:, :3] > 0).sum(axis=1) % 2), 3
    corners = {"n_informative": 5, "n_redundant": 0, "n_clusters_per_class": 4, "class_sep": 2.0}
    F, y = make_classification(n, N_FEATURES, **corners, shuffle=False, random_state=seed)
    order = rng.permutation(n)  # they come sorted by class
    yield "madelon", F[order], y[order], 5


def real(seed: int) -> Iterator[Table]:
    """Read the tables, and put noise behind their own features."""
    for name, load in (
        ("breast cancer", load_breast_cancer),
        ("diabetes", load_diabetes),
        ("wine", load_wine),
    ):
        yield _with_noise(name, *load(return_X_y=True), seed)
    data = {str(file.name): file.locate() for file in files("ISLP") or () if str(file).endswith(".csv")}
    for name, target in ISLP.items():
        table = pd.read_csv(data[f"{name}.csv"]).dropna().drop(columns=["name"], errors="ignore")
        y = table.pop(target)
        y = y.to_numpy(float) if pd.api.types.is_numeric_dtype(y) else pd.factorize(y, sort=True)[0]
        numbers = {
            column: values if pd.api.types.is_numeric_dtype(values) else pd.factorize(values, sort=True)[0]
            for column, values in table.items()
        }
        yield _with_noise(name, pd.DataFrame(numbers).to_numpy(float), y, seed)


def _with_noise(name: str, X: Array, y: Array, seed: int) -> Table:
    rng = np.random.default_rng(seed)
    few = rng.permutation(len(y))[:MOST_REAL]
    X, y = X[few], y[few]
    n_noise = max(N_FEATURES - X.shape[1], X.shape[1] // 2)
    copies = [rng.permutation(X[:, j % X.shape[1]]) for j in range(n_noise // 2)]
    gaussian = rng.normal(size=(len(y), n_noise - len(copies)))
    return name, np.column_stack([X, *copies, gaussian]), y, X.shape[1]


def _and(a: Array, b: Array) -> Array:
    return ((a > 0) & (b > 0)).astype(int)


def _evaluated(part: str, seed: int, table: Table, done: set[Any]) -> Iterator[Row]:
    name, X, y, n_own = table
    regression = y.dtype.kind == "f" and len(np.unique(y)) > 20
    k = n_own if part == "simulated" else min(MOST_K, n_own)
    places = np.random.default_rng(seed).permutation(X.shape[1])  # the first in order has no advantage
    X, own = X[:, places], places < n_own
    if part == "simulated":
        folds = [(np.arange(N_TRAIN), np.arange(N_TRAIN, len(y)))]
    else:
        folds = list(
            (KFold if regression else StratifiedKFold)(2, shuffle=True, random_state=seed).split(X, y)
        )
    for fold, (a, b) in enumerate(folds):
        for method, select in methods(regression).items():
            if (name, seed, fold, method) in done or (method == ALL and part == "real"):
                continue
            start = process_time()
            order = np.flatnonzero(own) if select is None else select(X[a], y[a], k)
            seconds = process_time() - start
            chosen = np.asarray(order)[:k]
            linear, trees = (
                model.fit(X[a][:, chosen], y[a]).score(X[b][:, chosen], y[b]) for model in models(regression)
            )
            found = {"recall": float(own[chosen].mean()), "linear": linear, "trees": trees, "cpu_s": seconds}
            yield {"part": part, "table": name, "seed": seed, "fold": fold, "k": k, "method": method, **found}


def models(regression: bool) -> tuple[Any, Any]:
    """Make the linear model and the boosted trees that score a selection."""
    linear = Ridge() if regression else LogisticRegression(max_iter=500)
    trees = HistGradientBoostingRegressor if regression else HistGradientBoostingClassifier
    return make_pipeline(StandardScaler(), linear), trees(max_iter=60, max_leaf_nodes=15, random_state=0)


def methods(regression: bool) -> dict[str, Callable[[Array, Array, int], Array] | None]:
    """List what selects: a function of samples and k that returns features, the best first."""
    forest = RandomForestRegressor if regression else RandomForestClassifier

    def ours(id: str) -> Callable[[Array, Array, int], Array]:
        given = {"target": "real"} if regression else {}  # whole numbers are classes by themselves
        return lambda X, y, k: np.argsort(
            make_selector(id, n_features_to_select=k, **given).fit(X, y).ranking_, kind="stable"
        )

    def gain(X: Array, y: Array, k: int) -> Array:
        return np.argsort(-_lightgbm(X, y, regression).feature_importance("gain"), kind="stable")

    def shap(X: Array, y: Array, k: int) -> Array:
        values = _lightgbm(X, y, regression).predict(X, pred_contrib=True)
        values = np.abs(values).reshape(len(X), -1, X.shape[1] + 1)[:, :, :-1]
        return np.argsort(-values.mean(axis=(0, 1)), kind="stable")

    def boruta(X: Array, y: Array, k: int) -> Array:
        from boruta import BorutaPy

        model = forest(50, max_depth=5, n_jobs=1, random_state=0)
        found = BorutaPy(model, n_estimators=50, max_iter=50, random_state=0).fit(X, y)
        # What is confirmed comes first; its order there is that of a forest on all features.
        importance = forest(200, random_state=0).fit(X, y).feature_importances_
        return np.lexsort((-importance, found.ranking_))

    def rfe(X: Array, y: Array, k: int) -> Array:
        return np.argsort(RFE(forest(50, random_state=0), n_features_to_select=k, step=3).fit(X, y).ranking_)

    peers = {"gain": gain, "SHAP": shap, "Boruta": boruta, "RFE": rfe}
    return {**{id: ours(id) for id in OURS}, **peers, ALL: None}


def _lightgbm(X: Array, y: Array, regression: bool) -> Any:
    import lightgbm

    kind = lightgbm.LGBMRegressor if regression else lightgbm.LGBMClassifier
    leaf = int(np.clip(len(y) // 20, 2, 20))
    return kind(min_child_samples=leaf, n_jobs=1, verbose=-1, random_state=0).fit(X, y).booster_


def _rows(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def summary(rows: Sequence[Row], part: str) -> str:
    """Average over tables: scores, recall and time of each method, and what auto is ahead of it."""
    found = pd.DataFrame([row for row in rows if row["part"] == part])
    found = found.astype(dict.fromkeys(("linear", "trees", "recall", "cpu_s"), float))
    found["score"] = found[["linear", "trees"]].max(axis=1)
    columns = ["linear", "trees", "score", "recall", "cpu_s"]
    by_table = found.groupby(["method", "table"])[columns].mean()
    means = by_table.groupby("method").mean().sort_values("score", ascending=False)
    cells = []
    for method, row in means.iterrows():
        ahead = 100 * (by_table.loc["auto"] - by_table.loc[method])["score"].dropna()
        error = ahead.std(ddof=1) / len(ahead) ** 0.5
        cells.append(
            [
                str(method),
                *(f"{100 * row[name]:.1f}" for name in ("linear", "trees", "score")),
                f"{row['recall']:.2f}",
                f"{row['cpu_s']:.2f}",
                "" if method == "auto" else f"{ahead.mean():+.1f} ± {error:.1f}",
            ]
        )
    header = ["method", "linear", "trees", "better of both", "recall", "CPU s", "auto minus it"]
    return markdown_table(header, cells)


if __name__ == "__main__":
    run(main)
