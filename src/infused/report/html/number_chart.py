"""The chart of how many features are enough."""

from __future__ import annotations

from typing import Any

from infused.bench.tables import metric_title
from infused.record.measures import error_text, measure, number, shown
from infused.record.schema import NumberCurve, SelectionRecord
from infused.report.html.charts import Chart, rounded

__all__ = ["number_chart"]

MOST_TICKS = 12


def number_chart(record: SelectionRecord) -> Chart | None:
    """The score against the number of features with its standard error, and what comes without selecting."""
    curve = record.number
    if curve is None:
        return None
    few = len(curve.ks) <= MOST_TICKS
    wide = curve.ks[-1] > 20
    ticks = [k for k in (1, 2, 3, 5, 10, 20, 50, 100, 200) if k <= curve.ks[-1]] if wide else list(curve.ks)
    axis = {"tickmode": "array", "tickvals": ticks} if few or wide else {}
    name = measure(curve.scoring).words
    return Chart(
        id="number",
        title=f"{name[0].upper()}{name[1:]} against the number of features",
        caption=f"Mean of {curve.n_folds} folds, one standard error to both sides. The ring marks the number "
        "that was chosen: the smallest within one standard error of the best. Level lines: what comes "
        "without selecting.",
        height=360,
        data=[_band(curve), _means(curve), _ring(curve), *_levels(record, curve)],
        layout={
            "xaxis": {"title": {"text": "Number of features"}, **({"type": "log"} if wide else {}), **axis},
            "yaxis": {"title": {"text": metric_title(curve.scoring)}},
            "showlegend": True,
        },
        wide=True,
    )


def _shown(curve: NumberCurve, values: list[float]) -> list[float | None]:
    return [rounded(shown(value, curve.scoring)) for value in values]


def _band(curve: NumberCurve) -> dict[str, Any]:
    pairs = list(zip(curve.means, curve.errors, strict=True))
    high, low = [mean + error for mean, error in pairs], [mean - error for mean, error in pairs]
    return {
        "type": "scatter",
        "mode": "lines",
        "showlegend": False,
        "hoverinfo": "skip",
        "x": [*curve.ks, *reversed(curve.ks)],
        "y": _shown(curve, [*high, *reversed(low)]),
        "fill": "toself",
        "fillcolor": "@wash0",
        "line": {"width": 0, "color": "@wash0"},
    }


def _means(curve: NumberCurve) -> dict[str, Any]:
    sign = measure(curve.scoring).unit
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": "first k of the ranking",
        "x": list(curve.ks),
        "y": _shown(curve, list(curve.means)),
        "customdata": [error_text(error, curve.scoring) for error in curve.errors],
        "hovertemplate": f"%{{x}} features: %{{y:.4g}} ± %{{customdata}}{sign}<extra></extra>",
        "line": {"color": "@accent", "width": 2},
        "marker": {"color": "@accent", "size": 6},
    }


def _ring(curve: NumberCurve) -> dict[str, Any]:
    mean = dict(zip(curve.ks, curve.means, strict=True))[curve.chosen]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": f"chosen: {curve.chosen:,}",
        "x": [curve.chosen],
        "y": _shown(curve, [mean]),
        "hoverinfo": "skip",
        "marker": {
            "color": "@mark",
            "size": 14,
            "symbol": "circle-open",
            "line": {"width": 2.5, "color": "@mark"},
        },
    }


def _levels(record: SelectionRecord, curve: NumberCurve) -> list[dict[str, Any]]:
    """All features, and none."""
    chance = "majority class" if record.data.classes is not None else "mean of the target"
    whole = f"all {record.data.n_features:,} features"
    levels = [(whole, curve.all_features, "dash"), (chance, curve.chance, "dot")]
    sign = measure(curve.scoring).unit
    return [
        {
            "type": "scatter",
            "mode": "lines",
            "name": name,
            "x": [curve.ks[0], curve.ks[-1]],
            "y": _shown(curve, [level, level]),
            "hovertemplate": f"{name}: {number(level, curve.scoring)}{sign}<extra></extra>",
            "line": {"color": "@strong", "width": 1.4, "dash": dash},
        }
        for name, level, dash in levels
        if level is not None
    ]
