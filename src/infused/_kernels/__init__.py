"""Compiled functions on plain arrays, no objects.

They release the interpreter lock and never use fast-math where bits are read, and they are cached on disk.
Each is loaded when it is first asked for as an attribute of this package, so that nobody who only imports
infused waits for the compiler; the stub beside this file lists them. Ask before a loop or a thread starts.

A fork waits for a kernel that another thread is loading: the child could not import or compile it otherwise,
as the locks on it would stay with a thread that the child does not have.
"""

import os as _os
from threading import RLock as _RLock
from typing import Any as _Any

import lazy_loader as _lazy

_load, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
_loading = _RLock()


def __getattr__(name: str) -> _Any:
    with _loading:
        kernel = globals()[name] = _load(name)
        return kernel


if hasattr(_os, "register_at_fork"):
    _os.register_at_fork(
        before=_loading.acquire, after_in_parent=_loading.release, after_in_child=_loading.release
    )
