"""What a fit looks like: plots that return matplotlib axes, and the page of a selection.

Matplotlib is loaded with the first plot. Where you give axes of your own, make their figure with
``layout="constrained"``, so that colour bars and feature names find room.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

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
    "plot_accuracy_curves": "infused.report.bench_figures",
    "plot_accuracy_grid": "infused.report.bench_figures",
    "plot_coefficients": "infused.report.figures",
    "plot_convergence": "infused.report.figures",
    "plot_critical_difference": "infused.report.bench_figures",
    "plot_feature_graph": "infused.report.figures",
    "plot_structure": "infused.report.figures",
    "render_comparison": "infused.report.compare_page",
    "render_report": "infused.report.page",
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


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'infused.report' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)
