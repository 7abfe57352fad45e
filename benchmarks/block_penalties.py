"""Kinds of features: do the chosen penalty factors find the informative block, and what are they worth?

python -m benchmarks.block_penalties [--draws N] [--rows FILE.csv] [--output FILE.csv]

Clinical features, RNA and proteins, of which one block, two blocks or all hold what the target depends on.
The lasso selects as many features as matter, with one penalty for all and with a factor for each block that
folds of the training samples choose. A ridge regression on the selected features is scored on new samples.
--rows keeps each answer: a run that was stopped goes on where it stopped.
"""

from __future__ import annotations

import logging
import warnings
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import Ridge
from threadpoolctl import threadpool_limits

from benchmarks.command import command_parser, run
from benchmarks.designs import autoregressive
from benchmarks.repeated_measures import appended, read_rows
from benchmarks.tables import Row, format_table, versions, write_csv
from infused import AutoSelector, Lasso

OUTPUT = Path("benchmarks/results/block_penalties.csv")
DRAWS, SAMPLES, NEW, SIZE = 20, 120, 2000, 0.45
BLOCKS = {"clinical": 8, "rna": 200, "protein": 40}
FIELDS = ("design", "draw", "method", "r2", "relevant", "selected", "least", "informative")
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Kinds:
    """How many features of each block the target depends on."""

    name: str
    relevant: dict[str, int]


DESIGNS = (
    Kinds("proteins", {"protein": 8}),
    Kinds("RNA", {"rna": 8}),
    Kinds("clinical and proteins", {"clinical": 4, "protein": 4}),
    Kinds("all, in proportion", {"clinical": 1, "rna": 6, "protein": 1}),
)


def draw(design: Kinds, seed: int) -> tuple[Any, Any, Any, Any, Any]:
    """Draw training samples and new ones, which features matter, and the block of each feature."""
    random = np.random.default_rng([seed, *design.name.encode()])
    n = SAMPLES + NEW
    X = np.hstack([autoregressive(0.4)(random, n, size) for size in BLOCKS.values()])
    labels = np.repeat(list(BLOCKS), list(BLOCKS.values()))
    b = np.zeros(X.shape[1])
    for block, number in design.relevant.items():
        places = random.choice(np.flatnonzero(labels == block), number, replace=False)
        b[places] = SIZE * random.choice([-1.0, 1.0], number)
    return X, X @ b + random.normal(size=n), b != 0, labels, sum(design.relevant.values())


def main() -> int:
    parser = command_parser(__doc__)
    parser.add_argument("--draws", type=int, default=DRAWS, help=f"of each design (default: {DRAWS})")
    parser.add_argument("--rows", type=Path, help="CSV of single answers, to go on with and to add to")
    parser.add_argument("--output", type=Path, default=OUTPUT, help="CSV to write (default: %(default)s)")
    options = parser.parse_args()
    rows = read_rows(options.rows)
    done = {(row["design"], int(row["draw"])) for row in rows}
    for number in range(options.draws):
        for design in DESIGNS:
            if (design.name, number) not in done:
                log.info("%s, draw %d", design.name, number + 1)
                new = measured(design, number)
                rows += new
                appended(options.rows, new)
    lines = summary(rows)
    print(format_table(list(lines[0]), [[str(value) for value in line.values()] for line in lines]))
    write_csv([{**line, **versions("lasso auto")} for line in lines], options.output)
    return 0


def measured(design: Kinds, number: int) -> list[Row]:
    X, y, relevant, labels, k = draw(design, number)
    train, new = slice(SAMPLES), slice(SAMPLES, None)
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        equal = Lasso(n_features_to_select=k).fit(X[train], y[train])
        chosen = AutoSelector(["lasso"], k, blocks=labels, random_state=0).fit(X[train], y[train])
    factors = chosen.block_factors_
    least = (
        "none" if len(set(factors.values())) == 1 else " and ".join(b for b, f in factors.items() if f == 1)
    )
    rows = []
    for method, selector, said in (("one penalty", equal, ""), ("chosen factors", chosen, least)):
        columns = selector.get_support(indices=True)
        score = Ridge().fit(X[train][:, columns], y[train]).score(X[new][:, columns], y[new])
        informative = float(np.mean([labels[j] in design.relevant for j in columns]))
        found = (round(score, 5), int(relevant[columns].sum()), k, said, informative)
        rows.append(dict(zip(FIELDS, (design.name, number, method, *found), strict=True)))
    return rows


def summary(rows: list[Row]) -> list[Row]:
    """Make one line of each design and method; the gain is that of chosen factors over one penalty."""
    lines = []
    for design in dict.fromkeys(row["design"] for row in rows):
        own = {
            method: [row for row in rows if (row["design"], row["method"]) == (design, method)]
            for method in ("one penalty", "chosen factors")
        }
        scores = {method: np.array([float(row["r2"]) for row in some]) for method, some in own.items()}
        gains = scores["chosen factors"] - scores["one penalty"]
        for method, some in own.items():
            n, chosen = len(some), method == "chosen factors"
            least = Counter(row["least"] for row in some).most_common(3)
            lines.append(
                {
                    "design": design,
                    "method": method,
                    "draws": n,
                    "r2": round(float(scores[method].mean()), 3),
                    "gain": round(float(gains.mean()), 3) if chosen else "",
                    "error": round(float(gains.std(ddof=1) / np.sqrt(n)), 3) if chosen and n > 1 else "",
                    "relevant found": round(sum(int(row["relevant"]) for row in some) / n, 2),
                    "of": some[0]["selected"],
                    "in informative blocks": round(
                        float(np.mean([float(r["informative"]) for r in some])), 3
                    ),
                    "least penalty": "; ".join(f"{name} {times}" for name, times in least) if chosen else "",
                }
            )
    return lines


if __name__ == "__main__":
    run(main)
