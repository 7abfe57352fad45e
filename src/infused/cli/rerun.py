"""``infused rerun``: the same request again, checked against its record."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from infused.cli import options as o
from infused.cli import terminal
from infused.cli.errors import OUR_FAULT, CommandError
from infused.cli.progress import Stages
from infused.cli.reading import load_requested
from infused.cli.records import RecordFile, read_record
from infused.cli.results import Results
from infused.cli.selecting import check_request, select_features

if TYPE_CHECKING:
    from infused.selection import Request, SelectionRecord

__all__ = ["RERUN_EXAMPLES", "rerun"]

RERUN_EXAMPLES = o.examples(
    "infused rerun infused-digits/selection.json",
    "infused rerun out/selection.json --data patients.csv --output again",
)


def rerun(
    record: RecordFile,
    data: Annotated[
        str | None, typer.Option("--data", metavar="DATA", help="Where the data are now, if they were moved.")
    ] = None,
    jobs: o.Jobs = -1,
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
    """Repeat the selection that a selection.json records, and check that the same features come out.

    Data that changed since then are an error. Files are written only with --output.
    """
    earlier = read_record(record)
    request = _request(earlier, data)
    # Without a folder nothing is written: that the features are the same is the answer.
    results = Results(output, report=report, quiet=quiet, force=force)
    results.check()
    check_request(request)
    o.check_jobs(jobs)
    with Stages(quiet=quiet) as stages:
        with stages.stage("read", f"reading {Path(request.source).name}"):
            dataset = load_requested(request.source, request.target, request.reading)
            same_data = dataset.fingerprint == earlier.data.fingerprint
        if not same_data:
            changed = f"{request.source!r} changed since {earlier.created}"
            if not force:
                raise CommandError(f"{changed}: --force selects from it as it is now")
            terminal.warn(stages.console, f"{changed}, so other features may come out")
        again = select_features(dataset, request, stages, jobs)
        written = results.write(again, dataset, stages)
    difference = _difference(earlier, again)
    if not quiet:
        console = terminal.results()
        console.print(difference or _agreement(again), soft_wrap=True)
        for path in written:
            console.print(f"  {path}", soft_wrap=True)
    if difference and same_data:
        raise typer.Exit(OUR_FAULT)


def _request(earlier: SelectionRecord, data: str | None) -> Request:
    from infused.data.named import find_named

    source = earlier.request.source
    if data is not None:
        return replace(earlier.request, source=data)
    if find_named(source) is None and not Path(source).expanduser().exists():
        raise CommandError(f"{source!r}, which the record names, is not here: say where it is with --data")
    return earlier.request


def _agreement(again: SelectionRecord) -> str:
    n = len(again.selected)
    return f"The same {n:,} features came out, in the same order."


def _difference(earlier: SelectionRecord, again: SelectionRecord) -> str:
    """What is not the same, in a sentence; empty where all is."""
    before = [feature.name for feature in earlier.selected]
    now = [feature.name for feature in again.selected]
    if before == now:
        return ""
    versions = f"then infused {earlier.versions.infused}, now {again.versions.infused}"
    gone = len(set(before) - set(now))
    if gone == 0 and len(before) == len(now):
        return f"The same {len(now):,} features came out, but in another order ({versions})."
    return f"Other features came out: {gone:,} of {len(before):,} are no longer selected ({versions})."
