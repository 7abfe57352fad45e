"""Distributions and U, computed once for all selectors that look at the same data.

A selector computes what it needs when it is fitted. Inside ``with sharing():`` what was computed for the last
X and y is kept, and the next selector that needs it for the same X and y is given it, and must not change it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import process_time
from typing import Any, TypeVar

from joblib import hash as content_hash

__all__ = ["Shared", "saved_seconds", "shared", "sharing"]

Value = TypeVar("Value")

LARGEST = 2**30  # bytes of what is kept: a U of 11,585 features


class Shared:
    """What was computed from the last X and y."""

    def __init__(self) -> None:
        self._source = ""
        self._kept: dict[Hashable, tuple[Any, float]] = {}
        self.seconds = 0.0
        """CPU seconds that would have been spent without sharing, less those that sharing took."""

    def get(self, what: Hashable, source: tuple[Any, ...], compute: Callable[[], Value]) -> Value:
        """What was computed from this source before, or computed now."""
        start = process_time()
        name = content_hash(tuple(map(_content, source)))
        if name != self._source:
            self._source, self._kept = name, {}
        self.seconds -= process_time() - start
        if what not in self._kept:
            start, before = process_time(), self.seconds
            value = compute()
            if getattr(value, "nbytes", 0) <= LARGEST:
                self._kept[what] = value, process_time() - start + self.seconds - before
            return value
        kept, seconds = self._kept[what]
        self.seconds += seconds
        found: Value = kept
        return found


_current: ContextVar[Shared | None] = ContextVar("infused.sharing", default=None)


@contextmanager
def sharing(kept: Shared | None = None) -> Iterator[Shared]:
    """Keep what is computed inside for the next who needs it; with what is kept already, if given."""
    kept = Shared() if kept is None else kept
    token = _current.set(kept)
    try:
        yield kept
    finally:
        _current.reset(token)


def shared(what: Hashable, source: tuple[Any, ...], compute: Callable[[], Value]) -> Value:
    """Compute, or take what was computed from the same source before, where that is kept."""
    kept = _current.get()
    return compute() if kept is None else kept.get(what, source, compute)


def saved_seconds() -> float:
    """CPU seconds that this process has saved by sharing."""
    kept = _current.get()
    return 0.0 if kept is None else kept.seconds


def _content(part: Any) -> Any:
    """What a sparse matrix holds, without the flags that SciPy sets when it is looked at."""
    if not hasattr(part, "indptr"):
        return part
    return part.format, part.shape, part.data, part.indices, part.indptr
