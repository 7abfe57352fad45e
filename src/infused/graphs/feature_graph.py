"""One feature's graph, for looking at."""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import entr

from infused._runtime.memory import memory_budget, require
from infused._typing import Array, Floats
from infused.graphs.distributions import feature_distributions
from infused.graphs.validation import Graph, Target, check_choice, check_data, class_codes, resolve_target

if TYPE_CHECKING:
    import networkx

__all__ = ["FeatureGraph"]


class FeatureGraph:
    r"""The graph of one feature: samples as vertices, their relations as weighted edges.

    .. math::

        A_{ab} = |f_a - f_b|, \qquad K_{ab} = \frac{\langle A_a, A_b \rangle}{|A_a| |A_b|}

    Parameters
    ----------
    f : array of shape (n_samples,)
        The feature.
    graph : {"kernel", "euclidean"}
        Edges weighted by K (the paper's Eq. 1) or by A.
    memory_budget : int or str, optional
        Limit for the M x M adjacency, which is only made when asked for.

    Examples
    --------
    >>> from infused import FeatureGraph
    >>> g = FeatureGraph([0.0, 1.0, 1.0])
    >>> g.adjacency()
    array([[1., 0., 0.],
           [0., 1., 1.],
           [0., 1., 1.]])
    >>> g.distribution()
    array([0.2, 0.4, 0.4])
    """

    def __init__(self, f: Any, *, graph: Graph = "kernel", memory_budget: int | float | str | None = None):
        check_choice("graph", graph, ("kernel", "euclidean"))
        f = np.asarray(f)
        if f.ndim != 1:
            raise ValueError(f"f must be one feature, a vector of samples; got an array of shape {f.shape}.")
        self.values: Floats = np.asarray(check_data(f.reshape(-1, 1)), dtype=np.float64).ravel()
        self.graph = graph
        self.memory_budget = memory_budget

    @classmethod
    def of_target(cls, f: Any, y: Any, *, target: Target = "auto", **options: Any) -> FeatureGraph:
        """The target graph of feature f: the graph of its class means, or of y itself when y is real."""
        source = cls(f, **options)
        y, classes = resolve_target(source.values, y, target)
        if not classes:
            return cls(y, **options)
        return cls(_class_means(source.values, y), **options)

    @property
    def n_samples(self) -> int:
        """The number of vertices."""
        return len(self.values)

    def distances(self) -> Floats:
        """The Euclidean adjacency A, M x M."""
        return self._distances(1.0)

    def adjacency(self) -> Floats:
        """The adjacency of the chosen graph, M x M; a constant feature relates all samples alike."""
        if self.graph == "euclidean":
            return self._distances(1.0)
        A = self._distances(0.25)  # differences of the largest doubles would overflow
        widest = A.max()
        if widest == 0.0:
            return np.ones_like(A)
        A /= widest
        norm = np.sqrt((A * A).sum(axis=1))
        K: Floats = A @ A / np.outer(norm, norm)
        return np.minimum(K, 1.0)

    def distribution(self) -> Floats:
        """Steady state of the random walk on the graph, without the adjacency."""
        return feature_distributions(self.values[:, None], graph=self.graph, n_jobs=1)[:, 0]

    def entropy(self) -> float:
        """Shannon entropy of the distribution, in nats."""
        return float(entr(self.distribution()).sum())

    def to_networkx(self) -> networkx.Graph:
        """The graph for networkx: vertices carry ``value`` and ``share``, edges carry ``weight``."""
        import networkx as nx

        adjacency = self.adjacency()
        np.fill_diagonal(adjacency, 0.0)
        result = nx.from_numpy_array(adjacency)
        nx.set_node_attributes(result, dict(enumerate(self.values.tolist())), "value")
        nx.set_node_attributes(result, dict(enumerate(self.distribution().tolist())), "share")
        return result

    def _distances(self, scale: float) -> Floats:
        require(
            4 * 8 * self.n_samples**2,
            memory_budget(self.memory_budget),
            f"The adjacency of {self.n_samples} samples",
            "use distribution(), which needs no matrix",
        )
        return np.abs(scale * self.values[:, None] - scale * self.values)


def _class_means(f: Floats, y: Array) -> Floats:
    """Each value replaced by the mean of its class; means that differ by no more than rounding are equal."""
    codes, counts = class_codes(y)
    scaled = f / len(f)  # so that no sum and no difference overflows
    means = np.array([fsum(scaled[codes == c]) / count for c, count in enumerate(counts)])
    order = np.argsort(means)
    gaps = np.diff(means[order])
    noise = 4 * len(f) * np.finfo(np.float64).eps * (scaled.max() - scaled.min())
    means[order[1:]] = means[order[0]] + np.cumsum(np.where(gaps > noise, gaps, 0.0))
    return np.asarray(means[codes] * len(f))
