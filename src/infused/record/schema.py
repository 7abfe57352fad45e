"""Everything that a report or a rerun needs of a selection, as one value that JSON can hold."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

from infused.coding import VariableCoding
from infused.data.treatment import Treatment
from infused.exceptions import InputError
from infused.record.codec import decode, encode
from infused.record.consistency import contradictions
from infused.record.trust import Shadows, Stability, StandIn, TriedMethod
from infused.selectors.method import Method, plain
from infused.selectors.tuning import NumberCurve

__all__ = [
    "SCHEMA",
    "ClassCount",
    "ClassDistribution",
    "Convergence",
    "DataFacts",
    "FeatureScores",
    "NumberCurve",
    "RecordError",
    "Redundancy",
    "Request",
    "SelectedFeature",
    "SelectionRecord",
    "TargetScatter",
    "Versions",
]

FAMILY, VERSION = "infused.selection", 2
SCHEMA = f"{FAMILY}/{VERSION}"


class RecordError(InputError):
    """A text is not a record of a selection, or one that this version cannot read."""


@dataclass(frozen=True)
class Request:
    """What was asked."""

    source: str | None
    """A path or the name of data; None for data that were given in Python."""
    treatment: Treatment
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
            "treatment": encode(Treatment.make(**asked["reading"], target=asked["target"])),
            "method": {"id": asked["method"], "parameters": asked["parameters"]},
            "k": asked["n_features"],
            "transform": asked["transform"],
            "seed": asked["seed"] or 0,
        },
        "transform": asked["transform"],
        "selected": features,
    }
