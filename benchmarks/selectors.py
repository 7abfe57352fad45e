"""The selectors of infused and of its peers in one run: seconds to select k features.

python -m benchmarks.selectors [--datasets A,B] [--methods a,b] [--limit 120] [--output FILE]

On Isolet1 (k = 100), Leukemia (200) and RELATHE (200), every id of infused and every peer of
`benchmarks/selector_peers.py`. The ids anova, mutual-info, l1-logistic and random-forest are scikit-learn's
own functions behind the common interface, and stand for them.

Everybody selects from all samples, in a process of its own, after a run on a few features that loads or
compiles; the best of three runs counts where the first takes less than 2 s. A peer that takes more than
--limit seconds, or after half a minute is seen to need more, is stopped: its time is projected from the share
of the work that it had done (marked ~) or, where it cannot tell, is at least the limit (marked >).

Exit code 1 when a selector of infused fails or does not select exactly k, or when its MRMR is not at least 20
times faster than those of mrmr_selection, feature-engine and scikit-lego on a data set, or one of these does
not run.
"""

from __future__ import annotations

import logging
import warnings
from collections import Counter
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray

from benchmarks.command import add_datasets_option, command_parser, run
from benchmarks.datasets import check_names, load, paper_k
from benchmarks.family import FEW_FEATURES, FEW_TO_SELECT, default_selector, one_line
from benchmarks.memory import measure_within
from benchmarks.selector_peers import PEERS, Deadline, Floats, Ints, Labels, Report, TooSlowError
from benchmarks.tables import Row, format_table, versions, write_csv
from benchmarks.threads import THREADS, limit_threads
from infused import available_selectors

OUTPUT = Path("benchmarks/results/selectors.csv")
DATASETS = ("Isolet1", "Leukemia", "RELATHE")
LIMIT_S = 120.0
GRACE_S = 600.0  # on top of the limit, for those who do not report: infused, and a step of a peer
REPEATS, REPEATED_BELOW_S = 3, 2.0
TIMES_FASTER = 20
log = logging.getLogger(__name__)


def main() -> int:
    parser = command_parser(__doc__)
    add_datasets_option(parser, DATASETS)
    every = [*available_selectors(), *PEERS]
    parser.add_argument(
        "--methods",
        type=lambda text: text.split(","),
        default=every,
        metavar="a,b",
        help="ids of infused and names of peers (default: all)",
    )
    parser.add_argument(
        "--limit", type=float, default=LIMIT_S, help="seconds for a peer (default: %(default)g)"
    )
    parser.add_argument("--output", type=Path, help=f"CSV to write (default for a whole run: {OUTPUT})")
    options = parser.parse_args()
    if unknown := set(options.methods) - set(every):
        parser.error(f"unknown method {', '.join(sorted(unknown))}")

    names = check_names(options.datasets)
    rows = [row for name in names for row in benchmark(name, options.methods, options.limit)]
    for name in names:
        print(f"\n{table([row for row in rows if row['dataset'] == name])}")
    verdicts = [verdict for name in names for verdict in judge([r for r in rows if r["dataset"] == name])]
    print()
    for passed, words in verdicts:
        print(f"{'pass' if passed else 'FAIL'}: {words}")
    whole = set(names) >= set(DATASETS) and set(options.methods) == set(every) and options.limit >= LIMIT_S
    write_csv(rows, options.output or (OUTPUT if whole else None))
    return 0 if all(passed for passed, _ in verdicts) else 1


def benchmark(name: str, methods: list[str], limit: float) -> list[Row]:
    """One row for each selector."""
    rows = {method: timing(name, method, limit) for method in methods}
    ours = rows.get("mrmr", {}).get("seconds")
    for method, row in rows.items():
        if ours and method in PEERS and PEERS[method].is_mrmr and "seconds" in row:
            row["times_our_mrmr"] = row["seconds"] / ours
    common = {"threads": THREADS, "sklearn_version": sklearn.__version__}
    return [{**row, **common, **versions(method)} for method, row in rows.items()]


def timing(name: str, method: str, limit: float) -> Row:
    """The seconds of one selector in a process of its own; a failure is a row with its reason."""
    log.info("%s: %s", name, method)
    peer = PEERS.get(method)
    row: Row = {
        "dataset": name,
        "k": paper_k(name),
        "method": method,
        "package": peer.package if peer else "infused",
        "version": peer.version if peer else versions()["infused_version"],
    }
    try:
        row |= measure_within(limit + GRACE_S, prepare, time_selection, name, method, limit).result
    except TimeoutError:
        row |= {"seconds": limit + GRACE_S, "bound": ">"}
    except Exception as error:
        row |= {"reason": one_line(error)}
    return row


def prepare(name: str, method: str, limit: float) -> tuple[Any, ...]:
    X, y = load(name)
    return X.astype(np.float64), y, paper_k(name), method, limit


def time_selection(X: Floats, y: Labels, k: int, method: str, limit: float) -> Row:
    """The best of several runs, or what is known of one that took too long."""
    limit_threads()
    few = X[:, np.linspace(0, X.shape[1] - 1, FEW_FEATURES).astype(int)]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        select(method, few, y, FEW_TO_SELECT, no_report)
        caught.clear()
        runs: list[float] = []
        while not runs or (runs[0] < REPEATED_BELOW_S and len(runs) < REPEATS):
            start = perf_counter()
            try:
                features = select(method, X, y, k, Deadline(limit))
            except TooSlowError as error:
                known = np.isfinite(error.seconds)
                return {"seconds": error.seconds if known else limit, "bound": "~" if known else ">"}
            runs.append(perf_counter() - start)
    kinds = Counter(warning.category.__name__ for warning in caught)
    return {
        "seconds": min(runs),
        "bound": "",
        "runs": len(runs),
        "selected": len(np.unique(features)),
        "warnings": ", ".join(f"{kind} x{count}" for kind, count in kinds.items()),
    }


def select(method: str, X: NDArray[Any], y: Labels, k: int, report: Report) -> Ints:
    """The features that an id of infused or a peer selects."""
    if method in PEERS:
        return PEERS[method].select(X, y, k, report)
    return np.flatnonzero(default_selector(method, k).fit(X, y).get_support())


def no_report(_: float) -> None:
    """For runs that nobody stops."""


def judge(rows: list[Row]) -> list[tuple[bool, str]]:
    """What one data set says about the claims."""
    name, k = rows[0]["dataset"], rows[0]["k"]
    ours = [row for row in rows if row["package"] == "infused"]
    broken = [row["method"] for row in ours if row.get("selected") != k or row.get("reason")]
    verdicts = [(not broken, f"{name}: every selector of infused runs and selects {k}" + _but(broken))]
    for row in rows:
        if row["method"] in PEERS and PEERS[row["method"]].is_mrmr:
            times = row.get("times_our_mrmr")
            known = times is not None
            words = f"{row['bound']}{times:,.0f} times faster" if known else f"not compared: {row['reason']}"
            verdicts.append(
                (known and times >= TIMES_FASTER, f"{name}: MRMR against {row['method']}: {words}")
            )
    return verdicts


def _but(names: list[str]) -> str:
    return f", but {', '.join(names)}" if names else ""


def table(rows: list[Row]) -> str:
    first = f"{rows[0]['dataset']}, k = {rows[0]['k']}"
    header = [first, "seconds", "/ our mrmr", "selected", "note"]
    return format_table(header, [_cells(row) for row in rows])


def _cells(row: Row) -> list[str]:
    seconds, times = row.get("seconds"), row.get("times_our_mrmr")
    mark = row.get("bound", "")
    notes = [row.get("reason", ""), row.get("warnings", "")]
    return [
        row["method"] if row["package"] == "infused" else f"[{row['method']} {row['version']}]",
        "-" if seconds is None else f"{mark}{seconds:,.2f}",
        "" if times is None else f"{mark}{times:,.0f}x",
        str(row.get("selected", "-")),
        "; ".join(note for note in notes if note),
    ]


if __name__ == "__main__":
    run(main)
