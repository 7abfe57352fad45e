"""Selectors with any parameters on any arrays."""

from __future__ import annotations

import pickle
import traceback
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, KFold, LeaveOneOut, StratifiedKFold

from infused import MRMR, Lasso, RedundancyFilter, available_selectors, make_selector
from infused.exceptions import InputError
from infused.selectors.method import defaults_of
from tests.fuzz.arrays import data
from tests.fuzz.cases import UnsoundError, no_noise

#: What a parameter may be given, beside its default.
SOUND: dict[str, tuple[Any, ...]] = {
    "n_features_to_select": (1, 2, 3, 0.5, None, "auto"),
    "lambda1": (0.0, 0.01, 1.0, 10.0, 1e-300, 1e300),
    "lambda2": (0.0, 0.01, 1.0, 1e300),
    "lambda3": (0.0, 1e-6, 0.1, 10.0, 1e300),
    "lambda_scale": ("relative", "absolute"),
    "formulation": ("stable", "paper"),
    "unbounded": ("raise", "iterate"),
    "target": ("auto",),
    "fusion": ("auto", "chain", "none", [[0, 1]], [[0, 4], [1, 2]], sp.eye_array(5)),
    "grid_shape": (None, (1, 5), (5, 1)),
    "graph": ("kernel", "euclidean", "gaussian", "distance", "laplacian"),
    "importance": ("gain", "permutation"),
    "standardize": (True, False),
    "ranking": ("recursive", "forward", "coefficient", "path"),
    "solver": ("auto", "split-bregman", "proximal"),
    "max_iter": (1, 10, 300),
    "tol": (1e-6, 1e-2, 1e-300),
    "n_jobs": (None, 1, 2),
    "n_bins": (2, 3, 10, 255),
    "estimator": ("binned", "neighbours"),
    "ridge": (0.0, 0.1, 1e300),
    "C": (0.1, 1e-9, 1e9),
    "groups": (None, [0, 0, 1, 1, 2], [0, 1, 2, 3, 4], [7, 7, 7, 7, 7], list("abcab")),
    "keep": (None, [0], [4, 1], [0, 1, 2, 3, 4], ()),
    "random_state": (None, 0, 2**32 - 1),
    "fdr": (0.1, 0.5, 1e-9),
    "n_draws": (1, 3),
    "construction": ("mvr", "equicorrelated"),
    "n_clusters": ("auto", None, 1, 3),
    "n_groups": (None, 1, 2),
    "lambda_within": (None, 0.0, 0.1, 1e300),
    "beta": (0.0, 0.5, 1e300),
    "scheme": ("difference", "quotient"),
    "cv": (2, 3, 99, KFold(2), GroupKFold(2), StratifiedKFold(2), LeaveOneOut(), [([0, 1], [1])]),
    "scoring": (None, "accuracy", "r2", "roc_auc", "neg_log_loss", "max_error", "neg_mean_squared_log_error"),
    "methods": (None, ["anova"], "anova", ["anova", "mrmr:n_bins=3"], ["lasso", "random-forest"]),
    "rule": ("best", "one-standard-error"),
    "time_budget": (None, 0.01, 1.0),
    "selector": (None, "mrmr", "anova", Lasso(n_features_to_select=2), MRMR(n_bins=2), SelectKBest(k=2)),
    "n_pairs": (1, 2, 5),
    "threshold": (None, 0.6, 1.0),
    "max_false": (None, 0.1, 1.0, 1e9),
    "bound": ("r-concave", "unimodal", "worst-case"),
    "measure": ("correlation", "mutual-information", "structural"),
}

#: What it should refuse, at least on some data.
WRONG: dict[str, tuple[Any, ...]] = {
    "n_features_to_select": (0, 99, -1, 1.5, "x", np.nan, True),
    "lambda1": (-1.0, np.nan, np.inf, "x"),
    "target": ("onehot", "label", "real", "classes"),
    "fusion": ("grid", [[0, 99]], [[0, 0]], [], [[0]], sp.eye_array(4), "x", 3),
    "grid_shape": ((2, 3), (5,), (0, 5), (-1, -5), "1x5"),
    "max_iter": (0, 2**70, 1.5),
    "tol": (0.0, np.nan),
    "n_jobs": (0, -99, 10**9, 1.5),
    "n_bins": (1, 300, 2.5),
    "C": (0.0, np.inf),
    "groups": ([0, 1], [[0, 1]], {"a": [0, 1]}, {"a": [0], "b": [0]}, [None] * 5, [np.nan] * 5, "x", 3),
    "keep": ([99], [-1], [0, 0], ["nothing"], "a", 3, [None], [[0]]),
    "random_state": (2**32, -1, "x"),
    "fdr": (0.0, 2.0, np.nan),
    "n_draws": (0, 1.5),
    "n_clusters": (99, 0, "x"),
    "n_groups": (99, 0),
    "lambda_within": (-1.0, np.nan),
    "beta": (-1.0, np.nan),
    "cv": (1, "x", [([0], [99])], [], [([], [])], [(0, 1)], [3]),
    "scoring": ("x", ""),
    "methods": (["lasso", "nope"], [], [3], ["auto"], "", ["anova", "anova"], ["stability:selector=auto"], 3),
    "rule": ("x",),
    "time_budget": (-1.0, np.nan),
    "selector": ("nope", "stability", "auto", "knockoffs", 3, "", LogisticRegression(), Lasso),
    "n_pairs": (0, 2.5),
    "threshold": (0.5, 2.0),
    "max_false": (0.0, np.nan),
}


def run(random: np.random.Generator, folder: Path, content: list[tuple[str, bytes]]) -> None:
    """Fit and transform: a ranking, or an error of the right kind."""
    id = str(random.choice([*available_selectors(), "redundancy"]))
    takes = RedundancyFilter().get_params() if id == "redundancy" else defaults_of(id)
    names = [name for name in SOUND if name in takes and random.random() < 0.3]
    parameters = {name: SOUND[name][int(random.integers(len(SOUND[name])))] for name in names}
    wrong = [name for name in WRONG if name in takes]
    if wrong and random.random() < 0.3:
        name = wrong[int(random.integers(len(wrong)))]
        parameters[name] = WRONG[name][int(random.integers(len(WRONG[name])))]
    X, y = data(random)
    given = _given(random, _length(X)) if random.random() < 0.2 else {}
    described = (
        f"{id} {parameters} on {type(X).__name__} {getattr(X, 'dtype', '')} {getattr(X, 'shape', '')}, y "
        + (f"{getattr(y, 'dtype', type(y))}, {given}")
    )
    try:
        with no_noise(ConvergenceWarning):
            made = RedundancyFilter(**parameters) if id == "redundancy" else make_selector(id, **parameters)
            selector = made.fit(X, y, **given)
            reduced = selector.transform(X)
            _use(random, selector, X, reduced)
    except np.linalg.LinAlgError as error:
        raise UnsoundError(f"LinAlgError: {error}: {described}") from error
    except (InputError, ValueError) as error:
        if not str(error):
            raise UnsoundError(f"an empty message: {described}") from error
        if isinstance(error, UnicodeError):  # a ValueError that says nothing of where
            raise UnsoundError(f"{type(error).__name__}: {error}: {described}\n{_where(error)}") from error
        return
    except MemoryError:
        raise
    except TypeError as error:
        if not _is_told(error, given):
            raise UnsoundError(f"TypeError: {error}: {described}\n{_where(error)}") from error
        return
    except Exception as error:
        raise UnsoundError(f"{type(error).__name__}: {error}: {described}\n{_where(error)}") from error
    _check(selector, reduced, described)


def _length(X: Any) -> int:
    return int(X.shape[0]) if getattr(X, "shape", ()) else 2


def _given(random: np.random.Generator, n: int) -> dict[str, Any]:
    """What ``fit`` takes beside X and y."""
    weights = (
        *(np.ones(n), np.arange(n), np.zeros(n), -np.ones(n), np.full(n, 1e308), np.full(n, 1e-320)),
        *(
            np.linspace(0, 1, n),
            np.where(np.arange(n) % 2, 1e-200, 1e200),
            np.ones(n + 1),
            np.full(n, np.nan),
        ),
        *(["a"] * n, 3.0, np.ones((n, 2)), [None] * n),
    )
    samples = (np.arange(n) % 2, np.zeros(n), np.arange(n), ["a", None] * n, np.ones(n + 1), 3)
    name, values = [("sample_weight", weights), ("groups", samples)][int(random.integers(2))]
    return {name: values[int(random.integers(len(values)))]}


def _is_told(error: TypeError, given: dict[str, Any]) -> bool:
    """Whether it says that ``fit`` has no such argument, or is scikit-learn's own word on X and y."""
    if any(f"unexpected keyword argument {name!r}" in str(error) for name in given):
        return True
    files = [Path(frame.filename).parts[-3:] for frame in traceback.extract_tb(error.__traceback__)]
    return any(file[:2] == ("sklearn", "utils") for file in files)


def _use(random: np.random.Generator, selector: Any, X: Any, reduced: Any) -> None:
    """What else a fitted one is asked for."""
    use = int(random.integers(6))
    if use == 0:
        selector.inverse_transform(reduced)
    elif use == 1:
        again = pickle.loads(pickle.dumps(selector)).transform(X)
        if np.shape(again) != np.shape(reduced):
            raise UnsoundError(f"{np.shape(again)} after pickling, {np.shape(reduced)} before")
    elif use == 2:
        clone(selector)
        repr(selector)
    elif use == 3:
        if len(selector.get_feature_names_out()) != np.shape(reduced)[1]:
            raise UnsoundError(f"{selector.get_feature_names_out()} for {np.shape(reduced)}")
    elif use == 4:
        selector.set_output(transform=str(random.choice(["pandas", "polars", "default"]))).transform(X)
    else:
        selector.transform(np.zeros((2, 3)))


def _where(error: Exception) -> str:
    return "".join(traceback.format_tb(error.__traceback__)[-3:])


def _check(selector: Any, reduced: Any, described: str) -> None:
    if isinstance(selector, RedundancyFilter):
        if not selector.support_[selector.representatives_].all():
            raise UnsoundError(f"what is left out stands for others: {described}")
        return
    ranking = np.sort(selector.ranking_)
    if (ranking != np.arange(1, len(ranking) + 1)).any():
        raise UnsoundError(f"ranking_ is {selector.ranking_}: {described}")
    for name in ("scores_", "coef_"):
        if not np.isfinite(getattr(selector, name, 0.0)).all():
            raise UnsoundError(f"{name} is not finite: {described}")
    if np.shape(reduced)[1] != selector.get_support().sum():
        raise UnsoundError(f"{np.shape(reduced)[1]} columns for {selector.support_.sum()}: {described}")
