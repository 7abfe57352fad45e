"""Random hostile cases against the whole program: ``python -m tests.fuzz --minutes 10 --seed 0``.

A case is a kind and a number; with the seed they decide all of it, so that one line runs it again. Cases run
in child processes that take one after the other: one that ends or hangs is a finding, and another takes
its place. A finding is told by its case and, where a file was changed, by the bytes of it.
"""

from __future__ import annotations

import argparse
import heapq
import sys
import tempfile
import time
from collections import Counter
from multiprocessing.connection import wait
from pathlib import Path

from tests.fuzz.cases import KINDS, Finding, run_case
from tests.fuzz.pool import Child

SLOWEST = 5  # that are told


def main() -> int:
    options = _options()
    if options.case:
        kind, _, number = options.case.partition(":")
        with tempfile.TemporaryDirectory(prefix="infused-fuzz-") as folder:
            found = run_case(options.seed, kind, int(number), Path(folder))
        print(found.told(options.seed) if found else f"{options.case} is sound")
        return int(found is not None)
    counts, findings, slowest = _search(options)
    print("cases:", ", ".join(f"{counts[kind]:,} {kind}" for kind in KINDS), flush=True)
    for reason, times in Counter(
        finding.reason.partition("\n")[0][:200] for finding in findings
    ).most_common():
        print(f"{times:6,} x {reason}")
    print("slowest:", ", ".join(f"{case} {seconds:.1f} s" for seconds, case in slowest))
    print(f"{len(findings)} findings in {sum(counts.values()):,} cases, seed {options.seed}")
    return int(bool(findings))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="how long to look")
    parser.add_argument("--seed", type=int, default=0, help="decides every case")
    parser.add_argument("--jobs", type=int, default=2, help="child processes")
    parser.add_argument("--kinds", default=",".join(KINDS), help="of cases, separated by commas")
    parser.add_argument("--case", default="", help="run one alone, such as file:123")
    return parser.parse_args()


def _search(options: argparse.Namespace) -> tuple[Counter[str], list[Finding], list[tuple[float, str]]]:
    """How many of each kind there were, what was found, and which took longest."""
    kinds = [kind for kind in options.kinds.split(",") for _ in range(KINDS[kind])]
    counts: Counter[str] = Counter()
    findings: list[Finding] = []
    slowest: list[tuple[float, str]] = []
    end = time.monotonic() + 60 * options.minutes
    children = [Child(options.seed) for _ in range(options.jobs)]
    given = 0

    def next_case() -> tuple[str, int]:
        nonlocal given
        given += 1
        return kinds[given % len(kinds)], given

    for child in children:
        child.give(next_case())
    while time.monotonic() < end:
        wait([child.pipe for child in children], timeout=1.0)
        for place, child in enumerate(children):
            found = child.result()
            if found == "busy":
                continue
            assert child.case is not None
            counts[child.case[0]] += 1
            slowest.append((time.monotonic() - child.since, f"{child.case[0]}:{child.case[1]}"))
            slowest = heapq.nlargest(SLOWEST, slowest)
            if isinstance(found, Finding):
                findings.append(found)
                print(found.told(options.seed), flush=True)
            if not child.process.is_alive():
                children[place] = child = Child(options.seed)
            child.give(next_case())
    for child in children:
        child.stop()
    return counts, findings, slowest


if __name__ == "__main__":
    sys.exit(main())
