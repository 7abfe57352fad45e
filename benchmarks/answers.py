"""What infused selects on ordinary tables, each with a check that a wrong treatment fails.

python -m benchmarks.answers --tables FOLDER

FOLDER holds the public tables (titanic.csv and the others of seaborn-data and the UCI repository); those that
are not there are left out. The others come with scikit-learn or are made by tests/made_tables.py.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import infused
from benchmarks.command import command_parser, run
from benchmarks.tables import versions, write_csv
from tests import made_tables

RESULTS = Path("benchmarks/results/answers.csv")
Check = Callable[[list[str]], bool]


@dataclass(frozen=True)
class Case:
    """A table, what is asked of it, and what its answer must respect."""

    name: str
    target: str | int
    words: str
    check: Check
    k: int = 5
    options: dict[str, Any] = field(default_factory=dict)
    table: Any = None

    @property
    def command(self) -> str:
        source = self.name if isinstance(self.table, str) else f"{self.name}.csv"
        target = "" if isinstance(self.table, str) else f" --target {self.target}"
        more = "".join(
            f" --no-{name}" if value is False else f" --{name.replace('_', '-')} {','.join(value)}"
            for name, value in self.options.items()
        )
        return f"infused select {source}{target} -k {self.k}{more}"


def whole(*columns: str) -> Check:
    """Variables, never a level of one."""
    return lambda found: not any("=" in name for name in found) and set(columns) <= set(found)


NO_HEADER = {"header": False}
CASES = [
    Case(
        "titanic",
        "survived",
        "`who` or `sex` whole; `class` and `pclass` not both",
        lambda f: whole()(f) and bool({"who", "sex"} & set(f)) and not {"class", "pclass"} <= set(f),
        options={"drop": ["alive"]},
    ),
    Case("penguins", "species", "`island` is one variable", whole("bill_length_mm", "island"), 4),
    Case("mpg", "mpg", "`name` is left out", lambda f: "name" not in f and "weight" in f, 4),
    Case("german", -1, "codes stay whole", whole("column_0", "column_1"), options=NO_HEADER),
    Case(
        "ionosphere",
        -1,
        "the constant column is not chosen",
        lambda f: "column_1" not in f,
        options=NO_HEADER,
    ),
    Case("sonar", -1, "a chain is found", lambda f: len(f) == 5, options=NO_HEADER),
    Case("tips", "tip", "`total_bill` first", lambda f: f[0] == "total_bill", 3),
    Case("auto_imports", -1, "`?` is a missing value", whole("column_16"), options=NO_HEADER),
    Case("planets", "mass", "rows without a mass are left out", lambda f: len(f) == 3, 3),
    Case(
        "housing", -1, "numbers alone", lambda f: set(f[:2]) == {"column_12", "column_5"}, options=NO_HEADER
    ),
    Case("housing_us", "medv", "`$24,000` is a number: as housing", lambda f: f[:2] == ["lstat", "rm"]),
    Case("housing_eu_thousands", "medv", "`24.000,00` is a number", lambda f: f[:2] == ["lstat", "rm"]),
    Case(
        "adult_4000",
        -1,
        "` ?` is a missing value, categories whole",
        whole("column_5", "column_6"),
        options=NO_HEADER,
    ),
    Case("diamonds_2697", "price", "`clarity` is one variable", whole("carat", "clarity")),
    *[
        Case(name, "", words, lambda f: len(f) == 5, table=name)
        for name, words in (
            ("wine", "no order, so no fusion"),
            ("breast-cancer", "no order, so no fusion"),
            ("diabetes", "a continuous target"),
            ("digits", "a grid is found"),
        )
    ],
    Case(
        "travellers",
        "survived",
        "no name, `level` once",
        lambda f: "name" not in f and "sex" in f and not {"level", "level name"} <= set(f),
        3,
        table=made_tables.travellers,
    ),
    Case(
        "rare_levels",
        "price",
        "one odd house is not a roof",
        lambda f: f[0] == "size" and "roof" not in f,
        2,
        table=made_tables.rare_levels,
    ),
    Case(
        "priced",
        "rent",
        "texts that are numbers",
        lambda f: set(f) == {"income", "share"},
        2,
        table=made_tables.priced,
    ),
    Case(
        "imbalanced",
        "spill",
        "4% positives",
        lambda f: set(f) == {"sensor 2", "sensor 7"},
        2,
        table=made_tables.imbalanced,
    ),
]


def main() -> int:
    parser = command_parser(__doc__)
    parser.add_argument("--tables", type=Path, default=Path("tables"), help="folder of the public tables")
    folder = parser.parse_args().tables
    rows, failed = [], 0
    for case in CASES:
        path = folder / f"{case.name}.csv"
        if case.table is None and not path.exists():
            print(f"{case.name}: not in {folder}")
            continue
        found = answer(case, path)
        holds = case.check(found)
        failed += not holds
        print(f"{case.name}: {', '.join(found)}{'' if holds else '  WRONG: ' + case.words}")
        rows.append(
            {"table": case.name, "command": case.command, "selects": ", ".join(found), "check": case.words}
        )
    write_csv([{**row, **versions("infused-lasso")} for row in rows], RESULTS)
    return int(failed > 0)


def answer(case: Case, path: Path) -> list[str]:
    """The names of the selected variables."""
    data = path if case.table is None else case.table if isinstance(case.table, str) else case.table()
    target = None if isinstance(case.table, str) else case.target
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return infused.select(data, target, k=case.k, **case.options).features


if __name__ == "__main__":
    run(main)
