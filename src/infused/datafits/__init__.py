"""Datafits: what a prediction costs on the training samples, as value, gradient and curvature."""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
