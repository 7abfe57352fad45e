"""Records that a command is given."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from infused.cli.errors import CommandError

if TYPE_CHECKING:
    from infused.selection import SelectionRecord

__all__ = ["RecordFile", "read_record"]

RecordFile: TypeAlias = Annotated[
    Path, typer.Argument(metavar="SELECTION.JSON", help="What infused select wrote.")
]


def read_record(path: Path) -> SelectionRecord:
    """The record in a file; an error names the file."""
    from infused.selection import RecordError, SelectionRecord

    if path.is_dir():
        path = path / "selection.json"
    try:
        return SelectionRecord.from_json(path.read_text(encoding="utf-8"))
    except RecordError as error:
        raise CommandError(f"{str(path)!r}: {error}") from error
    except UnicodeDecodeError as error:
        raise CommandError(f"{str(path)!r} is no text: pass a selection.json") from error
