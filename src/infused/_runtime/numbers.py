"""Numbers as programs write them."""

from __future__ import annotations

import re

__all__ = ["LONGEST_NUMBER", "is_number"]

LONGEST_NUMBER = 1000  # characters; no number that anybody means has more

# Every text can be matched in one way alone: where there are two, a regular expression tries both.
PLAIN = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def is_number(text: str) -> bool:
    """Whether a text is a number as programs write it, spaces around it aside."""
    return len(text) <= LONGEST_NUMBER and PLAIN.fullmatch(text.strip()) is not None
