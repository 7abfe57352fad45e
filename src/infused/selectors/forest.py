"""A random forest of scikit-learn's trees, on samples that may have weights."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils import check_array

from infused._typing import Array, Data, Floats, Ints
from infused.graphs.validation import class_codes
from infused.selectors.weights import Weights

__all__ = ["forest_importances"]

TREES = 300
MOST_SEEDS = 2**31 - 1


def forest_importances(
    X: Data, y: Array, real: bool, weights: Weights | None, seed: int | None, n_jobs: int | None
) -> Floats:
    """The mean importance of every feature in the trees, as scikit-learn's forests have it.

    A forest draws as many samples as there are for each tree, and does not look which of several equal ones
    it drew. So equal samples are made one here, with the sum of their weights, and how often each is drawn
    comes from one multinomial distribution. What is drawn is then the same in whatever order samples come,
    and whether they are repeated or have weights.
    """
    X = check_array(X, dtype=np.float32, accept_sparse="csc", ensure_all_finite="allow-nan", input_name="X")
    values = np.asarray(y, dtype=np.float64) if real else class_codes(y)[0]
    first, sizes = _distinct(X, values, np.ones(len(values)) if weights is None else weights.values)
    X, values = X[first], values[first]
    random, n_draws = np.random.default_rng(seed), round(sizes.sum())
    tree = DecisionTreeRegressor() if real else DecisionTreeClassifier(max_features="sqrt")

    def importances(own_seed: int, drawn: Ints) -> Floats | None:
        grown = type(tree)(**{**tree.get_params(), "random_state": own_seed})
        grown.fit(X, values, sample_weight=drawn.astype(np.float64))
        return grown.feature_importances_ if grown.tree_.node_count > 1 else None

    draws = (
        (int(random.integers(MOST_SEEDS)), random.multinomial(n_draws, sizes / sizes.sum()))
        for _ in range(TREES)
    )
    jobs = Parallel(n_jobs=n_jobs, prefer="threads")
    found = [one for one in jobs(delayed(importances)(*draw) for draw in draws) if one is not None]
    if not found:
        return np.zeros(X.shape[1])
    mean = np.mean(found, axis=0)
    return np.asarray(mean / mean.sum())


def _distinct(X: Data, y: Array, weights: Floats) -> tuple[Ints, Floats]:
    """Where each different sample is first, in an order that is theirs, and what all that equal it weigh."""
    rows = sp.csr_array(X)
    rows.eliminate_zeros()
    rows.sort_indices()
    parts = zip(rows.indptr[:-1], rows.indptr[1:], y, strict=True)
    keys = [(rows.indices[a:b].tobytes(), rows.data[a:b].tobytes(), one.item()) for a, b, one in parts]
    places: dict[tuple[bytes, bytes, float], list[int]] = {}
    for n, key in enumerate(keys):
        places.setdefault(key, []).append(n)
    ordered = [places[key] for key in sorted(places)]
    return np.array([own[0] for own in ordered]), np.array([weights[own].sum() for own in ordered])
