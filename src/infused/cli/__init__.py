"""The command line: one thin file per command, which parses, calls a function of Python's, and prints."""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code is 0 when done, 2 for bad input, 1 for our fault, 130 for Ctrl-C."""
    try:
        return _main(arguments)
    except KeyboardInterrupt:  # while modules are loaded; later the command itself is told
        print("Stopped; nothing was left half written.", file=sys.stderr)
        return 130


def _main(arguments: Sequence[str] | None) -> int:
    from infused._runtime.extras import extra
    from infused.exceptions import MissingExtraError

    try:
        extra("typer")
        extra("rich")
    except MissingExtraError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 2
    from infused.cli.app import run

    return run(sys.argv[1:] if arguments is None else list(arguments))
