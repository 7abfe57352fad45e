"""Results that are replaced on a full disk, or by a process that is killed: the old or the new, whole."""

from __future__ import annotations

import os
import signal
import sys
import warnings
from pathlib import Path

import numpy as np

from infused._runtime.files import settle, write_together
from tests.fuzz.cases import UnsoundError

STEPS = frozenset({"open", "os.rename", "os.remove", "os.mkdir"})
Result = dict[str, bytes | None]


def run(random: np.random.Generator, folder: Path, content: list[tuple[str, bytes]]) -> None:
    """Replace a result again and again, each time by a process that fails in its own way."""
    if not hasattr(os, "fork"):
        return
    names = [f"file{n}.txt" for n in range(int(random.integers(1, 5)))]
    place = folder / "out"
    old: Result = {}
    for number in range(4):
        new: Result = {name: _content(random, number) for name in names}
        new[names[-1]] = b"%d" % number  # the record
        size = int(random.integers(0, 3000)) if random.random() < 0.3 else None
        step = None if size is not None else int(random.integers(1, 40))
        code = _replace(place, names, new, step, size)
        found, full = _found(place, names), size is not None and code != 0
        _check_files(found, old, new)
        if full and (found != _there(old) or list(place.glob(".*"))):
            raise UnsoundError(f"a full disk left {sorted(map(str, place.iterdir()))}")
        if found not in (_there(old), _there(new)) and not list(place.glob(".*.replacing")):
            raise UnsoundError(f"files of two results after {code}: {sorted(found)}")
        settle(place, names)
        found = _found(place, names)
        if found not in (_there(old), _there(new)) or (code == 0 and found != _there(new)):
            raise UnsoundError(f"files of two results: {sorted(found)}, killed at step {step}")
        old = {name: found.get(name) for name in names}


def _content(random: np.random.Generator, number: int) -> bytes | None:
    return None if random.random() < 0.2 else b"%d" % number * int(random.integers(0, 4000))


def _there(result: Result) -> dict[str, bytes]:
    return {name: content for name, content in result.items() if content is not None}


def _found(place: Path, names: list[str]) -> dict[str, bytes]:
    return {name: (place / name).read_bytes() for name in names if (place / name).exists()}


def _check_files(found: dict[str, bytes], old: Result, new: Result) -> None:
    for name, content in found.items():
        if content not in (old.get(name), new.get(name)):
            raise UnsoundError(f"{name} is neither the old nor the new one")
    if lost := _there(old).keys() & _there(new).keys() - found.keys():
        raise UnsoundError(f"{lost} are gone")


def _replace(place: Path, names: list[str], new: Result, step: int | None, size: int | None) -> int:
    """Write in a process that is killed before a step, or whose files cannot grow beyond a size."""
    import resource

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # threads that do nothing are not missed
        child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    try:
        if size is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        else:
            sys.addaudithook(_Killer(step or 1))
        write_together(place, names, new)
        os._exit(0)
    finally:
        os._exit(1)


class _Killer:
    def __init__(self, step: int):
        self.left = step

    def __call__(self, event: str, arguments: tuple[object, ...]) -> None:
        self.left -= event in STEPS
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
