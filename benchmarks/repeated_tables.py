"""Real tables with several rows of a patient, an animal or a person: does the hint come, and does it matter?

python -m benchmarks.repeated_tables [--output FILE.csv]

The tables come with statsmodels and linearmodels (PyPI). Seizures of patients in four periods: the target is
the treatment, which was drawn by lot. Weights of pigs in twelve weeks: the dose of vitamin E, by lot too.
Wages of men in eight years: their years of schooling. Each target is the same in all rows of a group, so that
a model can recognise the group. Exit code 1 where a table is read without the hint.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

import infused
from benchmarks.command import command_parser, run
from benchmarks.tables import Row, format_table, versions, write_csv
from infused.data import load_data
from infused.record.sentences import measure, score_number

OUTPUT = Path("benchmarks/results/repeated_tables.csv")
PAIRS, MOST_ROWS = 25, 1200


@dataclass(frozen=True)
class Repeated:
    """A table of a package, its target, and what its rows belong to."""

    name: str
    package: str
    file: str
    target: str
    groups: str
    drop: tuple[str, ...] = ()

    def read(self) -> Any:
        """Read the first rows, so many that no group is cut."""
        import pandas as pd

        table = pd.read_csv(str(files(self.package).joinpath(self.file))).drop(columns=list(self.drop))
        few = table[self.groups].isin(table[self.groups].iloc[:MOST_ROWS].unique())
        return table[few]


TABLES = (
    Repeated("epil", "statsmodels", "genmod/tests/results/epil.csv", "trt", "subject", ("Unnamed: 0",)),
    Repeated("dietox", "statsmodels", "regression/tests/results/dietox.csv", "Evit", "Pig"),
    Repeated("wage_panel", "linearmodels", "datasets/wage_panel/wage_panel.csv.bz2", "educ", "nr"),
)


def main() -> int:
    parser = command_parser(__doc__)
    parser.add_argument("--output", type=Path, default=OUTPUT, help="CSV to write (default: %(default)s)")
    options = parser.parse_args()
    lines = [line for one in TABLES for line in measured(one)]
    print(format_table(list(lines[0]), [[str(value) for value in line.values()] for line in lines]))
    write_csv([{**line, **versions("lasso stability")} for line in lines], options.output)
    return int(any(line["hint"] != line["column"] for line in lines))


def measured(one: Repeated) -> list[Row]:
    """Select without the option and with it, each with the number of features that folds choose."""
    table = one.read()
    hints = load_data(table, target=one.target).hints
    hint = one.groups if any(f"look related: {one.groups!r}" in words for words in hints) else ""
    lines = []
    for groups in ("without", "with"):
        given = {"sample_groups": one.groups} if groups == "with" else {"drop": one.groups}
        with warnings.catch_warnings(), threadpool_limits(1):
            warnings.simplefilter("ignore")
            found = infused.select(
                table, one.target, k="auto", method="lasso", stability=PAIRS, n_jobs=1, **given
            )
        curve, stability = found.record.number, found.record.stability
        assert curve is not None
        at = curve.ks.index(curve.chosen)
        lines.append(
            {
                "table": f"{one.name} ({one.package})",
                "rows": len(table),
                "groups": table[one.groups].nunique(),
                "target": one.target,
                "column": one.groups,
                "hint": hint,
                "sample_groups": groups,
                "metric": measure(curve.scoring).words,
                "score": score_number(curve.means[at], curve.scoring),
                "error": score_number(curve.errors[at], curve.scoring),
                "chance": score_number(curve.chance, curve.scoring),
                "features": curve.chosen,
                "stable": "" if stability is None else stability.n_stable,
            }
        )
    return lines


if __name__ == "__main__":
    run(main)
