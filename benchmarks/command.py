"""What the commands share: the choice of data sets, and failing in one line."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Callable, Sequence

from benchmarks.datasets import NAMES, DatasetError
from benchmarks.threads import limit_threads


def command_parser(description: str | None) -> argparse.ArgumentParser:
    layout = argparse.RawDescriptionHelpFormatter
    return argparse.ArgumentParser(description=description, formatter_class=layout)


def add_datasets_option(parser: argparse.ArgumentParser, names: Sequence[str] = NAMES) -> None:
    parser.add_argument(
        "--datasets",
        type=lambda text: text.split(","),
        default=list(names),
        metavar="A,B",
        help=f"some of {','.join(NAMES)} (default: {','.join(names)})",
    )


def run(main: Callable[[], int]) -> None:
    """Call a command: progress on stderr, exit code 2 and one line when the data are not there."""
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    limit_threads()
    try:
        sys.exit(main())
    except DatasetError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
