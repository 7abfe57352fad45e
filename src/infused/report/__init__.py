"""What a fit looks like: plots that return matplotlib axes, and pages that open without a network.

Matplotlib is loaded with the first plot. Where you give axes of your own, make their figure with
``layout="constrained"``, so that colour bars and feature names find room.
"""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
