"""The command line: one thin file per command, which parses, calls a function of Python's, and prints."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

__all__ = ["main"]

#: What keeps the files of the working folder from running code: a process that is started here would search
#: it for modules, numba reads there which compiled code to load, and matplotlib which module draws. What a
#: user has set stays.
SHELTERED = {
    "PYTHONSAFEPATH": "1",
    "NUMBA_CACHE_DIR": "",
    "NUMBA_CACHE_LOCATOR_CLASSES": "",
    "MPLBACKEND": "agg",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code is 0 when done, 2 for bad input, 1 for our fault, 130 for Ctrl-C.

    A process that is told to end (SIGTERM, SIGHUP) removes its temporary files and ends with 143 or 129.
    """
    if arguments is None:  # the process is ours
        for name, value in SHELTERED.items():
            os.environ.setdefault(name, value)
        for stream in (sys.stdin, sys.stdout, sys.stderr):
            if stream is None:  # else a file of results would get its number, and all that libraries print
                os.open(os.devnull, os.O_RDWR)
    try:
        with orderly_end():
            return _main(arguments)
    except KeyboardInterrupt:  # while modules are loaded; later the command itself is told
        code = 130
    except TerminatedError as error:
        code = error.code
    print("Stopped; nothing was left half written.", file=sys.stderr)
    return code


def _main(arguments: Sequence[str] | None) -> int:
    from infused._runtime.messages import extra
    from infused.exceptions import MissingExtraError

    try:
        extra("typer")
        extra("rich")
    except MissingExtraError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 2
    from infused.cli.app import run

    return run(sys.argv[1:] if arguments is None else list(arguments))


class TerminatedError(SystemExit):
    """The process was ended by a signal; temporary files are removed on the way."""

    code: int


@contextmanager
def orderly_end() -> Iterator[None]:
    """Raise `TerminatedError` where SIGTERM or SIGHUP would end the process at once."""
    known = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    here = threading.current_thread() is threading.main_thread()
    ours = [one for one in known if here and signal.getsignal(one) is signal.SIG_DFL]

    def end(number: int, frame: Any) -> None:
        for one in ours:  # whoever ends a process often says so twice
            signal.signal(one, signal.SIG_IGN)
        raise TerminatedError(128 + number)

    for one in ours:
        signal.signal(one, end)
    try:
        yield
    finally:
        for one in ours:
            signal.signal(one, signal.SIG_DFL)
