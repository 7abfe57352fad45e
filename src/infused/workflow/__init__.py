"""The main jobs as functions: what the command line can do, Python can do with one call."""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
