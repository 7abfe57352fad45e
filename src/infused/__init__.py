"""Feature selection with structural information.

Names are loaded when they are first used, so that ``import infused`` costs next to nothing; the stub beside
this file lists them.

A fork waits for imports that another thread has begun: the child could not import these modules otherwise, as
the locks on them would stay with a thread that the child does not have.
"""

import os as _os
import sys as _sys

# ``python -m infused`` searches the working folder before all that is installed. A module that lies beside
# somebody's data must not run, so the folder is left out, unless infused itself is found there.
if (
    (_sys.argv[:1] == ["-m"] and "infused" in _sys.orig_argv)
    and not _sys.flags.safe_path
    and __path__[0] != f"{_sys.path[0]}{_os.sep}infused"
):
    del _sys.path[0]

import concurrent.futures.thread as _pools  # noqa: F401  # its lock, and that of logging, are taken after waiting
import importlib as _importlib
import logging as _logging  # noqa: F401
import threading as _threading
import time as _time

import lazy_loader as _lazy

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)

#: What is imported when it is first needed; only these are waited for, as they never wait for a fork.
_IMPORTED = {
    *("infused", "numpy", "scipy", "sklearn", "joblib", "numba", "threadpoolctl", "psutil"),
    *("anndata", "h5py", "openpyxl", "pandas", "polars", "pyarrow", "zarr", "dask", "distributed"),
    *("filelock", "jinja2", "matplotlib", "requests", "rich", "typer"),
}
_PATIENCE_S = 10.0  # for one that waits for a lock that this thread has


def _finish_imports() -> None:
    """Wait until no other thread imports what infused needs."""
    end = _time.monotonic() + _PATIENCE_S
    while _others_import() and _time.monotonic() < end:
        _time.sleep(0.001)


def _others_import() -> bool:
    """Return whether another thread holds the lock of a module, which is there as long as it is imported."""
    locks = getattr(_importlib._bootstrap, "_module_locks", {})
    for name, reference in list(locks.items()):
        owner = getattr(reference(), "owner", None)
        if owner not in (None, _threading.get_ident()) and name.partition(".")[0] in _IMPORTED:
            return True
    return False


if hasattr(_os, "register_at_fork"):
    _os.register_at_fork(before=_finish_imports)
