"""Record of a selection: everything that a report or a rerun needs, as one value that JSON can hold."""

from __future__ import annotations

import dataclasses
import json
import types
from collections.abc import Iterator
from dataclasses import astuple, dataclass, replace
from functools import cache, partial
from math import isfinite
from typing import Annotated, Any, TypeAlias, get_args, get_origin, get_type_hints

from infused.coding import DECIMALS, HOWS, VariableCoding
from infused.data.reading import ReadOptions
from infused.data.written import DATES
from infused.exceptions import InputError
from infused.selectors.choose.budget import CostCurve
from infused.selectors.choose.number import NumberCurve
from infused.selectors.method import Method, plain

FAMILY, VERSION = "infused.selection", 2
SCHEMA = f"{FAMILY}/{VERSION}"

#: Numbers with the limits that they have in a record: shares, to rounding, and figures whose percentage is
#: finite.
Share: TypeAlias = Annotated[float, (-1e-6, 1 + 1e-6)]
Figure: TypeAlias = Annotated[float, (-1e300, 1e300)]


class RecordError(InputError):
    """A text is not a record of a selection, or one that this version cannot read."""


@dataclass(frozen=True)
class Request:
    """What was asked."""

    source: str | None
    """A path or the name of data; None for data that were given in Python."""
    reading: ReadOptions
    """How the data are read and prepared."""
    method: Method
    """The selector; once it has run, with all its parameters, so that a rerun depends on no default."""
    k: int | float | str | None
    """A number, a fraction, "auto", or None for as many as the method finds."""
    transform: str
    """What to do to the values before selecting: "none", "sqrt", "log1p" or "auto"."""
    seed: int
    scoring: str | None = None
    """The metric of a choice by cross-validation; None for the default of the data."""
    stability: int | None = None
    """Pairs of half-samples to select in again, 0 for none; None to decide by the time it takes."""
    folds: int | None = None
    """Folds of the cross-validated score, 0 for none; None to decide by the time it takes."""
    costs: dict[str, float] | None = None
    """What each feature costs, by name; those without a cost are free."""
    max_cost: float | None = None
    """What the selected features may cost together."""
    intervals: bool = False
    """Whether to estimate effects with intervals and p-values that allow for the selection."""

    def recorded(self) -> Request:
        """Return the request with parameters as JSON holds them, so that it equals what is read back."""
        return replace(self, method=Method(self.method.id, plain(self.method.parameters)))


@dataclass(frozen=True)
class ClassCount:
    """A class and how many samples it has."""

    name: str
    count: int


@dataclass(frozen=True)
class DataFacts:
    """The data that was selected from."""

    name: str
    n_samples: int
    n_features: int
    fingerprint: str
    target: str
    classes: tuple[ClassCount, ...] | None
    """None for a continuous target."""
    notes: tuple[str, ...]
    """What was done to the data and what the method chose, in sentences."""
    warnings: tuple[str, ...]
    """What may make the result misleading, in sentences, the gravest first."""
    leaks: tuple[str, ...]
    """Features that alone predict the target almost perfectly."""
    chance: float | None
    """p of the best single feature, after Bonferroni's correction; None where it cannot be computed."""
    grid_shape: tuple[int, int] | None
    """Rows and columns, where the features are pixels of a picture."""
    grid_order: str
    """Whether the features list the pixels by "rows" or by "columns"."""
    mean_picture: tuple[float, ...] | None
    """Mean of each feature, in the order of the data; only for pictures."""
    events: int | None = None
    """How many samples had the event; None where the target holds no times and events."""


@dataclass(frozen=True)
class Versions:
    """What the selection ran on."""

    infused: str
    numpy: str
    scikit_learn: str
    python: str


@dataclass(frozen=True)
class Convergence:
    """How an iterative method ended."""

    converged: bool | None
    iterations: int | None
    certificate: float | None
    """Largest violation of the optimality conditions, relative to lambda1."""
    path_iterations: tuple[int, ...]
    """Iterations at which the objective is given, at most 500 of them, the first and the last included."""
    path_objective: tuple[float, ...]


@dataclass(frozen=True)
class StandIn:
    """A feature that was not selected and is redundant with one that was."""

    name: str
    correlation: Share
    """|Pearson correlation| of the two."""


@dataclass(frozen=True)
class SelectionStability:
    """How often features were selected in complementary half-samples."""

    n_pairs: int
    """Pairs of half-samples in which both could be fitted."""
    n_failed: int
    """Pairs that were left out because one half-sample could not be fitted."""
    per_half: float
    """Mean number of features selected in a half-sample."""
    threshold: Share
    """Selection frequency from which on a feature is stable."""
    n_stable: int
    """How many features reach it, selected or not."""
    expected_false: float
    """Upper bound on the expected number of false selections among them."""
    bound: str
    """Name of the bound."""
    frequencies: tuple[Share, ...]
    """Selection frequency of each feature, in the order of the data."""


@dataclass(frozen=True)
class Shadows:
    """How the selected features compare with permuted copies of the features (shadows)."""

    n_repeats: int
    n_shadows: int
    n_compared: int
    """Selected features that competed."""
    n_beaten: int
    """Those that rank behind the best shadow in half of the repeats or more."""
    by_chance: float
    """Expected number of features ahead of all shadows if none depended on the target."""


@dataclass(frozen=True)
class TriedMethod:
    """One row of the table by which a method was chosen."""

    method: str
    n_features: int | None
    score: Figure | None
    error: Figure | None
    linear: Figure | None
    """Score of the linear evaluation model; None where it was not used."""
    boosted_trees: Figure | None
    """Score of the boosted trees; None where they were not used."""
    seconds: float
    status: str
    chosen: bool


@dataclass(frozen=True)
class HazardRatio:
    """How many times as often events happen for larger values of one feature, by Cox's regression on it."""

    ratio: Figure
    low: Figure
    """End of the 95% interval, as is ``high``."""
    high: Figure
    unit: str
    """What is compared: "standard deviation", or one level against the other."""


@dataclass(frozen=True)
class FeatureBlock:
    """One kind of features, such as clinical, RNA or protein."""

    name: str
    n_features: int
    n_selected: int
    factor: Figure | None
    """What its penalty was multiplied with, 0 for a block that is kept; None where that was not chosen."""
    unique: Figure | None
    """Share of the target's variance that a ridge regression on the selected features loses without those of
    the block; None where too many features were selected."""


@dataclass(frozen=True)
class Effect:
    """The effect of a feature on the target, given the others, in a way that allows for the selection."""

    effect: Figure | None
    """Of one unit; None where there is no single one, as of three classes."""
    low: Figure | None
    """End of the interval, as is ``high``; None where it has none."""
    high: Figure | None
    p_value: Share
    """Adjusted for the number of features."""
    deviation: Figure
    """Standard deviation of the feature."""


@dataclass(frozen=True)
class Intervals:
    """How effects were estimated."""

    level: Share
    """The probability that an interval holds the effect."""
    n_splits: int
    loss: str
    """Of the model without a penalty that estimates."""


@dataclass(frozen=True)
class SelectedFeature:
    """One selected feature."""

    rank: int
    name: str
    index: int
    """Position among the features of the data, from 0."""
    score: float | None
    """None where the method gave no finite number."""
    coefficients: tuple[float | None, ...] | None
    """In the order of the record's ``coefficient_names``; None where the method has none."""
    group: int | None
    """Group of near-duplicates, numbered from 1 by rank; None for a feature that is in none."""
    alone: Figure
    """What it explains of the target by itself, corrected for chance: the adjusted R² of a continuous target,
    McFadden's R² of classes; zero on average for noise."""
    unique: Figure | None
    """Share of the target's variance that a ridge regression on the selected features loses without it; None
    beyond the features that were compared."""
    stand_ins: tuple[StandIn, ...] = ()
    """Redundant features that were not selected, the most correlated first."""
    wins: Share | None = None
    """Share of repeats in which it was ahead of all shadows; None where there were none."""
    hazard: HazardRatio | None = None
    """Of times and events; None for other targets, and for categories of more than two levels."""
    direction: str = ""
    """For which values the target is higher or a class more frequent; empty where that is not clear."""
    cost: float | None = None
    """What it costs, where costs were given."""
    effect: Effect | None = None
    """Where effects were estimated."""
    block: str = ""
    """Its kind; empty where there are none."""


@dataclass(frozen=True)
class FeatureScores:
    """Names, scores and ranks of all features, in the order of the data; the selected rank first."""

    names: tuple[str, ...]
    scores: tuple[float | None, ...]
    ranks: tuple[int, ...]


@dataclass(frozen=True)
class Redundancy:
    """|Pearson correlation| among the best selected features (at most 100), in rank order.

    Of two categories Cramér's V, of a number and a category the correlation ratio.
    """

    threshold: Share
    """All pairs of a redundancy group correlate at least this much."""
    matrix: tuple[tuple[Share, ...], ...]


@dataclass(frozen=True)
class ClassDistribution:
    """Histograms of one feature, one for each class on common bins."""

    name: str
    edges: tuple[float, ...]
    counts: tuple[tuple[int, ...], ...]
    """classes x bins."""
    levels: tuple[str, ...] | None = None
    """Of a category: what each bin is."""


@dataclass(frozen=True)
class TargetScatter:
    """One feature against a continuous target, for at most 500 samples."""

    name: str
    values: tuple[float, ...]
    target: tuple[float, ...]
    levels: tuple[str, ...] | None = None
    """Of a category: what its values stand for."""


@dataclass(frozen=True)
class RelationLine:
    """Mean of the target along one selected feature, or the share of each class."""

    name: str
    values: tuple[Figure, ...]
    means: tuple[tuple[Figure, ...], ...]
    """targets or classes x values."""
    levels: tuple[str, ...] | None
    """Of a category: what its values stand for."""
    relevance: Share | None
    """Inner product of its graph and the target's, from 0 to 1; None where the method has no graphs."""
    redundant: tuple[tuple[str, Share], ...]
    """The selected features whose graphs are most like its own, with their inner products."""


@dataclass(frozen=True)
class SurvivalCurve:
    """Kaplan-Meier estimate for the samples in one part of a feature's values."""

    name: str
    count: int
    n_events: int
    times: tuple[float, ...]
    shares: tuple[Share, ...]
    """Of samples without an event up to each time."""


@dataclass(frozen=True)
class SurvivalCurves:
    """Survival in each third of a feature's values, or at each of its levels."""

    name: str
    parts: tuple[SurvivalCurve, ...]
    p_value: float | None
    """Of the log-rank test; None for one part."""


@dataclass(frozen=True, repr=False)
class SelectionRecord:
    """A selection: what was asked, of which data, and what came out.

    Numbers are plain and finite; what a method does not provide is None.
    ``from_json(record.to_json())`` equals the record to the last bit.
    """

    request: Request
    transform: str
    """What was done to the values: the one that was asked for, or chosen."""
    data: DataFacts
    versions: Versions
    created: str
    """When, in UTC, as ISO 8601."""
    timings: dict[str, float]
    """Seconds by stage."""
    method_name: str
    """The method as people write it."""
    reference: str | None
    """Where the method was published."""
    standardized: bool
    """Whether coefficients are those of standardised features."""
    coefficient_names: tuple[str, ...]
    """Classes or targets that coefficients belong to; empty where the method has none."""
    selected: tuple[SelectedFeature, ...]
    """In rank order."""
    features: FeatureScores
    redundancy: Redundancy | None
    """None for fewer than two selected features."""
    distributions: tuple[ClassDistribution, ...]
    """Of the best features (at most 24); empty for a continuous target."""
    scatters: tuple[TargetScatter, ...]
    """Of the best features (at most 24); empty for classes and for several targets."""
    convergence: Convergence | None
    """None for methods that do not iterate."""
    coding: tuple[VariableCoding, ...]
    """How the selected features are read and coded, in rank order."""
    number: NumberCurve | None = None
    """How the number of features was chosen; None where it was given."""
    score: NumberCurve | None = None
    """Cross-validated score of the given number of features; None where it was not computed."""
    budget: CostCurve | None = None
    """How the features were chosen for a budget; None without one."""
    stability: SelectionStability | None = None
    """Selection frequencies in half-samples; None where they were not computed."""
    shadows: Shadows | None = None
    """The comparison with permuted copies; None where there was none."""
    relations: tuple[RelationLine, ...] = ()
    """Of the best features (at most 24); empty unless the method has graphs or the relation is not linear."""
    survival: tuple[SurvivalCurves, ...] = ()
    """Of the best features (at most 24); empty where the target holds no times and events."""
    tried: tuple[TriedMethod, ...] = ()
    """The methods that were tried, where the method was chosen."""
    intervals: Intervals | None = None
    """How effects were estimated; None where they were not."""
    blocks: tuple[FeatureBlock, ...] = ()
    """Kinds of features, in the order of the data; empty where none were given."""

    def __repr__(self) -> str:
        number = f"{len(self.selected):,} of the {self.data.n_features:,} features of {self.data.name}"
        return f"<SelectionRecord: {number}, by {self.method_name}, {self.created}>"

    def to_json(self) -> str:
        """Return the record as text, with its schema."""
        return json.dumps({"schema": SCHEMA, **encode(self)}, ensure_ascii=False, allow_nan=False, indent=1)

    @classmethod
    def from_json(cls, text: str) -> SelectionRecord:
        """Read what :meth:`to_json` wrote; a RecordError says in one line what is wrong with other text."""
        try:
            content = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise RecordError(f"This is not JSON ({error}): pass a selection.json.") from None
        _check_schema(content.pop("schema", None) if isinstance(content, dict) else None)
        try:
            record: SelectionRecord = decode(cls, content)
            for wrong in _contradictions(record):
                raise ValueError(wrong)
        except (KeyError, TypeError, AttributeError, ValueError, OverflowError, RecursionError) as error:
            raise RecordError(f"This selection.json is damaged: {error}.") from None
        _check_writable(content)
        return record


def _check_schema(schema: Any) -> None:
    """Refuse every schema but the one that this version writes."""
    family, _, version = schema.partition("/") if isinstance(schema, str) else ("", "", "")
    if family != FAMILY or not version.isdecimal():
        raise RecordError(f"This is no record of a selection: its schema is {schema!r}, not {SCHEMA!r}.")
    if int(version) > VERSION:
        raise RecordError(
            f"This selection was written by a newer infused ({schema}); this one reads {SCHEMA}: "
            "upgrade infused."
        )
    if int(version) < VERSION:
        raise RecordError(f"This infused reads {SCHEMA}, not {schema}: select again.")


def _check_writable(content: Any) -> None:
    """Refuse what JSON can spell but no file of ours holds: infinite numbers, halves of characters."""
    try:
        json.dumps(content, ensure_ascii=False, allow_nan=False).encode()
    except UnicodeEncodeError:
        raise RecordError("This selection.json is damaged: it holds text beyond Unicode.") from None
    except (ValueError, RecursionError):
        raise RecordError("This selection.json is damaged: it holds a number that is not finite.") from None


def _contradictions(record: SelectionRecord) -> Iterator[str]:
    """Yield a sentence for each pair of fields that do not fit together."""
    yield from _wrong_features(record)
    yield from _wrong_charts(record)


def _curves(record: SelectionRecord) -> list[tuple[str, NumberCurve | CostCurve]]:
    named = (("number", record.number), ("score", record.score), ("budget", record.budget))
    return [(name, curve) for name, curve in named if curve is not None]


def _wrong_features(record: SelectionRecord) -> Iterator[str]:
    every, n_features, k = record.features, record.data.n_features, len(record.selected)
    if not len(every.names) == len(every.scores) == len(every.ranks):
        yield "features has other numbers of names, scores and ranks"
    n_targets = len(record.coefficient_names)
    for n, feature in enumerate(record.selected):
        if not 0 <= feature.index < n_features:
            yield f"selected[{n}].index is {feature.index}, outside 0 to {n_features - 1}"
        if feature.coefficients is not None and len(feature.coefficients) != n_targets:
            yield f"selected[{n}] has {len(feature.coefficients)} coefficients, not {n_targets}"
    if len(record.coding) != k:
        yield f"coding has {len(record.coding)} entries for {k} selected features"
    for n, variable in enumerate(record.coding):
        origin = variable.origin
        if origin.how not in HOWS or origin.decimal not in DECIMALS or origin.format not in (None, *DATES):
            yield f"coding[{n}].origin has a way to read a column that does not exist"
    if record.stability is not None and len(record.stability.frequencies) != n_features:
        yield f"stability.frequencies is not one share for each of the {n_features} features"
    if record.shadows is not None and not 0 <= record.shadows.by_chance <= n_features:
        yield f"shadows.by_chance is {record.shadows.by_chance:g} of {n_features} features"
    for n, one in enumerate(record.tried):
        if one.score is not None and None in (one.n_features, one.error):
            yield f"tried[{n}] has a score, but no number of features or no error"


def _wrong_charts(record: SelectionRecord) -> Iterator[str]:
    data, ended = record.data, record.convergence
    shape, pixels, n_features = data.grid_shape, data.mean_picture, data.n_features
    if shape is not None and (min(shape) < 1 or shape[0] * shape[1] != n_features):
        yield f"data.grid_shape is {shape[0]} x {shape[1]}, for {n_features} features"
    if pixels is not None and len(pixels) != n_features:
        yield f"data.mean_picture has {len(pixels)} pixels for {n_features} features"
    n_classes = len(data.classes or ())
    for n, found in enumerate(record.distributions):
        bins = len(found.edges) - 1 if found.levels is None else len(found.levels)
        if len(found.counts) != n_classes or any(len(row) != bins for row in found.counts):
            yield f"distributions[{n}].counts is not {n_classes} classes x {bins} bins"
    for n, scatter in enumerate(record.scatters):
        if len(scatter.values) != len(scatter.target):
            yield f"scatters[{n}] has {len(scatter.values)} values for {len(scatter.target)} of the target"
    for n, one in enumerate(record.relations):
        if len(one.means) != max(1, n_classes) or any(len(row) != len(one.values) for row in one.means):
            yield f"relations[{n}].means is not {max(1, n_classes)} x {len(one.values)}"
        if one.levels is not None and not all(v in range(len(one.levels)) for v in one.values):
            yield f"relations[{n}].values are no positions of its levels"
    for n, curves in enumerate(record.survival):
        if any(not len(part.times) == len(part.shares) > 0 for part in curves.parts):
            yield f"survival[{n}] has other numbers of times and shares"
    if record.redundancy is not None:
        sizes = {len(row) for row in record.redundancy.matrix} | {len(record.redundancy.matrix)}
        if len(sizes) != 1 or not 0 < max(sizes) <= len(record.selected):
            yield "redundancy.matrix is empty, not square, or larger than the selection"
    if ended is not None and len(ended.path_iterations) != len(ended.path_objective):
        yield "convergence has other numbers of iterations and of objectives"
    for name, curve in _curves(record):
        if not len(curve.ks) == len(curve.means) == len(curve.errors) > 0:
            yield f"{name} has other numbers of ks, means and errors"
        if not {curve.best, curve.chosen} <= set(curve.ks):
            yield f"{name}.best or {name}.chosen is not among the numbers that were tried"
        if not curve.scoring:
            yield f"{name}.scoring is empty"
        every = [*curve.means, *curve.errors, curve.chance, curve.all_features or 0.0]
        if isinstance(curve, NumberCurve) and curve.relation is not None:
            every += [score or 0.0 for score in astuple(curve.relation)]
        decode(tuple[Figure, ...], every, f"the scores of {name}")


SCALARS = {int: "a whole number", float: "a finite number", str: "text", bool: "true or false"}
LARGEST_COUNT = 2**63  # no count is beyond

_types = cache(partial(get_type_hints, include_extras=True))


def encode(value: Any) -> Any:
    """Turn a tree of dataclasses into dictionaries and lists."""
    if dataclasses.is_dataclass(value):
        return {field.name: encode(getattr(value, field.name)) for field in _recorded(value)}
    if isinstance(value, tuple | list):
        return [encode(item) for item in value]
    if isinstance(value, dict):
        return {key: encode(item) for key, item in value.items()}
    return value


def decode(kind: Any, value: Any, where: str = "") -> Any:
    """Turn the result of :func:`encode` back; a ValueError names the place where a value does not fit."""
    if kind is Any:
        return value
    if kind in SCALARS:
        return _scalar(kind, value, where)
    if dataclasses.is_dataclass(kind):
        return _dataclass(kind, value, where)
    inner = get_args(kind)
    if get_origin(kind) is Annotated:
        found, (low, high) = decode(inner[0], value, where), inner[1]
        _require(low <= found <= high, where, f"a number from {low:.3g} to {high:.3g}")
        return found
    if get_origin(kind) is dict:
        _require(isinstance(value, dict), where, "an object")
        return {key: decode(inner[1], item, f"{where}.{key}") for key, item in value.items()}
    if get_origin(kind) is tuple:
        _require(isinstance(value, list), where, "a list")
        kinds = inner[:1] * len(value) if inner[-1] is Ellipsis else inner
        _require(len(value) == len(kinds), where, f"a list of {len(kinds)}")
        pairs = zip(kinds, value, strict=True)
        return tuple(decode(one, item, f"{where}[{n}]") for n, (one, item) in enumerate(pairs))
    # A union. A whole number fits float too, so the exact type goes first.
    if value is None and types.NoneType in inner:
        return None
    others = [one for one in inner if one is not types.NoneType]
    return decode(type(value) if type(value) in others else others[-1], value, where)


def _scalar(kind: Any, value: Any, where: str) -> Any:
    if type(value) is int:
        _require(abs(value) < LARGEST_COUNT, where, "a number in the range of computers")
    if kind is float and type(value) is int:
        return float(value)
    _require(type(value) is kind and (kind is not float or isfinite(value)), where, SCALARS[kind])
    return value


def _dataclass(kind: Any, value: Any, where: str) -> Any:
    _require(isinstance(value, dict), where, "an object")
    known = {field.name: field for field in _recorded(kind)}
    inside = f"{where}." if where else ""
    for name in value.keys() - known.keys():
        raise ValueError(f"{inside}{name} is not known")
    for name in known.keys() - value.keys():
        if known[name].default is dataclasses.MISSING:  # others may be younger than the record
            raise ValueError(f"{inside}{name} is missing")
    return kind(**{name: decode(_types(kind)[name], value[name], f"{inside}{name}") for name in value})


def _recorded(kind: Any) -> list[dataclasses.Field[Any]]:
    """Return the fields that a record holds; the others belong to the process."""
    return [field for field in dataclasses.fields(kind) if field.metadata.get("recorded", True)]


def _require(holds: bool, where: str, wanted: str) -> None:
    if not holds:
        raise ValueError(f"{where or 'the file'} should be {wanted}")
