"""What a fit looks like: plots that return matplotlib axes, and the page of a selection.

Matplotlib is loaded with the first plot. Where you give axes of your own, make their figure with
``layout="constrained"``, so that colour bars and feature names find room.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from infused._lazy import lazy_names

if TYPE_CHECKING:
    from infused.report.bench_figures import (
        plot_accuracy_curves,
        plot_accuracy_grid,
        plot_critical_difference,
    )
    from infused.report.compare_page import render_comparison
    from infused.report.figures import (
        plot_coefficients,
        plot_convergence,
        plot_feature_graph,
        plot_structure,
    )
    from infused.report.page import render_report

_HOME = {
    "plot_accuracy_curves": "bench_figures",
    "plot_accuracy_grid": "bench_figures",
    "plot_coefficients": "figures",
    "plot_convergence": "figures",
    "plot_critical_difference": "bench_figures",
    "plot_feature_graph": "figures",
    "plot_structure": "figures",
    "render_comparison": "compare_page",
    "render_report": "page",
}

__all__ = [
    "plot_accuracy_curves",
    "plot_accuracy_grid",
    "plot_coefficients",
    "plot_convergence",
    "plot_critical_difference",
    "plot_feature_graph",
    "plot_structure",
    "render_comparison",
    "render_report",
]

__getattr__ = lazy_names(__name__, _HOME)
