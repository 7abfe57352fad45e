"""What a fit looks like: plots that return matplotlib axes, and pages that open without a network.

Plots take a fitted selector or what :func:`infused.select` returns. Matplotlib is loaded with the first one.
Where you give axes of your own, make their figure with ``layout="constrained"``, so that colour bars and
feature names find room.

Examples
--------
>>> import infused
>>> selection = infused.select("wine", k=4)
>>> ax = infused.report.plot_coefficients(selection)
>>> len(ax.get_xticklabels())
4
"""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
