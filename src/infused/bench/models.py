"""The models that judge a selection: classifiers and regressors by name, and the parameter that is tuned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from infused._typing import Array, Floats
from infused.bench.cells import BenchmarkError
from infused.bench.splits import Split

if TYPE_CHECKING:
    from infused.data.content import Task

__all__ = ["JUDGES", "Judge", "find_class", "judge_named", "scaled", "tune"]


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


PENALTIES = (0.01, 0.1, 1.0, 10.0)
NEIGHBOURS = (1, 3, 5)

#: By task; the first is the default.
JUDGES: dict[Task, dict[str, Judge]] = {
    "classification": {
        # libsvm, one against one. LinearSVC, one against the rest, is less accurate with many classes.
        # A precomputed Gram matrix was measured: for 8,000 samples it takes up to three times as long, for
        # 100 to 2,000 it saves at most a few milliseconds of a fit.
        "svm": Judge("infused.bench.linear_svm:LinearSVM", {}, "C", PENALTIES),
        "logistic": Judge("sklearn.linear_model:LogisticRegression", {"max_iter": 1000}, "C", PENALTIES),
        "knn": Judge("sklearn.neighbors:KNeighborsClassifier", {}, "n_neighbors", NEIGHBOURS),
        "random-forest": Judge("sklearn.ensemble:RandomForestClassifier"),
    },
    "regression": {
        "ridge": Judge("sklearn.linear_model:Ridge", {}, "alpha", (0.1, 1.0, 10.0, 100.0)),
        "svm": Judge("sklearn.svm:SVR", {"kernel": "linear"}, "C", PENALTIES),
        "knn": Judge("sklearn.neighbors:KNeighborsRegressor", {}, "n_neighbors", NEIGHBOURS),
        "random-forest": Judge("sklearn.ensemble:RandomForestRegressor"),
    },
}


def judge_named(name: str, task: Task) -> Judge:
    """A model by its name or by the dotted path to its class, whose C is tuned where it has one.

    >>> judge_named("svm", "classification").tuned
    'C'
    >>> judge_named("sklearn.linear_model.RidgeClassifier", "classification").tuned is None
    True
    """
    known = JUDGES[task]
    if name in known:
        return known[name]
    if "." not in name:
        raise BenchmarkError(
            f"There is no model {name!r} for {task}: there are {', '.join(known)}, "
            "or give the dotted path to a class of scikit-learn's kind."
        )
    has_penalty = "C" in find_class(name)().get_params()
    return Judge(name, {}, "C", PENALTIES) if has_penalty else Judge(name)


def find_class(path: str) -> Any:
    """What ``package.module.Name`` or ``package.module:Name`` names."""
    module, _, name = path.rpartition(":" if ":" in path else ".")
    try:
        return getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise BenchmarkError(f"{path!r} cannot be imported: {error}.") from error


def tune(judge: Judge, X: Floats, y: Array, splits: list[Split], seed: int) -> dict[str, Any]:
    """The candidate with the best mean score over the splits, each scaled by its training part.

    Of equals the first: the strongest penalty.
    """
    candidates = judge.candidates()
    scores = np.zeros(len(candidates))
    for train, test in splits:
        fitted, unseen = scaled(X[train], X[test])
        for n, candidate in enumerate(candidates):
            model = judge.model(seed, candidate).fit(fitted, y[train])
            scores[n] += model.score(unseen, y[test]) / len(splits)
    return candidates[int(np.argmax(scores))]


def scaled(train: Floats, test: Floats) -> tuple[Floats, Floats]:
    """Both with the mean and the deviation of the training part taken out."""
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler().fit(train)
    return scaler.transform(train), scaler.transform(test)
