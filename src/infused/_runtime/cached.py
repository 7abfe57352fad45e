"""``cached_property`` as it is from Python 3.12 on: without a lock.

That of 3.11 holds one for all instances of a class while it computes: threads wait for each other, and in a
fork of a process in which another thread computes, the child waits for ever.
"""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any

__all__ = ["cached_property"]

if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property
else:

    class cached_property(functools.cached_property):  # noqa: N801  # the name that everyone knows
        """An attribute that is computed when it is first asked for."""

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            if instance is None:
                return self
            value = vars(instance)[self.attrname] = self.func(instance)
            return value
