"""Small charts of the best features: their values in each class, or against a real target."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from infused.record.schema import ClassDistribution, SelectionRecord, TargetScatter
from infused.report.html.charts import Chart, crossed, label, rounded

__all__ = ["FEW_CLASSES", "distribution_charts"]

FEW_CLASSES = 6  # more curves in one small chart cannot be told apart
MOST_CLASS_NAMES = 12


def distribution_charts(record: SelectionRecord) -> list[Chart]:
    """One small chart for each of the best features."""
    if record.scatters:
        return [_scatter(record, n, scatter) for n, scatter in enumerate(record.scatters)]
    classes = [one.name for one in record.data.classes or ()]
    drawn = _curves if len(classes) <= FEW_CLASSES else _strips
    return [drawn(n, found, classes) for n, found in enumerate(record.distributions)]


def _shares(found: ClassDistribution) -> list[list[float]]:
    """Percent of each class in each bin, so that large and small classes compare."""
    return [[round(100.0 * count / max(1, sum(row)), 2) for count in row] for row in found.counts]


def _curves(n: int, found: ClassDistribution, classes: list[str]) -> Chart:
    edges = [rounded(edge) for edge in found.edges]
    bins = [f"{low:.4g} to {high:.4g}" for low, high in pairwise(found.edges)]
    traces = [
        {
            "type": "scatter",
            "mode": "lines",
            "name": label(name),
            # An outline that starts and ends on the axis.
            "x": [edges[0], *edges],
            "y": [0, *share, 0],
            "customdata": [bins[0], *bins, bins[-1]],
            "line": {"color": f"@series{c}", "width": 1.8, "shape": "hv"},
            "fill": "tozeroy",
            "fillcolor": f"@wash{c}",
            "hovertemplate": "%{fullData.name}<br>%{customdata}: %{y:.1f}%<extra></extra>",
        }
        for c, (name, share) in enumerate(zip(classes, _shares(found), strict=True))
    ]
    upwards = {"nticks": 4, "ticksuffix": "%", "rangemode": "tozero"}
    axes = {"xaxis": {"nticks": 5, "showgrid": False}, "yaxis": upwards}
    return Chart(f"distribution{n}", found.name, "", 170, traces, axes)


def _strips(n: int, found: ClassDistribution, classes: list[str]) -> Chart:
    few = len(classes) <= MOST_CLASS_NAMES
    trace = {
        "type": "heatmap",
        "x": [rounded(edge) for edge in found.edges],
        "y": list(range(len(classes))),
        "z": _shares(found),
        "zmin": 0,
        "colorscale": "@sequential",
        "showscale": False,
        "ygap": 1 if few else 0,
        "crossed": crossed(classes, [f"{low:.4g} to {high:.4g}" for low, high in pairwise(found.edges)]),
        "hovertemplate": "%{customdata}: %{z:.1f}%<extra></extra>",
    }
    rows: dict[str, Any] = {"showgrid": False, "range": [len(classes) - 0.5, -0.5], "tickmode": "array"}
    rows |= {
        "tickvals": list(range(len(classes))) if few else [],
        "ticktext": [label(name) for name in classes],
    }
    axes = {"xaxis": {"nticks": 5, "showgrid": False}, "yaxis": rows}
    return Chart(f"distribution{n}", found.name, "", max(170, 46 + 14 * min(len(classes), 20)), [trace], axes)


def _scatter(record: SelectionRecord, n: int, scatter: TargetScatter) -> Chart:
    trace = {
        "type": "scatter",
        "mode": "markers",
        "x": [rounded(value) for value in scatter.values],
        "y": [rounded(value) for value in scatter.target],
        "marker": {"color": "@accent", "size": 5, "opacity": 0.45},
        "hovertemplate": "%{x:.4g}<br>target %{y:.4g}<extra></extra>",
    }
    axes = {"xaxis": {"nticks": 5, "showgrid": False}, "yaxis": {"nticks": 4}}
    return Chart(f"distribution{n}", scatter.name, "", 190, [trace], axes)
