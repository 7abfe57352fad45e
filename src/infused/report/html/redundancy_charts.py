"""Charts of redundancy among the selected: a heat map, and a network with places for its nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from infused._typing import Floats, Ints
from infused.record.schema import SelectedFeature, SelectionRecord
from infused.record.sentences import shared_groups
from infused.report.html.charts import Chart, crossed, label, rows_axis

__all__ = ["heat_chart", "network_chart", "network_layout"]

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
