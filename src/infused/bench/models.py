"""The models that judge a selection: classifiers and regressors by name, and the parameter that is tuned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.svm import SVC

from infused._runtime.messages import suggestion
from infused._typing import Array, Floats, TargetKind
from infused.exceptions import InputError, Setting
from infused.selectors.registry import find_class

__all__ = [
    "JUDGES",
    "Judge",
    "LinearSVM",
    "default_judge",
    "judge_named",
    "scaled",
    "scores_of",
]


@dataclass(frozen=True)
class Judge:
    """A classifier or regressor of scikit-learn's kind, and the values of the one parameter that is tuned."""

    where: str
    """Module and name of its class."""
    fixed: Mapping[str, Any] = field(default_factory=dict)
    tuned: str | None = None
    values: tuple[float | int, ...] = ()

    def model(self, seed: int, tuned: Mapping[str, Any]) -> Any:
        """A new model; what it draws at random comes from the seed."""
        model = find_class(self.where)(**self.fixed, **tuned)
        return model.set_params(random_state=seed) if "random_state" in model.get_params() else model

    def candidates(self) -> list[dict[str, Any]]:
        """What there is to choose from."""
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

    def __init__(self, C: float = 1.0, random_state: int | None = None):
        super().__init__(kernel="linear", C=C, random_state=random_state)

    def predict(self, X: Floats) -> Array:
        """The class with most votes; of equals, the first."""
        decisions = X @ self.coef_.T + self.intercept_
        if len(self.classes_) == 2:
            return np.asarray(self.classes_[(decisions[:, 0] > 0).astype(int)])
        first, second = np.triu_indices(len(self.classes_), k=1)
        classes = np.eye(len(self.classes_), dtype=np.float32)
        won = (decisions > 0).astype(np.float32)
        votes = won @ (classes[first] - classes[second]) + classes[second].sum(axis=0)
        return np.asarray(self.classes_[votes.argmax(axis=1)])


PENALTIES = (0.01, 0.1, 1.0, 10.0)
NEIGHBOURS = (1, 3, 5)

#: By what the target holds; the first is the default.
JUDGES: dict[TargetKind, dict[str, Judge]] = {
    "classes": {
        # libsvm, one against one. LinearSVC, one against the rest, is less accurate with many classes.
        # A precomputed Gram matrix was measured: for 8,000 samples it takes up to three times as long, for
        # 100 to 2,000 it saves at most a few milliseconds of a fit.
        "svm": Judge("infused.bench.models:LinearSVM", {}, "C", PENALTIES),
        "logistic": Judge("sklearn.linear_model:LogisticRegression", {"max_iter": 1000}, "C", PENALTIES),
        "knn": Judge("sklearn.neighbors:KNeighborsClassifier", {}, "n_neighbors", NEIGHBOURS),
        "random-forest": Judge("sklearn.ensemble:RandomForestClassifier"),
    },
    "real": {
        "ridge": Judge("sklearn.linear_model:Ridge", {}, "alpha", (0.1, 1.0, 10.0, 100.0)),
        "svm": Judge("sklearn.svm:SVR", {"kernel": "linear"}, "C", PENALTIES),
        "knn": Judge("sklearn.neighbors:KNeighborsRegressor", {}, "n_neighbors", NEIGHBOURS),
        "random-forest": Judge("sklearn.ensemble:RandomForestRegressor"),
    },
}


def default_judge(kind: TargetKind) -> str:
    """The name of the model that judges where none is asked for."""
    return next(iter(JUDGES[kind]))


def judge_named(name: str, kind: TargetKind) -> Judge:
    """A model by its name or by the dotted path to its class, whose C is tuned where it has one.

    >>> judge_named("svm", "classes").tuned
    'C'
    >>> judge_named("sklearn.linear_model.RidgeClassifier", "classes").tuned is None
    True
    """
    known = JUDGES[kind]
    if name in known:
        return known[name]
    if "." not in name:
        hint = suggestion(name, list(known)) or (
            f"; there are {', '.join(known)}, or give the dotted path to a class of scikit-learn's kind"
        )
        what = "classifier" if kind == "classes" else "regressor"
        raise InputError(Setting("classifier", name), f" is no {what} that is known{hint}")
    has_penalty = "C" in find_class(name)().get_params()
    return Judge(name, {}, "C", PENALTIES) if has_penalty else Judge(name)


def scaled(train: Floats, test: Floats) -> tuple[Floats, Floats]:
    """Both with the mean and the deviation of the training part taken out."""
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler().fit(train)
    return scaler.transform(train), scaler.transform(test)


def scores_of(model: Any, X: Floats, y: Array) -> dict[str, float]:
    """Every score of a fitted model on a test part, by its name."""
    from sklearn.base import is_regressor
    from sklearn.metrics import accuracy_score, f1_score, r2_score, recall_score

    predicted = model.predict(X)
    if is_regressor(model):
        return {"r2": float(r2_score(y, predicted))}
    # Balanced accuracy over the classes that the test part has.
    recall = recall_score(y, predicted, labels=np.unique(y), average="macro", zero_division=0)
    return {
        "accuracy": float(accuracy_score(y, predicted)),
        "balanced_accuracy": float(recall),
        "macro_f1": float(f1_score(y, predicted, average="macro", zero_division=0)),
    }
