"""``infused apply``: an earlier selection on new data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from infused.cli import options as o
from infused.cli import terminal
from infused.cli.terminal import Watch
from infused.exceptions import InputError

__all__ = ["APPLY_HELP", "apply"]

APPLY_HELP = o.help_page(
    """Reduce DATA to the features that were selected, in rank order.

    Columns are found by name, whatever their order; a target is not needed.
    """,
    "infused apply out/selection.json new-patients.csv --output reduced.csv",
    "infused apply out/selection.json patients.csv --output reduced.parquet",
)
SUFFIXES = (".parquet", ".csv")


@o.reads_features
def apply(
    record: o.RecordFile,
    data: o.Data,
    treatment: dict[str, object],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="A .parquet or .csv file to write.")
    ],
    transformed: Annotated[
        bool, typer.Option("--transformed", help="Give the values as the selection saw them.")
    ] = False,
    quiet: o.Quiet = False,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that exists.")] = False,
) -> None:
    """Write the selected features of other data."""
    from infused._runtime.files import check_place, write_whole
    from infused._runtime.spreadsheets import frame_csv
    from infused.workflow import Selection

    if output.suffix.lower() not in SUFFIXES:
        raise InputError(f"--output {str(output)!r}: the name must end in {' or '.join(SUFFIXES)}")
    check_place(output, force)
    selection = Selection.load(record)
    with Watch(quiet=quiet) as watch:
        reduced = selection.apply(data, transformed=transformed, **treatment)
        if output.suffix.lower() == ".csv":
            write_whole(output, frame_csv(reduced).encode())
        else:
            write_whole(output, reduced.to_parquet(index=False))
        watch.notes(reduced.attrs["notes"])
    if not quiet:
        size = f"{reduced.shape[0]:,} rows x {reduced.shape[1]:,} features"
        terminal.results().print(Text(f"{size} in {output}"), soft_wrap=True)
        again = o.typed("infused", "rerun", record)
        terminal.next_commands(terminal.results(), ("Make the selection again", again))
