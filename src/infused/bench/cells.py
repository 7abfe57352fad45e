"""What a benchmark computes: cells, each named by a hash of everything that its result depends on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from infused._runtime.literals import typed_value
from infused.exceptions import InfusedError

if TYPE_CHECKING:
    from infused._typing import Array
    from infused.data import Dataset

__all__ = [
    "SCHEMA",
    "BenchmarkError",
    "Cell",
    "Method",
    "Problem",
    "Protocol",
    "canonical_json",
    "check_ks",
    "content_key",
    "default_ks",
]

SCHEMA = 1
"""Of rows and of cells: a new number means that earlier results do not stand for new ones."""

Protocol = Literal["nested", "leaky"]

#: The largest k of the paper's figures.
PAPER_KS = {
    "USPS": 50,
    "PIE": 70,
    "YaleB": 50,
    "Lymphoma": 160,
    "Leukemia": 200,
    "RELATHE": 200,
    "BASEHOCK": 200,
    "Isolet1": 100,
}
STEP, MOST_KS = 10, 20


class BenchmarkError(InfusedError, ValueError):
    """A benchmark cannot be run as it was asked for; nothing was computed."""


@dataclass(frozen=True)
class Method:
    """A selector by its id (or a dotted path to its class), with the parameters that are not its defaults."""

    name: str
    parameters: str = "{}"
    """JSON, keys sorted."""

    @classmethod
    def of(cls, name: str, parameters: Mapping[str, Any] | None = None) -> Method:
        """From parameters as a mapping."""
        return cls(name, canonical_json(parameters or {}))

    @classmethod
    def parse(cls, text: str) -> Method:
        """From an id, with parameters after colons.

        >>> Method.parse("lasso:lambda1=0.1:target=label")
        Method(name='lasso', parameters='{"lambda1":0.1,"target":"label"}')
        """
        parts = text.split(":")  # a path to a class may have a colon of its own
        pairs = [part.partition("=") for part in parts if "=" in part]
        name = ":".join(part for part in parts if "=" not in part)
        if not name or not all(key and value for key, _, value in pairs):
            raise BenchmarkError(f"{text!r} is no method: give an id, or one like lasso:lambda1=0.1.")
        try:
            return cls.of(name, {key.strip(): typed_value(value.strip()) for key, _, value in pairs})
        except (TypeError, ValueError) as error:
            raise BenchmarkError(f"{text!r}: give numbers or words, like lasso:lambda1=0.1.") from error

    def __str__(self) -> str:
        """What `parse` reads."""
        pairs = json.loads(self.parameters).items()
        words = [f"{key}={value if isinstance(value, str) else repr(value)}" for key, value in pairs]
        return ":".join([self.name, *words])


@dataclass(frozen=True, eq=False)
class Problem:
    """Data, the numbers of features to try, and which samples must not be torn apart."""

    data: Dataset
    ks: tuple[int, ...]
    """Increasing."""
    groups: Array | None = None
    """One value per sample: samples of a group are in the training part or in the test part together."""

    @property
    def name(self) -> str:
        """What the data set is called."""
        return self.data.name

    @cached_property
    def fingerprint(self) -> str:
        """Of the data, and of the groups where there are any."""
        if self.groups is None:
            return self.data.fingerprint
        groups = [str(group) for group in self.groups]
        return content_key({"data": self.data.fingerprint, "groups": groups})


@dataclass(frozen=True)
class Cell:
    """One method on one fold, for every k."""

    dataset: str
    data: str
    """The fingerprint of the data."""
    method: str
    parameters: str
    protocol: Protocol
    classifier: str
    ks: tuple[int, ...]
    folds: int
    seed: int
    repeat: int
    """From 0."""
    fold: int
    """From 0."""

    @cached_property
    def key(self) -> str:
        """The name of the cell in a store."""
        return content_key(asdict(self))

    def describe(self) -> str:
        """A few words for a person, who counts from 1."""
        method = Method(self.method, self.parameters)
        return f"{self.dataset}, {method}, repeat {self.repeat + 1}, fold {self.fold + 1}"


def canonical_json(content: Any) -> str:
    """One text for one content, whatever the order of its keys."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)


def content_key(content: Mapping[str, Any]) -> str:
    """A hash of the content and of the schema, as a file name."""
    text = canonical_json({"schema": SCHEMA, **content})
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def default_ks(name: str, n_features: int) -> tuple[int, ...]:
    """The numbers of features of the paper's figures; for other data, at most 20 even steps.

    >>> default_ks("USPS", 256)
    (10, 20, 30, 40, 50)
    >>> default_ks("breast-cancer", 30)
    (6, 12, 18, 24, 30)
    """
    top = PAPER_KS.get(name) or min(n_features, STEP * MOST_KS)
    step = STEP if top >= 5 * STEP else max(1, top // 5)
    return tuple(range(step, top + 1, step))


def check_ks(ks: Iterable[int], name: str, n_features: int) -> tuple[int, ...]:
    """Increasing numbers of features, or an error that says which is not possible."""
    wanted = tuple(sorted(set(ks)))
    if not wanted or wanted[0] < 1:
        raise BenchmarkError(f"k must be whole numbers from 1, got {list(wanted)}.")
    if wanted[-1] > n_features:
        raise BenchmarkError(f"k = {wanted[-1]} is more than the {n_features} features of {name}.")
    return wanted
