"""What a benchmark computes: cells, each named by a hash of everything that its result depends on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from infused._runtime.compat import cached_property
from infused._runtime.messages import check_choice
from infused._typing import TargetKind
from infused.coding import TRANSFORMS, check_positive
from infused.exceptions import InputError, Setting
from infused.selectors.choose.evaluators import (
    LARGEST_WHOLE,
    PLAIN,
    check_scoring,
    default_evaluator,
    default_scoring,
    evaluator_named,
)
from infused.selectors.method import Method, canonical_json, prepared
from infused.selectors.registry import FIRST, selector_version

if TYPE_CHECKING:
    from infused.data import Dataset


SCHEMA = 1
"""Of rows and of cells: a new number means that earlier files cannot be read."""

PROTOCOL_VERSION = FIRST
"""Of the way in which selections are judged: a change of results raises it, as that of a selector."""

ProtocolName = Literal["nested", "leaky"]
"""What a selection may see: the training part of each fold, or all samples."""

#: What every selection is measured by: no selection at all, and no features at all.
ALL_FEATURES = "all features"
CHANCE: dict[TargetKind, str] = {
    "classes": "majority class",
    "real": "mean of the target",
    "survival": "null model",
}
REFERENCES = (ALL_FEATURES, *CHANCE.values())

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


@dataclass(frozen=True, eq=False)
class Problem:
    """Data, and the numbers of features to try.

    Parameters
    ----------
    data : Dataset
        With one target.
    ks : tuple of int
        The numbers of features, increasing.

    See Also
    --------
    Experiment : What is done with it.
    default_ks : Numbers of features to try.

    Examples
    --------
    >>> from infused.bench import Problem
    >>> from infused.data import load_data
    >>> Problem(load_data("wine"), ks=(2, 4)).name
    'wine'
    """

    data: Dataset
    ks: tuple[int, ...]

    @property
    def name(self) -> str:
        """Return what the data set is called."""
        return self.data.name

    @cached_property
    def default_scoring(self) -> tuple[str, str]:
        """Return the default metric for these data, and why; for the paper's it is accuracy."""
        if self.name in PAPER_KS:
            return "accuracy", ""
        return default_scoring(self.data.y, self.data.kind)

    @property
    def references(self) -> dict[str, tuple[int, ...]]:
        """Return the references that these data can have, and with how many features."""
        found: dict[str, tuple[int, ...]] = {CHANCE[self.data.kind]: (0,)}
        if 8 * self.data.n_samples * self.data.n_features <= LARGEST_WHOLE:
            found[ALL_FEATURES] = (self.data.n_features,)
        return found


@dataclass(frozen=True)
class Cell:
    """One method on one fold, for every k.

    Parameters
    ----------
    dataset : str
        The name of the data.
    data : str
        The fingerprint of the data.
    method : str
        The id of the selector.
    parameters : str
        Its parameters, as JSON.
    protocol : {"nested", "leaky"}
        What the selection may see.
    classifier : str
        The evaluation model.
    ks : tuple of int
        The numbers of features.
    folds : int
        Of the cross-validation.
    seed : int
        For everything that is drawn at random.
    repeat : int
        Which repetition of the cross-validation, from 0.
    fold : int
        Which fold of it, from 0.
    scoring : str, default="accuracy"
        What the model's parameter is tuned for.
    selector_version : str, default="1"
        That of the selector when the cell was planned.
    protocol_version : str, default="1"
        That of the protocol.
    per_k : bool, default=False
        Whether results for one k are the same whichever other k there are, by models that always end.
    allow_imports : bool, default=False
        Whether the method and the model may be classes that are imported by their paths.
    transform : str, default="auto"
        Of the values; "auto" for the one that predicts best inside the training part.

    See Also
    --------
    Experiment.cells : Makes them.
    evaluate : Computes one.

    Examples
    --------
    >>> from infused.bench import Experiment, Problem
    >>> from infused.data import load_data
    >>> from infused.selectors.method import Method
    >>> wine = Problem(load_data("wine"), ks=(2, 4))
    >>> Experiment((wine,), (Method("lasso"),)).cells()[0].describe()
    'wine, lasso, repeat 1, fold 1'
    """

    dataset: str
    data: str
    method: str
    parameters: str
    protocol: ProtocolName
    classifier: str
    ks: tuple[int, ...]
    folds: int
    seed: int
    repeat: int
    fold: int
    scoring: str = "accuracy"
    selector_version: str = FIRST
    protocol_version: str = FIRST
    per_k: bool = False
    allow_imports: bool = False
    transform: str = "auto"

    @cached_property
    def key(self) -> str:
        """Return the name of the cell in a store."""
        usual = {one.name: one.default for one in fields(self)}
        usual |= {"allow_imports": self.allow_imports}  # which changes no result
        usual |= {"scoring": self.scoring} if self.scoring in PLAIN else {}
        # Without what is usual, so that a new choice leaves earlier results their names.
        return content_key({name: own for name, own in asdict(self).items() if own != usual[name]})

    @property
    def selector(self) -> Method:
        """Return the method with its parameters."""
        return Method(self.method, json.loads(self.parameters), self.allow_imports)

    def describe(self) -> str:
        """Say in a few words what it is, counting from 1.

        Returns
        -------
        str
            Data set, method, repeat and fold.
        """
        return f"{self.dataset}, {self.selector}, repeat {self.repeat + 1}, fold {self.fold + 1}"


@dataclass(frozen=True)
class Experiment:
    """Every method on every fold of every problem, under one protocol.

    Parameters
    ----------
    problems : tuple of Problem
        The data sets.
    methods : tuple of Method
        The selectors.
    repeats : int, default=1
        Of the cross-validation.
    folds : int, default=10
        Of the cross-validation.
    protocol : {"nested", "leaky"}, default="nested"
        What a selection may see: the training part of each fold, or all samples.
    classifier : str or None, default=None
        The evaluation model; None for a linear SVM, or a ridge regression where the target is real.
    seed : int, default=0
        For everything that is drawn at random.
    scoring : str or None, default=None
        What counts, and what models are tuned for; by default what suits each data set.
    per_k : bool, default=False
        Whether results for one k are the same whichever other k there are, by models that always end: C is
        tuned with the largest power of two up to k, not with the largest k. As :func:`infused.compare` does.
    references : bool, default=False
        Whether to measure all features, and the majority class or the mean of the target, too.
    allow_imports : bool, default=False
        Whether ``classifier`` may be the dotted path of a class, which is imported.
    transform : {"auto", "none", "sqrt", "log1p"}, default="auto"
        Of the values; "auto" for the one that predicts best inside the training part.

    Raises
    ------
    InputError
        Where a part cannot be run: an unknown method, more folds than samples, too many features.

    See Also
    --------
    run_experiment : Computes it.
    infused.compare : All in one call, for one data set.

    Examples
    --------
    >>> from infused.bench import Experiment, Problem
    >>> from infused.data import load_data
    >>> from infused.selectors.method import Method
    >>> wine = Problem(load_data("wine"), ks=(2, 4))
    >>> experiment = Experiment((wine,), (Method("lasso"), Method("random")), folds=5)
    >>> len(experiment.cells())
    10
    """

    problems: tuple[Problem, ...]
    methods: tuple[Method, ...]
    repeats: int = 1
    folds: int = 10
    protocol: ProtocolName = "nested"
    classifier: str | None = None
    seed: int = 0
    scoring: str | None = None
    per_k: bool = False
    references: bool = False
    allow_imports: bool = False
    transform: str = "auto"

    def __post_init__(self) -> None:
        if not self.problems or not self.methods:
            raise InputError("there is nothing to run: give at least one data set and one method")
        _refuse_twice("data set", [problem.name for problem in self.problems])
        _refuse_twice("method", [str(one) for one in self.methods])
        for name, least in (("repeats", 1), ("folds", 2), ("seed", 0)):
            if getattr(self, name) < least:
                raise InputError(Setting(name, getattr(self, name)), f": give a whole number from {least}")
        check_choice("protocol", self.protocol, get_args(ProtocolName))
        check_choice("transform", self.transform, (*TRANSFORMS, "auto"))
        for problem in self.problems:
            if check_ks(problem.ks, problem.name, problem.data.n_features) != problem.ks:
                raise InputError(f"the numbers of features for {problem.name} must increase")
            _check_folds(problem, self.folds)
            if self.transform != "auto":
                check_positive(problem.data.X, self.transform, problem.data.feature_names)
            kind, called = problem.data.kind, self._judge(problem)
            n_classes = len(np.unique(problem.data.y)) if kind == "classes" else 0
            evaluator = evaluator_named(called, kind, allow_imports=self.allow_imports)
            check_scoring(self.scoring_of(problem), kind, n_classes, evaluator, called)
            for method in self.methods:
                method.check()
                prepared(_on_grid(method, problem.data), 1, problem.data.kind)

    def cells(self) -> list[Cell]:
        """List all cells, data set by data set.

        Returns
        -------
        list of Cell
            One for each method on each fold.
        """
        return [
            Cell(
                dataset=problem.name,
                data=problem.data.fingerprint,
                method=one.id,
                parameters=canonical_json(one.parameters),
                protocol=self.protocol,
                classifier=self._judge(problem),
                ks=ks,
                folds=self.folds,
                seed=self.seed,
                repeat=repeat,
                fold=fold,
                scoring=self.scoring_of(problem),
                selector_version=selector_version(one.id),
                protocol_version=PROTOCOL_VERSION,
                per_k=self.per_k,
                allow_imports=self.allow_imports or one.allow_imports,
                transform=self.transform,
            )
            for problem in self.problems
            for repeat in range(self.repeats)
            for fold in range(self.folds)
            for one, ks in self._compared(problem)
        ]

    def scoring_of(self, problem: Problem) -> str:
        """Return the metric for a data set.

        Parameters
        ----------
        problem : Problem
            The data set.

        Returns
        -------
        str
            The name of the score.
        """
        return self.scoring or problem.default_scoring[0]

    def _compared(self, problem: Problem) -> list[tuple[Method, tuple[int, ...]]]:
        """List methods and references with their numbers of features."""
        references = problem.references.items() if self.references else ()
        methods = ((_on_grid(one, problem.data), problem.ks) for one in self.methods)
        return [*methods, *((Method(id), ks) for id, ks in references)]

    def _judge(self, problem: Problem) -> str:
        return self.classifier or default_evaluator(problem.data.kind)


def content_key(content: Mapping[str, Any]) -> str:
    """Hash the content and the schema into a file name."""
    text = canonical_json({"schema": SCHEMA, **content})
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def default_ks(name: str, n_features: int) -> tuple[int, ...]:
    """Return the numbers of features of the paper's figures; for other data, at most 20 even steps.

    Parameters
    ----------
    name : str
        What the data are called.
    n_features : int
        How many features they have.

    Returns
    -------
    tuple of int
        Increasing.

    See Also
    --------
    Problem : Takes them.

    Examples
    --------
    >>> from infused.bench import default_ks
    >>> default_ks("USPS", 256)
    (10, 20, 30, 40, 50)
    >>> default_ks("breast-cancer", 30)
    (6, 12, 18, 24, 30)
    """
    top = PAPER_KS.get(name) or min(n_features, STEP * MOST_KS)
    step = STEP if top >= 5 * STEP else max(1, top // 5)
    return tuple(range(step, top + 1, step))


def check_ks(ks: Iterable[int], name: str, n_features: int) -> tuple[int, ...]:
    """Return increasing numbers of features, or raise an error that says which is not possible."""
    wanted = tuple(sorted(set(ks)))
    if not wanted or wanted[0] < 1:
        raise InputError(Setting("k", list(wanted)), ": give whole numbers from 1")
    if wanted[-1] > n_features:
        raise InputError(Setting("k", wanted[-1]), f" is more than the {n_features} features of {name}")
    return wanted


def _on_grid(method: Method, data: Dataset) -> Method:
    """Give a method that fuses along a picture the shape that the data have, listed row by row."""
    parameters, shape = method.parameters, data.grid_by_rows
    if str(parameters.get("fusion")) != "grid" or parameters.get("grid_shape") or shape is None:
        return method
    return method.having({"grid_shape": list(shape)})


def _refuse_twice(what: str, names: list[str]) -> None:
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"the {what} {twice} is there twice")


def _check_folds(problem: Problem, folds: int) -> None:
    """Refuse more folds than the data can fill."""
    y, samples = problem.data.y, problem.data.samples
    if y.ndim > 1:
        raise InputError(
            f"{problem.name} has {y.shape[1]} targets, but methods are compared by one: give one as ",
            Setting("target"),
            ", and leave the others out with ",
            Setting("drop"),
        )
    kind, samples = problem.data.kind, problem.data.samples
    if samples.groups is not None or samples.order is not None:
        samples.check_folds(folds, "folds")
        samples.folds(y, kind, folds, 0)  # a training part may have one class
        return
    if kind == "survival":
        most, what = int(y["event"].sum()), "events"
    elif kind == "classes":
        most, what = int(np.unique(y, return_counts=True)[1].max()), "samples in its largest class"
    else:
        most, what = len(y), "samples"
    if folds > most:
        raise InputError(Setting("folds", folds), f" is more than the {most} {what} of {problem.name}")
