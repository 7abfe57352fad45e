"""``infused explain``: one feature."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.text import Text

from infused.cli import options as o
from infused.cli import terminal
from infused.cli.terminal import Watch

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from infused.workflow.explain import Explanation, Neighbour


MOST_BARS = 16
NARROW = 70  # characters, below which the quartiles find no room
MOST_CLASSES = 6


@o.command(
    """Explain one feature: its values by class, what it explains of the target, and its closest features.

    With --output, a page, a picture of its graph beside its target graph, and the facts as JSON are written.
    """,
    "infused explain breast-cancer 'worst radius'",
    "infused explain patients.csv glucose --target diagnosis --output glucose",
    reads=o.READ_OPTIONS,
)
def explain(
    data: str,
    feature: str,
    reading: dict[str, Any],
    transform: str = "none",
    neighbours: int = 8,
    jobs: int = -1,
    output: Path | None = None,
    json: bool = False,
    quiet: bool = False,
    force: bool = False,
) -> None:
    """Explain one feature, and write its page, picture and facts where asked."""
    from infused import workflow
    from infused.workflow.explain import check_files

    if output is not None:
        check_files(output, force)
    with Watch(quiet=quiet or json) as watch:
        found = workflow.explain(
            data, feature, transform=transform, neighbours=neighbours, n_jobs=jobs, **reading
        )
        written = [] if output is None else found.save(output, force=force)
    if json:
        terminal.print_json(found.to_json())
    elif not quiet:
        show_explanation(terminal.results(), found, written)
        watch.notes(found.notes)
        how = ["--transform", transform] if transform != "none" else []
        again = o.typed("infused", "select", data, "-k", "auto", *how, options=reading)
        terminal.next_commands(terminal.results(), ("Select the best features", again))


def show_explanation(console: Console, found: Explanation, written: list[Path]) -> None:
    """Show what a person wants to know first, on one screen."""
    from infused.record.sentences import short_number

    where = f"one of {found.n_features:,} features, {found.n_samples:,} samples"
    terminal.box(console, f"{found.name}  {where}", found.verdict)
    console.print()
    console.print(_figures(found))
    target = terminal.printable(found.target)
    if found.levels is not None:
        _titled(console, f"Its levels by {target}", _by_level(found, found.levels))
    else:
        low, high = found.bin_edges[0], found.bin_edges[-1]
        title = f"By {target}, bars from {short_number(low)} to {short_number(high)}"
        _titled(console, title, _by_target(found, console.width < NARROW))
    if found.by_correlation:
        _titled(console, "Closest by correlation", _neighbours(found.by_correlation))
    if found.by_similarity:
        _titled(console, "Closest by the similarity of their graphs", _neighbours(found.by_similarity))
    if written:
        console.print()
    for path in written:
        console.print(str(path), soft_wrap=True)


def _titled(console: Console, title: str, table: Table) -> None:
    console.print()
    console.print(Text(title, "bold"))
    console.print(table)


def _figures(found: Explanation) -> Table:
    from rich.table import Table

    from infused.record.sentences import p_words

    places = f"of {found.n_features:,}"
    information = found.mutual_information
    share = "McFadden's R², beyond chance" if found.data.kind == "classes" else "adjusted R²"
    table = Table.grid(padding=(0, 2))
    values = f"{found.n_distinct:,} different" if found.levels is None else f"{len(found.levels)} levels"
    graph = []
    if found.entropy is not None:
        most = log(found.n_samples)
        graph = [
            ("Entropy of its graph", f"{found.entropy:.5g} nats, of {most:.5g} for a constant"),
            ("Similarity to its target graph", f"I_S = {found.target_similarity:.5f}"),
        ]
    rank = f"{found.f_value.rank:,} {places}"
    for name, value in (
        ("Values", values),
        (
            "Explains alone",
            f"{found.alone:.1%} of {terminal.printable(found.target)} ({share})",
        ),
        (
            f"{found.test[0].upper()}{found.test[1:]}",
            f"{found.f_value.value:.4g} ({p_words(found.p_value)}), rank {rank}",
        ),
        *(
            [("Mutual information", f"{information.value:.4g} nats, rank {information.rank:,} {places}")]
            if information is not None
            else []
        ),
        *_survival(found),
        *graph,
    ):
        table.add_row(Text(f"  {name}", "dim"), Text(value))
    return table


def _survival(found: Explanation) -> list[tuple[str, str]]:
    """Return what times and events say of the feature: its hazard ratio, and survival in its parts."""
    from infused.record.sentences import hazard_words, log_rank_words

    words, curves = hazard_words(found.hazard), found.survival
    pairs = [("Hazard ratio", words.removeprefix("Hazard ratio "))] if words else []
    if curves is not None:
        parts = [
            f"{terminal.printable(part.name)}: {part.n_events:,} of {part.count:,}" for part in curves.parts
        ]
        pairs.append(("Events", f"{'; '.join(parts)} ({log_rank_words(curves)})"))
    return pairs


def _by_target(found: Explanation, narrow: bool) -> Table:
    """Give the five numbers of each part beside its histogram; three where the terminal is narrow."""
    from infused.record.sentences import short_number

    five = ("min", "25%", "median", "75%", "max")
    step = 2 if narrow else 1
    numbers = ("samples", *five[::step])
    table = terminal.plain_table("", *numbers, "", right=numbers)
    for part in found.by_target:
        table.add_row(
            Text(terminal.printable(part.name, 24)),
            f"{part.count:,}",
            *(short_number(value) for value in (part.five or ())[::step]),
            Text(terminal.sparks(_fewer(part.histogram)), "cyan", no_wrap=True),
        )
    return table


def _by_level(found: Explanation, levels: Sequence[str]) -> Table:
    """Count each level in each class; beyond a few classes, the level alone."""
    shown = found.by_target[:MOST_CLASSES]
    numbers = ("samples", *(terminal.printable(part.name, 16) for part in shown))
    table = terminal.plain_table("", *numbers, right=numbers)
    for n, level in enumerate(levels):
        counts = [part.histogram[n] for part in found.by_target]
        total = sum(counts)
        cells = (f"{one:,} ({one / max(1, total):.0%})" for one in counts[: len(shown)])
        table.add_row(Text(terminal.printable(level, 24)), f"{total:,}", *cells)
    return table


def _fewer(histogram: Sequence[int]) -> list[int]:
    """Join pairs of bins where they would not fit beside the numbers."""
    if len(histogram) <= MOST_BARS:
        return list(histogram)
    return [sum(histogram[n : n + 2]) for n in range(0, len(histogram), 2)]


def _neighbours(found: Sequence[Neighbour]) -> Table:
    graphs = any(one.similarity is not None for one in found)
    table = terminal.plain_table("feature", "|r|", "", *["I_S"] * graphs, right=("|r|", "I_S"))
    for one in found:
        similarity = "-" if one.similarity is None else f"{one.similarity:.5f}"
        bar = terminal.bar(one.correlation)
        name = Text(terminal.printable(one.name))
        table.add_row(name, f"{one.correlation:.3f}", bar, *[similarity] * graphs)
    return table
