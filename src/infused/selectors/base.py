"""What every selector shares: the number of features, the ranking, the mask."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from infused._typing import Floats, Ints
from infused.exceptions import InputError, Setting

__all__ = ["NUMBER_OF_FEATURES", "WEIGHT", "BaseSelector", "how_many", "ranks"]

#: What ``n_features_to_select`` may be, for scikit-learn's validation of parameters.
NUMBER_OF_FEATURES = [
    Interval(Integral, 1, None, closed="left"),
    Interval(Real, 0, 1, closed="neither"),
    None,
]

WEIGHT = [Interval(Real, 0, None, closed="left")]  # what a lambda may be


class BaseSelector(SelectorMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn carries no types
    """A scikit-learn selector with ``scores_``, ``ranking_`` and ``support_``.

    A subclass sets them in ``fit``; this class turns them into the mask that scikit-learn asks for.
    """

    def _get_support_mask(self) -> Any:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        return tags


def how_many(n_features_to_select: Any, n_features: int) -> int | None:
    """The number of features that a number, a fraction or None asks for."""
    if n_features_to_select is None:
        return None
    if isinstance(n_features_to_select, Integral):
        k = int(n_features_to_select)
    elif isinstance(n_features_to_select, Real):
        k = max(1, round(float(n_features_to_select) * n_features))
    if k > n_features:
        raise InputError(Setting("n_features_to_select", k), f" is more than the {n_features} features of X.")
    return k


def ranks(scores: Floats, tie_breaks: Floats) -> Ints:
    """Ranks from 1 for the best: by score, then by the second number, then by position."""
    order = np.lexsort((-tie_breaks, -scores))
    result = np.empty(len(scores), dtype=np.int64)
    result[order] = np.arange(1, len(scores) + 1)
    return result
