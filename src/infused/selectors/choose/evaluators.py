"""Evaluation models: classifiers and regressors by name, and the parameter that is tuned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.svm import SVC

from infused._runtime.messages import suggestion
from infused._typing import Array, Floats, Ints, TargetKind
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
}


#: What needs no features.
CONSTANT: dict[TargetKind, Evaluator] = {
    "classes": Evaluator("sklearn.dummy:DummyClassifier", {"strategy": "most_frequent"}),
    "real": Evaluator("sklearn.dummy:DummyRegressor"),
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
        what = "classifier" if kind == "classes" else "regressor"
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
