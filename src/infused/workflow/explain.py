"""``infused.explain``: one feature, its values by class, its relevance and its neighbours."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields, replace
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from infused._runtime.files import check_place, page_or_path, settle, write_together
from infused._runtime.messages import check_choice, extra
from infused._runtime.progress import Stage, timed
from infused._runtime.threads import spans
from infused._typing import Array, Floats, Ints
from infused.bench.tuning import Part, choose_transform
from infused.coding import TRANSFORMS
from infused.data import Dataset, load_data
from infused.data.columns import find_column
from infused.exceptions import InputError, Setting
from infused.graphs import feature_distributions, target_distributions
from infused.information import similarity
from infused.record.explained import (
    class_distribution,
    dense_columns,
    direction,
    explained_alone,
    hazard_ratio,
    leak_warning,
    permutation_p,
    shown_values,
    survival_curves,
)
from infused.record.redundancy import THRESHOLD, correlations_with
from infused.record.schema import HazardRatio, SurvivalCurves, encode
from infused.record.sentences import GRAVE, SURPRISING, Sentence, capital, p_words
from infused.record.summary import finite
from infused.selectors.choose.number import checked_scoring
from infused.selectors.method import Method, prepared, with_groups
from infused.workflow.select import ENOUGH_FOR_TRANSFORM, check_jobs

SCHEMA = "infused.explain/2"
FILES = ("report.html", "graph.png", "explain.json")
STRIP = 256  # features whose graphs are compared at a time
PARTS = 4  # of a continuous target
NAMED = 3  # closest features that the verdict names


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
        F value of an analysis of variance, as the method anova computes it, with its rank among all features;
        of times and events the score test of Cox's model.
    p_value : float
        Of the same test.
    mutual_information : Relevance or None
        Mutual information with the target in nats, as the method mutual-info computes it; None for times and
        events.
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
    survival : SurvivalCurves or None
        Kaplan-Meier curves of the thirds or levels of the feature, and the log-rank test; None for other
        targets than times and events.
    hazard : HazardRatio or None
        How many times as often events happen for values one standard deviation larger; None for other
        targets, and for categories of more than two levels.
    notes : tuple of str
        On the data.
    direction : str
        For which values the target is higher, or a class more frequent; empty where that is not clear.
    warnings : tuple of str
        What may make it misleading: possible leakage, rows that look related.
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
    mutual_information: Relevance | None
    entropy: float | None
    target_similarity: float | None
    bin_edges: tuple[float, ...]
    levels: tuple[str, ...] | None
    by_target: tuple[Spread, ...]
    by_correlation: tuple[Neighbour, ...]
    by_similarity: tuple[Neighbour, ...]
    survival: SurvivalCurves | None
    hazard: HazardRatio | None
    notes: tuple[str, ...]
    direction: str
    warnings: tuple[str, ...]
    data: Dataset = field(compare=False)

    def __repr__(self) -> str:
        return f"<Explanation: {self}>"

    def __str__(self) -> str:
        words = "".join(f"{hint[0].upper()}{hint[1:]}. " for hint in self.data.hints)
        words += f"{self.name} explains {max(self.alone, 0):.1%} of {self.target} by itself, "
        words += f"rank {self.f_value.rank:,} of {self.n_features:,} by {self.test}"
        if not self.by_correlation:
            return words
        closest = self.by_correlation[0]
        return f"{words}; closest to {closest.name} (|r| {closest.correlation:.2f})"

    @property
    def test(self) -> str:
        """Name the statistic of ``f_value``."""
        return "score test" if self.data.kind == "survival" else "F value"

    @property
    def verdict(self) -> list[Sentence]:
        """Return what page, notebook and terminal say first, warnings before all else."""
        share = "McFadden's R², beyond chance" if self.data.kind == "classes" else "adjusted R²"
        grave = [words.startswith(GRAVE) for words in self.warnings]
        alone = (
            f"{self.name} explains {max(self.alone, 0):.1%} of {self.target} by itself ({share}). It has "
            f"rank {self.f_value.rank:,} of {self.n_features:,} by {self.test} ({p_words(self.p_value)})."
        )
        chance = self.p_value * self.n_features > SURPRISING
        if chance:
            alone += " After Bonferroni's correction for all features, that is no more than chance."
        nearest = self.by_correlation[:NAMED]
        redundant = [one for one in nearest if one.correlation >= THRESHOLD]
        closest = [f"{one.name} (|r| {one.correlation:.2f})" for one in redundant or nearest]
        return [
            *(
                Sentence("Warning", f"{capital(words)}.", "warning" if one else "caution")
                for words, one in zip(self.warnings, grave, strict=True)
            ),
            Sentence("Relevance", alone, "caution" if chance else "plain"),
            *([Sentence("Direction", f"{capital(self.direction)}.")] if self.direction else []),
            *(
                [Sentence("Redundant with" if redundant else "Closest", f"{', '.join(closest)}.")]
                if closest
                else []
            ),
        ]

    def _repr_html_(self) -> str:
        from infused.report.html.notebook import explanation_html

        return explanation_html(self)

    def report(self, path: str | PathLike[str] | None = None) -> str:
        """Return or write the page about the feature, which opens without a network.

        Parameters
        ----------
        path : path, default=None
            Where to write it; a file that is there is replaced.

        Returns
        -------
        str
            The page, or where a path was given, that path.
        """
        from infused.report.html.explanation import render_explanation

        return page_or_path(render_explanation(self), path)

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
        from infused.report.plots.axes import plot_levels, plot_survival

        if self.survival is not None:
            return plot_survival(self.survival, ax=ax)
        if self.levels is not None:
            parts = {part.name: part.histogram for part in self.by_target}
            return plot_levels(self.name, self.levels, parts, ax=ax)
        values = _numbers(self.data, np.array([self.position]))[:, 0]
        kind: Any = self.data.kind
        return plot_feature_graph(values, self.data.y, target=kind, name=self.name, ax=ax)

    def save(self, folder: str | PathLike[str], *, force: bool = False) -> list[Path]:
        """Write the page, the picture of the graphs and the facts to a folder.

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
        page, picture, facts = FILES
        texts = {page: self.report().encode(), facts: self.to_json().encode()}
        write_together(Path(folder), FILES, {**texts, picture: self._draw})
        return written

    def _draw(self, file: BinaryIO) -> None:
        figure = extra("matplotlib.figure").Figure(figsize=(10.0, 4.6), layout="constrained")
        self.plot(ax=figure.subplots(1, 2))
        figure.savefig(file, format="png", dpi=150)


def check_files(folder: str | PathLike[str], force: bool) -> list[Path]:
    """Return the files that an explanation fills; raise where they cannot be written."""
    extra("matplotlib")
    extra("jinja2")
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
    transform: str = "none",
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
    transform : {"none", "sqrt", "log1p", "auto"}, default="none"
        Transform of the values; "auto" chooses the one that predicts best by cross-validation.
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
    check_choice("transform", transform, (*TRANSFORMS, "auto"))
    if neighbours < 1:
        raise InputError(Setting("neighbours", neighbours), ": give a whole number from 1")
    with timed({}, "read", "reading the data"):
        dataset = load_data(data, target=target, **options)
    position = find_column(dataset.feature_names, feature, "feature")
    if dataset.y.ndim > 1:
        raise InputError(
            f"explain takes one target, but {dataset.target_name!r} has {dataset.y.shape[1]} columns: give "
            "one as ",
            Setting("target"),
            ", and leave the others out with ",
            Setting("drop"),
        )
    dataset = _transformed(dataset, transform)
    return explain_feature(dataset, position, neighbours, n_jobs)


def _transformed(dataset: Dataset, transform: str) -> Dataset:
    """Transform every number, and note what was done."""
    if transform == "none":
        return dataset
    if transform != "auto":
        note = f"numbers are transformed by {transform}: all figures are of the transformed values"
        return replace(dataset.transformed(transform), notes=(*dataset.notes, note))
    scoring = checked_scoring(None, dataset.y, dataset.kind)
    k = min(ENOUGH_FOR_TRANSFORM, dataset.n_features)
    chosen = choose_transform(Part.of(dataset, 0), k, scoring)
    return replace(dataset.transformed(chosen.value), notes=(*dataset.notes, chosen.reason))


def explain_feature(dataset: Dataset, feature: int, n_neighbours: int, n_jobs: int | None) -> Explanation:
    """Explain one feature, by position, of data with one target."""
    values, levels = shown_values(dataset, feature)
    followed = dataset.kind == "survival"
    labels, names = _target_parts(dataset)
    own = class_distribution(dataset.feature_names[feature], values, labels, len(names), levels)
    correlation = correlations_with(dataset.coded(), feature, dataset.n_features)
    similar = np.full(dataset.n_features, np.nan)
    entropy = target_similarity = None
    if levels is None:
        filled = _numbers(dataset, np.array([feature]))
        P, similar = _similarities(dataset, filled, n_jobs)
        goal = dataset.with_numbers()
        kind: Any = goal.kind
        T = target_distributions(filled, goal.y, target=kind, n_jobs=n_jobs)
        entropy = float(-np.sum(P * np.log(P, where=P > 0, out=np.zeros_like(P))))
        target_similarity = float(similarity(P, T[:, 0]))

    def neighbours(closeness: Floats) -> tuple[Neighbour, ...]:
        order = np.argsort(-closeness, kind="stable")  # what is not known comes last
        best = [int(j) for j in order if j != feature and not np.isnan(closeness[j])][:n_neighbours]
        return tuple(
            Neighbour(dataset.feature_names[j], float(correlation[j]), finite(similar[j])) for j in best
        )

    anova = _fitted(dataset, "anova", n_jobs)
    information = None if followed else _fitted(dataset, "mutual-info", n_jobs)
    p_value = float(anova.pvalues_[feature])
    if dataset.samples:
        own_columns, _ = dataset.coded().columns(np.array([feature]))
        numbers = labels if dataset.kind == "classes" else dataset.with_numbers().y
        p_value = permutation_p(dataset, dataset.coded(), own_columns, numbers)
    return Explanation(
        name=dataset.feature_names[feature],
        position=feature,
        n_features=dataset.n_features,
        n_samples=dataset.n_samples,
        n_distinct=len(np.unique(values[~np.isnan(values)])),
        target=dataset.target_name,
        alone=float(explained_alone(dataset.with_numbers(), [feature])[0]),
        f_value=_relevance(anova, anova.f_values_, feature),
        p_value=p_value,
        mutual_information=information and _relevance(information, information.scores_, feature),
        entropy=entropy,
        target_similarity=target_similarity,
        bin_edges=own.edges,
        levels=levels,
        by_target=tuple(
            _spread(name, values[labels == n], own.counts[n], levels) for n, name in enumerate(names)
        ),
        by_correlation=neighbours(correlation),
        by_similarity=neighbours(similar),
        survival=survival_curves(dataset.feature_names[feature], values, dataset.y, levels)
        if followed
        else None,
        hazard=hazard_ratio(values, dataset.y, levels) if followed else None,
        notes=dataset.notes,
        direction=direction(values, levels, *_goal(dataset)),
        warnings=(*leak_warning(dataset, feature), *dataset.hints),
        data=dataset,
    )


def _goal(dataset: Dataset) -> tuple[Array, list[str], str]:
    """Return the target as numbers, the names of its classes, and what it is called."""
    if dataset.kind == "classes":
        labels, names = _classes(dataset.y)
        return labels, names, dataset.target_name
    name = "risk" if dataset.kind == "survival" else dataset.target_name
    return np.asarray(dataset.with_numbers().y, dtype=np.float64), [], name


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


def _target_parts(dataset: Dataset) -> tuple[Ints, list[str]]:
    """Return the part of each sample and the names of the parts: classes, quarters, or events or none."""
    if dataset.kind == "real":
        return _parts(dataset.y)
    if dataset.kind == "survival":
        return dataset.y["event"].astype(np.int64), ["censored", "event"]
    return _classes(dataset.y)


def _classes(y: Array) -> tuple[Ints, list[str]]:
    names, labels = np.unique(y, return_inverse=True)
    return labels, [str(name) for name in names]


def _parts(y: Floats) -> tuple[Ints, list[str]]:
    """Cut a continuous target into quarters, fewer where many samples share a value."""
    inner = np.unique(np.quantile(y, np.arange(1, PARTS) / PARTS))
    labels = np.searchsorted(inner, y)  # a part holds its upper limit
    present, labels = np.unique(labels, return_inverse=True)
    limits = [(y[labels == n].min(), y[labels == n].max()) for n in range(len(present))]
    ends = [(f"{low:.4g}", f"{high:.4g}") for low, high in limits]
    return labels, [low if low == high else f"{low} to {high}" for low, high in ends]


def _spread(name: str, values: Floats, histogram: tuple[int, ...], levels: tuple[str, ...] | None) -> Spread:
    known = values[~np.isnan(values)]
    if levels is not None or not len(known):
        return Spread(name, len(values), None, histogram)
    low, lower, middle, upper, high = np.quantile(known, (0, 0.25, 0.5, 0.75, 1)).tolist()
    return Spread(name, len(values), (low, lower, middle, upper, high), histogram)
