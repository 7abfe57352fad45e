"""Values that people type: numbers, True, False, None, else plain words."""

from __future__ import annotations

import ast
from typing import Any

__all__ = ["typed_value"]


def typed_value(text: str) -> Any:
    """A number, True, False, None or a tuple where the text is one; else the text itself.

    >>> typed_value("0.1"), typed_value("None"), typed_value("label")
    (0.1, None, 'label')
    """
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
