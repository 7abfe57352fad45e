"""Weights against copies: whole weights are repeated samples, and copies of all samples change no order."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from infused import available_selectors, make_selector
from infused.exceptions import InputError
from infused.selectors.method import defaults_of
from infused.selectors.registry import selector_info
from infused.selectors.scores import importances
from tests.fuzz.cases import UnsoundError, no_noise

#: What may change beside the data. Solvers go on until nothing but rounding is left.
VARIED: dict[str, tuple[Any, ...]] = {
    "n_features_to_select": (1, 2, 3, 6, 0.5),
    "n_bins": (2, 3, 10, 256),
    "groups": (None, [0, 0, 1, 1, 2, 3]),
    "keep": (None, [1]),
    "scheme": ("difference", "quotient"),
    "standardize": (True, False),
    "ranking": ("recursive", "forward", "coefficient", "path"),
    "lambda1": (0.01, 0.2),
    "beta": (0.5, 1.0),
}
EXACT = {"tol": 1e-9, "max_iter": 20_000}
CLOSE = 1e-5  # of scores, relative to the largest
#: Whose model depends on how many samples there are: C weighs a sum of losses, trees draw rows.
COUNTS_SAMPLES = ("l1-logistic", "random-forest")


def run(random: np.random.Generator, folder: Path, content: list[tuple[str, bytes]]) -> None:
    """Fit with weights and with copies: the same order, or the same refusal."""
    id = str(random.choice([id for id in available_selectors() if takes_weights(id)]))
    X, y, w = problem(
        random, real=selector_info(id).regression and random.random() < 0.5, gaps=takes_gaps(id)
    )
    takes = defaults_of(id)
    names = [name for name in VARIED if name in takes and random.random() < 0.4]
    parameters = {name: VARIED[name][int(random.integers(len(VARIED[name])))] for name in names}
    parameters |= {name: value for name, value in EXACT.items() if name in takes}
    stored = sp.csr_array if random.random() < 0.3 and not np.isnan(X).any() else np.asarray
    described = f"{id} {parameters} on {stored.__name__} {X.shape}, weights {w.tolist()}"
    weighted = fitted(id, parameters, stored(X), y, w)
    if weighted is None:  # the structural ones refuse weights
        return
    copies = fitted(id, parameters, stored(np.repeat(X, w, axis=0)), np.repeat(y, w))
    compare(weighted, copies, f"weights and copies differ: {described}")
    # Copies change the order of p-values where degrees of freedom differ: missing values add columns.
    counts = id in COUNTS_SAMPLES or (id == "anova" and np.isnan(X).any())
    if not counts and parameters.get("groups") is None:  # groups are corrected for chance
        present, times = w > 0, int(random.integers(2, 8))
        plain = fitted(id, parameters, stored(X[present]), y[present])
        many = fitted(id, parameters, stored(np.tile(X[present], (times, 1))), np.tile(y[present], times))
        wrong = f"{times} copies of every sample differ from one: {described}"
        compare(plain, many, wrong, scores=False)  # of which some have degrees of freedom


def takes_weights(id: str) -> bool:
    """Whether ``fit`` has the argument, and copies mean the same: not where folds part them."""
    return id != "auto" and "sample_weight" in inspect.signature(make_selector(id).fit).parameters


def takes_gaps(id: str) -> bool:
    """Whether numbers may be missing."""
    return bool(make_selector(id).__sklearn_tags__().input_tags.allow_nan)


def problem(random: np.random.Generator, real: bool, gaps: bool) -> tuple[Any, Any, Any]:
    """Make a few samples, of measurements and counts, and how often each occurs."""
    n = int(random.choice([6, 12, 20, 32, 40, 70]))
    X = random.normal(size=(n, 6))
    for j in range(6):
        kind = int(random.integers(5))
        if kind == 0:
            X[:, j] = random.poisson(2.0, size=n)
        elif kind == 1:
            X[:, j] = np.round(X[:, j], 1)
        elif kind == 2 and j:
            X[:, j] = X[:, j - 1] + 0.3 * X[:, j]
    signal = X[:, 2] + X[:, 5] + 0.3 * random.normal(size=n)
    if gaps and random.random() < 0.3:
        X[random.random(X.shape) < 0.2] = np.nan
    w = random.integers(int(random.choice([0, 1, 5])), int(random.choice([6, 12, 60])), size=n)
    y = signal if real else np.digitize(signal, np.quantile(signal, [0.4, 0.8][: int(random.integers(1, 3))]))
    return X, y, w


def fitted(id: str, parameters: dict[str, Any], X: Any, y: Any, w: Any = None) -> Any:
    """Fit a selector; None where it refuses what it was given."""
    given = {} if w is None else {"sample_weight": w}
    try:
        with no_noise(ConvergenceWarning), patch.object(importances, "LogisticRegression", exact_logistic):
            return make_selector(id, **parameters).fit(X, y, **given)
    except (InputError, ValueError):
        return None


def exact_logistic(**parameters: Any) -> Any:
    """Make the model of l1-logistic with a solver that goes on: how soon it stops depends on the rows."""
    return LogisticRegression(**{**parameters, **EXACT})


def compare(one: Any, other: Any, wrong: str, scores: bool = True) -> None:
    """Both refuse, or have the same scores and the same order, but for what only rounding tells apart."""
    if one is None or other is None:
        if one is not other:
            raise UnsoundError(f"one is refused, the other is not: {wrong}")
        return
    size = max(np.abs(one.scores_).max(), 1e-300)
    apart = np.abs(one.scores_ - other.scores_).max() / size
    order = np.argsort(one.ranking_), np.argsort(other.ranking_)
    tied = np.abs(one.scores_[order[0]] - one.scores_[order[1]]) <= 2 * CLOSE * size
    if (scores and apart > CLOSE) or not ((order[0] == order[1]) | tied).all():
        raise UnsoundError(f"{one.ranking_} and {other.ranking_}, scores {apart:.1e} apart: {wrong}")
