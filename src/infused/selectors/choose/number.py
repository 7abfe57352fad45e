"""How many features are enough: cross-validation on one ranking per fold."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.validation import check_consistent_length

from infused._runtime.messages import reason
from infused._runtime.progress import Stage, reporting
from infused._runtime.tasks import current_cluster, each
from infused._typing import Array, Data, Floats, Ints, TargetKind
from infused.exceptions import InputError, Setting
from infused.selectors.choose.evaluators import CONSTANT, LARGEST_WHOLE, Judge, scaled
from infused.selectors.choose.scoring import Scoring, check_scoring, scoring_for
from infused.selectors.inputs.groups import Groups
from infused.selectors.inputs.training import counted, tame
from infused.selectors.method import told_target

#: What ``cv`` and ``scoring`` may be, for scikit-learn's validation of parameters.
CV: list[Any] = ["cv_object"]
SCORING: list[Any] = [str, callable, None]

MOST_SAMPLES = 3000  # a choice gains nothing from more
FEWEST_SAMPLES = 10
FEW_FEATURES, STEP, MOST_FEATURES = 20, 10, 200
SMALL_NUMBERS = (1, 2, 3, 5, 7, 10, 15)

#: Quick enough to be fitted for every number of features.
FAST: dict[TargetKind, Judge] = {
    "classes": Judge("sklearn.svm:LinearSVC", {"dual": "auto"}),
    "real": Judge("sklearn.linear_model:Ridge"),
}

#: Positions of the training and of the test samples.
Split = tuple[Ints, Ints]


@dataclass(frozen=True)
class NumberCurve:
    """How the number of features was chosen: scores of a linear model by cross-validation.

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
    """What the majority class, or the mean of the target, reaches."""
    all_features: float | None
    """What all features reach; None where they are too many to be tried together."""
    best: int
    """The number with the best mean."""
    chosen: int
    """The smallest number within one standard error of that."""


@dataclass(frozen=True)
class Fold:
    """The training and the test part of a fold, in columns of numbers."""

    X: Data
    y: Array
    X_test: Data
    y_test: Array
    columns: Callable[[Ints], tuple[Ints, Ints]]
    """The columns of some variables, one after another, and where those of each end."""
    variables: Ints | None = None
    """The variable of each column; None where every column is one, or a selector knows it already."""
    weights: Floats | None = None
    weights_test: Floats | None = None


def chosen_number(
    selector: Any,
    X: Data,
    y: Array,
    variables: Groups,
    kept: Ints,
    *,
    real: bool,
    samples: Any = None,
    sample_weight: Any = None,
) -> Any:
    """The selector's ``n_features_to_select``; "auto" is chosen by cross-validation with its ``cv``.

    The curve is stored as ``number_curve_``. ``samples`` are the groups of the samples, which ``cv`` may ask
    for. Weights count in the rankings, in the models and in the scores by name.
    """
    if hasattr(selector, "number_curve_"):  # of an earlier fit
        del selector.number_curve_
    asked = selector.n_features_to_select
    if not (isinstance(asked, str) and asked == "auto"):
        return asked
    kind: TargetKind = "real" if real else "classes"
    y = tame(y) if real else y  # a score must not leave the range
    scoring = checked_scoring(selector.scoring, y, kind)
    seed = getattr(selector, "random_state", None)
    few, splits = splits_by(selector.cv, X, y, kind, samples, int(seed) if isinstance(seed, Integral) else 0)
    grid = numbers_to_try(len(variables), len(kept))
    one = clone(selector).set_params(
        n_features_to_select=int(grid[-1]),
        groups=variables.labels,
        keep=kept.tolist() or None,
    )
    if getattr(one, "target", None) == "auto":
        one.set_params(**told_target(one, kind, one.get_params(deep=False)))

    def rank(fold: Fold) -> Ints:
        given = {} if fold.weights is None else {"sample_weight": fold.weights}
        return np.argsort(clone(one).fit(fold.X, fold.y, **given).ranking_, kind="stable")

    weights = None
    if sample_weight is not None:
        weights = counted(sample_weight, X)[0][few]
        splits = [(a[weights[a] > 0], b[weights[b] > 0]) for a, b in splits]
    X, y = (X, y) if len(few) == len(y) else (X[few], y[few])
    folds = (_fold(X, y, weights, split, variables) for split in splits)
    selector.number_curve_ = number_curve(folds, len(splits), rank, grid, kind, scoring)
    return selector.number_curve_.chosen


def _fold(X: Data, y: Array, weights: Floats | None, split: Split, variables: Groups) -> Fold:
    a, b = split
    own = (None, None) if weights is None else (weights[a], weights[b])
    return Fold(X[a], y[a], X[b], y[b], variables.in_order, None, *own)


def number_curve(
    folds: Iterable[Fold],
    n_folds: int,
    rank: Callable[[Fold], Ints],
    grid: Ints,
    kind: TargetKind,
    scoring: Scoring,
) -> NumberCurve:
    """The smallest number that predicts within one standard error of the best.

    In each fold, the features are ranked once, on the training part; a linear model on the first 1, 2, 3, 5,
    ... of them is scored on the test part.
    """
    stage = Stage(None, "choosing the number of features", 2 * n_folds * len(grid))
    scores, beside = np.empty((n_folds, len(grid))), []
    with warnings.catch_warnings(), reporting(None):
        warnings.simplefilter("ignore")  # what matters is said of the fit on all data
        # Here the stage goes on with every number; on a cluster, with every fold.
        there = current_cluster() is not None
        how = _How(rank, grid, kind, scoring)
        done = each(_scored, folds, how) if there else (_scored(how, fold, stage.advance) for fold in folds)
        for row, (found, reference) in zip(scores, done, strict=True):
            row[:] = found
            beside.append(reference)
            stage.advance(2 * len(grid) if there else 0)
    return curve_of(scores, grid, beside, scoring)


@dataclass(frozen=True)
class _How:
    """What is done on every fold."""

    rank: Callable[[Fold], Ints]
    grid: Ints
    kind: TargetKind
    scoring: Scoring


def _scored(
    how: _How, fold: Fold, advance: Callable[[float], None] = lambda steps: None
) -> tuple[Floats, tuple[float, float]]:
    """The scores of each number of features on a fold, and those of none and of all."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        order = how.rank(fold)[: how.grid[-1]]
        advance(len(how.grid))  # a ranking takes about as long as the scores
        found = scores_along(order, fold, how.grid, how.kind, how.scoring, lambda: advance(1))
        return found, references(fold, how.kind, how.scoring)


def scores_along(
    order: Ints,
    fold: Fold,
    grid: Ints,
    kind: TargetKind,
    scoring: Scoring,
    advance: Callable[[], None] = lambda: None,
) -> Floats:
    """What a linear model reaches on the test part with the first features of an order, for each number."""
    columns, ends = fold.columns(order)
    parts = scaled(dense(fold.X[:, columns]), dense(fold.X_test[:, columns]))
    reached = np.empty(len(grid))
    for n, k in enumerate(grid):
        end = ends[k - 1]
        reached[n] = _score(FAST[kind], parts[0][:, :end], parts[1][:, :end], fold, scoring)
        advance()
    return reached


def references(fold: Fold, kind: TargetKind, scoring: Scoring) -> tuple[float, float]:
    """What no feature and what all features reach; NaN where all are too many to be tried together."""
    n_samples = fold.X.shape[0] + fold.X_test.shape[0]
    none = _score(CONSTANT[kind], np.zeros((len(fold.y), 1)), np.zeros((len(fold.y_test), 1)), fold, scoring)
    if 8 * n_samples * fold.X.shape[1] > LARGEST_WHOLE:
        return none, float("nan")
    return none, _score(FAST[kind], *scaled(dense(fold.X), dense(fold.X_test)), fold, scoring)


def curve_of(
    scores: Floats, grid: Ints, beside: Sequence[tuple[float, float]], scoring: Scoring
) -> NumberCurve:
    """Means over folds, and the rule of one standard error; ``scores`` are folds x numbers."""
    if np.isnan(scores).all(axis=0).any():
        raise InputError(
            Setting("scoring", scoring.name),
            " has no value on some test parts: take larger ones, by ",
            Setting("cv"),
        )
    mean, errors = np.nanmean(scores, axis=0), standard_errors(scores)
    chance, whole = np.array(beside).T
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
    )


def standard_errors(scores: Floats) -> Floats:
    """Of the means of the columns; zero where there is one fold."""
    if len(scores) < 2:
        return np.zeros(scores.shape[1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of a number that one fold alone has a score for
        return np.asarray(np.nan_to_num(np.nanstd(scores, axis=0, ddof=1) / np.sqrt(len(scores))))


def checked_scoring(scoring: Any, y: Array, kind: TargetKind) -> Scoring:
    """The score that was asked for or that suits y, or an error where it cannot be had."""
    if isinstance(scoring, str):
        n_classes = len(np.unique(y)) if kind == "classes" else 0
        check_scoring(scoring, kind, n_classes, FAST[kind], type(FAST[kind].model(0, {})).__name__)
    return scoring_for(scoring, y, kind)


def numbers_to_try(n_features: int, least: int = 1) -> Ints:
    """Every number of few features, else 1, 2, 3, 5, 7, 10, 15, 20, 30, ... up to 200."""
    if n_features <= FEW_FEATURES:
        grid = np.arange(1, n_features + 1)
    else:
        most = min(n_features, max(MOST_FEATURES, least))
        grid = np.unique([*SMALL_NUMBERS, *range(2 * STEP, most, STEP), most])
    return np.unique(np.maximum(grid, least))


def splits_by(
    cv: Any, X: Data, y: Array, kind: TargetKind, samples: Any, seed: int
) -> tuple[Ints, list[Split]]:
    """The samples to choose on, and the folds of them, by a number of folds or by a splitter.

    A number of folds is stratified and shuffled, keeps groups of samples whole, and takes at most 3,000
    samples; a splitter sees all of them, in their order.
    """
    if samples is not None:
        check_consistent_length(y, samples)
        samples = np.asarray(samples)
    if cv is None or isinstance(cv, Integral):
        return to_choose_on(y, kind, 5 if cv is None else int(cv), seed, samples, (": give a number",))
    from sklearn.model_selection import check_cv

    try:
        splitter = check_cv(cv, y, classifier=kind == "classes")
        splits = [_positions(split, len(y)) for split in splitter.split(X, y, samples)]
        if not splits:
            raise ValueError("it gives no split")
    except (ValueError, TypeError) as error:
        raise InputError(Setting("cv", cv), f" cannot split these samples: {reason(error)}") from error
    return np.arange(len(y)), splits


def _positions(split: Any, n_samples: int) -> Split:
    """The training and the test part, checked: the splitter may be anybody's."""
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
    samples: Array | None = None,
    instead: tuple[str | Setting, ...] = (),
) -> tuple[Ints, list[Split]]:
    """Enough samples, and folds of them whose training parts all have two classes."""
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
    return few, folds_of(y, kind, n_folds, seed, None if samples is None else samples[few])


def folds_of(y: Array, kind: TargetKind, n_folds: int, seed: int, groups: Array | None = None) -> list[Split]:
    """The folds of one repeat: classes in equal shares, groups unbroken.

    A class with fewer samples than folds is in some test parts only.
    """
    from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

    if kind == "classes":
        splitter = StratifiedKFold if groups is None else StratifiedGroupKFold
    else:
        splitter = KFold if groups is None else GroupKFold
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        parts = splitter(n_folds, shuffle=True, random_state=seed)
        return list(parts.split(np.zeros((len(y), 1)), y, groups))


def enough_samples(y: Array, kind: TargetKind, seed: int) -> Ints:
    """The positions of at most 3,000 samples, of every class a share."""
    if len(y) <= MOST_SAMPLES:
        return np.arange(len(y))
    from sklearn.model_selection import StratifiedShuffleSplit

    random = np.random.default_rng(seed)
    chosen = random.permutation(len(y))[:MOST_SAMPLES]
    if kind == "classes" and np.unique(y, return_counts=True)[1].min() >= 2:
        split = StratifiedShuffleSplit(1, train_size=MOST_SAMPLES, random_state=seed)
        chosen = next(split.split(np.zeros((len(y), 1)), y))[0]
    return np.sort(chosen)


def dense(X: Data) -> Floats:
    """Values as a dense array."""
    return np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)


def _score(judge: Judge, fitted: Floats, unseen: Floats, fold: Fold, scoring: Scoring) -> float:
    """What one model reaches on the test part."""
    model = judge.model(0, {}, balanced=scoring.balanced)
    given = {} if fold.weights is None else {"sample_weight": fold.weights}
    return scoring.of(model.fit(fitted, fold.y, **given), unseen, fold.y_test, fold.weights_test)
