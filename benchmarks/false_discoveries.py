"""Are the promises kept? False discoveries and power on data of which the truth is known.

python -m benchmarks.false_discoveries [--designs A,B] [--methods A,B] [--draws N] [--rows FILE.csv]
                                       [--output FILE.csv] [--into FILE.csv]

Every design is drawn 50 times, and every method selects from the same draws on one thread; twenty draws of
copies from the first 20 of them, stability selection too, and boruta_py, which takes most of
a minute, from the first two. --rows names a file that keeps each answer as it comes: a run that was stopped
goes on where it stopped. The last step makes one line for each design, method and rate. --into replaces the
lines of these designs and methods in the CSV of an earlier run, as more draws of one method do.

Exit code 1 when a promise is broken: a mean false discovery proportion of KnockoffSelector above q by more
than two standard errors; more than the bound of StabilitySelection allows, again by two standard errors; or,
where nothing is to be found, a share of draws in which KnockoffSelector finds something above q by more than
two standard errors.
"""

from __future__ import annotations

import csv
import logging
import warnings
from collections.abc import Iterator
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.command import command_parser, run
from benchmarks.designs import DESIGNS, Design, Drawn, draw
from benchmarks.discovery_methods import METHODS, RATES
from benchmarks.tables import Row, format_table, versions, write_csv

OUTPUT = Path("benchmarks/results/false_discoveries.csv")
DRAWS = 50
#: A method that is slow runs on fewer draws.
FEWER = {"one copy, e-values": 20, "stability": 20, "boruta_py": 2}
#: Designs of methods that do not run on all.
ONLY = {
    # It makes no clusters: what it would test is another question.
    "knockpy": tuple(design.name for design in DESIGNS if design.cluster == 1),
    "one copy, e-values": ("AR(1), 0.5", "target of cubes", "two classes", "15 signals"),
    "one copy, equicorrelated": ("AR(1), 0.5", "AR(1), 0.8", "blocks of 5, 0.7", "blocks of 5, 0.9"),
}
OURS = "knockoffs"
FIELDS = ("design", "method", "draw", "q", "selected", "false", "found", "bound", "seconds")
log = logging.getLogger(__name__)


def main() -> int:
    parser = command_parser(__doc__)
    parser.add_argument("--designs", type=lambda text: text.split(";"), metavar="A;B", help="some designs")
    parser.add_argument("--methods", type=lambda text: text.split(";"), metavar="A;B", help="some methods")
    parser.add_argument("--draws", type=int, default=DRAWS, help=f"of each design (default: {DRAWS})")
    parser.add_argument("--rows", type=Path, help="CSV of single answers, to go on with and to add to")
    parser.add_argument("--output", type=Path, help=f"CSV to write (default for a whole run: {OUTPUT})")
    parser.add_argument("--into", type=Path, help="CSV of an earlier run, of which these lines are replaced")
    options = parser.parse_args()

    designs = [one for one in DESIGNS if options.designs is None or one.name in options.designs]
    methods = [name for name in METHODS if options.methods is None or name in options.methods]
    wanted = [
        (design, method, number)
        for design in designs
        for method in methods
        if design.name in ONLY.get(method, [design.name])
        for number in range(min(options.draws, FEWER.get(method, options.draws)))
    ]
    answers = list(all_answers(wanted, options.rows))
    rows = [{**row, **versions(row["method"])} for row in summaries(answers)]
    print(table(rows))
    broken = [row for row in rows if row["promise"] == "BROKEN"]
    for row in broken:
        print(f"broken: {row['design']}, {row['method']}, q={row['q']}")
    whole = options.designs is None and options.methods is None and options.draws >= DRAWS
    if options.into is not None:
        write_csv(replaced(options.into, rows), options.into)
    else:
        write_csv(rows, options.output or (OUTPUT if whole else None))
    return int(bool(broken))


def replaced(path: Path, rows: list[Row]) -> list[Row]:
    """Read the lines of an earlier run, and put these in the place of those of the same methods."""
    with path.open(newline="", encoding="utf-8") as file:
        earlier = list(csv.DictReader(file))
    new = {(row["design"], row["method"]) for row in rows}
    lines = [*(row for row in earlier if (row["design"], row["method"]) not in new), *rows]
    places = {design.name: n for n, design in enumerate(DESIGNS)}, {name: n for n, name in enumerate(METHODS)}
    return sorted(lines, key=lambda row: (places[0][row["design"]], places[1][row["method"]]))


def all_answers(wanted: list[tuple[Design, str, int]], path: Path | None) -> Iterator[Row]:
    """What was kept, and what is missing."""
    kept: dict[tuple[str, str, int], list[Row]] = {}
    if path is not None and path.exists():
        with path.open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                kept.setdefault((row["design"], row["method"], int(row["draw"])), []).append(read(row))
    for design, method, number in wanted:
        key = (design.name, method, number)
        if key not in kept:
            kept[key] = answer(design, method, number)
            if path is not None:
                append(path, kept[key])
            if number == 0:
                log.info("%s: %s (%.2f CPU s)", design.name, method, kept[key][0]["seconds"])
        yield from kept[key]


def read(row: dict[str, str]) -> Row:
    numbers = {name: float(row[name]) if row[name] else None for name in FIELDS[3:]}
    return {**row, **numbers, "draw": int(row["draw"])}


def append(path: Path, rows: list[Row]) -> None:
    new = not path.exists()
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS)
        if new:
            writer.writeheader()
        writer.writerows(rows)


def answer(design: Design, method: str, number: int) -> list[Row]:
    """What one method selects from one draw, for each rate."""
    drawn = draw(design, number)
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        start = process_time()
        masks, bound = METHODS[method](drawn.X, drawn.y, number)
        seconds = process_time() - start
    common = {"design": design.name, "method": method, "draw": number, "bound": bound, "seconds": seconds}
    return [{**common, "q": q, **judged(mask, drawn)} for q, mask in masks.items()]


def judged(mask: Any, drawn: Drawn) -> Row:
    """How many were selected, how many of them are false, and how many signals were found."""
    found = np.unique(np.flatnonzero(mask & drawn.relevant) // drawn.cluster)
    return {"selected": int(mask.sum()), "false": int((mask & ~drawn.relevant).sum()), "found": len(found)}


def summaries(answers: list[Row]) -> Iterator[Row]:
    """One line for each design, method and rate."""
    for design in DESIGNS:
        for method in METHODS:
            mine = [row for row in answers if (row["design"], row["method"]) == (design.name, method)]
            for q in (*RATES, None):
                some = [row for row in mine if row["q"] == q]
                if some:
                    yield summary(design, method, q, some)


def summary(design: Design, method: str, q: float | None, answers: list[Row]) -> Row:
    selected = np.array([row["selected"] for row in answers])
    false = np.array([row["false"] for row in answers])
    share = false / np.maximum(selected, 1)
    bounds = [row["bound"] for row in answers if row["bound"] is not None]
    row = {
        "design": design.name,
        "samples": design.n_samples,
        "features": design.n_features,
        "signals": design.n_signals,
        "method": method,
        "draws": len(answers),
        "q": q,
        "fdr": share.mean(),
        "fdr_error": share.std(ddof=1) / np.sqrt(len(share)) if len(share) > 1 else 0.0,
        "power": np.mean([row["found"] for row in answers]) / design.n_signals if design.n_signals else None,
        "selected": selected.mean(),
        "any": (selected > 0).mean(),
        "false": false.mean(),
        "false_error": false.std(ddof=1) / np.sqrt(len(false)) if len(false) > 1 else 0.0,
        "bound": np.mean(bounds) if bounds else None,
        "seconds": np.mean([row["seconds"] for row in answers]),
    }
    return {**row, "promise": promise(row)}


def promise(row: Row) -> str:
    """Whether what is promised was kept; nothing where nothing is."""
    if row["method"] == OURS and row["signals"] == 0:
        # All that is selected is false: the rate is the share of draws in which anything is.
        spread = np.sqrt(row["q"] * (1 - row["q"]) / row["draws"])
        return "kept" if row["any"] <= row["q"] + 2 * spread else "BROKEN"
    if row["method"] == OURS:
        return "kept" if row["fdr"] <= row["q"] + 2 * row["fdr_error"] else "BROKEN"
    if row["bound"] is not None:
        return "kept" if row["false"] <= row["bound"] + 2 * row["false_error"] else "BROKEN"
    return ""


def table(rows: list[Row]) -> str:
    header = ["design", "method", "draws", "q", "FDR", "+-", "power", "any", "false", "bound", "s", "promise"]
    cells = [
        [
            row["design"],
            row["method"],
            str(row["draws"]),
            "-" if row["q"] is None else f"{row['q']:g}",
            f"{row['fdr']:.3f}",
            f"{row['fdr_error']:.3f}",
            "-" if row["power"] is None else f"{row['power']:.2f}",
            f"{row['any']:.2f}",
            f"{row['false']:.2f}",
            "-" if row["bound"] is None else f"{row['bound']:.2f}",
            f"{row['seconds']:.2f}",
            row["promise"],
        ]
        for row in rows
    ]
    return format_table(header, cells)


if __name__ == "__main__":
    run(main)
