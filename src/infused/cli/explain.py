"""``infused explain``: one feature."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer
from rich.text import Text

from infused.cli import options as o
from infused.cli import terminal
from infused.cli.errors import CommandError
from infused.cli.files import check_place, write_whole
from infused.cli.progress import Stages
from infused.cli.reading import load_requested, reading_options

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from infused.cli.feature_facts import FeatureFacts, Neighbour
    from infused.data import Dataset
    from infused.graphs.validation import Target

__all__ = ["EXPLAIN_EXAMPLES", "explain", "show_facts"]

EXPLAIN_EXAMPLES = o.examples(
    "infused explain breast-cancer 'worst radius'",
    "infused explain patients.csv glucose --target diagnosis --output glucose",
)
MOST_BARS = 16
SCHEMA = "infused.explain/1"
FILES = ("graph.png", "explain.json")


def explain(
    data: o.Data,
    feature: Annotated[str, typer.Argument(metavar="FEATURE", help="A feature, by name or position from 0.")],
    neighbours: Annotated[
        int, typer.Option("--neighbours", min=1, metavar="N", help="How many neighbours to show.")
    ] = 8,
    jobs: o.Jobs = -1,
    target: o.Target = None,
    target_file: o.TargetFile = None,
    x_key: o.XKey = None,
    y_key: o.YKey = None,
    drop: o.Drop = None,
    keep: o.Keep = None,
    impute: o.Impute = None,
    one_hot: o.OneHot = False,
    separator: o.Separator = None,
    encoding: o.Encoding = None,
    no_header: o.NoHeader = False,
    task: o.TaskName = None,
    output: o.Output = None,
    json: o.Json = False,
    quiet: o.Quiet = False,
    force: o.Force = False,
) -> None:
    """Explain one feature: its values by class, what it tells about the target, and what repeats it.

    With --output, the picture of its graph beside its target graph and the facts as JSON are written.
    """
    reading = reading_options(
        target_file=target_file,
        x_key=x_key,
        y_key=y_key,
        drop=drop,
        keep=keep,
        impute=impute,
        one_hot=one_hot,
        separator=separator,
        encoding=encoding,
        no_header=no_header,
        task=task,
    )
    o.check_jobs(jobs)
    written = [] if output is None else [output / name for name in FILES]
    for path in written:
        check_place(path, force)
    with Stages(quiet=quiet or json) as stages:
        with stages.stage("read", f"reading {Path(data).name}"):
            dataset = load_requested(data, target, reading)
        facts = _facts(dataset, feature, neighbours, jobs, stages)
        if written:
            with stages.stage("write", "drawing the graphs"):
                _write(dataset, facts, written)
        stages.notes(dataset.notes)
    if json:
        terminal.print_json(_as_json(facts))
    elif not quiet:
        show_facts(terminal.results(), facts, written)


def _facts(dataset: Dataset, feature: str, neighbours: int, jobs: int, stages: Stages) -> FeatureFacts:
    from infused._runtime.progress import reporting
    from infused.cli.feature_facts import feature_facts
    from infused.data.columns import find_column

    if dataset.y.ndim > 1:
        raise CommandError(
            f"explain takes one target, but {dataset.target_name!r} has {dataset.y.shape[1]} columns"
        )
    position = find_column(dataset.feature_names, feature, "FEATURE")
    with stages.stage("explain", "comparing features"), reporting(stages.report):
        return feature_facts(dataset, position, neighbours, jobs)


def _write(dataset: Dataset, facts: FeatureFacts, written: list[Path]) -> None:
    picture, text = written
    write_whole(picture, lambda file: _draw(file, dataset, facts))
    write_whole(text, lambda file: file.write(_as_json(facts).encode()))


def _draw(file: BinaryIO, dataset: Dataset, facts: FeatureFacts) -> None:
    from matplotlib.figure import Figure
    from pandas import Series

    from infused.report import plot_feature_graph
    from infused.selection.distributions import dense_columns

    values = Series(dense_columns(dataset.X, [facts.position])[:, 0], name=terminal.printable(facts.name))
    figure = Figure(figsize=(10.0, 4.6), layout="constrained")
    kind: Target = "real" if dataset.task == "regression" else "classes"
    plot_feature_graph(values, dataset.y, target=kind, ax=figure.subplots(1, 2))
    figure.savefig(file, format="png", dpi=150)


def _as_json(facts: FeatureFacts) -> str:
    import json
    from dataclasses import asdict

    return json.dumps({"schema": SCHEMA, **asdict(facts)}, ensure_ascii=False, indent=1)


def show_facts(console: Console, facts: FeatureFacts, written: list[Path]) -> None:
    """What a person wants to know first, on one screen."""
    where = f"  one of {facts.n_features:,} features, {facts.n_samples:,} samples"
    console.print(Text.assemble((terminal.printable(facts.name), "bold"), where))
    console.print(_figures(facts))
    low, high = facts.bin_edges[0], facts.bin_edges[-1]
    _titled(
        console,
        f"By {terminal.printable(facts.target)}, bars from {low:.3g} to {high:.3g}",
        _by_target(facts),
    )
    if facts.by_correlation:
        _titled(console, "Closest by correlation", _neighbours(facts.by_correlation))
        _titled(console, "Closest by the structure of their graphs", _neighbours(facts.by_similarity))
    if written:
        console.print()
    for path in written:
        console.print(str(path), soft_wrap=True)


def _titled(console: Console, title: str, table: Table) -> None:
    console.print()
    console.print(Text(title, "bold"))
    console.print(table)


def _figures(facts: FeatureFacts) -> Table:
    from rich.table import Table

    places = f"of {facts.n_features:,}"
    most = log(facts.n_samples)
    table = Table.grid(padding=(0, 2))
    rows = (
        ("Values", f"{facts.n_distinct:,} different"),
        ("Explained", f"{facts.explained:.1%} of its variance goes with {terminal.printable(facts.target)}"),
        ("F value", f"{facts.f_value.value:.4g}, rank {facts.f_value.rank:,} {places}"),
        (
            "Mutual information",
            f"{facts.mutual_information.value:.4g} nats, rank {facts.mutual_information.rank:,} {places}",
        ),
        ("Entropy of its graph", f"{facts.entropy:.5g} nats, of {most:.5g} for a constant"),
        ("Likeness to its target graph", f"I_S = {facts.target_similarity:.5f}"),
    )
    for name, value in rows:
        table.add_row(Text(f"  {name}", "dim"), Text(value))
    return table


def _by_target(facts: FeatureFacts) -> Table:
    numbers = ("samples", "min", "25%", "median", "75%", "max")
    table = terminal.plain_table("", *numbers, "", right=numbers)
    for part in facts.by_target:
        table.add_row(
            Text(terminal.printable(part.name, 24)),
            f"{part.count:,}",
            *(f"{value:.3g}" for value in part.five),
            Text(terminal.sparks(_fewer(part.histogram)), "cyan", no_wrap=True),
        )
    return table


def _fewer(histogram: Sequence[int]) -> list[int]:
    """Pairs of bins together, where they would not fit beside the numbers."""
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
            f"{one.similarity:.5f}",
        )
    return table
