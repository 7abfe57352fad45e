"""Folds, and what cross-validation chooses on them: a transform, how many features, a model's parameter."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Generic, TypeVar

import numpy as np

from infused._design import dense
from infused._runtime.progress import Stage, reporting
from infused._typing import Array, Data, Floats, Ints, TargetKind
from infused.coding import TRANSFORMS, Coded, Coder, lowest, transformed
from infused.data import Dataset
from infused.datafits import martingale_residuals
from infused.exceptions import Setting
from infused.record.explained import explained_variance
from infused.record.schema import Request
from infused.record.sentences import measure, score_number
from infused.samples import ALONE, Samples, Split
from infused.selectors.choose.budget import CostCurve, Walks, cost_curve
from infused.selectors.choose.contest import Contest, curve_of_one
from infused.selectors.choose.evaluators import (
    Evaluator,
    Scoring,
    bounded,
    default_evaluator,
    evaluator_named,
    scaled,
)
from infused.selectors.choose.number import (
    Fold,
    NumberCurve,
    checked_scoring,
    numbers_to_try,
    to_choose_on,
)

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


@dataclass(frozen=True)
class Part:
    """Samples on which something is chosen, and the random seed of what is drawn while looking at them."""

    X: Data
    y: Array
    kind: TargetKind
    seed: int
    samples: Samples = ALONE
    coder: Coder | None = None
    """Makes columns of numbers of X; None where it has such columns."""

    @classmethod
    def of(cls, data: Dataset, seed: int) -> Part:
        """Return all samples of a data set."""
        return cls(data.X, data.y, data.kind, seed, data.samples, data.coder)

    def take(self, rows: Ints) -> Part:
        """Return some of the samples."""
        return replace(self, X=self.X[rows], y=self.y[rows], samples=self.samples.take(rows))

    def folds(self, n_folds: int) -> tuple[Part, list[Split]]:
        """Return enough of the samples, and folds of them whose training parts all have two classes."""
        instead = (": give ", Setting("k"), " and ", Setting("transform"))
        few, splits = to_choose_on(self.y, self.kind, n_folds, self.seed, self.samples, instead)
        return self.take(few), splits

    def fold(self, transform: str, split: Split) -> Fold:
        """Code and transform the parts of a split."""
        train, test = split
        parts = coded_parts(self.coder, self.X, train, test)
        F, F_test = (transformed(part.F, transform, numeric=part.numeric) for part in parts)
        samples = self.samples.take(train)
        return Fold(F, self.y[train], F_test, self.y[test], parts[0].groups, samples=samples)


def choose_transform(part: Part, k: int, scoring: Scoring, evaluator: Evaluator | None = None) -> Choice[str]:
    """Choose the transform under which a linear model predicts best, by 3-fold cross-validation.

    The model sees the k features that the target explains best, on the training part, and its penalty is the
    best of a few. This costs no fit of the slower selectors, and is the same for all of them.
    """
    if (lowest(part.X) < 0).any():
        return Choice("none", "the values were not transformed, because some are negative")
    part, splits = part.folds(FOLDS)
    if evaluator is None:
        evaluator = bounded(evaluator_named(default_evaluator(part.kind), part.kind), part.y)
    stage = Stage(None, "choosing the transform", len(TRANSFORMS) * len(splits))
    scores = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a score is wanted, not a converged model
        for name in TRANSFORMS:
            reached = np.zeros(len(evaluator.candidates()))
            for split in splits:
                fold = part.fold(name, split)
                best = _most_explained(fold.X, fold.y, part.kind, k)
                parts = dense(fold.X[:, best]), dense(fold.X_test[:, best])
                own = _scores(evaluator, parts, (fold.y, fold.y_test), part.seed, scoring)
                reached += own / len(splits)
                stage.advance()
            scores[name] = float(reached.max())
    chosen = max(scores, key=lambda name: scores[name])
    figures = ", ".join(f"{name} {score_number(score, scoring.name)}" for name, score in scores.items())
    return Choice(
        chosen,
        f"{chosen!r} was chosen as the transform by {len(splits)}-fold cross-validation "
        f"({measure(scoring.name).words}: {figures})",
    )


def choose_number(
    make: Callable[[int], Any],
    part: Part,
    scoring: Scoring,
    transform: str = "none",
    grid: Ints | None = None,
    n_folds: int = NUMBER_FOLDS,
) -> NumberCurve:
    """Choose the smallest k within one standard error of the best, by 5-fold cross-validation.

    In each fold, ``make(k)`` gives a selector that ranks the features once, on the training part; a linear
    model on the first 1, 2, 3, 5, ... of them is scored on the test part.
    """
    part, splits = part.folds(n_folds)
    grid = numbers_to_try(part.X.shape[1]) if grid is None else grid
    contest = Contest(partial(part.fold, transform), part.y, splits, grid, part.kind, scoring)
    return curve_of_one(contest, make(int(grid[-1])))


def choose_panel(
    selector: Any, part: Part, scoring: Scoring, transform: str, order: Ints, walks: Walks
) -> tuple[CostCurve, list[int]]:
    """Choose the best-predicting panel along a ranking whose cost fits, by 5-fold cross-validation."""
    part, splits = part.folds(NUMBER_FOLDS)
    stage = Stage(None, "choosing for the budget", len(splits))

    def folds() -> Iterator[Fold]:
        for split in splits:
            yield part.fold(transform, split)
            stage.advance()

    with warnings.catch_warnings(), reporting(None):
        warnings.simplefilter("ignore")  # what matters is said of the fit on all data
        return cost_curve(selector, folds(), order, walks, part.kind, scoring)


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


def _scores(
    evaluator: Evaluator, parts: tuple[Floats, Floats], ys: tuple[Array, Array], seed: int, scoring: Scoring
) -> Floats:
    """Score each candidate for the model's parameter on the test part; zero where that is empty."""
    fitted, unseen = scaled(*parts)
    models = [evaluator.model(seed, one, balanced=scoring.balanced) for one in evaluator.candidates()]
    return np.nan_to_num([scoring.of(model.fit(fitted, ys[0]), unseen, ys[1]) for model in models])


def _most_explained(X: Data, y: Array, kind: TargetKind, k: int) -> Ints:
    if kind == "survival":
        y, kind = martingale_residuals(y), "real"
    target = np.unique(y, return_inverse=True)[1] if kind == "classes" else y
    shares, _ = explained_variance(X, np.arange(X.shape[1]), target, kind)
    return np.argsort(-shares, kind="stable")[:k]


def fitted_model(estimator: Any, features: Any, F: Floats, data: Dataset, request: Request) -> Any:
    """Fit a pipeline of a transformer, a scale and a model to columns that the transformer gave.

    Without an estimator, to one whose penalty is chosen by cross-validation in the metric of the request.
    """
    from sklearn.base import clone
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler

    y, kind = data.y, data.kind
    if estimator is None:
        scoring = checked_scoring(request.scoring, y, kind)
        evaluator = evaluator_named("logistic" if kind == "classes" else default_evaluator(kind), kind)
        instead = (": give an ", Setting("estimator"))
        few, splits = to_choose_on(y, kind, NUMBER_FOLDS, request.seed, data.samples, instead)
        best = tuned(evaluator, F[few], y[few], splits, request.seed, scoring)
        model = evaluator.model(request.seed, best, balanced=scoring.balanced)
    else:
        model = clone(estimator)
    if data.options.log_target:
        model, y = TransformedTargetRegressor(model, func=np.log1p, inverse_func=np.expm1), np.expm1(y)
    scale = StandardScaler()
    return Pipeline(
        [("features", features), ("scale", scale), ("model", model.fit(scale.fit_transform(F), y))]
    )
