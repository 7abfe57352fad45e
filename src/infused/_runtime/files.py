"""Files that are whole or absent: one writer, one lock, and checks before any work is done."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import time
from typing import BinaryIO

from infused._runtime.extras import extra
from infused.exceptions import InputError, Setting

__all__ = ["alone", "alone_in", "check_place", "check_writable", "remove_leftovers", "write_whole"]

MARK = ".part"  # the end of a temporary name
STALE_S = 3600.0  # no file takes this long to write


def check_place(path: Path, force: bool) -> None:
    """Refuse a file that exists, or whose folder cannot take it."""
    if path.is_dir():
        raise InputError(f"{str(path)!r} is a folder: give the name of a file in it")
    if path.exists() and not force:
        raise InputError(
            f"{str(path)!r} exists: choose another name, or replace it with ", Setting("force", True)
        )
    check_writable(path.parent)


def check_writable(folder: Path) -> None:
    """Refuse a folder that cannot be made or written to."""
    nearest = next(parent for parent in (folder, *folder.absolute().parents) if parent.exists())
    if not nearest.is_dir():
        raise InputError(f"{str(nearest)!r} is a file, not a folder: choose another place")
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise InputError(f"{str(nearest)!r} cannot be written to: choose another place, or change its rights")


def write_whole(path: Path, write: bytes | Callable[[BinaryIO], object]) -> None:
    """Write under a temporary name in the same folder, wait for the disk, rename.

    Who reads the folder meanwhile, or after a kill, finds the old file or the new one.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}{MARK}")
    try:
        with temporary.open("xb") as file:
            if isinstance(write, bytes):
                file.write(write)
            else:
                write(file)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def remove_leftovers(paths: Iterable[Path]) -> None:
    """Remove those that are temporary files of killed processes; those of running ones are younger."""
    for path in paths:
        with suppress(FileNotFoundError):
            if path.suffix == MARK and time() - path.stat().st_mtime > STALE_S:
                path.unlink()


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Let one process at a time write to a folder; a system that can lock it leaves nothing in it."""
    try:
        import fcntl
    except ImportError:  # Windows
        lock = folder / ".lock"
        with alone(lock):
            yield
        with suppress(OSError):
            lock.unlink()
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # some network drives know no locks; files are still whole and in order
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Let one process at a time in; the system lets go of the lock when a process dies."""
    with extra("filelock").FileLock(path):
        yield
