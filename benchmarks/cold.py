"""The first fit after an installation: CPU seconds of a fresh process with no compiled code on disk.

python -m benchmarks.cold [--repeats 3] [--output FILE.csv]

Each fit is on scikit-learn's breast cancer data, in a process of its own with one thread, with an empty
cache of compiled code (cold) and with the one that it leaves (warm). The measure is the CPU time of importing
scikit-learn and pandas in a process of its own, in the same run; each is the best of the repeats.

Exit code 1 when a cold first fit of InFusedLasso, Lasso, GroupLasso or MRMR takes more than 2.5 times that.
"""

from __future__ import annotations

import logging
import os
import resource
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.command import command_parser, run
from benchmarks.tables import Row, format_table, versions, write_csv
from infused import available_selectors
from infused.selectors.registry import selector_info

OUTPUT = Path("benchmarks/results/cold.csv")
IMPORTS = "import sklearn, pandas"
LARGEST_RATIO = 2.5
HELD = ("InFusedLasso", "Lasso", "GroupLasso", "MRMR")
OTHERS = ("FusedLasso", "GreedyForward", "ULasso", "InLasso", "InElasticNet", "MIFS", "JMIM")
FIT = """
from sklearn.datasets import load_breast_cancer
import infused
infused.{name}(n_features_to_select=5).fit(*load_breast_cancer(return_X_y=True))
"""
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
IDS = {selector_info(id).where.rpartition(":")[2]: id for id in available_selectors()}
log = logging.getLogger(__name__)


def main() -> int:
    parser = command_parser(__doc__)
    parser.add_argument("--repeats", type=int, default=3, help="take the best of this many runs")
    parser.add_argument("--output", type=Path, default=OUTPUT, help="CSV to write (default: %(default)s)")
    options = parser.parse_args()

    imports = min(seconds(IMPORTS)[0] for _ in range(2 * options.repeats))
    rows = [benchmark(name, imports, options.repeats) for name in (*HELD, *OTHERS)]
    print(table(rows))
    write_csv([{**row, **versions(IDS[row["method"]])} for row in rows], options.output)
    return 0 if all(row["passed"] for row in rows) else 1


def benchmark(name: str, imports: float, repeats: int) -> Row:
    """One estimator: cold, warm, and both as multiples of the imports."""
    log.info("%s", name)
    runs = [seconds(FIT.format(name=name)) for _ in range(repeats)]
    cold, warm = (min(times) for times in zip(*runs, strict=True))
    return {
        "method": name,
        "imports_s": imports,
        "cold_s": cold,
        "warm_s": warm,
        "cold_ratio": cold / imports,
        "warm_ratio": warm / imports,
        "passed": name not in HELD or cold <= LARGEST_RATIO * imports,
    }


def seconds(code: str) -> tuple[float, float]:
    """CPU seconds of a process that runs the code, without compiled code on disk and then with it."""
    with TemporaryDirectory() as folder:
        environment = {**os.environ, **ONE_THREAD, "NUMBA_CACHE_DIR": folder}
        return _cpu_seconds(code, environment), _cpu_seconds(code, environment)


def _cpu_seconds(code: str, environment: dict[str, str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def table(rows: list[Row]) -> str:
    header = ["first fit", "cold s", "warm s", "cold / imports", "warm / imports", "verdict"]
    return format_table(header, [_cells(row) for row in rows])


def _cells(row: Row) -> list[str]:
    return [
        row["method"],
        *(f"{row[part]:.2f}" for part in ("cold_s", "warm_s", "cold_ratio", "warm_ratio")),
        "pass" if row["passed"] else "FAIL",
    ]


if __name__ == "__main__":
    run(main)
