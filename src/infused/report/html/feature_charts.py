"""Charts of the features: their values by target, and which are redundant."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from infused._typing import Floats, Ints
from infused.record.schema import ClassDistribution, SelectedFeature, SelectionRecord, TargetScatter
from infused.record.sentences import shared_groups
from infused.report.html.charts import Chart, crossed, label, rounded, rows_axis

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


def distribution_charts(record: SelectionRecord) -> list[Chart]:
    """One small chart for each of the best features."""
    if record.scatters:
        return [_scatter(record, n, scatter) for n, scatter in enumerate(record.scatters)]
    classes = [one.name for one in record.data.classes or ()]
    charts = []
    for n, found in enumerate(record.distributions):
        if len(classes) > FEW_CLASSES:
            charts.append(_strips(n, found, classes))
        else:
            charts.append((_curves if found.levels is None else _bars)(n, found, classes))
    return charts


def _shares(found: ClassDistribution) -> list[list[float]]:
    """Percent of each class in each bin, so that large and small classes compare."""
    return [[round(100.0 * count / max(1, sum(row)), 2) for count in row] for row in found.counts]


def _curves(n: int, found: ClassDistribution, classes: list[str]) -> Chart:
    edges = [rounded(edge) for edge in found.edges]
    bins = _bins(found)
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


def _bars(n: int, found: ClassDistribution, classes: list[str]) -> Chart:
    """The levels of a category: what share of each class has them."""
    levels = found.levels or ()
    traces = [
        {
            "type": "bar",
            "name": label(name),
            "x": list(range(len(levels))),
            "y": share,
            "customdata": [[label(level), count] for level, count in zip(levels, counts, strict=True)],
            "marker": {"color": f"@series{c}"},
            "hovertemplate": "%{fullData.name}<br>%{customdata[0]}: %{y:.1f}% (%{customdata[1]})"
            "<extra></extra>",
        }
        for c, (name, share, counts) in enumerate(zip(classes, _shares(found), found.counts, strict=True))
    ]
    across = {"showgrid": False, **_named(levels)}
    axes = {"xaxis": across, "yaxis": {"nticks": 4, "ticksuffix": "%", "rangemode": "tozero"}}
    return Chart(f"distribution{n}", found.name, "", 190, traces, {**axes, "barmode": "group"})


def _named(levels: Sequence[str]) -> dict[str, Any]:
    """Ticks that name levels."""
    names = [label(level, LONGEST_HEADING) for level in levels]
    return {"tickmode": "array", "tickvals": list(range(len(levels))), "ticktext": names}


def _bins(found: ClassDistribution) -> list[str]:
    if found.levels is not None:
        return [label(level) for level in found.levels]
    return [f"{low:.4g} to {high:.4g}" for low, high in pairwise(found.edges)]


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
        "crossed": crossed(classes, _bins(found)),
        "hovertemplate": "%{customdata}: %{z:.1f}%<extra></extra>",
    }
    rows: dict[str, Any] = {"showgrid": False, "range": [len(classes) - 0.5, -0.5], "tickmode": "array"}
    rows |= {
        "tickvals": list(range(len(classes))) if few else [],
        "ticktext": [label(name) for name in classes],
    }
    across = {"nticks": 5} if found.levels is None else _named(found.levels)
    axes = {"xaxis": {"showgrid": False, **across}, "yaxis": rows}
    return Chart(f"distribution{n}", found.name, "", max(170, 46 + 14 * min(len(classes), 20)), [trace], axes)


def _scatter(record: SelectionRecord, n: int, scatter: TargetScatter) -> Chart:
    trace: dict[str, Any] = {
        "type": "scatter",
        "mode": "markers",
        "x": [rounded(value) for value in scatter.values],
        "y": [rounded(value) for value in scatter.target],
        "marker": {"color": "@accent", "size": 5, "opacity": 0.45},
        "hovertemplate": "%{x:.4g}<br>target %{y:.4g}<extra></extra>",
    }
    if scatter.levels is not None:
        trace |= {"type": "box", "boxpoints": False, "hovertemplate": "%{y:.4g}<extra></extra>"}
        trace = {name: value for name, value in trace.items() if name != "mode"}
    across = {"nticks": 5} if scatter.levels is None else _named(scatter.levels)
    axes = {"xaxis": {"showgrid": False, **across}, "yaxis": {"nticks": 4}}
    return Chart(f"distribution{n}", scatter.name, "", 190, [trace], axes)


def picture_chart(record: SelectionRecord) -> Chart | None:
    """The selected pixels on the mean picture."""
    data = record.data
    if data.grid_shape is None or data.mean_picture is None or not record.selected:
        return None
    shape = data.grid_shape
    ranks: list[int | None] = [None] * data.n_features
    names = [""] * data.n_features
    for feature in record.selected:
        ranks[feature.index], names[feature.index] = feature.rank, label(feature.name)
    mean = {
        "type": "heatmap",
        "z": _picture([rounded(value, 4) for value in data.mean_picture], record),
        "colorscale": "@picture",
        "showscale": False,
        "hovertemplate": "row %{y}, column %{x}<br>mean %{z:.4g}<extra></extra>",
    }
    chosen = {
        "type": "heatmap",
        "z": _picture(ranks, record),
        "customdata": _picture(names, record),
        "colorscale": "@ranks",
        "hoverongaps": False,
        "xgap": 3,
        "ygap": 3,
        "hovertemplate": "%{customdata}<br>rank %{z}<extra></extra>",
        "colorbar": {"title": {"text": "Rank", "side": "top"}},
    }
    return Chart(
        id="picture",
        title=f"Selected pixels ({len(record.selected):,}) on the mean picture",
        caption=f"Grey: the mean of all {data.n_samples:,} samples, {shape[0]} x {shape[1]} pixels. Blue: "
        "selected; the stronger the colour, the better the rank.",
        height=HEIGHT,
        data=[mean, chosen],
        layout={
            "xaxis": SIDE,
            "yaxis": {**SIDE, "autorange": "reversed", "scaleanchor": "x"},
            "margin": MARGIN,
        },
    )


def class_pictures_chart(record: SelectionRecord) -> Chart | None:
    """The coefficients of the selected pixels as one small picture for each class."""
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
        traces.append(_class_picture(_picture(values, record), largest, number))
        layout[f"xaxis{number}"] = {**SIDE, "domain": place[0], "anchor": f"y{number}"}
        upwards = {"domain": place[1], "anchor": f"x{number}", "scaleanchor": f"x{number}"}
        layout[f"yaxis{number}"] = {**SIDE, **upwards, "range": [data.grid_shape[0] - 0.5, -0.5]}
        layout["annotations"].append(_heading(name, place))
    return Chart(
        id="class-pictures",
        title="What the selected pixels say about each class",
        caption="Blue: a large value speaks for the class. Orange: it speaks against it. One scale for all.",
        height=HEIGHT,
        data=traces,
        layout=layout,
    )


def _class_picture(values: list[list[Any]], largest: float, number: str) -> dict[str, Any]:
    return {
        "type": "heatmap",
        "z": values,
        "zmin": -largest,
        "zmax": largest,
        "colorscale": "@diverging",
        "showscale": False,
        "hoverongaps": False,
        "hovertemplate": "row %{y}, column %{x}<br>coefficient %{z:.3g}<extra></extra>",
        "xaxis": f"x{number}",
        "yaxis": f"y{number}",
    }


def _place(n: int, columns: int, rows: int) -> tuple[list[float], list[float]]:
    """Domains of the n-th picture, from the top left, with room for a heading above it."""
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
    """One value for each feature as the rows of the picture."""
    n_rows, n_columns = record.data.grid_shape or (1, len(values))
    if record.data.grid_order == "columns":
        return [values[row::n_rows] for row in range(n_rows)]
    return [values[row * n_columns : (row + 1) * n_columns] for row in range(n_rows)]


MODERATE = 0.5  # weaker correlations are not drawn as edges
MOST_NAMES = 40
SERIES = 6  # colours that colour-blind readers tell apart
STEPS, GRAVITY = 300, 2.5  # of the forces that place the nodes


def heat_chart(record: SelectionRecord) -> Chart | None:
    """|correlation| of all pairs, similar features side by side."""
    if record.redundancy is None:
        return None
    matrix = np.array(record.redundancy.matrix)
    order = _similar_side_by_side(matrix)
    names = [record.selected[n].name for n in order]
    trace = {
        "type": "heatmap",
        "z": np.round(matrix[np.ix_(order, order)], 3).tolist(),
        "zmin": 0,
        "zmax": 1,
        "colorscale": "@sequential",
        "crossed": crossed(names, names),
        "hovertemplate": "%{customdata}<br>|r| = %{z:.2f}<extra></extra>",
        "colorbar": {"title": {"text": "|r|", "side": "top"}},
    }
    rows = rows_axis(names)
    if len(names) > MOST_NAMES:
        rows |= {"tickvals": [], "ticktext": []}
    columns = {
        "showticklabels": False,
        "showgrid": False,
        "title": {"text": "The same features, from left to right"},
    }
    strongest = (matrix - np.eye(len(matrix))).max()
    return Chart(
        id="heat",
        title=f"Correlation among {_of(record, len(names))}",
        caption="Similar features stand side by side: a block of strong colour on the diagonal is a group "
        f"that repeats itself. The strongest |r| of two is {strongest:.2f}.",
        height=480,
        data=[trace],
        layout={"xaxis": columns, "yaxis": rows},
    )


def network_chart(record: SelectionRecord) -> Chart | None:
    """Features as nodes, strong correlations as edges; nothing where no pair is even moderately alike."""
    if record.redundancy is None:
        return None
    matrix = np.array(record.redundancy.matrix)
    np.fill_diagonal(matrix, 0.0)
    edges = np.where(matrix >= MODERATE, matrix, 0.0)
    if not edges.any():
        return None
    places = network_layout(edges)
    threshold = record.redundancy.threshold
    strong = edges >= threshold
    weak = (edges > 0) & ~strong
    traces = [
        _edges(places, weak, f"|r| from {MODERATE:g} to {threshold:g}", "@edge", 1.0),
        _edges(places, strong, f"|r| of at least {threshold:g}", "@strong", 2.6),
        _nodes(record, places),
    ]
    # Room at the border, so that no node is cut.
    hidden = {"visible": False, "range": [-0.58, 0.58]}
    return Chart(
        id="network",
        title=f"Network of {_of(record, len(matrix))}",
        caption="A node is a feature with its rank, larger for a better score; one colour for each "
        "group of near-duplicates. Features that correlate strongly are linked and lie close.",
        height=480,
        data=[trace for trace in traces if trace["x"]],
        layout={"xaxis": hidden, "yaxis": hidden, "showlegend": True, "margin": {"l": 4, "r": 4, "b": 4}},
    )


def _of(record: SelectionRecord, n: int) -> str:
    k = len(record.selected)
    return f"the {k} selected features" if n == k else f"the best {n} of {k:,} selected features"


def _similar_side_by_side(matrix: Floats) -> Ints:
    tree = linkage(squareform(1.0 - matrix, checks=False), method="average", optimal_ordering=True)
    return np.asarray(leaves_list(tree))


def _edges(places: Floats, present: Any, name: str, colour: str, width: float) -> dict[str, Any]:
    ends = np.argwhere(np.triu(present))
    lines = [[*places[[i, j], axis].round(4).tolist(), None] for axis in (0, 1) for i, j in ends]
    half = len(ends)
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": [value for line in lines[:half] for value in line],
        "y": [value for line in lines[half:] for value in line],
        "line": {"color": colour, "width": width},
        "hoverinfo": "skip",
    }


def _nodes(record: SelectionRecord, places: Floats) -> dict[str, Any]:
    features = record.selected[: len(places)]
    colours = {number: f"@series{n % SERIES}" for n, number in enumerate(shared_groups(record))}
    alone = "@quiet" if colours else "@accent"
    return {
        "type": "scatter",
        "mode": "markers+text",
        "showlegend": False,
        "x": places[:, 0].round(4).tolist(),
        "y": places[:, 1].round(4).tolist(),
        "text": [str(feature.rank) for feature in features],
        "customdata": [
            f"{label(feature.name)}<br>rank {feature.rank}"
            f"{f', group {feature.group}' if feature.group in colours else ''}"
            for feature in features
        ],
        "hovertemplate": "%{customdata}<extra></extra>",
        "textfont": {"color": "@onmark", "size": 10},
        "marker": {
            "size": _node_sizes(features),
            "color": [colours.get(feature.group or 0, alone) for feature in features],
            "line": {"color": "@panel", "width": 1.5},
            "opacity": 1,
        },
    }


def _node_sizes(features: tuple[SelectedFeature, ...]) -> list[float]:
    """Diameters whose squares follow the score, from 18 pixels (a rank fits in) to 34."""
    scores = np.array([np.nan if feature.score is None else feature.score for feature in features])
    spread = np.nanmax(scores) - np.nanmin(scores) if np.isfinite(scores).all() else 0.0
    share = (scores - scores.min()) / spread if spread > 0 else np.full(len(scores), 0.4)
    sizes: list[float] = np.sqrt(18.0**2 + share * (34.0**2 - 18.0**2)).round(1).tolist()
    return sizes


def network_layout(weights: Floats) -> Floats:
    r"""Places in the plane for nodes that attract each other by their weights.

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
