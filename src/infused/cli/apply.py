"""``infused apply``: an earlier selection on new data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, BinaryIO

import typer
from rich.text import Text

from infused.cli import options as o
from infused.cli import terminal
from infused.cli.errors import CommandError
from infused.cli.files import check_place, write_whole
from infused.cli.progress import Stages
from infused.cli.records import RecordFile, read_record

__all__ = ["APPLY_EXAMPLES", "apply"]

APPLY_EXAMPLES = o.examples(
    "infused apply out/selection.json new-patients.csv --output reduced.csv",
    "infused apply out/selection.json patients.csv --output reduced.parquet",
)
SUFFIXES = (".parquet", ".csv")


def apply(
    record: RecordFile,
    data: o.Data,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="A .parquet or .csv file to write.")
    ],
    transformed: Annotated[
        bool, typer.Option("--transformed", help="Give the values as the selection saw them.")
    ] = False,
    x_key: o.XKey = None,
    impute: o.Impute = None,
    separator: o.Separator = None,
    encoding: o.Encoding = None,
    no_header: o.NoHeader = False,
    quiet: o.Quiet = False,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that exists.")] = False,
) -> None:
    """Reduce DATA to the features that were selected, in rank order.

    Columns are found by name, whatever their order; a target is not needed.
    """
    from infused.data import load_features
    from infused.selection.choices import transformed as transform_values

    if output.suffix.lower() not in SUFFIXES:
        raise CommandError(f"--output {str(output)!r}: the name must end in {' or '.join(SUFFIXES)}")
    check_place(output, force)
    earlier = read_record(record)
    names = [feature.name for feature in earlier.selected]
    if not names:
        raise CommandError(f"{str(record)!r} selected no features, so there is nothing to apply")
    with Stages(quiet=quiet) as stages:
        with stages.stage("read", f"reading {Path(data).name}"):
            features = load_features(
                data,
                names,
                x_key=x_key,
                impute=impute,
                separator=separator,
                encoding=encoding,
                header=not no_header,
            )
        X = transform_values(features.X, earlier.request.transform if transformed else "none", names)
        with stages.stage("write", "writing"):
            write_whole(output, lambda file: _write(file, X, names, output.suffix.lower()))
        stages.notes(features.notes)
    if not quiet:
        size = f"{X.shape[0]:,} rows x {X.shape[1]:,} features"
        terminal.results().print(Text(f"{size} in {output}"), soft_wrap=True)


def _write(file: BinaryIO, X: Any, names: list[str], suffix: str) -> None:
    import pyarrow as pa
    from pyarrow import csv, parquet

    from infused.selection.distributions import dense_columns

    columns = dense_columns(X, slice(None)).T.copy()
    table = pa.table([pa.array(column) for column in columns], names=names)
    if suffix == ".csv":
        csv.write_csv(table, file)
    else:
        parquet.write_table(table, file)
