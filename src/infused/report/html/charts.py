"""The charts of the page as plain plotly data: what is drawn, never how a theme colours it.

A colour is a token such as ``@accent``, which the page replaces by the colour of its theme. Names of features
and classes are data: plotly would read ``<b>`` or ``<a>`` in them as markup, so all pass :func:`label`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil, inf, isfinite, log10
from typing import Any

import numpy as np

from infused.record.schema import SelectionRecord

TOP = 30
LONGEST_TICK, LONGEST_HOVER = 22, 80  # characters
ROW = 22  # pixels for one feature of a chart with names at its side
MOST_POINTS = 400


@dataclass(frozen=True)
class Chart:
    """One chart: what it shows in words, and plotly's data and layout."""

    id: str
    title: str
    caption: str
    height: int
    data: list[dict[str, Any]]
    layout: dict[str, Any] = field(default_factory=dict)
    wide: bool = False
    """Whether it takes a whole row of the page."""


def shortened(name: str, longest: int) -> str:
    """A long name loses its middle: columns of one table often differ in how they end."""
    half = longest // 2
    return name if len(name) <= longest else f"{name[:half]}…{name[-half:]}"


def label(name: str, longest: int = LONGEST_HOVER) -> str:
    """A name as plotly shows it literally: no markup, and no formula between dollar signs."""
    text = shortened(name, longest).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return text.replace("$", "&#36;")


def rounded(number: float | None, digits: int = 6) -> float | None:
    """Six digits are more than a screen can show, and keep the page small."""
    if number is None:
        return None
    short = float(f"{number:.{digits}g}")
    return short if isfinite(short) else number  # the largest floats round up to infinity


def crossed(rows: list[str], columns: list[str]) -> dict[str, list[str]]:
    """Names for the cells of a heat map; the page joins them, so that each is stored once."""
    return {"rows": [label(name) for name in rows], "columns": [label(name) for name in columns]}


def names_axis(names: list[str], **more: Any) -> dict[str, Any]:
    """An axis with one name at each of 0, 1, 2, ..."""
    ticks = {"tickvals": list(range(len(names))), "ticktext": [label(name, LONGEST_TICK) for name in names]}
    return {"tickmode": "array", **ticks, "range": [-0.6, len(names) - 0.4], **more}


def rows_axis(names: list[str]) -> dict[str, Any]:
    """Names from top to bottom."""
    return names_axis(names, autorange=False, range=[len(names) - 0.4, -0.6], automargin=True, showgrid=False)


def rows_height(n_rows: int) -> int:
    """Pixels of a chart with names from top to bottom."""
    return 78 + ROW * n_rows


def _best(record: SelectionRecord) -> str:
    k = len(record.selected)
    if k == 1:
        return "the selected feature"
    return f"the {k} selected features" if k <= TOP else f"the best {TOP} of {k:,} selected features"


def explained_chart(record: SelectionRecord) -> Chart | None:
    """What each of the best features explains: by itself, and beyond the other selected ones.

    Two panels with scales of their own: the shares are of different wholes, and the second are far smaller
    wherever features repeat each other.
    """
    best = record.selected[:TOP]
    if not best:
        return None
    names = [feature.name for feature in best]
    panels = [_share_bars(names, [feature.alone for feature in best], "alone", "@accent")]
    if all(feature.unique is not None for feature in best):
        shares = [feature.unique or 0.0 for feature in best]
        panels.append({**_share_bars(names, shares, "unique", "@series2"), "xaxis": "x2"})
    halves = [[0.0, 0.46], [0.54, 1.0]] if len(panels) == 2 else [[0.0, 1.0]]
    axes = [
        {"title": {"text": f"{title} (%)"}, "domain": half, "nticks": 4, "rangemode": "tozero", "anchor": "y"}
        for title, half in zip(("Alone", "Unique"), halves, strict=False)
    ]
    return Chart(
        id="scores",
        title=f"What {_best(record)} explain{'s' if len(record.selected) == 1 else ''}",
        caption="Alone: share of its variance that goes with the target. Unique: share of the target's "
        "variance that is lost without it.",
        height=rows_height(len(best)),
        data=panels,
        layout={
            **{f"xaxis{n + 1 if n else ''}": axis for n, axis in enumerate(axes)},
            "yaxis": rows_axis(names),
        },
        wide=not record.coefficient_names,
    )


def _share_bars(names: list[str], shares: list[float], word: str, colour: str) -> dict[str, Any]:
    return {
        "type": "bar",
        "orientation": "h",
        "x": [rounded(100.0 * share, 4) for share in shares],
        "y": list(range(len(names))),
        "customdata": [label(name) for name in names],
        "hovertemplate": f"%{{customdata}}<br>{word} %{{x:.3g}}%<extra></extra>",
        "marker": {"color": colour},
        "width": 0.62,
    }


def coefficient_chart(record: SelectionRecord) -> Chart | None:
    """Coefficients of the best features: bars for one target, a heat map for several classes."""
    best = [feature for feature in record.selected[:TOP] if feature.coefficients is not None]
    if not best:
        return None
    names = [feature.name for feature in best]
    units = "Coefficient (standardised units)" if record.standardized else "Coefficient"
    values = [[rounded(b) for b in feature.coefficients or ()] for feature in best]
    drawn = _coefficient_bars if len(record.coefficient_names) == 1 else _coefficient_map
    return drawn(record, names, values, units)


def _coefficient_bars(record: SelectionRecord, names: list[str], values: list[Any], units: str) -> Chart:
    heights = [row[0] for row in values]
    trace = {
        "type": "bar",
        "orientation": "h",
        "x": heights,
        "y": list(range(len(names))),
        "customdata": [label(name) for name in names],
        "hovertemplate": "%{customdata}<br>coefficient %{x:.4g}<extra></extra>",
        "marker": {"color": ["@mark" if (height or 0) < 0 else "@accent" for height in heights]},
        "width": 0.62,
    }
    whom = record.coefficient_names[0]
    classes = record.data.classes is not None
    what = f"larger values speak for {whom}" if classes else f"{whom} rises with the feature"
    return Chart(
        id="coefficients",
        title=f"Coefficients of {_best(record)}",
        caption=f"Blue, to the right: {what}. Orange, to the left: the opposite.",
        height=rows_height(len(names)),
        data=[trace],
        layout={"xaxis": {"title": {"text": units}, "zeroline": True}, "yaxis": rows_axis(names)},
    )


def _coefficient_map(record: SelectionRecord, names: list[str], values: list[Any], units: str) -> Chart:
    classes = list(record.coefficient_names)
    largest = max((abs(b) for row in values for b in row if b is not None), default=0.0) or 1.0
    trace = {
        "type": "heatmap",
        "z": values,
        "x": list(range(len(classes))),
        "y": list(range(len(names))),
        "zmin": -largest,
        "zmax": largest,
        "colorscale": "@diverging",
        "crossed": crossed(names, classes),
        "hovertemplate": "%{customdata}<br>coefficient %{z:.4g}<extra></extra>",
        "xgap": 1,
        "ygap": 1,
    }
    what = "Class" if record.data.classes is not None else "Target"
    ticks = names_axis(classes, title={"text": what}, showgrid=False)
    if len(classes) > TOP:
        ticks |= {"tickvals": [], "ticktext": []}
    return Chart(
        id="coefficients",
        title=f"Coefficients of {_best(record)}, by {what.lower()}",
        caption=f"{units}. Blue: a larger value speaks for the {what.lower()}. Orange: it speaks against it.",
        height=rows_height(len(names)),
        data=[trace],
        layout={"xaxis": ticks, "yaxis": rows_axis(names)},
    )


def rank_chart(record: SelectionRecord) -> Chart | None:
    """The score against the rank for all features: where the selection was cut."""
    k, n = len(record.selected), len(record.features.names)
    if k in (0, n) or any(score is None for score in record.features.scores):
        return None
    order = np.argsort(record.features.ranks)
    places = np.unique(np.linspace(0, n - 1, min(n, MOST_POINTS)).round().astype(int))
    places = np.union1d(places, [k - 1, k])
    traces = [
        _rank_trace(record, order, places[places < k], "Selected", "@accent"),
        _rank_trace(record, order, places[places >= k], "Not selected", "@quiet"),
    ]
    return Chart(
        id="ranks",
        title=f"Score against rank for all {n:,} features",
        caption=f"Where the selection was cut, after rank {k:,}, and how the scores of the others go on.",
        height=300,
        data=traces,
        layout={
            "xaxis": {"title": {"text": "Rank"}, "range": [0.5 - 0.02 * n, n + 0.5 + 0.02 * n]},
            "yaxis": {"title": {"text": "Score"}},
            "showlegend": True,
        },
        wide=True,
    )


def _rank_trace(record: SelectionRecord, order: Any, places: Any, name: str, colour: str) -> dict[str, Any]:
    features = record.features
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": name,
        "x": (places + 1).tolist(),
        "y": [rounded(features.scores[n]) for n in order[places]],
        "customdata": [label(features.names[n]) for n in order[places]],
        "hovertemplate": "%{customdata}<br>rank %{x}, score %{y:.4g}<extra></extra>",
        "line": {"color": colour, "width": 1.5},
        "marker": {"color": colour, "size": 5},
    }


def convergence_chart(record: SelectionRecord) -> Chart | None:
    """Distance to the last objective on a logarithmic scale: the objective itself soon looks flat."""
    found = record.convergence
    if found is None or len(found.path_objective) < 3:
        return None
    last = found.path_objective[-1]
    gaps = [abs(value - last) for value in found.path_objective]
    points = zip(found.path_iterations, gaps, found.path_objective, strict=True)
    shown = [point for point in points if 0 < point[1] < inf]
    if len(shown) < 2:
        return None
    decades = log10(max(gap for _, gap, _ in shown)) - log10(min(gap for _, gap, _ in shown))
    trace = {
        "type": "scatter",
        "mode": "lines+markers",
        "x": [t for t, _, _ in shown],
        "y": [rounded(gap) for _, gap, _ in shown],
        "customdata": [rounded(value, 10) for _, _, value in shown],
        "hovertemplate": "iteration %{x}<br>objective %{customdata:.8g}<br>distance %{y:.2e}<extra></extra>",
        "line": {"color": "@accent", "width": 1.5},
        "marker": {"color": "@accent", "size": 5},
    }
    return Chart(
        id="convergence",
        title="Distance to the final objective, by iteration",
        caption=f"The fit on all features, which ended at an objective of {last:.6g}. A straight line "
        "falls by the same factor in each step.",
        height=320,
        data=[trace],
        layout={
            "xaxis": {"title": {"text": "Iteration"}, **({"dtick": 1} if shown[-1][0] <= 10 else {})},
            "yaxis": {
                "title": {"text": "Distance to the final objective"},
                "type": "log",
                "exponentformat": "e",
                **({"dtick": ceil(decades / 8)} if decades > 2 else {}),
            },
        },
        wide=True,
    )
