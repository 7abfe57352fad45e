"""The error for data that cannot be used as they are, and the words that its messages share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from shlex import quote
from typing import Any

from infused.exceptions import InfusedError

__all__ = ["DataError", "count", "listed", "parsing", "quoted", "reason", "repeated", "suggestion"]

SHOWN = 5  # names that a message lists before it says how many more there are
LONGEST = 60  # characters of a name that a message shows


class DataError(InfusedError, ValueError):
    """The data cannot be used as they are; one line names the culprit and the option that helps.

    Options are named as the command line spells them: ``--one-hot`` is ``one_hot=True`` of `load_data`.
    """

    def __init__(self, message: str):
        super().__init__(" ".join(message.splitlines()))


def quoted(name: Any) -> str:
    """In quotes, control characters escaped; a name is cut where it would fill the screen, a path never."""
    text = str(name)
    return repr(text if len(text) <= LONGEST or isinstance(name, Path) else text[: LONGEST - 1] + "…")


def listed(names: Iterable[Any]) -> str:
    """``'a', 'b', 'c', 'd', 'e' and 7 more``."""
    every = list(names)
    text = ", ".join(quoted(name) for name in every[:SHOWN])
    return text if len(every) <= SHOWN else f"{text} and {len(every) - SHOWN:,} more"


def repeated(option: str, names: Iterable[Any]) -> str:
    """``--drop id --drop 'row number'``, as it is typed in a shell."""
    return " ".join(f"{option} {quote(str(name))}" for name in list(names)[:SHOWN])


def count(number: int, noun: str) -> str:
    """``1 column``, ``2,000 columns``."""
    plural = noun[:-1] + "ies" if noun.endswith("y") else noun + ("es" if noun.endswith("s") else "s")
    return f"{number:,} {noun if number == 1 else plural}"


def suggestion(name: str, candidates: Sequence[str]) -> str:
    """``; did you mean 'petal width'?``, or nothing when no candidate is close."""
    folded = {candidate.casefold(): candidate for candidate in candidates}
    close = get_close_matches(name.casefold(), list(folded), n=3)
    return f"; did you mean {listed(folded[match] for match in close)}?" if close else ""


def reason(error: BaseException) -> str:
    """What a library said, short enough for the end of a line."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 160 else text[:159] + "…"


@contextmanager
def parsing(path: Path, what: str) -> Iterator[None]:
    """Turn whatever a library raises on a damaged file into a `DataError` that names the file.

    Truncated files make the parsers fail in many ways (``zlib.error``, ``struct.error``, ``KeyError``),
    so every exception counts; wrap the library's call alone, never code of ours.
    """
    try:
        yield
    except (DataError, MemoryError):
        raise
    except Exception as error:
        message = f"{quoted(path)} could not be read as {what}; is it complete? ({reason(error)})"
        raise DataError(message) from error
