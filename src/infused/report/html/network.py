"""Where the nodes of a network of features are drawn."""

from __future__ import annotations

import numpy as np

from infused._typing import Floats

__all__ = ["network_layout"]

STEPS = 300
GRAVITY = 2.5


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
