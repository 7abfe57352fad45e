"""``infused.explain``: one feature, its values by class, its relevance and its neighbours."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from infused._runtime.files import check_place, settle, write_together
from infused._runtime.messages import extra
from infused._runtime.progress import Stage, timed
from infused._runtime.threads import spans
from infused._typing import Array, Floats, Ints
from infused.data import Dataset, load_data
from infused.data.columns import find_column
from infused.exceptions import InputError, Setting
from infused.graphs import feature_distributions, target_distributions
from infused.information import similarity
from infused.record.explained import class_distribution, dense_columns, explained_alone, shown_values
from infused.record.redundancy import correlations_with
from infused.record.schema import encode
from infused.record.summary import finite
from infused.selectors.method import Method, prepared, with_groups
from infused.workflow.select import check_jobs

SCHEMA = "infused.explain/2"
FILES = ("graph.png", "explain.json")
STRIP = 256  # features whose graphs are compared at a time
PARTS = 4  # of a continuous target


@dataclass(frozen=True)
class Spread:
    """The values of the feature in one class, or in one part of a continuous target."""

    name: str
    count: int
    five: tuple[float, float, float, float, float] | None
    """Smallest, lower quartile, median, upper quartile, largest; None for a category, and where no value is
    known."""
    histogram: tuple[int, ...]
    """Counts on the bins, or on the levels, that all parts share."""


@dataclass(frozen=True)
class Relevance:
    """How strongly a feature depends on the target, and its rank among all features."""

    value: float
    rank: int


@dataclass(frozen=True)
class Neighbour:
    """Another feature, and how strongly it is correlated with this one."""

    name: str
    correlation: float
    """Absolute."""
    similarity: float | None
    """I_S = exp(-JSD) of the two graphs; None where one is a category, which has none."""


@dataclass(frozen=True, repr=False)
class Explanation:
    """One feature: its values by class, its relevance for the target, and the features closest to it.

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
        What it explains of the target by itself, corrected for chance: adjusted R² of a continuous target,
        McFadden's R² of classes.
    f_value : Relevance
        F value of an analysis of variance, as the method anova computes it, with its rank among all features.
    p_value : float
        Of the same test.
    mutual_information : Relevance
        Mutual information with the target in nats, as the method mutual-info computes it.
    entropy : float or None
        Entropy of the distribution of its graph, in nats; at most the logarithm of the number of samples.
        None for a category.
    target_similarity : float or None
        Similarity I_S of its graph and its target graph; None for a category.
    bin_edges : tuple of float
        Of the histograms.
    levels : tuple of str or None
        What the bins are, for a category.
    by_target : tuple of Spread
        Its values in each class, or in each quarter of a continuous target.
    by_correlation : tuple of Neighbour
        The features that correlate most with it; of categories, by Cramér's V.
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
    proline explains 47.9% of grower by itself, rank 2 of 13 by F value; closest to alcohol (|r| 0.64)
    """

    name: str
    position: int
    n_features: int
    n_samples: int
    n_distinct: int
    target: str
    alone: float
    f_value: Relevance
    p_value: float
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
        words = f"{self.name} explains {self.alone:.1%} of {self.target} by itself, "
        words += f"rank {self.f_value.rank:,} of {self.n_features:,} by F value"
        if not self.by_correlation:
            return words
        closest = self.by_correlation[0]
        return f"{words}; closest to {closest.name} (|r| {closest.correlation:.2f})"

    def to_json(self) -> str:
        """Return the facts as JSON, with their schema.

        Returns
        -------
        str
            JSON.
        """
        own = {one.name: encode(getattr(self, one.name)) for one in fields(self) if one.name != "data"}
        return json.dumps({"schema": SCHEMA, **own}, ensure_ascii=False, indent=1)

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the feature's graph beside its target graph; of a category, its levels and their shares.

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
        values = _numbers(self.data, np.array([self.position]))[:, 0]
        return plot_feature_graph(values, self.data.y, target=self.data.predicted_kind, name=self.name, ax=ax)

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
    """Return the files that an explanation fills; raise where they cannot be written."""
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
    """Explain one feature: its values by class, what it explains of the target, and what is close to it.

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
    """Explain one feature, by position, of data with one target."""
    if dataset.y.ndim > 1:
        raise InputError(
            f"explain takes one target, but {dataset.target_name!r} has {dataset.y.shape[1]} columns"
        )
    values, levels = shown_values(dataset, feature)
    labels, names = _parts(dataset.y) if dataset.kind == "real" else _classes(dataset.y)
    own = class_distribution(dataset.feature_names[feature], values, labels, len(names), levels)
    correlation = correlations_with(dataset.coded(), feature, dataset.n_features)
    similar = np.full(dataset.n_features, np.nan)
    entropy = target_similarity = None
    if levels is None:
        filled = _numbers(dataset, np.array([feature]))
        P, similar = _similarities(dataset, filled, n_jobs)
        T = target_distributions(filled, dataset.y, target=dataset.predicted_kind, n_jobs=n_jobs)
        entropy = float(-np.sum(P * np.log(P, where=P > 0, out=np.zeros_like(P))))
        target_similarity = float(similarity(P, T[:, 0]))

    def neighbours(closeness: Floats) -> tuple[Neighbour, ...]:
        order = np.argsort(-closeness, kind="stable")  # what is not known comes last
        best = [int(j) for j in order if j != feature and not np.isnan(closeness[j])][:n_neighbours]
        return tuple(
            Neighbour(dataset.feature_names[j], float(correlation[j]), finite(similar[j])) for j in best
        )

    anova, information = (_fitted(dataset, id, n_jobs) for id in ("anova", "mutual-info"))
    return Explanation(
        name=dataset.feature_names[feature],
        position=feature,
        n_features=dataset.n_features,
        n_samples=dataset.n_samples,
        n_distinct=len(np.unique(values[~np.isnan(values)])),
        target=dataset.target_name,
        alone=float(explained_alone(dataset, [feature])[0]),
        f_value=_relevance(anova, anova.f_values_, feature),
        p_value=float(anova.pvalues_[feature]),
        mutual_information=_relevance(information, information.scores_, feature),
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


def _numbers(dataset: Dataset, features: Ints) -> Floats:
    """Return numbers as a selector sees them, with missing values filled."""
    columns, ends = dataset.coded().columns(features)
    return dense_columns(dataset.coded().F, columns[np.concatenate([[0], ends[:-1]])])


def _similarities(dataset: Dataset, values: Floats, n_jobs: int | None) -> tuple[Floats, Floats]:
    """Return the distribution of a feature's graph, and I_S with every number; NaN for categories."""
    stage = Stage(None, "comparing features", dataset.n_features)
    P = feature_distributions(values, n_jobs=n_jobs)
    similar = np.full(dataset.n_features, np.nan)
    numbers = np.array(
        [j for j in range(dataset.n_features) if dataset.levels is None or dataset.levels[j] is None]
    )
    for strip in spans(len(numbers), STRIP):
        Q = feature_distributions(_numbers(dataset, numbers[strip]), n_jobs=n_jobs)
        similar[numbers[strip]] = similarity(np.broadcast_to(P, Q.shape), Q)
        stage.advance(Q.shape[1])
    return P[:, 0], similar


def _fitted(dataset: Dataset, id: str, n_jobs: int | None) -> Any:
    """Fit a selector, for what it says of each feature."""
    coded = dataset.coded()
    selector = with_groups(prepared(Method(id), 1, dataset.kind, n_jobs=n_jobs), coded.groups)
    return selector.fit(coded.F, dataset.y)


def _relevance(selector: Any, values: Floats, feature: int) -> Relevance:
    """Return the value of a feature, and its rank by the scores of a selector."""
    return Relevance(float(values[feature]), 1 + int((selector.scores_ > selector.scores_[feature]).sum()))


def _classes(y: Array) -> tuple[Ints, list[str]]:
    names, labels = np.unique(y, return_inverse=True)
    return labels, [str(name) for name in names]


def _parts(y: Floats) -> tuple[Ints, list[str]]:
    """Cut a continuous target into quarters, fewer where many samples share a value."""
    inner = np.unique(np.quantile(y, np.arange(1, PARTS) / PARTS))
    labels = np.searchsorted(inner, y)  # a part holds its upper limit
    present, labels = np.unique(labels, return_inverse=True)
    limits = [(y[labels == n].min(), y[labels == n].max()) for n in range(len(present))]
    return labels, [f"{low:.4g} to {high:.4g}" for low, high in limits]


def _spread(name: str, values: Floats, histogram: tuple[int, ...], levels: tuple[str, ...] | None) -> Spread:
    known = values[~np.isnan(values)]
    if levels is not None or not len(known):
        return Spread(name, len(values), None, histogram)
    low, lower, middle, upper, high = np.quantile(known, (0, 0.25, 0.5, 0.75, 1)).tolist()
    return Spread(name, len(values), (low, lower, middle, upper, high), histogram)
