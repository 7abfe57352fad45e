"""A chart of a page as plain plotly data, and the few builders that all charts are made with.

A colour is a token such as ``@accent``, which the page replaces by the colour of its theme. Names of features
and classes are data: plotly would read ``<b>`` or ``<a>`` in them as markup, so all pass :func:`label`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

TOP = 30
LONGEST_TICK, LONGEST_HOVER = 22, 80  # characters
ROW = 22  # pixels for one feature of a chart with names at its side

Trace = dict[str, Any]


@dataclass(frozen=True)
class Chart:
    """One chart: what it shows in words, and plotly's data and layout."""

    id: str
    title: str
    caption: str
    height: int
    data: list[Trace]
    layout: dict[str, Any] = field(default_factory=dict)
    wide: bool = False
    """Whether it takes a whole row of the page."""


def row_chart(
    id: str,
    title: str,
    caption: str,
    names: Sequence[str],
    data: list[Trace],
    *,
    wide: bool = True,
    **layout: Any,
) -> Chart:
    """Make a chart with a row for each name, from top to bottom."""
    layout = {**layout, "yaxis": {**rows_axis(names), **layout.get("yaxis", {})}}
    return Chart(id, title, caption, 78 + ROW * len(names), data, layout, wide)


def shortened(name: str, longest: int) -> str:
    """Cut the middle of a long name: columns of one table often differ in how they end."""
    half = longest // 2
    return name if len(name) <= longest else f"{name[:half]}…{name[-half:]}"


def label(name: str, longest: int = LONGEST_HOVER) -> str:
    """Write a name as plotly shows it literally: no markup, and no formula between dollar signs."""
    text = shortened(name, longest).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return text.replace("$", "&#36;")


def rounded(number: float | None, digits: int = 6) -> float | None:
    """Round to the digits that a screen can show, which keeps the page small."""
    if number is None:
        return None
    short = float(f"{number:.{digits}g}")
    return short if isfinite(short) else number  # the largest floats round up to infinity


def axis(title: str, **more: Any) -> dict[str, Any]:
    """Make an axis with a title."""
    return {"title": {"text": title}, **more}


def names_axis(names: Sequence[str], longest: int = LONGEST_TICK, **more: Any) -> dict[str, Any]:
    """Make an axis with one name at each of 0, 1, 2, ..."""
    ticks = {"tickvals": list(range(len(names))), "ticktext": [label(name, longest) for name in names]}
    return {"tickmode": "array", **ticks, "range": [-0.6, len(names) - 0.4], **more}


def rows_axis(names: Sequence[str], longest: int = LONGEST_TICK) -> dict[str, Any]:
    """Make an axis with names from top to bottom."""
    downwards = {"autorange": False, "range": [len(names) - 0.4, -0.6]}
    return names_axis(names, longest, automargin=True, showgrid=False, **downwards)


def bars(
    values: Iterable[float | None],
    names: Sequence[str],
    said: str,
    colour: str | list[str],
    digits: int = 4,
    **more: Any,
) -> Trace:
    """Draw one level bar in each row; ``said`` is what plotly shows below the name."""
    return {
        "type": "bar",
        "orientation": "h",
        "x": [rounded(value, digits) for value in values],
        "y": list(range(len(names))),
        "customdata": [label(name) for name in names],
        "hovertemplate": f"%{{customdata}}<br>{said}<extra></extra>",
        "marker": {"color": colour},
        "width": 0.62,
        **more,
    }


def line(
    x: Iterable[Any],
    y: Iterable[float | None],
    colour: str,
    *,
    width: float = 1.5,
    dash: str = "solid",
    shape: str = "linear",
    marker: dict[str, Any] | None = None,
    said: str = "",
    digits: int = 6,
    **more: Any,
) -> Trace:
    """Draw a line, with markers where they are given; without words it says nothing when pointed at."""
    spoken = {"hovertemplate": f"{said}<extra></extra>"} if said else {"hoverinfo": "skip"}
    marked = {"mode": "lines"} if marker is None else {"mode": "lines+markers"}
    return {
        "type": "scatter",
        **marked,
        "x": list(x),
        "y": [rounded(value, digits) for value in y],
        "line": {"color": colour, "width": width, "dash": dash, "shape": shape},
        **({} if marker is None else {"marker": {"color": colour, **marker}}),
        **spoken,
        **more,
    }


def band(x: Iterable[Any], low: Iterable[float], high: Iterable[float], **more: Any) -> Trace:
    """Draw the area between two lines."""
    places = list(x)
    edge = [*high, *reversed(list(low))]
    outline = line([*places, *reversed(places)], edge, "@wash0", width=0, showlegend=False, **more)
    return {**outline, "fill": "toself", "fillcolor": "@wash0"}


def dots(
    middle: Iterable[float],
    low: Iterable[float],
    high: Iterable[float],
    said: Sequence[str],
    colour: str | list[str] = "@accent",
    rows: Sequence[int] | None = None,
    **more: Any,
) -> Trace:
    """Draw a dot with an interval in each row; ``said`` is what each shows when it is pointed at."""
    spans = list(zip(middle, low, high, strict=True))
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [rounded(at) for at, _, _ in spans],
        "y": list(range(len(spans))) if rows is None else list(rows),
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": [rounded(above - at) for at, _, above in spans],
            "arrayminus": [rounded(at - below) for at, below, _ in spans],
            "color": colour if isinstance(colour, str) else "@quiet",
            "thickness": 1.6,
            "width": 4,
        },
        "customdata": list(said),
        "hovertemplate": "%{customdata}<extra></extra>",
        "marker": {"color": colour, "size": 8},
        **more,
    }


def heat(
    values: list[list[Any]],
    scale: str,
    said: str,
    *,
    limits: tuple[float, float] | None = None,
    crossed: tuple[Sequence[str], Sequence[str]] | None = None,
    **more: Any,
) -> Trace:
    """Draw a heat map.

    The page joins the names of ``crossed``, rows and columns, so that each is stored once.
    """
    named: dict[str, Any] = {}
    if crossed is not None:
        rows, columns = crossed
        named = {
            "crossed": {"rows": [label(name) for name in rows], "columns": [label(one) for one in columns]}
        }
        said = f"%{{customdata}}<br>{said}"
    span = {} if limits is None else {"zmin": limits[0], "zmax": limits[1]}
    hover = {"hovertemplate": f"{said}<extra></extra>"}
    return {"type": "heatmap", "z": values, "colorscale": scale, **span, **named, **hover, **more}


def grid(shape: tuple[Sequence[Any], Sequence[Any]]) -> dict[str, Any]:
    """Place the cells of a heat map with names beside it, with gaps between them."""
    rows, columns = shape
    return {"x": list(range(len(columns))), "y": list(range(len(rows))), "xgap": 1, "ygap": 1}
