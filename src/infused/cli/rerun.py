"""``infused rerun``: the same request again, checked against its record."""

from __future__ import annotations

from typing import Annotated

import typer

from infused._runtime.extras import extra
from infused.cli import options as o
from infused.cli import terminal
from infused.cli.errors import OUR_FAULT
from infused.cli.terminal import Watch

__all__ = ["RERUN_HELP", "rerun"]

RERUN_HELP = o.help_page(
    """Repeat the selection that a selection.json records, and check that the same features come out.

    Data that changed since then are an error. Files are written only with --output. A record runs no code but
    that of methods that infused methods lists, unless --allow-imports is given.
    """,
    "infused rerun infused-digits/selection.json",
    "infused rerun out/selection.json --data patients.csv --output again",
)


def rerun(
    record: o.RecordFile,
    data: Annotated[
        str | None, typer.Option("--data", metavar="DATA", help="Where the data are now, if they were moved.")
    ] = None,
    jobs: o.Jobs = -1,
    allow_imports: o.AllowImports = False,
    output: o.Output = None,
    report: o.Report = True,
    quiet: o.Quiet = False,
    force: Annotated[
        bool,
        typer.Option(
            "--force",
            help="Go on although the data changed, and replace earlier results.",
            rich_help_panel=o.RESULTS,
        ),
    ] = False,
) -> None:
    """Repeat a recorded selection, and say whether the same came out."""
    from infused import workflow
    from infused.workflow.outputs import check_folder

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
        raise typer.Exit(OUR_FAULT)
