"""``infused explain``: one feature."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from infused.cli import options as o
from infused.cli import terminal
from infused.cli.terminal import Watch

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from infused.workflow.explain import Explanation, Neighbour


EXPLAIN_HELP = o.help_page(
    """Explain one feature: its values by class, what it explains of the target, and its closest features.

    With --output, a picture of its graph beside its target graph is written, and the facts as JSON.
    """,
    "infused explain breast-cancer 'worst radius'",
    "infused explain patients.csv glucose --target diagnosis --output glucose",
)
MOST_BARS = 16
MOST_CLASSES = 6


@o.reads_data
def explain(
    data: o.Data,
    feature: Annotated[str, typer.Argument(metavar="FEATURE", help="A feature, by name or position from 0.")],
    reading: dict[str, Any],
    neighbours: Annotated[
        int, typer.Option("--neighbours", min=1, metavar="N", help="Number of neighbours to show.")
    ] = 8,
    jobs: o.Jobs = -1,
    output: o.Output = None,
    json: o.Json = False,
    quiet: o.Quiet = False,
    force: o.Force = False,
) -> None:
    """Explain one feature, and write its picture and facts where asked."""
    from infused import workflow
    from infused.workflow.explain import check_files

    if output is not None:
        check_files(output, force)
    with Watch(quiet=quiet or json) as watch:
        found = workflow.explain(data, feature, neighbours=neighbours, n_jobs=jobs, **reading)
        written = [] if output is None else found.save(output, force=force)
        watch.notes(found.notes)
    if json:
        terminal.print_json(found.to_json())
    elif not quiet:
        show_explanation(terminal.results(), found, written)
        again = o.typed("infused", "select", data, "-k", "auto", options=reading)
        terminal.next_commands(terminal.results(), ("Select the best features", again))


def show_explanation(console: Console, found: Explanation, written: list[Path]) -> None:
    """Show what a person wants to know first, on one screen."""
    where = f"  one of {found.n_features:,} features, {found.n_samples:,} samples"
    console.print(Text.assemble((terminal.printable(found.name), "bold"), where))
    console.print(_figures(found))
    target = terminal.printable(found.target)
    if found.levels is not None:
        _titled(console, f"Its levels by {target}", _by_level(found, found.levels))
    else:
        low, high = found.bin_edges[0], found.bin_edges[-1]
        _titled(console, f"By {target}, bars from {low:.3g} to {high:.3g}", _by_target(found))
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

    places = f"of {found.n_features:,}"
    information = found.mutual_information
    share = "adjusted R²" if found.data.kind == "real" else "McFadden's R²"
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
            f"{found.alone:.1%} of {terminal.printable(found.target)} ({share}), beyond chance",
        ),
        ("F value", f"{found.f_value.value:.4g} (p = {found.p_value:.2g}), rank {rank}"),
        ("Mutual information", f"{information.value:.4g} nats, rank {information.rank:,} {places}"),
        *graph,
    ):
        table.add_row(Text(f"  {name}", "dim"), Text(value))
    return table


def _by_target(found: Explanation) -> Table:
    numbers = ("samples", "min", "25%", "median", "75%", "max")
    table = terminal.plain_table("", *numbers, "", right=numbers)
    for part in found.by_target:
        table.add_row(
            Text(terminal.printable(part.name, 24)),
            f"{part.count:,}",
            *(f"{value:.3g}" for value in part.five or ()),
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
    table = terminal.plain_table("feature", "|r|", "", "I_S", right=("|r|", "I_S"))
    for one in found:
        table.add_row(
            Text(terminal.printable(one.name)),
            f"{one.correlation:.3f}",
            terminal.bar(one.correlation),
            "-" if one.similarity is None else f"{one.similarity:.5f}",
        )
    return table
