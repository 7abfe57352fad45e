"""What a selection found: its record, redundancy among the selected, and the files that hold it.

Names are loaded when they are first used, so that a light command does not pay for SciPy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from infused._lazy import lazy_names

if TYPE_CHECKING:
    from infused.selection.outputs import OutputExistsError, write_outputs
    from infused.selection.record import RecordError, Request, SelectionRecord
    from infused.selection.redundancy import redundancy_groups
    from infused.selection.summary import summarize

_HOME = {
    "OutputExistsError": "outputs",
    "RecordError": "record",
    "Request": "record",
    "SelectionRecord": "record",
    "redundancy_groups": "redundancy",
    "summarize": "summary",
    "write_outputs": "outputs",
}

__all__ = [
    "OutputExistsError",
    "RecordError",
    "Request",
    "SelectionRecord",
    "redundancy_groups",
    "summarize",
    "write_outputs",
]

__getattr__ = lazy_names(__name__, _HOME)
