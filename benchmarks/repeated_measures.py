"""Samples that belong together: are promises kept with sample_groups, and how far are they broken without?

python -m benchmarks.repeated_measures [--draws N] [--first N] [--rows FILE.csv] [--output FILE.csv]

Six designs of several rows for each group, with effects between groups and within them. Stability selection,
permuted copies and knockoffs select from the same draws with and without the groups, and the accuracy or R²
of the automatic number and of `infused.compare` is set beside what new groups give. --rows names a file that
keeps each answer as it comes: a run that was stopped goes on where it stopped.

Exit code 1 when, with the groups, a promise is broken by more than two standard errors.
"""

from __future__ import annotations

import csv
import logging
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.command import command_parser, run
from benchmarks.tables import Row, format_table, versions, write_csv
from infused import AutoSelector, KnockoffSelector, Lasso, StabilitySelection, compare, shadow_test
from infused.selectors.choose.evaluators import Scoring, scaled
from infused.selectors.choose.number import FAST

OUTPUT = Path("benchmarks/results/repeated_measures.csv")
DRAWS, CHOSEN, COMPARED = 50, 10, 5  # draws of each design; the slower measures take the first of them
LEVEL, FDR = 0.05, 0.2
FIELDS = ("design", "draw", "groups", "measure", "value", "bound")
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Repeated:
    """How groups and their rows are drawn; features of variance one."""

    name: str
    n_groups: int
    n_rows: tuple[int, int]
    """Fewest and most rows of a group."""
    share: float
    """Of the variance of features that is between groups."""
    n_features: int = 60
    constant: int = 0
    """Features that are constant within groups, the first ones."""
    between: int = 0
    """Features of which the group means matter, from the first."""
    within: int = 0
    """Features of which the deviations within groups matter, from the last."""
    group_effect: float = 0.0
    """Standard deviation of the target between groups that no feature explains."""
    classes: bool = False
    """Whether the target is a class of each group."""


DESIGNS = (
    Repeated("noise, a class of each group", 24, (12, 12), 0.9, classes=True),
    Repeated("noise, a number of each row", 24, (5, 20), 0.5, group_effect=1.0),
    Repeated("effects between groups", 40, (5, 12), 0.9, between=5, group_effect=0.5),
    Repeated("effects within groups", 24, (5, 20), 0.5, within=6, group_effect=1.0),
    Repeated("effects between and within", 30, (8, 8), 0.5, between=3, within=4, group_effect=0.7),
    Repeated("half of the features constant", 30, (5, 20), 0.3, constant=30, within=5, group_effect=1.0),
)


@dataclass(frozen=True)
class Table:
    """Rows in groups, and which features matter."""

    X: Any
    y: Any
    groups: Any
    relevant: Any


def draw(design: Repeated, seed: int, n_groups: int | None = None) -> Table:
    """Draw a table; other groups of the same design have the same effects."""
    random = np.random.default_rng([seed, *design.name.encode()])
    G, p = n_groups or design.n_groups, design.n_features
    low, high = design.n_rows
    groups = np.repeat(np.arange(G), random.integers(low, high + 1, G))
    share = np.where(np.arange(p) < design.constant, 1.0, design.share)
    means = np.sqrt(share) * random.normal(size=(G, p))
    left = np.sqrt(1 - share) * random.normal(size=(len(groups), p))
    b, w = np.arange(design.between), p - 1 - np.arange(design.within)
    eta = design.group_effect * random.normal(size=G)
    y = (eta + 0.6 * means[:, b].sum(axis=1))[groups]
    if design.classes:
        y = random.permutation(np.arange(G) % 2)[groups]
    else:
        y = y + 0.6 * left[:, w].sum(axis=1) + 0.7 * random.normal(size=len(groups))
    relevant = np.zeros(p, dtype=bool)
    relevant[np.concatenate([b, w])] = True
    return Table(means[groups] + left, y, groups, relevant)


def stability(table: Table, groups: dict[str, Any], new: Table) -> list[tuple[str, float, float]]:
    """Count the false among the stable, beside the bound on their expected number."""
    found = StabilitySelection(Lasso(n_features_to_select=8), n_pairs=25, random_state=0)
    found.fit(table.X, table.y, **groups)
    false = float((found.support_ & ~table.relevant).sum())
    return [
        ("stable and false", false, found.expected_false_),
        ("stable and true", float((found.support_ & table.relevant).sum()), np.nan),
    ]


def shadows(table: Table, groups: dict[str, Any], new: Table) -> list[tuple[str, float, float]]:
    """Tell whether a false feature has an adjusted p-value of 0.05 or less."""
    selector = Lasso(n_features_to_select=8).fit(table.X, table.y)
    test = shadow_test(selector, table.X, table.y, n_repeats=19, random_state=0, **groups)
    surprising = test.features[test.p_values <= LEVEL]
    return [
        ("a false p <= 0.05", float((~table.relevant[surprising]).any()), LEVEL),
        ("true with p <= 0.05", float(table.relevant[surprising].sum()), np.nan),
    ]


def knockoffs(table: Table, groups: dict[str, Any], new: Table) -> list[tuple[str, float, float]]:
    """Compute the share of false discoveries."""
    found = KnockoffSelector(fdr=FDR, random_state=0).fit(table.X, table.y, **groups).support_
    false = (found & ~table.relevant).sum() / max(found.sum(), 1)
    true = float((found & table.relevant).sum())
    return [("false discoveries", float(false), FDR), ("true discoveries", true, np.nan)]


def automatic(table: Table, groups: dict[str, Any], new: Table) -> list[tuple[str, float, float]]:
    """Set the score of the chosen number beside the score of these features on new groups."""
    auto = AutoSelector(["lasso"], random_state=0).fit(table.X, table.y, **groups)
    curve = auto.number_curve_
    reached = _on_new(table, new, auto.get_support(indices=True), curve.scoring)
    return [("optimism of -k auto", curve.means[curve.ks.index(curve.chosen)] - reached, np.nan)]


def compared(table: Table, groups: dict[str, Any], new: Table) -> list[tuple[str, float, float]]:
    """Set the score of the lasso in a comparison beside the score of its features on new groups."""
    found = compare((table.X, table.y), methods=["lasso"], k=[5], folds=5, **groups)
    methods = found.standings.methods
    reported = float(methods.loc[methods["label"] == "lasso", "mean"].iloc[0])
    features = Lasso(n_features_to_select=5).fit(table.X, table.y).get_support(indices=True)
    reached = _on_new(table, new, features, found.standings.metric)
    return [("optimism of compare", reported - reached, np.nan)]


def _on_new(table: Table, new: Table, features: Any, scoring: str) -> float:
    kind: Any = "classes" if len(np.unique(table.y)) == 2 else "real"
    train, test = scaled(table.X[:, features], new.X[:, features])
    return Scoring(scoring).of(FAST[kind].model(0, {}).fit(train, table.y), test, new.y)


MEASURES: tuple[Callable[[Table, dict[str, Any], Table], list[tuple[str, float, float]]], ...] = (
    stability,
    shadows,
    knockoffs,
    automatic,
    compared,
)


def main() -> int:
    parser = command_parser(__doc__)
    parser.add_argument("--draws", type=int, default=DRAWS, help=f"of each design (default: {DRAWS})")
    parser.add_argument("--first", type=int, default=0, help="the first draw, to divide a run (default: 0)")
    parser.add_argument("--rows", type=Path, help="CSV of single answers, to go on with and to add to")
    parser.add_argument("--output", type=Path, default=OUTPUT, help="CSV to write (default: %(default)s)")
    options = parser.parse_args()
    rows = read_rows(options.rows)
    done = {(row["design"], int(row["draw"])) for row in rows}
    for number in range(options.first, options.draws):
        for design in DESIGNS:
            if (design.name, number) not in done:
                log.info("%s, draw %d", design.name, number + 1)
                new = _measured(design, number)
                rows += new
                appended(options.rows, new)
    lines = summary(rows)
    shown = [[str(value) for value in line.values()] for line in lines]
    print(format_table(list(lines[0]), shown))
    named = versions("stability knockoffs lasso auto")
    write_csv([{**line, **named} for line in lines], options.output)
    broken = [line for line in lines if line["kept"] == "no" and line["groups"] == "with"]
    return int(bool(broken))


def _measured(design: Repeated, number: int) -> list[Row]:
    table, new = draw(design, number), draw(design, 1000 + number, 200)
    rows = []
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        for measure in MEASURES:
            if number >= {automatic: CHOSEN, compared: COMPARED}.get(measure, number + 1):
                continue
            for groups in ("with", "without"):
                given = {"sample_groups": table.groups} if groups == "with" else {}
                for name, value, bound in measure(table, given, new):
                    values = (design.name, number, groups, name, value, bound)
                    rows.append(dict(zip(FIELDS, values, strict=True)))
    return rows


def summary(rows: list[Row]) -> list[Row]:
    """Make one line of each design and measure, with and without the groups."""
    lines = []
    keys = dict.fromkeys((row["design"], row["measure"], row["groups"]) for row in rows)
    for design, measure, groups in keys:
        own = [r for r in rows if (r["design"], r["measure"], r["groups"]) == (design, measure, groups)]
        values = np.array([float(row["value"]) for row in own])
        bounds = np.array([float(row["bound"]) for row in own])
        mean, bound, error = values.mean(), bounds.mean(), 0.0
        if len(values) > 1:
            error = (values - np.nan_to_num(bounds)).std(ddof=1) / np.sqrt(len(values))
        kept = "" if np.isnan(bound) else "yes" if mean <= bound + 2 * error else "no"
        figures = {"mean": round(mean, 4), "error": round(error, 4), "bound": round(bound, 4), "kept": kept}
        lines.append({"design": design, "measure": measure, "groups": groups, "draws": len(own), **figures})
    return lines


def read_rows(path: Path | None) -> list[Row]:
    """Read the answers of an earlier run; none where there is no file."""
    if path is None or not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def appended(path: Path | None, rows: list[Row]) -> None:
    """Add answers to a file."""
    if path is None:
        return
    fresh = not path.exists()
    with path.open("a", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        if fresh:
            writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    run(main)
