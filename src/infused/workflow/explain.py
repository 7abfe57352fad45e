"""``infused.explain``: what the data say of one feature."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from infused._runtime.files import check_place, write_whole
from infused._runtime.progress import Stage, timed
from infused._runtime.threads import spans, workers
from infused._typing import Array, Floats, Ints
from infused.data import Dataset, load
from infused.data.columns import find_column
from infused.data.treatment import Treatment
from infused.exceptions import InputError, Setting
from infused.graphs import feature_distributions, target_distributions
from infused.information import similarity
from infused.information.discrete import discretize, target_codes
from infused.information.mutual import MutualInformation
from infused.record.codec import encode
from infused.record.distributions import class_distribution, dense_columns
from infused.record.explained import adjusted, explained_variance
from infused.record.redundancy import absolute_correlation
from infused.selectors.f_test import anova
from infused.workflow.select import check_jobs

__all__ = ["Explanation", "Neighbour", "Relevance", "Spread", "check_files", "explain", "explain_feature"]

SCHEMA = "infused.explain/2"
FILES = ("graph.png", "explain.json")
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


@dataclass(frozen=True, repr=False)
class Explanation:
    """What the data say of one feature: its values by class, its relevance, and what repeats it.

    Parameters
    ----------
    name : str
        The feature.
    position : int
        Its column, from 0.
    n_features : int
        How many features the data have.
    n_samples : int
        How many samples they have.
    n_distinct : int
        How many different values the feature has.
    target : str
        What y is called.
    alone : float
        Share of its variance that goes with the target, corrected for chance.
    f_value : Relevance
        Of an analysis of variance, with its rank among all features.
    mutual_information : Relevance
        In nats, of the values in five bins.
    entropy : float
        Of the distribution of its graph, in nats; at most the logarithm of the number of samples.
    target_similarity : float
        Similarity I_S of its graph and its target graph.
    bin_edges : tuple of float
        Of the histograms.
    by_target : tuple of Spread
        Its values in each class, or in each quarter of a real target.
    by_correlation : tuple of Neighbour
        The features that correlate most with it.
    by_similarity : tuple of Neighbour
        The features whose graphs are most similar to its own.
    notes : tuple of str
        On the data.
    data : Dataset
        What the feature is part of.

    See Also
    --------
    infused.explain : Makes one.

    Examples
    --------
    >>> import infused
    >>> print(infused.explain("wine", "proline"))
    proline: 70.0% of its variance goes with grower, rank 2 of 13 by F value; closest to alcohol (|r| 0.64)
    """

    name: str
    position: int
    n_features: int
    n_samples: int
    n_distinct: int
    target: str
    alone: float
    f_value: Relevance
    mutual_information: Relevance
    entropy: float
    target_similarity: float
    bin_edges: tuple[float, ...]
    by_target: tuple[Spread, ...]
    by_correlation: tuple[Neighbour, ...]
    by_similarity: tuple[Neighbour, ...]
    notes: tuple[str, ...]
    data: Dataset = field(compare=False)

    def __repr__(self) -> str:
        return f"<Explanation: {self}>"

    def __str__(self) -> str:
        words = f"{self.name}: {self.alone:.1%} of its variance goes with {self.target}, "
        words += f"rank {self.f_value.rank:,} of {self.n_features:,} by F value"
        if not self.by_correlation:
            return words
        closest = self.by_correlation[0]
        return f"{words}; closest to {closest.name} (|r| {closest.correlation:.2f})"

    def to_json(self) -> str:
        """The facts as text, with their schema.

        Returns
        -------
        str
            JSON.
        """
        own = {one.name: encode(getattr(self, one.name)) for one in fields(self) if one.name != "data"}
        return json.dumps({"schema": SCHEMA, **own}, ensure_ascii=False, indent=1)

    def plot(self, *, ax: Any = None) -> Any:
        """The feature's graph beside its target graph.

        Parameters
        ----------
        ax : pair of matplotlib Axes, default=None
            Where to draw; by default on a new figure.

        Returns
        -------
        ndarray of two matplotlib Axes
            Where they were drawn.
        """
        from infused.report import plot_feature_graph

        values = dense_columns(self.data.X, [self.position])[:, 0]
        return plot_feature_graph(values, self.data.y, target=self.data.kind, name=self.name, ax=ax)

    def save(self, folder: str | PathLike[str], *, force: bool = False) -> list[Path]:
        """Write the picture of the graphs and the facts to a folder.

        Parameters
        ----------
        folder : path
            Made where it does not exist.
        force : bool, default=False
            Whether files that are there are replaced.

        Returns
        -------
        list of Path
            What was written.
        """
        written = check_files(folder, force)
        write_whole(written[0], self._draw)
        write_whole(written[1], self.to_json().encode())
        return written

    def _draw(self, file: BinaryIO) -> None:
        from matplotlib.figure import Figure

        figure = Figure(figsize=(10.0, 4.6), layout="constrained")
        self.plot(ax=figure.subplots(1, 2))
        figure.savefig(file, format="png", dpi=150)


def check_files(folder: str | PathLike[str], force: bool) -> list[Path]:
    """The files that an explanation fills, or an error where they cannot be written."""
    files = [Path(folder) / name for name in FILES]
    for path in files:
        check_place(path, force)
    return files


def explain(
    data: Any,
    feature: str | int,
    target: str | int | None = None,
    *,
    neighbours: int = 8,
    n_jobs: int | None = None,
    **options: Any,
) -> Explanation:
    """Explain one feature: its values by class, what it tells about the target, and what repeats it.

    Parameters
    ----------
    data : path, name, data frame, pair (X, y) or AnnData
        As in :func:`infused.select`.
    feature : str or int
        By name, or by position from 0.
    target : str or int, default=None
        The column to predict.
    neighbours : int, default=8
        How many of the closest features to name.
    n_jobs : int, default=None
        Threads; -1 for every core.
    **options : dict
        How to read the data: drop, keep, impute, one_hot and the others of :func:`infused.select`.

    Returns
    -------
    Explanation
        Its ``plot`` draws the feature's graph; printed, it is one sentence.

    See Also
    --------
    select : Which features matter most.

    Examples
    --------
    >>> import infused
    >>> infused.explain("breast-cancer", "worst radius").f_value.rank
    4
    """
    check_jobs(n_jobs)
    if neighbours < 1:
        raise InputError(Setting("neighbours", neighbours), ": give a whole number from 1")
    with timed({}, "read", "reading the data"):
        dataset = load(data, Treatment.make(target=target, **options))
    position = find_column(dataset.feature_names, feature, "feature")
    return explain_feature(dataset, position, neighbours, n_jobs)


def explain_feature(dataset: Dataset, feature: int, n_neighbours: int, n_jobs: int | None) -> Explanation:
    """Facts about one feature, by position, of data with one target."""
    if dataset.y.ndim > 1:
        raise InputError(
            f"explain takes one target, but {dataset.target_name!r} has {dataset.y.shape[1]} columns"
        )
    real = dataset.kind == "real"
    values = dense_columns(dataset.X, [feature])[:, 0]
    labels, names = _parts(dataset.y) if real else _classes(dataset.y)
    own = class_distribution(dataset.feature_names[feature], values, labels, len(names))
    P, correlation, similar = _compared(dataset, feature, n_jobs)
    T = target_distributions(values[:, None], dataset.y, target=dataset.kind, n_jobs=n_jobs)
    alone = explained_variance(values[:, None], np.array([0]), dataset.y if real else labels, dataset.kind)

    def neighbours(closeness: Floats) -> tuple[Neighbour, ...]:
        order = np.argsort(-closeness, kind="stable")
        best = [int(j) for j in order if j != feature][:n_neighbours]
        return tuple(
            Neighbour(dataset.feature_names[j], float(correlation[j]), float(similar[j])) for j in best
        )

    return Explanation(
        name=dataset.feature_names[feature],
        position=feature,
        n_features=dataset.n_features,
        n_samples=dataset.n_samples,
        n_distinct=len(np.unique(values)),
        target=dataset.target_name,
        alone=float(adjusted(*alone, dataset.n_samples)[0]),
        f_value=_place(anova(dataset.X, dataset.y, real), feature),
        mutual_information=_place(_mutual_information(dataset, n_jobs), feature),
        entropy=float(-np.sum(P * np.log(P, where=P > 0, out=np.zeros_like(P)))),
        target_similarity=float(similarity(P, T[:, 0])),
        bin_edges=own.edges,
        by_target=tuple(_spread(name, values[labels == n], own.counts[n]) for n, name in enumerate(names)),
        by_correlation=neighbours(correlation),
        by_similarity=neighbours(similar),
        notes=dataset.notes,
        data=dataset,
    )


def _compared(dataset: Dataset, feature: int, n_jobs: int | None) -> tuple[Floats, Floats, Floats]:
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


def _mutual_information(dataset: Dataset, n_jobs: int | None) -> Floats:
    y = target_codes(dataset.X, dataset.y, target=dataset.kind)
    codes = discretize(dataset.X, n_jobs=n_jobs)
    with workers(n_jobs) as pool:
        return MutualInformation.build(codes, y, pool).with_target()


def _place(values: Floats, feature: int) -> Relevance:
    return Relevance(float(values[feature]), 1 + int((values > values[feature]).sum()))


def _classes(y: Array) -> tuple[Ints, list[str]]:
    names, labels = np.unique(y, return_inverse=True)
    return labels, [str(name) for name in names]


def _parts(y: Floats) -> tuple[Ints, list[str]]:
    """Quarters of a real target, fewer where many samples share a value."""
    inner = np.unique(np.quantile(y, np.arange(1, PARTS) / PARTS))
    labels = np.searchsorted(inner, y)  # a part holds its upper limit
    present, labels = np.unique(labels, return_inverse=True)
    limits = [(y[labels == n].min(), y[labels == n].max()) for n in range(len(present))]
    return labels, [f"{low:.4g} to {high:.4g}" for low, high in limits]


def _spread(name: str, values: Floats, histogram: tuple[int, ...]) -> Spread:
    low, lower, middle, upper, high = np.quantile(values, (0, 0.25, 0.5, 0.75, 1)).tolist()
    return Spread(name, len(values), (low, lower, middle, upper, high), histogram)
