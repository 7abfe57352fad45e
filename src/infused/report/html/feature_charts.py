"""Charts of the features: their values by target, and which are redundant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from infused._typing import Floats
from infused.record.schema import (
    ClassDistribution,
    HazardRatio,
    RelationLine,
    SelectedFeature,
    SelectionRecord,
    SurvivalCurves,
    TargetScatter,
)
from infused.record.sentences import hazard_words, log_rank_words, shared_groups
from infused.report.figures import record_alike, shares_by_class
from infused.report.html.charts import Chart, Trace, axis, heat, label, line, names_axis, rounded, rows_axis

FEW_CLASSES = 6  # more curves in one small chart cannot be told apart
MOST_CLASS_NAMES = 12
MOST_PICTURES = 12
LONGEST_HEADING = 14
HEIGHT = 420
MARGIN = {"l": 4, "r": 4, "t": 8, "b": 8}
SIDE: dict[str, Any] = {
    "showgrid": False,
    "showticklabels": False,
    "constrain": "domain",
    "showline": True,
    "mirror": True,
}


PERCENT = {"nticks": 4, "ticksuffix": "%", "rangemode": "tozero"}


def distribution_charts(record: SelectionRecord) -> list[Chart]:
    """Draw one small chart for each of the best features."""
    if record.survival:
        known = {one.name: one.hazard for one in record.selected}
        return [survival_chart(n, found, known.get(found.name)) for n, found in enumerate(record.survival)]
    if record.scatters:
        return [scatter_chart(n, scatter) for n, scatter in enumerate(record.scatters)]
    classes = [one.name for one in record.data.classes or ()]
    return [class_chart(n, found, classes) for n, found in enumerate(record.distributions)]


def class_chart(n: int, found: ClassDistribution, classes: list[str]) -> Chart:
    """Draw a feature by class: outlines of numbers, bars of levels, strips for many classes."""
    if len(classes) > FEW_CLASSES:
        return _strips(n, found, classes)
    levels = _levels_of(found)
    return _curves(n, found, classes) if levels is None else _bars(n, found, levels, classes)


def _small(
    n: int, name: str, height: int, data: list[Trace], across: Any, upwards: Any, **more: Any
) -> Chart:
    axes = {"xaxis": {"showgrid": False, **across}, "yaxis": upwards}
    return Chart(f"distribution{n}", name, "", height, data, {**axes, **more})


def survival_chart(n: int, found: SurvivalCurves, hazard: HazardRatio | None) -> Chart:
    """Draw Kaplan-Meier curves of the parts of a feature."""
    traces = [
        line(
            [rounded(time) for time in part.times],
            [100 * share for share in part.shares],
            f"@series{c}",
            width=1.8,
            shape="hv",
            name=label(f"{part.name} ({part.n_events:,} of {part.count:,})"),
            said="%{fullData.name}<br>%{x:.4g}: %{y:.1f}% without event",
        )
        for c, part in enumerate(found.parts)
    ]
    words = [one for one in (hazard_words(hazard), log_rank_words(found)) if one]
    chart = _small(n, found.name, 230 + 20 * len(traces), traces, {"nticks": 5}, PERCENT, showlegend=True)
    return replace(chart, caption="; ".join(words))


def _shares(found: ClassDistribution) -> list[list[float]]:
    shares: list[list[float]] = shares_by_class(found).round(2).tolist()
    return shares


def _curves(n: int, found: ClassDistribution, classes: list[str]) -> Chart:
    edges = [rounded(edge) for edge in found.edges]
    bins = _bins(found)
    traces = [
        line(
            [edges[0], *edges],  # an outline that starts and ends on the axis
            [0, *share, 0],
            f"@series{c}",
            width=1.8,
            name=label(name),
            customdata=[bins[0], *bins, bins[-1]],
            fill="tozeroy",
            fillcolor=f"@wash{c}",
            shape="hv",
            said="%{fullData.name}<br>%{customdata}: %{y:.1f}%",
        )
        for c, (name, share) in enumerate(zip(classes, _shares(found), strict=True))
    ]
    return _small(n, found.name, 170, traces, {"nticks": 5}, PERCENT)


def _bars(n: int, found: ClassDistribution, levels: Sequence[str], classes: list[str]) -> Chart:
    """Draw the levels of a category: what share of each class has them.

    Bars lie, so that every level has room for its name.
    """
    traces: list[Trace] = [
        {
            "type": "bar",
            "orientation": "h",
            "name": label(name),
            "x": share,
            "y": list(range(len(levels))),
            "customdata": [[label(level), count] for level, count in zip(levels, counts, strict=True)],
            "marker": {"color": f"@series{c}"},
            "hovertemplate": "%{fullData.name}<br>%{customdata[0]}: %{x:.1f}% (%{customdata[1]})"
            "<extra></extra>",
        }
        for c, (name, share, counts) in enumerate(zip(classes, _shares(found), found.counts, strict=True))
    ]
    height = max(170, 46 + len(levels) * max(18, 6 + 7 * len(classes)))
    rows = rows_axis(levels, LONGEST_HEADING)
    return _small(n, found.name, height, traces, {**PERCENT, "showgrid": True}, rows, barmode="group")


def _levels_of(found: ClassDistribution) -> Sequence[str] | None:
    """Return the levels of a category, or the two values of a feature that has no others."""
    if found.levels is not None or len(found.edges) != 3:
        return found.levels
    return [f"{(low + high) / 2:g}" for low, high in pairwise(found.edges)]


def _levels_axis(levels: Sequence[str] | None) -> dict[str, Any]:
    # Plotly leaves out names that are cut by the border of the chart, unless they stand.
    return {"nticks": 5} if levels is None else names_axis(levels, LONGEST_HEADING, tickangle=-90)


def _bins(found: ClassDistribution) -> list[str]:
    if found.levels is not None:
        return [label(level) for level in found.levels]
    return [f"{low:.4g} to {high:.4g}" for low, high in pairwise(found.edges)]


def _strips(n: int, found: ClassDistribution, classes: list[str]) -> Chart:
    few = len(classes) <= MOST_CLASS_NAMES
    trace = heat(
        _shares(found),
        "@sequential",
        "%{z:.1f}%",
        crossed=(classes, _bins(found)),
        zmin=0,
        showscale=False,
        x=[rounded(edge) for edge in found.edges],
        y=list(range(len(classes))),
        ygap=1 if few else 0,
    )
    rows = rows_axis(classes if few else []) | {"range": [len(classes) - 0.5, -0.5]}
    height = max(170, 46 + 14 * min(len(classes), 20))
    return _small(n, found.name, height, [trace], _levels_axis(found.levels), rows)


def scatter_chart(n: int, scatter: TargetScatter) -> Chart:
    """Draw a feature against a continuous target."""
    x, y = ([rounded(value) for value in values] for values in (scatter.values, scatter.target))
    look: Trace = {"x": x, "y": y, "marker": {"color": "@accent", "size": 5, "opacity": 0.45}}
    if scatter.levels is None:
        trace = {**look, "type": "scatter", "mode": "markers", "hovertemplate": "%{x:.4g}<br>target %{y:.4g}"}
    else:
        trace = {**look, "type": "box", "boxpoints": False, "hovertemplate": "%{y:.4g}"}
    trace["hovertemplate"] += "<extra></extra>"
    return _small(n, scatter.name, 190, [trace], _levels_axis(scatter.levels), {"nticks": 4})


def relation_charts(record: SelectionRecord) -> list[Chart]:
    """Draw the mean of the target along each of the best features, or the share of each class."""
    classes = [one.name for one in record.data.classes or ()]
    many = len(classes) > FEW_CLASSES
    factor, said = (100, "%{y:.1f}%") if classes else (1, f"{label(record.data.target)} %{{y:.4g}}")
    every = [factor * mean for one in record.relations for row in one.means for mean in row]
    ends = [rounded(end) for end in (min(every, default=0.0), max(every, default=1.0))]
    upwards = {"nticks": 6, "range": ends, **({"ticksuffix": "%"} if classes else {})}
    charts = []
    for n, found in enumerate(record.relations):
        values = [rounded(value) for value in found.values]
        ticks = _levels_axis(found.levels)
        if many:
            shares = [[round(100 * mean, 2) for mean in row] for row in found.means]
            cells = heat(shares, "@sequential", "%{z:.1f}%", zmin=0, zmax=ends[1], showscale=False)
            trace = {**cells, "x": values, "y": list(range(len(classes)))}
            rows = rows_axis(classes) | {"range": [len(classes) - 0.5, -0.5]}
            chart = _small(n, found.name, 46 + 14 * min(len(classes), 20), [trace], ticks, rows)
        else:
            spoken = f"%{{fullData.name}}<br>%{{x:.4g}}: {said}" if classes else f"%{{x:.4g}}: {said}"
            dots: Trace = {} if found.levels is None else {"mode": "markers"}  # levels have no order
            traces = [
                line(
                    values,
                    [factor * mean for mean in row],
                    f"@series{c}",
                    width=2,
                    marker={"size": 8} if dots else None,
                    name=label(classes[c] if classes else record.data.target),
                    said=spoken,
                    **dots,
                )
                for c, row in enumerate(found.means)
            ]
            chart = _small(n, found.name, 190, traces, ticks, upwards)
        charts.append(replace(chart, id=f"relation{n}", caption=_graph_words(found)))
    return charts


def _graph_words(found: RelationLine) -> str:
    """Give the relevance of a feature's graph, and the features with graphs like it."""
    if found.relevance is None:
        return ""
    others = ", ".join(f"{name} ({share:.2f})" for name, share in found.redundant)
    return f"relevance {found.relevance:.2f}{f'; redundant with {others}' if others else ''}"


def picture_chart(record: SelectionRecord) -> Chart | None:
    """Show the selected pixels on the mean picture."""
    data = record.data
    if data.grid_shape is None or data.mean_picture is None or not record.selected:
        return None
    shape = data.grid_shape
    ranks: list[int | None] = [None] * data.n_features
    names = [""] * data.n_features
    for feature in record.selected:
        ranks[feature.index], names[feature.index] = feature.rank, label(feature.name)
    mean = heat(
        _picture([rounded(value, 4) for value in data.mean_picture], record),
        "@picture",
        "row %{y}, column %{x}<br>mean %{z:.4g}",
        showscale=False,
    )
    chosen = heat(
        _picture(ranks, record),
        "@ranks",
        "%{customdata}<br>rank %{z}",
        customdata=_picture(names, record),
        hoverongaps=False,
        xgap=3,
        ygap=3,
        colorbar={"title": {"text": "Rank", "side": "top"}},
    )
    return Chart(
        "picture",
        f"Selected pixels ({len(record.selected):,}) on the mean picture",
        f"Grey: the mean of all {data.n_samples:,} samples, {shape[0]} x {shape[1]} pixels. Blue: "
        "selected; the stronger the colour, the better the rank.",
        HEIGHT,
        [mean, chosen],
        {
            "xaxis": SIDE,
            "yaxis": {**SIDE, "autorange": "reversed", "scaleanchor": "x"},
            "margin": MARGIN,
        },
    )


def class_pictures_chart(record: SelectionRecord) -> Chart | None:
    """Show the coefficients of the selected pixels as one small picture for each class."""
    data, classes = record.data, record.coefficient_names
    several = 1 < len(classes) <= MOST_PICTURES
    if data.grid_shape is None or not record.selected or not several:
        return None
    found = [(feature.index, feature.coefficients or ()) for feature in record.selected]
    largest = max((abs(b) for _, row in found for b in row if b is not None), default=0.0) or 1.0
    columns = 4 if len(classes) > 6 else 3 if len(classes) > 4 else 2
    layout: dict[str, Any] = {"annotations": [], "margin": MARGIN}
    traces = []
    for c, name in enumerate(classes):
        values: list[float | None] = [None] * data.n_features
        for index, row in found:
            values[index] = rounded(row[c], 3)
        number = str(c + 1) if c else ""
        place = _place(c, columns, -(-len(classes) // columns))
        traces.append(
            heat(
                _picture(values, record),
                "@diverging",
                "row %{y}, column %{x}<br>coefficient %{z:.3g}",
                limits=(-largest, largest),
                showscale=False,
                hoverongaps=False,
                xaxis=f"x{number}",
                yaxis=f"y{number}",
            )
        )
        layout[f"xaxis{number}"] = {**SIDE, "domain": place[0], "anchor": f"y{number}"}
        upwards = {"domain": place[1], "anchor": f"x{number}", "scaleanchor": f"x{number}"}
        layout[f"yaxis{number}"] = {**SIDE, **upwards, "range": [data.grid_shape[0] - 0.5, -0.5]}
        layout["annotations"].append(_heading(name, place))
    return Chart(
        "class-pictures",
        "Coefficients of the selected pixels, by class",
        "Blue: higher values make the class more likely. Orange: less likely. One scale for all.",
        HEIGHT,
        traces,
        layout,
    )


def _place(n: int, columns: int, rows: int) -> tuple[list[float], list[float]]:
    """Return the domains of the n-th picture, from the top left, with room for a heading above it."""
    across, down = n % columns, n // columns
    width, height = 1.0 / columns, 1.0 / rows
    top = 1.0 - down * height
    return [across * width + 0.01, (across + 1) * width - 0.01], [top - height + 0.01, top - 0.07]


def _heading(name: str, place: tuple[list[float], list[float]]) -> dict[str, Any]:
    return {
        "text": label(name, LONGEST_HEADING),
        "x": sum(place[0]) / 2,
        "y": place[1][1],
        "xref": "paper",
        "yref": "paper",
        "yanchor": "bottom",
        "showarrow": False,
    }


def _picture(values: list[Any], record: SelectionRecord) -> list[list[Any]]:
    """Arrange one value for each feature as the rows of the picture."""
    n_rows, n_columns = record.data.grid_shape or (1, len(values))
    if record.data.grid_order == "columns":
        return [values[row::n_rows] for row in range(n_rows)]
    return [values[row * n_columns : (row + 1) * n_columns] for row in range(n_rows)]


MODERATE = 0.5  # weaker correlations are not drawn as edges
MOST_NAMES = 40
MOST_NAMED = 30  # nodes of a network; of more, only ranks find room
SERIES = 6  # colours that colour-blind readers tell apart
STEPS, GRAVITY = 300, 2.5  # of the forces that place the nodes


def heat_chart(record: SelectionRecord) -> Chart | None:
    """Show |correlation| of all pairs, similar features side by side."""
    found = record_alike(record)
    if found is None:
        return None
    names = found.features
    trace = heat(
        np.round(found.matrix, 3).tolist(),
        "@sequential",
        "|r| = %{z:.2f}",
        limits=(0, 1),
        crossed=(names, names),
        colorbar={"title": {"text": "|r|", "side": "top"}},
    )
    rows = rows_axis(names)
    if len(names) > MOST_NAMES:
        rows |= {"tickvals": [], "ticktext": []}
    columns = axis("The same features, from left to right", showticklabels=False, showgrid=False)
    return Chart(
        "heat",
        f"Correlation among {_of(record, len(names))}",
        "Similar features stand side by side: a block of strong colour on the diagonal is a group "
        f"of redundant features. The largest |r| of two is {found.strongest:.2f}.",
        480,
        [trace],
        {"xaxis": columns, "yaxis": rows},
    )


def network_chart(record: SelectionRecord) -> Chart | None:
    """Show features as nodes, strong correlations as edges; None where no pair is even moderately alike."""
    if record.redundancy is None:
        return None
    matrix = np.array(record.redundancy.matrix)
    np.fill_diagonal(matrix, 0.0)
    edges = np.where(matrix >= MODERATE, matrix, 0.0)
    if not edges.any():
        return None
    places = network_layout(edges)
    numbers = np.array([feature.group or -n for n, feature in enumerate(record.selected[: len(matrix)], 1)])
    strong = (edges > 0) & (numbers[:, None] == numbers)  # complete linkage: every pair of a group is strong
    weak = (edges > 0) & ~strong
    traces = [
        _edges(places, weak, f"|r| of at least {MODERATE:g}", "@edge", 1.0),
        _edges(places, strong, "same redundancy group", "@strong", 2.6),
        _nodes(record, places),
    ]
    # Room at the border, so that no node is cut.
    hidden = {"visible": False, "range": [-0.66, 0.66]}
    return Chart(
        "network",
        f"Network of {_of(record, len(matrix))}",
        "A node is a feature, larger for a better score. A redundancy group has one colour and thick lines: "
        f"its features correlate with |r| >= {record.redundancy.threshold:g}. Thin lines join other features "
        "that correlate.",
        480,
        [trace for trace in traces if trace["x"]],
        {"xaxis": hidden, "yaxis": hidden, "showlegend": True, "margin": {"l": 4, "r": 4, "b": 4}},
    )


def _of(record: SelectionRecord, n: int) -> str:
    k = len(record.selected)
    return f"the {k} selected features" if n == k else f"the best {n} of {k:,} selected features"


def _edges(places: Floats, present: Any, name: str, colour: str, width: float) -> Trace:
    ends = np.argwhere(np.triu(present))
    x, y = (
        [value for i, j in ends for value in (*places[[i, j], side].round(4).tolist(), None)]
        for side in (0, 1)
    )
    return line(x, y, colour, width=width, name=name)


def _nodes(record: SelectionRecord, places: Floats) -> Trace:
    features = record.selected[: len(places)]
    named = len(features) <= MOST_NAMED
    colours = {number: f"@series{n % SERIES}" for n, number in enumerate(shared_groups(record))}
    alone = "@quiet" if colours else "@accent"
    return {
        "type": "scatter",
        "mode": "markers+text",
        "showlegend": False,
        "x": places[:, 0].round(4).tolist(),
        "y": places[:, 1].round(4).tolist(),
        "text": [label(one.name, LONGEST_HEADING) if named else str(one.rank) for one in features],
        **({"textposition": "top center"} if named else {}),
        "customdata": [
            f"{label(feature.name)}<br>rank {feature.rank}"
            f"{f', group {feature.group}' if feature.group in colours else ''}"
            for feature in features
        ],
        "hovertemplate": "%{customdata}<extra></extra>",
        "textfont": {"color": "@strong" if named else "@onmark", "size": 11 if named else 10},
        "marker": {
            "size": _node_sizes(features),
            "color": [colours.get(feature.group or 0, alone) for feature in features],
            "line": {"color": "@panel", "width": 1.5},
            "opacity": 1,
        },
    }


def _node_sizes(features: tuple[SelectedFeature, ...]) -> list[float]:
    """Return diameters whose squares follow the score, from 18 pixels (a rank fits in) to 34."""
    scores = np.array([np.nan if feature.score is None else feature.score for feature in features])
    spread = np.nanmax(scores) - np.nanmin(scores) if np.isfinite(scores).all() else 0.0
    share = (scores - scores.min()) / spread if spread > 0 else np.full(len(scores), 0.4)
    sizes: list[float] = np.sqrt(18.0**2 + share * (34.0**2 - 18.0**2)).round(1).tolist()
    return sizes


def network_layout(weights: Floats) -> Floats:
    r"""Place nodes in the plane that attract each other by their weights.

    The forces of Fruchterman and Reingold: every pair at distance d is pushed apart by :math:`1/d`, an edge
    pulls by :math:`w_{ij} d^2`, and a weak pull to the middle keeps what has no edges from drifting off. The
    start is classical scaling of :math:`1 - w`, so the picture depends on the weights alone.

    Parameters
    ----------
    weights : array of shape (n, n)
        Symmetric, between 0 and 1; 0 where there is no edge.

    Returns
    -------
    array of shape (n, 2)
        In the unit square around 0, which it fills.
    """
    n = len(weights)
    places = _classical_scaling(1.0 - weights)
    # Look-alikes start at the same place, where no direction leads apart: a small spiral separates them.
    turn = np.arange(n) * (np.pi * (3.0 - np.sqrt(5.0)))
    places = places + 0.05 * np.sqrt(np.arange(n) / n)[:, None] * np.column_stack(
        [np.cos(turn), np.sin(turn)]
    )
    places *= np.sqrt(n)
    pull = weights - np.diag(weights.diagonal())
    for step in range(STEPS):
        apart = places[:, None, :] - places[None, :, :]
        distance = np.sqrt((apart**2).sum(axis=2))
        np.fill_diagonal(distance, 1.0)
        force = (apart * (1.0 / distance**2 - pull * distance)[:, :, None]).sum(axis=1) - GRAVITY * places
        longest = 0.5 * (1.0 - step / STEPS)
        length = np.sqrt((force**2).sum(axis=1, keepdims=True))
        places = places + force * np.minimum(1.0, longest / np.maximum(length, 1e-12)) * min(1.0, longest)
    low, high = places.min(axis=0), places.max(axis=0)
    return np.asarray((places - (low + high) / 2) / np.maximum(high - low, 1e-12))


def _classical_scaling(distances: Floats) -> Floats:
    centred = -0.5 * distances**2
    centred = centred - centred.mean(axis=0) - centred.mean(axis=1)[:, None] + centred.mean()
    values, vectors = np.linalg.eigh(centred)
    best = vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 0.0))
    # An eigenvector has no sign of its own; its largest entry is made positive.
    largest = best[np.abs(best).argmax(axis=0), np.arange(best.shape[1])]
    return np.asarray(best * np.where(largest < 0, -1.0, 1.0))
