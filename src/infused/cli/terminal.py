"""What a person sees: consoles, and tables whose every name is shown as text."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

if TYPE_CHECKING:
    from rich.table import Table

__all__ = [
    "bar",
    "next_commands",
    "note",
    "plain_table",
    "print_json",
    "printable",
    "results",
    "share",
    "sparks",
    "stderr",
    "warn",
]

LEVELS = "▁▂▃▄▅▆▇█"
LONGEST = 48  # characters of a name in a table


def results() -> Console:
    """For results; anew for each command, so that it writes to the stdout of the moment."""
    return Console(highlight=False, markup=False, emoji=False)


def stderr() -> Console:
    """For progress, notes and errors."""
    return Console(stderr=True, highlight=False, markup=False, emoji=False)


def note(console: Console, message: str) -> None:
    """Something that a user should know, in one line."""
    console.print(Text.assemble(("Note: ", "bold cyan"), message), soft_wrap=True)


def warn(console: Console, message: str) -> None:
    """Something that a user should look into, in one line."""
    console.print(Text.assemble(("Warning: ", "bold yellow"), message), soft_wrap=True)


def next_commands(console: Console, *commands: tuple[str, str]) -> None:
    """What to type next: a purpose and a command each."""
    console.print()
    for purpose, command in commands:
        line = Text.assemble((f"{purpose}: ", "dim"), (printable(command, 10_000), "cyan"))
        console.print(line, soft_wrap=True)


def plain_table(*columns: str, right: tuple[str, ...] = ()) -> Table:
    """A table with a line below its head and no frame; ``right`` names the columns of numbers."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for column in columns:
        numeric = column in right
        table.add_column(column, justify="right" if numeric else "left", no_wrap=numeric)
    return table


def printable(name: str, longest: int = LONGEST) -> str:
    """A name from the data on one line, without characters that would steer the terminal."""
    text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in name)
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def bar(fraction: float, width: int = 12) -> Text:
    """A bar, to half a character."""
    whole, half = divmod(round(max(0.0, min(1.0, fraction)) * width * 2), 2)
    return Text(("━" * whole + "╸" * half).ljust(width), "cyan", no_wrap=True)


def share(fraction: float) -> Text:
    """A bar and its percentage."""
    return Text.assemble(bar(fraction), f" {round(fraction, 2) + 0.0:4.0%}", no_wrap=True)  # never -0%


def sparks(counts: Sequence[int]) -> str:
    """Counts as columns of blocks, the highest eight eighths high; what is zero is blank."""
    most = max(counts, default=0)
    return "".join(LEVELS[(8 * count - 1) // most] if count else " " for count in counts)


def print_json(text: str) -> None:
    """JSON for machines, in UTF-8 whatever the terminal speaks."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode() + b"\n")
    sys.stdout.buffer.flush()
