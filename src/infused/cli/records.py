"""``infused rerun`` and ``infused apply``: a recorded selection again, or on new data."""

from __future__ import annotations

from pathlib import Path

import typer
from rich.text import Text

from infused._runtime.messages import extra
from infused.cli import options as o
from infused.cli import terminal
from infused.cli.terminal import Watch
from infused.exceptions import InputError


@o.command(
    """Repeat the selection that a selection.json records, and check that the same features come out.

    Data that changed since then are an error. Files are written only with --output. A record runs no code but
    that of methods that infused methods lists, unless --allow-imports is given.
    """,
    "infused rerun infused-digits/selection.json",
    "infused rerun out/selection.json --data patients.csv --output again",
    data=o.option("--data DATA", "Where the data are now, if they were moved."),
    force=o.option("--force", "Go on although the data changed, and replace earlier results.", o.RESULTS),
)
def rerun(
    record: Path,
    data: str | None = None,
    jobs: int = -1,
    allow_imports: bool = False,
    output: Path | None = None,
    report: bool = True,
    quiet: bool = False,
    force: bool = False,
) -> None:
    """Repeat a recorded selection, and say whether the same came out."""
    from infused import workflow
    from infused.workflow.selection import check_folder

    if output is not None:
        check_folder(output, force)
        if report:
            extra("jinja2")  # before the work, not after it
    with Watch(quiet=quiet):
        found = workflow.rerun(record, data, n_jobs=jobs, force=force, allow_imports=allow_imports)
        written = [] if output is None else found.again.save(output, force=force, report=report)
    if not quiet:
        console = terminal.results()
        console.print(str(found), soft_wrap=True)
        for path in written:
            console.print(f"  {path}", soft_wrap=True)
    if found.difference and found.same_data:
        raise typer.Exit(o.OUR_FAULT)


SUFFIXES = (".parquet", ".csv")


@o.command(
    """Reduce DATA to the features that were selected, in rank order.

    Columns are found by name, whatever their order; a target is not needed.
    """,
    "infused apply out/selection.json new-patients.csv --output reduced.csv",
    "infused apply out/selection.json patients.csv --output reduced.parquet",
    reads=("x_key", "sheet", "missing", "separator", "encoding", "header"),
    output=o.option("--output -o FILE", "A .parquet or .csv file to write."),
    force=o.option("--force", "Replace a file that exists."),
)
def apply(
    record: Path,
    data: str,
    reading: dict[str, object],
    output: Path,
    transformed: bool = False,
    id: str | None = None,
    quiet: bool = False,
    force: bool = False,
) -> None:
    """Write the selected features of other data."""
    from infused._runtime.files import check_place, frame_csv, write_whole
    from infused.workflow import Selection

    if output.suffix.lower() not in SUFFIXES:
        raise InputError(f"--output {str(output)!r}: the name must end in {' or '.join(SUFFIXES)}")
    check_place(output, force)
    selection = Selection.load(record)
    with Watch(quiet=quiet) as watch:
        reduced = selection.apply(data, transformed=transformed, id=id, **reading)
        if output.suffix.lower() == ".csv":
            write_whole(output, frame_csv(reduced).encode())
        else:
            write_whole(output, reduced.to_parquet(index=False))
        watch.notes(reduced.attrs["notes"])
    if not quiet:
        size = f"{reduced.shape[0]:,} rows x {len(selection):,} features"
        terminal.results().print(Text(f"{size} in {output}"), soft_wrap=True)
        again = o.typed("infused", "rerun", record)
        terminal.next_commands(terminal.results(), ("Repeat the selection", again))
