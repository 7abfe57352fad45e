"""Conditional mutual information maximisation."""

from __future__ import annotations

from typing import Any

import numpy as np

from infused._typing import Floats
from infused.graphs.validation import Target
from infused.information.mutual import MutualInformation
from infused.selectors.docs import FILTERS, documented
from infused.selectors.greedy_information import InformationFilter

__all__ = ["CMIM"]


@documented(FILTERS)
class CMIM(InformationFilter):
    r"""Conditional mutual information maximisation (CMIM).

    .. math::

        \max_{f \notin S} \min\Big(I(f; y),\, \min_{s \in S} I(f; y \mid f_s)\Big)

    picks one feature after the other, S being those picked so far and I the mutual information of discretised
    features, in nats: the feature that still says most about y when any one of S is known. A copy of a
    feature in S says nothing then.

    Parameters
    ----------
    %(n_features_to_select)s
    %(n_bins)s
    %(target)s
    %(groups)s
    %(keep)s
    %(cv)s
    %(scoring)s
    %(n_jobs)s

    Attributes
    ----------
    %(attributes)s

    See Also
    --------
    JMI : What a feature says together with each of S.
    MRMR : Relevance less the mean redundancy, or divided by it.

    References
    ----------
    F. Fleuret, "Fast binary feature selection with conditional mutual information", Journal of Machine
    Learning Research 5 (2004).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from infused import CMIM
    >>> X, y = load_wine(return_X_y=True)
    >>> CMIM(n_features_to_select=3).fit(X, y).transform(X).shape
    (178, 3)
    """

    def __init__(
        self,
        *,
        n_features_to_select: int | float | str | None = None,
        n_bins: int = 5,
        target: Target = "auto",
        groups: Any = None,
        keep: Any = None,
        cv: Any = 5,
        scoring: Any = None,
        n_jobs: int | None = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.n_bins = n_bins
        self.target = target
        self.groups = groups
        self.keep = keep
        self.cv = cv
        self.scoring = scoring
        self.n_jobs = n_jobs

    def _pairs(self, information: MutualInformation, s: int) -> Floats:
        # I(f; y | s) = I({f, s}; y) - I(s; y)
        return np.asarray(information.with_feature_and_target(s) - information.with_target()[s])

    def _join(self, before: Floats, pairs: Floats) -> Floats:
        return np.minimum(before, pairs)

    def _criterion(self, relevance: Floats, joined: Floats, n_taken: int) -> Floats:
        return np.minimum(relevance, joined)
