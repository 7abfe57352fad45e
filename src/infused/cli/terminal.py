"""What a person sees: consoles, tables whose every name is shown as text, and how far a computation is."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, Self

from rich.console import Console
from rich.segment import Segment
from rich.text import Text

from infused._runtime.progress import PATIENCE, StageBar, reporting, time_text

if TYPE_CHECKING:
    from rich.table import Table

    from infused.bench import Progress
    from infused.bench.tables import ResultTable
    from infused.record.sentences import Sentence


LEVELS = "▁▂▃▄▅▆▇█"
LONGEST = 48  # characters of a name in a table
NARROWEST, USUAL = 60, 80  # columns


class Screen(Console):
    """A console on which no name of a file or a feature can steer the terminal, or vanish.

    Control characters are shown as they are written in Python. A terminal that says that it is narrower than
    60 columns, or has none, breaks the lines itself: a table squeezed into fewer would show no names.
    """

    def __init__(self, **options: Any):
        super().__init__(highlight=False, markup=False, emoji=False, **options)
        if self.width < NARROWEST:
            self.width = USUAL if self.width < 1 else NARROWEST

    def on_broken_pipe(self) -> None:
        """Leave it to the command to end: rich would end the process with 1."""
        raise BrokenPipeError

    def render(self, renderable: Any, options: Any = None) -> Iterable[Segment]:
        """Return the segments with harmless characters only."""
        for segment in super().render(renderable, options):
            if segment.control or segment.text.isprintable():
                yield segment
            else:
                yield Segment("".join(map(_harmless, segment.text)), segment.style)


def _harmless(character: str) -> str:
    return character if character == "\n" else printable(character)


def results() -> Console:
    """Return a console for results; anew for each command, so that it writes to the current stdout."""
    return Screen()


def stderr() -> Console:
    """Return a console for progress, notes and errors."""
    return Screen(stderr=True)


def note(console: Console, message: str) -> None:
    """Print a line that a user should know."""
    console.print(Text.assemble(("Note: ", "bold cyan"), message), soft_wrap=True)


def warn(console: Console, message: str) -> None:
    """Print a line that a user should look into."""
    console.print(Text.assemble(("Warning: ", "bold yellow"), message), soft_wrap=True)


COLOURS = {"warning": "bold red", "caution": "bold yellow", "good": "bold green", "plain": "bold"}


def box(console: Console, title: str, sentences: Sequence[Sentence]) -> None:
    """Print a verdict between two lines, which have the colour of the gravest sentence."""
    from infused.record.sentences import gravity

    colour = COLOURS[gravity(sentences)]
    console.rule(Text(printable(title), "bold"), align="left", style=colour)
    for one in sentences:
        words = printable(one.text, 10_000)
        console.print(Text.assemble((f"{one.label}: ", COLOURS[one.severity]), words))
    console.rule(style=colour)


def next_commands(console: Console, *commands: tuple[str, str]) -> None:
    """Print commands to type next, each with its purpose."""
    console.print()
    for purpose, command in commands:
        line = Text.assemble((f"{purpose}: ", "dim"), (printable(command, 10_000), "cyan"))
        console.print(line, soft_wrap=True)


def plain_table(*columns: str, right: tuple[str, ...] = ()) -> Table:
    """Make a table with a line below its head and no frame; ``right`` names the columns of numbers."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for column in columns:
        numeric = column in right
        table.add_column(column, justify="right" if numeric else "left", no_wrap=numeric)
    return table


def show_fitting(console: Console, make: Callable[[Sequence[str]], Table], spare: Sequence[str]) -> list[str]:
    """Print a table, without the first few of some columns where it finds no room; return those left out.

    A narrow terminal gets fewer columns, not narrower ones: names and numbers would be cut.
    """
    left_out: list[str] = []
    table = make(left_out)
    for name in spare:
        if _width(console, table) <= console.width:
            break
        left_out.append(name)
        table = make(left_out)
    console.print(table)
    return left_out


def _width(console: Console, table: Table) -> int:
    """Return how many columns a table takes at least: numbers whole, words not broken inside."""
    wide = console.options.update(width=10_000)
    sizes = (
        [console.measure(cell, options=wide) for cell in (one.header, *one.cells)] for one in table.columns
    )
    between = 2 * len(table.columns) - 1
    return between + sum(
        max(size.maximum if one.no_wrap else size.minimum for size in found)
        for one, found in zip(table.columns, sizes, strict=True)
    )


def show_results(console: Console, made: ResultTable, n_methods: int | None = None) -> None:
    """Print a table of results, with a line below so many methods; what is best is bold."""
    left_out = show_fitting(console, lambda less: _result_table(made, less, n_methods), made.spare)
    if left_out:
        console.print(f"No room for: {', '.join(left_out)}.", style="dim")


def _result_table(made: ResultTable, left_out: Sequence[str], n_methods: int | None) -> Table:
    cells = made.cells.drop(columns=[name for name in left_out if name in made.cells])
    names = list(cells.columns)
    table = plain_table(*map(printable, names), right=tuple(map(printable, names[made.left :])))
    for n, row in enumerate(cells.itertuples(index=False)):
        texts = zip(names, (printable(str(text)) for text in row), strict=True)
        cells = (Text(text, "bold" if (n, name) in made.strong else "") for name, text in texts)
        best = "bold" if (n, names[0]) in made.strong else None
        table.add_row(*cells, style=best, end_section=n + 1 == n_methods)
    return table


def printable(name: str, longest: int = LONGEST) -> str:
    """Return a name from the data on one line, without characters that would steer the terminal."""
    text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in name)
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def bar(fraction: float, width: int = 12) -> Text:
    """Draw a bar, to half a character."""
    whole, half = divmod(round(max(0.0, min(1.0, fraction)) * width * 2), 2)
    return Text(("━" * whole + "╸" * half).ljust(width), "cyan", no_wrap=True)


def share(fraction: float) -> Text:
    """Draw a bar and its percentage."""
    return Text.assemble(bar(fraction), f" {round(fraction, 2) + 0.0:4.0%}", no_wrap=True)  # never -0%


def sparks(counts: Sequence[int]) -> str:
    """Draw counts as columns of blocks, the highest eight eighths high; zero is blank."""
    most = max(counts, default=0)
    return "".join(LEVELS[(8 * count - 1) // most] if count else " " for count in counts)


def print_json(text: str) -> None:
    """Print JSON for machines, in UTF-8 whatever the terminal speaks; no character of it steers a terminal.

    All that is not printable stands in strings, but for the line breaks between them, so JSON can escape it.
    """
    sys.stdout.flush()
    lines = (line if line.isprintable() else "".join(map(_escaped, line)) for line in text.split("\n"))
    sys.stdout.buffer.write("\n".join(lines).encode() + b"\n")
    sys.stdout.buffer.flush()


def _escaped(character: str) -> str:
    return character if character.isprintable() else json.dumps(character)[1:-1]


class Watch:
    """Shows what runs inside it, as it reports through ``infused._runtime.progress``; used as a context."""

    def __init__(self, quiet: bool = False, console: Console | None = None, patience: float = PATIENCE):
        self.console = stderr() if console is None else console
        self.quiet = quiet
        self._bar = StageBar(self.console, patience)
        self._inside = ExitStack()

    def __enter__(self) -> Self:
        if not self.quiet:
            self._inside.enter_context(self._bar)
        self._inside.enter_context(self._reporting())
        return self

    def __exit__(self, *error: Any) -> None:
        self._inside.close()

    def report(self, fraction: float, message: str) -> None:
        """Move the bar to a fraction of the stage that the message names."""
        self._bar.report(fraction, message)

    def cell(self, progress: Progress) -> None:
        """Print a line for a method on a fold: always without a bar, else where it failed."""
        failed = progress.finished.status != "ok"
        if not self.quiet and (failed or not self._bar.drawn):
            self.console.print(cell_line(progress), soft_wrap=True, style="yellow" if failed else None)

    def notes(self, sentences: Iterable[str]) -> None:
        """Print notes on a result, unless it should be quiet."""
        for sentence in () if self.quiet else sentences:
            note(self.console, sentence)

    @contextmanager
    def _reporting(self) -> Iterator[None]:
        """Send progress to the bar; print each warning that a user can act on as one line above it, once."""
        warned: set[str] = set()

        def show(message: Warning | str, *_: Any, **__: Any) -> None:
            line = " ".join(str(message).split())
            if line not in warned:
                warned.add(line)
                warn(self.console, line)

        with warnings.catch_warnings(), reporting(self.report):
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = show
            yield


def cell_line(progress: Progress) -> str:
    """Say how a method did on a fold, and how long the rest will take."""
    finished = progress.finished
    return (
        f"{finished.cell.describe()}: {_outcome(progress)} ({finished.seconds:.1f} s); "
        f"{progress.done:,} of {progress.total:,}, {time_text(progress.seconds_left)} left"
    )


def _outcome(progress: Progress) -> str:
    rows = progress.finished.rows
    if progress.finished.status != "ok":
        return f"{progress.finished.status}, {rows[0]['reason']}"
    from infused.record.sentences import measure, score_number

    best = max(rows, key=lambda row: row["score"])
    how, value = measure(best["scoring"]), score_number(best["score"], best["scoring"])
    return f"{f'{value}%' if how.unit else f'{how.words} {value}'} at k = {best['k']}"
