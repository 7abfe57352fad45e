"""Selectors behind scikit-learn's interface, and their registry.

Classes are loaded when they are first used, so that their ids can be listed without scikit-learn.
"""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
