"""Do intervals hold the effects, and p-values their level? SelectionInference on data with known effects.

python -m benchmarks.intervals [--draws N] [--first N] [--rows FILE.csv] [--output FILE.csv]

Each design is drawn several times. Counted are, for 90% intervals, the share of effects that they hold (of
finite intervals), and for adjusted p-values at 0.1, the share of draws with a false positive and the share of
relevant features that are found. hidimstat's debiased lasso runs on the designs with a continuous target, and
knockoffs at a false discovery rate of 0.1 show what another promise finds. --rows keeps each answer.

Exit code 1 when SelectionInference holds fewer effects than promised, or has more false positives, by more
than two standard errors.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import t as t_distribution
from threadpoolctl import threadpool_limits

from benchmarks import designs
from benchmarks.command import command_parser, run
from benchmarks.repeated_measures import appended, read_rows
from benchmarks.tables import Row, format_table, versions, write_csv
from infused import KnockoffSelector, Lasso, SelectionInference
from infused.datafits import survival_records

OUTPUT = Path("benchmarks/results/intervals.csv")
DRAWS, DRAWS_OF_OTHERS, LEVEL = 50, 20, 0.1
FIELDS = (
    "design",
    "draw",
    "method",
    "held",
    "finite",
    "held_relevant",
    "finite_relevant",
    "false",
    "found",
    "relevant",
)
#: Designs of :mod:`benchmarks.designs` that are drawn as often as the new ones; the others are drawn less.
OFTEN = (
    "independent",
    "AR(1), 0.5",
    "AR(1), 0.8",
    "mixed table",
    "two classes",
    "5 signals",
    "15 signals",
    "12 signals, N > M",
    "3 signals of 12",
    "no signal, AR(1), 0.8",
)
OLD = {one.name: one for one in designs.DESIGNS}
log = logging.getLogger(__name__)


def drawn(name: str, seed: int) -> tuple[Any, Any, Any, dict[str, Any], Any]:
    """Draw features, target, effects, groups where there are any, and the selector for the target.

    Classes follow a normal variable, not a logistic one: their effects are known where they are zero.
    """
    design = OLD.get(name)
    if design is not None:
        found = designs.draw(design, seed)
        effects = np.where(found.effects == 0, 0.0, np.nan) if design.n_classes else found.effects
        return found.X, found.y, effects, {}, None
    random = np.random.default_rng([seed, *name.encode()])
    groups = np.repeat(np.arange(60), 5)
    X = designs.autoregressive(0.3)(random, 300, 40)
    b = np.zeros(40)
    b[random.choice(40, 4, replace=False)] = random.choice([-0.5, 0.5], 4)
    eta = X @ b
    noise = random.normal(size=300)
    if name == "counts":
        return X, random.poisson(np.exp(eta)).astype(float), b, {}, Lasso(loss="poisson")
    if name == "times and events":
        time, end = random.exponential(np.exp(-eta)), random.exponential(2.0, 300)
        return X, survival_records(np.minimum(time, end), time <= end, "time", "event"), b, {}, None
    if name == "groups with a level of their own":
        return X, eta + random.normal(size=60)[groups] + 0.7 * noise, b, {"sample_groups": groups}, None
    if name == "similar rows of a group":
        X = 0.9 * X[groups * 5] + np.sqrt(1 - 0.81) * X
        level = random.normal(size=60)[groups]
        return X, X @ b + level + 0.5 * noise, b, {"sample_groups": groups}, None
    if name == "heavy errors":
        return X, eta + random.standard_t(3, 300), b, {}, None
    return X, eta + noise * np.exp(X[:, 0] / 2), b, {}, None  # unequal errors


NEW = (
    "counts",
    "times and events",
    "groups with a level of their own",
    "similar rows of a group",
    "heavy errors",
    "unequal errors",
)


def ours(X: Any, y: Any, groups: dict[str, Any], selector: Any, seed: int) -> tuple[Any, Any]:
    found = SelectionInference(selector, random_state=seed).fit(X, y, **groups)
    return found.conf_int_, found.p_values_


def without_groups(X: Any, y: Any, groups: dict[str, Any], selector: Any, seed: int) -> tuple[Any, Any]:
    return ours(X, y, {}, selector, seed)


def debiased(X: Any, y: Any, groups: dict[str, Any], selector: Any, seed: int) -> tuple[Any, Any]:
    """Run hidimstat's debiased lasso; p-values after Bonferroni's correction."""
    from hidimstat import DesparsifiedLasso

    scale = X.std(axis=0)
    found = DesparsifiedLasso(confidence=1 - LEVEL, random_state=seed).fit((X - X.mean(axis=0)) / scale, y)
    found.importance()
    ends = np.column_stack([found.confidence_bound_min_, found.confidence_bound_max_]) / scale[:, None]
    return ends, np.minimum(found.pvalues_ * X.shape[1], 1.0)


def least_squares(X: Any, y: Any, groups: dict[str, Any], selector: Any, seed: int) -> tuple[Any, Any]:
    """Fit all features at once; p-values after Bonferroni's correction."""
    A = np.column_stack([X, np.ones(len(X))])
    inverse = np.linalg.pinv(A.T @ A, hermitian=True)
    b, degrees = inverse @ A.T @ y, len(A) - A.shape[1]
    errors = np.sqrt(np.diag(inverse) * ((y - A @ b) ** 2).sum() / degrees)[:-1]
    reach = t_distribution.isf(LEVEL / 2, degrees) * errors
    p = 2 * t_distribution.sf(np.abs(b[:-1]) / errors, degrees)
    return np.column_stack([b[:-1] - reach, b[:-1] + reach]), np.minimum(p * X.shape[1], 1.0)


def knockoffs(X: Any, y: Any, groups: dict[str, Any], selector: Any, seed: int) -> tuple[Any, Any]:
    """Select at a false discovery rate; there are no intervals."""
    chosen = KnockoffSelector(LEVEL, random_state=seed).fit(X, y, **groups).support_
    return np.full((X.shape[1], 2), np.nan), np.where(chosen, 0.0, 1.0)


METHODS: dict[str, Callable[..., tuple[Any, Any]]] = {
    "SelectionInference": ours,
    "without sample_groups": without_groups,
    "hidimstat, debiased lasso": debiased,
    "least squares, all features": least_squares,
    "knockoffs, fdr 0.1": knockoffs,
}


def takes(method: str, X: Any, y: Any, groups: dict[str, Any]) -> bool:
    """Return whether a method can run, and says something new."""
    if method == "least squares, all features" and 2 * X.shape[1] > len(X):
        return False
    continuous = y.dtype.kind == "f" and len(np.unique(y)) > 50
    if method == "without sample_groups":
        return bool(groups)
    return method == "SelectionInference" or (y.dtype.names is None and (continuous or method[0] == "k"))


def main() -> int:
    parser = command_parser(__doc__)
    draws = f"of each design, {DRAWS_OF_OTHERS} at most of some (default: {DRAWS})"
    parser.add_argument("--draws", type=int, default=DRAWS, help=draws)
    parser.add_argument("--first", type=int, default=0, help="the first draw, to divide a run (default: 0)")
    parser.add_argument("--rows", type=Path, help="CSV of single answers, to go on with and to add to")
    parser.add_argument("--output", type=Path, default=OUTPUT, help="CSV to write (default: %(default)s)")
    options = parser.parse_args()
    rows = read_rows(options.rows)
    done = {(row["design"], int(row["draw"])) for row in rows}
    others = [name for name in OLD if name not in OFTEN]
    cells = [(name, number) for number in range(options.first, options.draws) for name in (*OFTEN, *NEW)]
    cells += [
        (name, number)
        for number in range(options.first, min(options.draws, DRAWS_OF_OTHERS))
        for name in others
    ]
    for name, number in cells:
        if (name, number) not in done:
            log.info("%s, draw %d", name, number + 1)
            new = measured(name, number)
            rows += new
            appended(options.rows, new)
    lines = summary(rows)
    print(format_table(list(lines[0]), [[str(value) for value in line.values()] for line in lines]))
    write_csv([{**line, **versions("lasso knockoffs")} for line in lines], options.output)
    return int(any(line["kept"] == "no" and line["method"] == "SelectionInference" for line in lines))


def measured(name: str, number: int) -> list[Row]:
    X, y, effects, groups, selector = drawn(name, number)
    relevant, rows = effects != 0, []  # an unknown effect is none of zero
    for method, function in METHODS.items():
        if not takes(method, X, y, groups):
            continue
        with warnings.catch_warnings(), threadpool_limits(1):
            warnings.simplefilter("ignore")
            ends, p = function(X, y, groups, selector, number)
        finite = np.isfinite(ends).all(axis=1) & np.isfinite(effects)
        held = finite & (ends[:, 0] <= effects) & (effects <= ends[:, 1])
        values = (held.sum(), finite.sum(), (held & relevant).sum(), (finite & relevant).sum())
        counts = ((p[~relevant] <= LEVEL).any(), (p[relevant] <= LEVEL).sum(), relevant.sum())
        rows.append(dict(zip(FIELDS, (name, number, method, *map(int, (*values, *counts))), strict=True)))
    return rows


def summary(rows: list[Row]) -> list[Row]:
    """Make one line of each design and method."""
    lines = []
    for design, method in dict.fromkeys((row["design"], row["method"]) for row in rows):
        own = [row for row in rows if (row["design"], row["method"]) == (design, method)]
        total = {name: np.array([int(row[name]) for row in own]) for name in FIELDS[3:]}
        n, false = len(own), total["false"].mean()
        shares = total["held"] / np.maximum(total["finite"], 1)
        held = total["held"].sum() / max(total["finite"].sum(), 1)
        error = shares[total["finite"] > 0].std(ddof=1) / np.sqrt(n) if n > 1 else 0.0
        few = total["finite"].sum() == 0
        kept = (few or held + 2 * error >= 1 - LEVEL) and false <= LEVEL + 2 * np.sqrt(
            LEVEL * (1 - LEVEL) / n
        )
        own_held = total["held_relevant"].sum() / max(total["finite_relevant"].sum(), 1)
        promised = method != "knockoffs, fdr 0.1"  # which promise another rate
        lines.append(
            {
                "design": design,
                "method": method,
                "draws": n,
                "held": "" if few else round(float(held), 3),
                "held, relevant": ""
                if few or not total["finite_relevant"].sum()
                else round(float(own_held), 3),
                "finite": round(float(total["finite"].mean()), 1),
                "false positives": round(float(false), 3),
                "found": round(float(total["found"].sum() / total["relevant"].sum()), 3)
                if total["relevant"].sum()
                else "",
                "kept": ("yes" if kept else "no") if promised else "",
            }
        )
    return lines


if __name__ == "__main__":
    run(main)
