"""What is wrong with the columns of a table: all of it in one message, with what solves it."""

from __future__ import annotations

from typing import Any

from infused._runtime.messages import SHOWN
from infused.data.errors import DataError
from infused.exceptions import Setting

__all__ = ["Problems"]

Words = tuple[str | Setting, ...]


class Problems:
    """Collects what is wrong, and raises it in one go."""

    def __init__(self) -> None:
        self.found: list[tuple[Words, Words, Setting]] = []

    def add(self, what: Words, ways: Words, solution: Setting) -> None:
        """A problem, the ways out of it in words, and the one to take where there are several problems."""
        self.found.append((what, ways, solution))

    def tell(self) -> None:
        """Raise where there is any: one with its ways out, several with one setting for all."""
        if len(self.found) == 1:
            what, ways, _ = self.found[0]
            raise DataError(*what, ": ", *ways)
        if self.found:
            parts: list[str | Setting] = [f"{len(self.found):,} problems: "]
            for n, (what, _, _) in enumerate(self.found[:SHOWN]):
                parts += [f"{'; ' if n else ''}({n + 1}) ", *what]
            if len(self.found) > SHOWN:
                parts.append(f"; and {len(self.found) - SHOWN:,} more")
            parts.append("; this goes on without them: ")
            for n, setting in enumerate(_together([solution for _, _, solution in self.found])):
                parts += [" " if n else "", setting]
            raise DataError(*parts)


def _together(settings: list[Setting]) -> list[Setting]:
    """One setting for each name; lists are joined."""
    joined: dict[str, Any] = {}
    for one in settings:
        both = isinstance(one.value, list) and one.name in joined
        joined[one.name] = list(dict.fromkeys([*joined[one.name], *one.value])) if both else one.value
    return [Setting(name, value) for name, value in joined.items()]
