"""The end of a benchmark: every method at its best k, and what failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from infused.cli import terminal

if TYPE_CHECKING:
    from pandas import DataFrame
    from rich.console import Console

__all__ = ["show_summary"]

SHOWN = 5  # failures that are named before the rest is counted


def show_summary(rows: DataFrame, quiet: bool) -> None:
    """A table of methods x data sets, and the failures below it."""
    if not quiet and (rows["status"] == "ok").any():
        _show_best(terminal.results(), rows)
    failed = rows[rows["status"] != "ok"].drop_duplicates("cell")
    console = terminal.stderr()
    for _, row in failed.iloc[:SHOWN].iterrows():
        where = f"repeat {row['repeat'] + 1}, fold {row['fold'] + 1}"
        terminal.warn(
            console, f"{row['method']} on {row['dataset']}, {where}: {row['status']}, {row['reason']}"
        )
    if len(failed) > SHOWN:
        terminal.warn(console, f"{len(failed) - SHOWN:,} more cells failed")
    if len(failed):
        terminal.note(console, "what failed counts as done; --retry computes it again")


def _show_best(console: Console, rows: DataFrame) -> None:
    from infused.bench.frames import metric_of, of_protocol
    from infused.bench.statistics import best_scores, score_summary

    leaky = (rows["protocol"] == "leaky").any()
    entries: dict[str, dict[str, str]] = {}
    for dataset, part in rows[rows["status"] == "ok"].groupby("dataset", sort=False):
        metric = metric_of(part)
        for _, one in best_scores(score_summary(of_protocol(part, None), metric)).iterrows():
            value = f"{one['mean']:.1%}" if metric == "accuracy" else f"R² {one['mean']:.3f}"
            entries.setdefault(one["label"], {})[str(dataset)] = f"{value} ({one['k']})"
    names = list(dict.fromkeys(name for found in entries.values() for name in found))
    table = terminal.plain_table("method", *(terminal.printable(name) for name in names))
    for label, found in entries.items():
        table.add_row(Text(label, "bold"), *(found.get(name, "-") for name in names))
    console.print(table)
    console.print("Mean over folds at the best number of features, which is in brackets.")
    if leaky:
        console.print("Leaky: features were selected on all samples, so these figures are too good.")
