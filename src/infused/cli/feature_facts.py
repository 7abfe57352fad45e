"""What the data say of one feature: its values by class, its relevance, and what repeats it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from infused._runtime.progress import Stage
from infused._runtime.threads import spans, workers
from infused._typing import Array, Floats, Ints
from infused.data import Dataset
from infused.graphs import feature_distributions, target_distributions
from infused.information import similarity
from infused.information.discrete import discretize, target_codes
from infused.information.mutual import MutualInformation
from infused.selection.distributions import class_distribution, dense_columns, explained_variance
from infused.selection.redundancy import absolute_correlation
from infused.selectors.scikit_learn import anova

__all__ = ["FeatureFacts", "Neighbour", "Relevance", "Spread", "feature_facts"]

STRIP = 256  # features whose graphs are compared at a time
PARTS = 4  # of a real target


@dataclass(frozen=True)
class Spread:
    """The values of the feature in one class, or in one part of a real target."""

    name: str
    count: int
    five: tuple[float, float, float, float, float]
    """Smallest, lower quartile, median, upper quartile, largest."""
    histogram: tuple[int, ...]
    """Counts on the bins that all parts share."""


@dataclass(frozen=True)
class Relevance:
    """How much a feature tells about the target, and its place among all features."""

    value: float
    rank: int


@dataclass(frozen=True)
class Neighbour:
    """Another feature, and how much of this one it repeats."""

    name: str
    correlation: float
    """Absolute."""
    similarity: float
    """I_S = exp(-JSD) of the two graphs."""


@dataclass(frozen=True)
class FeatureFacts:
    """All of it."""

    name: str
    position: int
    n_features: int
    n_samples: int
    n_distinct: int
    target: str
    explained: float
    """Share of its variance that goes with the target."""
    f_value: Relevance
    mutual_information: Relevance
    """In nats, of the values in five bins."""
    entropy: float
    """Of the distribution of its graph, in nats; at most the logarithm of the number of samples."""
    target_similarity: float
    """I_S of its graph and its target graph."""
    bin_edges: tuple[float, ...]
    by_target: tuple[Spread, ...]
    by_correlation: tuple[Neighbour, ...]
    by_similarity: tuple[Neighbour, ...]


def feature_facts(dataset: Dataset, feature: int, n_neighbours: int, n_jobs: int) -> FeatureFacts:
    """Facts about one feature, by position, of data with one target."""
    real = dataset.task == "regression"
    values = dense_columns(dataset.X, [feature])[:, 0]
    labels, names = _parts(dataset.y, dataset.target_name) if real else _classes(dataset.y)
    own = class_distribution(dataset.feature_names[feature], values, labels, len(names))
    P, correlation, similar = _compared(dataset, feature, n_jobs)
    T = target_distributions(values[:, None], dataset.y, target="real" if real else "classes", n_jobs=n_jobs)

    def neighbours(closeness: Floats) -> tuple[Neighbour, ...]:
        order = np.argsort(-closeness, kind="stable")
        best = [int(j) for j in order if j != feature][:n_neighbours]
        return tuple(
            Neighbour(dataset.feature_names[j], float(correlation[j]), float(similar[j])) for j in best
        )

    return FeatureFacts(
        name=dataset.feature_names[feature],
        position=feature,
        n_features=dataset.n_features,
        n_samples=dataset.n_samples,
        n_distinct=len(np.unique(values)),
        target=dataset.target_name,
        explained=_explained(values, dataset.y if real else labels, not real),
        f_value=_place(anova(dataset.X, dataset.y, real), feature),
        mutual_information=_place(_mutual_information(dataset, real, n_jobs), feature),
        entropy=float(-np.sum(P * np.log(P, where=P > 0, out=np.zeros_like(P)))),
        target_similarity=float(similarity(P, T[:, 0])),
        bin_edges=own.edges,
        by_target=tuple(_spread(name, values[labels == n], own.counts[n]) for n, name in enumerate(names)),
        by_correlation=neighbours(correlation),
        by_similarity=neighbours(similar),
    )


def _compared(dataset: Dataset, feature: int, n_jobs: int) -> tuple[Floats, Floats, Floats]:
    """The distribution of the feature's graph; |r| and I_S with every feature."""
    stage = Stage(None, "comparing features", dataset.n_features)
    own = dense_columns(dataset.X, [feature])
    P = feature_distributions(own, n_jobs=n_jobs)
    correlation, similar = np.empty(dataset.n_features), np.empty(dataset.n_features)
    for strip in spans(dataset.n_features, STRIP):
        others = dense_columns(dataset.X, strip)
        correlation[strip] = absolute_correlation(np.hstack([own, others]))[0, 1:]
        Q = feature_distributions(others, n_jobs=n_jobs)
        similar[strip] = similarity(np.broadcast_to(P, Q.shape), Q)
        stage.advance(others.shape[1])
    return P[:, 0], correlation, similar


def _explained(values: Floats, target: Array, classes: bool) -> float:
    return float(explained_variance(values[:, None], np.array([0]), target, classes)[0])


def _mutual_information(dataset: Dataset, real: bool, n_jobs: int) -> Floats:
    y = target_codes(dataset.X, dataset.y, target="real" if real else "classes")
    codes = discretize(dataset.X, n_jobs=n_jobs)
    with workers(n_jobs) as pool:
        return MutualInformation.build(codes, y, pool).with_target()


def _place(values: Floats, feature: int) -> Relevance:
    return Relevance(float(values[feature]), 1 + int((values > values[feature]).sum()))


def _classes(y: Array) -> tuple[Ints, list[str]]:
    names, labels = np.unique(y, return_inverse=True)
    return labels, [str(name) for name in names]


def _parts(y: Floats, target: str) -> tuple[Ints, list[str]]:
    """Quarters of a real target, fewer where many samples share a value."""
    inner = np.unique(np.quantile(y, np.arange(1, PARTS) / PARTS))
    labels = np.searchsorted(inner, y)  # a part holds its upper limit
    present, labels = np.unique(labels, return_inverse=True)
    limits = [(y[labels == n].min(), y[labels == n].max()) for n in range(len(present))]
    return labels, [f"{low:.4g} to {high:.4g}" for low, high in limits]


def _spread(name: str, values: Floats, histogram: tuple[int, ...]) -> Spread:
    low, lower, middle, upper, high = np.quantile(values, (0, 0.25, 0.5, 0.75, 1)).tolist()
    return Spread(name, len(values), (low, lower, middle, upper, high), histogram)
