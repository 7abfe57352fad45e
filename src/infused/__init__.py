"""Feature selection with structural information.

Names are loaded when they are first used, so that ``import infused`` costs next to nothing; the stub beside
this file lists them.
"""

import lazy_loader as _lazy

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
