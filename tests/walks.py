"""Print the files of the package that a call crosses, in the order of their first call.

``python -m tests.walks select table.csv -t kind -k 3`` follows a command; a line marks where a
selector is fitted. Calls while a module is being imported do not count; every other file of the package does.
"""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import infused

ROOT = str(Path(infused.__file__).parent) + "/"
OPTIMIZED = 1  # a code flag: functions have it, bodies of modules and classes do not
SELECTOR = "-- the selector --"


class Walk:
    """Files in the order of their first call; ``before`` is what precedes the function ``stop``."""

    def __init__(self, stop: str | None = None):
        self.stop = stop
        self.files: list[str] = []
        self.before: list[str] | None = None

    def __enter__(self) -> Walk:
        sys.settrace(self._call)
        return self

    def __exit__(self, *error: Any) -> None:
        sys.settrace(None)

    def _call(self, frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if not _ours(code) or not code.co_flags & OPTIMIZED or _importing(frame):
            return
        if code.co_qualname == self.stop and self.before is None:
            self.before = list(self.files)
        file = code.co_filename.removeprefix(ROOT)
        if file not in self.files:
            self.files.append(file)


def _ours(code: CodeType) -> bool:
    return code.co_filename.startswith(ROOT) and code.co_filename.endswith(".py")


def _importing(frame: FrameType) -> bool:
    above = frame.f_back
    while above is not None:
        if "importlib" in above.f_code.co_filename or (
            above.f_code.co_name == "<module>" and _ours(above.f_code)
        ):
            return True
        above = above.f_back
    return False


if __name__ == "__main__":
    from infused.cli import main

    with Walk("told.<locals>.wrapper") as walk, contextlib.suppress(SystemExit):
        main()
    before = walk.before if walk.before is not None else walk.files
    print(*before, SELECTOR, *walk.files[len(before) :], sep="\n")
