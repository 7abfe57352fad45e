"""What selects in the simulations: ours and peers, each as its documentation shows.

A method takes X, y and a seed, and gives for each rate q the mask of what it selects; where it knows no rate,
one mask, under None.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from infused import KnockoffSelector
from infused.selectors.control.knockoffs import discoveries

RATES = (0.05, 0.1, 0.2)
FEW = 4  # over the rate: with fewer features there are more copies at a smaller rate
Mask = NDArray[np.bool_]
Masks = dict[float | None, Mask]


def knockoffs(X: Any, y: Any, seed: int, **options: Any) -> tuple[Masks, float | None]:
    """Draw copies once for all rates: only the filter knows the rate, unless features are few."""
    masks: Masks = {}
    fitted: KnockoffSelector | None = None
    for q in RATES:
        if fitted is None or X.shape[1] < FEW / min(RATES):
            fitted = KnockoffSelector(q, random_state=seed, **options).fit(X, y)
        tested = np.setdiff1d(fitted.representatives_, [-1])
        masks[q] = np.zeros(X.shape[1], dtype=bool)
        masks[q][tested] = discoveries(fitted.statistics_[:, tested], q, fitted.n_copies_).selected
    return masks, None


def one_copy(X: Any, y: Any, seed: int) -> tuple[Masks, float | None]:
    """Draw one copy of each feature, as published."""
    return knockoffs(X, y, seed, n_copies=1)


def several_draws(X: Any, y: Any, seed: int) -> tuple[Masks, float | None]:
    """Draw one copy of each feature twenty times, and join the draws by e-values."""
    return knockoffs(X, y, seed, n_copies=1, n_draws=20)


def equicorrelated(X: Any, y: Any, seed: int) -> tuple[Masks, float | None]:
    return knockoffs(X, y, seed, n_copies=1, construction="equicorrelated")


def stability(X: Any, y: Any, seed: int, **options: Any) -> tuple[Masks, float | None]:
    """With its defaults: in nine tenths of the half-samples, at most one false one expected."""
    from infused import StabilitySelection

    fitted = StabilitySelection(random_state=seed, **options).fit(X, y)
    return {None: fitted.support_}, fitted.expected_false_


def lower_threshold(X: Any, y: Any, seed: int) -> tuple[Masks, float | None]:
    """At the same bound, with fewer features per half-sample."""
    return stability(X, y, seed, threshold=0.75)


def knockpy(X: Any, y: Any, seed: int) -> tuple[Masks, float | None]:
    """Gaussian knockoffs of its MVR construction and a shrunk covariance; classes as numbers."""
    from knockpy.knockoff_filter import KnockoffFilter
    from knockpy.knockoff_stats import data_dependent_threshhold

    np.random.seed(seed)  # noqa: NPY002 - it has no other
    made = KnockoffFilter(ksampler="gaussian", fstat="lasso", knockoff_kwargs={"method": "mvr"})
    made.forward(X=X, y=y.astype(float), fdr=0.1, shrinkage="ledoitwolf")
    return {q: data_dependent_threshhold(made.W, fdr=q) <= made.W for q in RATES}, None


def lasso_cv(X: Any, y: Any, seed: int) -> tuple[Masks, float | None]:
    """scikit-learn's, on standardised features; classes as numbers."""
    from sklearn.linear_model import LassoCV

    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    return {None: LassoCV(cv=5, random_state=seed).fit(Z, y.astype(float)).coef_ != 0}, None


def boruta(X: Any, y: Any, seed: int) -> tuple[Masks, float | None]:
    """With its defaults, on forests as its page shows."""
    from boruta import BorutaPy
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    kind = RandomForestClassifier if y.dtype.kind in "iu" else RandomForestRegressor
    fitted = BorutaPy(kind(n_jobs=1, max_depth=5), n_estimators="auto", random_state=seed).fit(X, y)
    return {None: fitted.support_}, None


METHODS: dict[str, Callable[[Any, Any, int], tuple[Masks, float | None]]] = {
    "knockoffs": knockoffs,
    "knockoffs, one copy": one_copy,
    "one copy, e-values": several_draws,
    "one copy, equicorrelated": equicorrelated,
    "stability": stability,
    "stability, 0.75": lower_threshold,
    "knockpy": knockpy,
    "lasso, cross-validated": lasso_cv,
    "boruta_py": boruta,
}
