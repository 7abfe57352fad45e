"""What counts as good: scores by name, and which of them suits the data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from infused._runtime.messages import check_choice, quoted, reason
from infused._typing import Array, Floats, TargetKind
from infused.exceptions import InputError, Setting
from infused.selectors.choose.evaluators import Evaluator

#: The scores for each kind of target; the first is the default.
SCORINGS: dict[TargetKind, tuple[str, ...]] = {
    "classes": ("accuracy", "balanced_accuracy", "roc_auc", "average_precision", "f1"),
    "real": ("r2", "mae"),
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

    @property
    def balanced(self) -> bool:
        """Return whether the model should weigh all classes alike."""
        return self.name in BALANCED

    def of(self, model: Any, X: Floats, y: Array, weights: Floats | None = None) -> float:
        """Score a model; a scorer of one's own is asked without weights."""
        if self.scorer is not None:
            return float(self.scorer(model, X, y))
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

    R² for a real target. Of classes accuracy, unless the largest has three quarters of the samples or the
    smallest less than a fifth of an equal share: then ROC AUC for two classes and balanced accuracy for
    several.
    """
    if kind == "real":
        return "r2", ""
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
    labels, counts = np.unique(y, return_counts=True)
    rarer = labels[1 if counts[-1] <= counts[0] else 0] if len(labels) == 2 else None
    return Scoring(name, rarer)


def check_scoring(name: str, kind: TargetKind, n_classes: int, evaluator: Evaluator, called: str) -> None:
    """Refuse a score that does not exist, or that means nothing for such a target or model."""
    from sklearn.metrics import get_scorer_names

    ours, others = (SCORINGS[one] for one in (kind, "real" if kind == "classes" else "classes"))
    if name in others:
        what = "classes" if kind == "classes" else "real values"
        raise InputError(
            Setting("scoring", name), f" is not for a target of {what}; there are {', '.join(ours)}"
        )
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
    plain = _plain_scores(model, X, y)
    score = plain[scoring.name] if scoring.name in plain else scoring.of(model, X, y)
    stored = {name: value for name, value in plain.items() if name != "mae"}
    return {**stored, "scoring": scoring.name, "score": score}


def _plain_scores(model: Any, X: Floats, y: Array, weights: Floats | None = None) -> dict[str, float]:
    """Compute the scores that come from predictions."""
    from sklearn.base import is_regressor
    from sklearn.metrics import accuracy_score, f1_score, mean_absolute_error, r2_score, recall_score

    predicted, by = model.predict(X), {"sample_weight": weights}
    if is_regressor(model):
        return {
            "r2": float(r2_score(y, predicted, **by)) if len(y) > 1 else float("nan"),
            "mae": -float(mean_absolute_error(y, predicted, **by)),
        }
    # Balanced accuracy over the classes that the test part has.
    recall = recall_score(y, predicted, labels=np.unique(y), average="macro", zero_division=0, **by)
    return {
        "accuracy": float(accuracy_score(y, predicted, **by)),
        "balanced_accuracy": float(recall),
        "f1": float(f1_score(y, predicted, average="macro", zero_division=0, **by)),
    }


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
