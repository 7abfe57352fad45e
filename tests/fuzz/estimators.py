"""Selectors with any parameters on any arrays."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from infused import available_selectors, make_selector
from infused.exceptions import InputError
from infused.selectors.method import defaults_of
from tests.fuzz.cases import UnsoundError, no_noise

#: What a parameter may be given, beside its default.
POOLS: dict[str, tuple[Any, ...]] = {
    "n_features_to_select": (1, 2, 3, 0.5, None, "auto", 0, 99, -1, 1.5, "x"),
    "lambda1": (0.0, 0.01, 1.0, 10.0, 1e-300, 1e300, -1.0),
    "lambda2": (0.0, 0.01, 1.0, 1e300),
    "lambda3": (0.0, 1e-6, 0.1, 10.0, 1e300),
    "lambda_scale": ("relative", "absolute"),
    "formulation": ("stable", "paper"),
    "unbounded": ("raise", "iterate"),
    "target": ("auto", "onehot", "label", "real", "classes"),
    "fusion": ("auto", "chain", "grid", "none", [[0, 1]], [[0, 99]], sp.eye_array(5), sp.eye_array(4)),
    "grid_shape": (None, (1, 5), (5, 1), (2, 3), (5,)),
    "graph": ("kernel", "euclidean"),
    "standardize": (True, False),
    "ranking": ("recursive", "coefficient", "path"),
    "solver": ("auto", "split-bregman", "proximal"),
    "max_iter": (1, 10, 300, 0),
    "tol": (1e-6, 1e-2, 0.0),
    "n_jobs": (None, 1, 2),
    "memory_budget": (None, "1GB", "1KB", "x"),
    "n_bins": (2, 3, 10, 1, 300),
    "estimator": ("binned", "neighbours"),
    "ridge": (0.0, 0.1, 1e300),
    "C": (0.1, 1e-9, 1e9),
    "groups": (None, [0, 0, 1, 1, 2], [0, 1, 2, 3, 4], [0, 1]),
    "keep": (None, [0], [4, 1], [99]),
    "random_state": (None, 0, 2**32, -1),
    "fdr": (0.1, 0.5, 0.0, 2.0),
    "n_draws": (1, 3),
}


@cache
def _signal() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(7)
    X = rng.normal(size=(40, 5))
    return X, X[:, 3] - X[:, 1] + 0.2 * rng.normal(size=40)


def run(random: np.random.Generator, folder: Path, content: list[tuple[str, bytes]]) -> None:
    """Fit and transform: a ranking, or an error of the right kind."""
    id = str(random.choice(available_selectors()))
    takes = defaults_of(id)
    names = [name for name in POOLS if name in takes and random.random() < 0.3]
    parameters = {name: POOLS[name][int(random.integers(len(POOLS[name])))] for name in names}
    X, y = _data(random)
    described = (
        f"{id} {parameters} on {type(X).__name__} {X.dtype} {X.shape}, y {getattr(y, 'dtype', type(y))}"
    )
    try:
        with no_noise(ConvergenceWarning):
            selector = make_selector(id, **parameters).fit(X, y)
            reduced = selector.transform(X)
    except np.linalg.LinAlgError as error:
        raise UnsoundError(f"LinAlgError: {error}: {described}") from error
    except (InputError, ValueError) as error:
        if not str(error):
            raise UnsoundError(f"an empty message: {described}") from error
        return
    except MemoryError:
        raise
    except Exception as error:
        raise UnsoundError(f"{type(error).__name__}: {error}: {described}\n{_where(error)}") from error
    _check(selector, reduced, described)


def _where(error: Exception) -> str:
    import traceback

    return "".join(traceback.format_tb(error.__traceback__)[-3:])


def _check(selector: Any, reduced: Any, described: str) -> None:
    ranking = np.sort(selector.ranking_)
    if (ranking != np.arange(1, len(ranking) + 1)).any():
        raise UnsoundError(f"ranking_ is {selector.ranking_}: {described}")
    for name in ("scores_", "coef_"):
        if not np.isfinite(getattr(selector, name, 0.0)).all():
            raise UnsoundError(f"{name} is not finite: {described}")
    if reduced.shape[1] != selector.support_.sum():
        raise UnsoundError(f"{reduced.shape[1]} columns for {selector.support_.sum()}: {described}")


def _data(random: np.random.Generator) -> tuple[Any, Any]:
    X, y = (part.copy() for part in _signal())
    rows = int(random.choice([2, 3, 5, 12, 40]))
    X, y = X[:rows], y[:rows]
    X = _columns(random, X)
    return _stored(random, X), _target(random, y)


def _columns(random: np.random.Generator, X: np.ndarray) -> np.ndarray:
    change = int(random.integers(12))
    if change == 0:
        X[:, int(random.integers(5))] = 1e300
    elif change == 1:
        X *= float(random.choice([1e-320, 1e-200, 1e100, 1e200, 1e307]))
    elif change == 2:
        X[:] = 3.0
    elif change == 3:
        X = np.round(X)
    elif change == 4:
        X[:, 2] = X[:, 1]
    elif change == 5:
        X[int(random.integers(len(X))), 0] = random.choice([np.nan, np.inf])
    elif change == 6:
        X += 1e15
    elif change == 7:
        X[np.abs(X) < 1] = 0.0
    return X


def _stored(random: np.random.Generator, X: np.ndarray) -> Any:
    form = int(random.integers(8))
    with np.errstate(all="ignore"):
        if form == 0:
            return sp.csr_array(X)
        if form == 1:
            return sp.csc_matrix(X)
        if form == 2:
            return X.astype(np.float32)
        if form == 3:
            return np.asfortranarray(X)
        if form == 4 and np.isfinite(X).all() and np.abs(X).max() < 1e9:
            return X.astype(np.int64)
        if form == 5:
            broken = sp.csr_array(X)
            if broken.nnz:
                broken.indices[int(random.integers(broken.nnz))] = int(random.choice([-1, 5, 40, 2**30]))
            return broken
    return X


def _target(random: np.random.Generator, y: np.ndarray) -> Any:
    kind = int(random.integers(14))
    if kind == 0:
        return y * float(random.choice([1e-320, 1e-200, 1e155, 1e200, 1e307]))
    if kind == 1:
        return np.zeros(len(y))
    if kind == 2:
        return np.array(["a", "b", None], dtype=object)[np.arange(len(y)) % 3]
    if kind == 3:
        return np.column_stack([y, -y, y**2])
    if kind == 4:
        return np.arange(len(y))
    if kind == 5:
        return y[:-1]
    if kind == 6:
        return np.where(y > 0, np.nan, y)
    if kind == 7:
        return np.array(["x", "y", "z"])[np.arange(len(y)) % 3]
    if kind in (8, 9):
        return y
    return (y > np.median(y)).astype(int)
