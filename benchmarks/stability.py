"""Stability selection beside boruta_py in one run: CPU seconds for "which of these genes are real?".

python -m benchmarks.stability [--pairs 50] [--output FILE.csv]

StabilitySelection around Lasso with 50 pairs of halves, and BorutaPy with its defaults (1,000 trees, up to
100 rounds) around scikit-learn's random forest, on Leukemia (72 samples, 7,129 genes). The run fails where
stability selection takes a tenth of boruta's CPU time or more.
"""

from __future__ import annotations

import logging
from pathlib import Path
from time import process_time
from typing import Any

from benchmarks.command import command_parser, run
from benchmarks.datasets import check_names, load
from benchmarks.tables import Row, format_table, versions, write_csv
from benchmarks.threads import THREADS
from infused import Lasso, StabilitySelection

OUTPUT = Path("benchmarks/results/stability.csv")
MOST = 0.1  # of boruta's CPU time
PER_HALF = 50
log = logging.getLogger(__name__)


def main() -> int:
    parser = command_parser(__doc__)
    parser.add_argument("--pairs", type=int, default=50, help="pairs of halves")
    parser.add_argument("--output", type=Path, default=OUTPUT, help="CSV to write (default: %(default)s)")
    options = parser.parse_args()

    check_names(["Leukemia"])
    X, y = load("Leukemia")
    StabilitySelection(Lasso(n_features_to_select=5), n_pairs=1, random_state=0).fit(X[:, :50], y)  # loads
    rows = [ours(X, y, options.pairs), boruta(X, y)]
    ratio = float(rows[0]["cpu_s"]) / float(rows[1]["cpu_s"])
    print(format_table(list(rows[0]), [[str(value) for value in row.values()] for row in rows]))
    print(f"StabilitySelection takes {ratio:.4f} of boruta's CPU time.")
    write_csv([{**row, "threads": THREADS, **versions("stability lasso")} for row in rows], options.output)
    return 0 if ratio < MOST else 1


def ours(X: Any, y: Any, n_pairs: int) -> Row:
    start = process_time()
    selector = StabilitySelection(Lasso(n_features_to_select=PER_HALF), n_pairs=n_pairs, random_state=0).fit(
        X, y
    )
    seconds = process_time() - start
    told = f"{selector.n_stable_} stable, at most {selector.expected_false_:.2f} expected by chance"
    return {
        "method": f"StabilitySelection(Lasso), {n_pairs} pairs",
        "cpu_s": round(seconds, 2),
        "found": told,
    }


def boruta(X: Any, y: Any) -> Row:
    from boruta import BorutaPy
    from sklearn.ensemble import RandomForestClassifier

    start = process_time()
    selector = BorutaPy(RandomForestClassifier(n_jobs=1, random_state=0), random_state=0).fit(X, y)
    seconds = process_time() - start
    told = f"{int(selector.support_.sum())} confirmed, {int(selector.support_weak_.sum())} tentative"
    return {"method": "boruta_py", "cpu_s": round(seconds, 2), "found": told}


if __name__ == "__main__":
    run(main)
