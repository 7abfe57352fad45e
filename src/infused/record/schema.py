"""Everything that a report or a rerun needs of a selection, as one value that JSON can hold."""

from __future__ import annotations

import dataclasses
import json
import types
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from math import isfinite
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from infused.coding import DECIMALS, HOWS, VariableCoding
from infused.data.reading import ReadOptions
from infused.data.written import DATES
from infused.exceptions import InputError
from infused.record.trust import Shadows, Stability, StandIn, TriedMethod
from infused.selectors.choose.number import NumberCurve
from infused.selectors.method import Method, plain

FAMILY, VERSION = "infused.selection", 2
SCHEMA = f"{FAMILY}/{VERSION}"


class RecordError(InputError):
    """A text is not a record of a selection, or one that this version cannot read."""


@dataclass(frozen=True)
class Request:
    """What was asked."""

    source: str | None
    """A path or the name of data; None for data that were given in Python."""
    treatment: ReadOptions
    """How the data are read and prepared."""
    method: Method
    """The selector; once it has run, with all its parameters, so that a rerun hangs on no default."""
    k: int | float | str | None
    """A number, a fraction, "auto", or None for as many as the method finds."""
    transform: str
    """What to do to the values before selecting: "none", "sqrt", "log1p" or "auto"."""
    seed: int
    scoring: str | None = None
    """What counts where something is chosen by cross-validation; None for what suits the data."""
    stability: int | None = None
    """Pairs of halves of the samples to select in again, 0 for none; None where it takes seconds."""

    def recorded(self) -> Request:
        """With parameters as JSON holds them, so that what is read back equals what was written."""
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
    """None for a real target."""
    notes: tuple[str, ...]
    """What the reader did to the data, in words."""
    grid_shape: tuple[int, int] | None
    """Rows and columns, where the features are pixels of a picture."""
    grid_order: str
    """Whether the features list the pixels by "rows" or by "columns"."""
    mean_picture: tuple[float, ...] | None
    """Mean of each feature, in the order of the data; only for pictures."""


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
    alone: float
    """Share of its variance that goes with the target, corrected for chance: zero on average for noise."""
    unique: float | None
    """Share of the target's variance that a ridge regression on the selected features loses without it; None
    beyond the features that were compared."""
    stand_ins: tuple[StandIn, ...] = ()
    """Features that were not selected and say nearly the same, the most alike first."""
    wins: float | None = None
    """The share of repeats in which it was ahead of all shadows; None where none competed."""


@dataclass(frozen=True)
class FeatureScores:
    """Names, scores and ranks of all features, in the order of the data; the selected rank first."""

    names: tuple[str, ...]
    scores: tuple[float | None, ...]
    ranks: tuple[int, ...]


@dataclass(frozen=True)
class Redundancy:
    """|Pearson correlation| among the best selected features (at most 100), in rank order.

    Of features with several columns, the largest canonical correlation of these.
    """

    threshold: float
    """All pairs of a redundancy group correlate at least this much."""
    matrix: tuple[tuple[float, ...], ...]


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
    """One feature against a real target, for at most 500 samples."""

    name: str
    values: tuple[float, ...]
    target: tuple[float, ...]
    levels: tuple[str, ...] | None = None
    """Of a category: what its values stand for."""


@dataclass(frozen=True, repr=False)
class SelectionRecord:
    """A selection: what was asked, of which data, and what came out.

    Numbers are plain and finite; what a method could not say is None. ``from_json(record.to_json())`` equals
    the record to the last bit.
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
    """Of the best features (at most 24); empty for a real target."""
    scatters: tuple[TargetScatter, ...]
    """Of the best features (at most 24); empty for classes and for several targets."""
    convergence: Convergence | None
    """None for methods that do not iterate."""
    number: NumberCurve | None = None
    """How the number of features was chosen; None where it was not."""
    coding: tuple[VariableCoding, ...] | None = None
    """How the selected features are read and treated, in rank order; None in records of earlier versions."""
    stability: Stability | None = None
    """How often features were chosen in halves of the samples; None where nobody looked."""
    shadows: Shadows | None = None
    """How the selected features fared against shuffled copies; None where none competed."""
    tried: tuple[TriedMethod, ...] = ()
    """The methods that were tried, where the method was chosen."""

    def __repr__(self) -> str:
        number = f"{len(self.selected):,} of the {self.data.n_features:,} features of {self.data.name}"
        return f"<SelectionRecord: {number}, by {self.method_name}, {self.created}>"

    def to_json(self) -> str:
        """The record as text, with its schema."""
        return json.dumps({"schema": SCHEMA, **encode(self)}, ensure_ascii=False, allow_nan=False, indent=1)

    @classmethod
    def from_json(cls, text: str) -> SelectionRecord:
        """Read what :meth:`to_json` wrote; a RecordError says in one line what is wrong with other text."""
        try:
            content = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise RecordError(f"This is not JSON ({error}): pass a selection.json.") from None
        schema = content.pop("schema", None) if isinstance(content, dict) else None
        version = _version(schema)
        try:
            record = decode(cls, _from_version_1(content) if version == 1 else content)
            for wrong in contradictions(record):
                raise ValueError(wrong)
        except (KeyError, TypeError, AttributeError, ValueError, OverflowError, RecursionError) as error:
            raise RecordError(f"This selection.json is damaged: {error}.") from None
        _check_writable(content)
        return record


def _check_writable(content: Any) -> None:
    """Refuse what JSON can spell but no file of ours holds: infinite numbers, halves of characters."""
    try:
        json.dumps(content, ensure_ascii=False, allow_nan=False).encode()
    except UnicodeEncodeError:
        raise RecordError("This selection.json is damaged: it holds text beyond Unicode.") from None
    except (ValueError, RecursionError):
        raise RecordError("This selection.json is damaged: it holds a number that is not finite.") from None


def _version(schema: Any) -> int:
    """The version that a schema names, if this infused reads it."""
    family, _, version = schema.partition("/") if isinstance(schema, str) else ("", "", "")
    if family != FAMILY or not version.isdecimal():
        raise RecordError(f"This is no record of a selection: its schema is {schema!r}, not {SCHEMA!r}.")
    if int(version) > VERSION:
        raise RecordError(
            f"This selection was written by a newer infused ({schema}); this one reads {SCHEMA}: "
            "upgrade infused."
        )
    if int(version) < 1:
        raise RecordError(f"The schema {schema!r} does not exist; this infused reads {SCHEMA}.")
    return int(version)


def _from_version_1(content: dict[str, Any]) -> dict[str, Any]:
    """Version 1 had the options of the reader apart from the target, and no correction for chance."""
    asked, data = content["request"], content["data"]
    degrees = len(data["classes"] or (0, 0)) - 1
    beyond_chance = (data["n_samples"] - 1) / max(1, data["n_samples"] - 1 - degrees)
    features = [dict(one) for one in content["selected"]]
    for one in features:
        one |= {"alone": 1 - (1 - one.pop("relevance")) * beyond_chance, "unique": None}
    return {
        **content,
        "request": {
            "source": asked["source"],
            "treatment": encode(ReadOptions.make(**asked["reading"], target=asked["target"])),
            "method": {"id": asked["method"], "parameters": asked["parameters"]},
            "k": asked["n_features"],
            "transform": asked["transform"],
            "seed": asked["seed"] or 0,
        },
        "transform": asked["transform"],
        "selected": features,
    }


ROUNDING = 1e-6
MOST_SHOWN = 1e300  # of a figure that is shown: its percentage is finite


def contradictions(record: SelectionRecord) -> Iterator[str]:
    """Sentences on fields that do not fit together."""
    yield from _features(record)
    yield from _charts(record)
    yield from _curves(record)
    yield from _trust(record)
    yield from (f"{name} is {value:g}, no share" for name, value in _shares(record) if not _is_share(value))
    yield from (f"{name} is {value:g}" for name, value in _figures(record) if not abs(value) <= MOST_SHOWN)


def _is_share(value: float) -> bool:
    return -ROUNDING <= value <= 1 + ROUNDING


def _shares(record: SelectionRecord) -> Iterator[tuple[str, float]]:
    """What lies between 0 and 1."""
    for n, feature in enumerate(record.selected):
        yield from ((f"selected[{n}].stand_ins", one.correlation) for one in feature.stand_ins)
        if feature.wins is not None:
            yield f"selected[{n}].wins", feature.wins
    if record.redundancy is not None:
        yield "redundancy.threshold", record.redundancy.threshold
        yield from (("redundancy.matrix", one) for row in record.redundancy.matrix for one in row)
    if record.stability is not None:
        yield "stability.threshold", record.stability.threshold
        yield from (("stability.frequencies", one) for one in record.stability.frequencies)


def _figures(record: SelectionRecord) -> Iterator[tuple[str, float]]:
    """What is shown as a number or a percentage, and drawn."""
    for n, feature in enumerate(record.selected):
        yield f"selected[{n}].alone", feature.alone
        yield f"selected[{n}].unique", feature.unique or 0.0
    for n, one in enumerate(record.tried):
        yield f"tried[{n}]", one.score or 0.0
        yield f"tried[{n}]", one.error or 0.0
    if record.number is not None:
        curve = record.number
        yield from (("number", one) for one in (*curve.means, *curve.errors, curve.chance))
        yield "number.all_features", curve.all_features or 0.0


def _trust(record: SelectionRecord) -> Iterator[str]:
    n_features = record.data.n_features
    if record.stability is not None and len(record.stability.frequencies) != n_features:
        yield f"stability.frequencies is not one share for each of the {n_features} features"
    if record.shadows is not None and not 0 <= record.shadows.by_chance <= n_features:
        yield f"shadows.by_chance is {record.shadows.by_chance:g} of {n_features} features"
    for n, one in enumerate(record.tried):
        if one.score is not None and None in (one.n_features, one.error):
            yield f"tried[{n}] has a score, but no number of features or no error"


def _features(record: SelectionRecord) -> Iterator[str]:
    every, n_features = record.features, record.data.n_features
    if not len(every.names) == len(every.scores) == len(every.ranks):
        yield "features has other numbers of names, scores and ranks"
    n_targets = len(record.coefficient_names)
    for n, feature in enumerate(record.selected):
        if not 0 <= feature.index < n_features:
            yield f"selected[{n}].index is {feature.index}, outside 0 to {n_features - 1}"
        if feature.coefficients is not None and len(feature.coefficients) != n_targets:
            yield f"selected[{n}] has {len(feature.coefficients)} coefficients, not {n_targets}"
    if record.coding is not None and len(record.coding) != len(record.selected):
        yield f"coding has {len(record.coding)} entries for {len(record.selected)} selected features"
    for n, variable in enumerate(record.coding or ()):
        origin = variable.origin
        if origin.how not in HOWS or origin.decimal not in DECIMALS or origin.format not in (None, *DATES):
            yield f"coding[{n}].origin has a way to read a column that does not exist"
    if record.redundancy is not None:
        sizes = {len(row) for row in record.redundancy.matrix} | {len(record.redundancy.matrix)}
        if len(sizes) != 1 or not 0 < max(sizes) <= len(record.selected):
            yield "redundancy.matrix is empty, not square, or larger than the selection"


def _charts(record: SelectionRecord) -> Iterator[str]:
    shape, pixels = record.data.grid_shape, record.data.mean_picture
    if shape is not None and (min(shape) < 1 or shape[0] * shape[1] != record.data.n_features):
        yield f"data.grid_shape is {shape[0]} x {shape[1]}, for {record.data.n_features} features"
    if pixels is not None and len(pixels) != record.data.n_features:
        yield f"data.mean_picture has {len(pixels)} pixels for {record.data.n_features} features"
    n_classes = len(record.data.classes or ())
    for n, found in enumerate(record.distributions):
        bins = len(found.edges) - 1 if found.levels is None else len(found.levels)
        if len(found.counts) != n_classes or any(len(row) != bins for row in found.counts):
            yield f"distributions[{n}].counts is not {n_classes} classes x {bins} bins"
    for n, scatter in enumerate(record.scatters):
        if len(scatter.values) != len(scatter.target):
            yield f"scatters[{n}] has {len(scatter.values)} values for {len(scatter.target)} of the target"


def _curves(record: SelectionRecord) -> Iterator[str]:
    ended, number = record.convergence, record.number
    if ended is not None and len(ended.path_iterations) != len(ended.path_objective):
        yield "convergence has other numbers of iterations and of objectives"
    if number is not None and not len(number.ks) == len(number.means) == len(number.errors) > 0:
        yield "number has other numbers of ks, means and errors"
    elif number is not None and not {number.best, number.chosen} <= set(number.ks):
        yield "number.best or number.chosen is not among the numbers that were tried"
    if number is not None and not number.scoring:
        yield "number.scoring is empty"


Record = TypeVar("Record")
SCALARS = {int: "a whole number", float: "a finite number", str: "text", bool: "true or false"}

LARGEST_COUNT = 2**63  # no count is beyond

_fields = cache(get_type_hints)


def encode(value: Any) -> Any:
    """A dataclass tree as dictionaries and lists."""
    if dataclasses.is_dataclass(value):
        return {field.name: encode(getattr(value, field.name)) for field in _recorded(value)}
    if isinstance(value, tuple | list):
        return [encode(item) for item in value]
    if isinstance(value, dict):
        return {key: encode(item) for key, item in value.items()}
    return value


def decode(kind: type[Record], value: Any, where: str = "") -> Record:
    """The inverse of :func:`encode`; a ValueError names the place where a value does not fit its type."""
    result: Record = _decode(kind, value, where)
    return result


def _decode(kind: Any, value: Any, where: str) -> Any:
    if kind is Any:
        return value
    if kind in SCALARS:
        return _scalar(kind, value, where)
    if dataclasses.is_dataclass(kind):
        return _dataclass(kind, value, where)
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return _one_of(inner, value, where)
    if origin is tuple:
        return _tuple(inner, value, where)
    if origin is dict:
        _require(isinstance(value, dict), where, "an object")
        return {key: _decode(inner[1], item, f"{where}.{key}") for key, item in value.items()}
    raise TypeError(f"{where}: {kind!r} is no type of a record")


def _scalar(kind: Any, value: Any, where: str) -> Any:
    if type(value) is int:
        _require(abs(value) < LARGEST_COUNT, where, "a number in the range of computers")
    if kind is float and type(value) is int:
        return float(value)
    _require(type(value) is kind and (kind is not float or isfinite(value)), where, SCALARS[kind])
    return value


def _dataclass(kind: Any, value: Any, where: str) -> Any:
    _require(isinstance(value, dict), where, "an object")
    hints = {field.name: _fields(kind)[field.name] for field in _recorded(kind)}
    inside = f"{where}." if where else ""
    for name in value.keys() - hints.keys():
        raise ValueError(f"{inside}{name} is not known")
    # What has a default may be absent: it was added after the text was written.
    needed = {field.name for field in _recorded(kind) if _has_no_default(field)}
    for name in needed - value.keys():
        raise ValueError(f"{inside}{name} is missing")
    return kind(**{name: _decode(hints[name], item, f"{inside}{name}") for name, item in value.items()})


def _recorded(kind: Any) -> list[dataclasses.Field[Any]]:
    """The fields that a record holds; the others belong to the process."""
    return [field for field in dataclasses.fields(kind) if field.metadata.get("recorded", True)]


def _has_no_default(field: dataclasses.Field[Any]) -> bool:
    missing = dataclasses.MISSING
    return field.default is missing and field.default_factory is missing


def _one_of(kinds: tuple[Any, ...], value: Any, where: str) -> Any:
    if value is None and types.NoneType in kinds:
        return None
    others = [kind for kind in kinds if kind is not types.NoneType]
    # A whole number fits float too, so the exact type goes first.
    chosen = type(value) if type(value) in others else others[-1]
    return _decode(chosen, value, where)


def _tuple(inner: tuple[Any, ...], value: Any, where: str) -> Any:
    _require(isinstance(value, list), where, "a list")
    if inner[-1] is Ellipsis:
        return tuple(_decode(inner[0], item, f"{where}[{n}]") for n, item in enumerate(value))
    _require(len(value) == len(inner), where, f"a list of {len(inner)}")
    return tuple(
        _decode(kind, item, f"{where}[{n}]") for n, (kind, item) in enumerate(zip(inner, value, strict=True))
    )


def _require(holds: bool, where: str, wanted: str) -> None:
    if not holds:
        raise ValueError(f"{where or 'the file'} should be {wanted}")
