"""How a selection is judged: choose on the training part, score on the test part.

For one method on one fold, in this order:

0. What gaps are filled with and which levels categories have (:mod:`infused.coding`).
1. The transform of the values (none; sqrt and log1p where no training value is negative) by inner 3-fold
   cross-validation of a linear model on the features with the largest F values, as many as the largest k, on
   at most 3,000 samples. It is the same for all methods.
2. The ranking of features by the method, made once for the largest k. It serves every smaller k, whose
   features are its first.
3. The scale of the selected features.
4. The model's parameter (C of the SVM) by inner 3-fold cross-validation at the largest k, on at most 3,000
   samples; it serves every k. For ``infused.compare``, where no k may depend on the others, at the largest
   power of two up to k; the transform is then chosen with 20 features, and iterations are limited.
5. For every k, a fit on the training part and the scores on the test part.

Choices of the transform and of the model's parameter are by the score that counts (``scoring``); where that
asks as much of a rare class as of a frequent one, the models weigh the classes alike. Two references go the
same way: all features, which leave out the ranking; and the majority class or the mean of the target, which
have no features at all.

"nested" shows the training part alone to all. "leaky" shows all samples to the first three, as published
tables often do; its scores are too good, the more so the fewer samples there are.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cache
from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np

from infused._design import dense
from infused._typing import Array, Floats, Ints, TargetKind
from infused.bench.plan import ALL_FEATURES, CHANCE, Cell, Problem
from infused.bench.rows import Row, cell_rows
from infused.bench.tuning import FOLDS, Part, choose_transform, coded_parts, seed_for, tuned
from infused.coding import Coded, transformed
from infused.datafits import survival_records
from infused.information.structural import saved_seconds
from infused.selectors.choose.contest import features_by_rank
from infused.selectors.choose.evaluators import (
    CONSTANT,
    Evaluator,
    Scoring,
    bounded,
    default_evaluator,
    evaluator_named,
    scaled,
    scores_of,
    scoring_for,
)
from infused.selectors.choose.number import enough_samples
from infused.selectors.method import Method, canonical_json, prepared

if TYPE_CHECKING:
    from infused.data import Dataset

LONGEST_WARNING = 200
TRANSFORM_K = 20  # features with which a transform is chosen where that may not depend on the largest k
EVALUATION_STOPPED = "the evaluation model stopped at its limit of iterations"

#: ``remember(key, compute)`` gives what this experiment computed for the key before, or computes it.
Remember = Callable[[tuple[Any, ...], Callable[[], Any]], Any]


def evaluate(
    problem: Problem,
    cell: Cell,
    remember: Remember = lambda key, compute: compute(),
    began: Callable[[], None] = lambda: None,
) -> list[Row]:
    """Compute the rows of one cell.

    Parameters
    ----------
    problem : Problem
        The data that the cell is about.
    cell : Cell
        What to compute.
    remember : callable
        Keeps what cells share: the transform of a fold, the ranking by a method that sees all samples. By
        default nothing is kept.
    began : callable
        Called when what is shared by all methods is there, and the work of this one begins.

    Returns
    -------
    list of dict
        One for each k. Seconds are CPU seconds of this process; to select takes as many as it would take
        without what methods share.

    See Also
    --------
    run_experiment : Computes all cells of an experiment.

    Examples
    --------
    >>> from infused.bench import Experiment, Problem, evaluate
    >>> from infused.data import load_data
    >>> from infused.selectors.method import Method
    >>> wine = Problem(load_data("wine"), ks=(2, 4))
    >>> cell = Experiment((wine,), (Method("anova"),)).cells()[0]
    >>> [(row["k"], row["status"]) for row in evaluate(wine, cell)]
    [(2, 'ok'), (4, 'ok')]
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what cells share is warned of by whichever comes first, so by none
        train, test = split_of(problem, cell)
        seen = part_seen(problem, cell, train)
        transform = chosen_transform(problem, cell, seen, remember)
        if not is_reference(cell):
            warm_up(cell.selector, problem.data.kind)
    began()
    start = own_seconds()
    found = ranking(problem, cell, seen, transform, remember)
    chosen, coder = problem.data.X[:, found["features"]], problem.data.coder.take(found["features"])
    own, other = coded_parts(coder, chosen, train, test)
    X, X_test = _values(own, transform), _values(other, transform)
    ends = own.columns(np.arange(len(found["features"])))[1]
    seed, samples = seed_for(cell.seed, cell.repeat, cell.fold), problem.data.samples.take(train)
    training = Part(X, problem.data.y[train], problem.data.kind, seed, samples)
    evaluator = evaluator_of(cell, problem.data)
    scoring = scoring_for(cell.scoring, problem.data.y, problem.data.kind)
    with _recorded_warnings() as tuning:
        tuned_for = {
            end: tuned_on(evaluator, replace(training, X=X[:, :end]), scoring)
            for end in {_end(ends, tuning_k(cell, k)) for k in cell.ks}
        }
        best = {k: tuned_for[_end(ends, tuning_k(cell, k))] for k in cell.ks}
    with _recorded_warnings() as scored:
        by_k = scores_by_k(evaluator, best, training, (X_test, problem.data.y[test]), scoring, ends)
    if not is_reference(cell):
        by_k[cell.ks[-1]]["selected"] = found["features"]
    shared = {
        "status": "ok",
        "reason": "",
        "transform": transform,
        "n_train": len(train),
        "n_test": len(test),
        "n_features": problem.data.n_features,
        "select_seconds": found["seconds"],
        "cell_seconds": own_seconds() - start,
        "warnings": "; ".join(dict.fromkeys([*found["warnings"], *_told(cell, tuning, scored)])),
    }
    return cell_rows(cell, shared, by_k)


def split_of(problem: Problem, cell: Cell) -> tuple[Ints, Ints]:
    """Return the training and the test samples: the same for every method and protocol."""
    data, seed = problem.data, seed_for(cell.seed, cell.repeat)
    return data.samples.folds(data.y, data.kind, cell.folds, seed)[cell.fold]


def part_seen(problem: Problem, cell: Cell, train: Ints) -> Part:
    """Return what the transform and the selection may look at."""
    if cell.protocol == "leaky":
        return Part.of(problem.data, seed_for(cell.seed))
    return Part.of(problem.data, seed_for(cell.seed, cell.repeat, cell.fold)).take(train)


def chosen_transform(problem: Problem, cell: Cell, seen: Part, remember: Remember) -> str:
    """Return the transform of a fold, or of all samples, for any method."""
    if cell.transform != "auto":
        return cell.transform
    kind = problem.data.kind

    def choose() -> str:
        scoring = scoring_for(cell.scoring, problem.data.y, kind)
        k, evaluator = problem.ks[-1], evaluator_named(default_evaluator(kind), kind)
        if cell.per_k:
            k, evaluator = min(TRANSFORM_K, problem.data.n_features), bounded(evaluator, problem.data.y)
        return choose_transform(seen, k, scoring, evaluator).value

    return str(remember(("transform", *_samples_seen(cell)), choose))


def is_reference(cell: Cell) -> bool:
    """Return whether nothing is selected."""
    return cell.method == ALL_FEATURES or cell.method in CHANCE.values()


def evaluator_of(cell: Cell, data: Dataset) -> Evaluator:
    """Return the evaluation model; without features, the one that always gives the same answer."""
    if cell.method in CHANCE.values():
        return CONSTANT[data.kind]
    evaluator = evaluator_named(cell.classifier, data.kind, allow_imports=cell.allow_imports)
    return bounded(evaluator, data.y) if cell.per_k else evaluator


def tuning_k(cell: Cell, k: int) -> int:
    """Return the number of features that the model's parameter is tuned with.

    A power of two serves all k up to the next, so that many k cost few choices, and none depends on which.
    """
    if not cell.per_k or is_reference(cell):
        return cell.ks[-1]
    return 1 << (k.bit_length() - 1)


def _end(ends: Ints, k: int) -> int:
    """Return where the columns of the first k features end; a reference may have no features."""
    return int(ends[k - 1]) if k else 0


def _told(cell: Cell, tuning: list[str], scored: list[str]) -> list[str]:
    """Return the warnings to keep; of a bounded model, that it stopped where it was scored."""
    if not cell.per_k:
        return [*tuning, *scored]
    others = [line for line in scored if not line.startswith("ConvergenceWarning")]
    return [*others, *[EVALUATION_STOPPED] * (len(others) < len(scored))]


@cache
def warm_up(method: Method, kind: TargetKind) -> None:
    """Fit once on next to nothing: what a first fit loads or compiles is not the time of a selection.

    What goes wrong here goes wrong again, and is told, when the method is run.
    """
    if "." in method.id:
        return
    X = np.random.default_rng(0).normal(size=(40, 8))
    y: Any = np.arange(40) % 2 if kind == "classes" else X[:, 0] + X[:, 1]
    if kind == "survival":
        y = survival_records(np.arange(40), np.arange(40) % 3 > 0)
    with suppress(Exception):
        prepared(method, 4, kind).fit(X, y)


def ranking(problem: Problem, cell: Cell, seen: Part, transform: str, remember: Remember) -> dict[str, Any]:
    """Rank the features by the method; return the best first, CPU seconds and warnings.

    The leaky protocol makes one selection for all folds.
    """
    kind = problem.data.kind
    if is_reference(cell):
        return {"features": list(range(cell.ks[-1])), "seconds": None, "warnings": []}

    def select() -> dict[str, Any]:
        coded = problem.data.coder.fit(seen.X).apply(seen.X)
        X = transformed(coded.F, transform, numeric=coded.numeric)
        selector = prepared(cell.selector, cell.ks[-1], kind, seed=seen.seed)
        with _recorded_warnings() as selecting:
            start = own_seconds()
            order = features_by_rank(selector, X, seen.y, kind, cell.ks, coded.groups, samples=seen.samples)
            seconds = own_seconds() - start
        return {"features": order[: cell.ks[-1]].tolist(), "seconds": seconds, "warnings": selecting}

    if cell.protocol == "nested":
        return select()
    found: dict[str, Any] = remember(("ranking", cell.method, cell.parameters, *_samples_seen(cell)), select)
    return found


def own_seconds() -> float:
    """Read a clock of CPU seconds, on which what was shared takes as long as it took the first time."""
    return process_time() + saved_seconds()


def tuned_on(evaluator: Evaluator, part: Part, scoring: Scoring) -> dict[str, Any]:
    """Choose the model's parameter by inner cross-validation that respects how samples are related."""
    if evaluator.tuned is None:
        return {}
    few = part.take(enough_samples(part.y, part.kind, part.seed))
    folds = few.samples.folds(few.y, few.kind, FOLDS, part.seed)
    return tuned(evaluator, few.X, few.y, folds, part.seed, scoring)


def scores_by_k(
    evaluator: Evaluator,
    best: dict[int, dict[str, Any]],
    train: Part,
    test: tuple[Floats, Array],
    scoring: Scoring,
    ends: Ints,
) -> dict[int, Row]:
    """Score the test part and time the fit for every k, by its best parameter.

    ``ends`` are those of the features' columns.
    """
    fitted, unseen = scaled(train.X, test[0]) if train.X.shape[1] else (train.X, test[0])
    by_k = {}
    for k, parameter in best.items():
        model = evaluator.model(train.seed, parameter, balanced=scoring.balanced)
        end = _end(ends, k)
        start = process_time()
        model.fit(fitted[:, :end], train.y)
        seconds = process_time() - start
        chosen = {"C": parameter.get("C"), "tuned": canonical_json(parameter)}
        found = scores_of(model, unseen[:, :end], test[1], scoring)
        by_k[k] = {**chosen, **found, "fit_seconds": seconds}
    return by_k


def _values(part: Coded, transform: str) -> Floats:
    """Return the selected features as a dense array, transformed.

    A test value may be negative where no training value is.
    """
    values = dense(part.F)
    positive = values if transform == "none" else np.maximum(values, 0.0)
    return np.asarray(transformed(positive, transform, numeric=part.numeric))


def _samples_seen(cell: Cell) -> tuple[Any, ...]:
    """Tell apart the samples that selections see, within an experiment."""
    return (cell.dataset,) if cell.protocol == "leaky" else (cell.dataset, cell.repeat, cell.fold)


@contextmanager
def _recorded_warnings() -> Iterator[list[str]]:
    """Record what a computation warns of; not what libraries tell developers when they are loaded."""
    lines: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        for kind in (UserWarning, RuntimeWarning):
            warnings.simplefilter("always", kind)
        yield lines
    for one in caught:
        lines.append(f"{one.category.__name__}: {' '.join(str(one.message).split())}"[:LONGEST_WARNING])
