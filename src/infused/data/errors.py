"""The error for data that cannot be used as they are."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from infused._runtime.messages import quoted, reason
from infused.exceptions import InputError

__all__ = ["DataError", "parsing"]


class DataError(InputError):
    """The data cannot be used as they are; one line names the culprit and the option that helps.

    See Also
    --------
    load_data : Raises it.

    Examples
    --------
    >>> from infused.data import DataError, dataset_info
    >>> try:
    ...     dataset_info("wines")
    ... except DataError as error:
    ...     print(error)
    no data are named 'wines'; did you mean 'wine'?
    """


@contextmanager
def parsing(path: Path, what: str) -> Iterator[None]:
    """Turn whatever a library raises on a damaged file into a `DataError` that names the file.

    Truncated files make the parsers fail in many ways (``zlib.error``, ``struct.error``, ``KeyError``),
    so every exception counts; wrap the library's call alone, never code of ours.
    """
    try:
        yield
    except (InputError, MemoryError):
        raise
    except Exception as error:
        message = f"{quoted(path)} could not be read as {what}; is it complete? ({reason(error)})"
        raise DataError(message) from error
