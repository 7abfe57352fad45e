"""The first fit of a fresh process that finds no compiled code, beside what no user can avoid."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.cold import FIT, HELD, IMPORTS, LARGEST_RATIO, _cpu_seconds


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """CPU seconds of a fresh process, the least of some turns; nothing is on disk for any of them."""
    seen: dict[str, list[float]] = {}

    def least(code: str, turns: int) -> float:
        times = seen.setdefault(code, [])
        while len(times) < turns:
            folder = tmp_path_factory.mktemp("no-kernels")
            environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
            times.append(_cpu_seconds(code, {**environment, "NUMBA_CACHE_DIR": str(folder)}))
        return min(times)

    return least


@pytest.mark.parametrize("name", HELD)
def test_a_first_fit_hardly_waits_for_the_compiler(measured, name):
    # Another process may share the core at any time; CPU time then counts some of it.
    for turn in range(1, 5):
        if measured(FIT.format(name=name), turn) <= LARGEST_RATIO * measured(IMPORTS, turn + 1):
            return
    pytest.fail(f"{name}: a cold first fit takes more than {LARGEST_RATIO} times the imports")


def test_a_worker_compiles_nothing_that_its_parent_has():
    """Even where neither the package's nor the user's folder can be written."""
    code = (
        "import os, subprocess, sys; from numba.core import caching\n"
        "kind = getattr(caching, 'CacheImpl', None) or caching._CacheImpl\n"
        "kind._locator_classes = [c for c in kind._locator_classes if 'UserProvided' in c.__name__]\n"
        "from infused._kernels.solvers import _clip_and_go_back as kernel\n"
        "print(sum(kernel.stats.cache_hits.values()), sum(kernel.stats.cache_misses.values()), flush=True)\n"
        "print(os.environ['INFUSED_KERNELS'], flush=True)\n"
        "if len(sys.argv) == 2: subprocess.run([sys.executable, '-c', sys.argv[1], '', ''], check=True)"
    )
    environment = {k: v for k, v in os.environ.items() if k not in ("NUMBA_CACHE_DIR", "INFUSED_KERNELS")}
    done = subprocess.run([sys.executable, "-c", code, code], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    parent, folder, worker, same = done.stdout.split("\n")[:4]
    assert (parent, worker) == ("0 1", "1 0")
    assert folder == same
    assert not Path(folder).exists()
