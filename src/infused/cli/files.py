"""One file, written whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from infused.cli.errors import CommandError

__all__ = ["check_place", "write_whole"]


def check_place(path: Path, force: bool) -> None:
    """Refuse a file that exists, or whose folder cannot take it, before any work is done."""
    if path.is_dir():
        raise CommandError(f"{str(path)!r} is a folder: give the name of a file in it")
    if path.exists() and not force:
        raise CommandError(f"{str(path)!r} exists: choose another name, or replace it with --force")
    check_writable(path.parent)


def check_writable(folder: Path) -> None:
    """Refuse a folder that cannot be made or written to."""
    nearest = next(parent for parent in (folder, *folder.absolute().parents) if parent.exists())
    if not nearest.is_dir():
        raise CommandError(f"{str(nearest)!r} is a file, not a folder: choose another place")
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise CommandError(
            f"{str(nearest)!r} cannot be written to: choose another place, or change its rights"
        )


def write_whole(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Write under a temporary name in the same folder, wait for the disk, rename."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}.part")
    try:
        with temporary.open("xb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
