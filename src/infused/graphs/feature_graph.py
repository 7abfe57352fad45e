"""One feature's graph, its target graph, and how two features' graphs go together."""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import entr

from infused._runtime.messages import check_choice, extra
from infused._runtime.threads import memory_budget, require
from infused._typing import Array, Floats
from infused.exceptions import InputError, Setting
from infused.graphs.distributions import feature_distributions
from infused.graphs.validation import GRAPHS, Graph, Target, check_data, class_codes, resolve_target

if TYPE_CHECKING:
    import networkx


class FeatureGraph:
    r"""The graph of one feature: samples as vertices, their relations as weighted edges.

    .. math::

        A_{ab} = |f_a - f_b|, \qquad K_{ab} = \frac{\langle A_a, A_b \rangle}{|A_a| |A_b|}

    This is for looking at one graph. For the distributions of many, :func:`feature_distributions` needs no
    matrix.

    Parameters
    ----------
    f : array-like of shape (n_samples,)
        The feature.
    graph : {"kernel", "euclidean"}, default="kernel"
        Edges weighted by K (the paper's Eq. 1) or by A.

    Attributes
    ----------
    values : ndarray of shape (n_samples,)
        The feature.
    graph : str
        The kind of graph.
    n_samples : int
        The number of vertices.

    See Also
    --------
    feature_distributions : Distributions of the graphs of many features.
    target_distributions : Distributions of their target graphs.

    References
    ----------
    L. Bai, L. Cui, Y. Wang, P. S. Yu, E. R. Hancock, "Fused Lasso for Feature Selection using Structural
    Information".

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

    def __init__(self, f: Any, *, graph: Graph = "kernel"):
        check_choice("graph", graph, GRAPHS)
        f = np.asarray(f)
        if f.ndim != 1:
            raise InputError(f"f must be one feature, a vector of samples; got an array of shape {f.shape}.")
        self.values: Floats = np.asarray(check_data(f.reshape(-1, 1)), dtype=np.float64).ravel()
        self.graph = graph

    @classmethod
    def of_target(
        cls,
        f: Any,
        y: Any,
        *,
        target: Target = "auto",
        graph: Graph = "kernel",
    ) -> FeatureGraph:
        """Make the target graph of a feature: of its class means, or of y itself when y is continuous.

        Parameters
        ----------
        f : array-like of shape (n_samples,)
            The feature.
        y : array-like of shape (n_samples,)
            Class labels of any kind, or real values.
        target : {"auto", "classes", "real"}, default="auto"
            How to read y; "auto" takes fractional numbers as real values and everything else as classes.
        graph : {"kernel", "euclidean"}, default="kernel"
            The kind of graph, as of the class.

        Returns
        -------
        FeatureGraph
            A graph with the same vertices.

        See Also
        --------
        target_distributions : Distributions of many target graphs.

        Examples
        --------
        >>> from infused import FeatureGraph
        >>> FeatureGraph.of_target([0.0, 2.0, 4.0, 4.0], ["a", "a", "b", "b"]).values
        array([1., 1., 4., 4.])
        """
        source = cls(f, graph=graph)
        y, kind = resolve_target(source.values, y, target)
        if kind == "real":
            return cls(y, graph=graph)
        return cls(_class_means(source.values, y), graph=graph)

    @property
    def n_samples(self) -> int:
        """Return the number of vertices."""
        return len(self.values)

    def distances(self) -> Floats:
        """Compute the Euclidean adjacency A, whatever the kind of graph.

        Returns
        -------
        ndarray of shape (n_samples, n_samples)
            The distances of all pairs of samples.

        See Also
        --------
        adjacency : The adjacency of the chosen graph.

        Examples
        --------
        >>> from infused import FeatureGraph
        >>> FeatureGraph([0.0, 1.0, 3.0]).distances()
        array([[0., 1., 3.],
               [1., 0., 2.],
               [3., 2., 0.]])
        """
        return self._distances(1.0)

    def adjacency(self) -> Floats:
        """Compute the adjacency of the chosen graph; a constant feature relates all samples alike.

        Returns
        -------
        ndarray of shape (n_samples, n_samples)
            K or A, symmetric.

        See Also
        --------
        distances : The Euclidean adjacency.
        distribution : What is made of it, without the matrix.

        Examples
        --------
        >>> from infused import FeatureGraph
        >>> FeatureGraph([0.0, 1.0, 3.0]).adjacency().round(3)
        array([[1.   , 0.849, 0.175],
               [0.849, 1.   , 0.372],
               [0.175, 0.372, 1.   ]])
        """
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
        """Compute the steady state of the random walk on the graph, without the adjacency.

        Returns
        -------
        ndarray of shape (n_samples,)
            Positive shares with sum one.

        See Also
        --------
        feature_distributions : The same for many features.
        entropy : Its entropy.

        Examples
        --------
        >>> from infused import FeatureGraph
        >>> FeatureGraph([0.0, 1.0, 1.0]).distribution()
        array([0.2, 0.4, 0.4])
        """
        return feature_distributions(self.values[:, None], graph=self.graph, n_jobs=1)[:, 0]

    def entropy(self) -> float:
        """Compute the Shannon entropy of the distribution, in nats.

        Returns
        -------
        float
            From 0 to the logarithm of the number of samples, which a constant feature has.

        See Also
        --------
        distribution : The distribution itself.

        Examples
        --------
        >>> from infused import FeatureGraph
        >>> round(FeatureGraph([0.0, 1.0, 1.0]).entropy(), 4)
        1.0549
        """
        return float(entr(self.distribution()).sum())

    def to_networkx(self) -> networkx.Graph:
        """Make a graph for networkx: vertices carry ``value`` and ``share``, edges carry ``weight``.

        Returns
        -------
        networkx.Graph
            The graph without loops; networkx must be installed.

        See Also
        --------
        adjacency : The same as a matrix.

        Examples
        --------
        >>> from infused import FeatureGraph
        >>> FeatureGraph([0.0, 1.0, 1.0]).to_networkx().number_of_edges()
        1
        """
        nx = extra("networkx")
        adjacency = self.adjacency()
        np.fill_diagonal(adjacency, 0.0)
        result = nx.from_numpy_array(adjacency)
        nx.set_node_attributes(result, dict(enumerate(self.values.tolist())), "value")
        nx.set_node_attributes(result, dict(enumerate(self.distribution().tolist())), "share")
        return result

    def _distances(self, scale: float) -> Floats:
        require(
            4 * 8 * self.n_samples**2,
            memory_budget(),
            f"The adjacency of {self.n_samples} samples",
            "use distribution(), which needs no matrix",
        )
        return np.abs(scale * self.values[:, None] - scale * self.values)


def _class_means(f: Floats, y: Array) -> Floats:
    """Replace each value by the mean of its class; means that differ by no more than rounding are equal."""
    codes, counts = class_codes(y)
    scaled = f / len(f)  # so that no sum and no difference overflows
    means = np.array([fsum(scaled[codes == c]) / count for c, count in enumerate(counts)])
    order = np.argsort(means)
    gaps = np.diff(means[order])
    noise = 4 * len(f) * np.finfo(np.float64).eps * (scaled.max() - scaled.min())
    means[order[1:]] = means[order[0]] + np.cumsum(np.where(gaps > noise, gaps, 0.0))
    return np.asarray(means[codes] * len(f))


WIDTH = 1.06  # of the Gaussian rule for densities, times deviation and the fifth root of samples


@dataclass(frozen=True)
class RelationCurve:
    """Means of the target along a feature."""

    values: Floats
    """Values of the feature, ascending."""
    target: Floats
    """values x targets: the mean of y near each value, or the share of each class in their sorted order."""
    samples: Floats
    """How many samples each mean is of, by their weights."""


def relation_curve(f: Any, y: Any, *, target: Target = "auto", n_points: int = 50) -> RelationCurve:
    r"""Estimate the mean of the target along a feature, of whatever form their relation is.

    .. math::

        m(v) = \frac{\sum_a w_a(v)\, y_a}{\sum_a w_a(v)}, \qquad w_a(v) = e^{-(f_a - v)^2 / 2h^2}

    at quantiles v of the feature, with :math:`h = 1.06\, \sigma M^{-1/5}` for M samples of deviation
    :math:`\sigma`. A feature of no more values than ``n_points`` has the mean at each of them.

    Parameters
    ----------
    f : array-like of shape (n_samples,)
        The feature; samples where it is missing are left out.
    y : array-like of shape (n_samples,)
        Class labels of any kind, or real values.
    target : {"auto", "classes", "real"}, default="auto"
        How to read y; "auto" takes fractional numbers as real values and everything else as classes.
    n_points : int, default=50
        Most points of the curve.

    Returns
    -------
    RelationCurve
        The points, the means there, and how many samples they are of.

    See Also
    --------
    HSICLasso : Selects features by relations of any form.

    Examples
    --------
    >>> import numpy as np
    >>> from infused import relation_curve
    >>> f = np.repeat([-1.0, 0.0, 1.0], 4)
    >>> relation_curve(f, f**2 + 0.5).target.ravel()
    array([1.5, 0.5, 1.5])
    """
    if n_points < 2:
        raise InputError(Setting("n_points", n_points), " is too few: a curve has at least two points")
    f = np.asarray(f, dtype=np.float64).ravel()
    present = ~np.isnan(f)
    column = np.asarray(check_data(f[present, None]), np.float64)
    y, kind = resolve_target(column, np.asarray(y)[present], target)
    Y = np.asarray(y, np.float64)[:, None] if kind == "real" else np.eye(len(np.unique(y)))[class_codes(y)[0]]
    own = column[:, 0]
    values = np.unique(own)
    if len(values) <= n_points:
        weights = np.equal.outer(values, own).astype(np.float64)
    else:
        values = np.unique(np.quantile(own, np.linspace(0, 1, n_points)))
        width = WIDTH * own.std() * len(own) ** -0.2
        weights = np.exp(-0.5 * (np.subtract.outer(values, own) / width) ** 2)
    samples = weights.sum(axis=1)
    return RelationCurve(values, weights @ Y / samples[:, None], samples)
