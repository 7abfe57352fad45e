"""What a fit looks like: plots that return matplotlib axes. Importing this needs matplotlib.

Where you give axes of your own, make their figure with ``layout="constrained"``, so that colour bars and
feature names find room.
"""

from infused.report.figures import (
    plot_coefficients,
    plot_convergence,
    plot_feature_graph,
    plot_structure,
)

__all__ = ["plot_coefficients", "plot_convergence", "plot_feature_graph", "plot_structure"]
