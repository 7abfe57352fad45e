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
from infused.selectors.groups import Groups

__all__ = ["NUMBER_OF_FEATURES", "WEIGHT", "BaseSelector", "how_many", "number_or_half", "ranks"]

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

    groups: Any

    def _variables(self, X: Any) -> Groups:
        """What is selected: the groups of the columns of X, which was seen, or the columns themselves."""
        return Groups.parse(self.groups, X.shape[1], getattr(self, "feature_names_in_", None))

    def _store_ranking(self, variables: Groups, scores: Floats, ranking: Ints, chosen: Any) -> None:
        """Set what all selectors have; scores, ranks and the chosen are by variable, the mask by column."""
        self.scores_, self.ranking_, self.support_ = scores, ranking, chosen[variables.codes]
        if variables.given:
            self.group_names_ = variables.array_of_names()
        elif hasattr(self, "group_names_"):  # of an earlier fit
            del self.group_names_

    def _get_support_mask(self) -> Any:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        return tags


def how_many(n_features_to_select: Any, variables: Groups) -> int | None:
    """The number of features, or of groups, that a number, a fraction or None asks for."""
    if n_features_to_select is None:
        return None
    if isinstance(n_features_to_select, Integral):
        k = int(n_features_to_select)
    elif isinstance(n_features_to_select, Real):
        k = max(1, round(float(n_features_to_select) * len(variables)))
    if k > len(variables):
        what = "groups of features" if variables.given else "features of X"
        raise InputError(Setting("n_features_to_select", k), f" is more than the {len(variables)} {what}.")
    return k


def number_or_half(n_features_to_select: Any, variables: Groups) -> int:
    """The same, where None stands for half of them."""
    return how_many(n_features_to_select, variables) or max(1, len(variables) // 2)


def ranks(scores: Floats, tie_breaks: Floats) -> Ints:
    """Ranks from 1 for the best: by score, then by the second number, then by position."""
    order = np.lexsort((-tie_breaks, -scores))
    result = np.empty(len(scores), dtype=np.int64)
    result[order] = np.arange(1, len(scores) + 1)
    return result
