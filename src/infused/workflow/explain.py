"""``infused.explain``: what the data say of one feature."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from infused._runtime.compat import cached_property
from infused._runtime.files import check_place, settle, write_together
from infused._runtime.messages import extra
from infused._runtime.progress import Stage, timed
from infused._runtime.threads import spans, workers
from infused._typing import Array, Floats, Ints
from infused.coding import Coded, Coding
from infused.data import Dataset, load_data
from infused.data.columns import find_column
from infused.exceptions import InputError, Setting
from infused.graphs import feature_distributions, target_distributions
from infused.information import similarity
from infused.information.discrete import DenseCodes, discretize, distinct_samples, target_codes
from infused.information.mutual import MutualInformation
from infused.record.explained import adjusted, class_distribution, dense_columns, explained_by_feature
from infused.record.redundancy import absolute_correlation, canonical_correlation
from infused.record.schema import encode
from infused.record.summary import finite
from infused.selectors.scores.univariate import anova
from infused.workflow.select import check_jobs

SCHEMA = "infused.explain/2"
FILES = ("graph.png", "explain.json")
STRIP = 256  # features whose graphs are compared at a time
PARTS = 4  # of a real target


@dataclass(frozen=True)
class Spread:
    """The values of the feature in one class, or in one part of a real target."""

    name: str
    count: int
    five: tuple[float, float, float, float, float] | None
    """Smallest, lower quartile, median, upper quartile, largest; None for a category, and where all miss."""
    histogram: tuple[int, ...]
    """Counts on the bins, or on the levels, that all parts share."""


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
    similarity: float | None
    """I_S = exp(-JSD) of the two graphs; None where one is a category, which has none."""


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
    entropy : float or None
        Of the distribution of its graph, in nats; at most the logarithm of the number of samples. None for a
        category.
    target_similarity : float or None
        Similarity I_S of its graph and its target graph; None for a category.
    bin_edges : tuple of float
        Of the histograms.
    levels : tuple of str or None
        What the bins are, for a category.
    by_target : tuple of Spread
        Its values in each class, or in each quarter of a real target.
    by_correlation : tuple of Neighbour
        The features that correlate most with it; of categories, by the largest canonical correlation.
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
    entropy: float | None
    target_similarity: float | None
    bin_edges: tuple[float, ...]
    levels: tuple[str, ...] | None
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
        """The feature's graph beside its target graph; of a category, its levels and their shares.

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
        from infused.report.plots.axes import plot_levels

        if self.levels is not None:
            parts = {part.name: part.histogram for part in self.by_target}
            return plot_levels(self.name, self.levels, parts, ax=ax)
        values = feature_view(self.data).values(self.position)
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
        picture, facts = FILES
        write_together(Path(folder), FILES, {picture: self._draw, facts: self.to_json().encode()})
        return written

    def _draw(self, file: BinaryIO) -> None:
        figure = extra("matplotlib.figure").Figure(figsize=(10.0, 4.6), layout="constrained")
        self.plot(ax=figure.subplots(1, 2))
        figure.savefig(file, format="png", dpi=150)


def check_files(folder: str | PathLike[str], force: bool) -> list[Path]:
    """The files that an explanation fills, or an error where they cannot be written."""
    extra("matplotlib")
    settle(Path(folder), FILES)
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
    data : path, name, data frame, pair (X, y), AnnData or Dataset
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
        How to read the data: drop, use, impute, as_category and the others of :func:`infused.select`.

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
        dataset = load_data(data, target=target, **options)
    position = find_column(dataset.feature_names, feature, "feature")
    return explain_feature(dataset, position, neighbours, n_jobs)


def explain_feature(dataset: Dataset, feature: int, n_neighbours: int, n_jobs: int | None) -> Explanation:
    """Facts about one feature, by position, of data with one target."""
    if dataset.y.ndim > 1:
        raise InputError(
            f"explain takes one target, but {dataset.target_name!r} has {dataset.y.shape[1]} columns"
        )
    real, view = dataset.kind == "real", feature_view(dataset)
    values, levels = view.values(feature), view.levels(feature)
    labels, names = _parts(dataset.y) if real else _classes(dataset.y)
    own = class_distribution(dataset.feature_names[feature], values, labels, len(names), levels)
    target = dataset.y if real else labels
    alone = explained_by_feature(view.coded, np.array([feature]), target, dataset.kind)
    correlation = _correlation(view, feature)
    similar = np.full(dataset.n_features, np.nan)
    entropy = target_similarity = None
    if levels is None:
        P, similar = _compared(view, feature, n_jobs)
        T = target_distributions(values[:, None], dataset.y, target=dataset.kind, n_jobs=n_jobs)
        entropy = float(-np.sum(P * np.log(P, where=P > 0, out=np.zeros_like(P))))
        target_similarity = float(similarity(P, T[:, 0]))

    def neighbours(closeness: Floats) -> tuple[Neighbour, ...]:
        order = np.argsort(-closeness, kind="stable")  # what is not known comes last
        best = [int(j) for j in order if j != feature and not np.isnan(closeness[j])][:n_neighbours]
        return tuple(
            Neighbour(dataset.feature_names[j], float(correlation[j]), finite(similar[j])) for j in best
        )

    return Explanation(
        name=dataset.feature_names[feature],
        position=feature,
        n_features=dataset.n_features,
        n_samples=dataset.n_samples,
        n_distinct=len(np.unique(values)),
        target=dataset.target_name,
        alone=float(adjusted(*alone, dataset.n_samples)[0]),
        f_value=_place(_f_values(view, target, real), feature),
        mutual_information=_place(_mutual_information(view, n_jobs), feature),
        entropy=entropy,
        target_similarity=target_similarity,
        bin_edges=own.edges,
        levels=levels,
        by_target=tuple(
            _spread(name, values[labels == n], own.counts[n], levels) for n, name in enumerate(names)
        ),
        by_correlation=neighbours(correlation),
        by_similarity=neighbours(similar),
        notes=dataset.notes,
        data=dataset,
    )


def _compared(view: FeatureView, feature: int, n_jobs: int | None) -> tuple[Floats, Floats]:
    """The distribution of the feature's graph, and I_S with every number; NaN for categories."""
    stage = Stage(None, "comparing features", view.data.n_features)
    P = feature_distributions(view.values(feature)[:, None], n_jobs=n_jobs)
    similar, numbers = np.full(view.data.n_features, np.nan), view.numbers
    for strip in spans(len(numbers), STRIP):
        Q = feature_distributions(dense_columns(view.X, numbers[strip]), n_jobs=n_jobs)
        similar[numbers[strip]] = similarity(np.broadcast_to(P, Q.shape), Q)
        stage.advance(Q.shape[1])
    return P[:, 0], similar


def _correlation(view: FeatureView, feature: int) -> Floats:
    """|r| with every feature, or the largest canonical correlation where one has several columns."""
    n_features = view.data.n_features
    columns, _ = view.coded.columns(np.array([feature]))
    own, found = dense_columns(view.coded.F, columns), np.empty(n_features)
    for strip in spans(n_features, STRIP):
        others, ends = view.coded.columns(np.arange(n_features)[strip])
        both = np.hstack([own, dense_columns(view.coded.F, others)])
        if view.coded.groups is None:
            found[strip] = absolute_correlation(both)[0, 1:]
        else:
            width = own.shape[1]
            found[strip] = [
                canonical_correlation(
                    np.hstack([own, both[:, width + start : width + end]]),
                    np.array([width, width + end - start]),
                )[0, 1]
                for start, end in zip([0, *ends[:-1]], ends, strict=True)
            ]
    return found


def _f_values(view: FeatureView, target: Array, real: bool) -> Floats:
    """Of an analysis of variance; of features with several columns, from the share that is explained."""
    if view.coded.groups is None:
        return anova(view.coded.F, view.data.y, real)
    kind = view.data.kind
    shares, degrees = explained_by_feature(view.coded, np.arange(view.data.n_features), target, kind)
    left = max(1, view.data.n_samples - 1 - degrees)
    return np.asarray(shares / np.maximum(1 - shares, 1e-15) * left / max(1, degrees))


def _mutual_information(view: FeatureView, n_jobs: int | None) -> Floats:
    y = target_codes(view.X, view.data.y, target=view.data.kind)
    distinct, _ = distinct_samples(view.X, view.data.y)
    codes = discretize(view.X, n_jobs=n_jobs, distinct=distinct)
    if isinstance(codes, DenseCodes):
        for j in range(view.data.n_features):
            if view.levels(j) is not None:  # bins would join levels
                codes.codes[j] = view.values(j)
                codes.n_codes[j] = len(view.levels(j) or ())
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


def _spread(name: str, values: Floats, histogram: tuple[int, ...], levels: tuple[str, ...] | None) -> Spread:
    if levels is not None:
        return Spread(name, len(values), None, histogram)
    low, lower, middle, upper, high = np.quantile(values, (0, 0.25, 0.5, 0.75, 1)).tolist()
    return Spread(name, len(values), (low, lower, middle, upper, high), histogram)


@dataclass(frozen=True)
class FeatureView:
    """Features as one column of numbers each: gaps filled, the outcomes of categories numbered."""

    data: Dataset
    coding: Coding
    coded: Coded

    @cached_property
    def X(self) -> Any:
        """All of them."""
        if not self.coding.variables or not isinstance(self.data.X, np.ndarray):
            return self.coded.F
        return np.column_stack([self.values(j) for j in range(self.data.n_features)])

    @property
    def numbers(self) -> Ints:
        """Which are no categories."""
        return np.array([j for j in range(self.data.n_features) if self.levels(j) is None], dtype=np.int64)

    def levels(self, feature: int) -> tuple[str, ...] | None:
        """What the numbers of a category stand for."""
        if not self.coding.variables or self.coding.variables[feature].levels is None:
            return None
        return self.coding.variables[feature].outcomes

    def values(self, feature: int) -> Floats:
        """One of them."""
        if self.levels(feature) is None:
            columns, _ = self.coded.columns(np.array([feature]))
            return dense_columns(self.coded.F, columns[:1])[:, 0]
        return self.coding.outcome(self.data.X[:, feature], feature).astype(np.float64)


def feature_view(dataset: Dataset) -> FeatureView:
    """The view on all samples."""
    coding = dataset.coder.fit(dataset.X)
    return FeatureView(dataset, coding, coding.apply(dataset.X))
