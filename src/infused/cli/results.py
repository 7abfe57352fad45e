"""What becomes of a selection: files in a folder, JSON, or an answer on the terminal."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.text import Text

from infused.cli import terminal
from infused.cli.files import check_writable

if TYPE_CHECKING:
    from rich.console import Console

    from infused.cli.progress import Stages
    from infused.data import Dataset
    from infused.selection import SelectionRecord

__all__ = ["Results", "show_answer"]

SHOWN = 20  # features on the terminal

MEANINGS = {
    "selected.csv": "the features by rank",
    "reduced.parquet": "the data with these features alone",
    "report.html": "the page to look at, and to send to others",
    "selection.json": "the record, for infused rerun and infused apply",
}


@dataclass(frozen=True)
class Results:
    """Where results go."""

    folder: Path | None = None
    report: bool = True
    reduced: bool = False
    json: bool = False
    quiet: bool = False
    force: bool = False

    def check(self) -> None:
        """Refuse a folder that cannot take the results, before any work is done."""
        from infused.selection.outputs import check_folder

        if self.folder is not None:
            check_folder(self.folder, self.force)
            check_writable(self.folder)

    def for_data(self, name: str) -> Results:
        """With a folder named after the data, where none was given and one is wanted."""
        if self.folder is not None or self.json:
            return self
        named = replace(self, folder=Path(f"infused-{name}"))
        named.check()
        return named

    def write(self, record: SelectionRecord, dataset: Dataset, stages: Stages) -> list[Path]:
        """The files, each whole; none without a folder."""
        from infused.selection import write_outputs

        if self.folder is None:
            return []
        page = None
        if self.report:
            from infused.report.page import render_report

            with stages.stage("report", "drawing the page"):
                page = render_report(record)
        with stages.stage("write", "writing files"):
            table = _reduced_table(record, dataset) if self.reduced else None
            return write_outputs(self.folder, record, self.force, reduced=table, report_html=page)

    def show(self, record: SelectionRecord, written: list[Path]) -> None:
        """The answer on stdout."""
        if self.json:
            terminal.print_json(record.to_json())
        elif not self.quiet:
            show_answer(terminal.results(), record, written)


def show_answer(console: Console, record: SelectionRecord, written: list[Path]) -> None:
    """Two sentences, the best features, and where the rest is."""
    from infused.report.page_text import asked, came_out

    console.print(Text(terminal.printable(asked(record), 10_000)))
    console.print(Text(terminal.printable(came_out(record), 10_000), "bold"))
    if record.selected:
        console.print()
        console.print(_best_features(record))
    beyond = len(record.selected) - SHOWN
    if beyond > 0:
        where = f"in {written[0]}" if written else "in the record (--json)"
        console.print(Text(f"... and {beyond:,} more {where}", "dim"), soft_wrap=True)
    _show_files(console, written)


def _best_features(record: SelectionRecord) -> Any:
    sizes = Counter(feature.group for feature in record.selected)
    columns = ["rank", "feature", "score", "explained", "group"]
    table = terminal.plain_table(*columns, right=("rank", "score", "group"))
    for feature in record.selected[:SHOWN]:
        # A group of one is no news.
        shared = feature.group is not None and sizes[feature.group] > 1
        table.add_row(
            str(feature.rank),
            Text(terminal.printable(feature.name)),
            "" if feature.score is None else f"{feature.score:#.4g}",
            terminal.share(feature.relevance),
            str(feature.group) if shared else "-",
        )
    return table


def _show_files(console: Console, written: list[Path]) -> None:
    if not written:
        return
    widest = max(len(str(path)) for path in written)
    console.print()
    for path in written:
        style = "bold" if path.name == "report.html" else ""
        line = Text.assemble((f"{path!s:{widest}}", style), (f"  {MEANINGS[path.name]}", "dim"))
        console.print(line, soft_wrap=True)


def _reduced_table(record: SelectionRecord, dataset: Dataset) -> Any:
    """The selected features in rank order, then the target."""
    import pyarrow as pa

    from infused.selection.distributions import dense_columns

    names = [feature.name for feature in record.selected]
    values = dense_columns(dataset.X, [feature.index for feature in record.selected])
    target = dataset.target_name
    while target in names:
        target += "_"
    several = dataset.y.reshape(dataset.n_samples, -1).T
    targets = [target] if len(several) == 1 else [f"{target}_{n + 1}" for n in range(len(several))]
    return pa.table([*map(pa.array, values.T.copy()), *map(pa.array, several)], names=[*names, *targets])
