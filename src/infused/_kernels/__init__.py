"""Compiled functions on plain arrays, no objects.

They release the interpreter lock and never use fast-math where bits are read, and they are cached on disk.
Each is loaded when it is first asked for as an attribute of this package, so that nobody who only imports
infused waits for the compiler; the stub beside this file lists them. Ask before a loop or a thread starts.
"""

from typing import Any as _Any

import lazy_loader as _lazy

_load, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)


def __getattr__(name: str) -> _Any:
    kernel = globals()[name] = _load(name)
    return kernel
