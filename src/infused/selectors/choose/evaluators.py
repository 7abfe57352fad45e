"""Evaluation models, and the metrics that score them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.svm import SVC

from infused._runtime.messages import check_choice, quoted, reason, suggestion
from infused._typing import Array, Floats, Ints, TargetKind
from infused.datafits import CensoringCurve, concordance, integrated_brier
from infused.exceptions import InputError, Setting
from infused.selectors.inputs.training import tame_together
from infused.selectors.registry import find_class


@dataclass(frozen=True)
class Evaluator:
    """A classifier or regressor of scikit-learn's kind, and the values of the one parameter that is tuned."""

    where: str
    """Module and name of its class."""
    fixed: Mapping[str, Any] = field(default_factory=dict)
    tuned: str | None = None
    values: tuple[float | int, ...] = ()

    def model(self, seed: int, tuned: Mapping[str, Any], *, balanced: bool = False) -> Any:
        """Make a model with a random seed. Balanced, it weighs all classes alike."""
        model = find_class(self.where)(**self.fixed, **tuned)
        takes = model.get_params()
        if balanced and "class_weight" in takes:
            model.set_params(class_weight="balanced")
        return model.set_params(random_state=seed) if "random_state" in takes else model

    def candidates(self) -> list[dict[str, Any]]:
        """List the values of the parameter to choose from."""
        return [{}] if self.tuned is None else [{self.tuned: value} for value in self.values]


class LinearSVM(SVC):  # type: ignore[misc]  # scikit-learn has no types
    r"""libsvm's linear C-SVM, one class against one other, that predicts with weights.

    .. math::

        \hat y(x) = \arg\max_c |\{(i, j) : c \text{ wins } (i, j)\}|, \quad
        i \text{ wins if } w_{ij}'x + b_{ij} > 0, \text{ else } j

    libsvm takes the kernel of a sample with every support vector. With a linear kernel the weights of a pair
    of classes are known, and all decisions are one product of matrices: with 68 classes and thousands of
    support vectors that is five times faster. Votes and ties are counted as libsvm counts them.
    """

    def __init__(
        self,
        C: float = 1.0,
        class_weight: str | Mapping[Any, float] | None = None,
        random_state: int | None = None,
        max_iter: int = -1,
    ):
        super().__init__(
            kernel="linear", C=C, class_weight=class_weight, random_state=random_state, max_iter=max_iter
        )

    def predict(self, X: Floats) -> Array:
        """Predict the class with most votes; of equals, the first."""
        decisions = self._decisions(X)
        if len(self.classes_) == 2:
            return np.asarray(self.classes_[(decisions[:, 0] > 0).astype(int)])
        return np.asarray(self.classes_[self._votes(decisions).argmax(axis=1)])

    def decision_function(self, X: Floats) -> Floats:
        """Return the distance to the plane for two classes, for several the votes, with ties by distances."""
        decisions = self._decisions(X)
        if len(self.classes_) == 2:
            return decisions[:, 0]
        first, second = self._pairs()
        sums = decisions @ (np.eye(len(self.classes_))[first] - np.eye(len(self.classes_))[second])
        # As scikit-learn breaks ties: less than a third of a vote, whatever the distance.
        return np.asarray(self._votes(decisions) + sums / (3 * (np.abs(sums) + 1)))

    def _decisions(self, X: Floats) -> Floats:
        return np.asarray(X @ self.coef_.T + self.intercept_)

    def _pairs(self) -> tuple[Ints, Ints]:
        return np.triu_indices(len(self.classes_), k=1)

    def _votes(self, decisions: Floats) -> Floats:
        first, second = self._pairs()
        classes = np.eye(len(self.classes_), dtype=np.float32)
        won = (decisions > 0).astype(np.float32)
        return np.asarray(won @ (classes[first] - classes[second]) + classes[second].sum(axis=0))


MOST_ITERATIONS = 100_000  # of libsvm for two classes, a second or two with thousands of samples
PENALTIES = (0.01, 0.1, 1.0, 10.0)
NEIGHBOURS = (1, 3, 5)

#: By what the target holds; the first is the default.
EVALUATORS: dict[TargetKind, dict[str, Evaluator]] = {
    "classes": {
        # libsvm, one against one. LinearSVC, one against the rest, is less accurate with many classes.
        # A precomputed Gram matrix was measured: for 8,000 samples it takes up to three times as long, for
        # 100 to 2,000 it saves at most a few milliseconds of a fit.
        "svm": Evaluator("infused.selectors.choose.evaluators:LinearSVM", {}, "C", PENALTIES),
        "logistic": Evaluator("sklearn.linear_model:LogisticRegression", {"max_iter": 1000}, "C", PENALTIES),
        "knn": Evaluator("sklearn.neighbors:KNeighborsClassifier", {}, "n_neighbors", NEIGHBOURS),
        "random-forest": Evaluator("sklearn.ensemble:RandomForestClassifier"),
    },
    "real": {
        "ridge": Evaluator("sklearn.linear_model:Ridge", {}, "alpha", (0.1, 1.0, 10.0, 100.0)),
        "svm": Evaluator("sklearn.svm:SVR", {"kernel": "linear"}, "C", PENALTIES),
        "knn": Evaluator("sklearn.neighbors:KNeighborsRegressor", {}, "n_neighbors", NEIGHBOURS),
        "random-forest": Evaluator("sklearn.ensemble:RandomForestRegressor"),
    },
    "survival": {
        "cox": Evaluator("infused.selectors.choose.cox:CoxRegression", {}, "alpha", (0.1, 1.0, 10.0, 100.0)),
    },
}


#: What needs no features.
CONSTANT: dict[TargetKind, Evaluator] = {
    "classes": Evaluator("sklearn.dummy:DummyClassifier", {"strategy": "most_frequent"}),
    "real": Evaluator("sklearn.dummy:DummyRegressor"),
    "survival": Evaluator("infused.selectors.choose.cox:CoxRegression"),
}

LARGEST_WHOLE = 2 * 2**30  # bytes that all features may take as a dense array to be evaluated together


def bounded(evaluator: Evaluator, y: Array) -> Evaluator:
    """Return the model with a limit on its iterations: it ends on any data, and warns where it stops early.

    libsvm may take hours on classes that overlap, however the columns are scaled. Of two classes liblinear
    takes milliseconds for the same plane, but for the square of its losses.
    """
    if evaluator is EVALUATORS["classes"]["svm"] and len(np.unique(y)) == 2:
        return Evaluator("sklearn.svm:LinearSVC", {"dual": "auto"}, "C", PENALTIES)
    if find_class(evaluator.where)(**evaluator.fixed).get_params().get("max_iter") == -1:
        return replace(evaluator, fixed={**evaluator.fixed, "max_iter": MOST_ITERATIONS})
    return evaluator


def default_evaluator(kind: TargetKind) -> str:
    """Return the name of the evaluation model where none is asked for."""
    return next(iter(EVALUATORS[kind]))


def evaluator_named(name: str, kind: TargetKind, *, allow_imports: bool = False) -> Evaluator:
    """Return a model by its name; where imports are allowed, also by the dotted path to its class.

    The C of a class is tuned where it has one.

    >>> evaluator_named("svm", "classes").tuned
    'C'
    >>> evaluator_named("sklearn.linear_model.RidgeClassifier", "classes", allow_imports=True).tuned is None
    True
    """
    known = EVALUATORS[kind]
    if name in known:
        return known[name]
    if "." not in name:
        hint = suggestion(name, list(known)) or (
            f"; there are {', '.join(known)}, or give the dotted path to a class of scikit-learn's kind"
        )
        what = {"classes": "classifier", "real": "regressor", "survival": "model of survival"}[kind]
        raise InputError(Setting("classifier", name), f" is no {what} that is known{hint}")
    if not allow_imports:
        trust = " is a path to code, which would run: if you trust it, allow it with "
        raise InputError(Setting("classifier", name), trust, Setting("allow_imports", True))
    if not hasattr(find_class(name), "fit"):
        raise InputError(Setting("classifier", name), " is no class of a model: it has no fit")
    has_penalty = "C" in find_class(name)().get_params()
    return Evaluator(name, {}, "C", PENALTIES) if has_penalty else Evaluator(name)


def scaled(train: Floats, test: Floats) -> tuple[Floats, Floats]:
    """Take the mean and the deviation of the training part out of both."""
    from sklearn.preprocessing import StandardScaler

    train, test = tame_together(train, test)
    scaler = StandardScaler().fit(train)
    return scaler.transform(train), scaler.transform(test)


#: The scores for each kind of target; the first is the default.
SCORINGS: dict[TargetKind, tuple[str, ...]] = {
    "classes": ("accuracy", "balanced_accuracy", "roc_auc", "average_precision", "f1"),
    "real": ("r2", "mae"),
    "survival": ("concordance", "uno_concordance", "integrated_brier"),
}

#: The scores by which a model was tuned before there was a choice.
PLAIN = ("accuracy", "r2")

#: Scores that ask as much of a rare class as of a frequent one. A model that is to do well by them weighs the
#: classes alike: with 4% positives that overlap the others, a linear SVM without weights answers "negative"
#: always, and its decision values reach a ROC AUC of 0.71 where those with weights reach 0.83.
BALANCED = frozenset({"balanced_accuracy", "roc_auc", "average_precision", "f1"})

RARE = 0.2  # of an equal share of the samples
LARGEST = 0.75  # of the samples: who always answers with such a class would look good


@dataclass(frozen=True)
class Scoring:
    """A score of a fitted model on test samples, the larger the better.

    ROC AUC and average precision come from decision values: of two classes those of the rarer, of several the
    mean over one against the rest of each. A class that a test part lacks is left out there.
    """

    name: str
    positive: Any = None
    """The rarer of two classes."""
    scorer: Callable[..., Any] | None = None
    """One of scikit-learn's kind, where it was given as such."""
    censoring: CensoringCurve | None = None
    """Of times and events: of all samples, as few of a test part are censored."""

    @property
    def balanced(self) -> bool:
        """Return whether the model should weigh all classes alike."""
        return self.name in BALANCED

    def of(self, model: Any, X: Floats, y: Array, weights: Floats | None = None) -> float:
        """Score a model; a scorer of one's own is asked without weights."""
        if self.scorer is not None:
            return float(self.scorer(model, X, y))
        if self.censoring is not None:
            return _score_of_survival(model, X, y, self.name, self.censoring, weights)
        if self.name in ("roc_auc", "average_precision"):
            return _one_against_rest(model, X, y, self, weights)
        plain = _plain_scores(model, X, y, weights)
        if self.name in plain:
            return plain[self.name]
        from sklearn.metrics import get_scorer

        given = {} if weights is None else {"sample_weight": weights}
        return float(get_scorer(self.name)(model, X, y, **given))


def default_scoring(y: Array, kind: TargetKind) -> tuple[str, str]:
    """Choose the score that suits the data, and say why.

    R² for a continuous target, Harrell's concordance for times and events. Of classes accuracy, unless the
    largest has three quarters of the samples or the smallest less than a fifth of an equal share: then ROC
    AUC for two classes and balanced accuracy for several.
    """
    if kind != "classes":
        return SCORINGS[kind][0], ""
    labels, counts = np.unique(y, return_counts=True)
    least = int(counts.argmin())
    if counts[least] * len(labels) >= RARE * len(y) and counts.max() < LARGEST * len(y):
        return "accuracy", ""
    name = "roc_auc" if len(labels) == 2 else "balanced_accuracy"
    words = "ROC AUC" if len(labels) == 2 else "Balanced accuracy"
    return name, (
        f"{words} counts, not accuracy, because {quoted(labels[least])} is rare: {counts[least]:,} of "
        f"{len(y):,} samples."
    )


def scoring_for(name: Any, y: Array, kind: TargetKind) -> Scoring:
    """Find the score that was asked for, by name or as a scorer, or else that suits the data."""
    if callable(name):
        called = getattr(name, "_score_func", name)  # of what make_scorer made
        return Scoring(getattr(called, "__name__", type(name).__name__), scorer=name)
    name = default_scoring(y, kind)[0] if name is None else name
    if kind == "real":
        return Scoring(name)
    if kind == "survival":
        return Scoring(name, censoring=CensoringCurve.of(y))
    labels, counts = np.unique(y, return_counts=True)
    rarer = labels[1 if counts[-1] <= counts[0] else 0] if len(labels) == 2 else None
    return Scoring(name, rarer)


def check_scoring(name: str, kind: TargetKind, n_classes: int, evaluator: Evaluator, called: str) -> None:
    """Refuse a score that does not exist, or that means nothing for such a target or model."""
    from sklearn.metrics import get_scorer_names

    ours = SCORINGS[kind]
    if any(name in others for other, others in SCORINGS.items() if other != kind):
        what = {"classes": "classes", "real": "continuous values", "survival": "times and events"}[kind]
        raise InputError(
            Setting("scoring", name), f" is not for a target of {what}; there are {', '.join(ours)}"
        )
    if kind == "survival":
        if name == "integrated_brier" and not hasattr(evaluator.model(0, {}), "predict_survival"):
            raise InputError(Setting("scoring", name), f" needs predicted survival, which {called!r} lacks")
        return check_choice("scoring", name, ours)
    if name not in ours:
        if name not in get_scorer_names():
            check_choice("scoring", name, ours)
    elif name not in ("roc_auc", "average_precision"):
        return
    X = np.random.default_rng(0).normal(size=(4 * max(2, n_classes), 3))
    # Labels are texts, so that what takes them for numbers fails.
    y = np.array([f"c{n % n_classes}" for n in range(len(X))]) if kind == "classes" else X[:, 0] + 9.0
    try:
        Scoring(name).of(evaluator.model(0, {}).fit(X, y), X, y)
    except (AttributeError, TypeError, ValueError) as error:
        raise InputError(
            Setting("scoring", name), f" cannot be had of the model {called!r} here: {reason(error)}"
        ) from error


def scores_of(model: Any, X: Floats, y: Array, scoring: Scoring) -> dict[str, Any]:
    """Compute the common scores of a fitted model on a test part, and the one that was asked for."""
    plain = {} if scoring.censoring is not None else _plain_scores(model, X, y)
    score = plain[scoring.name] if scoring.name in plain else scoring.of(model, X, y)
    stored = {name: value for name, value in plain.items() if name != "mae"}
    return {**stored, "scoring": scoring.name, "score": score}


def _plain_scores(model: Any, X: Floats, y: Array, weights: Floats | None = None) -> dict[str, float]:
    """Compute the scores that come from predictions."""
    from sklearn.base import is_regressor
    from sklearn.metrics import mean_absolute_error, r2_score

    predicted = model.predict(X)
    if not is_regressor(model):
        return _class_scores(y, predicted, weights)
    by = {"sample_weight": weights}
    return {
        "r2": float(r2_score(y, predicted, **by)) if len(y) > 1 else float("nan"),
        "mae": -float(mean_absolute_error(y, predicted, **by)),
    }


def _class_scores(y: Array, predicted: Array, weights: Floats | None = None) -> dict[str, float]:
    """Compute accuracy, and the means of recall and F1 over classes, from one count of the classes.

    scikit-learn's three functions check and count anew, for longer than a small model takes to be fitted.
    """
    labels, codes = np.unique(np.concatenate([y, predicted]), return_inverse=True)
    true, answered = codes[: len(y)], codes[len(y) :]
    right = true == answered
    n_true = np.bincount(true, weights, len(labels))
    n_answered = np.bincount(answered, weights, len(labels))
    n_right = np.bincount(true[right], None if weights is None else weights[right], len(labels))
    recall, f1 = (
        np.divide(right_ones, of, out=np.zeros(len(labels)), where=of > 0)
        for right_ones, of in ((n_right, n_true), (2 * n_right, n_true + n_answered))
    )
    return {
        "accuracy": float(np.average(right, weights=weights)),
        # over the classes that the test part has
        "balanced_accuracy": float(recall[np.unique(true)].mean()),
        "f1": float(f1.mean()),
    }


def _score_of_survival(
    model: Any, X: Floats, y: Array, name: str, censoring: CensoringCurve, weights: Floats | None
) -> float:
    if name == "integrated_brier":
        return -integrated_brier(y, model.predict_survival(X, censoring.grid), censoring, weights)
    return concordance(y, model.predict(X), weights, censoring if name == "uno_concordance" else None)


def _one_against_rest(
    model: Any, X: Floats, y: Array, scoring: Scoring, weights: Floats | None = None
) -> float:
    from sklearn.metrics import average_precision_score, roc_auc_score

    one: Callable[..., Any] = roc_auc_score if scoring.name == "roc_auc" else average_precision_score
    values = np.asarray((getattr(model, "decision_function", None) or model.predict_proba)(X))
    if values.ndim == 1:
        values = np.column_stack([-values, values])
    found = [
        one(y == label, column, sample_weight=weights)
        for label, column in zip(model.classes_, values.T, strict=True)
        if (scoring.positive is None or label == scoring.positive) and 0 < (y == label).sum() < len(y)
    ]
    return float(np.mean(found)) if found else float("nan")
