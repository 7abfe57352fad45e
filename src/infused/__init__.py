"""Feature selection with structural information.

Names are loaded when they are first used, so that ``import infused`` costs next to nothing; the stub beside
this file lists them.
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

import lazy_loader as _lazy

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
