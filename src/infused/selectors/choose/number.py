"""How many features are enough: folds, and the scores of a model along a ranking."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from math import isfinite, sqrt
from numbers import Integral
from typing import Any

import numpy as np
from scipy.special import stdtr

from infused._design import dense
from infused._runtime.messages import reason
from infused._typing import Array, Data, Floats, Ints, TargetKind
from infused.coding import columns_of
from infused.exceptions import InputError, Setting
from infused.samples import ALONE, Samples, Split
from infused.selectors.choose.evaluators import (
    CONSTANT,
    LARGEST_WHOLE,
    Evaluator,
    Scoring,
    check_scoring,
    scaled,
    scoring_for,
)

MOST_SAMPLES = 3000  # a choice gains nothing from more
FEWEST_SAMPLES = 10
FEWEST_EVENTS = 6
FEW_FEATURES, STEP, MOST_FEATURES = 20, 10, 200
SMALL_NUMBERS = (1, 2, 3, 5, 7, 10, 15)

LINEAR, TREES = "linear", "boosted-trees"

#: Quick enough to be fitted for every number of features.
FAST: dict[TargetKind, Evaluator] = {
    "classes": Evaluator("sklearn.svm:LinearSVC", {"dual": "auto"}),
    "real": Evaluator("sklearn.linear_model:Ridge"),
    "survival": CONSTANT["survival"],
}
BOOSTING: dict[TargetKind, str] = {
    "classes": "sklearn.ensemble:HistGradientBoostingClassifier",
    "real": "sklearn.ensemble:HistGradientBoostingRegressor",
}
MOST_CLASSES = 10  # for boosted trees, which grow one tree for each class and iteration
LARGEST_LEAF = 20
ROUNDS = 30  # of boosting
TREE_NUMBERS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 100, 200)  # of features: trees take longer
MOST_ENTRIES = 2 * 10**6  # of all features, to be given to boosted trees together


@dataclass(frozen=True)
class Relation:
    """How well a linear model and boosted trees predict from the selected and from all features."""

    linear: float
    """Score of the linear model on the selected features."""
    linear_all: float | None
    """Its score on all features, or on those that explain most by themselves, whichever is better."""
    boosted_trees: float
    boosted_trees_all: float | None
    """None, as ``linear_all``, where all features are too many to be tried together."""
    p_value: float
    """Of boosted trees being ahead of the linear model and of no features at all."""
    p_missed: float
    """Of all features being ahead of the selected ones, by boosted trees."""

    @property
    def best_linear(self) -> float:
        """Return the better score of the linear model."""
        return max(self.linear, self.linear if self.linear_all is None else self.linear_all)

    @property
    def best_trees(self) -> float:
        """Return the better score of the boosted trees."""
        every = self.boosted_trees_all
        return max(self.boosted_trees, self.boosted_trees if every is None else every)


@dataclass(frozen=True)
class NumberCurve:
    """How the number of features was chosen: scores of a model by cross-validation.

    Scores are the larger the better: errors are negated, as scikit-learn's scorers have them.
    """

    scoring: str
    n_folds: int
    ks: tuple[int, ...]
    """The numbers that were tried."""
    means: tuple[float, ...]
    errors: tuple[float, ...]
    """Standard errors of the means."""
    chance: float
    """What a model without features reaches: the majority class, or the mean of the target."""
    all_features: float | None
    """What all features reach; None where they are too many to be tried together."""
    best: int
    """The number with the best mean."""
    chosen: int
    """The smallest number within one standard error of that."""
    model: str = LINEAR
    """The evaluation model: "linear" or "boosted-trees", whichever predicts better."""
    relation: Relation | None = None
    """Both evaluation models at the chosen number; None where boosted trees were not tried."""


@dataclass(frozen=True)
class Fold:
    """The training and the test part of a fold, in columns of numbers."""

    X: Data
    y: Array
    X_test: Data
    y_test: Array
    variables: Ints | None = None
    """The variable of each column; None where every column is one."""
    weights: Floats | None = None
    weights_test: Floats | None = None
    samples: Samples = ALONE
    """How the training samples are related."""

    @property
    def n_variables(self) -> int:
        """Count the variables."""
        return int(self.X.shape[1] if self.variables is None else self.variables.max() + 1)


@dataclass(frozen=True)
class Evaluation:
    """A model that is scored along a ranking, and the numbers of features for which it is."""

    model: Evaluator
    numbers: Ints
    most_entries: float
    """Of all features together; with more they are not scored."""

    def along(self, order: Ints, fold: Fold, scoring: Scoring) -> Floats:
        """Score the model on the test part with the first features of an order, for each number."""
        columns, ends = columns_of(order[: self.numbers[-1]], fold.variables)
        train, test = scaled(dense(fold.X[:, columns]), dense(fold.X_test[:, columns]))
        stops = (ends[k - 1] for k in self.numbers)
        return np.array([_score(self.model, train[:, :end], test[:, :end], fold, scoring) for end in stops])

    def beside(self, fold: Fold, kind: TargetKind, scoring: Scoring, whole: bool) -> tuple[float, float]:
        """Score no feature and all features; NaN where all are not wanted, or too many together."""
        empty = np.zeros((len(fold.y), 1)), np.zeros((len(fold.y_test), 1))
        none = _score(CONSTANT[kind], *empty, fold, scoring)
        if not whole or (fold.X.shape[0] + fold.X_test.shape[0]) * fold.X.shape[1] > self.most_entries:
            return none, float("nan")
        return none, _score(self.model, *scaled(dense(fold.X), dense(fold.X_test)), fold, scoring)


def evaluations(y: Array, kind: TargetKind, numbers: Ints) -> dict[str, Evaluation]:
    """Return the models that evaluate a ranking: a linear one, and boosted trees of one target.

    Trees see relations that are not linear. They are left out where classes are more than ten, and for times
    and events.
    """
    found = {LINEAR: Evaluation(FAST[kind], numbers, LARGEST_WHOLE / 8)}
    if y.ndim > 1 or kind == "survival" or (kind == "classes" and len(np.unique(y)) > MOST_CLASSES):
        return found
    settings = {
        "max_iter": ROUNDS,
        "learning_rate": 0.2,
        "max_leaf_nodes": 15,
        "min_samples_leaf": int(np.clip(len(y) // 20, 2, LARGEST_LEAF)),
        "max_bins": 63,
        "early_stopping": False,
    }
    few = np.union1d(np.intersect1d(numbers, TREE_NUMBERS), [numbers[0], numbers[-1]])
    found[TREES] = Evaluation(Evaluator(BOOSTING[kind], settings), few, MOST_ENTRIES)
    return found


def curve_of(scores: Floats, grid: Ints, beside: Floats, scoring: Scoring, model: str) -> NumberCurve:
    """Average over folds, and choose by the rule of one standard error; ``scores`` are folds x numbers.

    ``beside`` are the scores of no feature and of all features in each fold.
    """
    if np.isnan(scores).all(axis=0).any():
        raise InputError(
            Setting("scoring", scoring.name),
            " has no value on some test parts: take larger ones, by ",
            Setting("cv"),
        )
    mean, errors = np.nanmean(scores, axis=0), standard_errors(scores)
    chance, whole = beside.T
    best = int(mean.argmax())
    return NumberCurve(
        scoring=scoring.name,
        n_folds=len(scores),
        ks=tuple(grid.tolist()),
        means=tuple(mean.tolist()),
        errors=tuple(errors.tolist()),
        chance=float(np.nanmean(chance)),
        all_features=None if np.isnan(whole).all() else float(np.nanmean(whole)),
        best=int(grid[best]),
        chosen=int(grid[int(np.argmax(mean >= mean[best] - errors[best]))]),
        model=model,
    )


def standard_errors(scores: Floats) -> Floats:
    """Return the standard errors of the means of the columns; zero where there is one fold."""
    if len(scores) < 2:
        return np.zeros(scores.shape[1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of a number that one fold alone has a score for
        return np.asarray(np.nan_to_num(np.nanstd(scores, axis=0, ddof=1) / np.sqrt(len(scores))))


def p_ahead(gain: float, error: float, n_folds: int) -> float:
    """Return the p-value of a mean gain over folds being positive, with the standard error of that mean.

    The one-sided test of Nadeau and Bengio (2003) allows for training parts that overlap.
    """
    if gain <= 0 or n_folds < 2 or not isfinite(error):
        return 1.0
    overlap = sqrt(1 + n_folds / (n_folds - 1))
    return float(stdtr(n_folds - 1, -gain / (overlap * error))) if error else 0.0


def p_folds(gains: Floats) -> float:
    """Return :func:`p_ahead` of the gains of single folds; those without a score are left out."""
    known = gains[~np.isnan(gains)]
    error = float(standard_errors(known[:, None])[0])
    return p_ahead(float(known.mean()), error, len(known)) if len(known) else 1.0


def checked_scoring(scoring: Any, y: Array, kind: TargetKind) -> Scoring:
    """Return the score that was asked for or that suits y; raise where it cannot be had."""
    if isinstance(scoring, str):
        n_classes = len(np.unique(y)) if kind == "classes" else 0
        check_scoring(scoring, kind, n_classes, FAST[kind], type(FAST[kind].model(0, {})).__name__)
    return scoring_for(scoring, y, kind)


def numbers_to_try(n_features: int, least: int = 1) -> Ints:
    """List every number of few features, else 1, 2, 3, 5, 7, 10, 15, 20, 30, ... up to 200."""
    if n_features <= FEW_FEATURES:
        grid = np.arange(1, n_features + 1)
    else:
        most = min(n_features, max(MOST_FEATURES, least))
        grid = np.unique([*SMALL_NUMBERS, *range(2 * STEP, most, STEP), most])
    return np.unique(np.maximum(grid, least))


def splits_by(
    cv: Any, X: Data, y: Array, kind: TargetKind, samples: Samples, seed: int
) -> tuple[Ints, list[Split]]:
    """Return the samples to choose on, and folds of them by a number of folds or by a splitter.

    A number of folds is stratified and shuffled, keeps groups of samples whole, and takes at most 3,000
    samples; a splitter sees all of them, in their order.
    """
    if cv is None or isinstance(cv, Integral):
        n_folds = 5 if cv is None else int(cv)
        if samples:
            samples.check_folds(n_folds, "cv")
        return to_choose_on(y, kind, n_folds, seed, samples, (": give a number",))
    from sklearn.model_selection import check_cv

    try:
        own = y["event"] if kind == "survival" else y
        splitter = check_cv(cv, own, classifier=kind != "real")
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The groups parameter is ignored", UserWarning)
            splits = [_positions(split, len(y)) for split in splitter.split(X, own, samples.groups)]
        if not splits:
            raise ValueError("it gives no split")
    except (ValueError, TypeError) as error:
        raise InputError(Setting("cv", cv), f" cannot split these samples: {reason(error)}") from error
    if samples.groups is not None and any(
        np.isin(samples.groups[b], samples.groups[a]).any() for a, b in splits
    ):
        raise InputError(Setting("cv", cv), " parts groups of ", Setting("sample_groups"), ": give a number")
    return np.arange(len(y)), splits


def _positions(split: Any, n_samples: int) -> Split:
    """Check the training and the test part: the splitter may be anybody's."""
    a, b = (np.asarray(part) for part in split)
    a, b = (np.flatnonzero(part) if part.dtype == bool else part for part in (a, b))
    for part in (a, b):
        if part.ndim != 1 or not len(part) or part.dtype.kind not in "iu":
            raise ValueError("a part of a split must be positions of samples, one at least")
        if part.min() < 0 or part.max() >= n_samples:
            raise ValueError(f"there are {n_samples} samples, so that positions go from 0 to {n_samples - 1}")
    return a, b


def to_choose_on(
    y: Array,
    kind: TargetKind,
    n_folds: int,
    seed: int,
    samples: Samples,
    instead: tuple[str | Setting, ...] = (),
) -> tuple[Ints, list[Split]]:
    """Return enough samples, and folds of them whose training parts all have two classes."""
    if len(y) < FEWEST_SAMPLES:
        raise InputError(
            f"choosing by cross-validation needs at least {FEWEST_SAMPLES} samples, but there are {len(y)}",
            *instead,
        )
    few = enough_samples(y, kind, seed)
    y = y[few]
    if kind == "classes":
        counts = np.sort(np.unique(y, return_counts=True)[1])
        if len(counts) < 2 or counts[-2] < 2:
            raise InputError(
                "choosing by cross-validation needs two classes with at least two samples each", *instead
            )
        n_folds = min(n_folds, int(counts[-1]))
    if kind == "survival":
        n_events = int(y["event"].sum())
        if n_events < FEWEST_EVENTS:
            raise InputError(
                f"cross-validation needs at least {FEWEST_EVENTS} events, but there are {n_events}",
                *instead,
            )
        n_folds = min(n_folds, n_events // 2)
    samples = samples.take(few)
    return few, samples.folds(y, kind, n_folds, seed)


def enough_samples(y: Array, kind: TargetKind, seed: int) -> Ints:
    """Choose at most 3,000 samples, of every class or of the events a share."""
    if len(y) <= MOST_SAMPLES:
        return np.arange(len(y))
    from sklearn.model_selection import StratifiedShuffleSplit

    random = np.random.default_rng(seed)
    chosen = random.permutation(len(y))[:MOST_SAMPLES]
    y = y["event"] if kind == "survival" else y
    if kind != "real" and np.unique(y, return_counts=True)[1].min() >= 2:
        split = StratifiedShuffleSplit(1, train_size=MOST_SAMPLES, random_state=seed)
        chosen = next(split.split(np.zeros((len(y), 1)), y))[0]
    return np.sort(chosen)


def _score(evaluator: Evaluator, fitted: Floats, unseen: Floats, fold: Fold, scoring: Scoring) -> float:
    """Fit one model, and score it on the test part."""
    model = evaluator.model(0, {}, balanced=scoring.balanced)
    given = {} if fold.weights is None else {"sample_weight": fold.weights}
    return scoring.of(model.fit(fitted, fold.y, **given), unseen, fold.y_test, fold.weights_test)
