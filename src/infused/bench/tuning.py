"""Folds, and what cross-validation chooses on them: a transform, how many features, a model's parameter."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from scipy import sparse

from infused._runtime.messages import check_choice
from infused._runtime.progress import Stage
from infused._typing import Array, Data, Floats, Ints, TargetKind
from infused.bench.models import CONSTANT, LARGEST_WHOLE, Judge, default_judge, judge_named, scaled
from infused.bench.scoring import Scoring
from infused.data.coding import Coded, Coder
from infused.exceptions import InputError, Setting
from infused.record.explained import explained_variance
from infused.record.measures import measure, number
from infused.record.schema import NumberCurve
from infused.selectors.method import with_groups

__all__ = [
    "TRANSFORMS",
    "Choice",
    "Split",
    "choose_number",
    "choose_transform",
    "coded_parts",
    "dense",
    "enough_samples",
    "folds_of",
    "order_of_features",
    "seed_for",
    "transformed",
    "tuned",
]

TRANSFORMS: dict[str, Callable[[Any], Any]] = {"none": lambda X: X, "sqrt": np.sqrt, "log1p": np.log1p}

MOST_SAMPLES = 3000  # a choice gains nothing from more
FEWEST_SAMPLES = 10
FOLDS, NUMBER_FOLDS = 3, 5
FEW_FEATURES, STEP, MOST_FEATURES = 20, 10, 200
SMALL_NUMBERS = (1, 2, 3, 5, 7, 10, 15)

#: Quick enough to be fitted for every number of features.
FAST: dict[TargetKind, Judge] = {
    "classes": Judge("sklearn.svm:LinearSVC", {"dual": "auto"}),
    "real": Judge("sklearn.linear_model:Ridge"),
}

#: Positions of the training and of the test samples.
Split = tuple[Ints, Ints]

Value = TypeVar("Value")


@dataclass(frozen=True)
class Choice(Generic[Value]):
    """What was chosen, and a sentence that says how."""

    value: Value
    reason: str


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


def seed_for(seed: int, *place: int) -> int:
    """A seed of its own for a repeat, or for a fold of it, so that no two draw the same numbers."""
    return int(np.random.SeedSequence(seed, spawn_key=place).generate_state(1)[0])


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


def transformed(X: Data, name: str, feature_names: Sequence[str] = (), numeric: Array | None = None) -> Data:
    """X with a transform of TRANSFORMS applied to every value; sparse data stay sparse.

    ``numeric`` says which columns hold numbers, by default all: others stay as they are. The square root and
    the logarithm are for counts and intensities: a negative value is an error.
    """
    check_choice("transform", name, TRANSFORMS)
    if name == "none":
        return X
    if numeric is not None:
        X = X.copy()
        names = [one for one, own in zip(feature_names, numeric, strict=bool(feature_names)) if own]
        X[:, numeric] = transformed(X[:, numeric], name, names)
        return X
    lowest = _lowest(X)
    if (lowest < 0).any():
        first = int(np.argmax(lowest < 0))
        whose = repr(feature_names[first]) if len(feature_names) else f"feature {first}"
        raise InputError(
            Setting("transform", name),
            f" needs values that are not negative, but {whose} has {lowest[first]:g}",
        )
    if not sparse.issparse(X):
        return TRANSFORMS[name](X)
    X = X.copy()
    X.data = TRANSFORMS[name](X.data)  # zero stays zero
    return X


def coded_parts(coder: Coder | None, X: Data, train: Ints, test: Ints) -> tuple[Coded, Coded]:
    """Training and test part as columns of numbers, by what the training part alone tells."""
    if coder is None:
        return Coded(X[train], None, None), Coded(X[test], None, None)
    seen = X[train]
    coding = coder.fit(seen)
    return coding.apply(seen), coding.apply(X[test])


def choose_transform(
    X: Data, y: Array, kind: TargetKind, k: int, seed: int, scoring: Scoring, coder: Coder | None = None
) -> Choice[str]:
    """The transform under which a linear model predicts best, by 3-fold cross-validation.

    The model sees the k features that the target explains best, on the training part, and its penalty is the
    best of a few. This costs no fit of the slower selectors, and is the same for all of them.
    """
    if (_lowest(X, coder) < 0).any():
        return Choice("none", "the values were not transformed, because some are negative")
    X, y, folds = _to_choose_on(X, y, kind, FOLDS, seed)
    judge = judge_named(default_judge(kind), kind)
    stage = Stage(None, "choosing the transform", len(TRANSFORMS) * len(folds))
    scores = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a score is wanted, not a converged model
        for name in TRANSFORMS:
            reached = np.zeros(len(judge.candidates()))
            for train, test in folds:
                own, other = (
                    transformed(part.F, name, numeric=part.numeric)
                    for part in coded_parts(coder, X, train, test)
                )
                best = _most_explained(own, y[train], kind, k)
                parts = dense(own[:, best]), dense(other[:, best])
                reached += _scores(judge, parts, (y[train], y[test]), seed, scoring) / len(folds)
                stage.advance()
            scores[name] = float(reached.max())
    chosen = max(scores, key=lambda name: scores[name])
    figures = ", ".join(f"{name} {number(score, scoring.name)}" for name, score in scores.items())
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
) -> NumberCurve:
    """The smallest k that predicts within one standard error of the best, by 5-fold cross-validation.

    In each fold, ``make(k)`` gives a selector that ranks the features once, on the training part; a linear
    model on the first 1, 2, 3, 5, ... of them is scored on the test part.
    """
    X, y, folds = _to_choose_on(X, y, kind, NUMBER_FOLDS, seed)
    grid = numbers_to_try(X.shape[1])
    stage = Stage(None, "choosing the number of features", 2 * len(folds) * len(grid))
    scores, chance, whole = np.empty((len(folds), len(grid))), [], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what matters is said of the fit on all data
        for row, (train, test) in zip(scores, folds, strict=True):
            ys = y[train], y[test]
            own, other = coded_parts(coder, X, train, test)
            F, F_test = (transformed(part.F, transform, numeric=part.numeric) for part in (own, other))
            selector = make(int(grid[-1]))
            order = order_of_features(selector, F, ys[0], kind, groups=own.groups)[: grid[-1]]
            stage.advance(len(grid))  # a ranking takes about as long as the scores
            columns, ends = own.columns(order)
            parts = scaled(dense(F[:, columns]), dense(F_test[:, columns]))
            for n, k in enumerate(grid):
                end = ends[k - 1]
                row[n] = _score(FAST[kind], parts[0][:, :end], parts[1][:, :end], ys, scoring)
                stage.advance()
            chance.append(_score(CONSTANT[kind], parts[0], parts[1], ys, scoring))
            if 8 * X.shape[0] * F.shape[1] <= LARGEST_WHOLE:
                whole.append(_score(FAST[kind], *scaled(dense(F), dense(F_test)), ys, scoring))
    mean = np.nanmean(scores, axis=0)
    errors = np.nanstd(scores, axis=0, ddof=1) / np.sqrt(len(folds))
    best = int(mean.argmax())
    return NumberCurve(
        scoring=scoring.name,
        n_folds=len(folds),
        ks=tuple(grid.tolist()),
        means=tuple(mean.tolist()),
        errors=tuple(errors.tolist()),
        chance=float(np.nanmean(chance)),
        all_features=float(np.nanmean(whole)) if whole else None,
        best=int(grid[best]),
        chosen=int(grid[int(np.argmax(mean >= mean[best] - errors[best]))]),
    )


def _score(judge: Judge, fitted: Floats, unseen: Floats, ys: tuple[Array, Array], scoring: Scoring) -> float:
    """What one model reaches on the test part."""
    model = judge.model(0, {}, balanced=scoring.balanced)
    return scoring.of(model.fit(fitted, ys[0]), unseen, ys[1])


def tuned(
    judge: Judge, X: Floats, y: Array, splits: list[Split], seed: int, scoring: Scoring
) -> dict[str, Any]:
    """The model's parameter with the best mean score over the splits, each scaled by its training part.

    Of equals the first: the strongest penalty.
    """
    scores = np.zeros(len(judge.candidates()))
    for train, test in splits:
        scores += _scores(judge, (X[train], X[test]), (y[train], y[test]), seed, scoring) / len(splits)
    return judge.candidates()[int(np.argmax(scores))]


def numbers_to_try(n_features: int) -> Ints:
    """Every number of few features, else 1, 2, 3, 5, 7, 10, 15, 20, 30, ... up to 200."""
    if n_features <= FEW_FEATURES:
        return np.arange(1, n_features + 1)
    most = min(n_features, MOST_FEATURES)
    return np.unique([*SMALL_NUMBERS, *range(2 * STEP, most, STEP), most])


def order_of_features(
    selector: Any,
    X: Data,
    y: Array,
    kind: TargetKind,
    ks: Sequence[int] = (),
    groups: Ints | None = None,
) -> Ints:
    """All features, the best first, by a selector that is fitted here; ``ks`` are numbers that it must tell.

    Where ``groups`` tell the variable of each column, variables are what is ordered. One ranking serves
    every number of them: the best k are its first k.
    """
    name = type(selector).__name__
    if kind == "real" and not _knows_target(selector) and (y == np.round(y)).all():
        y = y + 0.5  # scikit-learn takes whole numbers for classes, and no selector minds where zero is
    with_groups(selector, groups).fit(X, y)
    if not hasattr(selector, "ranking_"):
        raise InputError(f"{name} sets no ranking_, which tells the best k for every k")
    ranking = np.asarray(selector.ranking_)
    for k in ks:
        found = np.count_nonzero(ranking <= k)
        if found != k:
            raise InputError(f"the ranking_ of {name} puts {found} features first, not {k}")
    return np.argsort(ranking, kind="stable")


def dense(X: Data) -> Floats:
    """Values as a dense array."""
    return np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)


def _to_choose_on(
    X: Data, y: Array, kind: TargetKind, n_folds: int, seed: int
) -> tuple[Data, Array, list[Split]]:
    """Enough samples, and folds of them whose training parts all have two classes."""
    instead = (": give ", Setting("k"), " and ", Setting("transform"))
    if len(y) < FEWEST_SAMPLES:
        raise InputError(
            f"choosing by cross-validation needs at least {FEWEST_SAMPLES} samples, but there are {len(y)}",
            *instead,
        )
    few = enough_samples(y, kind, seed)
    X, y = X[few], y[few]
    if kind == "classes":
        counts = np.sort(np.unique(y, return_counts=True)[1])
        if len(counts) < 2 or counts[-2] < 2:
            raise InputError(
                "choosing by cross-validation needs two classes with at least two samples each", *instead
            )
        n_folds = min(n_folds, int(counts[-1]))
    return X, y, folds_of(y, kind, n_folds, seed)


def _scores(
    judge: Judge, parts: tuple[Floats, Floats], ys: tuple[Array, Array], seed: int, scoring: Scoring
) -> Floats:
    """What each candidate for the model's parameter reaches on the test part; nothing where that is empty."""
    fitted, unseen = scaled(*parts)
    models = [judge.model(seed, one, balanced=scoring.balanced) for one in judge.candidates()]
    return np.nan_to_num([scoring.of(model.fit(fitted, ys[0]), unseen, ys[1]) for model in models])


def _most_explained(X: Data, y: Array, kind: TargetKind, k: int) -> Ints:
    target = np.unique(y, return_inverse=True)[1] if kind == "classes" else y
    shares, _ = explained_variance(X, np.arange(X.shape[1]), target, kind)
    return np.argsort(-shares, kind="stable")[:k]


def _knows_target(selector: Any) -> bool:
    return "target" in selector.get_params() if hasattr(selector, "get_params") else False


def _lowest(X: Data, coder: Coder | None = None) -> Floats:
    if coder is not None and (coder.gaps or coder.levels is not None) and not sparse.issparse(X):
        numbers = [j for j in range(X.shape[1]) if coder.levels is None or coder.levels[j] is None]
        return np.asarray(np.fmin.reduce(X[:, numbers], axis=0, initial=0.0))
    low = X.min(axis=0)
    return np.asarray(low.toarray() if sparse.issparse(low) else low, dtype=np.float64).ravel()
