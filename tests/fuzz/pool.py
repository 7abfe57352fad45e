"""Child processes that run cases, and may end or hang without harm to the search."""

from __future__ import annotations

import multiprocessing as mp
import os
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path

from tests.fuzz.cases import Finding, run_case

BUSY_S = 60.0  # of work for one case: a machine with other work does not shorten it
PATIENCE_S = 300.0  # for one case, whether it works or waits
MEMORY = 6 * 2**30  # bytes of addresses beyond what a child has once it is loaded


class Child:
    """A process that runs cases as they are told."""

    def __init__(self, seed: int):
        context = mp.get_context("spawn")
        self.pipe, other = context.Pipe()
        self.process = context.Process(target=_serve, args=(other, seed), daemon=True)
        self.process.start()
        other.close()
        self.case: tuple[str, int] | None = None
        self.since, self.worked = time.monotonic(), 0.0

    def give(self, case: tuple[str, int]) -> None:
        self.case, self.since, self.worked = case, time.monotonic(), _work(self.process.pid)
        self.pipe.send(case)

    def stop(self) -> None:
        self.process.kill()
        self.process.join()

    def result(self) -> Finding | str | None:
        """What came of the case; "busy" while nothing did."""
        assert self.case is not None
        try:
            if self.pipe.poll():
                found: Finding | None = self.pipe.recv()
                return found
        except (EOFError, OSError):
            self.process.join(5)
            return Finding(*self.case, f"the process ended with {self.process.exitcode}")
        waited = time.monotonic() - self.since
        worked = _work(self.process.pid) - self.worked if waited > BUSY_S / 4 else 0.0
        if worked > BUSY_S or waited > PATIENCE_S:
            self.stop()
            return Finding(*self.case, f"it hangs: nothing in {waited:.0f} s, {worked:.0f} s of them at work")
        return "busy"


def _work(process: int | None) -> float:
    """Seconds that a process and those that it has waited for were at work."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:  # it has ended
        return 0.0
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def _serve(pipe: Connection, seed: int) -> None:
    import resource

    os.environ.update(INFUSED_MEMORY="1GB", OPENBLAS_NUM_THREADS="1", MPLBACKEND="agg", COLUMNS="100")
    os.environ["PYTHONWARNINGS"] = "error::RuntimeWarning"  # of the processes that a command starts
    with tempfile.TemporaryDirectory(prefix="infused-fuzz-") as folder:
        os.chdir(folder)
        run_case(seed, "option", 0, Path(folder))  # loads what all need
        used = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
        while True:
            kind, number = pipe.recv()
            pipe.send(run_case(seed, kind, number, Path(folder)))
