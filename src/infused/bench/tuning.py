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
from infused.bench.models import Judge, default_judge, judge_named, scaled
from infused.data.coding import Coded, Coder
from infused.exceptions import InputError, Setting
from infused.record.explained import explained_variance
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
FEW_FEATURES, STEP, MOST_FEATURES = 30, 10, 200

#: Quick enough to be fitted for every number of features.
FAST: dict[TargetKind, Judge] = {
    "classes": Judge("sklearn.svm:LinearSVC", {"dual": "auto"}),
    "real": Judge("sklearn.linear_model:Ridge"),
}
MEASURES: dict[TargetKind, str] = {"classes": "accuracy", "real": "R squared"}

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
    X: Data, y: Array, kind: TargetKind, k: int, seed: int, coder: Coder | None = None
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
                reached += _scores(judge, parts, (y[train], y[test]), seed) / len(folds)
                stage.advance()
            scores[name] = float(reached.max())
    chosen = max(scores, key=lambda name: scores[name])
    figures = ", ".join(f"{name} {score:.3f}" for name, score in scores.items())
    return Choice(
        chosen,
        f"{chosen!r} was chosen as the transform by {len(folds)}-fold cross-validation "
        f"({MEASURES[kind]}: {figures})",
    )


def choose_number(
    make: Callable[[int], Any],
    X: Data,
    y: Array,
    kind: TargetKind,
    seed: int,
    coder: Coder | None = None,
    transform: str = "none",
) -> Choice[int]:
    """The smallest k that predicts within one standard error of the best, by 5-fold cross-validation.

    In each fold, ``make(k)`` gives a selector that ranks the features once, on the training part; a linear
    model on the first 10, 20, ... of them is scored on the test part.
    """
    X, y, folds = _to_choose_on(X, y, kind, NUMBER_FOLDS, seed)
    grid = numbers_to_try(X.shape[1])
    stage = Stage(None, "choosing the number of features", 2 * len(folds) * len(grid))
    scores = np.empty((len(folds), len(grid)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what matters is said of the fit on all data
        for row, (train, test) in zip(scores, folds, strict=True):
            selector = make(int(grid[-1]))
            if getattr(selector, "ranking", None) == "recursive":
                # Such a ranking is made for one k: all the way down, it is good for every k on the way.
                selector = make(1)
            own, other = coded_parts(coder, X, train, test)
            F, F_test = (transformed(part.F, transform, numeric=part.numeric) for part in (own, other))
            order = order_of_features(selector, F, y[train], kind, groups=own.groups)[: grid[-1]]
            stage.advance(len(grid))  # a ranking takes about as long as the scores
            columns, ends = own.columns(order)
            fitted, unseen = scaled(dense(F[:, columns]), dense(F_test[:, columns]))
            for n, k in enumerate(grid):
                model = FAST[kind].model(0, {}).fit(fitted[:, : ends[k - 1]], y[train])
                row[n] = model.score(unseen[:, : ends[k - 1]], y[test])
                stage.advance()
    mean = scores.mean(axis=0)
    best = int(mean.argmax())
    error = float(scores[:, best].std(ddof=1) / np.sqrt(len(folds)))
    chosen = int(np.argmax(mean >= mean[best] - error))
    return Choice(
        int(grid[chosen]),
        f"the number of features, {grid[chosen]}, was chosen by {len(folds)}-fold cross-validation: the "
        f"smallest within one standard error ({error:.3f}) of the best {MEASURES[kind]}, {mean[best]:.3f} "
        f"with {grid[best]}; {grid[chosen]} reach {mean[chosen]:.3f}",
    )


def tuned(judge: Judge, X: Floats, y: Array, splits: list[Split], seed: int) -> dict[str, Any]:
    """The model's parameter with the best mean score over the splits, each scaled by its training part.

    Of equals the first: the strongest penalty.
    """
    scores = np.zeros(len(judge.candidates()))
    for train, test in splits:
        scores += _scores(judge, (X[train], X[test]), (y[train], y[test]), seed) / len(splits)
    return judge.candidates()[int(np.argmax(scores))]


def numbers_to_try(n_features: int) -> Ints:
    """1, 2, ... of few features, else 10, 20, ... up to 200."""
    if n_features <= FEW_FEATURES:
        return np.arange(1, n_features + 1)
    most = min(n_features, MOST_FEATURES)
    return np.unique([*range(STEP, most, STEP), most])


def order_of_features(
    selector: Any,
    X: Data,
    y: Array,
    kind: TargetKind,
    ks: Sequence[int] = (),
    groups: Ints | None = None,
) -> Ints:
    """All features, the best first, by a selector that is fitted here; ``ks`` are numbers that it must tell.

    Where ``groups`` tell the variable of each column, variables are what is ordered.

    A ranking that is made for one number of features, as ``ranking="recursive"`` makes it, serves every
    smaller one: its features are the first of that ranking, not those of a run of their own.
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


def _scores(judge: Judge, parts: tuple[Floats, Floats], ys: tuple[Array, Array], seed: int) -> Floats:
    """What each candidate for the model's parameter reaches on the test part: accuracy or R squared."""
    fitted, unseen = scaled(*parts)
    models = (judge.model(seed, candidate) for candidate in judge.candidates())
    return np.array([model.fit(fitted, ys[0]).score(unseen, ys[1]) for model in models])


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
