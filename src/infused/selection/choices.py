"""What the data can choose by cross-validation: a transform of the values, and how many features to keep."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from scipy import sparse

from infused._runtime.progress import Stage
from infused._typing import Array, Data, Floats, Ints
from infused.exceptions import InfusedError
from infused.selection.distributions import explained_variance

__all__ = [
    "TRANSFORMS",
    "Choice",
    "ChoiceError",
    "choose_number",
    "choose_transform",
    "enough_samples",
    "transformed",
]

TRANSFORMS: dict[str, Callable[[Any], Any]] = {"none": lambda X: X, "sqrt": np.sqrt, "log1p": np.log1p}

MOST_SAMPLES = 3000  # a choice gains nothing from more
FEWEST_SAMPLES = 10
TRANSFORM_FOLDS, NUMBER_FOLDS = 3, 5
PENALTIES = (0.01, 0.1, 1.0, 10.0)  # C of the SVM; for a real target its inverse is the ridge
FEW_FEATURES, STEP, MOST_FEATURES = 30, 10, 200

Value = TypeVar("Value")


class ChoiceError(InfusedError, ValueError):
    """The data do not allow the choice."""


@dataclass(frozen=True)
class Choice(Generic[Value]):
    """What was chosen, and a sentence that says how."""

    value: Value
    reason: str


def transformed(X: Data, name: str, feature_names: Sequence[str] = ()) -> Data:
    """X with a transform of TRANSFORMS applied to every value; sparse data stay sparse.

    The square root and the logarithm are for counts and intensities: a negative value is an error.
    """
    if name not in TRANSFORMS:
        raise ChoiceError(f"The transform {name!r} does not exist: there are {', '.join(TRANSFORMS)}.")
    if name == "none":
        return X
    lowest = _lowest(X)
    if (lowest < 0).any():
        first = int(np.argmax(lowest < 0))
        whose = repr(feature_names[first]) if feature_names else f"feature {first}"
        raise ChoiceError(
            f"The transform {name} needs values that are not negative, but {whose} has {lowest[first]:g}."
        )
    if not sparse.issparse(X):
        return TRANSFORMS[name](X)
    X = X.copy()
    X.data = TRANSFORMS[name](X.data)  # zero stays zero
    return X


def choose_transform(X: Data, y: Array, task: str, k: int, seed: int) -> Choice[str]:
    """The transform under which a linear model predicts best, by 3-fold cross-validation.

    The model sees the k features that the target explains best, on the training part, and its penalty is the
    best of a few. This costs no fit of the slower selectors, and is the same for all of them.
    """
    if (_lowest(X) < 0).any():
        return Choice("none", "the values were not transformed, because some are negative")
    X, y = _enough(X, y, task, seed)
    folds = _folds(y, task, TRANSFORM_FOLDS, seed)
    stage = Stage(None, "choosing the transform", len(TRANSFORMS) * len(PENALTIES) * len(folds))
    scores = {}
    for name in TRANSFORMS:
        values = transformed(X, name)
        reached = np.zeros(len(PENALTIES))
        for train, test in folds:
            best = _most_explained(values[train], y[train], task, k)
            parts = [_dense(values[rows][:, best]) for rows in (train, test)]
            for n, penalty in enumerate(PENALTIES):
                reached[n] += _score(_svm(task, penalty), parts, y, (train, test)) / len(folds)
                stage.advance()
        scores[name] = float(reached.max())
    chosen = max(scores, key=lambda name: scores[name])
    figures = ", ".join(f"{name} {score:.3f}" for name, score in scores.items())
    return Choice(
        chosen,
        f"{chosen!r} was chosen as the transform by {len(folds)}-fold cross-validation "
        f"({_measure(task)}: {figures})",
    )


def choose_number(make: Callable[[int], Any], X: Data, y: Array, task: str, seed: int) -> Choice[int]:
    """The smallest k that predicts within one standard error of the best, by 5-fold cross-validation.

    In each fold, ``make(k)`` gives a selector that ranks the features once, on the training part; a linear
    model on the first 10, 20, ... of them is scored on the test part.
    """
    X, y = _enough(X, y, task, seed)
    grid = numbers_to_try(X.shape[1])
    folds = _folds(y, task, NUMBER_FOLDS, seed)
    stage = Stage(None, "choosing the number of features", 2 * len(folds) * len(grid))
    scores = np.empty((len(folds), len(grid)))
    for row, (train, test) in zip(scores, folds, strict=True):
        order = _order(make, X[train], y[train], int(grid[-1]))
        stage.advance(len(grid))  # a ranking takes about as long as the scores
        parts = [_dense(X[rows][:, order]) for rows in (train, test)]
        for n, k in enumerate(grid):
            row[n] = _score(_fast_model(task), [part[:, :k] for part in parts], y, (train, test))
            stage.advance()
    mean = scores.mean(axis=0)
    best = int(mean.argmax())
    error = float(scores[:, best].std(ddof=1) / np.sqrt(len(folds)))
    chosen = int(np.argmax(mean >= mean[best] - error))
    return Choice(
        int(grid[chosen]),
        f"the number of features, {grid[chosen]}, was chosen by {len(folds)}-fold cross-validation: the "
        f"smallest within one standard error ({error:.3f}) of the best {_measure(task)}, {mean[best]:.3f} "
        f"with {grid[best]}; {grid[chosen]} reach {mean[chosen]:.3f}",
    )


def numbers_to_try(n_features: int) -> Ints:
    """1, 2, ... of few features, else 10, 20, ... up to 200."""
    if n_features <= FEW_FEATURES:
        return np.arange(1, n_features + 1)
    most = min(n_features, MOST_FEATURES)
    return np.unique([*range(STEP, most, STEP), most])


def _order(make: Callable[[int], Any], X: Data, y: Array, largest: int) -> Ints:
    """The best features of a training part, best first."""
    selector = make(largest)
    if getattr(selector, "ranking", None) == "recursive":
        # Such a ranking is made for one k: all the way down, it is good for every k on the way.
        selector = make(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what matters is said of the fit on all data
        ranking = np.asarray(selector.fit(X, y).ranking_)
    return np.argsort(ranking, kind="stable")[:largest]


def enough_samples(y: Array, task: str, seed: int) -> Ints:
    """The positions of at most 3,000 samples, of every class a share."""
    if len(y) <= MOST_SAMPLES:
        return np.arange(len(y))
    from sklearn.model_selection import StratifiedShuffleSplit

    random = np.random.default_rng(seed)
    chosen = random.permutation(len(y))[:MOST_SAMPLES]
    if task == "classification" and np.unique(y, return_counts=True)[1].min() >= 2:
        split = StratifiedShuffleSplit(1, train_size=MOST_SAMPLES, random_state=seed)
        chosen = next(split.split(np.zeros((len(y), 1)), y))[0]
    return np.sort(chosen)


def _enough(X: Data, y: Array, task: str, seed: int) -> tuple[Data, Array]:
    chosen = enough_samples(y, task, seed)
    return X[chosen], y[chosen]


def _folds(y: Array, task: str, n_folds: int, seed: int) -> list[tuple[Ints, Ints]]:
    """Training and test parts; every training part has two classes."""
    from sklearn.model_selection import KFold, StratifiedKFold

    if len(y) < FEWEST_SAMPLES:
        raise ChoiceError(
            f"Choosing by cross-validation needs at least {FEWEST_SAMPLES} samples, but there are {len(y)}: "
            "give a number and a transform."
        )
    rows = np.zeros((len(y), 1))
    if task == "regression":
        return list(KFold(n_folds, shuffle=True, random_state=seed).split(rows))
    counts = np.sort(np.unique(y, return_counts=True)[1])
    if counts[-2] < 2:
        raise ChoiceError(
            "Choosing by cross-validation needs two classes with at least two samples each: "
            "give a number and a transform."
        )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        splitter = StratifiedKFold(min(n_folds, int(counts[-1])), shuffle=True, random_state=seed)
        return list(splitter.split(rows, y))


def _most_explained(X: Data, y: Array, task: str, k: int) -> Ints:
    classes = task == "classification"
    target = np.unique(y, return_inverse=True)[1] if classes else y
    explained = explained_variance(X, np.arange(X.shape[1]), target, classes)
    return np.argsort(-explained, kind="stable")[:k]


def _svm(task: str, penalty: float) -> Any:
    from sklearn.linear_model import Ridge
    from sklearn.svm import SVC

    return SVC(kernel="linear", C=penalty) if task == "classification" else Ridge(alpha=1 / penalty)


def _fast_model(task: str) -> Any:
    from sklearn.linear_model import Ridge
    from sklearn.svm import LinearSVC

    return LinearSVC(dual="auto", random_state=0) if task == "classification" else Ridge()


def _score(model: Any, parts: list[Floats], y: Array, rows: tuple[Ints, Ints]) -> float:
    """Accuracy, or R squared, on the test part of a model fitted to the scaled training part."""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    (train, test), (fitted, unseen) = rows, parts
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a score is wanted, not a converged model
        return float(make_pipeline(StandardScaler(), model).fit(fitted, y[train]).score(unseen, y[test]))


def _measure(task: str) -> str:
    return "accuracy" if task == "classification" else "R squared"


def _lowest(X: Data) -> Floats:
    low = X.min(axis=0)
    return np.asarray(low.toarray() if sparse.issparse(low) else low, dtype=np.float64).ravel()


def _dense(X: Data) -> Floats:
    return np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
