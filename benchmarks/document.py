"""Put the measured tables into docs/benchmarks.md and README.md, between the markers that name them.

python -m benchmarks.document [--check]

With --check nothing is written, and the exit code is 1 when a page and the CSV files differ.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from pathlib import Path

from benchmarks.command import command_parser, run

PAGES = (Path("docs/benchmarks.md"), Path("README.md"))
RESULTS = Path("benchmarks/results")
Row = dict[str, str]


def main() -> int:
    parser = command_parser(__doc__)
    parser.add_argument("--check", action="store_true", help="only compare")
    options = parser.parse_args()
    stale = 0
    for page in PAGES:
        old = page.read_text(encoding="utf-8")
        new = filled(old)
        if options.check:
            print(f"{page}: " + ("up to date" if new == old else f"differs from the CSV files in {RESULTS}"))
            stale += new != old
        else:
            page.write_text(new, encoding="utf-8")
    return int(stale > 0)


def filled(page: str) -> str:
    """The page with the lines between `<!-- table NAME -->` and `<!-- end -->` made anew."""
    pattern = r"(<!-- table (\w+) -->\n).*?(<!-- end -->)"
    return re.sub(pattern, lambda found: found[1] + TABLES[found[2]]() + found[3], page, flags=re.DOTALL)


def speed() -> str:
    header = ["data", "M x N", "infused (s)", "numba", "NumPy", "literal", "route", "terms"]
    rows = []
    for row in _read("structural_information"):
        ratios = [_ratio(row, peer) for peer in ("numba", "numpy", "literal")]
        size = f"{row['samples']} x {row['features']}"
        rows.append([row["dataset"], size, _short(row["infused_s"]), *ratios, row["route"], row["rank"]])
    return _markdown(header, rows)


def exactness() -> str:
    header = ["data", "bound on the error", "largest error on 200 random pairs", "peak memory added (MiB)"]
    rows = [
        [
            row["dataset"],
            _power(row["error_estimate"]),
            _power(row["true_error"]),
            _whole(row["peak_added_mib"]),
        ]
        for row in _read("structural_information")
    ]
    return _markdown(header, rows)


def growth() -> str:
    header = ["growing", "sizes", "seconds", "exponent"]
    rows = []
    for experiment in ("features", "samples"):
        found = [row for row in _read("scaling") if row["experiment"] == experiment]
        sizes = ", ".join(_whole(row[experiment]) for row in found)
        seconds = ", ".join(_short(row["seconds"]) for row in found)
        rows.append([experiment, sizes, seconds, f"{float(found[0]['exponent']):.2f}"])
    return _markdown(header, rows)


def columns() -> str:
    header = [
        "N x M",
        "set-up (s)",
        "200 columns (s)",
        "full U (s)",
        "share",
        "share with set-up",
        "peak (MiB)",
    ]
    rows = []
    for row in _read("scaling"):
        if row["experiment"] == "columns":
            size = f"{_whole(row['features'])} x {_whole(row['samples'])}"
            times = [_short(row[name]) for name in ("setup_s", "columns_s", "full_s")]
            shares = [_percent(row[name]) for name in ("share_after_setup", "share_of_full")]
            rows.append([size, *times, *shares, _whole(row["peak_process_mib"])])
    return _markdown(header, rows)


def fused_lasso() -> str:
    header = ["problem", "method", "seconds to the gap", "times infused"]
    rows = []
    for row in _read("fused_lasso"):
        size = f"{row['problem']}, {row['samples']} x {row['features']}"
        rows.append([size, row["method"], _short(row["seconds"]), f"{float(row['ratio']):.1f}x"])
    return _markdown(header, rows)


def fits() -> str:
    header = [
        "data",
        "M x N",
        "k",
        "total (s)",
        "distributions",
        "U",
        "first solve",
        "ranking",
        "certificate",
    ]
    header += ["mrmr_selection (s)", "ratio", "peak (MiB)"]
    parts = ("total_s", "distributions_s", "U_s", "first_solve_s", "ranking_s")
    rows = []
    for row in _read("fits"):
        size = f"{row['samples']} x {row['features']}"
        peer = [_short(row["mrmr_s"]), f"{float(row['mrmr_ratio']):.0f}x" if row["mrmr_ratio"] else "-"]
        peak = _whole(row["peak_process_mib"]) if row["peak_process_mib"] else "-"
        times = [_short(row[part]) for part in parts]
        rows.append([row["dataset"], size, row["k"], *times, _power(row["certificate"]), *peer, peak])
    return _markdown(header, rows)


def accuracy() -> str:
    header = ["data", "k", "folds", "InFusedLasso", "ANOVA F", "random", "paper", "transforms"]
    rows = []
    found = _read("accuracy")
    for ours in (row for row in found if row["method"] == "InFusedLasso"):
        same = {row["method"]: row for row in found if row["dataset"] == ours["dataset"]}
        scores = [_with_error(same[method]) for method in ("InFusedLasso", "ANOVA F", "random")]
        paper = f"{float(ours['paper']):.2f}"
        rows.append([ours["dataset"], ours["k"], ours["folds"], *scores, paper, ours["transforms"]])
    return _markdown(header, rows)


def ablation() -> str:
    header = ["data", "k", "variant", "folds", "accuracy", "difference", "same features"]
    rows = []
    for row in _read("ablation"):
        difference = f"{float(row['difference']):+.2f} ± {float(row['difference_standard_error']):.2f}"
        difference = "" if row["variant"] == "default" else difference
        variant, overlap = row["variant"], f"{float(row['overlap']):.1%}"
        rows.append([row["dataset"], row["k"], variant, row["folds"], _with_error(row), difference, overlap])
    return _markdown(header, rows)


TABLES: dict[str, Callable[[], str]] = {
    "ablation": ablation,
    "accuracy": accuracy,
    "fits": fits,
    "fused_lasso": fused_lasso,
    "speed": speed,
    "exactness": exactness,
    "growth": growth,
    "columns": columns,
}


def _read(name: str) -> list[Row]:
    with (RESULTS / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _markdown(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _ratio(row: Row, peer: str) -> str:
    mark = "~" if row[f"{peer}_extrapolated"] == "True" else ""
    return f"{mark}{float(row[f'{peer}_ratio']):,.0f}x"


def _with_error(row: Row) -> str:
    return f"{float(row['accuracy']):.2f} ± {float(row['standard_error']):.2f}"


def _short(text: str) -> str:
    return f"{float(text):.3g}" if text else "-"


def _whole(text: str) -> str:
    return f"{float(text):,.0f}"


def _power(text: str) -> str:
    return f"{float(text):.0e}"


def _percent(text: str) -> str:
    return f"{float(text):.1%}" if text else "-"


if __name__ == "__main__":
    run(main)
