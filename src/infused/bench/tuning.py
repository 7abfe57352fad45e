"""Folds, and what cross-validation chooses on them: a transform, how many features, a model's parameter."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from infused._runtime.progress import Stage
from infused._typing import Array, Data, Floats, Ints, TargetKind
from infused.coding import TRANSFORMS, Coded, Coder, lowest, transformed
from infused.exceptions import Setting
from infused.record.explained import explained_variance
from infused.record.sentences import measure, score_number
from infused.selectors.choose.contest import Contest, curve_of_one
from infused.selectors.choose.evaluators import Evaluator, bounded, default_evaluator, evaluator_named, scaled
from infused.selectors.choose.number import (
    Fold,
    NumberCurve,
    Split,
    dense,
    numbers_to_try,
    to_choose_on,
)
from infused.selectors.choose.scoring import Scoring

FOLDS, NUMBER_FOLDS = 3, 5

Value = TypeVar("Value")


@dataclass(frozen=True)
class Choice(Generic[Value]):
    """What was chosen, and a sentence that says how."""

    value: Value
    reason: str


def seed_for(seed: int, *place: int) -> int:
    """Return a seed of its own for a repeat, or for a fold of it."""
    return int(np.random.SeedSequence(seed, spawn_key=place).generate_state(1)[0])


def coded_parts(coder: Coder | None, X: Data, train: Ints, test: Ints) -> tuple[Coded, Coded]:
    """Code training and test part as columns of numbers, by the training part alone."""
    if coder is None:
        return Coded(X[train], None, None), Coded(X[test], None, None)
    seen = X[train]
    coding = coder.fit(seen)
    return coding.apply(seen), coding.apply(X[test])


def choose_transform(
    X: Data,
    y: Array,
    kind: TargetKind,
    k: int,
    seed: int,
    scoring: Scoring,
    coder: Coder | None = None,
    evaluator: Evaluator | None = None,
) -> Choice[str]:
    """Choose the transform under which a linear model predicts best, by 3-fold cross-validation.

    The model sees the k features that the target explains best, on the training part, and its penalty is the
    best of a few. This costs no fit of the slower selectors, and is the same for all of them.
    """
    if (lowest(X, coder) < 0).any():
        return Choice("none", "the values were not transformed, because some are negative")
    X, y, folds = _to_choose_on(X, y, kind, FOLDS, seed)
    if evaluator is None:
        evaluator = bounded(evaluator_named(default_evaluator(kind), kind), y)
    stage = Stage(None, "choosing the transform", len(TRANSFORMS) * len(folds))
    scores = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a score is wanted, not a converged model
        for name in TRANSFORMS:
            reached = np.zeros(len(evaluator.candidates()))
            for train, test in folds:
                own, other = (
                    transformed(part.F, name, numeric=part.numeric)
                    for part in coded_parts(coder, X, train, test)
                )
                best = _most_explained(own, y[train], kind, k)
                parts = dense(own[:, best]), dense(other[:, best])
                reached += _scores(evaluator, parts, (y[train], y[test]), seed, scoring) / len(folds)
                stage.advance()
            scores[name] = float(reached.max())
    chosen = max(scores, key=lambda name: scores[name])
    figures = ", ".join(f"{name} {score_number(score, scoring.name)}" for name, score in scores.items())
    return Choice(
        chosen,
        f"{chosen!r} was chosen as the transform by {len(folds)}-fold cross-validation "
        f"({measure(scoring.name).words}: {figures})",
    )


def choose_number(
    make: Callable[[int], Any],
    X: Data,
    y: Array,
    kind: TargetKind,
    seed: int,
    scoring: Scoring,
    coder: Coder | None = None,
    transform: str = "none",
    grid: Ints | None = None,
    n_folds: int = NUMBER_FOLDS,
) -> NumberCurve:
    """Choose the smallest k within one standard error of the best, by 5-fold cross-validation.

    In each fold, ``make(k)`` gives a selector that ranks the features once, on the training part; a linear
    model on the first 1, 2, 3, 5, ... of them is scored on the test part.
    """
    X, y, splits = _to_choose_on(X, y, kind, n_folds, seed)
    grid = numbers_to_try(X.shape[1]) if grid is None else grid

    def fold(split: Split) -> Fold:
        train, test = split
        parts = coded_parts(coder, X, train, test)
        F, F_test = (transformed(part.F, transform, numeric=part.numeric) for part in parts)
        return Fold(F, y[train], F_test, y[test], parts[0].groups)

    return curve_of_one(Contest(fold, y, splits, grid, kind, scoring), make(int(grid[-1])))


def tuned(
    evaluator: Evaluator, X: Floats, y: Array, splits: list[Split], seed: int, scoring: Scoring
) -> dict[str, Any]:
    """Choose the model's parameter with the best mean score over the splits.

    Parts are scaled by the training part. Of equals the first, the strongest penalty, is chosen.
    """
    scores = np.zeros(len(evaluator.candidates()))
    for train, test in splits:
        scores += _scores(evaluator, (X[train], X[test]), (y[train], y[test]), seed, scoring) / len(splits)
    return evaluator.candidates()[int(np.argmax(scores))]


def _to_choose_on(
    X: Data, y: Array, kind: TargetKind, n_folds: int, seed: int
) -> tuple[Data, Array, list[Split]]:
    """Return enough samples, and folds of them whose training parts all have two classes."""
    instead = (": give ", Setting("k"), " and ", Setting("transform"))
    few, splits = to_choose_on(y, kind, n_folds, seed, instead=instead)
    return X[few], y[few], splits


def _scores(
    evaluator: Evaluator, parts: tuple[Floats, Floats], ys: tuple[Array, Array], seed: int, scoring: Scoring
) -> Floats:
    """Score each candidate for the model's parameter on the test part; zero where that is empty."""
    fitted, unseen = scaled(*parts)
    models = [evaluator.model(seed, one, balanced=scoring.balanced) for one in evaluator.candidates()]
    return np.nan_to_num([scoring.of(model.fit(fitted, ys[0]), unseen, ys[1]) for model in models])


def _most_explained(X: Data, y: Array, kind: TargetKind, k: int) -> Ints:
    target = np.unique(y, return_inverse=True)[1] if kind == "classes" else y
    shares, _ = explained_variance(X, np.arange(X.shape[1]), target, kind)
    return np.argsort(-shares, kind="stable")[:k]
