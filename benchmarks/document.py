"""Put the measured tables into the pages, between the markers that name them.

python -m benchmarks.document [--check]

Speed and exactness come from the CSV files in benchmarks/results, accuracy from the store in results/, which
`infused benchmark` fills.

With --check nothing is written, and the exit code is 1 when a page and the CSV files differ.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from pathlib import Path

from benchmarks import choices, discovery_tables, million, relations, store_tables
from benchmarks.command import command_parser, run
from benchmarks.store_tables import STORE
from benchmarks.tables import markdown_table

PAGES = (
    *(
        Path("docs") / f"{name}.md"
        for name in ("benchmarks", "comparison", "tables", "cluster", "false_discoveries", "trust")
    ),
)
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
            print(f"{page}: " + ("up to date" if new == old else f"differs from {RESULTS} or {STORE}"))
            stale += new != old
        else:
            page.write_text(new, encoding="utf-8")
    return int(stale > 0)


def filled(page: str) -> str:
    """The page with the lines between `<!-- table NAME -->` and `<!-- end -->` made anew."""
    pattern = r"(<!-- table (\w+) ?(\w*) -->\n).*?(<!-- end -->)"

    def made(found: re.Match[str]) -> str:
        table = TABLES[found[2]](*filter(None, [found[3]]))
        return f"{found[1]}{table}{found[4]}"

    return re.sub(pattern, made, page, flags=re.DOTALL)


def speed() -> str:
    header = ["data", "M x N", "infused (s)", "numba", "NumPy", "literal", "route", "terms"]
    rows = []
    for row in _read("structural_information"):
        ratios = [_ratio(row, peer) for peer in ("numba", "numpy", "literal")]
        size = f"{row['samples']} x {row['features']}"
        rows.append([row["dataset"], size, _short(row["infused_s"]), *ratios, row["route"], row["rank"]])
    return markdown_table(header, rows)


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
    return markdown_table(header, rows)


def answers() -> str:
    """What is selected on ordinary tables."""
    rows = [[f"`{row['command']}`", row["selects"], row["check"]] for row in _read("answers")]
    return markdown_table(["command", "selects", "checked"], rows)


def growth() -> str:
    header = ["growing", "sizes", "seconds", "exponent"]
    rows = []
    for experiment in ("features", "samples"):
        found = [row for row in _read("scaling") if row["experiment"] == experiment]
        sizes = ", ".join(_whole(row[experiment]) for row in found)
        seconds = ", ".join(_short(row["seconds"]) for row in found)
        rows.append([experiment, sizes, seconds, f"{float(found[0]['exponent']):.2f}"])
    return markdown_table(header, rows)


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
    return markdown_table(header, rows)


def fused_lasso() -> str:
    header = ["problem", "method", "seconds to the gap", "times infused"]
    rows = []
    for row in _read("fused_lasso"):
        size = f"{row['problem']}, {row['samples']} x {row['features']}"
        rows.append([size, row["method"], _short(row["seconds"]), f"{float(row['ratio']):.1f}x"])
    return markdown_table(header, rows)


def fits() -> str:
    header = ["data", "M x N", "k", "CPU s", "FusedLasso", "ratio"]
    rows = []
    for row in _read("fits"):
        name = "synthetic" if " x " in row["dataset"] else row["dataset"]
        size = f"{int(row['samples']):,} x {int(row['features']):,}"
        screened = int(row["before_screened"])
        before = _short(row["before"]) + (f" ({screened:,} screened out)" if screened else "")
        times = [_short(row["seconds"]), _short(row["fused_lasso"])]
        end = [f"{float(row['ratio']):.2f}", before, _power(row["certificate"]), _whole(row["peak_mib"])]
        rows.append([name, size, row["k"], *times, *end])
    return markdown_table([*header, "before", "certificate", "peak (MiB)"], rows)


def lasso_path() -> str:
    header = ["data", "M x N", "solver", "seconds to the gap", "times infused", "features at the end"]
    rows = []
    for row in _read("lasso_path"):
        size, mark = f"{row['samples']} x {row['features']}", "" if row["reached"] == "True" else ">"
        times = f"{mark}{float(row['ratio']):.2f}x"
        seconds = mark + _short(row["seconds"])
        rows.append([row["dataset"], size, row["solver"], seconds, times, row["features_at_the_end"]])
    return markdown_table(header, rows)


def selectors() -> str:
    found = _read("selectors")
    names = list(dict.fromkeys(row["dataset"] for row in found))
    header = ["seconds of", *names]
    rows = []
    for method in dict.fromkeys(row["method"] for row in found):
        mine = {row["dataset"]: row for row in found if row["method"] == method}
        one = next(iter(mine.values()))
        label = method if one["package"] == "infused" else f"*{method} {one['version']}*"
        rows.append([label, *(f"{mine[name]['bound']}{_short(mine[name]['seconds'])}" for name in names)])
    return markdown_table(header, rows)


def mrmr() -> str:
    found = [row for row in _read("selectors") if row["times_our_mrmr"]]
    names = list(dict.fromkeys(row["dataset"] for row in found))
    rows = []
    for method in dict.fromkeys(row["method"] for row in found):
        mine = {row["dataset"]: row for row in found if row["method"] == method}
        cells = [
            f"{row['bound']}{float(row['times_our_mrmr']):,.0f}x" if row else "-"
            for row in map(mine.get, names)
        ]
        rows.append([method, *cells])
    return markdown_table(["times our MRMR", *names], rows)


def family() -> str:
    found = _read("family")
    names = list(dict.fromkeys(row["dataset"] for row in found))
    rows = []
    for method in dict.fromkeys(row["method"] for row in found):
        mine = {row["dataset"]: row for row in found if row["method"] == method}
        peak = max(float(row["peak_process_mib"] or 0) for row in mine.values())
        rows.append([method, *(_short(mine[name]["seconds"]) for name in names), _whole(str(peak))])
    return markdown_table(["seconds of", *names, "largest peak (MiB)"], rows)


def rare() -> str:
    """Average precision by the features of both losses."""
    found = _read("losses_rare")
    rows = []
    for row in found:
        size = f"{_whole(row['samples'])} x {_whole(row['features'])}, {row['rare']}"
        reached = [f"{float(row[f'k = {k}']):.3f}" for k in (5, 10, 20)]
        rows.append([row["data"], size, row["method"], row["loss"], *reached, row["standard error"]])
    header = [
        "data",
        "M x N, share of the class",
        "method",
        "loss",
        "k = 5",
        "k = 10",
        "k = 20",
        "standard error",
    ]
    return markdown_table(header, rows)


def losses() -> str:
    """CPU seconds of the paths of each problem, by solver."""
    found = _read("losses_paths")
    solvers = list(dict.fromkeys(row["solver"] for row in found))
    rows = []
    for name in dict.fromkeys(row["problem"] for row in found):
        mine = {row["solver"]: row for row in found if row["problem"] == name}
        reached = {solver: float(row["CPU s"]) for solver, row in mine.items() if row["reached"] == "True"}
        cells = []
        for solver in solvers:
            row = mine.get(solver)
            mark = "" if solver in reached else "more than "
            cells.append("-" if row is None else mark + _short(row["CPU s"]))
        ours, others = reached["infused"], [reached[one] for one in reached if one != "infused"]
        rows.append([name, mine["infused"]["loss"], *cells, f"{ours / min(others):.2f}x"])
    return markdown_table(["data", "loss", *solvers, "infused / the fastest peer"], rows)


def structure() -> str:
    """InFusedLasso with each loss, with its U and without."""
    names = ["samples x features", "loss", "with U", "without", "ratio"]
    return markdown_table(names, [[row[name] for name in names] for row in _read("losses_structure")])


def survival(part: str) -> str:
    """Tabulate the power and the false selections of simulated times and events."""
    found = [row for row in _read("survival") if (row["part"] == "found") == (part == "found")]

    def design(row: Row) -> str:
        return f"{row['samples']} x {row['features']}, {float(row['censored']):.0%}"

    designs = list(dict.fromkeys(map(design, found)))
    if part != "found":
        header = [
            "M x N, censored",
            "method",
            "promise",
            "features that matter found",
            "false",
            "standard error",
            "data sets",
        ]
        names = ("part", "method", "found", "false", "error", "draws")
        return markdown_table(header, [[design(row), *(row[name] for name in names)] for row in found])
    rows = []
    for method in dict.fromkeys(row["method"] for row in found):
        mine = {design(row): row["found"] for row in found if row["method"] == method}
        rows.append([method, *(mine[one] for one in designs)])
    return markdown_table(["share found", *designs], rows)


def certainty() -> str:
    header = ["data", "M x N", "method", "k", "settings", "selected by all", "CPU s", "at the tolerance"]
    rows = []
    for row in _read("certainty"):
        size = f"{_whole(row['samples'])} x {_whole(row['features'])}"
        found = [row["method"], row["k"], row["settings"], row["alike"]]
        rows.append([row["dataset"], size, *found, *(_short(row[n]) for n in ("seconds", "seconds_at_tol"))])
    return markdown_table(header, rows)


def cold() -> str:
    header = ["first fit", "cold s", "warm s", "cold / imports", "warm / imports"]
    times = [[row["method"], *(_short(row[n]) for n in ("cold_s", "warm_s"))] for row in _read("cold")]
    ratios = [[f"{float(row[n]):.2f}x" for n in ("cold_ratio", "warm_ratio")] for row in _read("cold")]
    return markdown_table(header, [[*a, *b] for a, b in zip(times, ratios, strict=True)])


def wide() -> str:
    rows = []
    for row in _read("wide"):
        gap = _power(row["gap"]) if row["gap"] else "-"
        rows.append([row["task"], row["method"], _short(row["seconds"]), f"{float(row['ratio']):.2f}x", gap])
    return markdown_table(["task", "method", "CPU s", "times infused", "gap"], rows)


def sparse() -> str:
    header = ["data", "M x N", "entries", "method", "CPU s", "times infused", "gap", "features", "peak (MiB)"]
    rows = []
    for row in _read("sparse"):
        size = f"{_whole(row['samples'])} x {_whole(row['features'])}"
        times = f"{float(row['ratio']):.1f}x" if row["ratio"] else "-"
        gap = _power(row["gap"]) if row["gap"] else "-"
        found = [_whole(row[name]) if row[name] else "-" for name in ("features_at_the_end", "peak_mib")]
        known = [row["dataset"], size, _whole(row["entries"]), row["method"], _short(row["seconds"])]
        rows.append([*known, times, gap, *found])
    return markdown_table(header, rows)


def cluster() -> str:
    """The same bits, and data larger than a worker."""
    rows = []
    for row in _read("cluster_bits"):
        killed = ", one killed in the middle" if row["killed"] != "0" else ""
        size = f"{int(row['features']):,} x {row['samples']}"
        what = f"U of {size}, {row['workers']} worker{'s' * (row['workers'] != '1')}{killed}"
        rows.append([what, f"{row['bits differ']} entries differ from U here in any bit"])
    for row in _read("cluster_larger"):
        what = f"`InFusedLasso` on {int(row['features']):,} x {int(row['samples']):,}, {row['X (GB)']} GB"
        limit = f"two workers of {row['limit of a worker (GB)']} GB"
        peaks = f"peaks of {row['peak of the workers (GB)']} GB ({limit})"
        here = f"{row['peak of this process (GB)']} GB here"
        through = f"{row['through the scheduler (MB)']} MB through the scheduler"
        found = f"{int(row['screened out']):,} features screened out"
        rows.append([what, f"{peaks} and {here}; {through}; {found}; {row['seconds']} s"])
    return markdown_table(["what", "measured"], rows)


def cluster_speed() -> str:
    measured = ["one worker (s)", "two workers (s)", "ratio", "CPU ratio"]
    rows = [
        [f"{int(row['features']):,} x {int(row['samples']):,}", *(row[name] for name in measured)]
        for row in _read("cluster_speed")
    ]
    return markdown_table(["U of", *measured], rows)


def repeated() -> str:
    """Say what is promised of samples in groups, and what holds with the groups and without."""
    found = _read("repeated_measures")
    measures = {
        "stable and false": "false of the stable",
        "a false p <= 0.05": "a false p ≤ 0.05",
        "false discoveries": "false discovery rate",
        "optimism of -k auto": "optimism of `-k auto`",
        "optimism of compare": "optimism of `compare`",
    }
    bounds = {row["measure"]: row["bound"] for row in found if row["bound"] != "nan"}
    titles = [
        f"{title} (at most {float(bounds[name]):.2g})" if name in bounds else title
        for name, title in measures.items()
    ]
    rows = []
    for design in dict.fromkeys(row["design"] for row in found):
        mine = {(row["measure"], row["groups"]): row for row in found if row["design"] == design}
        cells = [
            " / ".join(f"{float(mine[name, groups]['mean']):.2f}" for groups in ("with", "without"))
            for name in measures
        ]
        rows.append([design, mine["stable and false", "with"]["draws"], *cells])
    return markdown_table(["design", "draws", *titles], rows)


def intervals() -> str:
    """Compare coverage, errors and power; designs that were drawn least are one line."""
    found = _read("intervals")
    most = max(int(row["draws"]) for row in found)
    groups: dict[str, list[Row]] = {}
    others = {row["design"] for row in found if 2 * int(row["draws"]) <= most}
    for row in found:
        name = f"{len(others)} other designs" if row["design"] in others else row["design"]
        groups.setdefault(name, []).append(row)
    methods = list(dict.fromkeys(row["method"] for row in found))
    rows = []
    for name, own in sorted(groups.items(), key=lambda one: one[0].endswith("other designs")):
        cells = []
        for method in methods:
            mine = [row for row in own if row["method"] == method]
            figures = [_mean(mine, figure) for figure in ("held", "false positives", "found")]
            cells.append(" / ".join(one or "-" for one in figures) if mine else "")
        rows.append([name, "-".join(sorted({row["draws"] for row in own}, key=int)), *cells])
    return markdown_table(["design", "draws", *methods], rows)


def _mean(rows: list[Row], name: str) -> str:
    known = [float(row[name]) for row in rows if row[name] != ""]
    return f"{sum(known) / len(known):.2f}" if known else ""


def repeated_tables() -> str:
    """Show real tables with several rows of a patient, an animal or a person."""
    rows = []
    for row in _read("repeated_tables"):
        size = f"{row['rows']} rows of {row['groups']}"
        score = f"{row['score']} ± {row['error']} ({row['chance']})"
        rows.append(
            [row["table"], size, row["target"], row["hint"], row["sample_groups"], row["metric"], score,
             row["features"], row["stable"]]
        )  # fmt: skip
    header = ["table", "size", "target", "hint names", "sample_groups", "metric", "score (chance)",
              "features", "stable"]  # fmt: skip
    return markdown_table(header, rows)


def block_penalties() -> str:
    """Show one penalty for all blocks beside factors that folds choose."""
    rows = []
    for row in _read("block_penalties"):
        gain = f"{float(row['gain']):+.3f} ± {row['error']}" if row["gain"] else ""
        rows.append(
            [row["design"], row["draws"], row["method"], row["r2"], gain,
             f"{row['relevant found']} of {row['of']}", f"{float(row['in informative blocks']):.0%}",
             row["least penalty"]]
        )  # fmt: skip
    header = ["what matters", "draws", "penalties", "R² on new samples", "gain", "relevant features found",
              "selected in blocks that matter", "block with the least penalty (draws)"]  # fmt: skip
    return markdown_table(header, rows)


def hsic_lasso() -> str:
    measured = ["pyHSICLasso s", "its parts s", "its blocks s", "infused s"]
    rows = []
    for row in _read("hsic_lasso"):
        ratios = [f"{float(row[name]):.0f}x" for name in ("times", "times its parts")]
        ends = [row["objective above"], row["all samples"]]
        rows.append([row["data"], *(row[name] for name in measured), *ratios, *ends])
    header = ["data, and samples of both", "pyHSICLasso (s)", "its parts (s)", "its blocks (s)"]
    header += ["infused (s)", "ratio", "to its parts", "objective above its", "infused on all samples"]
    return markdown_table(header, rows)


def hsic_growth() -> str:
    found = _read("hsic_growth")
    rows = [
        [_whole(row["samples"]), _whole(row["features"]), row["CPU s"], _whole(row["peak MiB"])]
        for row in found
    ]
    return markdown_table(["samples", "features", "CPU s", "peak of the process (MiB)"], rows)


TABLES: dict[str, Callable[..., str]] = {
    "ablation": store_tables.ablation,
    "accuracy": store_tables.accuracy,
    "answers": answers,
    "as_printed": store_tables.as_printed,
    "choices": lambda: choices.accuracy(_read("choices")),
    "choices_in_halves": lambda: choices.stability(_read("choices")),
    "cluster": cluster,
    "cluster_speed": cluster_speed,
    "block_penalties": block_penalties,
    "certainty": certainty,
    "cold": cold,
    "columns": columns,
    "discovery_bounds": lambda: discovery_tables.bounds(_read("false_discoveries")),
    "discovery_peers": lambda: discovery_tables.peers(_read("false_discoveries")),
    "discovery_rates": lambda: discovery_tables.rates(_read("false_discoveries")),
    "exactness": exactness,
    "family": family,
    "fits": fits,
    "fused_lasso": fused_lasso,
    "growth": growth,
    "intervals": intervals,
    "hsic_growth": hsic_growth,
    "hsic_lasso": hsic_lasso,
    "lasso_path": lasso_path,
    "losses": losses,
    "methods_on": store_tables.methods_on,
    "million": lambda: markdown_table(million.HEADER, million.cells(_read("million"))),
    "million_slopes": lambda: million.slopes(_read("million")) + "\n",
    "mrmr": mrmr,
    "orders": store_tables.orders,
    "paper": store_tables.paper,
    "protocols": store_tables.protocols,
    "ranks": store_tables.ranks,
    "repeated": repeated,
    "repeated_tables": repeated_tables,
    "relations": lambda part: relations.summary(_read("relations"), part),
    "rare": rare,
    "selectors": selectors,
    "shared": store_tables.shared,
    "sparse": sparse,
    "speed": speed,
    "structure": structure,
    "survival": survival,
    "wide": wide,
}


def _read(name: str) -> list[Row]:
    with (RESULTS / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _ratio(row: Row, peer: str) -> str:
    mark = "~" if row[f"{peer}_extrapolated"] == "True" else ""
    return f"{mark}{float(row[f'{peer}_ratio']):,.0f}x"


def _short(text: str) -> str:
    if not text:
        return "-"
    return f"{float(text):.3g}" if float(text) < 100 else f"{float(text):,.0f}"


def _whole(text: str) -> str:
    return f"{float(text):,.0f}"


def _power(text: str) -> str:
    return f"{float(text):.0e}"


def _percent(text: str) -> str:
    return f"{float(text):.1%}" if text else "-"


if __name__ == "__main__":
    run(main)
