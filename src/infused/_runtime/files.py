"""Files that are written whole or not at all, their lock, and CSV that is safe in spreadsheets."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from time import time
from typing import Any, BinaryIO, TypeAlias

from infused._runtime.checks import is_number
from infused._runtime.messages import extra
from infused.exceptions import InputError, Setting

MARK = ".part"  # the end of a temporary name
JOURNAL = ".replacing"  # the end of the name of a list of files that are being replaced
LONGEST_JOURNAL = 10_000
STALE_S = 3600.0  # no file takes this long to write

#: What a file is to hold, or what writes it.
Content: TypeAlias = bytes | Callable[[BinaryIO], object]


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


def write_whole(path: Path, write: Content) -> None:
    """Write under a temporary name in the same folder, wait for the disk, rename.

    Who reads the folder meanwhile, or after a kill, finds the old file or the new one.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = _aside(path, secrets.token_hex(6))
    try:
        _write(temporary, write)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def page_or_path(page: str, path: str | os.PathLike[str] | None) -> str:
    """Return a page; where a path is given, write it there and return the path."""
    if path is None:
        return page
    write_whole(Path(path), page.encode())
    return str(path)


def _aside(path: Path, token: str) -> Path:
    return path.with_name(f".{path.name}.{token}{MARK}")


def _write(path: Path, write: Content) -> None:
    try:
        with path.open("xb") as file:
            if isinstance(write, bytes):
                file.write(write)
            else:
                write(file)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:  # a full disk names no file
        error.filename = error.filename or str(path.parent)
        raise


def write_together(
    folder: Path,
    names: Sequence[str],
    contents: Mapping[str, Content | None],
    check: Callable[[], object] = lambda: None,
) -> None:
    """Replace the files of a result together: write all of them aside, then rename them; None removes one.

    An error before the first rename leaves the old files as they were. A list of the renames (the journal) is
    written before them: where a kill comes between two, the next `settle` or `write_together` does the rest.
    ``names`` are all that the result can have; ``check`` is called when no other process writes there.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with alone_in(folder):
        _finish(folder, names)
        check()
        journal = _journal(folder, names)
        remove_leftovers(path for name in (*names, journal.name) for path in folder.glob(f".{name}.*"))
        token = secrets.token_hex(6)
        asides = {name: _aside(folder / name, token) for name in names if contents.get(name) is not None}
        steps = [f"{'+' if name in asides else '-'}{name}" for name in names if name in contents]
        try:
            for name, aside in asides.items():
                _write(aside, contents[name] or b"")
            write_whole(journal, "\n".join([token, *steps]).encode())
            _finish(folder, names)
        except OSError:
            if all(aside.exists() for aside in asides.values()):  # nothing is replaced: the old files stay
                journal.unlink(missing_ok=True)
            raise
        except (KeyboardInterrupt, SystemExit):
            _finish(folder, names)  # what has begun takes less than a moment
            raise
        finally:
            if not journal.exists():
                for aside in asides.values():
                    aside.unlink(missing_ok=True)


def settle(folder: Path, names: Sequence[str]) -> None:
    """Finish what a killed process began to replace, unless the folder cannot be written to."""
    if _journal(folder, names).exists():
        with suppress(OSError), alone_in(folder):
            _finish(folder, names)


def _journal(folder: Path, names: Sequence[str]) -> Path:
    return folder / f".{names[-1]}{JOURNAL}"


def _finish(folder: Path, names: Sequence[str]) -> None:
    """Do the steps of a journal that are left. Somebody else may have written it: it moves no other files."""
    journal = _journal(folder, names)
    try:
        with journal.open("rb") as file:
            lines = file.read(LONGEST_JOURNAL).decode("ascii", "replace").splitlines()
    except FileNotFoundError:
        return
    known = {f"{sign}{name}" for name in names for sign in "+-"}
    if re.fullmatch("[0-9a-f]{12}", "".join(lines[:1])) and known.issuperset(lines[1:]):
        with _held_open(folder / step[1:] for step in lines[1:]):
            for step in lines[1:]:
                path = folder / step[1:]
                if step.startswith("-"):
                    path.unlink(missing_ok=True)
                else:
                    with suppress(FileNotFoundError):  # it is in its place already
                        _aside(path, lines[0]).replace(path)
    journal.unlink(missing_ok=True)


@contextmanager
def _held_open(paths: Iterable[Path]) -> Iterator[None]:
    """Let the system free the space of replaced files later: their renames take 0.1 ms instead of 4."""
    with ExitStack() as held:
        for path in paths if os.name == "posix" else ():  # Windows replaces no file that is open
            with suppress(OSError):
                held.callback(os.close, os.open(path, os.O_RDONLY | os.O_NONBLOCK))
        yield


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
        try:
            with alone(lock):
                yield
        finally:
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


FORMULA = re.compile(r"[=+\-@\t\r]")
GUARDED = re.compile(r"'+[=+\-@\t\r]")
SPLITTING = re.compile(r'[,;\t"\r\n]')  # where commas are decimal signs, a semicolon ends a cell


def guarded(name: str) -> str:
    """Guard a name, so that no spreadsheet takes it for a formula."""
    formula = FORMULA.match(name) and not is_number(name)
    # A name that looks as if it had been guarded gets one more apostrophe, so that each reads back as itself.
    return f"'{name}" if formula or GUARDED.match(name) else name


def csv_text(rows: Iterable[Iterable[Any]]) -> str:
    """Write rows of numbers, texts and None as CSV; texts are guarded."""
    return "".join(",".join(map(_cell, row)) + "\n" for row in rows)


def frame_csv(frame: Any) -> str:
    """Write a data frame as CSV, its column names and texts guarded; missing values are empty."""
    from pandas.api.types import is_numeric_dtype

    header = csv_text([map(str, frame.columns)])
    if all(is_numeric_dtype(kind) for kind in frame.dtypes):
        return header + str(frame.to_csv(index=False, header=False, lineterminator="\n"))
    columns = [frame.iloc[:, j] for j in range(frame.shape[1])]
    cells = [column.astype(object).where(column.notna(), None).tolist() for column in columns]
    return header + csv_text(zip(*cells, strict=True))


def _cell(value: Any) -> str:
    if value is None:
        return ""
    text = guarded(value) if isinstance(value, str) else str(value)
    if not text and isinstance(value, str):
        return '""'
    return f'"{text.replace(chr(34), chr(34) * 2)}"' if SPLITTING.search(text) else text
