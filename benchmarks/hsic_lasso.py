"""HSICLasso beside pyHSICLasso, its growth, its two rankings, and relations that are not linear.

python -m benchmarks.hsic_lasso peer|growth|rankings|relations [--data A,B] [--output FILE.csv]

peer: min_{b >= 0} 1/2 |L - sum_i b_i K_i|^2 + lambda sum_i b_i with Gaussian graphs, followed to the lambda
at which the code of pyHSICLasso has found 20 features: CPU seconds on one thread, and the objectives of both
on its stacked graphs. It holds samples^2 x features numbers, so samples are drawn until these fit into 0.2
GB; the second time of infused is that of all samples. The data are the paper's (INFUSED_DATA), two of
scikit-learn, NCI60 and Khan of the package ISLP, and four made ones with the sizes of public expression data
(ten common factors and noise; the class depends on two of the features). growth: CPU seconds and peak memory
for more features and more samples. rankings: accuracy of a linear SVM on the first k features by recursion
and by the order of entry, in three folds. relations: the share of the features that matter among as many
selected, on five tables each of six kinds.
"""

from __future__ import annotations

import csv
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from importlib.metadata import files
from io import StringIO
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, make_friedman1
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from benchmarks.command import command_parser, run
from benchmarks.datasets import NAMES, load
from benchmarks.memory import measure_in_child
from benchmarks.tables import Row, format_table, versions, write_csv
from infused import HSICLasso, make_selector

Array = NDArray[Any]

FOUND, LEAST, MOST_BYTES = 20, 0.01, 2e8
PEER_RUNS, OUR_RUNS = 2, 5
#: Samples and features of public data of gene expression, which are not bundled anywhere.
MADE = {
    "as Colon": (62, 2000),
    "as Prostate": (102, 6033),
    "as Lung": (203, 12_600),
    "as SMK-CAN-187": (187, 19_993),
}
PEER_SETS = (*NAMES, "breast cancer", "digits", "NCI60", "Khan", *MADE)
RANKED_SETS, KS, MOST_RANKED = ("Lymphoma", "Leukemia", "Isolet1", "YaleB", "RELATHE"), (5, 10, 20, 50), 1600
SHAPES = ((1000, 250), (1000, 500), (1000, 1000), (2000, 500), (4000, 500), (20_000, 500), (100_000, 500))
SEEDS = 5
METHODS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    *((f"hsic-lasso, {graph}", "hsic-lasso", {"graph": graph}) for graph in ("gaussian", "distance")),
    *((f"hsic-lasso, {graph}", "hsic-lasso", {"graph": graph}) for graph in ("kernel", "laplacian")),
    *((f"boosted-trees, {name}", "boosted-trees", {"importance": name}) for name in ("gain", "permutation")),
    *((id, id, {}) for id in ("jmi", "random-forest", "infused-lasso")),
)


def main() -> int:
    parser = command_parser(__doc__)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--data", type=lambda text: text.split(","), help="some of the sets of peer")
    options = parser.parse_args()
    rows: list[Row] = []
    with threadpool_limits(1):
        for row in peer(options.data) if options.part == "peer" else PARTS[options.part]():
            rows.append(row)
            print(*(f"{name} {value}" for name, value in row.items()), flush=True)
            if options.output:
                _write(rows, options.output, bool(options.data))
    print(format_table(list(rows[0]), [[str(value) for value in row.values()] for row in rows]))
    return 0


def _write(rows: Sequence[Row], path: Path, added: bool) -> None:
    """Write what was measured so far; of some data alone, the rest stays as it was measured."""
    rows = [{**row, **versions("hsic-lasso boosted-trees")} for row in rows]
    if added and path.exists():
        measured = {row["data"] for row in rows}
        with path.open(newline="") as file:
            rows = [*(row for row in csv.DictReader(file) if row["data"] not in measured), *rows]
    write_csv(rows, path)


def peer(names: Sequence[str] | None = None) -> Iterator[Row]:
    """Compare both on as many samples as the peer's graphs leave room for."""
    from pyHSICLasso.hsic_lasso import compute_kernel

    vars(np.linalg).setdefault("linalg", np.linalg)  # a name by which the peer handles copies of features
    for name in names or PEER_SETS:
        X, y = _data(name)
        n = min(len(X), int(np.sqrt(MOST_BYTES / 4 / X.shape[1])))
        few = np.random.default_rng(0).permutation(len(X))[:n]
        A, codes = X[few], np.unique(y[few], return_inverse=True)[1]
        A = A[:, A.std(axis=0) > 0]
        parts_s, (K, path, lambdas) = _least(PEER_RUNS, lambda A=A, codes=codes: _peer_parts(A, codes))
        whole_s = _least(1, lambda A=A, codes=codes: _peer(A, codes, B=0))[0]
        blocks_s = _least(1, lambda A=A, codes=codes: _peer(A, codes, B=20))[0]
        lambdas = lambdas[0, : path.shape[1]]
        last = int(np.flatnonzero(lambdas > LEAST * lambdas[0])[-1])  # it may go on below zero
        theirs, reached = path[:, last], float(lambdas[last])
        selector = HSICLasso(lambda1=1.0, ranking="path")
        selector.lambda1 = reached / selector.fit(A, codes).lambda_
        ours_s, ours = _least(OUR_RUNS, lambda A=A, codes=codes, to=selector: clone(to).fit(A, codes))
        all_s = _least(1, lambda X=X, y=y, to=selector: clone(to).fit(X, y))[0]
        L = compute_kernel(codes[None, :], "Delta", n, 1, 0)

        def objective(b: Array, K: Array = K, L: Array = L, reached: float = reached) -> float:
            return float(0.5 * ((L - K @ b) ** 2).sum() + reached * b.sum())

        yield {
            "data": f"{name} {n} x {A.shape[1]}",
            "pyHSICLasso s": round(whole_s, 2),
            "its parts s": round(parts_s, 2),
            "its blocks s": round(blocks_s, 2),
            "infused s": round(ours_s, 3),
            "times": round(whole_s / ours_s, 1),
            "times its parts": round(parts_s / ours_s, 1),
            "objective above": f"{objective(ours.graph_coef_) - objective(theirs):.0e}",
            "certificate": f"{ours.certificate_:.0e}",
            "all samples": f"{len(X)}: {all_s:.2f} s",
        }


def _peer_parts(A: Array, codes: Array) -> tuple[Array, Array, Array]:
    """Run the two functions of the peer that do the work, in single precision."""
    from pyHSICLasso.hsic_lasso import hsic_lasso
    from pyHSICLasso.nlars import nlars

    K, KL, _ = hsic_lasso(A.T.astype(np.float32), codes[None, :], "Delta", n_jobs=1, B=len(A))
    path, _, _, lambdas, *_ = nlars(K, KL, FOUND, 0)
    return K, path, lambdas


def _peer(A: Array, codes: Array, B: int) -> None:
    """Run the peer as its users do."""
    from pyHSICLasso import HSICLasso as Peer

    with redirect_stdout(StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        whole = Peer()
        whole.input(A, codes)
        whole.classification(FOUND, B=B, n_jobs=1)


def _least(runs: int, run: Callable[[], Any]) -> tuple[float, Any]:
    """Return the least CPU seconds of some runs, and what the last one returned."""
    seconds = []
    for _ in range(runs):
        start = process_time()
        found = run()
        seconds.append(process_time() - start)
    return min(seconds), found


def growth() -> Iterator[Row]:
    """Measure time and memory for more features and for more samples."""
    for n_samples, n_features in SHAPES:
        measured = measure_in_child(_made, _fit, n_samples, n_features)
        yield {
            "samples": n_samples,
            "features": n_features,
            "CPU s": round(measured.result, 2),
            "peak MiB": round(measured.peak_mib),
        }


def rankings() -> Iterator[Row]:
    """Evaluate the first features by recursion and by the order of entry."""
    for name in RANKED_SETS:
        X, y = _data(name)
        few = np.random.default_rng(0).permutation(len(X))[:MOST_RANKED]
        X, y = X[few], y[few]
        folds = list(StratifiedKFold(3, shuffle=True, random_state=0).split(X, y))
        for ranking in ("recursive", "path"):
            orders = [
                np.argsort(HSICLasso(KS[-1], ranking=ranking).fit(X[a], y[a]).ranking_) for a, _ in folds
            ]
            row: Row = {"data": name, "ranking": ranking}
            for k in KS:
                svm = make_pipeline(StandardScaler(), LinearSVC(C=0.1))
                scores = [
                    svm.fit(X[a][:, order[:k]], y[a]).score(X[b][:, order[:k]], y[b])
                    for (a, b), order in zip(folds, orders, strict=True)
                ]
                row[f"k = {k}"] = round(100 * float(np.mean(scores)), 1)
            yield row


def relations() -> Iterator[Row]:
    """Count the features that matter among as many selected."""
    for label, id, options in METHODS:
        row: Row = {"method": label}
        start = process_time()
        for seed in range(SEEDS):
            for name, X, y, k in _tables(seed):
                selector = make_selector(id, n_features_to_select=k, **options).fit(X, y)
                row[name] = row.get(name, 0.0) + float(selector.support_[:k].mean()) / SEEDS
        row = {key: round(value, 2) if isinstance(value, float) else value for key, value in row.items()}
        yield {**row, "CPU s a table": round((process_time() - start) / (SEEDS * 6), 2)}


PARTS = {"peer": peer, "growth": growth, "rankings": rankings, "relations": relations}


def _tables(seed: int) -> Iterator[tuple[str, Array, Array, int]]:
    """Make tables of which the first k features matter."""
    rng = np.random.default_rng(seed)
    X, noise = rng.normal(size=(400, 40)), 0.3 * rng.normal(size=400)
    yield "Friedman 1", *make_friedman1(400, 50, noise=1.0, random_state=seed), 5
    yield "radial", X, ((X[:, :3] ** 2).sum(axis=1) > 2.4).astype(int), 3
    yield "products", X, X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3] + noise, 4
    yield "U shapes", X, (X[:, :4] ** 2).sum(axis=1) + noise, 4
    yield "gates", X, ((X[:, 0] > 0) & (X[:, 1] > 0) | (X[:, 2] > 0.5) & (X[:, 3] > 0)).astype(int), 4
    yield "xor", X, ((X[:, 0] > 0) ^ (X[:, 1] > 0)).astype(int), 2


def _data(name: str) -> tuple[Array, Array]:
    bundled = {"breast cancer": load_breast_cancer, "digits": load_digits}
    if name in bundled:
        X, y = bundled[name](return_X_y=True)
    elif name in MADE:
        X, y = _expression(*MADE[name])
    else:
        X, y = _of_islp(name) if name in ("NCI60", "Khan") else load(name)
    return np.asarray(X, dtype=np.float64), np.asarray(y).ravel()


def _of_islp(name: str) -> tuple[Array, Array]:
    """Read expression data that the package ISLP brings, without importing it."""
    own = {file.name: file.locate() for file in files("ISLP") or ()}
    if name == "NCI60":
        return np.load(str(own["NCI60data.npy"])), np.loadtxt(str(own["NCI60labs.csv"]), str, skiprows=1)
    parts = ("Khan_xtrain.csv", "Khan_xtest.csv", "Khan_ytrain.csv", "Khan_ytest.csv")
    read = [np.genfromtxt(str(own[part]), delimiter=",", skip_header=1) for part in parts]
    return np.concatenate(read[:2]), np.concatenate(read[2:])


def _expression(n_samples: int, n_features: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_samples, 10)) @ rng.normal(size=(10, n_features))
    X += 3.0 * rng.normal(size=X.shape)
    return X, ((X[:, 0] ** 2 + X[:, 1] ** 2) > 2.0 * X.var()).astype(int)


def _timed(selector: HSICLasso, X: Array, y: Array) -> tuple[float, HSICLasso]:
    start = process_time()
    selector.fit(X, y)
    return process_time() - start, selector


def _made(n_samples: int, n_features: int) -> tuple[Array, Array]:
    """Make correlated features of which four matter, none of them linearly alone."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_samples, n_features))
    X[:, 1:] += 0.5 * X[:, :-1]
    return X, X[:, 3] ** 2 + np.sin(2 * X[:, 7]) + X[:, 11] * X[:, 15] + rng.normal(size=n_samples)


def _fit(X: Array, y: Array) -> float:
    with threadpool_limits(1):
        return _timed(HSICLasso(n_features_to_select=10), X, y)[0]


if __name__ == "__main__":
    run(main)
